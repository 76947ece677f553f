/* Prims with a meta function other than _prim_elementwise_meta (torch/_prims/__init__.py). */
#include "replay/ops/rules/pointwise/pointwise.h"

/* _convert_element_type_meta keeps the strides of a dense tensor. */
bool rule_convert_element_type(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum dtype dtype = arg_dtype(c, 1, x.meta->dtype);
    sym_id strides[TENSOR_MAX_DIM];
    count_dispatches(c, 1); /* aten.empty_strided */
    if (non_overlapping_and_dense_or_false(c, x)) {
        return ret_tensor(c, new_tensor_strided(c, dtype, x.meta->device, x.meta->size,
                                                x.meta->stride, x.meta->ndim));
    }
    elementwise_strides(c, &x, 1, strides);
    count_dispatches(
        c, 2); /* compute_elementwise_output_strides dispatches empty_like and empty_permuted. */
    return ret_tensor(
        c, new_tensor_strided(c, dtype, x.meta->device, x.meta->size, strides, x.meta->ndim));
}

bool rule_device_put(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct device device = arg_device(c, 1, x.meta->device);
    count_dispatches(c, 1);
    return ret_tensor(c, new_tensor_strided(c, x.meta->dtype, device, x.meta->size, x.meta->stride,
                                            x.meta->ndim));
}

bool rule_prim_clone(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum memory_format format = arg_format(c, 1, FORMAT_PRESERVE);
    sym_id strides[TENSOR_MAX_DIM];
    count_dispatches(c, 1);
    if (format != FORMAT_PRESERVE)
        return ret_tensor(c, new_tensor_format(c, x.meta->dtype, x.meta->device, x.meta->size,
                                               x.meta->ndim, format));
    elementwise_strides(c, &x, 1, strides);
    return ret_tensor(c, new_tensor_strided(c, x.meta->dtype, x.meta->device, x.meta->size, strides,
                                            x.meta->ndim));
}

bool rule_copy_strided(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *strides;
    uint32_t n = arg_syms(c, 1, &strides);
    if (!require(c, n == x.meta->ndim, "AssertionError", "%s", ""))
        return false;
    count_dispatches(c, 1);
    return ret_tensor(
        c, new_tensor_strided(c, x.meta->dtype, x.meta->device, x.meta->size, strides, n));
}

static bool ret_same_dtype(struct call *c)
{
    struct value x = arg(c, 0);
    count_dispatches(c, 1);
    return ret_tensor(c, prim_elementwise(c, &x, 1, x.u.tensor.meta->dtype));
}

bool rule_prim_fill(struct call *c)
{
    return ret_same_dtype(c);
}

bool rule_prim_conj_physical(struct call *c)
{
    if (!require(c, dtype_is_complex(arg_tensor(c, 0).meta->dtype), "RuntimeError",
                 "prims.conj_physical is only defined for complex dtypes"))
        return false;
    return ret_same_dtype(c);
}
