/* Bodies of torch.nn.functional that consist of little more than one operator. */
#include "replay/ops/python/python_internal.h"

/* Calls base(all arguments). */
bool python_plain(struct call *c)
{
    return ret_call(c, py_call(c, row_base(c), c->args, c->n_args));
}

/* Calls the operator that is named by base, which is not of aten. */
bool python_named_operator(struct call *c)
{
    return ret_call(c, py_op(c, row_base(c), c->args, c->n_args));
}

/* Calls base(all but the last), or base_() when the last, `inplace`, is set. */
bool python_inplace(struct call *c)
{
    char base[64];
    struct str name = str_of(row_base(c));
    uint32_t n = c->n_args - 1;
    if (!py_truth(c, arg(c, n)))
        return ret_call(c, py_call(c, row_base(c), c->args, n));
    memcpy(base, name.p, name.n);
    memcpy(base + name.n, "_", 2);
    return ret_call(c, py_call(c, base, c->args, n));
}

/* input, min_val, max_val, inplace */
bool python_hardtanh(struct call *c)
{
    bool found;
    struct value bounds[] = { arg(c, 1), arg(c, 2) };
    struct value bad = python_number(c, STR("gt"), bounds, 2, &found);
    if (!c->failed && py_truth(c, bad))
        return refuse(c, "ValueError", "min_val cannot be greater than max_val");
    return !c->failed && python_inplace(c);
}

/* Calls base, or base_(), after checking that the probability, args[1], is in [0, 1]. */
static bool probability(struct call *c, struct value p)
{
    bool found;
    struct value low =
        python_number(c, STR("lt"), (struct value[]){ p, py_float(c, 0) }, 2, &found);
    bool bad = !c->failed && py_truth(c, low);
    if (!bad && !c->failed)
        bad = py_truth(
            c, python_number(c, STR("gt"), (struct value[]){ p, py_float(c, 1) }, 2, &found));
    return bad ? refuse(c, "ValueError",
                        "dropout probability has to be between 0 and 1, but got %s",
                        sym_text(c, p.u.sym))
               : !c->failed;
}

bool python_dropout(struct call *c)
{
    return probability(c, arg(c, 1)) && python_inplace(c);
}

/* dropout1d, which adds a batch dimension to an input without one. */
bool python_dropout1d(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!probability(c, arg(c, 1)))
        return false;
    if (!x.meta || x.meta->ndim != 2)
        return python_inplace(c);
    struct value zero = py_int(c, 0), args[4] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3) };
    args[0] = py_op(c, "aten.unsqueeze", (struct value[]){ args[0], zero }, 2);
    bool inplace = py_truth(c, args[3]);
    struct value y = py_call(c, inplace ? "feature_dropout_" : "feature_dropout", args, 3);
    return ret_call(c, py_op(c, "aten.squeeze.dim", (struct value[]){ y, zero }, 2));
}

/* --- softmax, log_softmax, softmin: a dim of None is guessed, dtype is a keyword --- */

static struct value softmax_dim(struct call *c, struct tensor x)
{
    if (arg_given(c, 1))
        return arg(c, 1);
    uint32_t n = x.meta ? x.meta->ndim : 0;
    return py_int(c, n == 0 || n == 1 || n == 3 ? 0 : 1);
}

static bool softmax_of(struct call *c, const char *base, struct value x)
{
    struct value args[] = { x, softmax_dim(c, arg_tensor(c, 0)), arg(c, 3) };
    return ret_call(c, py_call(c, base, args, arg_given(c, 3) ? 3 : 2));
}

bool python_softmax(struct call *c)
{
    return softmax_of(c, row_base(c), arg(c, 0));
}

bool python_softmin(struct call *c)
{
    struct value x = arg(c, 0);
    return softmax_of(c, "softmax", py_call(c, "neg", &x, 1));
}

bool python_gumbel_softmax(struct call *c)
{
    struct value logits = arg(c, 0), dim = arg(c, 4), g = py_call(c, "empty_like", &logits, 1);
    g = py_call(c, "exponential_", &g, 1);
    g = py_call(c, "log", &g, 1);
    g = py_call(c, "neg", &g, 1);
    g = py_call(c, "add", (struct value[]){ logits, g }, 2);
    g = py_call(c, "div", (struct value[]){ g, arg(c, 1) }, 2);
    struct value soft = py_call(c, "softmax", (struct value[]){ g, dim }, 2);
    if (c->failed || !py_truth(c, arg(c, 2)))
        return ret_call(c, soft);
    struct value max = py_call(c, "max", (struct value[]){ soft, dim, py_bool(true) }, 3);
    struct value hard = py_call(c, "zeros_like", &logits, 1), detached;
    if (c->failed || max.n < 2)
        return false;
    hard = py_call(c, "scatter_", (struct value[]){ hard, dim, max.u.items[1], py_float(c, 1) }, 4);
    detached = py_call(c, "detach", &soft, 1);
    hard = py_call(c, "sub", (struct value[]){ hard, detached }, 2);
    return ret_call(c, py_call(c, "add", (struct value[]){ hard, soft }, 2));
}

