/* Matmuls of few bits: integers, scaled eight-bit floats, weights that are packed. The checks are
 * those of torch/_meta_registrations.py. */
#include "replay/ops/rules/compose.h"

static bool check_2d(struct call *c, struct tensor x, const char *name)
{
    return require(c, ndim_of(x) == 2, "RuntimeError", "%s must be a 2D tensor", name);
}

static bool check_dtype(struct call *c, struct tensor x, enum dtype wanted, const char *name,
                        const char *text)
{
    return require(c, dtype_of(x) == wanted, "RuntimeError", "expected %s to be %s, got %s", name,
                   text, dtype_python_name(dtype_of(x)));
}

/* meta__int_mm */
bool rule_int_mm(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    struct device device = common_device(c, (struct tensor[]){ a, b }, 2);
    if (!check_2d(c, a, "a") || !check_2d(c, b, "b"))
        return false;
    require(c, dtype_of(a) == DTYPE_I8 || dtype_of(a) == DTYPE_U8, "RuntimeError",
            "expected self to be int8 or uint8, got %s", dtype_python_name(dtype_of(a)));
    check_dtype(c, b, DTYPE_I8, "mat2", "int8");
    const sym_id *x = sizes_of(a), *y = sizes_of(b);
    check(c, py_eq(c, x[1], y[0]), "RuntimeError",
          "Incompatible matrix sizes for _int_mm (%sx%s and %sx%s)", sym_text(c, x[0]),
          sym_text(c, x[1]), sym_text(c, y[0]), sym_text(c, y[1]));
    sym_id sizes[] = { x[0], y[1] };
    return ret_tensor(c, new_tensor(c, DTYPE_I32, device, sizes, 2));
}

/* --- Scaled floats of eight bits --- */

static bool is_float8_or_float4(enum dtype dtype)
{
    return dtype == DTYPE_F8E4M3FN || dtype == DTYPE_F8E5M2 || dtype == DTYPE_F8E4M3FNUZ ||
           dtype == DTYPE_F8E5M2FNUZ || dtype == DTYPE_F4E2M1FNX2;
}

/* The strides and sizes that the GPU's kernels support. */
static void check_scaled_layout(struct call *c, struct tensor a, struct tensor b)
{
    const sym_id *x = a.meta->stride, *y = b.meta->stride;
    bool row = guard_bool(c, gt(c, x[0], x[1])) && guard_bool(c, eq_int(c, x[1], 1));
    require(c,
            row || guard_bool(c, eq_int(c, size_of(c, a, 0), 0)) ||
                guard_bool(c, eq_int(c, size_of(c, a, 1), 0)),
            "RuntimeError", "self must be row_major, got stride %s", sizes_text(c, x, 2));
    bool column = guard_bool(c, eq_int(c, y[0], 1)) && guard_bool(c, gt(c, y[1], SYM_ID_ONE));
    require(c,
            column || guard_bool(c, eq_int(c, size_of(c, b, 0), 0)) ||
                guard_bool(c, eq_int(c, size_of(c, b, 1), 0)),
            "RuntimeError", "mat2 must be col_major, got stride %s", sizes_text(c, y, 2));
    check(c, eq_int(c, mod(c, size_of(c, a, 1), num(c, 16)), 0), "RuntimeError",
          "Expected self.size(1) to be divisible by 16, but got self.size(1)=%s",
          sym_text(c, size_of(c, a, 1)));
    bool whole = guard_bool(c, eq_int(c, mod(c, size_of(c, b, 0), num(c, 16)), 0)) &&
                 guard_bool(c, eq_int(c, mod(c, size_of(c, b, 1), num(c, 16)), 0));
    require(c, whole, "RuntimeError",
            "Expected both dimensions of mat2 to be divisible by 16 but got torch.Size(%s)",
            sizes_text(c, sizes_of(b), 2));
}

static sym_id ceil_div(struct call *c, sym_id n, int64_t by)
{
    return floordiv(c, sub(c, add(c, n, num(c, by)), SYM_ID_ONE), num(c, by));
}

