/* Methods and attributes of tensors other than operators of the same name. */
#include "replay/ops/python/python_internal.h"

#include <stdio.h>

/* --- Queries --- */

static struct value one_of(struct call *c, const sym_id *list, uint32_t n, struct value dim)
{
    if (dim.kind == VALUE_NONE)
        return python_sizes(c, list, n);
    if (dim.kind != VALUE_INT) {
        refuse(c, "TypeError", "a dimension is expected");
        return value_none();
    }
    uint32_t i = wrap_dim(c, guard_int(c, dim.u.sym), n);
    return c->failed || i >= n ? value_none() : value_int(list[i]);
}

/* self, dim=None */
bool python_size(struct call *c)
{
    if (value_is_sequence(arg(c, 0))) /* for a torch.Size: numel() and similar */
        return unsupported(c, "size() of a tuple");
    struct tensor x = value_as_tensor(c, arg(c, 0));
    return !c->failed && ret_call(c, one_of(c, x.meta->size, x.meta->ndim, arg(c, 1)));
}

bool python_stride(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    return !c->failed && ret_call(c, one_of(c, x.meta->stride, x.meta->ndim, arg(c, 1)));
}

/* Returns the product of a torch.Size, or of a tensor's sizes. */
bool python_numel(struct call *c)
{
    struct value x = arg(c, 0);
    sym_id n = SYM_ID_ONE;
    if (x.kind == VALUE_TENSOR)
        return ret_call(c, value_int(numel(c, x.u.tensor)));
    for (uint32_t i = 0; value_is_sequence(x) && i < x.n; i++)
        n = mul(c, n, x.u.items[i].u.sym);
    return ret_call(c, value_int(n));
}

bool python_is_contiguous(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    enum memory_format format = arg_format(c, 1, FORMAT_CONTIGUOUS);
    return !c->failed && ret_call(c, py_bool(is_contiguous(c, x, format)));
}

bool python_len(struct call *c)
{
    struct value x = arg(c, 0);
    if (x.kind == VALUE_DICT)
        return ret_call(c, py_int(c, x.n / 2));
    if (x.kind == VALUE_STRING)
        return ret_call(c, py_int(c, (int64_t)x.u.text.n));
    if (value_is_sequence(x))
        return ret_call(c, py_int(c, x.n));
    struct tensor tensor = value_as_tensor(c, x);
    if (!c->failed && !tensor.meta->ndim)
        return refuse(c, "TypeError", "len() of a 0-d tensor");
    return !c->failed && ret_call(c, value_int(tensor.meta->size[0]));
}

/* Returns a property that is another attribute: the row's base. */
bool python_property(struct call *c)
{
    struct value ret = value_none();
    bool done = python_attribute(c, arg(c, 0), str_of(row_base(c)), &ret);
    return done && ret_call(c, ret);
}

/* --- Attributes --- */

/* The attributes that are operators, such as x.T. */
static const struct {
    const char *name, *op;
} operators[] = {
    { "T", "aten.numpy_T" },   { "H", "aten.matrix_H" }, { "mT", "aten.mT" },
    { "mH", "aten.mH" },       { "real", "aten.real" },  { "imag", "aten.imag" },
    { "data", "aten.detach" },
};

