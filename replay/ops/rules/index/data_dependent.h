/* Functions that operators with data-dependent sizes share. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_INDEX_DATA_DEPENDENT_H
#define SYMTAPE_REPLAY_OPS_RULES_INDEX_DATA_DEPENDENT_H

#include "replay/ops/dispatch/rule.h"
#include "replay/ops/dispatch/tensor_memo.h"

/* Returns whether x's elements are known and the call has no symbols. */
bool values_known(struct call *c, struct tensor x);
/* Gets what was counted in x where its elements are stored. Returns false if nothing was counted
 * or the call has symbols. */
bool count_known(struct call *c, struct tensor x, int64_t *ret);
/* Fails with DynamicOutputShapeException if the environment does not allow such sizes. */
bool may_be_dynamic(struct call *c);
sym_id size_max(struct call *c); /* sys.maxsize - 1 */
/* Returns the largest numel() of x: the number itself, or the bound that the sizes' ranges give. */
sym_id numel_bound(struct call *c, struct tensor x);
/* Returns the memoized size, or SYM_NONE. */
sym_id known_size(struct call *c, struct tensor x, enum tensor_memo memo);
void remember_size(struct call *c, struct tensor x, enum tensor_memo memo, sym_id size);

#endif
