/* The kernels of scaled dot product attention (torch/_meta_registrations.py). */
#include "replay/ops/rules/compose.h"

static struct tensor new_on_device(struct call *c, struct tensor like, enum dtype dtype,
                                   const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, device_of(like), sizes, n);
}

/* Returns the seed or the offset. Both are made on the meta device, so they get the call's
 * device. */
static struct tensor random_state(struct call *c, struct tensor q, enum dtype dtype,
                                  const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, device_of(q), sizes, n);
}

/* Returns a tensor of sizes (B, H, S, D) with the strides of (B, S, H, D). */
static struct tensor heads_inside(struct call *c, struct tensor like, const sym_id *sizes)
{
    sym_id order[] = { sizes[0], sizes[2], sizes[1], sizes[3] }, strides[4];
    if (c->failed)
        return no_tensor();
    contiguous_strides(c, order, 4, strides);
    sym_id swapped[] = { strides[0], strides[2], strides[1], strides[3] };
    return new_tensor_strided(c, dtype_of(like), device_of(like), sizes, swapped, 4);
}

static bool check_four_dims(struct call *c, struct tensor q, struct tensor k, struct tensor v)
{
    return require(c, ndim_of(q) == 4 && ndim_of(k) == 4 && ndim_of(v) == 4, "IndexError",
                   "Dimension out of range (expected to be in range of [-%u, %d], but got %d)",
                   ndim_of(q), (int)ndim_of(q) - 1, 3);
}

/* math.ceil(n / 32) * 32 with Python's true division */
static sym_id round_up_32(struct call *c, sym_id n)
{
    int64_t number;
    if (sym_to_i64(c->pool, n, &number))
        return num(c, (number + 31) / 32 * 32);
    struct value ratio = true_divide(c, N(n), I(c, 32));
    enum number_type from = NUMBER_FLOAT, type;
    sym_id up =
        c->failed ? SYM_NONE : node_method(c->env, NODE_METHOD_CEIL, &ratio.u.sym, &from, 1, &type);
    if (up == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return mul(c, up, num(c, 32));
}

static bool ret_values(struct call *c, const struct value *list, uint32_t n)
{
    struct value *items = c->failed ? NULL : values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = list[i];
    return items && ret_value(c, value_items(VALUE_TUPLE, items, n));
}

/* --- Forward --- */

/* The arguments are query, key, value, attn_bias, compute_log_sumexp, ... */
bool rule_sdpa_efficient(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), k = arg_tensor(c, 1), v = arg_tensor(c, 2);
    if (!check_four_dims(c, q, k, v))
        return false;
    sym_id batch = size_of(c, q, 0), heads = size_of(c, q, 1), length = size_of(c, q, 2);
    sym_id sizes[] = { batch, heads, length, size_of(c, v, -1) };
    bool sums = arg_bool(c, 4);
    struct tensor out = heads_inside(c, q, sizes);
    sym_id lse[] = { batch, heads, sums ? round_up_32(c, length) : SYM_ID_ZERO };
    struct tensor log = new_on_device(c, q, DTYPE_F32, lse, 3);
    struct tensor seed = random_state(c, q, DTYPE_I64, NULL, 0),
                  offset = random_state(c, q, DTYPE_I64, NULL, 0);
    return ret_tensors(c, (struct tensor[]){ out, log, seed, offset }, 4);
}

static struct tensor debug_mask(struct call *c, struct tensor q, sym_id batch, sym_id heads,
                                sym_id length_q, sym_id length_k, bool wanted)
{
    if (!wanted)
        return new_on_device(c, q, dtype_of(q), (sym_id[]){ SYM_ID_ZERO }, 1);
    int64_t block = guard_bool(c, gt(c, size_of(c, q, -1), num(c, 64))) ? 128 : 256;
    sym_id blocks = floordiv(c, add(c, length_q, num(c, block - 1)), num(c, block));
    if (guard_bool(c, le(c, length_k, num(c, 128))))
        blocks = num(c, 128);
    else if (guard_bool(c, le(c, length_k, num(c, 256))))
        blocks = num(c, 256);
    sym_id sizes[] = { batch, heads, length_q, blocks };
    return new_on_device(c, q, dtype_of(q), sizes, 4);
}