static bool tensor_attribute(struct call *c, struct tensor x, struct str name, struct value *ret)
{
    const struct tensor_meta *m = x.meta;
    if (str_is(name, "shape"))
        *ret = python_sizes(c, m->size, m->ndim);
    else if (str_is(name, "dtype"))
        *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = m->dtype };
    else if (str_is(name, "device"))
        *ret = (struct value){ .kind = VALUE_DEVICE, .u.device = m->device };
    else if (str_is(name, "layout"))
        *ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = m->layout };
    else if (str_is(name, "ndim"))
        *ret = py_int(c, m->ndim);
    else if (str_is(name, "requires_grad"))
        *ret = py_bool(m->requires_grad);
    else if (str_is(name, "is_leaf"))
        *ret = py_bool(!m->requires_grad);
    else if (str_is(name, "itemsize") || str_is(name, "element_size"))
        *ret = py_int(c, dtype_size(m->dtype));
    else if (str_is(name, "nbytes"))
        *ret = value_int(mul(c, numel(c, x), num(c, dtype_size(m->dtype))));
    else if (str_is(name, "storage_offset"))
        *ret = value_int(m->offset);
    else if (str_is(name, "is_cuda"))
        *ret = py_bool(m->device.type == DEVICE_CUDA);
    else if (str_is(name, "is_cpu"))
        *ret = py_bool(m->device.type == DEVICE_CPU);
    else if (str_is(name, "is_meta"))
        *ret = py_bool(m->device.type == DEVICE_META);
    else if (str_is(name, "get_device"))
        *ret = py_int(c, m->device.type == DEVICE_CPU ? -1 : m->device.index);
    else if (str_is(name, "is_floating_point"))
        *ret = py_bool(dtype_is_float(m->dtype));
    else if (str_is(name, "is_complex"))
        *ret = py_bool(dtype_is_complex(m->dtype));
    else if (str_is(name, "is_signed"))
        *ret = py_bool(m->dtype != DTYPE_B8 && m->dtype != DTYPE_U8);
    else if (str_is(name, "is_conj"))
        *ret = py_bool(m->conj);
    else if (str_is(name, "is_neg"))
        *ret = py_bool(m->neg);
    else if (str_starts(name, STR("is_")))
        *ret = py_bool(false); /* is_sparse, is_quantized, is_nested ... */
    else if (str_is(name, "grad") || str_is(name, "grad_fn") || str_is(name, "names"))
        *ret = value_none();
    else if (str_is(name, "__class__"))
        *ret = (struct value){ .kind = VALUE_OPAQUE, .u.text = STR("torch.Tensor") };
    else
        return false;
    return true;
}

/* Returns the index of a field of torch.return_types. */
static int32_t return_field(struct str name)
{
    static const struct {
        const char *name;
        int32_t i;
    } fields[] = {
        { "values", 0 },   { "indices", 1 },   { "eigenvalues", 0 }, { "eigenvectors", 1 },
        { "Q", 0 },        { "R", 1 },         { "U", 0 },           { "S", 1 },
        { "V", 2 },        { "Vh", 2 },        { "sign", 0 },        { "logabsdet", 1 },
        { "solution", 0 }, { "L", 0 },         { "info", 1 },        { "inverse", 0 },
        { "hist", 0 },     { "bin_edges", 1 }, { "mantissa", 0 },    { "exponent", 1 },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(name, fields[i].name))
            return fields[i].i;
    return -1;
}

static bool other_attribute(struct call *c, struct value x, struct str name, struct value *ret)
{
    int32_t i = return_field(name);
    if (value_is_number(x) && (str_is(name, "real") || str_is(name, "numerator")))
        *ret = x;
    else if (value_is_number(x) && str_is(name, "imag"))
        *ret = py_int(c, 0);
    else if (x.kind == VALUE_DEVICE && str_is(name, "type")) {
        static const char *const types[] = { "", "cpu", "cuda", "meta", "other" };
        *ret = (struct value){ .kind = VALUE_STRING, .u.text = str_of(types[x.u.device.type]) };
    } else if (x.kind == VALUE_DEVICE && str_is(name, "index"))
        *ret = x.u.device.index < 0 ? value_none() : py_int(c, x.u.device.index);
    else if (x.kind == VALUE_DTYPE && str_is(name, "itemsize"))
        *ret = py_int(c, dtype_size(x.u.dtype));
    else if (x.kind == VALUE_DTYPE && str_is(name, "is_floating_point"))
        *ret = py_bool(dtype_is_float(x.u.dtype));
    else if (x.kind == VALUE_DTYPE && str_is(name, "is_complex"))
        *ret = py_bool(dtype_is_complex(x.u.dtype));
    else if (value_is_sequence(x) && i >= 0 && (uint32_t)i < x.n)
        *ret = x.u.items[i];
    else
        return false;
    return true;
}

