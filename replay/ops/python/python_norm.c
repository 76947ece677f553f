/* Bodies of torch.nn.functional's normalisations. */
#include "replay/ops/python/python_internal.h"

/* Checks size[0] * size[2] * ...: a single value for each channel cannot be normalised. False:
 * refused. */
static bool more_than_one(struct call *c, sym_id first, struct tensor x, uint32_t from,
                          const char *what)
{
    sym_id n = first;
    for (uint32_t i = from; i < x.meta->ndim && !c->failed; i++)
        n = mul(c, n, x.meta->size[i]);
    if (c->failed || !guard_bool(c, eq_int(c, n, 1)))
        return !c->failed;
    return refuse(c, "ValueError", "Expected more than 1 %s when training, got input size %s", what,
                  sizes_text(c, x.meta->size, x.meta->ndim));
}

static struct value cudnn_enabled(void)
{
    return py_bool(true);
}

static bool refuse_eps(struct call *c, const char *method, struct value eps, const char *what)
{
    bool found;
    struct value args[] = { eps, py_float(c, 0) };
    struct value bad = python_number(c, str_of(method), args, 2, &found);
    if (c->failed || !py_truth(c, bad))
        return !c->failed;
    return refuse(c, "ValueError", "batch_norm eps must be %s, but got %s", what,
                  sym_text(c, eps.u.sym));
}

/* Checks eps, which may be a symbol. False: refused. */
static bool check_eps(struct call *c, struct value eps, bool training)
{
    if (!behaves(c->env, BEHAVIOR_BATCH_NORM_CHECKS_EPS_BY_MODE))
        return refuse_eps(c, "le", eps, "positive");
    return (!training || refuse_eps(c, "le", eps, "positive during training")) &&
           refuse_eps(c, "lt", eps, "non-negative");
}

/* input, running_mean, running_var, weight, bias, training, momentum, eps
 */
bool python_batch_norm(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    bool training = py_truth(c, arg(c, 5));
    if (training && x.meta->ndim && !more_than_one(c, x.meta->size[0], x, 2, "value per channel"))
        return false;
    if (!check_eps(c, arg(c, 7), training))
        return false;
    struct value args[] = { arg(c, 0), arg(c, 3), arg(c, 4), arg(c, 1),      arg(c, 2),
                            arg(c, 5), arg(c, 6), arg(c, 7), cudnn_enabled() };
    return ret_call(c, py_op(c, "aten.batch_norm", args, 9));
}

/* input, running_mean, running_var, weight, bias, use_input_stats,
 * momentum, eps */
bool python_instance_norm(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    if (py_truth(c, arg(c, 5)) && !more_than_one(c, SYM_ID_ONE, x, 2, "spatial element"))
        return false;
    struct value args[] = { arg(c, 0), arg(c, 3), arg(c, 4), arg(c, 1),      arg(c, 2),
                            arg(c, 5), arg(c, 6), arg(c, 7), cudnn_enabled() };
    return ret_call(c, py_op(c, "aten.instance_norm", args, 9));
}

/* input, num_groups, weight, bias, eps */
bool python_group_norm(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    if (x.meta->ndim < 2)
        return refuse(c, "RuntimeError",
                      "Expected at least 2 dimensions for input tensor but "
                      "received %u",
                      x.meta->ndim);
    sym_id first = mul(c, x.meta->size[0], x.meta->size[1]);
    first = floordiv(c, first, arg_sym(c, 1));
    if (c->failed || !more_than_one(c, first, x, 2, "value per channel"))
        return false;
    struct value args[] = {
        arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3), arg(c, 4), cudnn_enabled()
    };
    return ret_call(c, py_op(c, "aten.group_norm", args, 6));
}

/* input, normalized_shape, weight, bias, eps */
bool python_layer_norm(struct call *c)
{
    struct value args[] = {
        arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3), arg(c, 4), cudnn_enabled()
    };
    return ret_call(c, py_op(c, "aten.layer_norm", args, 6));
}

static struct value half_padding(struct call *c, struct value size, int64_t more)
{
    return value_int(floordiv(c, add(c, size.u.sym, num(c, more)), SYM_ID_TWO));
}

/* input, size, alpha, beta, k */
bool python_local_response_norm(struct call *c)
{
    struct value x = arg(c, 0), size = arg(c, 1), one = py_int(c, 1), zero = py_int(c, 0);
    struct tensor input = value_as_tensor(c, x);
    struct value div = py_call(c, "mul", (struct value[]){ x, x }, 2);
    if (c->failed || size.kind != VALUE_INT)
        return false;
    struct value pad[] = {
        zero, zero, zero, zero, half_padding(c, size, 0), half_padding(c, size, -1)
    };
    struct value kernel[] = { size, one, one };
    bool flat = input.meta->ndim == 3;
    if (flat) {
        div = py_call(c, "unsqueeze", (struct value[]){ div, one }, 2);
        div = py_call(c, "pad", (struct value[]){ div, py_list(c, pad + 2, 4) }, 2);
        div = py_call(c, "avg_pool2d", (struct value[]){ div, py_list(c, kernel, 2), one }, 3);
    } else {
        struct value *s = ops_values(c->ops, 5);
        if (!s || input.meta->ndim < 4)
            return false;
        s[0] = value_int(input.meta->size[0]);
        s[1] = one;
        s[2] = value_int(input.meta->size[1]);
        s[3] = value_int(input.meta->size[2]);
        s[4] = py_int(c, -1);
        div = py_call(c, "view", (struct value[]){ div, value_items(VALUE_LIST, s, 5) }, 2);
        div = py_call(c, "pad", (struct value[]){ div, py_list(c, pad, 6) }, 2);
        div = py_call(c, "avg_pool3d", (struct value[]){ div, py_list(c, kernel, 3), one }, 3);
    }
    div = py_call(c, "squeeze", (struct value[]){ div, one }, 2);
    if (!flat)
        div = py_call(c, "view",
                      (struct value[]){ div, python_sizes(c, input.meta->size, input.meta->ndim) },
                      2);
    div = py_call(c, "mul", (struct value[]){ div, arg(c, 2) }, 2);
    div = py_call(c, "add", (struct value[]){ div, arg(c, 4) }, 2);
    div = py_call(c, "pow", (struct value[]){ div, arg(c, 3) }, 2);
    return ret_call(c, py_call(c, "div", (struct value[]){ x, div }, 2));
}