/* The arguments are query, key, value, ...; param is the argument return_debug_mask. */
bool rule_sdpa_flash(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), k = arg_tensor(c, 1), v = arg_tensor(c, 2);
    if (!check_four_dims(c, q, k, v))
        return false;
    sym_id batch = size_of(c, q, 0), heads = size_of(c, q, 1), length_q = size_of(c, q, 2);
    sym_id length_k = size_of(c, k, 2), lse[] = { batch, heads, length_q }, two = num(c, 2);
    bool mask = arg_bool(c, (uint32_t)c->param);
    struct value out[] = {
        T(new_like(c, q)),
        T(new_on_device(c, q, DTYPE_F32, lse, 3)),
        value_none(),
        value_none(),
        N(length_q),
        N(length_k),
        T(random_state(c, q, DTYPE_U64, &two, 1)),
        T(random_state(c, q, DTYPE_U64, NULL, 0)),
        T(debug_mask(c, q, batch, heads, length_q, length_k, mask)),
    };
    return ret_values(c, out, 9);
}

/* alloc_with_matching_layout: the result has the order of the query's dimensions. */
static struct tensor like_query(struct call *c, struct tensor q, const sym_id *sizes)
{
    bool same = true;
    for (uint32_t i = 0; i < 4 && same; i++)
        same = guard_bool(c, py_eq(c, size_of(c, q, i), sizes[i]));
    if (same || c->failed)
        return new_like(c, q);
    uint32_t order[] = { 0, 1, 2, 3 }; /* sorted by stride, largest first; the sort is stable */
    for (uint32_t i = 1; i < 4; i++)
        for (uint32_t k = i; k > 0; k--) {
            const sym_id *s = q.meta->stride;
            if (!guard_bool(c, lt(c, s[order[k - 1]], s[order[k]])))
                break;
            uint32_t swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    sym_id strides[4], stride = SYM_ID_ONE;
    for (uint32_t i = 4; i-- > 0;) {
        strides[order[i]] = stride;
        stride = mul(c, stride, sizes[order[i]]);
    }
    return new_tensor_strided(c, dtype_of(q), device_of(q), sizes, strides, 4);
}

/* The arguments are query, key, value, ...; param is 1 for the overrideable operator, whose
 * logsumexp has no last dimension. */
bool rule_sdpa_cudnn(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), k = arg_tensor(c, 1), v = arg_tensor(c, 2);
    if (!check_four_dims(c, q, k, v))
        return false;
    sym_id sizes[] = { size_of(c, q, 0), size_of(c, q, 1), size_of(c, q, 2), size_of(c, v, -1) };
    sym_id lse[] = { sizes[0], sizes[1], sizes[2], SYM_ID_ONE };
    struct value out[] = {
        T(like_query(c, q, sizes)),
        T(new_on_device(c, q, DTYPE_F32, lse, c->param ? 3 : 4)),
        value_none(),
        value_none(),
        N(sizes[2]),
        N(size_of(c, k, -2)),
        T(random_state(c, q, DTYPE_I64, NULL, 0)),
        T(random_state(c, q, DTYPE_I64, NULL, 0)),
        value_none(),
    };
    return ret_values(c, out, 9);
}

bool rule_sdpa_flash_cpu(struct call *c)
{
    struct tensor q = arg_tensor(c, 0);
    if (!check_four_dims(c, q, arg_tensor(c, 1), arg_tensor(c, 2)))
        return false;
    sym_id batch = size_of(c, q, 0), heads = size_of(c, q, 1), length = size_of(c, q, 2);
    sym_id made[] = { batch, length, heads }, strides[3], sizes[] = { batch, heads, length };
    struct tensor out = new_like(c, q);
    contiguous_strides(c, made, 3, strides);
    sym_id swapped[] = { strides[0], strides[2], strides[1] };
    struct tensor log =
        new_tensor_strided(c, computation_dtype(dtype_of(q)), device_of(q), sizes, swapped, 3);
    return ret_tensors(c, (struct tensor[]){ out, log }, 2);
}

/* The arguments are query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q,
 * max_seqlen_k, dropout_p, custom_mask_type, compute_log_sumexp. Tensors are (B, S, H, D). */
