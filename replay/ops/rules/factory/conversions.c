/* to, contiguous, and what a tensor reports about itself: sizes, strides, asserts. */
#include "replay/ops/rules/factory/factories.h"

/* --- to --- */

struct conversion {
    enum dtype dtype;
    struct device device;
    bool has_device, copy;
    enum memory_format format;
    struct value non_blocking;
};

/* to_will_alias and to_impl of ATen/native/TensorConversions.cpp */
static bool ret_converted(struct call *c, struct tensor x, struct conversion to)
{
    if (!x.meta)
        return false;
    if (to.has_device && to.device.type == DEVICE_CUDA && to.device.index < 0)
        to.device.index = x.meta->device.type == DEVICE_CUDA ? x.meta->device.index : 0;
    bool same = !to.copy && to.dtype == x.meta->dtype &&
                (!to.has_device || device_equal(to.device, x.meta->device));
    if (same && (to.format == FORMAT_PRESERVE || suggest_format_c10(c, x) == to.format))
        return ret_tensor(c, x);
    struct value args[] = { value_tensor(x) };
    struct keyword keywords[4] = { { STR("dtype"), dtype_value(to.dtype) } };
    uint32_t n = 1;
    if (to.has_device)
        keywords[n++] = (struct keyword){ STR("device"), device_value(to.device) };
    if (to.non_blocking.kind != VALUE_NONE)
        keywords[n++] = (struct keyword){ STR("non_blocking"), to.non_blocking };
    if (to.format != FORMAT_PRESERVE)
        keywords[n++] = (struct keyword){ STR("memory_format"), format_value(to.format) };
    return ret_value(c, call_op_keywords(c, "aten._to_copy.default", args, 1, keywords, n));
}

static struct conversion arg_conversion(struct call *c, struct tensor x, uint32_t non_blocking)
{
    return (struct conversion){ .dtype = x.meta ? x.meta->dtype : DTYPE_F32,
                                .copy = arg_bool(c, non_blocking + 1),
                                .format = arg_format(c, non_blocking + 2, FORMAT_PRESERVE),
                                .non_blocking = arg(c, non_blocking) };
}

static void take_device(struct call *c, uint32_t i, struct conversion *to)
{
    to->has_device = arg_given(c, i);
    to->device = arg_device(c, i, (struct device){ DEVICE_CPU, -1 });
}

bool rule_to_device(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct conversion to = arg_conversion(c, x, 3);
    take_device(c, 1, &to);
    to.dtype = arg_dtype(c, 2, to.dtype);
    return ret_converted(c, x, to);
}

bool rule_to_dtype(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct conversion to = arg_conversion(c, x, 2);
    to.dtype = arg_dtype(c, 1, to.dtype);
    return ret_converted(c, x, to);
}

bool rule_to_dtype_layout(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct conversion to = arg_conversion(c, x, 5);
    to.dtype = arg_dtype(c, 1, to.dtype);
    take_device(c, 3, &to);
    return ret_converted(c, x, to);
}

/* to.other and type_as: param is the number of arguments after those two. */
bool rule_to_other(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), other = arg_tensor(c, 1);
    struct conversion to = arg_conversion(c, x, 2);
    if (!other.meta)
        return false;
    to.dtype = other.meta->dtype;
    to.has_device = true;
    to.device = other.meta->device;
    return ret_converted(c, x, to);
}

/* to.prim_Device(self, device, dtype?, non_blocking, copy) with param 2, and to.prim_dtype with
 * param 1. A dtype is the number of a ScalarType. */
bool rule_to_prim(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t at = (uint32_t)c->param;
    struct conversion to = arg_conversion(c, x, at + 1);
    to.format = FORMAT_PRESERVE;
    if (at == 2)
        take_device(c, 1, &to);
    if (arg(c, at).kind == VALUE_INT)
        to.dtype = dtype_of_c10(arg_int(c, at));
    else
        to.dtype = arg_dtype(c, at, to.dtype);
    return ret_converted(c, x, to);
}

/* --- contiguous --- */

bool rule_contiguous(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum memory_format format = arg_format(c, 1, FORMAT_CONTIGUOUS);
    if (!x.meta)
        return false;
    if (is_contiguous(c, x, format))
        return ret_tensor(c, x);
    REQUIRE(c, format != FORMAT_PRESERVE, "RuntimeError",
            "preserve memory format is unsupported by the contiguous operator");
    return !c->failed && ret_tensor(c, call_clone_format(c, x, format));
}

/* --- Properties of a tensor --- */

static struct value guarded_int(struct call *c, sym_id e)
{
    return int_value(c, guard_int(c, e));
}

/* size and stride, which return ints without symbols: param is that of rule_sym_size. */
bool rule_plain_size(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    const sym_id *list = c->param ? x.meta->stride : x.meta->size;
    if (c->n_args > 1) {
        uint32_t dim = wrap_dim(c, arg_int(c, 1), x.meta->ndim);
        REQUIRE(c, c->failed || x.meta->ndim > 0, "IndexError",
                "Dimension specified as %u but tensor has no dimensions", dim);
        return !c->failed && ret_value(c, guarded_int(c, list[dim]));
    }
    struct value *items = values(c, x.meta->ndim);
    for (uint32_t i = 0; items && i < x.meta->ndim; i++)
        items[i] = guarded_int(c, list[i]);
    return items && ret_value(c, value_items(VALUE_LIST, items, x.meta->ndim));
}

bool rule_plain_numel(struct call *c)
{
    return ret_value(c, guarded_int(c, numel(c, arg_tensor(c, 0))));
}