bool python_softsign(struct call *c)
{
    struct value x = arg(c, 0), y = py_call(c, "abs", &x, 1);
    y = py_call(c, "add", (struct value[]){ y, py_int(c, 1) }, 2);
    return ret_call(c, py_call(c, "div", (struct value[]){ x, y }, 2));
}

bool python_tanhshrink(struct call *c)
{
    struct value x = arg(c, 0), y = py_call(c, "tanh", &x, 1);
    return ret_call(c, py_call(c, "sub", (struct value[]){ x, y }, 2));
}

/* --- embedding --- */

/* Converts a padding_idx; a negative one counts from the end. */
static struct value padding_index(struct call *c, struct value index, struct tensor weight)
{
    bool found;
    if (index.kind == VALUE_NONE || !weight.meta || !weight.meta->ndim)
        return py_int(c, -1);
    struct value rows = value_int(weight.meta->size[0]);
    if (guard_bool(c, gt(c, index.u.sym, SYM_ID_ZERO)))
        require(c, guard_bool(c, lt(c, index.u.sym, rows.u.sym)), "AssertionError",
                "Padding_idx must be within num_embeddings");
    else if (guard_bool(c, lt(c, index.u.sym, SYM_ID_ZERO)))
        return python_number(c, STR("add"), (struct value[]){ rows, index }, 2, &found);
    return index;
}

bool python_embedding(struct call *c)
{
    struct value input = arg(c, 0), weight = arg(c, 1);
    struct value padding = padding_index(c, arg(c, 2), arg_tensor(c, 1));
    if (arg_given(c, 3)) { /* max_norm: rows are renormalised in place */
        input = py_call(c, "contiguous", &input, 1);
        py_call(c, "embedding_renorm_", (struct value[]){ weight, input, arg(c, 3), arg(c, 4) }, 4);
    }
    struct value args[] = { weight, input, padding, arg(c, 5), arg(c, 6) };
    return ret_call(c, py_call(c, "embedding", args, 5));
}

/* input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
 * per_sample_weights, include_last_offset, padding_idx */
bool python_embedding_bag(struct call *c)
{
    struct value input = arg(c, 0), weight = arg(c, 1), offsets = arg(c, 2), samples = arg(c, 8);
    struct value last = arg(c, 9), flat = py_int(c, -1);
    struct tensor x = value_as_tensor(c, input);
    if (c->failed)
        return false;
    if (x.meta->ndim == 2) {
        struct value bounds[] = { py_int(c, 0), value_int(numel(c, x)),
                                  value_int(x.meta->size[1]) };
        struct keyword keywords[] = {
            { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = x.meta->dtype } },
            { STR("device"), { .kind = VALUE_DEVICE, .u.device = x.meta->device } },
        };
        struct value shape = py_list(c, &flat, 1);
        offsets = py_call_keywords(c, "arange", bounds, 3, keywords, 2);
        input = py_call(c, "reshape", (struct value[]){ input, shape }, 2);
        if (samples.kind == VALUE_TENSOR)
            samples = py_call(c, "reshape", (struct value[]){ samples, shape }, 2);
        last = py_bool(false);
    } else if (x.meta->ndim != 1 || offsets.kind != VALUE_TENSOR) {
        return refuse(c, "ValueError", "offsets has to be a 1D Tensor but got None");
    }
    if (arg_given(c, 3))
        py_call(c, "embedding_renorm_", (struct value[]){ weight, input, arg(c, 3), arg(c, 4) }, 4);
    struct value args[] = { weight,
                            input,
                            offsets,
                            arg(c, 5),
                            py_int(c, py_is(arg(c, 6), "sum")    ? 0
                                      : py_is(arg(c, 6), "mean") ? 1
                                                                 : 2),
                            arg(c, 7),
                            samples,
                            last,
                            arg(c, 10) };
    struct value bag = py_call(c, "embedding_bag", args, arg_given(c, 10) ? 9 : 8);
    return !c->failed && bag.n && ret_call(c, bag.u.items[0]);
}

