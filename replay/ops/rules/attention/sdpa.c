/* scaled_dot_product_attention: the choice of its kernel and the preparation of the arguments
 * (aten/src/ATen/native/transformers/attention.cpp, cuda/sdp_utils.cpp, sdp_utils_cpp.h). */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/compose.h"

#include <math.h>

struct sdpa {
    struct tensor q, k, v, mask;
    struct value dropout, scale;
    bool causal, gqa;
};

/* --- Choosing --- */

static bool all_have_4_dims(const struct sdpa *s)
{
    return ndim_of(s->q) == 4 && ndim_of(s->k) == 4 && ndim_of(s->v) == 4;
}

static bool same_size_of_qkv(struct call *c, const struct sdpa *s, uint32_t dim)
{
    sym_id q = size_of(c, s->q, dim), k = size_of(c, s->k, dim), v = size_of(c, s->v, dim);
    return guard_bool(c, eq(c, q, k)) && guard_bool(c, eq(c, q, v));
}

/* check_batch_size_and_num_heads_dense */
static bool same_batch_and_heads(struct call *c, const struct sdpa *s, bool supports_gqa)
{
    if (!same_size_of_qkv(c, s, 0))
        return false;
    if (!s->gqa || !supports_gqa)
        return same_size_of_qkv(c, s, 1);
    sym_id q = size_of(c, s->q, 1), k = size_of(c, s->k, 1), v = size_of(c, s->v, 1);
    return guard_bool(c, eq_int(c, mod(c, q, k), 0)) && guard_bool(c, eq_int(c, mod(c, q, v), 0));
}

/* check_nonzero_sequence_lengths_dense */
static bool nonzero_lengths(struct call *c, const struct sdpa *s)
{
    bool no_queries = guard_bool(c, eq_int(c, size_of(c, s->q, -2), 0));
    bool no_keys = guard_bool(c, eq_int(c, size_of(c, s->k, -2), 0));
    return !no_queries && !no_keys;
}

static bool last_stride_one(struct call *c, struct tensor x, bool or_single)
{
    if (!some(x) || !ndim_of(x))
        return true;
    return guard_bool(c, eq_int(c, x.meta->stride[ndim_of(x) - 1], 1)) ||
           (or_single && guard_bool(c, eq_int(c, size_of(c, x, -1), 1)));
}

/* check_last_dim_stride_equals_1_dense */
static bool dense_rows(struct call *c, const struct sdpa *s, bool or_single)
{
    return last_stride_one(c, s->q, or_single) && last_stride_one(c, s->k, or_single) &&
           last_stride_one(c, s->v, or_single) && last_stride_one(c, s->mask, or_single);
}

static bool is_half(const struct sdpa *s)
{
    return dtype_of(s->q) == DTYPE_F16 || dtype_of(s->q) == DTYPE_BF16;
}

static bool takes_flash_cuda(struct call *c, const struct sdpa *s)
{
    if (!is_half(s) || !all_have_4_dims(s) || some(s->mask))
        return false;
    sym_id head = size_of(c, s->q, -1);
    bool heads = guard_bool(c, eq(c, head, size_of(c, s->k, -1))) &&
                 guard_bool(c, eq(c, head, size_of(c, s->v, -1))) &&
                 guard_bool(c, le(c, head, num(c, 256)));
    if (!heads)
        return false;
    if (s->causal && !guard_bool(c, eq(c, size_of(c, s->q, -2), size_of(c, s->k, -2))))
        return false;
    return same_batch_and_heads(c, s, true) && nonzero_lengths(c, s) && dense_rows(c, s, true);
}

/* check_head_dim_size_mem_efficient: the size of a head is a multiple of 128 bits. */
static bool heads_aligned(struct call *c, const struct sdpa *s)
{
    sym_id q = size_of(c, s->q, -1), v = size_of(c, s->v, -1);
    sym_id alignment = num(c, is_half(s) ? 8 : 4);
    return guard_bool(c, eq(c, q, size_of(c, s->k, -1))) &&
           guard_bool(c, eq_int(c, mod(c, q, alignment), 0)) &&
           guard_bool(c, gt(c, q, SYM_ID_ZERO)) &&
           guard_bool(c, eq_int(c, mod(c, v, alignment), 0)) &&
           guard_bool(c, gt(c, v, SYM_ID_ZERO));
}

static bool takes_efficient(struct call *c, const struct sdpa *s)
{
    if (!all_have_4_dims(s) || !(is_half(s) || dtype_of(s->q) == DTYPE_F32))
        return false;
    if (some(s->mask) && s->mask.meta->requires_grad && s->causal)
        return false;
    return heads_aligned(c, s) && nonzero_lengths(c, s) && dense_rows(c, s, false) &&
           same_batch_and_heads(c, s, false);
}

