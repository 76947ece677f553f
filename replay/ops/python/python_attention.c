/* torch.nn.functional.multi_head_attention_forward, which nn.MultiheadAttention calls. */
#include "replay/ops/python/python_internal.h"

#include <math.h>

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

static void prepare_inputs(struct multi_head_attention *a)
{
    struct call *c = a->c;
    struct tensor query = value_as_tensor(c, a->query);
    if (c->failed)
        return;
    a->batched = query.meta->ndim == 3;
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
    if (a->causal && a->padding.kind == VALUE_NONE && !py_truth(c, arg(c, NEED_WEIGHTS))) {
        a->mask = value_none();
    } else {
        a->mask = canonical_mask(c, a->mask, query.meta->dtype);
        a->causal = a->causal && a->padding.kind == VALUE_NONE;
    }
    a->head = floordiv(c, a->embed, a->heads);
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
    a->q = linear_projection(c, a->query, separate ? arg(c, Q_WEIGHT) : optional_item(c, w, 0),
                             optional_item(c, b, 0));
    a->k = linear_projection(c, a->key, separate ? arg(c, K_WEIGHT) : optional_item(c, w, 1),
                             optional_item(c, b, 1));
    a->v = linear_projection(c, a->value, separate ? arg(c, V_WEIGHT) : optional_item(c, w, 2),
                             optional_item(c, b, 2));
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

static void add_biases(struct multi_head_attention *a)
{
    struct call *c = a->c;
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

static void reshape_heads(struct multi_head_attention *a)
{
    struct call *c = a->c;
    a->q = split_heads(a, a->q);
    a->k = arg_given(c, STATIC_K) ? arg(c, STATIC_K) : split_heads(a, a->k);
    a->v = arg_given(c, STATIC_V) ? arg(c, STATIC_V) : split_heads(a, a->v);
    if (py_truth(c, arg(c, ZERO_ATTN))) {
        a->k = zeros_before(a, a->k);
        a->v = zeros_before(a, a->v);
        a->mask = pad_one(c, a->mask);
        a->padding = pad_one(c, a->padding);
    }
    a->source = dim_size(c, a->k, 1);
    if (a->padding.kind != VALUE_TENSOR)
        return;
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
