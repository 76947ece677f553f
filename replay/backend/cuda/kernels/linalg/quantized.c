/* Matmuls of scaled floats of eight bits, and with packed weights. */
#include <stdio.h>

#include "replay/backend/call/packed_weights.h"
#include "replay/backend/cuda/device/linalg/int4.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/libraries/product_problem.h"

enum { INT4_ROWS = 8 }; /* of self: with more, weights are unpacked first */

/* Describes a tensor of two dimensions, or a vector as one row of them. */
static bool matrix_or_row(struct kernel *k, struct kernel_tensor x, struct cuda_matrix *ret)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    if (!x.meta || !is_stored_real(x) || x.meta->ndim > 2 || x.meta->ndim == 0 ||
        !tensor_strides(x, stride))
        return false;
    uint32_t last = tensor_sizes(x, size) - 1;
    *ret = (struct cuda_matrix){ .address = cuda_address(k, x),
                                 .dtype = x.meta->dtype,
                                 .row = last && size[0] != 1 ? stride[0] : 0,
                                 .column = size[last] != 1 ? stride[last] : 0 };
    return true;
}

/* The product of two tensors; mat2 is [out, in] if `turned`. */
static bool product_of(struct kernel *k, bool turned, struct cuda_product *ret)
{
    struct kernel_tensor x = tensor_arg(k, "self"), y = tensor_arg(k, "mat2"), to = result(k, 0);
    *ret = (struct cuda_product){ .batch = { 1, 1, 1 }, .sums = 1, .alpha = 1, .scaled = true };
    if (!matrix_or_row(k, x, &ret->a) || !matrix_or_row(k, y, &ret->b) ||
        !matrix_or_row(k, to, &ret->c) || x.meta->ndim != 2 || y.meta->ndim != 2 ||
        to.meta->ndim != 2 || x.meta->size[1] != y.meta->size[turned])
        return false;
    if (turned)
        cuda_matrix_transpose(&ret->b);
    ret->m = x.meta->size[0];
    ret->inner = x.meta->size[1];
    ret->n = y.meta->size[!turned];
    ret->self.dtype = ret->c.dtype;
    return true;
}

/* ---- Scaled floats ---- */

/* One scale, or one for each of n rows or columns, contiguous. _scaled_mm_v2 has a list of one. */
static bool scales_of(struct kernel *k, const char *name, int64_t n, uint64_t *ret, int64_t *step)
{
    struct kernel_value given = value_arg(k, name);
    int64_t size[TENSOR_MAX_DIM], count = 1;
    if (value_has_items(given) && given.n == 1)
        given = given.u.items[0];
    struct kernel_tensor x =
        given.kind == KERNEL_TENSOR ? given.u.tensor : (struct kernel_tensor){ 0 };
    if (!x.meta || x.meta->dtype != DTYPE_F32)
        return false;
    for (uint32_t d = tensor_sizes(x, size); d-- > 0;)
        count *= size[d];
    const bool rows = x.meta->ndim == 2 && (size[0] == 1 || size[1] == 1);
    if (count != 1 && !(rows && count == n && cuda_is_contiguous(k, x)))
        return false;
    *ret = cuda_address(k, x);
    *step = count != 1;
    return true;
}

static bool bias_of(struct kernel *k, struct cuda_product *p)
{
    struct kernel_tensor bias = tensor_arg(k, "bias");
    if (!bias.meta)
        return true;
    p->beta = 1;
    return matrix_or_row(k, bias, &p->self) && p->self.row == 0 &&
           bias.meta->size[bias.meta->ndim - 1] == p->n;
}

/* scale_result is not used, as in PyTorch: aten/src/ATen/native/cuda/ScaledBlas.cpp,
 * _scaled_gemm(). */
void cuda_scaled_mm(struct kernel *k)
{
    struct cuda_product p;
    if (!product_of(k, false, &p) || !scales_of(k, "scale_a", p.m, &p.scales.a, &p.scales.a_step) ||
        !scales_of(k, "scale_b", p.n, &p.scales.b, &p.scales.b_step) || !bias_of(k, &p)) {
        cuda_decline(k);
        return;
    }
    p.scales.dtype = DTYPE_F32;
    p.scales.fast = bool_arg(k, "use_fast_accum", false);
    cuda_multiply(k, &p);
}

/* ---- Packed weights ---- */

void cuda_weight_int8pack_mm(struct kernel *k)
{
    struct kernel_tensor scales = tensor_arg(k, "scales");
    struct cuda_product p;
    if (!scales.meta || !cuda_is_contiguous(k, scales) || !product_of(k, true, &p)) {
        cuda_decline(k);
        return;
    }
    p.scales.b = cuda_address(k, scales);
    p.scales.b_step = p.n != 1;
    p.scales.dtype = scales.meta->dtype;
    cuda_multiply(k, &p);
}

