/* The conversion of the values that rules compute with (replay/ops/dispatch/value.h) to those that
 * backends are given (replay/backend/call/kernel_value.h), and back. Here sizes become numbers.
 *
 * Each meta is converted once in a run. A size whose symbol has no number becomes 0, and the tensor
 * is not addressable; exec_needs() refuses it before a backend sees it. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_CONCRETE_H
#define SYMTAPE_REPLAY_BACKEND_RUN_CONCRETE_H

#include "replay/backend/call/backend.h"
#include "replay/backend/run/sizes/device_sizes.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/dispatch/schema.h"

struct concrete {
    struct ops *ops; /* borrowed; the owner of the metas that are converted */
    const struct device_sizes *sizes;
    struct arena arena;
    vec_of(const struct kernel_meta *)
    metas;              /* by id */
    struct arena items; /* the items of lists, until concrete_forget_items() */
};

void concrete_release(struct concrete *c);
void concrete_forget_items(struct concrete *c);

/* Returns the converted meta; NULL: out of memory. */
const struct kernel_meta *concrete_meta(struct concrete *c, const struct tensor_meta *meta);
struct kernel_tensor concrete_tensor(struct concrete *c,
                                     struct tensor x); /* .meta NULL: the same */
/* Converts a value; false: out of memory. A value other than a number, text, dtype, tensor or list
 * is referred to: `from` must live as long as *ret. */
bool concrete_value(struct concrete *c, const struct value *from, struct kernel_value *ret);
bool concrete_values(struct concrete *c, const struct value *from, uint32_t n,
                     struct kernel_value *ret);
/* Returns the parts of the operator's schema that backends need; NULL: out of memory. */
const struct backend_op *concrete_op(struct concrete *c, const struct op *op,
                                     const struct schema *schema);

/* Converts a backend's value to one for rules. False: out of memory. */
bool symbolic_value(struct concrete *c, const struct kernel_value *from, struct value *ret);
/* Returns the meta with another layout, for a view that a kernel makes; NULL: out of memory. */
const struct kernel_meta *concrete_view(struct concrete *c, const struct kernel_meta *x,
                                        const int64_t *size, const int64_t *stride, uint32_t ndim,
                                        int64_t offset);

/* Computes numel times the dtype's size; false: it is too large, or a size is not a number. */
bool tensor_bytes(const struct sym_pool *pool, const struct tensor_meta *meta, size_t *ret);
/* Sets err to the reason why a tensor with a meta that is not addressable gets no memory. Returns
 * false. */
bool concrete_refuse(const struct sym_pool *pool, const struct tensor_meta *meta, struct err *err);

#endif
