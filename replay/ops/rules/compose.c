#include "replay/ops/rules/compose.h"

#include "replay/ops/dispatch/context.h"

/* clang-format off */
struct value I(struct call *c, int64_t n)
{
    return value_int(num(c, n));
}

struct value F(struct call *c, double x)
{
    return value_sym(VALUE_FLOAT, sym_float(c->pool, x));
}

struct value ints(struct call *c, const sym_id *list, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = value_int(list[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

/* clang-format on */

struct value dims(struct call *c, const int64_t *list, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = I(c, list[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

struct value bools(struct call *c, const bool *list, uint32_t n)
{
    struct value *items = values(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = B(list[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

struct value dtype_value(enum dtype dtype)
{
    return (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype };
}

struct value format_value(enum memory_format format)
{
    return (struct value){ .kind = VALUE_MEMORY_FORMAT, .u.memory_format = format };
}

/* --- Properties of tensors --- */

uint32_t ndim_of(struct tensor x)
{
    return x.meta ? x.meta->ndim : 0;
}

sym_id size_of(struct call *c, struct tensor x, int64_t dim)
{
    int64_t n = ndim_of(x);
    if (dim < 0)
        dim += n;
    if (dim < 0 || dim >= n) {
        refuse(c, "IndexError", "tuple index out of range");
        return SYM_ID_ZERO;
    }
    return x.meta->size[dim];
}

const sym_id *sizes_of(struct tensor x)
{
    return x.meta ? x.meta->size : NULL;
}

const char *shape_text(struct call *c, struct tensor x)
{
    return sizes_text(c, sizes_of(x), ndim_of(x));
}

enum dtype dtype_of(struct tensor x)
{
    return x.meta ? x.meta->dtype : DTYPE_NONE;
}

struct device device_of(struct tensor x)
{
    return x.meta ? x.meta->device : (struct device){ DEVICE_NONE, -1 };
}

bool on_cpu(struct tensor x)
{
    return device_of(x).type == DEVICE_CPU;
}

bool on_cuda(struct tensor x)
{
    return device_of(x).type == DEVICE_CUDA;
}

struct tensor item_tensor(struct call *c, struct value tuple, uint32_t i)
{
    bool items = tuple.kind == VALUE_TUPLE || tuple.kind == VALUE_LIST;
    if (!items || i >= tuple.n || tuple.u.items[i].kind != VALUE_TENSOR) {
        if (!c->failed)
            unsupported(c, "a nested call returned no tensor %u", i);
        return no_tensor();
    }
    return tuple.u.items[i].u.tensor;
}

/* --- Calls with keywords --- */

static struct tensor with_keyword(struct call *c, const char *name, const struct value *args,
                                  uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct value out = call_op_keywords(c, name, args, n, keywords, n_keywords);
    if (out.kind == VALUE_TENSOR)
        return out.u.tensor;
    if (!c->failed)
        unsupported(c, "the nested call of %s returned no tensor", name);
    return no_tensor();
}

void count_to(struct call *c, struct tensor x)
{
    if (some(x) && !c->op->composite && !in_kernel(c))
        count_dispatches(c, 2);
}

struct tensor to_dtype(struct call *c, struct tensor x, enum dtype dtype)
{
    count_to(c, x);
    if (!some(x) || dtype_of(x) == dtype)
        return x;
    struct keyword keyword = { STR("dtype"), dtype_value(dtype) };
    struct value arg = T(x);
    return with_keyword(c, "aten._to_copy.default", &arg, 1, &keyword, 1);
}

/* x.to(memory_format=...) returns x where x suggests that format already. Otherwise Python's
 * binding passes the dtype, too (dispatch_to of python_variable_methods.cpp). */
struct tensor to_format(struct call *c, struct tensor x, enum memory_format format)
{
    if (!some(x) || format == FORMAT_PRESERVE || suggest_format_c10(c, x) == format)
        return x;
    struct keyword keywords[] = { { STR("dtype"), dtype_value(dtype_of(x)) },
                                  { STR("memory_format"), format_value(format) } };
    struct value arg = T(x);
    return with_keyword(c, "aten._to_copy.default", &arg, 1, keywords, 2);
}

struct tensor empty_to_format(struct call *c, struct tensor like, const sym_id *sizes, uint32_t n,
                              enum memory_format format)
{
    struct tensor x = new_tensor(c, dtype_of(like), device_of(like), sizes, n);
    bool in_kernel = c->in_kernel;
    if (c->failed)
        return x;
    c->in_kernel = true;
    x = to_format(c, x, format);
    c->in_kernel = in_kernel;
    return x;
}

struct tensor to_dtype_format(struct call *c, struct tensor x, enum dtype dtype,
                              enum memory_format format)
{
    count_to(c, x);
    if (!some(x))
        return x;
    if (dtype_of(x) == dtype)
        return to_format(c, x, format);
    struct keyword keywords[] = { { STR("dtype"), dtype_value(dtype) },
                                  { STR("memory_format"), format_value(format) } };
    struct value arg = T(x);
    return with_keyword(c, "aten._to_copy.default", &arg, 1, keywords, 2);
}

struct tensor to_dtype_copy(struct call *c, struct tensor x, enum dtype dtype)
{
    struct keyword keyword = { STR("dtype"), dtype_value(dtype) };
    struct value arg = T(x);
    count_to(c, x);
    return some(x) ? with_keyword(c, "aten._to_copy.default", &arg, 1, &keyword, 1) : x;
}

struct tensor convert(struct call *c, struct tensor x, enum dtype dtype)
{
    if (!some(x) || dtype_of(x) == dtype)
        return x;
    return CALL(c, "prims.convert_element_type.default", T(x), dtype_value(dtype));
}

void var_mean(struct call *c, struct tensor x, const int64_t *list, uint32_t n, struct tensor *var,
              struct tensor *mean)
{
    struct value args[] = { T(x), dims(c, list, n) };
    struct keyword keywords[] = { { STR("correction"), I(c, 0) }, { STR("keepdim"), B(true) } };
    struct value out = call_op_keywords(c, "aten.var_mean.correction", args, 2, keywords, 2);
    *var = item_tensor(c, out, 0);
    *mean = item_tensor(c, out, 1);
}

struct tensor clone_format(struct call *c, struct tensor x, enum memory_format format)
{
    struct keyword keyword = { STR("memory_format"), format_value(format) };
    struct value arg = T(x);
    return with_keyword(c, "aten.clone.default", &arg, 1, &keyword, 1);
}

struct tensor contiguous(struct call *c, struct tensor x)
{
    if (!some(x) || is_contiguous(c, x, FORMAT_CONTIGUOUS))
        return x;
    return clone_format(c, x, FORMAT_CONTIGUOUS);
}

struct tensor zeros_of(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n,
                       enum dtype dtype)
{
    struct value args[] = { T(x), ints(c, sizes, n) };
    struct keyword keyword = { STR("dtype"), dtype_value(dtype) };
    return with_keyword(c, "aten.new_zeros.default", args, 2, &keyword,
                        dtype == DTYPE_NONE ? 0 : 1);
}

struct tensor full_of(struct call *c, struct tensor x, const char *name, const sym_id *sizes,
                      uint32_t n, enum dtype dtype)
{
    struct value arg = ints(c, sizes, n);
    struct value device = { .kind = VALUE_DEVICE, .u.device = device_of(x) };
    struct keyword keywords[] = { { STR("device"), device }, { STR("dtype"), dtype_value(dtype) } };
    return with_keyword(c, name, &arg, 1, keywords, dtype == DTYPE_NONE ? 1 : 2);
}

struct tensor sum_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n, bool keep)
{
    return CALL(c, "aten.sum.dim_IntList", T(x), dims(c, list, n), B(keep));
}

struct tensor squeeze_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n)
{
    return CALL(c, "aten.squeeze.dims", T(x), dims(c, list, n));
}

struct tensor permute(struct call *c, struct tensor x, const int64_t *list, uint32_t n)
{
    return CALL(c, "aten.permute.default", T(x), dims(c, list, n));
}

struct tensor unsqueeze_to(struct call *c, struct tensor x, uint32_t ndim)
{
    for (uint32_t i = ndim_of(x); !c->failed && i < ndim; i++)
        x = unsqueeze(c, x, -1);
    return x;
}

/* --- Dtypes --- */

enum dtype cast_for_opmath(struct call *c, struct tensor **x, uint32_t n)
{
    struct value *all = values(c, n);
    enum dtype computation = DTYPE_NONE, result = DTYPE_NONE;
    for (uint32_t i = 0; all && i < n; i++)
        all[i] = T(*x[i]);
    if (all)
        elementwise_dtypes(c, all, n, PROMOTE_DEFAULT, &computation, &result);
    for (uint32_t i = 0; !c->failed && i < n; i++)
        *x[i] = to_dtype(c, *x[i], computation);
    return result;
}

/* --- Conditions --- */

sym_id both(struct call *c, sym_id a, sym_id b)
{
    return sym_and(c->pool, a, b);
}

sym_id either(struct call *c, sym_id a, sym_id b)
{
    return sym_or(c->pool, a, b);
}

sym_id shapes_equal(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b)
{
    if (n_a != n_b)
        return SYM_ID_FALSE;
    sym_id all = SYM_ID_TRUE;
    for (uint32_t i = 0; i < n_a; i++)
        all = both(c, all, py_eq(c, a[i], b[i]));
    return all;
}

bool arg_is_number(const struct call *c, uint32_t i, double value)
{
    struct value v = arg(c, i);
    return value_is_number(v) && is_number(c, v.u.sym) && sym_to_double(c->pool, v.u.sym) == value;
}

/* --- Numbers --- */

struct value arg_fixed(struct call *c, uint32_t i)
{
    struct value v = arg(c, i);
    if (!value_is_number(v) || is_number(c, v.u.sym) || v.u.sym <= SYM_ID_TRUE || c->failed)
        return v;
    sym_id fixed = env_evaluate(c->env, v.u.sym, SYM_NONE, false, SYM_NONE);
    if (fixed == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return value_sym(v.kind, fixed);
}

static enum number_type type_of(struct value v)
{
    return v.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT;
}

struct value true_divide(struct call *c, struct value a, struct value b)
{
    if (is_number(c, a.u.sym) && is_number(c, b.u.sym)) {
        double divisor = sym_to_double(c->pool, b.u.sym);
        require(c, divisor != 0, "ZeroDivisionError", "float division by zero");
        return F(c, divisor != 0 ? sym_to_double(c->pool, a.u.sym) / divisor : 0);
    }
    sym_id args[] = { a.u.sym, b.u.sym };
    enum number_type types[] = { type_of(a), type_of(b) }, type;
    sym_id e =
        c->failed ? SYM_NONE : node_method(c->env, NODE_METHOD_TRUEDIV, args, types, 2, &type);
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return value_sym(VALUE_FLOAT, e);
}

struct value number_minus(struct call *c, struct value a, int64_t b)
{
    if (is_number(c, a.u.sym) && a.kind == VALUE_FLOAT)
        return F(c, sym_to_double(c->pool, a.u.sym) - (double)b);
    sym_id args[] = { a.u.sym, num(c, b) };
    enum number_type types[] = { type_of(a), NUMBER_INT }, type = NUMBER_INT;
    sym_id e = c->failed ? SYM_NONE : node_method(c->env, NODE_METHOD_SUB, args, types, 2, &type);
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return value_sym(a.kind, e);
}

/* --- TensorBase::suggest_memory_format --- */

/* is_channels_last_strides_2d_s4 and is_channels_last_strides_3d_s5 of c10/core/MemoryFormat.h */
static bool strides_like(struct call *c, const struct tensor_meta *meta, const uint8_t *order)
{
    sym_id least = SYM_ID_ZERO;
    if (guard_bool(c, eq_int(c, meta->stride[1], 0)))
        return false;
    for (uint32_t i = 0; i < meta->ndim && !c->failed; i++) {
        uint32_t d = order[i];
        if (guard_bool(c, eq_int(c, meta->size[d], 0)) ||
            guard_bool(c, lt(c, meta->stride[d], least)))
            return false;
        if (d == 0 && guard_bool(c, eq(c, least, meta->stride[1])))
            return false;
        least = meta->stride[d];
        if (guard_bool(c, gt(c, meta->size[d], SYM_ID_ONE)))
            least = mul(c, least, meta->size[d]);
    }
    return !c->failed;
}

enum memory_format suggest_format_c10(struct call *c, struct tensor x)
{
    static const uint8_t order_2d[] = { 1, 3, 2, 0 }, order_3d[] = { 1, 4, 3, 2, 0 };
    if (!some(x) || x.meta->layout != LAYOUT_STRIDED)
        return FORMAT_CONTIGUOUS;
    if (x.channels_last)
        return x.meta->ndim == 4 ? FORMAT_CHANNELS_LAST : FORMAT_CHANNELS_LAST_3D;
    if (x.meta->ndim == 4)
        return strides_like(c, x.meta, order_2d) ? FORMAT_CHANNELS_LAST : FORMAT_CONTIGUOUS;
    if (x.meta->ndim != 5)
        return FORMAT_CONTIGUOUS;
    /* C++ computes is_channels_last_3d before it compares the strides. */
    channels_last_or_false(c, x, FORMAT_CHANNELS_LAST_3D);
    return strides_like(c, x.meta, order_3d) ? FORMAT_CHANNELS_LAST_3D : FORMAT_CONTIGUOUS;
}
