#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"

/* --- _maybe_broadcast of torch/_refs/__init__.py --- */

static bool should_expand(struct call *c, const struct tensor_meta *meta, const sym_id *shape,
                          uint32_t ndim)
{
    if (meta->ndim != ndim)
        return true;
    sym_id one = num(c, 1);
    for (uint32_t i = 0; i < ndim && !c->failed; i++) {
        sym_id x = meta->size[i], y = shape[i];
        if (x == y && is_number(c, x))
            continue;
        if (guard_or_false(c, py_ne(c, x, y)))
            return true;
        sym_id x_one = eq(c, x, one), y_one = eq(c, y, one);
        if (!guard_or_false(c, sym_and(c->pool, x_one, y_one)) &&
            guard_or_false(c, sym_or(c->pool, x_one, y_one)))
            return true;
        sym_id same = py_eq(c, x, y);
        if (same != SYM_ID_TRUE)
            check(c, same, "RuntimeError",
                  "sizes assumed to be the same due to unbacked broadcasting semantics");
    }
    return false;
}

static bool is_cpu_scalar(const struct call *c, const struct tensor_meta *meta)
{
    return meta->ndim == 0 && meta->device.type == DEVICE_CPU && !in_kernel(c);
}

static struct value size_list(struct call *c, const sym_id *sizes, uint32_t n)
{
    struct value *items = values(c, n ? n : 1);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = value_int(sizes[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

static bool broadcast_operands(struct call *c, struct value *operands, uint32_t n,
                               bool preserve_cpu_scalars)
{
    sym_id shape[TENSOR_MAX_DIM];
    uint32_t ndim;
    struct tensor *x = scratch(c, (n + 1) * sizeof(*x));
    if (!x || c->failed)
        return false;
    uint32_t kept = tensors_among(c, operands, n, x);
    if (!broadcast_shapes(c, x, kept, shape, &ndim))
        return false;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (operands[i].kind != VALUE_TENSOR)
            continue;
        const struct tensor_meta *meta = operands[i].u.tensor.meta;
        if ((preserve_cpu_scalars && is_cpu_scalar(c, meta)) ||
            !should_expand(c, meta, shape, ndim) || c->failed)
            continue;
        struct value args[] = { operands[i], size_list(c, shape, ndim) };
        operands[i] = call_op(c, "aten.expand.default", args, 2);
    }
    return !c->failed;
}

bool maybe_broadcast(struct call *c, struct value *operands, uint32_t n)
{
    return broadcast_operands(c, operands, n, true);
}

/* broadcast_tensors of torch/_refs/__init__.py, which is the operator's Python implementation. */
bool rule_broadcast_tensors(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    struct value *operands = values(c, n + 1);
    for (uint32_t i = 0; operands && i < n; i++)
        operands[i] = value_tensor(x[i]);
    return operands && broadcast_operands(c, operands, n, false) &&
           ret_value(c, value_items(VALUE_LIST, operands, n));
}

/* --- Types --- */

static bool is_whole(enum dtype dtype)
{
    return dtype_is_integer(dtype) || dtype == DTYPE_B8;
}

/* dtype_to_type_ctor converts a Python number to the type of the dtype. */
static struct value convert_number(struct call *c, struct value x, enum dtype dtype)
{
    if (!value_is_number(x) || !is_number(c, x.u.sym) || dtype_is_complex(dtype))
        return x;
    double value = x.u.sym == SYM_ID_TRUE ? 1 : sym_to_double(c->pool, x.u.sym);
    if (x.u.sym == SYM_ID_FALSE)
        value = 0;
    if (dtype == DTYPE_B8)
        return value_sym(VALUE_BOOL, sym_boolean(value != 0));
    if (dtype_is_float(dtype))
        return x.kind == VALUE_FLOAT ? x : value_sym(VALUE_FLOAT, sym_float(c->pool, value));
    bool fits = value > -9e18 && value < 9e18;
    return x.kind == VALUE_INT || !fits ? x : value_int(num(c, (int64_t)value));
}

struct value maybe_convert(struct call *c, struct value x, enum dtype dtype)
{
    if (c->failed)
        return x;
    if (x.kind != VALUE_TENSOR)
        return convert_number(c, x, dtype);
    if (x.u.tensor.meta->dtype == dtype)
        return x;
    struct value args[] = { x, { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    return call_op(c, "prims.convert_element_type.default", args, 2);
}

struct tensor reference_step(struct call *c, const char *prim, const struct value *operands,
                             uint32_t n, enum promotion promotion)
{
    struct tensor none = { 0 };
    enum dtype compute, result;
    struct value *x = values(c, n + 1);
    if (!x)
        return none;
    c->in_kernel = !c->symbolic;
    elementwise_dtypes(c, operands, n, promotion, &compute, &result);
    for (uint32_t i = 0; i < n; i++)
        x[i] = maybe_convert(c, operands[i], compute);
    if (c->failed || (n > 1 && !maybe_broadcast(c, x, n)))
        return none;
    struct value out = { .kind = VALUE_TENSOR, .u.tensor = call_tensor(c, prim, x, n) };
    if (c->failed)
        return none;
    out = maybe_convert(c, out, result);
    return c->failed ? none : out.u.tensor;
}

/* --- In place and out= --- */

bool is_in_place(const struct call *c)
{
    return c->op->writes && c->op->schema.args[0].written;
}

/* utils.can_safe_cast_to */
static bool casts_safely(enum dtype from, enum dtype to)
{
    if (dtype_is_complex(to))
        return true;
    if (dtype_is_float(to))
        return !dtype_is_complex(from);
    if (dtype_is_integer(to))
        return dtype_is_integer(from) || from == DTYPE_B8;
    return from == DTYPE_B8;
}

static bool surely_same_shape(struct call *c, const struct tensor_meta *a,
                              const struct tensor_meta *b)
{
    bool same = a->ndim == b->ndim;
    for (uint32_t i = 0; same && i < a->ndim && !c->failed; i++)
        same = !guard_or_true(c, py_ne(c, a->size[i], b->size[i]));
    return same;
}

/* Returns the index of the first argument that is written, or n_args. */
static uint32_t written_arg(const struct call *c)
{
    uint32_t i = 0;
    while (i < c->n_args && !c->op->schema.args[i].written)
        i++;
    return i;
}

/* Returns the number of bytes from the first element to the last. */
static sym_id spanned_bytes(struct call *c, const struct tensor_meta *meta)
{
    sym_id elements = num(c, 1), one = elements;
    for (uint32_t i = meta->ndim; i-- > 0;)
        elements = add(c, mul(c, sub(c, meta->size[i], one), meta->stride[i]), elements);
    return mul(c, elements, num(c, (int64_t)dtype_size(meta->dtype)));
}

/* out.resize_(shape) returns a contiguous tensor, whose storage grows where it is too small. */
static struct tensor resize_out(struct call *c, struct tensor out, const struct tensor_meta *to)
{
    sym_id strides[TENSOR_MAX_DIM], size = num(c, (int64_t)dtype_size(out.meta->dtype));
    guard_bool(c, ne(c, numel(c, out), num(c, 0))); /* The guard of out_wrapper's warning */
    contiguous_strides(c, to->size, to->ndim, strides);
    sym_id bytes = mul(c, product(c, to->size, to->ndim), size);
    guard_bool(c, gt(c, bytes, spanned_bytes(c, out.meta)));
    return new_view(c, out, to->size, strides, to->ndim, out.meta->offset);
}

/* register_inplace of torch/_decomp/decompositions.py only copies. */
static bool copies_unchecked(const struct call *c)
{
    static const char *const names[] = { "__ilshift__", "hardsigmoid_", "hardtanh_", "leaky_relu_",
                                         "logit_",      "round_",       "silu_" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (str_is(c->op->schema.base, names[i]))
            return true;
    return false;
}

bool ret_pointwise(struct call *c, struct value out)
{
    uint32_t at = c->op->writes ? written_arg(c) : c->n_args;
    if (c->failed || eager(c) || out.kind != VALUE_TENSOR || at == c->n_args ||
        c->args[at].kind != VALUE_TENSOR)
        return ret_value(c, out);
    struct value into[] = { c->args[at], out };
    const struct tensor_meta *to = into[0].u.tensor.meta, *made = out.u.tensor.meta;
    if (!surely_same_shape(c, to, made)) {
        if (c->failed || is_in_place(c))
            return ret_value(c, out);
        into[0] = value_tensor(resize_out(c, into[0].u.tensor, made));
        if (c->failed)
            return false;
    }
    if (!require(c, copies_unchecked(c) || casts_safely(made->dtype, to->dtype), "RuntimeError",
                 "Attempting to cast from %s to out tensor with dtype %s, but this can't be cast "
                 "because it is not safe!",
                 dtype_python_name(made->dtype), dtype_python_name(to->dtype)))
        return false;
    call_op(c, "aten.copy_.default", into, 2);
    return ret_value(c, into[0]);
}

/* --- Prims: _prim_elementwise_meta of torch/_prims/__init__.py --- */

static bool check_dtypes(struct call *c, const struct tensor *x, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (x[i].meta->dtype != x[0].meta->dtype)
            return refuse(c, "RuntimeError",
                          "Tensor with dtype %s is not the expected dtype of %s!",
                          dtype_python_name(x[i].meta->dtype), dtype_python_name(x[0].meta->dtype));
    return true;
}

/* check_same_shape without 0-dim CPU tensors. *first becomes the meta that has the shape. */
static bool check_shapes(struct call *c, const struct tensor *x, uint32_t n,
                         const struct tensor_meta **first)
{
    *first = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor_meta *meta = x[i].meta;
        if (is_cpu_scalar(c, meta))
            continue;
        if (!*first)
            *first = meta;
        sym_id same = sym_boolean(meta->ndim == (*first)->ndim);
        for (uint32_t d = 0; d < meta->ndim && same != SYM_ID_FALSE; d++)
            same = sym_and(c->pool, same, py_eq(c, (*first)->size[d], meta->size[d]));
        if (same != SYM_ID_TRUE && !guard_bool(c, same))
            return c->failed || refuse(c, "RuntimeError",
                                       "Shape torch.Size(%s) is not the expected shape "
                                       "torch.Size(%s)!",
                                       sizes_text(c, meta->size, meta->ndim),
                                       sizes_text(c, (*first)->size, (*first)->ndim));
    }
    if (!*first && n)
        *first = x[0].meta;
    return !c->failed;
}

/* Finds the device of the first tensor that is not a 0-dim CPU tensor. Calls check_same_device,
 * except in a kernel, where the dispatcher has checked the devices. */
static bool find_device(struct call *c, const struct tensor *x, uint32_t n, struct device *ret)
{
    bool found = false;
    *ret = n ? x[0].meta->device : (struct device){ DEVICE_CPU, -1 };
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor_meta *meta = x[i].meta;
        if (meta->ndim == 0 && meta->device.type == DEVICE_CPU)
            continue;
        if (found && !device_equal(*ret, meta->device) && !in_kernel(c))
            return refuse(c, "RuntimeError", "Tensor is not on the expected device!");
        if (!found)
            *ret = meta->device;
        found = true;
    }
    return true;
}

struct tensor prim_elementwise(struct call *c, const struct value *operands, uint32_t n,
                               enum dtype dtype)
{
    struct tensor none = { 0 };
    struct tensor *x = scratch(c, (n + 1) * sizeof(*x));
    if (!x || c->failed)
        return none;
    uint32_t kept = tensors_among(c, operands, n, x), perm[TENSOR_MAX_DIM] = { 0 };
    const struct tensor_meta *first;
    struct device device;
    if (!find_device(c, x, kept, &device) || !check_shapes(c, x, kept, &first) || !first)
        return none;
    sym_id strides[TENSOR_MAX_DIM];
    elementwise_permutation(c, x, kept, perm);
    if (c->failed)
        return none;
    cached_permuted_strides(c, dtype, device, first->size, first->ndim, perm, strides);
    return new_tensor_permuted(c, dtype, device, first->size, strides, first->ndim);
}

/* _prim_elementwise_meta of numbers only: TensorMeta(number), a tensor without dimensions. */
static struct tensor prim_of_numbers(struct call *c, const struct value *operands, uint32_t n)
{
    enum dtype dtype = (c->param & POINTWISE_KIND) == PROMOTE_ALWAYS_BOOL ? DTYPE_B8 : DTYPE_I64;
    for (uint32_t i = 0; i < n && dtype != DTYPE_B8; i++)
        if (operands[i].kind == VALUE_FLOAT)
            dtype = DTYPE_F32;
    return new_tensor(c, dtype, (struct device){ DEVICE_CPU, -1 }, NULL, 0);
}

/* The prims whose operands have one dtype. call.param is the promotion that gives the result's
 * dtype. */
bool rule_prim_elementwise(struct call *c)
{
    uint32_t n = (uint32_t)c->param >> POINTWISE_OPERANDS_SHIFT & 0xf;
    struct tensor *x = scratch(c, (n + 1) * sizeof(*x));
    if (!x)
        return false;
    uint32_t kept = tensors_among(c, c->args, n, x);
    if (!kept)
        return ret_tensor(c, prim_of_numbers(c, c->args, n));
    if (!check_dtypes(c, x, kept))
        return false;
    enum dtype dtype = x[0].meta->dtype;
    for (uint32_t i = 0; i < kept; i++)
        if (!is_cpu_scalar(c, x[i].meta)) {
            dtype = x[i].meta->dtype;
            break;
        }
    switch ((enum promotion)(c->param & POINTWISE_KIND)) {
    case PROMOTE_ALWAYS_BOOL: dtype = DTYPE_B8; break;
    case PROMOTE_INT_TO_FLOAT: dtype = is_whole(dtype) ? DTYPE_F32 : dtype; break;
    case PROMOTE_COMPLEX_TO_FLOAT: dtype = dtype_real(dtype); break;
    default: break;
    }
    return ret_tensor(c,
                      count_made(c, "aten.empty_permuted", prim_elementwise(c, c->args, n, dtype)));
}