bool python_attribute(struct call *c, struct value x, struct str name, struct value *ret)
{
    if (x.kind != VALUE_TENSOR)
        return other_attribute(c, x, name, ret) || unsupported(c, "attribute %.*s", STR_ARG(name));
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!str_is(name, operators[i].name))
            continue;
        if (str_is(name, "real") && !dtype_is_complex(x.u.tensor.meta->dtype))
            *ret = x;
        else
            *ret = py_op(c, operators[i].op, &x, 1);
        return !c->failed;
    }
    return tensor_attribute(c, x.u.tensor, name, ret) ||
           unsupported(c, "attribute %.*s", STR_ARG(name));
}

/* object, name, default=None */
bool python_getattr(struct call *c)
{
    struct value ret = value_none();
    if (arg(c, 1).kind != VALUE_STRING)
        return refuse(c, "TypeError", "attribute name must be string");
    return python_attribute(c, arg(c, 0), arg(c, 1).u.text, &ret) && ret_call(c, ret);
}

/* --- Conversions --- */

struct tensor_conversion {
    enum dtype dtype;     /* DTYPE_NONE: unchanged */
    struct device device; /* DEVICE_NONE: unchanged */
    bool copy, non_blocking;
    struct value format; /* None: preserve_format */
};

static bool is_on_device(struct device a, struct device b)
{
    int32_t i = a.index < 0 ? 0 : a.index, j = b.index < 0 ? 0 : b.index;
    return a.type == b.type && (i == j || a.type == DEVICE_CPU || a.type == DEVICE_META);
}

/* to_impl (aten/src/ATen/native/TensorConversions.cpp): returns x itself when nothing changes. */
static struct value apply_conversion(struct call *c, struct value value,
                                     const struct tensor_conversion *to)
{
    struct tensor x = value_as_tensor(c, value);
    if (c->failed)
        return value_none();
    bool nested = python_decomposes(c) && !in_kernel(c);
    if (nested)
        count_dispatches(c, 1); /* aten.to.dtype */
    bool dtype = to->dtype != DTYPE_NONE && to->dtype != x.meta->dtype;
    bool device = to->device.type != DEVICE_NONE && !is_on_device(to->device, x.meta->device);
    bool format =
        to->format.kind == VALUE_MEMORY_FORMAT && to->format.u.memory_format != FORMAT_PRESERVE;
    if (format && !dtype && !device && !to->copy)
        format = suggest_format(c, x) != to->format.u.memory_format;
    if (!dtype && !device && !format && !to->copy) { /* asks for the device (to_will_alias) */
        if (nested)
            count_dispatches(c, 1);
        else
            count_devices(c, 1);
        return value;
    }
    struct keyword keywords[4];
    uint32_t n = 0;
    if (to->dtype != DTYPE_NONE)
        keywords[n++] =
            (struct keyword){ STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = to->dtype } };
    if (to->device.type != DEVICE_NONE)
        keywords[n++] =
            (struct keyword){ STR("device"), { .kind = VALUE_DEVICE, .u.device = to->device } };
    if (to->non_blocking)
        keywords[n++] = (struct keyword){ STR("non_blocking"), py_bool(true) };
    if (to->format.kind == VALUE_MEMORY_FORMAT)
        keywords[n++] = (struct keyword){ STR("memory_format"), to->format };
    return py_op_keywords(c, "aten._to_copy", &value, 1, keywords, n);
}

/* Reads one of to()'s positional arguments: a device, a dtype, a tensor, then two booleans. */
static bool read_conversion(struct call *c, struct tensor_conversion *to, struct value value,
                            uint32_t *booleans)
{
    struct device device;
    int64_t index;
    switch (value.kind) {
    case VALUE_NONE: return true;
    case VALUE_DTYPE: to->dtype = value.u.dtype; return true;
    case VALUE_DEVICE: to->device = ops_pin_device(c->ops, value.u.device); return true;
    case VALUE_STRING:
        if (!device_parse(value.u.text, &device))
            return refuse(c, "RuntimeError", "Invalid device string: '%.*s'",
                          STR_ARG(value.u.text));
        to->device = ops_pin_device(c->ops, device);
        return true;
    case VALUE_INT:
        if (!sym_to_i64(c->pool, value.u.sym, &index))
            return refuse(c, "TypeError", "to(): a device is expected");
        to->device = (struct device){ DEVICE_CUDA, (int32_t)index };
        return true;
    case VALUE_TENSOR:
        to->dtype = value.u.tensor.meta->dtype;
        to->device = value.u.tensor.meta->device;
        return true;
    case VALUE_BOOL:
        if ((*booleans)++)
            to->copy = py_truth(c, value);
        else
            to->non_blocking = py_truth(c, value);
        return true;
    default: return refuse(c, "TypeError", "to() received an invalid combination of arguments");
    }
}

