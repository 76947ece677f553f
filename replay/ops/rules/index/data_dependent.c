/* Sizes and numbers that depend on values. If the values are known, the sizes are the real ones.
 * Otherwise they are symbols of the environment, as torch/_subclasses/fake_impls.py makes them. */
#include <math.h>
#include <string.h>

#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/index/data_dependent.h"
#include "replay/ops/rules/reduce/reduce.h"

bool values_known(struct call *c, struct tensor x)
{
    return !c->symbolic && elements_known(c, x);
}

bool count_known(struct call *c, struct tensor x, int64_t *ret)
{
    if (c->symbolic || !x.data || !x.counted)
        return false;
    memcpy(ret, x.data, sizeof *ret);
    return true;
}

bool may_be_dynamic(struct call *c)
{
    return env_settings(c->env)->allow_dynamic_output_shape_ops ||
           refuse(c, "DynamicOutputShapeException", "%.*s", STR_ARG(op_name(c->op)));
}

sym_id size_max(struct call *c)
{
    return num(c, INT64_MAX - 1); /* sys.maxsize - 1 */
}

static bool env_ranger(void *user, sym_id symbol, struct sym_range *ret)
{
    return env_range(user, symbol, ret);
}

sym_id numel_bound(struct call *c, struct tensor x)
{
    sym_id n = env_replace(c->env, numel(c, x));
    if (is_number(c, n))
        return n;
    struct sym_range range = sym_bound(c->pool, n, env_ranger, c->env);
    return sym_range_ok(range) && range.upper != SYM_ID_INT_OO ? range.upper : size_max(c);
}

sym_id known_size(struct call *c, struct tensor x, enum tensor_memo memo)
{
    c->ops->memo_uses++;
    struct value value = tensor_memo_get(&c->ops->memos, x, memo);
    return value.kind == VALUE_INT ? value.u.sym : SYM_NONE;
}

void remember_size(struct call *c, struct tensor x, enum tensor_memo memo, sym_id size)
{
    if (!c->failed && !tensor_memo_set(&c->ops->memos, x, memo, value_int(size)))
        refuse(c, "MemoryError", "out of memory");
}

/* --- nonzero --- */

static uint64_t count_nonzero(struct tensor x, int64_t n)
{
    uint64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += !element_is_zero(x, (uint64_t)i);
    return count;
}

static sym_id nonzero_size(struct call *c, struct tensor x)
{
    int64_t n;
    sym_id size = known_size(c, x, MEMO_NONZERO);
    if (count_known(c, x, &n))
        return num(c, n);
    if (values_known(c, x) && plain_numel(c, x, &n))
        return num(c, (int64_t)count_nonzero(x, n));
    if (size != SYM_NONE || !may_be_dynamic(c))
        return size;
    if (is_int(c, env_replace(c->env, numel(c, x)), 0))
        size = SYM_ID_ZERO;
    else
        size = new_unbacked_size(c, SYM_NONE, numel_bound(c, x));
    remember_size(c, x, MEMO_NONZERO, size);
    return size;
}

bool rule_nonzero(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct tensor out = arg_tensor(c, 1);
    if (!require(c, !out.meta || dtype_of(out) == DTYPE_I64, "RuntimeError",
                 "nonzero: Expected out tensor to have scalar type Long but got scalar type%s",
                 dtype_scalar_name(dtype_of(out))))
        return false;
    sym_id size = nonzero_size(c, x);
    if (!eager(c))
        count_dispatches(c, 2); /* new_empty_strided, empty_strided */
    sym_id sizes[] = { size, num(c, ndim_of(x)) }, strides[] = { SYM_ID_ONE, size };
    return ret_tensor(c, new_tensor_strided(c, DTYPE_I64, device_of(x), sizes, strides, 2));
}

/* nonzero(x).unbind(1) */
bool rule_nonzero_numpy(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (ndim_of(x) == 0) {
        x = call2(c, "aten.unsqueeze.default", value_tensor(x), value_number(c, 0));
        x.data = arg_tensor(c, 0).data;
        x.counted = arg_tensor(c, 0).counted;
    }
    struct tensor found = call1(c, "aten.nonzero.default", value_tensor(x));
    struct value args[] = { value_tensor(found), value_number(c, 1) };
    return ret_value(c, call_op(c, "aten.unbind.int", args, 2));
}

bool rule_argwhere(struct call *c)
{
    return ret_tensor(c, call1(c, "aten.nonzero.default", arg(c, 0)));
}

