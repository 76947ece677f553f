/* gather, scatter and similar operators. */
#include <stdio.h>

#include "replay/ops/rules/reduce/reduce.h"

static bool check_index_values(struct call *c, struct tensor index, struct tensor x, uint32_t dim)
{
    int64_t size, bad;
    if (c->failed || !sym_to_i64(c->pool, size_of(x, dim), &size))
        return !c->failed;
    return !index_outside(c, index, 0, size - 1, &bad) ||
           refuse(c, "RuntimeError", "index %lld is out of bounds for dimension %u with size %lld",
                  (long long)bad, dim, (long long)size);
}

static const char *shape_text(struct call *c, struct tensor x)
{
    return sizes_text(c, x.meta ? x.meta->size : NULL, ndim_of(x));
}

static uint32_t ndim_or_one(struct tensor x)
{
    return ndim_of(x) ? ndim_of(x) : 1;
}

/* gather_shape_check of torch/_meta_registrations.py, ScatterGatherChecks.h */
static bool check_gather(struct call *c, struct tensor x, uint32_t dim, struct tensor index)
{
    if (!require(c, ndim_or_one(x) == ndim_or_one(index), "RuntimeError",
                 "Index tensor must have the same number of dimensions as input tensor"))
        return false;
    for (uint32_t i = 0; i < ndim_or_one(x); i++)
        if (i != dim &&
            !check(c, py_le(c, size_of(index, i), size_of(x, i)), "RuntimeError",
                   "Size does not match at dimension %u expected index %s to be no larger than "
                   "self %s apart from dimension %u",
                   i, shape_text(c, index), shape_text(c, x), dim))
            return false;
    return true;
}

/* meta_gather */
bool rule_gather(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    struct tensor result = new_contiguous_like(c, index, dtype_of(x));
    if (!guard_or_false(c, eq_int(c, numel(c, index), 0))) {
        if (!require(c, dtype_of(index) == DTYPE_I64 || dtype_of(index) == DTYPE_I32,
                     "RuntimeError", "gather(): Expected dtype int32/int64 for index") ||
            !check_out_dtype(c, 4, dtype_of(x)) || !check_out_overlap(c, 4, 3, result) ||
            !check_gather(c, x, dim, index) || !check_index_values(c, index, x, dim))
            return false;
    }
    return ret_tensor(c, result);
}

/* scatter_shape_check of torch/_meta_registrations.py: the guards are in its order, and the text
 * is C++'s. */
static bool check_scatter(struct call *c, struct tensor x, uint32_t dim, struct tensor index,
                          struct tensor src)
{
    if (guard_or_false(c, eq_int(c, numel(c, index), 0)))
        return !c->failed;
    if (!require(c, ndim_or_one(x) == ndim_or_one(index), "RuntimeError",
                 "Index tensor must have the same number of dimensions as self tensor") ||
        !require(c, !src.meta || ndim_or_one(src) == ndim_or_one(index), "RuntimeError",
                 "Index tensor must have the same number of dimensions as src tensor"))
        return false;
    char also[600] = "";
    if (src.meta && eager(c))
        snprintf(also, sizeof also, " and to be no larger size than src %s", shape_text(c, src));
    for (uint32_t i = 0; i < ndim_or_one(x); i++)
        if (i != dim && !check(c, py_le(c, size_of(index, i), size_of(x, i)), "RuntimeError",
                               "Expected index %s to be no larger than self %s apart from "
                               "dimension %u%s",
                               shape_text(c, index), shape_text(c, x), dim, also))
            return false;
    for (uint32_t i = 0; i < ndim_or_one(x) && src.meta; i++)
        if (!check(c, py_le(c, size_of(index, i), size_of(src, i)), "RuntimeError",
                   "Expected index %s to be no larger than self %s apart from dimension %u%s",
                   shape_text(c, index), shape_text(c, x), dim, also))
            return false;
    return true;
}

static bool check_reduce(struct call *c, uint32_t i, bool new_options)
{
    static const char *const news[] = { "sum", "prod", "mean", "amax", "amin", NULL };
    static const char *const olds[] = { "add", "multiply", NULL };
    const char *const *names = new_options ? news : olds;
    for (; *names; names++)
        if (str_is(arg_string(c, i), *names))
            return true;
    if (new_options)
        return refuse(c, "RuntimeError",
                      "reduce argument must be either sum, prod, mean, amax or amin, got %.*s",
                      STR_ARG(arg_string(c, i)));
    return refuse(c, "RuntimeError", "reduce argument must be either add or multiply.");
}

