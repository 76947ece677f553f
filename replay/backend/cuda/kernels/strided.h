/* Tensors that a kernel iterates over together, dimension by dimension: the arguments of
 * replay/backend/cuda/device/strided.h.
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
    bool wide; /* always uses 64-bit indices */
};

void strided_of_sizes(struct strided_set *set, const int64_t *size, uint32_t ndim);
/* Starts a set with the sizes of x, which is tensor 0. */
void strided_start(struct kernel *k, struct strided_set *set, struct kernel_tensor x);
/* Adds a tensor, broadcast to the set's sizes; returns its number. */
uint32_t strided_add(struct kernel *k, struct strided_set *set, struct kernel_tensor x);
/* Adds a tensor with given strides, one for each dimension. */
uint32_t strided_add_strides(struct kernel *k, struct strided_set *set, const int64_t *stride);
/* Drops dimensions of size 1 and merges neighbours that are contiguous in every tensor. */
void strided_merge(struct strided_set *set);
/* Moves elements of tensors 0 and 1 by more bytes at once, if the last dimension allows it and the
 * other tensors do not change along it. Returns the bytes of the new elements. */
uint32_t strided_widen(struct strided_set *set, uint32_t bytes, uint64_t address0,
                       uint64_t address1);
/* Declines if more than STRIDED_MAX_DIM dimensions are left. */
bool strided_fits(struct kernel *k, const struct strided_set *set);
/* Copies the strides of tensor `i`, or the sizes, to a kernel's arguments. */
void strided_give(const struct strided_set *set, uint32_t i, i64 *stride);
void strided_give_sizes(const struct strided_set *set, i64 *size);
/* Returns the defines of the type I for these sizes, "i32" or "i64", and of DIMS. beyond: the
 * greatest extent of another tensor, in elements. */
const char *strided_index(const struct strided_set *set, int64_t beyond);
int strided_dims(const struct strided_set *set);

/* Returns the number of elements from the tensor's first one to its last one in memory; 0: there
 * are none. */
int64_t tensor_extent(struct kernel_tensor x);
/* Returns the type for elements of that size: "u32". NULL: there is none. */
const char *cuda_bits_type(uint32_t bytes);
/* Returns false for tensors with the conjugate or negative bit, and for complex ones. */
bool is_stored_real(struct kernel_tensor x);

#endif
