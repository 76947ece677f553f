/* torch.nn.functional.multi_head_attention_forward, which nn.MultiheadAttention calls. */
#include "replay/ops/python/python_internal.h"

#include <math.h>
#include <stdio.h>

/* The arguments by their index in the signature. */
enum {
    QUERY,
    KEY,
    VALUE,
    EMBED_DIM,
    HEADS,
    IN_WEIGHT,
    IN_BIAS,
    BIAS_K,
    BIAS_V,
    ZERO_ATTN,
    DROPOUT,
    OUT_WEIGHT,
    OUT_BIAS,
    TRAINING,
    KEY_PADDING,
    NEED_WEIGHTS,
    MASK,
    SEPARATE,
    Q_WEIGHT,
    K_WEIGHT,
    V_WEIGHT,
    STATIC_K,
    STATIC_V,
    AVERAGE,
    CAUSAL
};

struct multi_head_attention {
    struct call *c;
    struct value query, key, value, q, k, v, mask, padding;
    sym_id length, batch, embed, heads, head, source;
    bool batched, causal;
};

#define CALL(base, ...)                               \
    py_call(c, base, (struct value[]){ __VA_ARGS__ }, \
            (uint32_t)(sizeof((struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))

#define SIZES(...)                              \
    py_list(c, (struct value[]){ __VA_ARGS__ }, \
            (uint32_t)(sizeof((struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))

static sym_id dim_size(struct call *c, struct value x, uint32_t dim)
{
    struct tensor tensor = value_as_tensor(c, x);
    return !c->failed && dim < tensor.meta->ndim ? tensor.meta->size[dim] : SYM_ID_ZERO;
}

static bool same_tensor(struct value a, struct value b)
{
    return a.kind == VALUE_TENSOR && b.kind == VALUE_TENSOR && a.u.tensor.meta == b.u.tensor.meta &&
           a.u.tensor.storage == b.u.tensor.storage;
}

static uint32_t dims(struct value x)
{
    return x.kind == VALUE_TENSOR ? x.u.tensor.meta->ndim : 0;
}

/* a != b of two torch.Size: the first sizes that differ decide, and then the lengths. */
static bool sizes_differ(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b,
                         uint32_t n_b)
{
    for (uint32_t i = 0; i < n_a && i < n_b && !c->failed; i++)
        if (!guard_bool(c, py_eq(c, a[i], b[i])))
            return true;
    return n_a != n_b;
}

/* An assertion that a tensor has these sizes; one that is None has them. */
static void expect_sizes(struct call *c, struct value x, const sym_id *sizes, uint32_t n,
                         const char *type, const char *text)
{
    if (c->failed || x.kind != VALUE_TENSOR)
        return;
    const struct tensor_meta *m = x.u.tensor.meta;
    if (sizes_differ(c, m->size, m->ndim, sizes, n) && !c->failed)
        refuse(c, type, "%s %s, but got torch.Size(%s)", text, sizes_text(c, sizes, n),
               sizes_text(c, m->size, m->ndim));
}

static struct value require_item(struct call *c, struct value list, uint32_t i)
{
    if (!c->failed && i >= list.n)
        refuse(c, "IndexError", "list index out of range");
    return c->failed ? value_none() : list.u.items[i];
}

/* _canonical_mask: turns a mask of booleans into one of 0 and -inf. */
static struct value canonical_mask(struct call *c, struct value mask, enum dtype dtype)
{
    if (mask.kind != VALUE_TENSOR || dtype_is_float(mask.u.tensor.meta->dtype))
        return mask;
    struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    struct value zeros = py_call_keywords(c, "zeros_like", &mask, 1, &keyword, 1);
    return CALL("masked_fill_", zeros, mask, py_float(c, -(double)INFINITY));
}

/* _mha_shape_check */
static void check_dimensions(struct multi_head_attention *a)
{
    struct call *c = a->c;
    const char *kind = a->batched ? "batched (3-D)" : "unbatched (2-D)";
    uint32_t n = dims(a->query), n_key = dims(a->key), n_value = dims(a->value),
             n_padding = dims(a->padding), n_mask = dims(a->mask);
    require(c, n == 2 || n == 3, "AssertionError",
            "query should be unbatched 2D or batched 3D tensor but received %u-D query tensor", n);
    require(c, n_key == n && n_value == n, "AssertionError",
            "For %s `query`, expected `key` and `value` to be %u-D but found %u-D and %u-D tensors "
            "respectively",
            kind, n, n_key, n_value);
    require(c, a->padding.kind != VALUE_TENSOR || n_padding == n - 1, "AssertionError",
            "For %s `query`, expected `key_padding_mask` to be `None` or %u-D but found %u-D "
            "tensor instead",
            kind, n - 1, n_padding);
    require(c, a->mask.kind != VALUE_TENSOR || n_mask == 2 || n_mask == 3, "AssertionError",
            "For %s `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found %u-D tensor "
            "instead",
            kind, n_mask);
    if (c->failed || a->batched || n_mask != 3)
        return;
    sym_id sizes[] = { a->heads, dim_size(c, a->query, 0), dim_size(c, a->key, 0) };
    expect_sizes(c, a->mask, sizes, 3, "AssertionError", "Expected `attn_mask` shape to be");
}

/* What multi_head_attention_forward() asserts once the masks are numbers. */
static void check_embedding(struct multi_head_attention *a)
{
    struct call *c = a->c;
    sym_id expected = arg_sym(c, EMBED_DIM);
    require(c, !guard_bool(c, py_ne(c, a->embed, expected)), "AssertionError",
            "was expecting embedding dimension of %s, but got %s", sym_text(c, expected),
            sym_text(c, a->embed));
    a->head = floordiv(c, a->embed, a->heads);
    require(c, !guard_bool(c, py_ne(c, mul(c, a->head, a->heads), a->embed)), "AssertionError",
            "embed_dim %s not divisible by num_heads %s", sym_text(c, a->embed),
            sym_text(c, a->heads));
    if (c->failed)
        return;
    const struct tensor_meta *key = a->key.u.tensor.meta, *value = a->value.u.tensor.meta;
    uint32_t n = py_truth(c, arg(c, SEPARATE)) ? 2 : 3;
    require(c, !sizes_differ(c, key->size, n, value->size, n), "AssertionError",
            n == 2 ? "key's sequence and batch dims torch.Size(%s) do not match value's "
                     "torch.Size(%s)"
                   : "key shape torch.Size(%s) does not match value shape torch.Size(%s)",
            sizes_text(c, key->size, n), sizes_text(c, value->size, n));
}

static void prepare_inputs(struct multi_head_attention *a)
{
    struct call *c = a->c;
    struct tensor query = value_as_tensor(c, a->query);
    if (c->failed)
        return;
    a->batched = query.meta->ndim == 3;
    check_dimensions(a);
    if (c->failed)
        return;
    if (!a->batched) {
        a->query = CALL("unsqueeze", a->query, py_int(c, 1));
        a->key = CALL("unsqueeze", a->key, py_int(c, 1));
        a->value = CALL("unsqueeze", a->value, py_int(c, 1));
        if (a->padding.kind == VALUE_TENSOR)
            a->padding = CALL("unsqueeze", a->padding, py_int(c, 0));
    }
    a->length = dim_size(c, a->query, 0);
    a->batch = dim_size(c, a->query, 1);
    a->embed = dim_size(c, a->query, 2);
    a->source = dim_size(c, a->key, 0);
    a->padding = canonical_mask(c, a->padding, query.meta->dtype);
    a->causal = py_truth(c, arg(c, CAUSAL));
    require(c, !a->causal || a->mask.kind == VALUE_TENSOR, "RuntimeError",
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask.");
    if (a->causal && a->padding.kind == VALUE_NONE && !py_truth(c, arg(c, NEED_WEIGHTS))) {
        a->mask = value_none();
    } else {
        a->mask = canonical_mask(c, a->mask, query.meta->dtype);
        a->causal = a->causal && a->padding.kind == VALUE_NONE;
    }
    if (!c->failed)
        check_embedding(a);
}

static struct value linear_projection(struct call *c, struct value x, struct value weight,
                                      struct value bias)
{
    return py_op(c, "aten.linear", (struct value[]){ x, weight, bias }, 3);
}

/* One projection of `n` of q, k, v that share an input, split afterwards. */
static struct value packed_projection(struct multi_head_attention *a, struct value x,
                                      struct value weight, struct value bias, int64_t n)
{
    struct call *c = a->c;
    struct value y = linear_projection(c, x, weight, bias), zero = py_int(c, 0),
                 from_end = py_int(c, -2);
    y = py_op(c, "aten.unflatten.int",
              (struct value[]){ y, py_int(c, -1), SIZES(py_int(c, n), value_int(a->embed)) }, 3);
    y = CALL("unsqueeze", y, zero);
    y = CALL("transpose", y, zero, from_end);
    y = CALL("squeeze", y, from_end);
    return CALL("contiguous", y);
}

static struct value chunk(struct call *c, struct value x)
{
    return x.kind == VALUE_TENSOR ? CALL("chunk", x, py_int(c, 3)) : x;
}

static struct value optional_item(struct call *c, struct value list, uint32_t i)
{
    return list.kind == VALUE_NONE ? list : require_item(c, list, i);
}

static struct value split2(struct multi_head_attention *a, struct value x)
{
    struct call *c = a->c;
    if (x.kind != VALUE_TENSOR)
        return x;
    struct value parts = SIZES(value_int(a->embed), value_int(mul(c, a->embed, SYM_ID_TWO)));
    return py_op(c, "aten.split_with_sizes", (struct value[]){ x, parts }, 2);
}

/* _in_projection: what it asserts. */
static void check_projections(struct multi_head_attention *a, const struct value *biases)
{
    static const struct {
        int weight;
        const char *name;
    } parts[] = { { Q_WEIGHT, "query" }, { K_WEIGHT, "key" }, { V_WEIGHT, "value" } };
    struct call *c = a->c;
    const struct value inputs[] = { a->query, a->key, a->value };
    char text[64];
    for (uint32_t i = 0; i < 3; i++) {
        sym_id sizes[] = { a->embed, dim_size(c, inputs[i], 2) };
        snprintf(text, sizeof text, "expecting %s weights shape of", parts[i].name);
        expect_sizes(c, arg(c, (uint32_t)parts[i].weight), sizes, 2, "AssertionError", text);
    }
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "expecting %s bias shape of", parts[i].name);
        expect_sizes(c, biases[i], &a->embed, 1, "AssertionError", text);
    }
}

/* _in_projection_packed, _in_projection. */
static void project(struct multi_head_attention *a)
{
    struct call *c = a->c;
    struct value weight = arg(c, IN_WEIGHT), bias = arg(c, IN_BIAS), zero = py_int(c, 0);
    bool separate = py_truth(c, arg(c, SEPARATE));
    if (!separate && same_tensor(a->key, a->value) && same_tensor(a->query, a->key)) {
        struct value all = packed_projection(a, a->query, weight, bias, 3);
        a->q = CALL("select", all, zero, zero);
        a->k = CALL("select", all, zero, py_int(c, 1));
        a->v = CALL("select", all, zero, py_int(c, 2));
        return;
    }
    if (!separate && same_tensor(a->key, a->value)) {
        struct value w = split2(a, weight), b = split2(a, bias);
        a->q = linear_projection(c, a->query, optional_item(c, w, 0), optional_item(c, b, 0));
        struct value both =
            packed_projection(a, a->key, optional_item(c, w, 1), optional_item(c, b, 1), 2);
        a->k = CALL("select", both, zero, zero);
        a->v = CALL("select", both, zero, py_int(c, 1));
        return;
    }
    struct value w = separate ? value_none() : chunk(c, weight), b = chunk(c, bias);
    struct value biases[] = { optional_item(c, b, 0), optional_item(c, b, 1),
                              optional_item(c, b, 2) };
    if (separate)
        check_projections(a, biases);
    a->q = linear_projection(c, a->query, separate ? arg(c, Q_WEIGHT) : optional_item(c, w, 0),
                             biases[0]);
    a->k = linear_projection(c, a->key, separate ? arg(c, K_WEIGHT) : optional_item(c, w, 1),
                             biases[1]);
    a->v = linear_projection(c, a->value, separate ? arg(c, V_WEIGHT) : optional_item(c, w, 2),
                             biases[2]);
}

static struct value pad_one(struct call *c, struct value mask)
{
    if (mask.kind != VALUE_TENSOR)
        return mask;
    return CALL("pad", mask, SIZES(py_int(c, 0), py_int(c, 1)));
}

static struct value concat_tensors(struct call *c, struct value a, struct value b, int64_t dim)
{
    return CALL("cat", SIZES(a, b), py_int(c, dim));
}

static void check_mask(struct multi_head_attention *a)
{
    struct call *c = a->c;
    bool flat = dims(a->mask) == 2;
    sym_id sizes[] = { mul(c, a->batch, a->heads), a->length, a->source };
    expect_sizes(c, a->mask, sizes + flat, 3 - flat, "RuntimeError",
                 flat ? "The shape of the 2D attn_mask should be"
                      : "The shape of the 3D attn_mask should be");
}

static void add_biases(struct multi_head_attention *a)
{
    struct call *c = a->c;
    check_mask(a);
    if (a->mask.kind == VALUE_TENSOR && a->mask.u.tensor.meta->ndim == 2)
        a->mask = CALL("unsqueeze", a->mask, py_int(c, 0));
    if (!arg_given(c, BIAS_K) || !arg_given(c, BIAS_V))
        return;
    struct value times = SIZES(py_int(c, 1), value_int(a->batch), py_int(c, 1));
    a->k = concat_tensors(c, a->k, CALL("repeat", arg(c, BIAS_K), times), 0);
    a->v = concat_tensors(c, a->v, CALL("repeat", arg(c, BIAS_V), times), 0);
    a->mask = pad_one(c, a->mask);
    a->padding = pad_one(c, a->padding);
}

/* Reshapes (L, N, E) to (N * heads, L, head). */
static struct value split_heads(struct multi_head_attention *a, struct value x)
{
    struct call *c = a->c;
    struct value shape = SIZES(value_int(dim_size(c, x, 0)), value_int(mul(c, a->batch, a->heads)),
                               value_int(a->head));
    x = CALL("view", x, shape);
    return CALL("transpose", x, py_int(c, 0), py_int(c, 1));
}

static struct value zeros_before(struct multi_head_attention *a, struct value x)
{
    struct call *c = a->c;
    if (x.kind != VALUE_TENSOR)
        return x;
    struct keyword keywords[] = {
        { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = x.u.tensor.meta->dtype } },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = x.u.tensor.meta->device } },
    };
    struct value shape =
        SIZES(value_int(mul(c, a->batch, a->heads)), py_int(c, 1), value_int(a->head));
    return concat_tensors(c, x, py_call_keywords(c, "zeros", &shape, 1, keywords, 2), 1);
}

