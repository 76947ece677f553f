/* Where sizes become numbers: what rules compute with (replay/ops/dispatch/value.h) as what
 * backends are given (replay/backend/call/kernel_value.h), and back.
 *
 * Each meta is converted once in a run. Values of symbols without a number have none here: such a
 * size is 0, and the tensor is not addressable, which exec_needs() refuses before a backend sees
 * it. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_CONCRETE_H
#define SYMTAPE_REPLAY_BACKEND_RUN_CONCRETE_H

#include "replay/backend/call/backend.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/dispatch/schema.h"

struct concrete {
    struct ops *ops; /* borrowed; its metas are those that are converted */
    struct arena arena;
    vec_of(const struct kernel_meta *)
    metas;              /* by id */
    struct arena items; /* of lists, until concrete_forget_items() */
};

void concrete_release(struct concrete *c);
void concrete_forget_items(struct concrete *c);

/* NULL: out of memory. */
const struct kernel_meta *concrete_meta(struct concrete *c, const struct tensor_meta *meta);
struct kernel_tensor concrete_tensor(struct concrete *c,
                                     struct tensor x); /* .meta NULL: the same */
/* False: out of memory. What is no number, text, dtype, tensor or list stays where it is: `from`
 * must live as long as *ret. */
bool concrete_value(struct concrete *c, const struct value *from, struct kernel_value *ret);
bool concrete_values(struct concrete *c, const struct value *from, uint32_t n,
                     struct kernel_value *ret);
/* The parts of a schema that backends know; NULL: out of memory. */
const struct backend_op *concrete_op(struct concrete *c, const struct op *op,
                                     const struct schema *schema);

/* A backend's value as one that rules take. False: out of memory. */
bool symbolic_value(struct concrete *c, const struct kernel_value *from, struct value *ret);
/* The meta with another layout, of a view that a kernel makes; NULL: out of memory. */
const struct kernel_meta *concrete_view(struct concrete *c, const struct kernel_meta *x,
                                        const int64_t *size, const int64_t *stride, uint32_t ndim,
                                        int64_t offset);

/* numel times the dtype's size; false: more than there can be, or a size that is no number. */
bool tensor_bytes(const struct sym_pool *pool, const struct tensor_meta *meta, size_t *ret);
/* Why the tensor of a meta that is not addressable gets no memory. False, always. */
bool concrete_refuse(const struct sym_pool *pool, const struct tensor_meta *meta, struct err *err);

#endif
