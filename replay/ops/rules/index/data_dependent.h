/* What operators whose sizes depend on values share. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_INDEX_DATA_DEPENDENT_H
#define SYMTAPE_REPLAY_OPS_RULES_INDEX_DATA_DEPENDENT_H

#include "replay/ops/dispatch/rule.h"
#include "replay/ops/dispatch/tensor_memo.h"

/* x's elements are known, and the call has no symbols. */
bool values_known(struct call *c, struct tensor x);
/* What was counted in x where its elements lie; false: nothing was, or the call has symbols. */
bool count_known(struct call *c, struct tensor x, int64_t *ret);
/* Refuses with DynamicOutputShapeException where the environment does not allow such sizes. */
bool may_be_dynamic(struct call *c);
sym_id size_max(struct call *c); /* sys.maxsize - 1 */
/* The largest numel() of x: itself, or what its sizes' ranges allow. */
sym_id numel_bound(struct call *c, struct tensor x);
/* The memo of a size, or SYM_NONE. */
sym_id known_size(struct call *c, struct tensor x, enum tensor_memo memo);
void remember_size(struct call *c, struct tensor x, enum tensor_memo memo, sym_id size);

#endif
