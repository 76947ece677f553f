#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/device/copy.h"
#include "replay/backend/cuda/runtime/cuda.h"

const char *cuda_type(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64: return "f64";
    case DTYPE_F32: return "f32";
    case DTYPE_F16: return "f16";
    case DTYPE_BF16: return "bf16";
    case DTYPE_F8E4M3FN: return "f8e4m3";
    case DTYPE_F8E5M2: return "f8e5m2";
    case DTYPE_I64: return "i64";
    case DTYPE_I32: return "i32";
    case DTYPE_I16: return "i16";
    case DTYPE_I8: return "i8";
    case DTYPE_U64: return "u64";
    case DTYPE_U32: return "u32";
    case DTYPE_U16: return "u16";
    case DTYPE_U8: return "u8";
    case DTYPE_B8: return "b8";
    default: return NULL;
    }
}

const char *cuda_sum_type(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64: return "f64";
    case DTYPE_F32:
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2: return "f32";
    case DTYPE_U64: return "u64";
    default: return cuda_type(dtype) ? "i64" : NULL;
    }
}

/* ---- Layouts ---- */

/* All dimensions of the tensors, before merging. */
struct broadcast_dims {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[4][TENSOR_MAX_DIM];
};

static bool plain_strides(struct kernel *k, struct kernel_tensor x, struct broadcast_dims *p,
                          uint32_t which)
{
    const struct kernel_meta *meta = x.meta;
    uint32_t skip = p->ndim - meta->ndim;
    for (uint32_t i = 0; i < p->ndim; i++) {
        p->stride[which][i] = 0;
        if (i < skip)
            continue;
        int64_t size = meta->size[i - skip];
        p->stride[which][i] = meta->stride[i - skip];
        if (size == 1 && p->size[i] != 1)
            p->stride[which][i] = 0;
        else if (size != p->size[i])
            return kernel_fail(k, "a tensor that does not broadcast to the result"), false;
    }
    return true;
}

static bool read_broadcast_dims(struct kernel *k, const struct kernel_tensor *x, uint32_t n,
                                struct broadcast_dims *p)
{
    p->ndim = x[0].meta ? x[0].meta->ndim : 0;
    if (!x[0].meta || n > 4 || p->ndim > TENSOR_MAX_DIM)
        return cuda_decline(k), false;
    tensor_sizes(x[0], p->size);
    for (uint32_t t = 0; t < n; t++) {
        const struct kernel_meta *meta = x[t].meta;
        if (!meta || !meta->stride || meta->ndim > p->ndim || meta->conj || meta->neg)
            return cuda_decline(k), false;
        if (!plain_strides(k, x[t], p, t))
            return false;
    }
    return true;
}

/* Returns whether dimension i of every tensor is contiguous with the last one of *ret. */
static bool continues(const struct broadcast_dims *p, uint32_t i, uint32_t n,
                      const struct cuda_layout *ret)
{
    uint32_t last = ret->ndim - 1;
    for (uint32_t t = 0; t < n; t++)
        if (ret->stride[t][last] != p->stride[t][i] * p->size[i])
            return false;
    return ret->ndim > 0;
}

static bool merge_into_layout(const struct broadcast_dims *p, uint32_t n, struct cuda_layout *ret)
{
    for (uint32_t i = 0; i < p->ndim; i++) {
        uint32_t at = ret->ndim;
        if (p->size[i] == 1)
            continue;
        if (at && continues(p, i, n, ret))
            ret->size[--at] *= p->size[i];
        else if (at == CUDA_MAX_DIM)
            return false;
        else
            ret->size[ret->ndim++] = p->size[i];
        for (uint32_t t = 0; t < n; t++)
            ret->stride[t][at] = p->stride[t][i];
    }
    return true;
}

static bool is_wide_layout(const struct cuda_layout *l, const struct kernel_tensor *x, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++) {
        int64_t reach = 1, bytes = (int64_t)dtype_size(x[t].meta->dtype), span;
        for (uint32_t i = 0; i < l->ndim; i++)
            if (__builtin_mul_overflow(l->size[i] - 1, l->stride[t][i], &span) ||
                __builtin_add_overflow(reach, span, &reach))
                return true;
        if (reach > INT32_MAX / bytes || l->n > INT32_MAX / bytes)
            return true;
    }
    return false;
}