/* Makes the defines; NULL: a dtype that kernels do not support. */
static const char *int4_defines(char *ret, size_t bytes, struct kernel_tensor x,
                                struct kernel_tensor scales)
{
    const char *t = cuda_type(x.meta->dtype), *ts = cuda_type(scales.meta->dtype);
    if (!t || !ts || dense_kind_of(x.meta->dtype) != DENSE_REAL ||
        dense_kind_of(scales.meta->dtype) != DENSE_REAL)
        return NULL;
    snprintf(ret, bytes, "#define T %s\n#define TS %s\n", t, ts);
    return ret;
}

/* Unpacks the weights to [n][k] of self's dtype, and multiplies with these. */
static void multiply_unpacked(struct kernel *k, struct cuda_product *p, struct int4_args *a,
                              const char *defines)
{
    const int64_t words = p->n / 8 * a->blocks * 32 * a->words;
    a->to = cuda_workspace(k, (size_t)(p->n * p->inner) * dtype_size(p->a.dtype));
    cuda_traffic(k, (uint64_t)(words * 4 + p->n * p->inner * (int64_t)dtype_size(p->a.dtype)), 0);
    cuda_launch(k, cuda_function(k, "int4", "int4_unpack", defines),
                (struct cuda_grid){ cuda_blocks(k, words, 256), 1, 1, 256, 0 }, a, sizeof *a);
    p->b = (struct cuda_matrix){ .address = a->to,
                                 .dtype = p->a.dtype,
                                 .row = p->inner == 1 ? 0 : 1,
                                 .column = p->n == 1 ? 0 : p->inner };
    cuda_multiply(k, p);
}

static void multiply_packed(struct kernel *k, const struct cuda_product *p, struct int4_args *a,
                            const char *defines)
{
    const int rows = p->m <= 1 ? 1 : p->m <= 2 ? 2 : p->m <= 4 ? 4 : INT4_ROWS;
    char name[32];
    snprintf(name, sizeof name, "int4_multiply_%d", rows);
    a->to = p->c.address;
    cuda_traffic(k,
                 (uint64_t)(p->n * p->inner / 2 +
                            p->m * (p->n + p->inner) * (int64_t)dtype_size(p->a.dtype)),
                 2 * (uint64_t)p->m * (uint64_t)p->n * (uint64_t)p->inner);
    cuda_launch(k, cuda_function(k, "int4", name, defines),
                (struct cuda_grid){ (uint32_t)(p->n / 8), 1, 1, 256, 0 }, a, sizeof *a);
}

void cuda_weight_int4pack_mm(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), w = tensor_arg(k, "mat2"), to = result(k, 0);
    struct kernel_tensor scales = tensor_arg(k, "qScaleAndZeros");
    struct cuda_product p = { .batch = { 1, 1, 1 }, .sums = 1, .alpha = 1 };
    struct int4_weight packed;
    char defines[64];
    if (!int4_weight_of_call(k, &packed))
        return;
    if (!matrix_or_row(k, x, &p.a) || !matrix_or_row(k, to, &p.c) || packed.group % 32 != 0 ||
        p.a.dtype != p.c.dtype || !int4_defines(defines, sizeof defines, x, scales)) {
        cuda_decline(k);
        return;
    }
    p.m = x.meta->size[0], p.n = packed.n, p.inner = packed.k;
    p.self.dtype = p.c.dtype;
    struct int4_args a = { .packed = cuda_contiguous(k, w),
                           .scales = cuda_contiguous(k, scales),
                           .x = p.a.address,
                           .x_row = p.a.row,
                           .x_column = p.a.column,
                           .to_row = p.c.row,
                           .to_column = p.c.column,
                           .m = p.m,
                           .n = p.n,
                           .k = p.inner,
                           .group = packed.group,
                           .blocks = p.inner / (16 * packed.tiles),
                           .words = packed.tiles / 2 };
    if (p.m == 0 || p.n == 0)
        return;
    if (p.m > INT4_ROWS)
        multiply_unpacked(k, &p, &a, defines);
    else
        multiply_packed(k, &p, &a, defines);
}

void cuda_convert_weight_to_int4pack(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    struct cuda_matrix from;
    struct int4_weight w;
    if (!int4_weight_of(k, to, &w))
        return;
    if (!matrix_or_row(k, x, &from) || x.meta->ndim != 2 || from.dtype != DTYPE_U8 ||
        x.meta->size[0] != w.n || x.meta->size[1] * 2 != w.k || !cuda_is_contiguous(k, to)) {
        cuda_decline(k); /* the CPU's kernel says what is wrong */
        return;
    }
    struct int4_pack_args a = { .packed = cuda_address(k, to),
                                .from = from.address,
                                .from_row = from.row,
                                .from_column = from.column,
                                .count = w.n * w.k / 8,
                                .blocks = w.k / (16 * w.tiles),
                                .words = w.tiles / 2 };
    if (a.count == 0)
        return;
    cuda_traffic(k, (uint64_t)(w.n * w.k), 0);
    cuda_launch(k, cuda_function(k, "int4", "int4_pack", "#define T f32\n#define TS f32\n"),
                (struct cuda_grid){ cuda_blocks(k, a.count, 256), 1, 1, 256, 0 }, &a, sizeof a);
}