/* --- Others --- */

/* input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input) */
bool python_normalize(struct call *c)
{
    struct value x = arg(c, 0), args[] = { x, arg(c, 1), arg(c, 2), py_bool(true) };
    struct value norm = py_call(c, "linalg_vector_norm", args, 4);
    norm = py_call(c, "clamp_min", (struct value[]){ norm, arg(c, 3) }, 2);
    norm = py_call(c, "expand_as", (struct value[]){ norm, x }, 2);
    return ret_call(c, py_call(c, "div", (struct value[]){ x, norm }, 2));
}

static struct value mode_index(struct call *c, struct value text, const char *const *names,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (py_is(text, names[i]))
            return py_int(c, i);
    refuse(c, "ValueError", "unknown mode '%.*s'", STR_ARG(text.u.text));
    return value_none();
}

bool python_grid_sample(struct call *c)
{
    static const char *const modes[] = { "bilinear", "nearest", "bicubic" };
    static const char *const paddings[] = { "zeros", "border", "reflection" };
    struct value args[] = { arg(c, 0), arg(c, 1), mode_index(c, arg(c, 2), modes, 3),
                            mode_index(c, arg(c, 3), paddings, 3),
                            arg_given(c, 4) ? arg(c, 4) : py_bool(false) };
    return ret_call(c, py_call(c, "grid_sampler", args, 5));
}

/* min() of Python over sizes[first:]; SYM_NONE where one of them is no number. */
static sym_id least_size(struct call *c, struct value sizes, uint32_t first)
{
    sym_id least = SYM_NONE;
    for (uint32_t i = first; i < sizes.n && !c->failed; i++) {
        if (!value_is_number(sizes.u.items[i]))
            return SYM_NONE;
        sym_id size = sizes.u.items[i].u.sym;
        least = i == first ? size : py_min(c, least, size);
    }
    return least;
}

/* affine_grid of torch/nn/functional.py: theta is a batch of matrices that fit the dimensions. */
static bool check_affine_grid(struct call *c, struct tensor theta, struct value sizes, bool corners)
{
    if (!theta.meta || !value_is_sequence(sizes) || (sizes.n != 4 && sizes.n != 5))
        return !c->failed;
    const struct tensor_meta *m = theta.meta;
    uint32_t dims = sizes.n - 2;
    for (uint32_t i = 0; i < 2 && !c->failed; i++)
        if (m->ndim != 3 || guard_bool(c, py_ne(c, m->size[1 + i], num(c, (int64_t)dims + i))))
            return refuse(c, "ValueError",
                          "Expected a batch of %uD affine matrices of shape Nx%ux%u, got %s.", dims,
                          dims, dims + 1, sizes_text(c, m->size, m->ndim));
    sym_id spatial = corners ? least_size(c, sizes, 2) : SYM_NONE;
    if (spatial != SYM_NONE && guard_bool(c, py_eq(c, spatial, SYM_ID_ONE)))
        return !c->failed; /* It warns. */
    sym_id least = c->failed ? SYM_NONE : least_size(c, sizes, 0);
    if (least != SYM_NONE && guard_bool(c, py_le(c, least, SYM_ID_ZERO)))
        return refuse(c, "ValueError", "Expected non-zero, positive output size.");
    return !c->failed;
}

bool python_affine_grid(struct call *c)
{
    bool corners =
        arg_given(c, 2) && arg(c, 2).kind == VALUE_BOOL && arg(c, 2).u.sym == SYM_ID_TRUE;
    if (!check_affine_grid(c, arg_tensor(c, 0), arg(c, 1), corners))
        return false;
    struct value args[] = { arg(c, 0), arg(c, 1), arg_given(c, 2) ? arg(c, 2) : py_bool(false) };
    return ret_call(c, py_call(c, "affine_grid_generator", args, 3));
}

bool python_cdist(struct call *c)
{
    struct value mode = arg(c, 3);
    struct value how = py_is(mode, "use_mm_for_euclid_dist_if_necessary") ? value_none()
                       : py_is(mode, "use_mm_for_euclid_dist")            ? py_int(c, 1)
                                                                          : py_int(c, 2);
    return ret_call(
        c, py_call(c, "cdist", (struct value[]){ arg(c, 0), arg(c, 1), arg(c, 2), how }, 4));
}
