/* Filling and scattering under a mask. */
#include <math.h>

#include "replay/ops/reduce.h"

static bool fill_fits(struct call *c, struct tensor x, struct value value)
{
    bool complex = value.kind == VALUE_COMPLEX ||
                   (value.kind == VALUE_TENSOR && dtype_is_complex(dtype_of(value.u.tensor)));
    if (!complex || dtype_is_complex(dtype_of(x)))
        return true;
    static const struct {
        enum dtype dtype;
        const char *name;
    } names[] = { { DTYPE_I64, "int64_t" },  { DTYPE_I32, "int" },     { DTYPE_I16, "int16_t" },
                  { DTYPE_I8, "int8_t" },    { DTYPE_U8, "uint8_t" },  { DTYPE_B8, "bool" },
                  { DTYPE_F32, "float" },    { DTYPE_F64, "double" },  { DTYPE_F16, "at::Half" },
                  { DTYPE_BF16, "at::BFloat16" } };
    double im = value.kind == VALUE_COMPLEX ? value.u.complex.im : NAN;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].dtype == dtype_of(x) && im != 0)
            return refuse(c, "RuntimeError", "value cannot be converted to type %s without overflow",
                          names[i].name);
    return true;
}

/* masked_fill of torch/_refs: where(mask, value, self), contiguous. */
static bool masked_fill_symbolic(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), filled;
    struct value value = arg(c, 2);
    if (value.kind == VALUE_TENSOR) {
        struct tensor converted = ref_convert(c, value.u.tensor, dtype_of(x));
        filled = call3(c, "aten.where.self", arg(c, 1), value_tensor(converted), arg(c, 0));
    } else {
        filled = call3(c, "aten.where.ScalarSelf", arg(c, 1), value, arg(c, 0));
    }
    return ret_tensor(c, ref_contiguous(c, filled));
}

bool rule_masked_fill(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1), value = arg_tensor(c, 2);
    struct tensor pair[] = { mask, x };
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n;
    if (!require(c, ndim_of(value) == 0, "RuntimeError",
                 "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %u "
                 "dimension(s).",
                 ndim_of(value)) ||
        !fill_fits(c, x, arg(c, 2)))
        return false;
    if (c->symbolic)
        return masked_fill_symbolic(c);
    if (!broadcast_shapes(c, pair, 2, sizes, &n) ||
        !require(c, dtype_of(mask) == DTYPE_B8, "RuntimeError",
                 "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                 type_name(dtype_of(mask))))
        return false;
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, n));
}

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
