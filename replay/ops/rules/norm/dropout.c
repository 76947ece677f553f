/* Dropout (torch/_decomp/decompositions.py), with the checks of
 * aten/src/ATen/native/Dropout.cpp. */
#include "replay/ops/rules/compose.h"

static struct tensor call_like(struct call *c, const char *name, struct tensor x, enum dtype dtype)
{
    struct value arg = T(x);
    struct keyword keyword = { STR("dtype"), dtype_value(dtype) };
    struct value out = call_op_keywords(c, name, &arg, 1, &keyword, dtype == DTYPE_NONE ? 0 : 1);
    return out.kind == VALUE_TENSOR ? out.u.tensor : no_tensor();
}

/* This decomposition is written in C because Python computes the factor 1 - p as a float, not as
 * an expression. */
bool rule_native_dropout(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), out[2];
    double p = arg_double(c, 1);
    if (arg_bool(c, 2) && p != 0) {
        if (p == 1) {
            out[0] = call_like(c, "aten.zeros_like.default", x, DTYPE_NONE);
            out[1] = call_like(c, "aten.zeros_like.default", x, DTYPE_B8);
            return ret_tensors(c, out, 2);
        }
        require(c, dtype_is_float(dtype_of(x)), "RuntimeError",
                "result type Float can't be cast to the desired output type Long");
        struct tensor random = call_like(c, "aten.rand_like.default", x, DTYPE_NONE);
        out[1] = CALL(c, "aten.gt.Scalar", T(random), arg(c, 1));
        out[0] = times(c, T(out[1]), T(x));
        out[0] = times(c, T(out[0]), F(c, 1 / (1 - p)));
        return ret_tensors(c, out, 2);
    }
    out[0] = x;
    out[1] = call_like(c, "aten.ones_like.default", x, DTYPE_B8);
    return ret_tensors(c, out, 2);
}

/* feature_dropout, alpha_dropout, feature_alpha_dropout */
bool rule_other_dropout(struct call *c)
{
    double p = sym_to_double(c->pool, arg_fixed(c, 1).u.sym);
    require(c, p >= 0 && p <= 1, "RuntimeError",
            "dropout probability has to be between 0 and 1, but got %g", p);
    return !c->failed && decompose(c, NULL);
}
