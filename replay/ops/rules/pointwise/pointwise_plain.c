#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"

uint32_t tensors_among(struct call *c, const struct value *values, uint32_t n, struct tensor *ret)
{
    uint32_t kept = 0;
    (void)c;
    for (uint32_t i = 0; i < n; i++)
        if (values[i].kind == VALUE_TENSOR)
            ret[kept++] = values[i].u.tensor;
    return kept;
}

/* --- at::result_type (aten/src/ATen/native/TypeProperties.cpp) --- */

static enum dtype number_dtype(struct value value)
{
    switch (value.kind) {
    case VALUE_INT: return DTYPE_I64;
    case VALUE_FLOAT: return DTYPE_F32;
    case VALUE_COMPLEX: return DTYPE_C64;
    default: return DTYPE_B8;
    }
}

/* combine_categories: operands with dimensions determine the width of the dtype, the others only
 * its category. */
static enum dtype combine(struct call *c, enum dtype higher, enum dtype lower)
{
    if (dtype_is_complex(higher))
        return higher;
    if (dtype_is_float(higher))
        return dtype_is_complex(lower) ? dtype_complex(higher) : higher;
    if (higher == DTYPE_NONE)
        return lower;
    if (lower != DTYPE_NONE &&
        (higher == DTYPE_B8 || dtype_is_float(lower) || dtype_is_complex(lower)))
        return promote_or_refuse(c, higher, lower);
    return higher;
}

enum dtype result_type(struct call *c, const struct value *operands, uint32_t n)
{
    enum dtype with_dims = DTYPE_NONE, zero_dim = DTYPE_NONE, number = DTYPE_NONE;
    for (uint32_t i = 0; i < n; i++) {
        enum dtype *which = &number, dtype;
        if (operands[i].kind == VALUE_TENSOR) {
            dtype = operands[i].u.tensor.meta->dtype;
            which = operands[i].u.tensor.meta->ndim ? &with_dims : &zero_dim;
        } else if (value_is_number(operands[i]) || operands[i].kind == VALUE_COMPLEX) {
            dtype = number_dtype(operands[i]);
        } else {
            continue;
        }
        *which = *which == DTYPE_NONE ? dtype : promote_or_refuse(c, *which, dtype);
    }
    return combine(c, with_dims, combine(c, zero_dim, number));
}

/* --- Shapes --- */

/* Broadcasts the shape in ret with that of meta, as infer_size does. */
static bool broadcast_one(struct call *c, const struct tensor_meta *meta, sym_id *ret,
                          uint32_t *ndim)
{
    sym_id one = num(c, 1), merged[TENSOR_MAX_DIM];
    uint32_t old = *ndim, n = meta->ndim > old ? meta->ndim : old;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t back = n - i;
        sym_id a = back <= old ? ret[old - back] : one;
        sym_id b = back <= meta->ndim ? meta->size[meta->ndim - back] : one;
        if (a != b && a != one && b != one)
            return refuse(c, "RuntimeError",
                          "The size of tensor a (%s) must match the size of tensor b (%s) at "
                          "non-singleton dimension %u",
                          sym_text(c, a), sym_text(c, b), i);
        merged[i] = a == one ? b : a;
    }
    for (uint32_t i = 0; i < n; i++)
        ret[i] = merged[i];
    *ndim = n;
    return true;
}

bool broadcast_plain(struct call *c, const struct tensor *x, uint32_t n, sym_id *ret,
                     uint32_t *ndim)
{
    *ndim = 0;
    for (uint32_t i = 0; i < n; i++)
        if (x[i].meta && !broadcast_one(c, x[i].meta, ret, ndim))
            return false;
    return true;
}

/* TensorIterator's compute_types replaces a CPU operand of another dtype by x.to(dtype), whose
 * strides are those of a dense tensor. */
static struct tensor as_dtype(struct call *c, struct tensor x, enum dtype dtype)
{
    struct tensor_meta *meta = scratch(c, sizeof *meta);
    sym_id *strides = syms(c, x.meta->ndim + 1);
    if (x.meta->dtype == dtype || x.meta->device.type != DEVICE_CPU || !meta || !strides)
        return x;
    like_strides(c, x, strides);
    *meta = *x.meta;
    meta->dtype = dtype;
    meta->stride = strides;
    x.meta = meta;
    return x;
}