bool rule_efficient_attention_forward(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), k = arg_tensor(c, 1), v = arg_tensor(c, 2);
    struct tensor lengths = arg_tensor(c, 4);
    if (!check_four_dims(c, q, k, v))
        return false;
    sym_id batch = size_of(c, q, 0), length = size_of(c, q, 1), heads = size_of(c, q, -2);
    sym_id sizes[] = { batch, length, heads, size_of(c, v, -1) };
    sym_id longest_q = some(lengths) && arg_given(c, 6) ? arg_sym(c, 6) : length;
    sym_id longest_k = arg_given(c, 7) ? arg_sym(c, 7) : size_of(c, k, 1);
    sym_id rows = some(lengths) ? sub(c, size_of(c, lengths, 0), SYM_ID_ONE) : batch;
    struct tensor out = new_on_device(c, q, dtype_of(q), sizes, 4);
    sym_id lse[] = { rows, heads, arg_bool(c, 10) ? round_up_32(c, longest_q) : SYM_ID_ZERO };
    struct value list[] = {
        T(out),
        T(new_on_device(c, q, DTYPE_F32, lse, 3)),
        T(random_state(c, q, DTYPE_I64, NULL, 0)),
        T(random_state(c, q, DTYPE_I64, NULL, 0)),
        N(longest_q),
        N(longest_k),
    };
    return ret_values(c, list, 6);
}

/* The arguments are query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal,
 * return_debug_mask. */
bool rule_flash_attention_forward(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), k = arg_tensor(c, 1), cum = arg_tensor(c, 3);
    sym_id heads = size_of(c, q, -2), two = num(c, 2);
    sym_id batch = some(cum) ? sub(c, numel(c, cum), SYM_ID_ONE) : size_of(c, q, 0);
    sym_id length_q = some(cum) ? arg_sym(c, 5) : size_of(c, q, 1);
    sym_id length_k = arg_given(c, 4) ? arg_sym(c, 6) : size_of(c, k, 1);
    sym_id dense[] = { batch, heads, length_q }, ragged[] = { heads, size_of(c, q, 0) };
    struct tensor log = some(cum) ? new_on_device(c, q, DTYPE_F32, ragged, 2)
                                  : new_on_device(c, q, DTYPE_F32, dense, 3);
    struct tensor out[] = {
        new_like(c, q),
        log,
        random_state(c, q, DTYPE_U64, &two, 1),
        random_state(c, q, DTYPE_U64, NULL, 0),
        debug_mask(c, q, batch, heads, length_q, length_k, arg_bool(c, 9)),
    };
    return ret_tensors(c, out, 5);
}

/* --- Backward --- */

/* The arguments are grad_out, query, key, value, ... Each gradient is empty_like of its tensor. */
bool rule_attention_backward_like(struct call *c)
{
    struct tensor out[3];
    for (uint32_t i = 0; i < 3; i++)
        out[i] = new_like(c, arg_tensor(c, i + 1));
    return ret_tensors(c, out, 3);
}

bool rule_attention_backward_heads(struct call *c)
{
    struct tensor out[3];
    if (!check_four_dims(c, arg_tensor(c, 1), arg_tensor(c, 2), arg_tensor(c, 3)))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        struct tensor x = arg_tensor(c, i + 1);
        out[i] = heads_inside(c, x, sizes_of(x));
    }
    return ret_tensors(c, out, 3);
}

/* Returns the gradient of the bias. Its rows are padded to a multiple of 16 and then sliced. */
static struct tensor grad_bias(struct call *c, struct tensor bias)
{
    uint32_t n = ndim_of(bias);
    sym_id last = size_of(c, bias, -1), rest = mod(c, last, num(c, 16)), sizes[TENSOR_MAX_DIM];
    sym_id aligned = last;
    if (!guard_bool(c, eq_int(c, rest, 0)))
        aligned = sub(c, add(c, last, num(c, 16)), rest);
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = i + 1 == n ? aligned : size_of(c, bias, i);
    struct tensor whole = new_on_device(c, bias, dtype_of(bias), sizes, n);
    if (c->failed)
        return no_tensor();
    c->in_kernel = true;
    return CALL(c, "aten.slice.Tensor", T(whole), I(c, (int64_t)n - 1), I(c, 0), N(last));
}

/* The arguments are grad_out, query, key, value, attn_bias, ..., and grad_input_mask as argument
 * 10. */