/* _check_key_padding_mask */
static void check_padding(struct multi_head_attention *a)
{
    struct call *c = a->c;
    const sym_id expected[] = { a->batch, a->source };
    const struct tensor_meta *m = a->padding.u.tensor.meta;
    for (uint32_t i = 0; i < 2; i++)
        check(c, py_eq(c, m->size[i], expected[i]), "AssertionError",
              "Expected key_padded_mask.shape[%u] to be %s, but got %s", i,
              sym_text(c, expected[i]), sym_text(c, m->size[i]));
}

/* static_k or static_v, which takes the place of a projection. */
static struct value static_heads(struct multi_head_attention *a, uint32_t i, const char *name)
{
    struct call *c = a->c;
    struct value x = arg(c, i);
    const sym_id expected[] = { mul(c, a->batch, a->heads), a->head };
    for (uint32_t k = 0; k < 2; k++)
        require(c, !guard_bool(c, py_ne(c, dim_size(c, x, 2 * k), expected[k])), "AssertionError",
                "expecting %s.size(%u) of %s, but got %s", name, 2 * k, sym_text(c, expected[k]),
                sym_text(c, dim_size(c, x, 2 * k)));
    return x;
}

static void reshape_heads(struct multi_head_attention *a)
{
    struct call *c = a->c;
    a->q = split_heads(a, a->q);
    a->k = arg_given(c, STATIC_K) ? static_heads(a, STATIC_K, "static_k") : split_heads(a, a->k);
    a->v = arg_given(c, STATIC_V) ? static_heads(a, STATIC_V, "static_v") : split_heads(a, a->v);
    if (py_truth(c, arg(c, ZERO_ATTN))) {
        a->k = zeros_before(a, a->k);
        a->v = zeros_before(a, a->v);
        a->mask = pad_one(c, a->mask);
        a->padding = pad_one(c, a->padding);
    }
    a->source = dim_size(c, a->k, 1);
    if (c->failed || a->padding.kind != VALUE_TENSOR)
        return;
    check_padding(a);
    struct value one = py_int(c, 1), same = py_int(c, -1), source = value_int(a->source);
    struct value x = CALL("view", a->padding, SIZES(value_int(a->batch), one, one, source));
    x = CALL("expand", x, SIZES(same, value_int(a->heads), same, same));
    x = CALL("reshape", x, SIZES(value_int(mul(c, a->batch, a->heads)), one, source));
    a->mask = a->mask.kind == VALUE_TENSOR ? CALL("add", a->mask, x) : x;
}

