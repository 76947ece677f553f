/* Pairwise distances. */
#include "replay/ops/rules/reduce/reduce.h"

/* torch.broadcast_shapes (torch/functional.py) of the batch dimensions, which keeps the newer
 * size only if the older one is 1. */
static uint32_t batch_sizes(struct call *c, struct tensor a, struct tensor b, sym_id *ret)
{
    uint32_t na = ndim_of(a) - 2, nb = ndim_of(b) - 2, n = na > nb ? na : nb;
    for (uint32_t i = 0; i < n; i++)
        ret[i] = SYM_ID_ONE;
    const struct tensor both[] = { a, b };
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t m = ndim_of(both[k]) - 2;
        for (uint32_t i = 0; i < m && !c->failed; i++) {
            sym_id size = size_of(both[k], m - 1 - i), *to = &ret[n - 1 - i];
            if (guard_or_false(c, eq_int(c, size, 1)) || guard_or_false(c, py_eq(c, size, *to)))
                continue;
            if (!is_int(c, *to, 1)) {
                refuse(c, "RuntimeError",
                       "Shape mismatch: objects cannot be broadcast to a single shape");
                break;
            }
            *to = size;
        }
    }
    return n;
}

static bool check_cdist(struct call *c, struct tensor a, struct tensor b)
{
    if (!require(c, ndim_of(a) >= 2, "RuntimeError",
                 "cdist only supports at least 2D tensors, X1 got: %uD", ndim_of(a)) ||
        !require(c, ndim_of(b) >= 2, "RuntimeError",
                 "cdist only supports at least 2D tensors, X2 got: %uD", ndim_of(b)))
        return false;
    sym_id ca = size_of(a, ndim_of(a) - 1), cb = size_of(b, ndim_of(b) - 1);
    return check(c, py_eq(c, ca, cb), "RuntimeError",
                 "X1 and X2 must have the same number of columns. X1: %s X2: %s", sym_text(c, ca),
                 sym_text(c, cb)) &&
           require(c, dtype_is_float(dtype_of(a)), "RuntimeError",
                   "cdist only supports floating-point dtypes, X1 got: %s",
                   dtype_scalar_name(dtype_of(a))) &&
           require(c, dtype_is_float(dtype_of(b)), "RuntimeError",
                   "cdist only supports floating-point dtypes, X2 got: %s",
                   dtype_scalar_name(dtype_of(b))) &&
           require(c, !(arg_double(c, 2) < 0), "RuntimeError",
                   "cdist only supports non-negative p values");
}

/* meta_cdist_forward of torch/_meta_registrations.py */
bool rule_cdist(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    sym_id sizes[TENSOR_MAX_DIM];
    if (!check_cdist(c, a, b))
        return false;
    uint32_t n = batch_sizes(c, a, b, sizes);
    sizes[n++] = size_of(a, ndim_of(a) - 2);
    sizes[n++] = size_of(b, ndim_of(b) - 2);
    return ret_tensor(c, new_beside(c, a, dtype_of(a), sizes, n));
}

/* meta_cdist_backward */
bool rule_cdist_backward(struct call *c)
{
    struct tensor a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    sym_id sizes[TENSOR_MAX_DIM];
    if (!require(c, ndim_of(a) >= 2 && ndim_of(b) >= 2, "RuntimeError",
                 "cdist only supports at least 2D tensors"))
        return false;
    uint32_t n = batch_sizes(c, a, b, sizes);
    sizes[n++] = size_of(a, ndim_of(a) - 2);
    sizes[n++] = size_of(a, ndim_of(a) - 1);
    return ret_tensor(c, new_beside(c, a, dtype_of(a), sizes, n));
}

/* meta__pdist_forward */
bool rule_pdist(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!require(c, ndim_of(x) == 2, "RuntimeError", "pdist only supports 2D tensors, got: %uD",
                 ndim_of(x)) ||
        !require(c, is_contiguous(c, x, FORMAT_CONTIGUOUS), "RuntimeError",
                 "_pdist_forward requires contiguous input"))
        return false;
    sym_id n = size_of(x, 0);
    sym_id pairs = floordiv(c, mul(c, n, sub(c, n, SYM_ID_ONE)), SYM_ID_TWO);
    return ret_tensor(c, new_beside(c, x, dtype_of(x), &pairs, 1));
}

