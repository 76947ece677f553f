/* Scattering under a mask. */
#include "replay/ops/rules/reduce/reduce.h"

static bool enough_elements(struct call *c, struct tensor x, struct tensor mask,
                            struct tensor source)
{
    int64_t n, all, given, ones = 0;
    if (!eager(c) || !mask.data || !plain_numel(c, mask, &n) || n == 0 ||
        !plain_numel(c, x, &all) || !plain_numel(c, source, &given))
        return true;
    for (int64_t i = 0; i < n; i++)
        ones += !element_is_zero(mask, (uint64_t)i);
    return require(c, ones * (all / n > 0 ? all / n : 1) <= given, "RuntimeError",
                   "Number of elements of source < number of ones in mask");
}

/* expand_inplace of ExpandUtils.h: the mask is expanded to self's shape. */
static bool check_expand(struct call *c, struct tensor x, struct tensor mask)
{
    uint32_t n = ndim_of(x), m = ndim_of(mask);
    if (!eager(c) || !x.meta || !mask.meta)
        return true;
    if (!require(c, m <= n, "RuntimeError",
                 "expand(%s%sType{%s}, size=%s): the number of sizes provided (%u) must be greater "
                 "or equal to the number of dimensions in the tensor (%u)",
                 device_of(mask).type == DEVICE_CUDA ? "CUDA" : "CPU",
                 dtype_scalar_name(dtype_of(mask)), sizes_text(c, mask.meta->size, m),
                 sizes_text(c, x.meta->size, n), n, m))
        return false;
    for (uint32_t i = m; i-- > 0;) {
        sym_id to = size_of(x, n - m + i), from = size_of(mask, i);
        if (!require(c, is_int(c, from, 1) || from == to, "RuntimeError",
                     "The expanded size of the tensor (%s) must match the existing size (%s) at "
                     "non-singleton dimension %u.  Target sizes: %s.  Tensor sizes: %s",
                     sym_text(c, to), sym_text(c, from), n - m + i, sizes_text(c, x.meta->size, n),
                     sizes_text(c, mask.meta->size, m)))
            return false;
    }
    return true;
}

/* meta_masked_scatter of torch/_meta_registrations.py; param is 1 for masked_scatter_. */
bool rule_masked_scatter(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1), source = arg_tensor(c, 2);
    struct tensor pair[] = { x, mask };
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n;
    if (c->param && !check_expand(c, x, mask))
        return false;
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

/* masked_scatter_backward: new_empty with the sizes of argument 2. */
bool rule_masked_scatter_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    const sym_id *sizes = NULL;
    uint32_t n = arg_syms(c, 2, &sizes);
    return ret_tensor(c, new_beside(c, grad, dtype_of(grad), sizes, n));
}
