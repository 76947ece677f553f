/* Scattering under a mask. */
#include "replay/ops/reduce.h"

static bool enough_elements(struct call *c, struct tensor x, struct tensor mask,
                            struct tensor source)
{
    int64_t n, all, given, ones = 0;
    if (c->symbolic || !mask.data || !plain_numel(c, mask, &n) || n == 0 ||
        !plain_numel(c, x, &all) || !plain_numel(c, source, &given))
        return true;
    for (int64_t i = 0; i < n; i++)
        ones += !element_is_zero(mask, (uint64_t)i);
    return require(c, ones * (all / n > 0 ? all / n : 1) <= given, "RuntimeError",
                   "Number of elements of source < number of ones in mask");
}

/* meta_masked_scatter of torch/_meta_registrations.py */
bool rule_masked_scatter(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1), source = arg_tensor(c, 2);
    struct tensor pair[] = { x, mask };
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n;
    if (!broadcast_shapes(c, pair, 2, sizes, &n) ||
        !require(c, dtype_of(x) == dtype_of(source), "RuntimeError",
                 "masked_scatter: expected self and source to have same dtypes but got%s and %s",
                 dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(source))) ||
        !require(c, dtype_of(mask) == DTYPE_B8, "RuntimeError",
                 "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                 dtype_scalar_name(dtype_of(mask))) ||
        !enough_elements(c, x, mask, source))
        return false;
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, n));
}

/* masked_scatter_backward: new_empty of the sizes in argument 2. */
bool rule_masked_scatter_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    const sym_id *sizes = NULL;
    uint32_t n = arg_syms(c, 2, &sizes);
    return ret_tensor(c, new_beside(c, grad, dtype_of(grad), sizes, n));
}
