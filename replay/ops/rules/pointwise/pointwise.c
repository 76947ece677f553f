/* The rule of most pointwise operators. The row of an operator has its promotion and number of
 * operands. */
#include "replay/ops/rules/pointwise/pointwise.h"
#include "replay/ops/dispatch/context.h"

#include <string.h>

uint32_t pointwise_operands(const struct call *c)
{
    return (uint32_t)(c->param & POINTWISE_OPERANDS) >> POINTWISE_OPERANDS_SHIFT;
}

enum promotion pointwise_kind(const struct call *c)
{
    return (enum promotion)(c->param & POINTWISE_KIND);
}

enum dtype plain_dtype(struct call *c, const struct value *operands, uint32_t n,
                       enum promotion promotion)
{
    enum dtype dtype = result_type(c, operands, n);
    bool whole = dtype_is_integer(dtype) || dtype == DTYPE_B8;
    switch (promotion) {
    case PROMOTE_INT_TO_FLOAT: return whole ? DTYPE_F32 : dtype;
    case PROMOTE_ALWAYS_BOOL: return DTYPE_B8;
    case PROMOTE_COMPLEX_TO_FLOAT: return dtype_real(dtype);
    case PROMOTE_BOOL_TO_LONG: return dtype == DTYPE_B8 ? DTYPE_I64 : dtype;
    default: return dtype;
    }
}

/* The prims whose name differs from the operator's. */
static const struct {
    const char *op, *prim;
} prim_names[] = {
    { "bitwise_left_shift", "shift_left" },
    { "bitwise_right_shift", "shift_right_arithmetic" },
    { "div", "div" },
    { "erfinv", "erf_inv" },
    { "i0", "bessel_i0" },
    { "isnan", "ne" },
    { "special_bessel_j0", "bessel_j0" },
    { "special_bessel_j1", "bessel_j1" },
    { "special_erfcx", "erfcx" },
    { "special_i0e", "bessel_i0e" },
    { "special_i1", "bessel_i1" },
    { "special_i1e", "bessel_i1e" },
    { "special_ndtri", "ndtri" },
    { "special_spherical_bessel_j0", "spherical_bessel_j0" },
    { "special_zeta", "zeta" },
    { "true_divide", "div" },
};

/* "aten.add_.Tensor" -> "prims.add.default" */
static const char *prim_of(struct call *c)
{
    struct str name = str_from(op_name(c->op), 5);
    name = str_first(name, str_find_char(name, '.'));
    if (name.n && name.p[name.n - 1] == '_' && name.p[0] != '_')
        name.n--;
    for (size_t i = 0; i < sizeof prim_names / sizeof prim_names[0]; i++)
        if (str_is(name, prim_names[i].op))
            name = str_of(prim_names[i].prim);
    char *ret = scratch(c, name.n + 16);
    if (!ret)
        return "";
    memcpy(ret, "prims.", 6);
    memcpy(ret + 6, name.p, name.n);
    memcpy(ret + 6 + name.n, ".default", 9);
    return ret;
}

/* elementwise_meta of torch/_meta_registrations.py makes the reference's steps inside the
 * kernel, without dispatches. */
static struct tensor meta_step(struct call *c, const struct value *operands, uint32_t n,
                               enum promotion promotion)
{
    enum dtype result;
    struct value *x = values(c, n + 1);
    c->in_kernel = true;
    elementwise_dtypes(c, operands, n, promotion, NULL, &result);
    if (!x || c->failed)
        return (struct tensor){ 0 };
    for (uint32_t i = 0; i < n; i++)
        x[i] = maybe_convert(c, operands[i], result);
    maybe_broadcast(c, x, n);
    return prim_elementwise(c, x, n, result);
}

