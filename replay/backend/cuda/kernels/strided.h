/* Tensors that a kernel walks together, dimension by dimension: what
 * replay/backend/cuda/device/strided.h is given.
 *
 *     struct strided_set set;
 *     strided_start(k, &set, result(k, 0));
 *     uint32_t from = strided_add(k, &set, x);
 *     strided_merge(&set);
 *     strided_fits(k, &set)          false: declined */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_STRIDED_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_STRIDED_H

#include "replay/backend/cuda/device/strided.h"
#include "replay/backend/cuda/runtime/kernel.h"

enum { STRIDED_MAX_TENSORS = 12 };

struct strided_set {
    uint32_t ndim, n_tensors;
    int64_t size[TENSOR_MAX_DIM], n; /* n: elements */
    int64_t stride[STRIDED_MAX_TENSORS][TENSOR_MAX_DIM];
    bool wide; /* 64-bit indices whatever the sizes */
};

void strided_of_sizes(struct strided_set *set, const int64_t *size, uint32_t ndim);
/* The sizes of x, which becomes tensor 0. */
void strided_start(struct kernel *k, struct strided_set *set, struct kernel_tensor x);
/* Its number; broadcast to the set's sizes. */
uint32_t strided_add(struct kernel *k, struct strided_set *set, struct kernel_tensor x);
/* By its own strides, one a dimension. */
uint32_t strided_add_strides(struct kernel *k, struct strided_set *set, const int64_t *stride);
/* Drops dimensions of size 1, merges neighbours that lie one behind the other in every tensor. */
void strided_merge(struct strided_set *set);
/* Elements of tensors 0 and 1 taken by more bytes at once, where the last dimension allows it and
 * the other tensors do not change along it: bytes of the new elements. */
uint32_t strided_widen(struct strided_set *set, uint32_t bytes, uint64_t address0,
                       uint64_t address1);
/* At most STRIDED_MAX_DIM dimensions are left, otherwise the call is declined. */
bool strided_fits(struct kernel *k, const struct strided_set *set);
/* Strides of tensor `i`, and sizes, for a kernel's arguments. */
void strided_give(const struct strided_set *set, uint32_t i, i64 *stride);
void strided_give_sizes(const struct strided_set *set, i64 *size);
/* The type I for these sizes, "i32" or "i64"; beyond: elements that another tensor reaches at most.
 * And DIMS. */
const char *strided_index(const struct strided_set *set, int64_t beyond);
int strided_dims(const struct strided_set *set);

/* Elements from the tensor's first one to its last, and one more; 0: there are none. */
int64_t tensor_extent(struct kernel_tensor x);
/* The type that moves elements of so many bytes: "u32". NULL: there is none. */
const char *cuda_bits_type(uint32_t bytes);
/* Not plain: the conjugate or negative bit, complex where numbers are computed. */
bool is_plain(struct kernel_tensor x);

#endif
