/* Maxima, minima and medians, and their indices. */
#include "replay/ops/rules/reduce/reduce.h"

/* --- amax, amin, aminmax --- */

static bool check_identity(struct call *c, struct tensor x, uint64_t mask)
{
    sym_id condition = SYM_ID_TRUE;
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (mask >> i & 1)
            condition = sym_and(c->pool, condition, gt(c, size_of(x, i), SYM_ID_ZERO));
    return check(c, condition, "RuntimeError",
                 "reducing over zero-size dimension for reduction operation without identity");
}

/* param is 0 for amax, 1 for amin. */
bool rule_amax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const char *name = c->param ? "amin()" : "amax()";
    int64_t numel;
    struct tensor out = arg_tensor(c, 3);
    uint64_t mask = reduce_mask(c, 1, x);
    if (!c->failed &&
        !require(c, !out.meta || dtype_of(out) == dtype_of(x), "RuntimeError",
                 "Expected the dtype for input and out to match, but got %s for input's dtype and "
                 "%s for out's dtype.",
                 dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(out))))
        return false;
    if (!by_reference(c)) {
        if (!c->failed && plain_numel(c, x, &numel) && numel == 0)
            check_empty_dims(c, 1, x, name);
        return ret_tensor(c, reduce_new(c, x, mask, arg_bool(c, 2), dtype_of(x)));
    }
    check_identity(c, x, mask);
    enum dtype compute = computation_dtype(dtype_of(x));
    struct tensor result = reduce_ref(c, ref_convert(c, x, compute), mask, arg_bool(c, 2), compute);
    return ret_tensor(c, prim_convert(c, result, dtype_of(x)));
}

bool rule_aminmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), both[2];
    int64_t numel;
    if (!check_out_dtype(c, 3, dtype_of(x)) || !check_out_dtype(c, 4, dtype_of(x)))
        return false;
    if (!by_decomposition(c)) {
        uint64_t mask = reduce_mask(c, 1, x);
        if (!c->failed && arg_given(c, 1))
            check_empty_dims(c, 1, x, "aminmax");
        else if (plain_numel(c, x, &numel))
            require(c, numel != 0, "RuntimeError",
                    "aminmax(): cannot compute aminmax over an empty dimension as the operation "
                    "has no identity.");
        both[0] = reduce_new(c, x, mask, arg_bool(c, 2), dtype_of(x));
        both[1] = reduce_new(c, x, mask, arg_bool(c, 2), dtype_of(x));
        return ret_tensors(c, both, 2);
    }
    int64_t dim = arg_int_or(c, 1, 0);
    struct value dims = ref_dims(c, &dim, arg_given(c, 1) ? 1 : 0);
    both[0] = call3(c, "aten.amin.default", value_tensor(x), dims, arg(c, 2));
    both[1] = call3(c, "aten.amax.default", value_tensor(x), dims, arg(c, 2));
    return ret_tensors(c, both, 2);
}

/* --- max, min and median of all elements --- */

static const char *const extreme_names[] = { "max()", "min()", "median()", "nanmedian()" };

bool rule_max(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t numel;
    if (c->param < 2 && plain_numel(c, x, &numel))
        require(c, numel != 0, "RuntimeError",
                "%s: Expected reduction dim to be specified for input.numel() == 0. Specify the "
                "reduction dim with the 'dim' argument.",
                extreme_names[c->param & 3]);
    return ret_tensor(c, reduce_new(c, x, reduce_all(x), false, dtype_of(x)));
}

/* Returns values and indices along a dimension. */
static bool along(struct call *c, struct tensor x, uint32_t dim_arg, const char *name)
{
    uint64_t mask = reduce_mask(c, dim_arg, x);
    int64_t numel;
    uint32_t dim = 0;
    while (dim < 63 && !(mask >> dim & 1))
        dim++;
    if (!c->failed && ndim_of(x) && plain_numel(c, x, &numel))
        require(c, !is_int(c, size_of(x, dim), 0), "IndexError",
                "%s: Expected reduction dim %u to have non-zero size.", name, dim);
    bool keepdim = arg_bool(c, dim_arg + 1);
    struct tensor both[] = { reduce_new(c, x, mask, keepdim, dtype_of(x)),
                             reduce_new(c, x, mask, keepdim, DTYPE_I64) };
    return ret_tensors(c, both, 2);
}

/* max.dim, min.dim, median.dim, nanmedian.dim, mode */
bool rule_max_dim(struct call *c)
{
    static const char *const names[] = { "max()", "min()", "median()", "median()", "mode()" };
    return along(c, arg_tensor(c, 0), 1, names[c->param >= 0 && c->param < 5 ? c->param : 0]);
}

/* kthvalue_meta of torch/_meta_registrations.py */
bool rule_kthvalue(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dim = wrap_dim(c, arg_int(c, 2), ndim_of(x));
    sym_id k = arg_sym(c, 1), length = size_of(x, dim);
    if (eager(c) && ndim_of(x) && !c->failed &&
        !require(c, !is_int(c, length, 0), "IndexError",
                 "kthvalue(): Expected reduction dim %u to have non-zero size.", dim))
        return false;
    check(c, sym_and(c->pool, py_ge(c, k, SYM_ID_ONE), py_le(c, k, length)), "RuntimeError",
          "kthvalue(): selected number k out of range for dimension %u", dim);
    uint64_t mask = UINT64_C(1) << (dim & 63);
    bool keepdim = arg_bool(c, 3);
    struct tensor both[] = { reduce_new(c, x, mask, keepdim, dtype_of(x)),
                             reduce_new(c, x, mask, keepdim, DTYPE_I64) };
    return check_out_overlap(c, 4, 1, both[0]) && ret_tensors(c, both, 2);
}

/* argmax_argmin_meta of torch/_meta_registrations.py. param is 0 for argmax, 1 for argmin. */
bool rule_argmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const char *name = c->param ? "argmin()" : "argmax()";
    uint64_t mask = reduce_mask(c, 1, x);
    if (arg_given(c, 1)) {
        uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
        if (ndim_of(x))
            check(c, ne(c, size_of(x, dim), SYM_ID_ZERO), "IndexError",
                  "%s: Expected reduction dim %u to have non-zero size.", name, dim);
    } else {
        check(c, ne(c, numel(c, x), SYM_ID_ZERO), "IndexError",
              "%s: Expected reduction dim to be specified for input.numel() == 0.", name);
    }
    return ret_tensor(c, reduce_new(c, x, mask, arg_bool(c, 2), DTYPE_I64));
}
