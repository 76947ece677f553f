/* Dropout (torch/_decomp/decompositions.py). */
#include "replay/ops/rules/compose.h"

static struct tensor like(struct call *c, const char *name, struct tensor x, enum dtype dtype)
{
    struct value arg = T(x);
    struct keyword keyword = { STR("dtype"), dtype_value(dtype) };
    struct value out = call_op_keywords(c, name, &arg, 1, &keyword, dtype == DTYPE_NONE ? 0 : 1);
    return out.kind == VALUE_TENSOR ? out.u.tensor : no_tensor();
}

bool rule_native_dropout(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), out[2];
    double p = arg_double(c, 1);
    if (arg_bool(c, 2) && p != 0) {
        if (p == 1) {
            out[0] = like(c, "aten.zeros_like.default", x, DTYPE_NONE);
            out[1] = like(c, "aten.zeros_like.default", x, DTYPE_B8);
            return ret_tensors(c, out, 2);
        }
        require(c, dtype_is_float(dtype_of(x)), "RuntimeError",
                "result type Float can't be cast to the desired output type Long");
        struct tensor random = like(c, "aten.rand_like.default", x, DTYPE_NONE);
        out[1] = CALL(c, "aten.gt.Scalar", T(random), arg(c, 1));
        out[0] = times(c, T(out[1]), T(x));
        out[0] = times(c, T(out[0]), F(c, 1 / (1 - p)));
        return ret_tensors(c, out, 2);
    }
    out[0] = x;
    out[1] = like(c, "aten.ones_like.default", x, DTYPE_B8);
    return ret_tensors(c, out, 2);
}

/* The Python dispatcher's dropout. */
bool rule_dropout(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct value p = arg_fixed(c, 1);
    bool train = arg_bool(c, 2);
    if (!train || sym_to_double(c->pool, p.u.sym) == 0)
        return ret_tensor(c, CALL(c, "aten.clone.default", T(x)));
    struct value out = CALL_VALUE(c, "aten.native_dropout.default", T(x), p, B(train));
    return ret_tensor(c, item_tensor(c, out, 0));
}

/* feature_dropout, alpha_dropout, feature_alpha_dropout of aten/src/ATen/native/Dropout.cpp.
 * param: 1 of whole channels, 2 alpha. */
bool rule_other_dropout(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct value p = arg_fixed(c, 1);
    double probability = sym_to_double(c->pool, p.u.sym);
    require(c, probability >= 0 && probability <= 1, "RuntimeError",
            "dropout probability has to be between 0 and 1, but got %g", probability);
    bool train = arg_bool(c, 2);
    if (c->failed)
        return false;
    if (probability == 0 || !train || guard_bool(c, eq_int(c, numel(c, x), 0)))
        return ret_tensor(c, x);
    if (probability == 1)
        return ret_tensor(c, times(c, T(x), I(c, 0)));
    sym_id shape[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < ndim_of(x); i++)
        shape[i] = i < 2 || !(c->param & 1) ? size_of(c, x, i) : SYM_ID_ONE;
    struct tensor noise = c->param & 1
                              ? CALL(c, "aten.new_empty.default", T(x), ints(c, shape, ndim_of(x)))
                              : like(c, "aten.empty_like.default", x, DTYPE_NONE);
    noise = CALL(c, "aten.bernoulli_.float", T(noise), F(c, 1 - probability));
    if (!(c->param & 2)) {
        noise = CALL(c, "aten.div_.Scalar", T(noise), F(c, 1 - probability));
        return ret_tensor(c, times(c, T(x), T(noise)));
    }
    struct tensor b = CALL(c, "aten.add.Scalar", T(noise), I(c, -1));
    b = CALL(c, "aten.mul_.Scalar", T(b), F(c, 1.7580993408473766));
    b = CALL(c, "aten.add_.Scalar", T(b), F(c, 1.7580993408473766 * probability));
    noise = CALL(c, "aten.mul_.Scalar", T(noise), F(c, 1));
    return ret_tensor(c, plus(c, T(times(c, T(x), T(noise))), T(b)));
}
