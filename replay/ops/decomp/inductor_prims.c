/* Operators that Inductor's passes write into graphs (torch/_inductor/inductor_prims.py). Each is
 * defined by the ATen calls that it stands for. */
#include "replay/ops/rules/compose.h"

/* a * b + c, rounded once. */
bool rule_prim_fma(struct call *c)
{
    struct tensor product = CALL(c, "aten.mul.Tensor", arg(c, 0), arg(c, 1));
    return ret_tensor(c, CALL(c, "aten.add.Tensor", T(product), arg(c, 2)));
}

/* PARAM: the argument that tells how many there are; 0: one, without dimensions. The device comes
 * behind it. */
bool rule_inductor_seeds(struct call *c)
{
    uint32_t at = (uint32_t)c->param;
    sym_id count = arg_sym(c, 0);
    struct device device = arg_device(c, at, (struct device){ DEVICE_CPU, -1 });
    return ret_tensor(c, new_tensor(c, DTYPE_I64, device, &count, at ? 1 : 0));
}

bool rule_inductor_lookup_seed(struct call *c)
{
    return ret_tensor(c, CALL(c, "aten.select.int", arg(c, 0), I(c, 0), arg(c, 1)));
}

/* PARAM: where the sizes are; the seed comes behind them. */
bool rule_inductor_random(struct call *c)
{
    uint32_t at = (uint32_t)c->param;
    const sym_id *sizes;
    uint32_t n = arg_syms(c, at, &sizes);
    struct tensor seed = arg_tensor(c, at + 1);
    enum dtype dtype = at ? DTYPE_I64 : DTYPE_F32;
    return ret_tensor(c, new_tensor(c, dtype, seed.meta->device, sizes, n));
}

/* Maxima and sums of exponentials along dim, which stays. */
bool rule_prepare_softmax_online(struct call *c)
{
    struct value x = arg(c, 0), dim = arg(c, 1), keep = B(true);
    struct value dims = value_items(VALUE_LIST, &dim, 1);
    struct tensor max = CALL(c, "aten.amax.default", x, dims, keep);
    struct tensor shifted = CALL(c, "aten.sub.Tensor", x, T(max));
    struct tensor exp = CALL(c, "aten.exp.default", T(shifted));
    struct tensor ret[] = { max, CALL(c, "aten.sum.dim_IntList", T(exp), dims, keep) };
    return ret_tensors(c, ret, 2);
}
