/* Bodies of torch.nn.functional's losses. */
#include "replay/ops/python/python_internal.h"

/* _Reduction.get_enum; the older size_average and reduce prevail when they are given. */
static struct value reduction(struct call *c, struct value average, struct value reduce,
                              struct value name)
{
    if (average.kind != VALUE_NONE || reduce.kind != VALUE_NONE) {
        bool mean = average.kind == VALUE_NONE || py_truth(c, average);
        bool any = reduce.kind == VALUE_NONE || py_truth(c, reduce);
        return py_int(c, !any ? 0 : mean ? 1 : 2);
    }
    if (py_is(name, "none") || py_is(name, "mean") || py_is(name, "sum"))
        return py_int(c, py_is(name, "none") ? 0 : py_is(name, "mean") ? 1 : 2);
    refuse(c, "ValueError", "%.*s is not a valid value for reduction", STR_ARG(name.u.text));
    return value_none();
}

/* input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing */
bool python_cross_entropy(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1),
                            arg(c, 2), reduction(c, arg(c, 3), arg(c, 5), arg(c, 6)),
                            arg(c, 4), arg(c, 7) };
    return ret_call(c, py_call(c, row_base(c), args, c->n_args > 7 ? 6 : 5));
}

/* Broadcasts both to one shape. False: failed. */
static bool broadcast_pair(struct call *c, struct value *x, struct value *y)
{
    struct value list = py_list(c, (struct value[]){ *x, *y }, 2);
    struct value both = py_call(c, "broadcast_tensors", &list, 1);
    if (c->failed || both.n != 2)
        return false;
    *x = both.u.items[0];
    *y = both.u.items[1];
    return true;
}

/* Reduces a weighted loss: not at all, to the sum, or to the mean over the weights. */
static bool reduce_weighted(struct call *c, struct value loss, struct value weight,
                            struct value how)
{
    if (c->failed || how.u.sym == SYM_ID_ZERO)
        return ret_call(c, loss);
    struct value sum = py_call(c, "sum", &loss, 1);
    if (how.u.sym == SYM_ID_TWO)
        return ret_call(c, sum);
    struct value total = py_call(c, "sum", &weight, 1);
    return ret_call(c, py_call(c, "div", (struct value[]){ sum, total }, 2));
}

/* input, target, size_average, reduce, reduction, weight: mse_loss, l1_loss */
bool python_error_loss(struct call *c)
{
    struct value x = arg(c, 0), y = arg(c, 1), weight = arg(c, 5);
    struct value how = reduction(c, arg(c, 2), arg(c, 3), arg(c, 4));
    if (c->failed || !broadcast_pair(c, &x, &y))
        return false;
    if (weight.kind != VALUE_TENSOR)
        return ret_call(c, py_call(c, row_base(c), (struct value[]){ x, y, how }, 3));
    struct value error = py_call(c, "sub", (struct value[]){ x, y }, 2);
    error = str_is(str_of(row_base(c)), "l1_loss")
                ? py_call(c, "abs", &error, 1)
                : py_call(c, "pow", (struct value[]){ error, py_int(c, 2) }, 2);
    return reduce_weighted(c, py_call(c, "mul", (struct value[]){ error, weight }, 2), weight, how);
}

/* input, target, size_average, reduce, reduction, beta */
bool python_smooth_l1(struct call *c)
{
    struct value x = arg(c, 0), y = arg(c, 1), beta = arg(c, 5);
    struct value how = reduction(c, arg(c, 2), arg(c, 3), arg(c, 4));
    if (c->failed || !broadcast_pair(c, &x, &y))
        return false;
    struct value l1 = py_bool(false);
    bool found = true;
    if (!python_operator(c, STR("eq"), (struct value[]){ beta, py_float(c, 0) }, 2, &l1, &found))
        return false;
    if (py_truth(c, l1))
        return ret_call(c, py_call(c, "l1_loss", (struct value[]){ x, y, how }, 3));
    return ret_call(c, py_call(c, "smooth_l1_loss", (struct value[]){ x, y, how, beta }, 4));
}

