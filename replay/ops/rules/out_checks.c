/* The checks of C++ kernels on their out= tensors. */
#include "replay/ops/rules/reduce/reduce.h"

const char *type_name(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64: return "double";
    case DTYPE_F32: return "float";
    case DTYPE_F16: return "c10::Half";
    case DTYPE_BF16: return "c10::BFloat16";
    case DTYPE_C64: return "c10::complex<float>";
    case DTYPE_C128: return "c10::complex<double>";
    case DTYPE_C32: return "c10::complex<c10::Half>";
    case DTYPE_I8: return "signed char";
    case DTYPE_I16: return "short";
    case DTYPE_I32: return "int";
    case DTYPE_I64: return "long int";
    case DTYPE_B8: return "bool";
    case DTYPE_U8: return "unsigned char";
    default: return dtype_scalar_name(dtype);
    }
}

bool check_out_dtype(struct call *c, uint32_t i, enum dtype dtype)
{
    struct tensor out = arg_tensor(c, i);
    return !out.meta || require(c, out.meta->dtype == dtype, "RuntimeError",
                                "Expected out tensor to have dtype %s, but got %s instead",
                                type_name(dtype), type_name(out.meta->dtype));
}

/* Computes the first and the last offset of a tensor's elements. Returns false where it has no
 * elements or where a size, a stride or the offset is symbolic. */
static bool extent(const struct call *c, struct tensor x, int64_t *first, int64_t *last)
{
    int64_t sizes[TENSOR_MAX_DIM], stride, reach;
    if (!plain_sizes(c, x, sizes) || !sym_to_i64(c->pool, x.meta->offset, first))
        return false;
    *last = *first;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        if (sizes[i] == 0 || !sym_to_i64(c->pool, x.meta->stride[i], &stride) ||
            __builtin_mul_overflow(sizes[i] - 1, stride, &reach) ||
            __builtin_add_overflow(*last, reach, last))
            return false;
    return true;
}

static bool has_internal_overlap(const struct call *c, struct tensor x)
{
    int64_t sizes[TENSOR_MAX_DIM];
    if (!plain_sizes(c, x, sizes))
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        if (sizes[i] > 1 && is_int(c, x.meta->stride[i], 0))
            return true;
    return false;
}

/* at::get_overlap_status of MemoryOverlap.cpp, for dense tensors. */
static bool overlaps(struct call *c, struct tensor a, struct tensor b)
{
    int64_t a0, a1, b0, b1;
    if (a.storage != b.storage || !extent(c, a, &a0, &a1) || !extent(c, b, &b0, &b1))
        return false;
    if (!non_overlapping_and_dense_or_false(c, a) || !non_overlapping_and_dense_or_false(c, b))
        return false;
    return a0 <= b1 && b0 <= a1;
}

static bool has_sizes_of(struct tensor a, struct tensor b)
{
    bool same = ndim_of(a) == ndim_of(b);
    for (uint32_t i = 0; i < ndim_of(a) && same; i++)
        same = size_of(a, i) == size_of(b, i);
    return same;
}

static bool check_apart(struct call *c, struct tensor x, const struct tensor_meta *before,
                        struct tensor out)
{
    if (x.meta == before && x.storage == out.storage)
        x = out; /* x is the out= tensor itself, which was resized. */
    return !x.meta || require(c, !overlaps(c, x, out), "RuntimeError",
                              "unsupported operation: some elements of the input tensor and the "
                              "written-to tensor refer to a single memory location. Please "
                              "clone() the tensor before performing the operation.");
}

bool check_out_overlap(struct call *c, uint32_t i, uint32_t n, struct tensor result)
{
    struct tensor out = arg_tensor(c, i);
    const struct tensor_meta *before = out.meta;
    if (!out.meta || c->failed)
        return !c->failed;
    bool overlap = has_internal_overlap(c, out);
    if (!has_sizes_of(out, result))
        out = new_view_dtype(c, out, out.meta->dtype, result.meta->size, result.meta->stride,
                             result.meta->ndim, out.meta->offset);
    if (c->failed)
        return false;
    if (!require(c, !overlap, "RuntimeError",
                 "unsupported operation: more than one element of the written-to tensor refers to "
                 "a single memory location. Please clone() the tensor before performing the "
                 "operation."))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const struct tensor *list = NULL;
        uint32_t n_list = arg(c, k).kind == VALUE_LIST ? arg_tensors(c, k, &list) : 0;
        for (uint32_t j = 0; j < n_list; j++)
            if (!check_apart(c, list[j], before, out))
                return false;
        if (arg(c, k).kind == VALUE_TENSOR && !check_apart(c, arg_tensor(c, k), before, out))
            return false;
    }
    return true;
}