struct tensor iterator_promoted(struct call *c, const struct value *operands, uint32_t n,
                                uint32_t n_iterated, enum promotion promotion)
{
    bool same = promotion != PROMOTE_ALWAYS_BOOL && promotion != PROMOTE_COMPLEX_TO_FLOAT;
    enum dtype dtype = plain_dtype(c, operands, n, promotion);
    enum dtype common = same ? dtype : plain_dtype(c, operands, n, PROMOTE_DEFAULT);
    struct value *x = values(c, n + 1);
    for (uint32_t i = 0; x && i < n_iterated && !c->failed; i++) {
        x[i] = operands[i];
        if (x[i].kind == VALUE_TENSOR)
            x[i].u.tensor = as_dtype(c, x[i].u.tensor, common);
    }
    if (!x || c->failed)
        return (struct tensor){ .meta = NULL };
    return iterator_result(c, x, n_iterated, dtype);
}

struct tensor iterator_result(struct call *c, const struct value *operands, uint32_t n,
                              enum dtype dtype)
{
    static const struct tensor_meta number = { .device = { DEVICE_CPU, -1 } };
    struct tensor none = { 0 };
    struct tensor *x = scratch(c, (n + 1) * sizeof(*x));
    if (!x || c->failed)
        return none;
    uint32_t kept = tensors_among(c, operands, n, x), ndim;
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    struct device device = common_device(c, x, kept);
    if (!broadcast_plain(c, x, kept, sizes, &ndim) || c->failed)
        return none;
    /* A number is an operand without dimensions, with which fast_set_up fails. */
    bool numbers = kept < n && ndim;
    if (numbers)
        x[kept] = (struct tensor){ .meta = &number };
    iterator_strides(c, x, kept + numbers, sizes, ndim, strides);
    return new_tensor_strided(c, dtype, device, sizes, strides, ndim);
}

/* --- Refusals --- */

enum refused_kind { REFUSED_COMPLEX, REFUSED_BOOL, REFUSED_MIXED };

static const struct refusal {
    const char *name;
    enum refused_kind kind;
    const char *type, *text;
} refusals[] = {
#define REFUSAL(name, kind, type, text) { name, REFUSED_##kind, type, text },
#include "replay/ops/rules/pointwise/pointwise_refusals.def"
#undef REFUSAL
};

static bool applies(const struct call *c, enum refused_kind kind)
{
    enum dtype first = DTYPE_NONE;
    for (uint32_t i = 0; i < c->n_args; i++) {
        if (c->args[i].kind != VALUE_TENSOR || c->op->schema.args[i].keyword_only)
            continue;
        enum dtype dtype = c->args[i].u.tensor.meta->dtype;
        first = first == DTYPE_NONE ? dtype : first;
        if ((kind == REFUSED_COMPLEX && dtype_is_complex(dtype)) ||
            (kind == REFUSED_BOOL && dtype == DTYPE_B8) ||
            (kind == REFUSED_MIXED && dtype != first))
            return true;
    }
    return false;
}

bool check_refusals(struct call *c)
{
    struct str base = c->op->schema.base;
    base.n -= base.n && base.p[base.n - 1] == '_';
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (str_is(base, refusals[i].name) && applies(c, refusals[i].kind))
            return refuse(c, refusals[i].type, "%s", refusals[i].text);
    return true;
}

struct tensor plain_body(struct call *c)
{
    uint32_t n = pointwise_operands(c), kept = 0;
    struct value *part = values(c, c->n_args + 1);
    for (uint32_t i = 0; part && i < c->n_args; i++)
        if (n ? i < n : c->args[i].kind == VALUE_TENSOR && !c->op->schema.args[i].keyword_only)
            part[kept++] = c->args[i];
    /* The gradient is the last operand of the kernel's iterator. */
    for (uint32_t i = 1; part && (c->param & POINTWISE_GRAD_LAST) && i < kept; i++) {
        struct value swap = part[i];
        part[i] = part[i - 1];
        part[i - 1] = swap;
    }
    if (!part || !check_refusals(c))
        return (struct tensor){ 0 };
    return iterator_promoted(c, part, kept, c->param & POINTWISE_FIRST ? 1 : kept,
                             pointwise_kind(c));
}