/* Applies the output projection, and removes the batch dimension if it was added. */
static struct value project_output(struct multi_head_attention *a, struct value x)
{
    struct call *c = a->c;
    x = linear_projection(c, x, arg(c, OUT_WEIGHT), arg(c, OUT_BIAS));
    x = CALL("view", x,
             SIZES(value_int(a->length), value_int(a->batch), value_int(dim_size(c, x, 1))));
    return a->batched ? x : CALL("squeeze", x, py_int(c, 1));
}

static bool with_weights(struct multi_head_attention *a, struct value dropout)
{
    struct call *c = a->c;
    double scale = sqrt(1.0 / sym_to_double(c->pool, a->head));
    struct value q = CALL("mul", a->q, py_float(c, scale));
    struct value k = CALL("transpose", a->k, py_int(c, -2), py_int(c, -1));
    struct value weights =
        a->mask.kind == VALUE_TENSOR ? CALL("baddbmm", a->mask, q, k) : CALL("bmm", q, k);
    weights = CALL("softmax", weights, py_int(c, -1));
    bool found;
    struct value positive =
        python_number(c, STR("gt"), (struct value[]){ dropout, py_float(c, 0) }, 2, &found);
    if (!c->failed && py_truth(c, positive))
        weights = CALL("dropout", weights, dropout, py_bool(true));
    struct value x = CALL("bmm", weights, a->v);
    x = CALL("transpose", x, py_int(c, 0), py_int(c, 1));
    x = CALL("reshape", x, SIZES(value_int(mul(c, a->length, a->batch)), value_int(a->embed)));
    x = project_output(a, x);
    weights = CALL("view", weights,
                   SIZES(value_int(a->batch), value_int(a->heads), value_int(a->length),
                         value_int(a->source)));
    if (py_truth(c, arg(c, AVERAGE)))
        weights = CALL("mean", weights, SIZES(py_int(c, 1)));
    if (!a->batched)
        weights = CALL("squeeze", weights, py_int(c, 0));
    struct value both = SIZES(x, weights);
    both.kind = VALUE_TUPLE;
    return ret_call(c, both);
}