/* input, target, reduction, delta, weight */
bool python_huber(struct call *c)
{
    struct value x = arg(c, 0), y = arg(c, 1), weight = arg(c, 4);
    struct value how = reduction(c, value_none(), value_none(), arg(c, 2));
    if (c->failed || !broadcast_pair(c, &x, &y))
        return false;
    bool weighted = weight.kind == VALUE_TENSOR;
    struct value args[] = { x, y, weighted ? py_int(c, 0) : how, arg(c, 3) };
    struct value loss = py_call(c, "huber_loss", args, 4);
    if (!weighted)
        return ret_call(c, loss);
    loss = py_call(c, "mul", (struct value[]){ loss, weight }, 2);
    if (how.u.sym == SYM_ID_ZERO)
        return ret_call(c, loss);
    return ret_call(c, py_call(c, how.u.sym == SYM_ID_TWO ? "sum" : "mean", &loss, 1));
}

static bool have_same_sizes(struct call *c, struct tensor a, struct tensor b)
{
    bool same = a.meta->ndim == b.meta->ndim;
    for (uint32_t i = 0; same && i < a.meta->ndim; i++)
        same = guard_bool(c, eq(c, a.meta->size[i], b.meta->size[i]));
    return same;
}

/* input, target, weight, size_average, reduce, reduction */
bool python_bce(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0)), y = value_as_tensor(c, arg(c, 1));
    struct value how = reduction(c, arg(c, 3), arg(c, 4), arg(c, 5)), weight = arg(c, 2);
    if (c->failed)
        return false;
    if (!have_same_sizes(c, y, x))
        return refuse(c, "ValueError",
                      "Using a target size (torch.Size(%s)) that is different to the input size "
                      "(torch.Size(%s)) is deprecated. Please ensure they have the same size.",
                      sizes_text(c, y.meta->size, y.meta->ndim),
                      sizes_text(c, x.meta->size, x.meta->ndim));
    if (weight.kind == VALUE_TENSOR) {
        sym_id sizes[TENSOR_MAX_DIM];
        uint32_t n = 0;
        if (!broadcast_shapes(c, (struct tensor[]){ y, weight.u.tensor }, 2, sizes, &n))
            return false;
        weight = py_call(c, "expand", (struct value[]){ weight, python_sizes(c, sizes, n) }, 2);
    }
    return ret_call(c, py_call(c, "binary_cross_entropy",
                               (struct value[]){ arg(c, 0), arg(c, 1), weight, how }, 4));
}

/* input, target, weight, size_average, reduce, reduction, pos_weight */
bool python_bce_logits(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0)), y = value_as_tensor(c, arg(c, 1));
    struct value how = reduction(c, arg(c, 3), arg(c, 4), arg(c, 5));
    if (c->failed)
        return false;
    if (!have_same_sizes(c, y, x))
        return refuse(c, "ValueError",
                      "Target size (torch.Size(%s)) must be the same as input size "
                      "(torch.Size(%s))",
                      sizes_text(c, y.meta->size, y.meta->ndim),
                      sizes_text(c, x.meta->size, x.meta->ndim));
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 6), how };
    return ret_call(c, py_call(c, "binary_cross_entropy_with_logits", args, 5));
}

/* input, target, size_average, reduce, reduction, log_target */
bool python_kl_div(struct call *c)
{
    bool batch = py_is(arg(c, 4), "batchmean");
    struct value how = batch ? py_int(c, 2) : reduction(c, arg(c, 2), arg(c, 3), arg(c, 4));
    struct keyword keyword = { STR("log_target"), arg(c, 5) };
    struct value args[] = { arg(c, 0), arg(c, 1), how };
    struct value loss = py_call_keywords(c, "kl_div", args, 3, &keyword, 1);
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed || !batch || !x.meta->ndim)
        return ret_call(c, loss);
    return ret_call(c, py_call(c, "div", (struct value[]){ loss, value_int(x.meta->size[0]) }, 2));
}

/* input, target, size_average, reduce, reduction */
bool python_plain_loss(struct call *c)
{
    struct value how = reduction(c, arg(c, 2), arg(c, 3), arg(c, 4));
    return ret_call(c, py_call(c, row_base(c), (struct value[]){ arg(c, 0), arg(c, 1), how }, 3));
}

/* input, target, margin, size_average, reduce, reduction */
bool python_hinge_loss(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2),
                            reduction(c, arg(c, 3), arg(c, 4), arg(c, 5)) };
    return ret_call(c, py_call(c, row_base(c), args, 4));
}

/* input1, input2, target, margin, size_average, reduce, reduction */
bool python_pair_loss(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3),
                            reduction(c, arg(c, 4), arg(c, 5), arg(c, 6)) };
    return ret_call(c, py_call(c, row_base(c), args, 5));
}