static bool same_size(struct call *c, struct tensor x, uint32_t dim, sym_id wanted)
{
    return guard_bool(c, eq(c, size_of(c, x, dim), wanted));
}

/* Scales of 16 (e4m3) or 32 (e8m0) elements along the inner dimension, padded to tiles of 128 rows
 * by 4 scales. */
static bool check_scales_of_blocks(struct call *c, struct tensor a, struct tensor b,
                                   struct tensor scale_a, struct tensor scale_b)
{
    bool small = dtype_of(scale_a) == DTYPE_F8E4M3FN;
    bool packed = small || dtype_of(a) == DTYPE_F4E2M1FNX2;
    sym_id inner = mul(c, size_of(c, a, 1), num(c, packed ? 2 : 1));
    sym_id blocks = mul(c, ceil_div(c, ceil_div(c, inner, small ? 16 : 32), 4), num(c, 4));
    sym_id rows = mul(c, num(c, 128), ceil_div(c, size_of(c, a, 0), 128));
    sym_id columns = mul(c, num(c, 128), ceil_div(c, size_of(c, b, 1), 128));
    sym_id wanted_a = mul(c, rows, blocks), wanted_b = mul(c, columns, blocks);
    bool fits = guard_bool(c, eq(c, numel(c, scale_a), wanted_a)) &&
                guard_bool(c, eq(c, numel(c, scale_b), wanted_b));
    return require(c, fits, "RuntimeError",
                   "Invalid blockwise scaling configuration. For blockwise scaling, scale_a should "
                   "have %s elements, got %s, scale_b should have %s elements, got %s.",
                   sym_text(c, wanted_a), sym_text(c, numel(c, scale_a)), sym_text(c, wanted_b),
                   sym_text(c, numel(c, scale_b))) &&
           require(c, is_contiguous(c, scale_a, FORMAT_CONTIGUOUS), "RuntimeError",
                   "scale_a must be contiguous") &&
           require(c, is_contiguous(c, scale_b, FORMAT_CONTIGUOUS), "RuntimeError",
                   "scale_b must be contiguous");
}

/* Whether scale_a is [rows, blocks] and scale_b [blocks, columns], blocks of 128 inner elements. */
static bool are_blocks(struct call *c, struct tensor scale_a, struct tensor scale_b, sym_id rows,
                       sym_id blocks, sym_id columns)
{
    return same_size(c, scale_a, 0, rows) &&
           guard_bool(c, eq(c, size_of(c, scale_a, 1), size_of(c, scale_b, 0))) &&
           same_size(c, scale_b, 0, blocks) && same_size(c, scale_b, 1, columns);
}

