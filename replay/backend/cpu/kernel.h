/* What the CPU's kernels are written with, besides replay/backend/call/kernel.h.
 *
 *     void kernel_tril(struct kernel *k)
 *     {
 *         struct dense x = load(k, tensor_arg(k, "self"));
 *         ...
 *         store(k, result(k, 0), x);
 *     }
 *
 * What is loaded after a failure has no elements. Arrays live until the call ends.
 *
 * Values are computed in float64 (int64, complex128) in one defined order, and rounded when stored:
 * bit-stable whatever the number of threads. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_KERNEL_H

#include "replay/backend/call/kernel.h"
#include "replay/backend/cpu/dense.h"

void cpu_kernels(struct kernel_table *ret); /* all rows */

/* --- Arrays --- */

struct dense dense_new(struct kernel *k, enum dense_kind kind, const int64_t *size, uint32_t ndim);
/* Zeros in the sizes of result i. */
struct dense like_result(struct kernel *k, uint32_t i, enum dense_kind kind);
/* Of its own kind, or another. */
struct dense load(struct kernel *k, struct kernel_tensor x);
struct dense load_as(struct kernel *k, struct kernel_tensor x, enum dense_kind kind);
/* In float64; without memory or elements where the argument is absent. */
struct dense load_optional(struct kernel *k, const char *name);
/* A tensor, or a number as a tensor of no dimensions. */
struct dense load_value(struct kernel *k, struct kernel_value value, enum dense_kind kind);
/* Expanded to those sizes, which it broadcasts to. */
struct dense dense_broadcast(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim);
/* With dimensions in another order. */
struct dense dense_permute(struct kernel *k, struct dense x, const uint32_t *order);
/* The same elements under other sizes. */
struct dense dense_reshape(struct dense x, const int64_t *size, uint32_t ndim);
struct dense dense_convert(struct kernel *k, struct dense x, enum dense_kind kind);
/* x has the tensor's number of elements. */
void store(struct kernel *k, struct kernel_tensor to, struct dense x);

/* Before, at and behind a dimension: x is [outer, n, inner]. */
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
kernel_fn kernel_point; /* of the rows of replay/backend/pointwise/pointwise.def */
#define KERNEL(base, run, param) kernel_fn kernel_##run;
#include "replay/backend/cpu/kernels.def"
#undef KERNEL

#endif
