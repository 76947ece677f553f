/* Helpers of the rules of higher-order operators. */
#ifndef SYMTAPE_REPLAY_OPS_PYTHON_HIGHER_ORDER_H
#define SYMTAPE_REPLAY_OPS_PYTHON_HIGHER_ORDER_H

#include "replay/ops/python/python_internal.h"

/* Runs the subgraph on the items of n lists, one list after the other. */
struct value hop_run(struct call *c, struct value graph, const struct value *lists, uint32_t n);
/* Returns the value of a key of **kwargs, or None. */
struct value hop_keyword(struct value dict, const char *key);
/* Returns n results like y, stacked. */
struct value hop_stacked(struct call *c, struct value y, sym_id n);

#endif