bool rule_plain_storage_offset(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return x.meta && ret_value(c, guarded_int(c, x.meta->offset));
}

/* param is 1 for strides. */
bool rule_sym_size(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    const sym_id *list = c->param ? x.meta->stride : x.meta->size;
    if (c->n_args == 1)
        return ret_value(c, sizes_value(c, list, x.meta->ndim));
    uint32_t dim = wrap_dim(c, arg_int(c, 1), x.meta->ndim);
    if (c->failed)
        return false;
    REQUIRE(c, x.meta->ndim > 0, "IndexError",
            "Dimension specified as %u but tensor has no dimensions", dim);
    return ret_value(c, value_int(list[dim]));
}

bool rule_sym_numel(struct call *c)
{
    return ret_value(c, value_int(numel(c, arg_tensor(c, 0))));
}

bool rule_sym_storage_offset(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return x.meta && ret_value(c, value_int(x.meta->offset));
}

bool rule_tensor_dim(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return x.meta && ret_value(c, int_value(c, x.meta->ndim));
}

bool rule_tensor_is_contiguous(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return x.meta &&
           ret_value(c, bool_value(is_contiguous(c, x, arg_format(c, 1, FORMAT_CONTIGUOUS))));
}

/* --- Asserts --- */

/* Returns a condition, which for a number is that it is not 0. */
static sym_id as_condition(struct call *c, struct value value)
{
    if (value.kind == VALUE_BOOL)
        return value.u.sym;
    return value_is_number(value) ? ne(c, value.u.sym, SYM_ID_ZERO) : SYM_ID_TRUE;
}

/* _assert_scalar, and _functional_assert_scalar, which returns its token (param 1). */
bool rule_assert_scalar(struct call *c)
{
    struct str text = arg_string(c, 1);
    CHECK(c, as_condition(c, arg(c, 0)), "RuntimeError", "%.*s", STR_ARG(text));
    if (c->failed)
        return false;
    return c->param ? ret_value(c, arg(c, 2)) : ret_none(c);
}

/* The condition is on values, so a rule cannot check it. param is the argument that is returned,
 * or 0. */
bool rule_assert_async(struct call *c)
{
    return c->param ? ret_value(c, arg(c, (uint32_t)c->param)) : ret_none(c);
}

static bool constrain(struct call *c, bool for_size)
{
    sym_id e = arg_sym(c, 0);
    sym_id min = arg_given(c, 1) ? arg_sym(c, 1) : SYM_NONE;
    sym_id max = arg_given(c, 2) ? arg_sym(c, 2) : SYM_NONE;
    if (for_size && min == SYM_NONE && max == SYM_NONE) {
        CHECK(c, py_ge(c, e, SYM_ID_ZERO), "RuntimeError", "a size is negative: %s",
              sym_text(c, e));
        return !c->failed;
    }
    if (!is_number(c, e)) {
        bool done = for_size ? env_constrain_range_for_size(c->env, e, min, max)
                             : env_constrain_range(c->env, e, min, max);
        return done || guard_bool(c, SYM_NONE); /* reports what was raised */
    }
    bool inside = (min == SYM_NONE || sym_number_compare(c->pool, e, min) >= 0) &&
                  (max == SYM_NONE || sym_number_compare(c->pool, e, max) <= 0);
    return require(c, inside, "RuntimeError", "Invalid value range for %s between [%s, %s].",
                   sym_text(c, e), min == SYM_NONE ? "-int_oo" : sym_text(c, min),
                   max == SYM_NONE ? "int_oo" : sym_text(c, max));
}

/* param is 1 for sizes and 2 if a token is returned. */
bool rule_constrain_range(struct call *c)
{
    if (!constrain(c, c->param & 1))
        return false;
    return c->param & 2 ? ret_value(c, arg(c, 3)) : ret_none(c);
}

/* The arguments are (a, size?, stride?, dtype?, device, layout). */
bool rule_assert_tensor_metadata(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *lists[2];
    if (!x.meta)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t n = arg_syms(c, 1 + i, &lists[i]);
        if (!arg_given(c, 1 + i))
            continue;
        const sym_id *own = i ? x.meta->stride : x.meta->size;
        REQUIRE(c, n == x.meta->ndim, "RuntimeError", "Tensor %s mismatch!",
                i ? "strides" : "sizes");
        for (uint32_t k = 0; k < n && !c->failed; k++)
            CHECK(c, eq(c, own[k], lists[i][k]), "RuntimeError", "Tensor %s mismatch!",
                  i ? "strides" : "sizes");
    }
    REQUIRE(c, arg_dtype(c, 3, x.meta->dtype) == x.meta->dtype, "RuntimeError",
            "Tensor dtype mismatch! Expected: %s Got: %s", dtype_scalar_name(arg_dtype(c, 3, 0)),
            dtype_scalar_name(x.meta->dtype));
    return !c->failed && ret_none(c);
}

bool rule_dep_token(struct call *c)
{
    return ret_tensor(c, new_tensor(c, arg_dtype(c, 0, DTYPE_F32),
                                    arg_device(c, 2, (struct device){ DEVICE_META, -1 }), NULL, 0));
}

/* _to_sparse: the rule does not model where the values are stored. FakeTensorMode does not
 * support it. */
bool rule_to_sparse(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!eager(c))
        return refuse(c, "UnsupportedOperatorException", "%.*s", STR_ARG(op_name(c->op)));
    struct tensor_meta meta = *x.meta;
    meta.layout = LAYOUT_SPARSE;
    meta.stride = NULL;
    meta.offset = SYM_ID_ZERO;
    meta.conj = meta.neg = false;
    return ret_tensor(c, ops_new_tensor(c->ops, &meta));
}