/* One f32 for each row and column, or for 128 elements or 128 by 128. */
static bool check_scales_of_rows(struct call *c, struct tensor a, struct tensor b,
                                 struct tensor scale_a, struct tensor scale_b)
{
    sym_id m = size_of(c, a, 0), n = size_of(c, b, 1);
    if (!require(c, dtype_of(scale_a) == DTYPE_F32 && dtype_of(scale_b) == DTYPE_F32,
                 "RuntimeError",
                 "For rowwise scaling, both scale_a and scale_b must be float (fp32) tensors.") ||
        !require(c, ndim_of(scale_a) == 2 && ndim_of(scale_b) == 2, "RuntimeError",
                 "For non-tensorwise scaling, scale tensors must be 2D, but got "
                 "scale_a.dim()=%u and scale_b.dim()=%u",
                 ndim_of(scale_a), ndim_of(scale_b)))
        return false;
    if (same_size(c, scale_a, 0, m) && same_size(c, scale_a, 1, SYM_ID_ONE) &&
        same_size(c, scale_b, 0, SYM_ID_ONE) && same_size(c, scale_b, 1, n))
        return require(c,
                       is_contiguous(c, scale_a, FORMAT_CONTIGUOUS) &&
                           is_contiguous(c, scale_b, FORMAT_CONTIGUOUS),
                       "RuntimeError",
                       "Both scale_a and scale_b must be contiguous for rowwise scaling.");
    sym_id blocks = ceil_div(c, size_of(c, a, 1), 128);
    sym_id rows = ceil_div(c, m, 128), columns = ceil_div(c, n, 128);
    if (are_blocks(c, scale_a, scale_b, m, blocks, columns) ||
        are_blocks(c, scale_a, scale_b, m, blocks, n) ||
        are_blocks(c, scale_a, scale_b, rows, blocks, n))
        return true;
    const char *M = sym_text(c, m), *N = sym_text(c, n), *K = sym_text(c, blocks);
    return refuse(
        c, "RuntimeError",
        "Invalid scaling configuration. For tensorwise scaling, both scales should be scalar. For "
        "rowwise scaling, scale_a should be (%s, 1), scale_b should be (1, %s). For "
        "(BlockWise1x128, BlockWise128x128), scale_a should be (%s, %s), scale_b should be (%s, "
        "%s). For (BlockWise1x128, BlockWise1x128), scale_a should be (%s, %s), scale_b should be "
        "(%s, %s). For (BlockWise128x128, BlockWise1x128), scale_a should be (%s, %s), scale_b "
        "should be (%s, %s). Got scale_a.size()=(%s, %s) and scale_b.size()=(%s, %s)",
        M, N, M, K, K, sym_text(c, columns), M, K, K, N, sym_text(c, rows), K, K, N,
        sym_text(c, size_of(c, scale_a, 0)), sym_text(c, size_of(c, scale_a, 1)),
        sym_text(c, size_of(c, scale_b, 0)), sym_text(c, size_of(c, scale_b, 1)));
}

static bool check_scales(struct call *c, struct tensor a, struct tensor b)
{
    struct tensor x = arg_tensor(c, 2), y = arg_tensor(c, 3);
    bool floats = dtype_of(x) == DTYPE_F32 && dtype_of(y) == DTYPE_F32;
    if (guard_bool(c, eq_int(c, numel(c, x), 1)) && guard_bool(c, eq_int(c, numel(c, y), 1)))
        return require(
            c, floats, "RuntimeError",
            "For tensorwise scaling, both scale_a and scale_b must be float (fp32) tensors.");
    if (dtype_of(x) == dtype_of(y) &&
        (dtype_of(x) == DTYPE_F8E8M0FNU || dtype_of(x) == DTYPE_F8E4M3FN))
        return check_scales_of_blocks(c, a, b, x, y);
    return check_scales_of_rows(c, a, b, x, y);
}

enum { SCALED_MM_DTYPE = 6 }; /* of _scaled_mm, whose scales are tensors and no lists */

/* _check_scaled_mm_sizes; param is the argument out_dtype. */
bool rule_scaled_mm(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (!require(c, ndim_of(a) == 2 && ndim_of(b) == 2, "RuntimeError",
                 "Inputs must be 2D but got self.dim()=%u and mat2.dim()=%u", ndim_of(a),
                 ndim_of(b)))
        return false;
    require(c, is_float8_or_float4(dtype_of(a)) && is_float8_or_float4(dtype_of(b)), "RuntimeError",
            "Expected both inputs to be fp8 or fp4 types but got self.dtype=%s and mat2.dtype=%s",
            dtype_python_name(dtype_of(a)), dtype_python_name(dtype_of(b)));
    if (!on_cpu(a))
        check_scaled_layout(c, a, b);
    if (c->param == SCALED_MM_DTYPE && !check_scales(c, a, b))
        return false;
    sym_id sizes[] = { size_of(c, a, 0), size_of(c, b, 1) };
    enum dtype dtype = arg_dtype(c, (uint32_t)c->param, dtype_of(a));
    return ret_tensor(c, new_tensor(c, dtype, device_of(a), sizes, 2));
}

/* --- Packed weights --- */

static bool check_activation(struct call *c, struct tensor x)
{
    enum dtype dtype = dtype_of(x);
    return require(c, ndim_of(x) == 2, "RuntimeError", "x must be a 2D tensor") &&
           require(c, dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16,
                   "RuntimeError", "expected x to be f32/f16/bf16, got %s",
                   dtype_python_name(dtype));
}