/* anchor, positive, negative, margin, p, eps, swap, size_average, reduce, reduction */
bool python_triplet_loss(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1),
                            arg(c, 2), arg(c, 3),
                            arg(c, 4), arg(c, 5),
                            arg(c, 6), reduction(c, arg(c, 7), arg(c, 8), arg(c, 9)) };
    return ret_call(c, py_call(c, "triplet_margin_loss", args, 8));
}

/* input, target, log_input, full, size_average, eps, reduce, reduction */
bool python_poisson_loss(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2),
                            arg(c, 3), arg(c, 5), reduction(c, arg(c, 4), arg(c, 6), arg(c, 7)) };
    return ret_call(c, py_call(c, "poisson_nll_loss", args, 6));
}

/* log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity */
bool python_ctc_loss(struct call *c)
{
    struct value how = reduction(c, value_none(), value_none(), arg(c, 5));
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3), arg(c, 4), how, arg(c, 6) };
    return ret_call(c, py_call(c, "ctc_loss", args, 7));
}

/* input, target, p, margin, weight, size_average, reduce, reduction */
bool python_multi_margin(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2),
                            arg(c, 3), arg(c, 4), reduction(c, arg(c, 5), arg(c, 6), arg(c, 7)) };
    return ret_call(c, py_call(c, "multi_margin_loss", args, 6));
}

static bool reduced_plain(struct call *c, struct value loss, struct value name)
{
    struct value how = reduction(c, value_none(), value_none(), name);
    if (c->failed || how.u.sym == SYM_ID_ZERO)
        return ret_call(c, loss);
    return ret_call(c, py_call(c, how.u.sym == SYM_ID_TWO ? "sum" : "mean", &loss, 1));
}

/* input, target, weight, size_average, reduce, reduction */
bool python_multilabel_soft_margin(struct call *c)
{
    struct value x = arg(c, 0), y = arg(c, 1), minus = py_call(c, "neg", &x, 1), one = py_int(c, 1);
    struct value yes = py_call(c, "log_sigmoid", &x, 1), no = py_call(c, "log_sigmoid", &minus, 1);
    struct value rest = py_call(c, "rsub", (struct value[]){ y, one }, 2);
    yes = py_call(c, "mul", (struct value[]){ y, yes }, 2);
    no = py_call(c, "mul", (struct value[]){ rest, no }, 2);
    struct value loss = py_call(c, "add", (struct value[]){ yes, no }, 2);
    loss = py_call(c, "neg", &loss, 1);
    if (arg_given(c, 2))
        loss = py_call(c, "mul", (struct value[]){ loss, arg(c, 2) }, 2);
    struct tensor input = value_as_tensor(c, x);
    if (c->failed || !input.meta->ndim)
        return false;
    struct value last = py_int(c, -1), classes = value_int(input.meta->size[input.meta->ndim - 1]);
    loss = py_call(c, "sum", (struct value[]){ loss, last }, 2);
    loss = py_call(c, "div", (struct value[]){ loss, classes }, 2);
    return reduced_plain(c, loss, arg(c, 5));
}

/* input, target, var, full, eps, reduction: does not evaluate the branch on var's values. */
bool python_gaussian_nll(struct call *c)
{
    struct value x = arg(c, 0), y = arg(c, 1), var = arg(c, 2);
    if (var.kind == VALUE_FLOAT) {
        struct value ones = py_call(c, "ones_like", &x, 1);
        var = py_call(c, "mul", (struct value[]){ ones, var }, 2);
    }
    var = py_call(c, "clone", &var, 1);
    var = py_call(c, "clamp_", (struct value[]){ var, arg(c, 4) }, 2);
    struct value log = py_call(c, "log", &var, 1);
    struct value error = py_call(c, "sub", (struct value[]){ x, y }, 2);
    error = py_call(c, "pow", (struct value[]){ error, py_int(c, 2) }, 2);
    error = py_call(c, "div", (struct value[]){ error, var }, 2);
    error = py_call(c, "add", (struct value[]){ log, error }, 2);
    struct value loss = py_call(c, "mul", (struct value[]){ error, py_float(c, 0.5) }, 2);
    if (!c->failed && py_truth(c, arg(c, 3)))
        loss = py_call(c, "add_", (struct value[]){ loss, py_float(c, 0.9189385332046727) }, 2);
    return reduced_plain(c, loss, arg(c, 5));
}