static struct tensor with_symbols(struct call *c)
{
    uint32_t n = pointwise_operands(c);
    enum promotion kind = pointwise_kind(c);
    enum dtype dtype;
    if (c->param & POINTWISE_LIKE) {
        elementwise_dtypes(c, c->args, n, kind, NULL, &dtype);
        return new_like_dtype(c, arg_tensor(c, 0), dtype);
    }
    return c->param & POINTWISE_META ? meta_step(c, c->args, n, kind)
                                     : reference_step(c, prim_of(c), c->args, n, kind);
}

struct tensor elementwise(struct call *c)
{
    uint32_t n = pointwise_operands(c);
    if (!eager(c))
        return with_symbols(c);
    if (!check_refusals(c))
        return (struct tensor){ 0 };
    struct tensor x = arg_tensor(c, 0); /* unary_op_impl_with_complex_to_float calls empty_like. */
    if (pointwise_kind(c) == PROMOTE_COMPLEX_TO_FLOAT && dtype_is_complex(x.meta->dtype) &&
        !c->op->writes)
        return new_like_dtype(c, x, dtype_real(x.meta->dtype));
    return iterator_promoted(c, c->args, n, c->param & POINTWISE_FIRST ? 1 : n, pointwise_kind(c));
}

bool rule_elementwise(struct call *c)
{
    struct tensor out = elementwise(c);
    bool checked_only = (c->param & POINTWISE_META) && is_in_place(c);
    return checked_only ? ret_tensor(c, out) : ret_pointwise(c, value_tensor(out));
}

/* --- The fast path of torch/_subclasses/fake_impls.py, make_fast_binary_impl --- */

enum { FAST_OPERANDS = 2 };

static bool fast_shape(struct call *c, const struct value *operands, uint32_t n_operands,
                       sym_id *shape, uint32_t *n)
{
    bool first = true;
    *n = 0;
    for (uint32_t i = 0; i < n_operands && !c->failed; i++) {
        const struct tensor_meta *meta =
            operands[i].kind == VALUE_TENSOR ? operands[i].u.tensor.meta : NULL;
        uint32_t ndim = meta ? meta->ndim : 0;
        sym_id merged[TENSOR_MAX_DIM];
        if (first && ndim)
            memcpy(shape, meta->size, ndim * sizeof(*shape));
        if (first)
            *n = ndim;
        first = false;
        if (!broadcast_fast(c, shape, *n, meta ? meta->size : NULL, ndim, merged, n))
            return false;
        memcpy(shape, merged, *n * sizeof(*shape));
    }
    return !c->failed;
}

static bool has_shape(struct call *c, struct value operand, const sym_id *shape, uint32_t n)
{
    if (operand.kind != VALUE_TENSOR || operand.u.tensor.meta->ndim != n)
        return false;
    sym_id same = SYM_ID_TRUE;
    for (uint32_t i = 0; i < n; i++)
        same = sym_and(c->pool, same, py_eq(c, operand.u.tensor.meta->size[i], shape[i]));
    return guard_or_false(c, same);
}

/* Returns false where the operands' devices differ. */
static bool fast_device(const struct value *operands, uint32_t n, struct device *ret)
{
    bool found = false, scalar = false;
    *ret = (struct device){ DEVICE_CPU, -1 };
    for (uint32_t i = 0; i < n; i++)
        if (operands[i].kind == VALUE_TENSOR && !found &&
            operands[i].u.tensor.meta->device.type != DEVICE_CPU) {
            *ret = operands[i].u.tensor.meta->device;
            found = true;
        }
    for (uint32_t i = 0; i < n; i++) {
        if (operands[i].kind != VALUE_TENSOR)
            continue;
        const struct tensor_meta *meta = operands[i].u.tensor.meta;
        if (found && !meta->ndim && meta->device.type == DEVICE_CPU) {
            if (scalar)
                return false;
            scalar = true;
        } else if (!device_equal(meta->device, *ret)) {
            return false;
        }
    }
    return true;
}