static bool is_neither(struct call *c, sym_id size, sym_id want)
{
    return guard_bool(c, ne(c, size, want)) && guard_bool(c, ne(c, size, SYM_ID_ONE));
}

static bool is_either(struct call *c, sym_id size, sym_id want)
{
    return guard_bool(c, eq_int(c, size, 1)) || guard_bool(c, eq(c, size, want));
}

/* check_attn_mask_shape of the CPU kernel. */
static bool mask_fits(struct call *c, const struct sdpa *s)
{
    struct tensor mask = s->mask;
    if (!some(mask))
        return true;
    if (c->ops->autograd && !mask.meta->requires_grad)
        c->repeatable = false; /* a call of the same metas may have a mask with a gradient */
    if (ops_requires_gradient(c->ops, mask))
        return false;
    if (ndim_of(mask) < 2 || is_neither(c, size_of(c, mask, -2), size_of(c, s->q, 2)) ||
        is_neither(c, size_of(c, mask, -1), size_of(c, s->k, 2)))
        return false;
    return ndim_of(mask) == 2 ||
           (ndim_of(mask) == 4 && is_either(c, size_of(c, mask, 0), size_of(c, s->q, 0)) &&
            is_either(c, size_of(c, mask, 1), size_of(c, s->q, 1)));
}

/* check_last_dim_stride_equals_1_dense: the mask's stride is read, but on a CPU it does not
 * matter. */
static bool dense_rows_cpu(struct call *c, const struct sdpa *s)
{
    bool ret = last_stride_one(c, s->q, false) && last_stride_one(c, s->k, false) &&
               last_stride_one(c, s->v, false);
    last_stride_one(c, s->mask, false);
    return ret;
}

static bool takes_flash_cpu(struct call *c, const struct sdpa *s)
{
    enum dtype dtype = dtype_of(s->q);
    if (!all_have_4_dims(s) || !(is_half(s) || dtype == DTYPE_F32 || dtype == DTYPE_F64) ||
        sym_to_double(c->pool, s->dropout.u.sym) > 0)
        return false;
    sym_id head = size_of(c, s->q, -1);
    return same_batch_and_heads(c, s, false) && mask_fits(c, s) &&
           guard_bool(c, eq(c, head, size_of(c, s->k, -1))) &&
           guard_bool(c, eq(c, head, size_of(c, s->v, -1))) && nonzero_lengths(c, s) &&
           dense_rows_cpu(c, s);
}

static bool allows(const struct call *c, enum sdpa_kernel kernel)
{
    return !(c->ops->excluded_sdpa >> kernel & 1);
}

static enum sdpa_kernel choose_kernel(struct call *c, const struct sdpa *s)
{
    if (on_cuda(s->q)) {
        if (allows(c, SDPA_FLASH) && takes_flash_cuda(c, s))
            return SDPA_FLASH;
        return allows(c, SDPA_EFFICIENT) && takes_efficient(c, s) ? SDPA_EFFICIENT : SDPA_MATH;
    }
    return on_cpu(s->q) && allows(c, SDPA_FLASH) && takes_flash_cpu(c, s) ? SDPA_FLASH : SDPA_MATH;
}

/* --- Preparing the arguments --- */

static struct tensor scalar_like(struct call *c, struct tensor like, double x)
{
    struct value number = F(c, x);
    count_devices(c, 1); /* of the tensor's options */
    struct keyword keywords[] = {
        { STR("dtype"), dtype_value(dtype_of(like)) },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = device_of(like) } },
    };
    struct value out = call_op_keywords(c, "aten.scalar_tensor.default", &number, 1, keywords, 2);
    return out.kind == VALUE_TENSOR ? out.u.tensor : no_tensor();
}

/* convert_boolean_attn_mask: 0 where the mask is true, -inf elsewhere. */
static struct tensor float_mask(struct call *c, struct tensor mask, struct tensor q)
{
    if (!some(mask) || dtype_of(mask) != DTYPE_B8)
        return mask;
    struct tensor infinite = scalar_like(c, q, -INFINITY);
    return CALL(c, "aten.where.ScalarSelf", T(mask), F(c, 0), T(infinite));
}

static bool is_aligned(struct call *c, struct tensor mask)
{
    for (uint32_t i = 0; i + 1 < ndim_of(mask); i++)
        if (!known_true(c, eq_int(c, mod(c, mask.meta->stride[i], num(c, 8)), 0)))
            return false;
    return known_true(c, eq_int(c, mask.meta->stride[ndim_of(mask) - 1], 1));
}