/* Returns whether one access can take `bytes` of every tensor: rows begin and end at multiples of
 * them. */
static bool allows_width(struct kernel *k, const struct cuda_layout *l,
                         const struct kernel_tensor *x, uint32_t n, int64_t elements)
{
    uint32_t last = l->ndim - 1;
    if (elements > 1 && (l->ndim == 0 || l->size[last] % elements))
        return false;
    for (uint32_t t = 0; t < n && elements > 1; t++) {
        uint64_t bytes = (uint64_t)elements * dtype_size(x[t].meta->dtype);
        if (l->stride[t][last] != 1 || cuda_address(k, x[t]) % bytes)
            return false;
        for (uint32_t i = 0; i < last; i++)
            if (l->stride[t][i] % elements)
                return false;
    }
    return true;
}

static uint32_t vector_width(struct kernel *k, const struct cuda_layout *l,
                             const struct kernel_tensor *x, uint32_t n)
{
    uint32_t widest = 1;
    for (uint32_t t = 0; t < n; t++)
        widest =
            dtype_size(x[t].meta->dtype) > widest ? (uint32_t)dtype_size(x[t].meta->dtype) : widest;
    uint32_t bytes = 16;
    while (bytes > widest && !allows_width(k, l, x, n, bytes / widest))
        bytes /= 2;
    return bytes > widest ? bytes : widest;
}

bool cuda_layout_of(struct kernel *k, const struct kernel_tensor *x, uint32_t n,
                    struct cuda_layout *ret)
{
    struct broadcast_dims p;
    *ret = (struct cuda_layout){ .n = 1 };
    if (k->failed || !read_broadcast_dims(k, x, n, &p))
        return false;
    for (uint32_t i = 0; i < p.ndim; i++)
        if (__builtin_mul_overflow(ret->n, p.size[i], &ret->n) && p.size[i])
            return kernel_fail(k, "more than 2^63 elements"), false;
    if (!merge_into_layout(&p, n, ret))
        return cuda_decline(k), false;
    ret->wide = cuda_always_wide(k) || is_wide_layout(ret, x, n);
    ret->vector = ret->n ? vector_width(k, ret, x, n) : (uint32_t)dtype_size(x[0].meta->dtype);
    return !k->failed;
}

/* ---- Contiguous copies ---- */

static bool lies_in_order(const struct cuda_layout *l)
{
    return l->n <= 1 || (l->ndim == 1 && l->stride[0][0] == 1);
}

static const char *bits_type(size_t bytes)
{
    return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : bytes == 8 ? "u64" : NULL;
}

static void copy_in_order(struct kernel *k, uint64_t to, uint64_t from, size_t bytes,
                          const struct cuda_layout *l)
{
    struct copy_args args = { .to = to, .from = from, .n = l->n, .ndim = l->ndim };
    char defines[160];
    const char *type = bits_type(bytes);
    int64_t step = 1;
    for (uint32_t i = l->ndim; i-- > 0; step *= l->size[i]) {
        args.size[i] = l->size[i];
        args.from_stride[i] = l->stride[0][i];
        args.to_stride[i] = step;
    }
    snprintf(defines, sizeof defines,
             "#define FROM %s\n#define TO %s\n#define INDEX %s\n"
             "#define SAME 1\n",
             type, type, l->wide ? "i64" : "i32");
    struct cuda_function *f = cuda_function(k, "copy", "copy_strided", defines);
    cuda_traffic(k, 2 * (uint64_t)l->n * bytes, 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, l->n, 1024), 1, 1, 256, 0 }, &args,
                sizeof args);
}

bool cuda_is_contiguous(struct kernel *k, struct kernel_tensor x)
{
    struct cuda_layout l;
    return cuda_layout_of(k, &x, 1, &l) && lies_in_order(&l);
}

uint64_t cuda_contiguous(struct kernel *k, struct kernel_tensor x)
{
    struct cuda_layout l;
    uint64_t from = cuda_address(k, x);
    if (!cuda_layout_of(k, &x, 1, &l) || lies_in_order(&l))
        return from;
    size_t bytes = dtype_size(x.meta->dtype);
    if (!bits_type(bytes))
        return cuda_decline(k), 0;
    uint64_t to = cuda_workspace(k, (size_t)l.n * bytes);
    copy_in_order(k, to, from, bytes, &l);
    return k->failed ? 0 : to;
}