enum { SCATTER_PLAIN, SCATTER_REDUCE, SCATTER_REDUCE_NEW };

/* scatter_meta_impl. The arguments are self, dim, index, src or value, reduce; param says what
 * follows src. */
bool rule_scatter(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2), src = arg_tensor(c, 3);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    bool known_empty = false;
    if (dtype_of(index) != DTYPE_I64 && dtype_of(index) != DTYPE_I32)
        known_empty = !guard_or_true(c, ne(c, numel(c, index), SYM_ID_ZERO));
    else
        guard_or_true(c, ne(c, numel(c, index), SYM_ID_ZERO));
    if (!require(c, known_empty || dtype_of(index) == DTYPE_I64 || dtype_of(index) == DTYPE_I32,
                 "RuntimeError", "scatter(): Expected dtype int32/int64 for index") ||
        !require(c, !src.meta || dtype_of(src) == dtype_of(x), "RuntimeError",
                 "scatter(): Expected self.dtype to be equal to src.dtype") ||
        !check_scatter(c, x, dim, index, src))
        return false;
    if (c->param != SCATTER_PLAIN && !check_reduce(c, 4, c->param == SCATTER_REDUCE_NEW))
        return false;
    if (!check_index_values(c, index, x, dim))
        return false;
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* take_along_dim of TensorAdvancedIndexing.cpp, which is CompositeImplicitAutograd: both tensors
 * are broadcast except along the dimension, then gather runs. */
bool rule_take_along_dim(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 1);
    if (!require(c, dtype_of(index) == DTYPE_I64, "RuntimeError",
                 "torch.take_along_dim(): dtype of indices should be Long but got %s",
                 dtype_scalar_name(dtype_of(index))))
        return false;
    if (!arg_given(c, 2)) {
        int64_t flat = -1;
        struct value shape = ref_dims(c, &flat, 1);
        struct tensor xs = call2(c, "aten.reshape.default", arg(c, 0), shape);
        struct tensor is = call2(c, "aten.reshape.default", arg(c, 1), shape);
        return ret_tensor(c, call3(c, "aten.gather.default", value_tensor(xs), value_number(c, 0),
                                   value_tensor(is)));
    }
    uint32_t n = ndim_of(x), dim = wrap_dim(c, arg_int(c, 2), n);
    if (!require(c, n == ndim_of(index), "RuntimeError",
                 "torch.take_along_dim(): input and indices should have the same number of "
                 "dimensions, but got %u dimensions for input, and %u dimensions for indices",
                 n, ndim_of(index)))
        return false;
    struct value *to[2] = { values(c, n), values(c, n) };
    for (uint32_t i = n; to[0] && to[1] && i-- > 0 && !c->failed;) {
        sym_id a = size_of(x, i), b = size_of(index, i);
        sym_id wide = guard_or_false(c, eq_int(c, a, 1)) ? b : a;
        if (i != dim && !guard_or_false(c, eq_int(c, a, 1)) && !guard_or_false(c, eq_int(c, b, 1)))
            check(c, eq(c, a, b), "RuntimeError",
                  "The size of tensor a (%s) must match the size of tensor b (%s) at "
                  "non-singleton dimension %u",
                  sym_text(c, a), sym_text(c, b), i);
        to[0][i] = value_int(i == dim ? a : wide);
        to[1][i] = value_int(i == dim ? b : wide);
    }
    if (c->symbolic)
        guard_sizes(c, x); /* the broadcast sizes are ints */
    if (c->failed || !to[0] || !to[1])
        return false;
    struct tensor xs =
        call2(c, "aten.expand.default", arg(c, 0), value_items(VALUE_LIST, to[0], n));
    struct tensor is =
        call2(c, "aten.expand.default", arg(c, 1), value_items(VALUE_LIST, to[1], n));
    return ret_tensor(c, call3(c, "aten.gather.default", value_tensor(xs), value_number(c, dim),
                               value_tensor(is)));
}