/* self, *args, device, dtype, tensor, non_blocking, copy, memory_format */
bool python_to(struct call *c)
{
    struct tensor_conversion to = { .dtype = DTYPE_NONE, .format = arg(c, 7) };
    struct value rest = arg(c, 1);
    uint32_t booleans = 0;
    for (uint32_t i = 0; value_is_sequence(rest) && i < rest.n; i++)
        if (!read_conversion(c, &to, rest.u.items[i], &booleans))
            return false;
    for (uint32_t i = 2; i < 5; i++)
        if (!read_conversion(c, &to, arg(c, i), &booleans))
            return false;
    to.non_blocking = to.non_blocking || py_truth(c, arg(c, 5));
    to.copy = to.copy || py_truth(c, arg(c, 6));
    return ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* self, memory_format: float(), half(), bool() ...; the row's base is the dtype. */
bool python_to_dtype(struct call *c)
{
    struct tensor_conversion to = { .dtype = dtype_by_python_name(str_of(row_base(c))),
                                    .format = arg(c, 1) };
    return ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* self, device, non_blocking, memory_format: cuda(), cpu() */
bool python_to_device(struct call *c)
{
    struct tensor_conversion to = { .dtype = DTYPE_NONE, .format = arg(c, 3) };
    uint32_t booleans = 0;
    if (str_is(str_of(row_base(c)), "cpu"))
        to.device = (struct device){ DEVICE_CPU, -1 };
    else
        to.device = (struct device){ DEVICE_CUDA, 0 };
    return read_conversion(c, &to, arg(c, 1), &booleans) &&
           ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* self, dtype, non_blocking: without dtype, type() returns the type's name. */
bool python_type(struct call *c)
{
    struct tensor_conversion to = { .dtype = DTYPE_NONE };
    struct value type = arg(c, 1);
    if (type.kind == VALUE_NONE)
        return ret_call(c, (struct value){ .kind = VALUE_STRING, .u.text = STR("torch.Tensor") });
    if (type.kind == VALUE_DTYPE) {
        to.dtype = type.u.dtype;
        return ret_call(c, apply_conversion(c, arg(c, 0), &to));
    }
    if (type.kind != VALUE_STRING && type.kind != VALUE_OPAQUE && type.kind != VALUE_FUNCTION)
        return refuse(c, "TypeError", "dtype must be a type, str, or dtype object");
    /* such as "torch.cuda.FloatTensor" */
    struct str text = type.u.text;
    bool cuda = str_find(text, STR("cuda.")) < text.n;
    to.device = cuda ? (struct device){ DEVICE_CUDA, 0 } : (struct device){ DEVICE_CPU, -1 };
    for (int dtype = 1; dtype < DTYPE_COUNT; dtype++) {
        char name[40];
        int n = snprintf(name, sizeof name, "%sTensor", dtype_scalar_name((enum dtype)dtype));
        if (n > 6 && str_ends(text, (struct str){ name, (size_t)n }))
            to.dtype = (enum dtype)dtype;
    }
    return ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* self, other */
bool python_type_as(struct call *c)
{
    struct tensor_conversion to = { .dtype = DTYPE_NONE };
    uint32_t booleans = 0;
    count_devices(c, 1); /* of the other's options */
    return read_conversion(c, &to, arg(c, 1), &booleans) &&
           ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* Returns x itself: requires_grad_(), share_memory_(), retain_grad() ... */
bool python_self(struct call *c)
{
    return ret_call(c, arg(c, 0));
}

bool python_none(struct call *c)
{
    return ret_none(c);
}

/* --- Tensors made of Python's numbers --- */

enum { MAX_NESTED = 32 };

struct data {
    sym_id sizes[MAX_NESTED];
    uint32_t ndim;
    enum dtype dtype;
    bool integers; /* Python's integers, over which any tensor or float prevails */
};

static enum dtype inferred_dtype(struct value value)
{
    switch (value.kind) {
    case VALUE_INT: return DTYPE_I64;
    case VALUE_FLOAT: return DTYPE_F32;
    case VALUE_BOOL: return DTYPE_B8;
    case VALUE_COMPLEX: return DTYPE_C64;
    case VALUE_TENSOR: return value.u.tensor.meta->dtype;
    default: return DTYPE_NONE;
    }
}

/* compute_sizes and infer_scalar_type (torch/csrc/utils/tensor_new.cpp). */
static void infer_data(struct call *c, struct value value, uint32_t depth, struct data *data)
{
    if (depth >= MAX_NESTED) {
        refuse(c, "ValueError", "too many dimensions '%s'", "list");
        return;
    }
    if (value.kind == VALUE_TENSOR && depth + value.u.tensor.meta->ndim <= MAX_NESTED)
        for (uint32_t i = 0; i < value.u.tensor.meta->ndim; i++)
            data->sizes[depth + i] = value.u.tensor.meta->size[i];
    if (!value_is_sequence(value)) {
        enum dtype dtype = inferred_dtype(value);
        data->ndim = depth + (value.kind == VALUE_TENSOR ? value.u.tensor.meta->ndim : 0);
        data->dtype = data->dtype == DTYPE_NONE ? dtype : promote(data->dtype, dtype);
        if (dtype == DTYPE_NONE)
            refuse(c, "TypeError", "a number is expected");
        return;
    }
    data->sizes[depth] = num(c, value.n);
    data->ndim = depth + 1;
    for (uint32_t i = 0; i < value.n && !c->failed; i++)
        infer_data(c, value.u.items[i], depth + 1, data);
}

/* Collects the elements in order as 0-dim tensors. False: one has dimensions. */
static bool take_elements(struct call *c, struct value value, const struct keyword *options,
                          struct value *to, uint32_t *n, uint32_t most)
{
    if (value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim)
        return false;
    if (!value_is_sequence(value) && *n < most) {
        const char *name =
            value.kind == VALUE_TENSOR ? "aten._to_copy.default" : "aten.scalar_tensor.default";
        to[(*n)++] = call_op_keywords(c, name, &value, 1, options, 2);
        return !c->failed;
    }
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n; i++)
        if (!take_elements(c, value.u.items[i], options, to, n, most))
            return false;
    return value_is_sequence(value);
}

/* Makes the same tensor by calls of operators, for observers that compute nested calls. */
static struct value computed_data(struct call *c, struct value value, enum dtype dtype,
                                  struct device device, const struct data *data)
{
    struct keyword options[] = {
        { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = device } },
    };
    int64_t n;
    uint32_t count = 0;
    if (!sym_to_i64(c->pool, product(c, data->sizes, data->ndim), &n) || n < 1 || n > UINT16_MAX)
        return value_none();
    struct value *items = ops_values(c->ops, (size_t)n), *sizes = ops_values(c->ops, data->ndim);
    if (!items || !sizes || !take_elements(c, value, options, items, &count, (uint32_t)n) ||
        count != n)
        return value_none();
    for (uint32_t i = 0; i < data->ndim; i++)
        sizes[i] = value_int(data->sizes[i]);
    struct value list = value_items(VALUE_LIST, items, count);
    struct value args[] = { call_op(c, "aten.stack.default", &list, 1),
                            value_items(VALUE_LIST, sizes, data->ndim) };
    return call_op(c, "aten.view.default", args, 2);
}

static struct value from_data(struct call *c, struct value value, enum dtype dtype,
                              struct device device)
{
    struct data data = { .dtype = DTYPE_NONE };
    infer_data(c, value, 0, &data);
    if (c->failed)
        return value_none();
    if (dtype == DTYPE_NONE)
        dtype = data.dtype == DTYPE_NONE ? DTYPE_F32 : data.dtype;
    if (c->ops->nested_observer) {
        struct value computed = computed_data(c, value, dtype, device, &data);
        if (c->failed || computed.kind == VALUE_TENSOR)
            return computed;
    }
    struct tensor x = new_tensor(c, dtype, device, data.sizes, data.ndim);
    if (c->failed)
        return value_none();
    x.storage = c->ops->next_storage++;
    return value_tensor(x);
}

struct tensor python_data(struct call *c, struct value data, enum dtype dtype, struct device device)
{
    return value_as_tensor(c, from_data(c, data, dtype, device));
}

static bool arg_device_of(struct call *c, uint32_t i, struct device *device)
{
    struct tensor_conversion to = { .device = *device };
    uint32_t booleans = 0;
    if (!read_conversion(c, &to, arg(c, i), &booleans))
        return false;
    *device = to.device;
    return true;
}

/* data, dtype, device, requires_grad, pin_memory */
bool python_tensor_of(struct call *c)
{
    struct device device = { DEVICE_CPU, -1 };
    struct value data = arg(c, 0);
    if (data.kind == VALUE_TENSOR)
        device = data.u.tensor.meta->device;
    if (!arg_device_of(c, 2, &device))
        return false;
    struct value x = from_data(c, data, arg_dtype(c, 1, DTYPE_NONE), device);
    return ret_call(c, x);
}

/* The elements become constants: recursive_store of torch/csrc/utils/tensor_new.cpp calls
 * guard_int() and guard_float(). */
bool python_specialize(struct call *c, struct value data, unsigned depth)
{
    bool number = value_is_number(data) && data.u.sym > SYM_ID_TRUE;
    if (number && !c->failed &&
        env_evaluate(c->env, data.u.sym, SYM_NONE, false, SYM_NONE) == SYM_NONE)
        return call_raised(c);
    for (uint32_t i = 0; value_is_sequence(data) && i < data.n && depth < TENSOR_MAX_DIM; i++)
        if (!python_specialize(c, data.u.items[i], depth + 1))
            return false;
    return !c->failed;
}

/* data, dtype, device: returns a tensor unchanged if possible. */
bool python_as_tensor(struct call *c)
{
    struct tensor_conversion to = { .dtype = arg_dtype(c, 1, DTYPE_NONE) };
    uint32_t booleans = 0;
    if (arg(c, 0).kind != VALUE_TENSOR)
        return python_specialize(c, arg(c, 0), 0) && python_tensor_of(c);
    return read_conversion(c, &to, arg(c, 2), &booleans) &&
           ret_call(c, apply_conversion(c, arg(c, 0), &to));
}

/* self, data, dtype, device, requires_grad */
bool python_new_tensor(struct call *c)
{
    struct tensor self = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    struct device device = self.meta->device;
    if (!arg_device_of(c, 3, &device) || !python_specialize(c, arg(c, 1), 0))
        return false;
    return ret_call(c, from_data(c, arg(c, 1), arg_dtype(c, 2, self.meta->dtype), device));
}

/* self, *sizes: the legacy constructor */
bool python_new(struct call *c)
{
    struct value x = arg(c, 0), sizes = arg(c, 1);
    return ret_call(c, py_call(c, "new_empty", (struct value[]){ x, sizes }, 2));
}

/* torch._refs.tensor: makes numbers by scalar_tensor, so that symbols remain. */
bool python_refs_tensor(struct call *c)
{
    struct device device = { DEVICE_CPU, -1 };
    struct tensor_conversion to = { .dtype = DTYPE_NONE };
    struct value data = arg(c, 0);
    if (!value_is_number(data))
        return python_tensor_of(c);
    if (!arg_device_of(c, 2, &device))
        return false;
    struct keyword keyword = {
        STR("dtype"),
        { .kind = VALUE_DTYPE, .u.dtype = arg_dtype(c, 1, inferred_dtype(data)) },
    };
    to.device = device;
    struct value x = py_call_keywords(c, "scalar_tensor", &data, 1, &keyword, 1);
    return !c->failed && ret_call(c, apply_conversion(c, x, &to));
}