static struct value view_heads(struct multi_head_attention *a, struct value x, sym_id length)
{
    struct call *c = a->c;
    return CALL(
        "view", x,
        SIZES(value_int(a->batch), value_int(a->heads), value_int(length), value_int(a->head)));
}

static bool without_weights(struct multi_head_attention *a, struct value dropout)
{
    struct call *c = a->c;
    if (a->mask.kind == VALUE_TENSOR) {
        bool one = guard_bool(c, eq_int(c, dim_size(c, a->mask, 0), 1));
        a->mask = one && a->mask.u.tensor.meta->ndim == 3
                      ? CALL("unsqueeze", a->mask, py_int(c, 0))
                      : CALL("view", a->mask,
                             SIZES(value_int(a->batch), value_int(a->heads), py_int(c, -1),
                                   value_int(a->source)));
    }
    struct value q = view_heads(a, a->q, a->length), k = view_heads(a, a->k, a->source);
    struct value v = view_heads(a, a->v, a->source), causal = py_bool(a->causal);
    struct value x = py_op(c, "aten.scaled_dot_product_attention",
                           (struct value[]){ q, k, v, a->mask, dropout, causal }, 6);
    x = CALL("permute", x, SIZES(py_int(c, 2), py_int(c, 0), py_int(c, 1), py_int(c, 3)));
    x = CALL("reshape", x, SIZES(value_int(mul(c, a->batch, a->length)), value_int(a->embed)));
    struct value both = SIZES(project_output(a, x), value_none());
    both.kind = VALUE_TUPLE;
    return ret_call(c, both);
}