/* nonzero_static of torch/_meta_registrations.py */
bool rule_nonzero_static(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id size = arg_sym(c, 1), n = num(c, ndim_of(x)), sizes[] = { size, n };
    if (!check(c, ge(c, size, SYM_ID_ZERO), "RuntimeError",
               "nonzero_static: 'size' must be an non-negative integer"))
        return false;
    if (device_of(x).type != DEVICE_CUDA)
        return ret_tensor(c, new_beside(c, x, DTYPE_I64, sizes, 2));
    sym_id strides[] = { SYM_ID_ONE, size };
    return ret_tensor(c, new_tensor_strided(c, DTYPE_I64, device_of(x), sizes, strides, 2));
}

/* --- masked_select --- */

static bool masked_count(struct call *c, struct tensor x, struct tensor mask, sym_id *ret)
{
    struct tensor pair[] = { x, mask };
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n;
    int64_t ones, all, count;
    if (c->symbolic)
        return false;
    if (!broadcast_shapes(c, pair, 2, sizes, &n))
        return false;
    bool counted = count_known(c, mask, &count);
    if ((!counted && !elements_known(c, mask)) || !plain_numel(c, mask, &ones) ||
        !sym_to_i64(c->pool, product(c, sizes, n), &all))
        return false;
    uint64_t times = ones ? (uint64_t)all / (uint64_t)ones : 0;
    uint64_t found = counted ? (uint64_t)count : count_nonzero(mask, ones);
    *ret = num(c, (int64_t)(found * times));
    return true;
}

bool rule_masked_select(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1), out = arg_tensor(c, 2);
    sym_id size;
    if (!require(c, !eager(c) || dtype_of(mask) == DTYPE_B8, "RuntimeError",
                 "masked_select: expected BoolTensor for mask") ||
        !require(c, !out.meta || dtype_of(out) == dtype_of(x), "RuntimeError",
                 "masked_select(): self and result must have the same scalar type"))
        return false;
    if (!masked_count(c, x, mask, &size)) {
        int64_t bound;
        if (c->failed || !may_be_dynamic(c))
            return false;
        sym_id most = numel_bound(c, x);
        if (sym_to_i64(c->pool, most, &bound) && bound <= 2)
            most = size_max(c);
        size = new_unbacked_size(c, SYM_NONE, most);
        count_dispatches(c, 2); /* new_empty, empty */
    }
    struct tensor result = new_beside(c, x, dtype_of(x), &size, 1);
    return check_out_overlap(c, 2, 2, result) && ret_tensor(c, result);
}

/* --- repeat_interleave --- */

static bool sum_repeats(struct call *c, struct tensor x, int64_t *ret)
{
    int64_t n, value;
    *ret = 0;
    if (count_known(c, x, ret)) /* a negative count means that an element is negative */
        return require(c, *ret >= 0, "RuntimeError", "repeats can not be negative");
    if (!values_known(c, x) || !plain_numel(c, x, &n))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (!element_int(c, x, (uint64_t)i, &value))
            return false;
        else if (!require(c, value >= 0, "RuntimeError", "repeats can not be negative") ||
                 __builtin_add_overflow(*ret, value, ret))
            return false;
    return true;
}

bool rule_repeat_interleave(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t sum;
    sym_id size = arg_sym(c, 1);
    if (!require(c, !eager(c) || ndim_of(x) == 1, "RuntimeError",
                 "repeat_interleave only accept 1D vector as repeat"))
        return false;
    if (!arg_given(c, 1)) {
        if (sum_repeats(c, x, &sum))
            size = num(c, sum);
        else if (c->failed || !may_be_dynamic(c))
            return false;
        else
            size = new_unbacked_size(c, SYM_NONE, SYM_NONE);
    }
    if (!eager(c))
        count_dispatches(c, 2); /* new_empty, empty */
    return ret_tensor(c, new_beside(c, x, dtype_of(x), &size, 1));
}