/* preprocess_mask: rows are aligned to 8 elements, and the mask is expanded to every head. */
static struct tensor aligned_mask(struct call *c, const struct sdpa *s)
{
    struct tensor mask = s->mask;
    if (!some(mask) || c->failed)
        return mask;
    if (ndim_of(mask) && !is_aligned(c, mask)) {
        sym_id last = size_of(c, mask, -1), pads[2] = { SYM_ID_ZERO };
        pads[1] = sub(c, num(c, 8), mod(c, last, num(c, 8)));
        mask = CALL(c, "aten.constant_pad_nd.default", T(mask), ints(c, pads, 2), F(c, 0));
        mask = CALL(c, "aten.slice.Tensor", T(mask), I(c, -1), I(c, 0), N(last));
    }
    sym_id sizes[] = { size_of(c, s->q, 0), size_of(c, s->q, 1), size_of(c, s->q, 2),
                       size_of(c, s->k, 2) };
    return expand(c, mask, sizes, 4);
}

static bool wants_gradient(const struct sdpa *s)
{
    return s->q.meta->requires_grad || s->k.meta->requires_grad || s->v.meta->requires_grad;
}

static double scale_number(struct call *c, const struct sdpa *s)
{
    int64_t head;
    if (value_is_number(s->scale))
        return sym_to_double(c->pool, s->scale.u.sym);
    if (sym_to_i64(c->pool, size_of(c, s->q, -1), &head) && head > 0)
        return 1 / sqrt((double)head);
    return 1;
}

/* pad_last_dim<8>: the size of a head is padded to a multiple of 8. */
static struct tensor pad_heads(struct call *c, struct tensor x)
{
    sym_id last = size_of(c, x, -1), rest = mod(c, last, num(c, 8));
    if (guard_bool(c, eq_int(c, rest, 0)))
        return x;
    sym_id pads[] = { SYM_ID_ZERO, sub(c, num(c, 8), rest) };
    return CALL(c, "aten.constant_pad_nd.default", T(x), ints(c, pads, 2), F(c, 0));
}

static struct value with_scale(struct call *c, const char *name, const struct value *args,
                               uint32_t n, struct value scale)
{
    struct keyword keyword = { STR("scale"), scale };
    return call_op_keywords(c, name, args, n, &keyword, scale.kind == VALUE_NONE ? 0 : 1);
}

static struct tensor call_flash(struct call *c, const struct sdpa *s)
{
    if (on_cpu(s->q)) {
        struct value args[] = { T(s->q), T(s->k), T(s->v), s->dropout, B(s->causal) };
        struct keyword keywords[2];
        uint32_t n = 0;
        if (some(s->mask))
            keywords[n++] = (struct keyword){ STR("attn_mask"), T(s->mask) };
        if (value_is_number(s->scale))
            keywords[n++] = (struct keyword){ STR("scale"), s->scale };
        struct value out = call_op_keywords(
            c, "aten._scaled_dot_product_flash_attention_for_cpu.default", args, 5, keywords, n);
        return item_tensor(c, out, 0);
    }
    sym_id head = size_of(c, s->q, -1);
    struct value args[] = { T(pad_heads(c, s->q)), T(pad_heads(c, s->k)),
                            T(pad_heads(c, s->v)), s->dropout,
                            B(s->causal),          B(false) };
    struct value out = with_scale(c, "aten._scaled_dot_product_flash_attention.default", args, 6,
                                  F(c, scale_number(c, s)));
    struct tensor x = item_tensor(c, out, 0);
    if (c->failed || guard_bool(c, eq_int(c, mod(c, head, num(c, 8)), 0)))
        return x;
    return CALL(c, "aten.slice.Tensor", T(x), I(c, -1), I(c, 0), N(head));
}

static struct tensor call_efficient(struct call *c, const struct sdpa *s)
{
    struct value args[] = {
        T(s->q),    T(s->k),     T(s->v), T(aligned_mask(c, s)), B(wants_gradient(s)),
        s->dropout, B(s->causal)
    };
    struct value out =
        with_scale(c, "aten._scaled_dot_product_efficient_attention.default", args, 7, s->scale);
    return item_tensor(c, out, 0);
}

/* --- _scaled_dot_product_attention_math --- */

static struct tensor causal_mask(struct call *c, const struct sdpa *s)
{
    sym_id sizes[] = { size_of(c, s->q, -2), size_of(c, s->k, -2) };
    struct tensor ones = full_of(c, s->q, "aten.ones.default", sizes, 2, DTYPE_B8);
    return float_mask(c, CALL(c, "aten.tril.default", T(ones)), s->q);
}

