/* The functions that the CPU's kernels use, besides replay/backend/call/kernel.h.
 *
 *     void kernel_tril(struct kernel *k)
 *     {
 *         struct dense x = load_tensor(k, tensor_arg(k, "self"));
 *         ...
 *         store_tensor(k, result(k, 0), x);
 *     }
 *
 * Arrays that are loaded after a failure have no elements. Arrays live until the call ends.
 *
 * Values are computed in float64 (int64, complex128) in a fixed order, and rounded when they are
 * stored. The bits do not depend on the number of threads. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H

#include "replay/backend/call/kernel.h"
#include "replay/backend/cpu/dense.h"

void cpu_kernels(struct kernel_table *ret); /* all rows */

/* --- Arrays --- */

struct dense dense_new(struct kernel *k, enum dense_kind kind, const int64_t *size, uint32_t ndim);
/* Returns zeros with the sizes of result i. */
struct dense like_result(struct kernel *k, uint32_t i, enum dense_kind kind);
/* Return the tensor's elements, in its own kind or in another. */
struct dense load_tensor(struct kernel *k, struct kernel_tensor x);
struct dense load_as(struct kernel *k, struct kernel_tensor x, enum dense_kind kind);
/* Returns the memory of the tensor's elements, if these lie in their order there, so that a kernel
 * may read or write them as they are; NULL: they do not. */
void *elements_in_order(struct kernel *k, struct kernel_tensor x);
/* Read and write x->n elements of an array of that dtype, from its element `place` on. */
void dense_read(struct dense *x, enum dtype dtype, const void *p, int64_t place);
void dense_write(const struct dense *x, enum dtype dtype, void *p, int64_t place);
/* Returns the argument in float64; without memory and elements if it is absent. */
struct dense load_optional(struct kernel *k, const char *name);
/* Returns a tensor, or a number as a tensor without dimensions. */
struct dense load_value(struct kernel *k, struct kernel_value value, enum dense_kind kind);
/* Returns x expanded to sizes that it broadcasts to. */
struct dense dense_broadcast(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim);
/* Returns x with its dimensions in another order. */
struct dense dense_permute(struct kernel *k, struct dense x, const uint32_t *order);
/* Returns the same elements under other sizes. */
struct dense dense_reshape(struct dense x, const int64_t *size, uint32_t ndim);
struct dense dense_convert(struct kernel *k, struct dense x, enum dense_kind kind);
/* Writes x, which has the tensor's number of elements, to the tensor. */
void store_tensor(struct kernel *k, struct kernel_tensor to, struct dense x);

/* The elements before, in and after a dimension: x is [outer, n, inner]. */
struct around {
    int64_t outer, n, inner;
};
struct around around_dim(const struct dense *x, uint32_t dim);

/* --- Random numbers: PyTorch's distributions, not its values --- */

struct random {
    uint64_t state;
};
struct random random_of(const struct kernel *k);
uint64_t random_bits(struct random *r);
double random_uniform(struct random *r); /* [0, 1) */
double random_normal(struct random *r);

/* All kernels. */
kernel_fn kernel_point; /* for the rows of replay/backend/pointwise/pointwise.def */
#define KERNEL(base, run, param) kernel_fn kernel_##run;
#include "replay/backend/cpu/kernels.def"
#undef KERNEL

#endif