/* repeat_interleave.self_Tensor of Repeat.cpp, which is CompositeImplicitAutograd. */
bool rule_repeat_interleave_self(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), repeats = arg_tensor(c, 1);
    if (!arg_given(c, 2)) {
        struct value args[] = { value_tensor(x) };
        x = call_tensor(c, "aten.flatten.using_ints", args, 1);
    }
    uint32_t dim = wrap_dim(c, arg_int_or(c, 2, 0), ndim_of(x));
    sym_id length = size_of(x, dim);
    bool one = ndim_of(repeats) == 0 ||
               (ndim_of(repeats) == 1 && guard_or_false(c, eq_int(c, size_of(repeats, 0), 1)));
    if (!require(c, ndim_of(repeats) <= 1, "RuntimeError", "repeats must be 0-dim or 1-dim tensor"))
        return false;
    struct value size = arg(c, 3);
    if (one) {
        int64_t shape = 1, times;
        struct value *to = values(c, 1);
        if (!to)
            return false;
        *to = value_int(length);
        if (size.kind == VALUE_NONE &&
            (count_known(c, repeats, &times) ||
             (values_known(c, repeats) && element_int(c, repeats, 0, &times))))
            size = value_int(mul(c, length, num(c, times)));
        repeats = call2(c, "aten.reshape.default", value_tensor(repeats), ref_dims(c, &shape, 1));
        repeats =
            call2(c, "aten.expand.default", value_tensor(repeats), value_items(VALUE_LIST, to, 1));
    } else if (!check(c, eq(c, size_of(repeats, 0), length), "RuntimeError",
                      "repeats must have the same size as input along dim, but got "
                      "repeats.size(0) = %s and input.size(%u) = %s",
                      sym_text(c, size_of(repeats, 0)), dim, sym_text(c, length))) {
        return false;
    }
    struct value args[] = { value_tensor(repeats) };
    struct keyword keyword = { STR("output_size"), size };
    struct value index = call_op_keywords(c, "aten.repeat_interleave.Tensor", args, 1, &keyword, 1);
    return ret_tensor(
        c, call3(c, "aten.index_select.default", value_tensor(x), value_number(c, dim), index));
}

/* repeat_interleave.self_int expands a new dimension, clones and flattens. */
bool rule_repeat_interleave_int(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!arg_given(c, 2))
        x = call1(c, "aten.flatten.using_ints", value_tensor(x));
    uint32_t dim = wrap_dim(c, arg_int_or(c, 2, 0), ndim_of(x));
    if (!check(c, ge(c, arg_sym(c, 1), SYM_ID_ZERO), "RuntimeError",
               "Repeats must be non-negative"))
        return false;
    x = call2(c, "aten.unsqueeze.default", value_tensor(x), value_number(c, dim + 1));
    uint32_t n = ndim_of(x);
    struct value *to = values(c, n);
    for (uint32_t i = 0; i < n && to; i++)
        to[i] = value_int(i == dim + 1 ? arg_sym(c, 1) : size_of(x, i));
    if (!to || c->failed)
        return false;
    struct value args[] = { value_tensor(
        call2(c, "aten.expand.default", value_tensor(x), value_items(VALUE_LIST, to, n))) };
    struct keyword format = { STR("memory_format"), { .kind = VALUE_MEMORY_FORMAT } };
    format.value.u.memory_format = FORMAT_CONTIGUOUS;
    struct value copy = call_op_keywords(c, "aten.clone.default", args, 1, &format, 1);
    return ret_tensor(c, call3(c, "aten.flatten.using_ints", copy, value_number(c, dim),
                               value_number(c, dim + 1)));
}

/* --- bincount --- */

static bool bincount_size(struct call *c, struct tensor x, sym_id *ret)
{
    int64_t n, value, most = -1, least = 0;
    bool counted = count_known(c, x, &most);
    if ((!counted && !values_known(c, x)) || !plain_numel(c, x, &n) ||
        !sym_to_i64(c->pool, arg_sym(c, 2), &least))
        return false;
    if (!require(c, least >= 0, "RuntimeError", "minlength should be >= 0"))
        return false;
    bool negative = counted && most < -1; /* without elements the maximum is -1 */
    for (int64_t i = 0; i < n && !counted; i++) {
        if (!element_int(c, x, (uint64_t)i, &value))
            return refuse(c, "NotImplementedError", "\"bincount_cpu\" not implemented for '%s'",
                          dtype_scalar_name(dtype_of(x)));
        negative |= value < 0;
        most = value > most ? value : most;
    }
    if (!require(c, !negative && (ndim_of(x) == 1 || n == 0), "RuntimeError",
                 "bincount only supports 1-d non-negative integral inputs.") ||
        !require(c, most < INT64_MAX, "RuntimeError", "bincount: too large"))
        return false;
    *ret = num(c, most + 1 > least ? most + 1 : least);
    return true;
}

