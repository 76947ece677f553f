/* Operators that Inductor's passes write into graphs (torch/_inductor/inductor_prims.py). Each is
 * defined by the ATen calls that it stands for. */
#include "replay/ops/rules/compose.h"

/* PARAM is the argument that says how many seeds there are; 0 means one seed without dimensions.
 * The device follows it. */
bool rule_inductor_seeds(struct call *c)
{
    uint32_t at = (uint32_t)c->param;
    sym_id count = arg_sym(c, 0);
    struct device device = arg_device(c, at, (struct device){ DEVICE_CPU, -1 });
    return ret_tensor(c, new_tensor(c, DTYPE_I64, device, &count, at ? 1 : 0));
}

/* PARAM is the argument of the sizes. The seed follows it. */
bool rule_inductor_random(struct call *c)
{
    uint32_t at = (uint32_t)c->param;
    const sym_id *sizes;
    uint32_t n = arg_syms(c, at, &sizes);
    struct tensor seed = arg_tensor(c, at + 1);
    enum dtype dtype = at ? DTYPE_I64 : DTYPE_F32;
    return ret_tensor(c, new_tensor(c, dtype, seed.meta->device, sizes, n));
}