/* meta__weight_int8pack_mm: self, mat2 [out, in], scales [out]. */
bool rule_weight_int8pack_mm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), w = arg_tensor(c, 1), scales = arg_tensor(c, 2);
    struct device device = common_device(c, (struct tensor[]){ x, w, scales }, 3);
    if (!check_activation(c, x) || !check_2d(c, w, "w") ||
        !check_dtype(c, w, DTYPE_I8, "w", "int8"))
        return false;
    check(c, py_eq(c, size_of(c, w, 1), size_of(c, x, 1)), "RuntimeError",
          "expected w.size(1) (%s) == x.size(1) (%s)", sym_text(c, size_of(c, w, 1)),
          sym_text(c, size_of(c, x, 1)));
    sym_id n = size_of(c, w, 0), sizes[] = { size_of(c, x, 0), n };
    bool fits = ndim_of(scales) == 1 && guard_bool(c, py_eq(c, size_of(c, scales, 0), n));
    require(c, fits, "RuntimeError",
            "expected q_scales to be 1D with size %s, got shape torch.Size(%s)", sym_text(c, n),
            sizes_text(c, sizes_of(scales), ndim_of(scales)));
    return ret_tensor(c, new_tensor(c, dtype_of(x), device, sizes, 2));
}

/* meta__weight_int4pack_mm, meta__weight_int4pack_mm_for_cpu (PARAM 1) and
 * _weight_int4pack_mm_with_scales_and_zeros (PARAM 2): self, mat2, the size of groups, scales. */
bool rule_weight_int4pack_mm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), w = arg_tensor(c, 1), scales = arg_tensor(c, 3);
    struct device device = common_device(c, (struct tensor[]){ x, w, scales }, 3);
    const bool tiles = c->param == 0, bytes = c->param == 1;
    if (!require(c, ndim_of(x) == 2, "RuntimeError", "x must be a 2D tensor") ||
        !require(c, ndim_of(w) == (tiles ? 4 : 2), "RuntimeError", "w must be a %dD tensor",
                 tiles ? 4 : 2) ||
        !check_activation(c, x) ||
        !check_dtype(c, w, bytes ? DTYPE_U8 : DTYPE_I32, "w", bytes ? "uint8" : "int32"))
        return false;
    sym_id n = size_of(c, w, 0);
    sym_id sizes[] = { size_of(c, x, 0), tiles ? mul(c, n, num(c, 8)) : n };
    return ret_tensor(c, new_tensor(c, dtype_of(x), device, sizes, 2));
}

/* meta__convert_weight_to_int4pack: self [n, k / 2] of bytes, inner_k_tiles; PARAM 1: ..._for_cpu,
 * self [n, k] of i32. */
bool rule_convert_weight_to_int4pack(struct call *c)
{
    struct tensor w = arg_tensor(c, 0);
    const bool for_cpu = c->param == 1;
    if (!check_2d(c, w, "w") ||
        !check_dtype(c, w, for_cpu ? DTYPE_I32 : DTYPE_U8, "w", for_cpu ? "int32" : "uint8"))
        return false;
    sym_id n = size_of(c, w, 0), k = size_of(c, w, 1);
    if (for_cpu) {
        sym_id sizes[] = { n, floordiv(c, k, num(c, 2)) };
        return ret_tensor(c, new_tensor(c, DTYPE_U8, device_of(w), sizes, 2));
    }
    sym_id tiles = num(c, arg_int(c, 1));
    if (!require(c, tiles != SYM_ID_ZERO, "ZeroDivisionError",
                 "integer division or modulo by zero"))
        return false;
    sym_id sizes[] = { floordiv(c, n, num(c, 8)),
                       floordiv(c, mul(c, k, num(c, 2)), mul(c, tiles, num(c, 16))), num(c, 32),
                       floordiv(c, tiles, num(c, 2)) };
    return ret_tensor(c, new_tensor(c, DTYPE_I32, device_of(w), sizes, 4));
}