bool rule_bincount(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weights = arg_tensor(c, 1);
    enum dtype dtype = !weights.meta                    ? DTYPE_I64
                       : dtype_of(weights) == DTYPE_F32 ? DTYPE_F32
                                                        : DTYPE_F64;
    int64_t n, m;
    sym_id size;
    /* Before torch 2.13 the fake result has the argument's dtype, whatever the weights are. */
    if (!behaves(c->env, BEHAVIOR_BINCOUNT_FOLLOWS_WEIGHTS) && !values_known(c, x) &&
        !count_known(c, x, &n))
        dtype = dtype_of(x);
    if (eager(c) && weights.meta && plain_numel(c, x, &n) && plain_numel(c, weights, &m) &&
        !require(c, n == m && ndim_of(weights) == 1, "RuntimeError",
                 "weights should be 1-d and have the same length as input"))
        return false;
    if (!bincount_size(c, x, &size)) {
        if (c->failed || !may_be_dynamic(c))
            return false;
        size = new_unbacked_size(c, SYM_NONE, SYM_NONE);
        if (!c->failed)
            count_dispatches(c, 2); /* new_empty, empty */
        if (!c->failed)
            check(c, py_ge(c, size, arg_sym(c, 2)), "RuntimeError", "Expected cond to be True");
    }
    return ret_tensor(c, new_beside(c, x, dtype, &size, 1));
}

/* --- item --- */

static bool item_value(struct call *c, struct tensor x, struct value *ret)
{
    int64_t integer;
    double real;
    if (!x.data)
        return false;
    if (dtype_is_complex(dtype_of(x))) {
        struct tensor im = x;
        im.data += dtype_size(dtype_of(x)) / 2;
        *ret = (struct value){ .kind = VALUE_COMPLEX };
        return element_double(c, x, 0, &ret->u.complex.re) &&
               element_double(c, im, 0, &ret->u.complex.im);
    }
    if (dtype_of(x) == DTYPE_B8)
        *ret = value_bool(!element_is_zero(x, 0));
    else if (element_int(c, x, 0, &integer))
        *ret = value_number(c, integer);
    else if (element_double(c, x, 0, &real))
        *ret = value_float(c, real);
    else
        return false;
    return true;
}

static struct value new_item(struct call *c, struct tensor x)
{
    enum value_kind kind = VALUE_INT;
    sym_id e;
    if (dtype_is_float(dtype_of(x))) {
        e = env_create_unbacked_symfloat(c->env);
        kind = VALUE_FLOAT;
    } else if (dtype_of(x) == DTYPE_B8) {
        e = env_create_unbacked_symbool(c->env);
        kind = VALUE_BOOL;
    } else if (dtype_is_complex(dtype_of(x))) {
        refuse(c, "NotImplementedError", "local_scalar_dense/item NYI for %s",
               dtype_python_name(dtype_of(x)));
        return value_none();
    } else {
        e = env_create_unbacked_symint(c->env);
    }
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE); /* reports what was raised */
    return value_sym(kind, e);
}

/* local_scalar_dense of fake_impls.py */
bool rule_local_scalar_dense(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    c->ops->memo_uses++;
    struct value value = tensor_memo_get(&c->ops->memos, x, MEMO_ITEM);
    if (value.kind != VALUE_NONE)
        return ret_value(c, value);
    if (item_value(c, x, &value))
        return ret_value(c, value);
    if (!require(c, env_settings(c->env)->allow_scalar_outputs, "DataDependentOutputException",
                 "%.*s", STR_ARG(op_name(c->op))))
        return false;
    value = new_item(c, x);
    if (!c->failed && !tensor_memo_set(&c->ops->memos, x, MEMO_ITEM, value))
        refuse(c, "MemoryError", "out of memory");
    return ret_value(c, value);
}

/* item of Scalar.cpp */
bool rule_item(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!check(c, eq_int(c, numel(c, x), 1), "RuntimeError",
               "a Tensor with %s elements cannot be converted to Scalar", sym_text(c, numel(c, x))))
        return false;
    return ret_value(c, call_op(c, "aten._local_scalar_dense.default", c->args, 1));
}

/* is_nonzero of TensorProperties.cpp */
bool rule_is_nonzero(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id n = numel(c, x);
    if (!check(c, ne(c, n, SYM_ID_ZERO), "RuntimeError",
               "Boolean value of Tensor with no values is ambiguous") ||
        !check(c, le(c, n, SYM_ID_ONE), "RuntimeError",
               "Boolean value of Tensor with more than one value is ambiguous"))
        return false;
    struct value value = call_op(c, "aten.item.default", c->args, 1);
    if (c->failed)
        return false;
    if (value.kind == VALUE_COMPLEX)
        return ret_value(c, value_bool(value.u.complex.re != 0 || value.u.complex.im != 0));
    if (value.kind == VALUE_BOOL)
        return ret_value(c, value_bool(guard_bool(c, value.u.sym)));
    return ret_value(c, value_bool(guard_bool(c, ne(c, value.u.sym, SYM_ID_ZERO))));
}