static enum dtype fast_dtype(struct call *c, const struct value *operands, uint32_t n,
                             enum promotion kind)
{
    enum dtype dtype;
    bool same = kind == PROMOTE_DEFAULT && operands[0].kind == VALUE_TENSOR;
    for (uint32_t i = 1; i < n && same; i++)
        same = operands[i].kind == VALUE_TENSOR &&
               operands[i].u.tensor.meta->dtype == operands[0].u.tensor.meta->dtype;
    if (same)
        return operands[0].u.tensor.meta->dtype;
    elementwise_dtypes(c, operands, n, kind, NULL, &dtype);
    return dtype;
}

static bool has_shape_of_one(struct call *c, const struct value *operands, uint32_t n_operands,
                             const sym_id *shape, uint32_t n)
{
    for (uint32_t i = 0; i < n_operands; i++)
        if (has_shape(c, operands[i], shape, n))
            return true;
    return false;
}

/* Returns the result, or a tensor without meta where PyTorch takes the slow path, whose reason a
 * counter records. */
struct tensor fast_binary(struct call *c, const struct value *operands, uint32_t n_operands,
                          enum promotion kind)
{
    sym_id shape[TENSOR_MAX_DIM];
    struct tensor none = { 0 };
    struct device device;
    uint32_t n;
    count(c, OP_COUNTER_ATTEMPT_FAST);
    if (!fast_shape(c, operands, n_operands, shape, &n))
        return none;
    if (!has_shape_of_one(c, operands, n_operands, shape, n)) {
        count(c, OP_COUNTER_SLOW_BROADCAST);
        return none;
    }
    enum dtype dtype = fast_dtype(c, operands, n_operands, kind);
    if (!fast_device(operands, n_operands, &device)) {
        count(c, OP_COUNTER_SLOW_ERROR);
        return none;
    }
    bool contiguous = true, channels_last = true;
    for (uint32_t i = 0; i < n_operands; i++) {
        if (operands[i].kind != VALUE_TENSOR)
            continue;
        struct tensor x = operands[i].u.tensor;
        contiguous = contiguous && contiguous_or_false(c, x);
        channels_last = channels_last && channels_last_or_false(c, x, FORMAT_CHANNELS_LAST);
    }
    if (c->failed)
        return none;
    if (!contiguous && !channels_last) {
        count(c, OP_COUNTER_SLOW_CONTIGUITY);
        return none;
    }
    if (is_ablated(c, ABLATION_ALWAYS_SLOW))
        return none;
    count(c, contiguous ? OP_COUNTER_FAST_CONTIGUOUS : OP_COUNTER_FAST_CHANNELS_LAST);
    return new_tensor_format(c, dtype, device, shape, n,
                             contiguous ? FORMAT_CONTIGUOUS : FORMAT_CHANNELS_LAST);
}

/* Finds the operands of a pointwise operator: those that its row says, or its tensors. Returns
 * their number, or 0 where there are none, or too many, or the row does not say its promotion. */
static uint32_t fast_operands(struct call *c, struct value *ret)
{
    bool elementwise_row = c->op->rule == rule_elementwise || c->op->rule == rule_arithmetic ||
                           c->op->rule == rule_pointwise_body;
    uint32_t n = 0, leading = elementwise_row ? pointwise_operands(c) : 0;
    if (!elementwise_row || c->op->writes || (c->param & POINTWISE_FAST))
        return 0;
    for (uint32_t i = 0; i < c->n_args; i++) {
        if (leading ? i >= leading : c->args[i].kind != VALUE_TENSOR)
            continue;
        if (n == FAST_OPERANDS)
            return 0;
        ret[n++] = c->args[i];
    }
    return n;
}

bool added_fast_path(struct call *c)
{
    struct value operands[FAST_OPERANDS];
    uint32_t n = fast_operands(c, operands);
    if (!n || eager(c))
        return false;
    struct tensor fast = fast_binary(c, operands, n, pointwise_kind(c));
    if (!fast.meta)
        begin_slow_path(c);
    return fast.meta && ret_tensor(c, fast);
}