bool rule_sdpa_efficient_backward(struct call *c)
{
    struct tensor q = arg_tensor(c, 1), k = arg_tensor(c, 2), v = arg_tensor(c, 3);
    struct tensor bias = arg_tensor(c, 4), out[4];
    struct value mask = arg(c, 10);
    if (!check_four_dims(c, q, k, v))
        return false;
    sym_id batch = size_of(c, q, 0), heads = size_of(c, q, 1), length_k = size_of(c, k, 2);
    sym_id head = size_of(c, q, 3);
    sym_id of_q[] = { batch, heads, size_of(c, q, 2), head };
    sym_id of_k[] = { batch, heads, length_k, head };
    sym_id of_v[] = { batch, heads, length_k, size_of(c, v, 3) };
    out[0] = heads_inside(c, q, of_q);
    out[1] = heads_inside(c, k, of_k);
    out[2] = heads_inside(c, v, of_v);
    bool wanted = mask.n > 3 && mask.u.items[3].u.sym == SYM_ID_TRUE;
    out[3] = some(bias) && wanted ? grad_bias(c, bias) : no_tensor();
    return ret_tensors(c, out, 4);
}

/* The arguments are grad_out, query, key, value, bias, ...; the last one is
 * shared_storage_dqdkdv. */
bool rule_efficient_attention_backward(struct call *c)
{
    struct tensor x[] = { arg_tensor(c, 1), arg_tensor(c, 2), arg_tensor(c, 3) };
    struct tensor bias = arg_tensor(c, 4), out[4];
    if (c->n_args && arg_bool(c, c->n_args - 1)) {
        uint32_t n = ndim_of(x[0]);
        if (!check_four_dims(c, x[0], x[1], x[2]))
            return false;
        check(c, py_eq(c, size_of(c, x[0], 1), size_of(c, x[1], 1)), "RuntimeError",
              "seqlen must match for `shared_storage_dqdkdv");
        check(c, py_eq(c, size_of(c, x[0], 3), size_of(c, x[1], 3)), "RuntimeError",
              "embedding dim must match for `shared_storage_dqdkdv");
        sym_id sizes[] = { size_of(c, x[0], 0), size_of(c, x[0], 1), num(c, 3), size_of(c, x[0], 2),
                           size_of(c, x[0], 3) };
        struct tensor chunk = new_on_device(c, x[0], dtype_of(x[0]), sizes, n + 1);
        c->in_kernel = true;
        for (uint32_t i = 0; i < 3; i++)
            out[i] = CALL(c, "aten.select.int", T(chunk), I(c, -3), I(c, i));
    } else {
        for (uint32_t i = 0; i < 3; i++)
            out[i] = new_like(c, x[i]);
    }
    out[3] = some(bias) ? grad_bias(c, bias) : new_on_device(c, x[0], DTYPE_F32, NULL, 0);
    return ret_tensors(c, out, 4);
}

/* --- Layers --- */

/* meta__transformer_encoder_layer_fwd */
bool rule_transformer_encoder_layer(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (guard_bool(c, eq_int(c, numel(c, x), 0)))
        return ret_tensor(c, CALL(c, "aten.clone.default", T(x)));
    return ret_tensor(c, new_like(c, x));
}

/* native_multi_head_attention_fake: query, key, value, embed_dim, num_head, qkv_weight, qkv_bias,
 * proj_weight, proj_bias, mask, need_weights, average_attn_weights, mask_type */
bool rule_native_multi_head_attention(struct call *c)
{
    struct tensor q = arg_tensor(c, 0), projection = arg_tensor(c, 7);
    sym_id none = SYM_ID_ZERO, batch = size_of(c, q, 0), length = size_of(c, q, 1);
    struct tensor out[2];
    if (guard_bool(c, eq_int(c, numel(c, q), 0))) {
        out[0] = new_on_device(c, q, dtype_of(q), sizes_of(q), ndim_of(q));
        out[1] = new_on_device(c, q, dtype_of(q), &none, 1);
        return ret_tensors(c, out, 2);
    }
    sym_id size[] = { batch, length, size_of(c, projection, 0) };
    out[0] = new_on_device(c, q, dtype_of(q), size, 3);
    sym_id mean[] = { batch, length, length }, all[] = { batch, arg_sym(c, 4), length, length };
    bool weights = arg_bool(c, 10), average = arg_bool(c, 11);
    out[1] = new_on_device(c, q, dtype_of(q),
                           !weights  ? &none
                           : average ? mean
                                     : all,
                           !weights  ? 1
                           : average ? 3
                                     : 4);
    return ret_tensors(c, out, 2);
}
