/* Functions of NumPy that Dynamo traces as those of torch/_numpy (numpy_to_tensor_wrapper of
 * torch/_dynamo/utils.py). */
#include "replay/ops/layout/layout.h"
#include "replay/ops/python/python_internal.h"

enum { MAX_NESTED_DATA = 8 };

/* Returns whether data has numbers only. *has_float is set if one is a float, or if a list is
 * empty, as torch.as_tensor([]) has floats. */
static bool is_plain_data(struct value data, unsigned depth, bool *has_float)
{
    *has_float |= data.kind == VALUE_FLOAT;
    if (data.kind != VALUE_LIST && data.kind != VALUE_TUPLE)
        return value_is_number(data);
    *has_float |= data.n == 0;
    for (uint32_t i = 0; i < data.n; i++)
        if (depth >= MAX_NESTED_DATA || !is_plain_data(data.u.items[i], depth + 1, has_float))
            return false;
    return true;
}

/* _coerce_to_tensor of torch/_numpy/_util.py: Python's floats are float64, and torch.as_tensor()
 * makes symbolic numbers constants. */
static bool read_array(struct call *c, struct value *x)
{
    const struct device cpu = { DEVICE_CPU, -1 };
    bool has_float = false;
    if (arg(c, 1).n || arg(c, 2).n)
        return unsupported(c, "more than one argument");
    *x = arg(c, 0);
    if (x->kind == VALUE_TENSOR)
        return true;
    if (!is_plain_data(*x, 0, &has_float))
        return unsupported(c, "an argument that is neither a tensor nor numbers");
    if (!python_specialize(c, *x, 0))
        return false;
    *x = value_tensor(python_data(c, *x, has_float ? DTYPE_F64 : DTYPE_NONE, cpu));
    return !c->failed && (x->kind == VALUE_TENSOR || unsupported(c, "no tensor"));
}

/* x, *rest, **options */
bool python_numpy_plain(struct call *c)
{
    struct value x;
    return read_array(c, &x) && ret_call(c, py_call(c, row_base(c), &x, 1));
}

/* x, *rest, **options; cast_int_to_float of torch/_numpy/_util.py */
bool python_numpy_float(struct call *c)
{
    struct value x;
    if (!read_array(c, &x))
        return false;
    if (!dtype_is_float(x.u.tensor.meta->dtype) && !dtype_is_complex(x.u.tensor.meta->dtype)) {
        struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = DTYPE_F64 } };
        x = call_op_keywords(c, "aten._to_copy.default", &x, 1, &keyword, 1);
        if (c->failed)
            return false;
    }
    return ret_call(c, py_call(c, row_base(c), &x, 1));
}
