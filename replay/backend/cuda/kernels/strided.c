#include "replay/backend/cuda/kernels/strided.h"

#include <stdlib.h>
#include <string.h>

void strided_of_sizes(struct strided_set *set, const int64_t *size, uint32_t ndim)
{
    set->ndim = ndim;
    set->n_tensors = 0;
    set->wide = false;
    set->n = 1;
    for (uint32_t d = 0; d < ndim; d++) {
        set->size[d] = size[d];
        if (__builtin_mul_overflow(set->n, size[d], &set->n))
            set->n = INT64_MAX;
    }
    for (uint32_t d = 0; d < ndim; d++)
        set->n = size[d] ? set->n : 0;
}

void strided_start(struct kernel *k, struct strided_set *set, struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    strided_of_sizes(set, size, ndim);
    strided_add(k, set, x);
}

uint32_t strided_add(struct kernel *k, struct strided_set *set, struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], own[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM] = { 0 };
    uint32_t ndim = tensor_sizes(x, size);
    if (!tensor_strides(x, own) || ndim > set->ndim) {
        kernel_fail(k, "a tensor whose strides are not numbers, or that has too many dimensions");
        ndim = 0;
    }
    for (uint32_t i = 0; i < ndim; i++)
        stride[set->ndim - ndim + i] = size[i] == 1 ? 0 : own[i];
    return strided_add_strides(k, set, stride);
}

uint32_t strided_add_strides(struct kernel *k, struct strided_set *set, const int64_t *stride)
{
    if (set->n_tensors == STRIDED_MAX_TENSORS) {
        kernel_fail(k, "more than %d tensors in one kernel", STRIDED_MAX_TENSORS);
        return 0;
    }
    memcpy(set->stride[set->n_tensors], stride, set->ndim * sizeof *stride);
    set->wide = cuda_always_wide(k);
    return set->n_tensors++;
}

static bool one_behind_the_other(const struct strided_set *set, uint32_t first, uint32_t second)
{
    for (uint32_t i = 0; i < set->n_tensors; i++)
        if (set->stride[i][first] != set->stride[i][second] * set->size[second])
            return false;
    return true;
}

void strided_merge(struct strided_set *set)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < set->ndim; d++) {
        if (set->size[d] == 1)
            continue;
        bool merge = n > 0 && one_behind_the_other(set, n - 1, d);
        uint32_t at = merge ? n - 1 : n++;
        set->size[at] = merge ? set->size[at] * set->size[d] : set->size[d];
        for (uint32_t i = 0; i < set->n_tensors; i++)
            set->stride[i][at] = set->stride[i][d];
    }
    set->ndim = n;
}

static bool is_multiple(int64_t unit, int64_t x)
{
    return x % unit == 0;
}

uint32_t strided_widen(struct strided_set *set, uint32_t bytes, uint64_t address0,
                       uint64_t address1)
{
    uint32_t last = set->ndim - 1;
    if (set->ndim == 0 || set->stride[0][last] != 1 || set->stride[1][last] != 1)
        return bytes;
    for (uint32_t i = 2; i < set->n_tensors; i++)
        if (set->stride[i][last] != 0)
            return bytes;
    for (int64_t times = 16 / bytes; times > 1; times /= 2) {
        uint64_t unit = (uint64_t)times * bytes;
        bool fits =
            is_multiple(times, set->size[last]) && address0 % unit == 0 && address1 % unit == 0;
        for (uint32_t d = 0; d < last && fits; d++)
            fits = is_multiple(times, set->stride[0][d]) && is_multiple(times, set->stride[1][d]);
        if (!fits)
            continue;
        set->size[last] /= times;
        set->n /= times;
        for (uint32_t d = 0; d < last; d++) {
            set->stride[0][d] /= times;
            set->stride[1][d] /= times;
        }
        return (uint32_t)unit;
    }
    return bytes;
}

bool strided_fits(struct kernel *k, const struct strided_set *set)
{
    if (set->ndim > STRIDED_MAX_DIM)
        cuda_decline(k);
    return set->ndim <= STRIDED_MAX_DIM && !k->failed;
}

void strided_give(const struct strided_set *set, uint32_t i, i64 *stride)
{
    for (uint32_t d = 0; d < set->ndim; d++)
        stride[d] = set->stride[i][d];
}

void strided_give_sizes(const struct strided_set *set, i64 *size)
{
    for (uint32_t d = 0; d < set->ndim; d++)
        size[d] = set->size[d];
}

const char *strided_index(const struct strided_set *set, int64_t beyond)
{
    bool wide = set->wide || beyond > INT32_MAX || set->n > INT32_MAX;
    for (uint32_t i = 0; i < set->n_tensors; i++) {
        int64_t reach = 0;
        for (uint32_t d = 0; d < set->ndim; d++)
            reach += llabs(set->stride[i][d]) * (set->size[d] ? set->size[d] - 1 : 0);
        wide |= reach > INT32_MAX;
    }
    return wide ? "i64" : "i32";
}

int strided_dims(const struct strided_set *set)
{
    return set->ndim <= 4 ? 4 : STRIDED_MAX_DIM;
}

int64_t tensor_extent(struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], extent = 1;
    uint32_t ndim = tensor_sizes(x, size);
    if (!tensor_strides(x, stride))
        return 0;
    for (uint32_t d = 0; d < ndim; d++) {
        if (size[d] == 0)
            return 0;
        extent += (size[d] - 1) * stride[d];
    }
    return extent;
}

const char *cuda_bits_type(uint32_t bytes)
{
    switch (bytes) {
    case 1: return "u8";
    case 2: return "u16";
    case 4: return "u32";
    case 8: return "u64";
    case 16: return "struct words16";
    default: return NULL;
    }
}

bool is_stored_real(struct kernel_tensor x)
{
    return !x.meta || (!x.meta->conj && !x.meta->neg);
}