static struct tensor repeat_heads(struct call *c, const struct sdpa *s, struct tensor x)
{
    if (!s->gqa)
        return x;
    sym_id q = size_of(c, s->q, -3), k = size_of(c, x, -3);
    if (guard_bool(c, eq(c, q, k)))
        return x;
    return CALL(c, "aten.repeat_interleave.self_int", T(x), N(floordiv(c, q, k)), I(c, -3));
}

static void math_form(struct call *c, struct sdpa *s, struct tensor *out, struct tensor *attention)
{
    enum dtype dtype = dtype_of(s->q), wide = computation_dtype(dtype);
    double scale = scale_number(c, s), root = sqrt(fabs(scale));
    s->q = to_dtype(c, s->q, wide);
    s->k = to_dtype(c, s->k, wide);
    s->v = to_dtype(c, s->v, wide);
    if (s->causal)
        require(c, !some(s->mask), "RuntimeError",
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True");
    struct tensor q = times(c, T(s->q), F(c, scale < 0 ? -root : root));
    if (s->causal)
        s->mask = causal_mask(c, s);
    struct tensor k = repeat_heads(c, s, s->k), v = repeat_heads(c, s, s->v);
    k = times(c, T(transpose(c, k, -2, -1)), F(c, root));
    struct tensor a = CALL(c, "aten.matmul.default", T(q), T(k));
    if (some(s->mask))
        a = plus(c, T(a), T(s->mask));
    a = CALL(c, "aten._safe_softmax.default", T(a), I(c, -1));
    if (sym_to_double(c->pool, s->dropout.u.sym) > 0)
        a = CALL(c, "aten.dropout.default", T(a), s->dropout, B(true));
    *out = to_dtype(c, CALL(c, "aten.matmul.default", T(a), T(v)), dtype);
    *attention = to_dtype(c, a, dtype);
}

/* --- Rules --- */

/* Reads query, key, value, attn_mask, dropout_p, is_causal, then keywords from argument `more`
 * on. */
static bool read_sdpa(struct call *c, struct sdpa *s, uint32_t more)
{
    *s = (struct sdpa){ .q = arg_tensor(c, 0), .k = arg_tensor(c, 1), .v = arg_tensor(c, 2) };
    s->mask = arg_tensor(c, 3);
    s->dropout = arg_fixed(c, 4);
    s->causal = arg_bool(c, 5);
    s->scale = arg_fixed(c, more);
    s->gqa = arg_bool(c, more + 1);
    enum dtype dtype = dtype_of(s->q), mask = dtype_of(s->mask);
    const char *names[] = { dtype_python_name(dtype), dtype_python_name(dtype_of(s->k)),
                            dtype_python_name(dtype_of(s->v)) };
    require(c, dtype == dtype_of(s->k) && dtype == dtype_of(s->v), "RuntimeError",
            "Expected query, key, and value to have the same dtype, but got query.dtype: %s "
            "key.dtype: %s and value.dtype: %s instead.",
            names[0], names[1], names[2]);
    require(c, ndim_of(s->q) >= 2 && ndim_of(s->k) >= 2 && ndim_of(s->v) >= 2, "RuntimeError",
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            "%u key.dim: %u and value.dim: %u instead.",
            ndim_of(s->q), ndim_of(s->k), ndim_of(s->v));
    require(c, !some(s->mask) || mask == DTYPE_B8 || mask == DTYPE_F32 || mask == dtype,
            "RuntimeError",
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            "attn_mask.dtype: %s and  query.dtype: %s instead.",
            dtype_python_name(mask), names[0]);
    return !c->failed;
}

bool rule_scaled_dot_product_attention(struct call *c)
{
    struct sdpa s;
    struct tensor out, attention;
    if (!read_sdpa(c, &s, 6))
        return false;
    enum sdpa_kernel kernel = choose_kernel(c, &s);
    s.mask = float_mask(c, s.mask, s.q);
    if (c->failed)
        return false;
    switch (kernel) {
    case SDPA_FLASH: return ret_tensor(c, call_flash(c, &s));
    case SDPA_EFFICIENT: return ret_tensor(c, call_efficient(c, &s));
    default: math_form(c, &s, &out, &attention); return ret_tensor(c, out);
    }
}

/* This overload has dropout_mask before the keywords. */
bool rule_sdpa_math(struct call *c)
{
    struct sdpa s;
    struct tensor out[2];
    if (!read_sdpa(c, &s, 7))
        return false;
    s.mask = float_mask(c, s.mask, s.q);
    math_form(c, &s, &out[0], &out[1]);
    return ret_tensors(c, out, 2);
}

bool rule_fused_sdp_choice(struct call *c)
{
    struct sdpa s;
    return read_sdpa(c, &s, 6) && ret_value(c, I(c, choose_kernel(c, &s)));
}
