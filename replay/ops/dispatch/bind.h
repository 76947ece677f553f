/* The refusals of binding: arguments that do not fit their schema. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_BIND_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_BIND_H

#include "replay/ops/dispatch/context.h"

/* Each of these refuses the call and returns the outcome. */
enum op_outcome bind_too_many(struct ops *ops, const struct op *op, uint32_t n,
                              uint32_t n_keywords);
enum op_outcome bind_missing(struct ops *ops, const struct op *op, struct str name);
enum op_outcome bind_unknown_keyword(struct ops *ops, const struct op *op, struct str name);
enum op_outcome bind_given_twice(struct ops *ops, const struct op *op, struct str name);
enum op_outcome bind_bad_value(struct ops *ops, const struct op *op, const struct schema_slot *slot,
                               struct value value);

#endif