bool rule_pdist_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 1);
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* infer_size of the batch sizes, which cdist_impl of Distance.cpp expands for a matmul. */
static void expand_batch(struct call *c, struct tensor a, struct tensor b)
{
    for (uint32_t i = 3; i <= ndim_of(a) && i <= ndim_of(b) && !c->failed; i++) {
        sym_id x = size_of(a, ndim_of(a) - i), y = size_of(b, ndim_of(b) - i);
        if (!guard_or_false(c, eq_int(c, x, 1)) && !guard_or_false(c, eq_int(c, y, 1)))
            check(c, py_eq(c, x, y), "RuntimeError",
                  "The size of tensor a (%s) must match the size of tensor b (%s) at non-singleton "
                  "dimension %u",
                  sym_text(c, x), sym_text(c, y),
                  (ndim_of(a) > ndim_of(b) ? ndim_of(a) : ndim_of(b)) - i);
    }
}

/* cdist and pdist of Distance.cpp, which are CompositeImplicitAutograd. */
bool rule_cdist_composite(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (!check_cdist(c, a, b))
        return false;
    bool empty =
        guard_bool(c, eq_int(c, numel(c, a), 0)) || guard_bool(c, eq_int(c, numel(c, b), 0));
    /* Many rows use a matmul, and with mode 1 all do; the sizes are the same. */
    int64_t mode = arg_int_or(c, 3, 0);
    if (!empty && arg_double(c, 2) == 2 &&
        (mode == 1 ||
         (mode == 0 && (guard_bool(c, gt(c, size_of(a, ndim_of(a) - 2), num(c, 25))) ||
                        guard_bool(c, gt(c, size_of(b, ndim_of(b) - 2), num(c, 25)))))))
        expand_batch(c, a, b);
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3) };
    return ret_value(c, call_op(c, "aten._cdist_forward.default", args, 4));
}

bool rule_pdist_composite(struct call *c)
{
    struct tensor x = ref_contiguous(c, arg_tensor(c, 0));
    return ret_tensor(c, call2(c, "aten._pdist_forward.default", value_tensor(x), arg(c, 1)));
}

/* cosine_similarity of Distance.cpp sums the products of normalised vectors. */
bool rule_cosine_similarity(struct call *c)
{
    struct value pair[] = { arg(c, 0), arg(c, 1) };
    int64_t dim = arg_int(c, 2);
    struct value dims = ref_dims(c, &dim, 1);
    if (ops_has_nested_observer(
            c->ops)) { /* it decides which norms are computed, but not their shapes */
        struct value list = value_items(VALUE_LIST, pair, 2);
        struct value wide = call_op(c, "aten.broadcast_tensors.default", &list, 1);
        if (c->failed || wide.n != 2)
            return false;
        pair[0] = wide.u.items[0];
        pair[1] = wide.u.items[1];
    }
    struct value norm_a[] = { pair[0], value_number(c, 2), dims, value_bool(true) };
    struct value norm_b[] = { pair[1], value_number(c, 2), dims, value_bool(true) };
    struct value na = call_op(c, "aten.linalg_vector_norm.default", norm_a, 4);
    struct value nb = call_op(c, "aten.linalg_vector_norm.default", norm_b, 4);
    struct tensor ca = call2(c, "aten.clamp_min.default", na, arg(c, 3));
    struct tensor cb = call2(c, "aten.clamp_min.default", nb, arg(c, 3));
    struct tensor ua = call2(c, "aten.div.Tensor", pair[0], value_tensor(ca));
    struct tensor ub = call2(c, "aten.div.Tensor", pair[1], value_tensor(cb));
    struct tensor product = call2(c, "aten.mul.Tensor", value_tensor(ua), value_tensor(ub));
    return ret_tensor(c, call2(c, "aten.sum.dim_IntList", value_tensor(product), dims));
}