bool python_multi_head_attention(struct call *c)
{
    struct multi_head_attention a = { .c = c,
                                      .query = arg(c, QUERY),
                                      .key = arg(c, KEY),
                                      .value = arg(c, VALUE),
                                      .mask = arg(c, MASK),
                                      .padding = arg(c, KEY_PADDING),
                                      .heads = arg_sym(c, HEADS) };
    struct value dropout = py_truth(c, arg(c, TRAINING)) ? arg(c, DROPOUT) : py_float(c, 0);
    if (c->failed || arg(c, HEADS).kind != VALUE_INT)
        return false;
    prepare_inputs(&a);
    if (!c->failed)
        project(&a);
    if (!c->failed)
        add_biases(&a);
    if (!c->failed)
        reshape_heads(&a);
    if (c->failed)
        return false;
    return py_truth(c, arg(c, NEED_WEIGHTS)) ? with_weights(&a, dropout)
                                             : without_weights(&a, dropout);
}

/* backends, set_priority: torch.nn.attention.sdpa_kernel(), as the following calls see it. A name
 * of an SDPBackend that is not modelled changes nothing. */
bool python_sdpa_kernel(struct call *c)
{
    static const struct {
        const char *name;
        enum sdpa_kernel kernel;
    } kernels[] = { { "MATH", SDPA_MATH },
                    { "FLASH_ATTENTION", SDPA_FLASH },
                    { "EFFICIENT_ATTENTION", SDPA_EFFICIENT } };
    struct value given = arg(c, 0);
    c->ops->excluded_sdpa = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        bool found = false;
        for (uint32_t j = 0; value_is_sequence(given) && j < given.n && !found; j++)
            found = py_is(given.u.items[j], kernels[i].name);
        c->ops->excluded_sdpa |= found ? 0 : 1U << kernels[i].kernel;
    }
    return ret_none(c);
}
