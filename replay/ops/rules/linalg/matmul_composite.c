/* Matmuls that are decomposed into mm, bmm, mv and views before FakeTensorMode sees them. */
#include "replay/ops/rules/compose.h"

/* _broadcast_shapes of torch/_refs for two lists of sizes; ret has space for the longer one. */
static uint32_t broadcast_two(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b,
                              uint32_t n_b, sym_id *ret)
{
    uint32_t n = n_a > n_b ? n_a : n_b;
    const sym_id *shapes[] = { a, b };
    const uint32_t lengths[] = { n_a, n_b };
    for (uint32_t i = 0; i < n; i++)
        ret[i] = SYM_ID_ONE;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t back = 1; !c->failed && back <= lengths[k]; back++) {
            sym_id size = shapes[k][lengths[k] - back], *common = &ret[n - back];
            if (guard_or_false(c, eq(c, size, *common)))
                continue;
            if (guard_or_false(c, eq_int(c, *common, 1)))
                *common = size;
            if (guard_or_false(c, eq_int(c, size, 1)))
                continue;
            check(c, eq(c, *common, size), "RuntimeError",
                  "Attempting to broadcast a dimension of length %s at -%u! Mismatching argument "
                  "at index %u had torch.Size(%s); but expected shape should be broadcastable to "
                  "%s",
                  sym_text(c, size), back, k, sizes_text(c, shapes[k], lengths[k]),
                  sizes_text(c, ret, n));
        }
    }
    return n;
}

/* should_fold of torch/_decomp/decompositions.py */
static bool should_fold(struct call *c, struct tensor a, struct tensor b)
{
    struct tensor big = ndim_of(a) >= ndim_of(b) ? a : b, small = ndim_of(a) >= ndim_of(b) ? b : a;
    if (!(ndim_of(big) >= 3 && ndim_of(small) <= 2))
        return false;
    if (small.meta->requires_grad)
        return true;
    if (ndim_of(a) == 2)
        return false;
    if (guard_or_false(c, eq_int(c, numel(c, big), 0)))
        return true;
    uint32_t n = ndim_of(big);
    sym_id *expected = syms(c, n);
    if (!expected)
        return false;
    sym_id stride = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        expected[i] = stride;
        stride = mul(c, big.meta->size[i], stride);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!guard_or_false(c, eq_int(c, big.meta->size[i], 1)) &&
            !guard_or_false(c, eq(c, big.meta->stride[i], expected[i])))
            return false;
    }
    return !c->failed;
}

/* Makes the batches of the larger operand rows of one matrix. */
static struct tensor fold(struct call *c, struct tensor a, struct tensor b)
{
    bool transposed = ndim_of(b) > ndim_of(a);
    struct tensor big = transposed ? transpose(c, b, -2, -1) : a;
    struct tensor small = b;
    if (transposed)
        small = ndim_of(a) == 2 ? CALL(c, "aten.t.default", T(a)) : a;
    uint32_t n = ndim_of(big);
    sym_id *shape = syms(c, n + 1);
    if (!shape || n == 0)
        return no_tensor();
    sym_id rows = SYM_ID_ONE;
    for (uint32_t i = 0; i + 1 < n; i++) {
        shape[i] = size_of(c, big, i);
        rows = i == 0 ? shape[i] : mul(c, rows, shape[i]);
    }
    sym_id flat[] = { rows, size_of(c, big, -1) };
    struct tensor folded = reshape(c, big, flat, 2);
    if (ndim_of(small) != 2) {
        struct tensor out = CALL(c, "aten.mv.default", T(folded), T(small));
        return CALL(c, "aten._unsafe_view.default", T(out), ints(c, shape, n - 1));
    }
    shape[n - 1] = size_of(c, small, 1);
    struct tensor out = CALL(c, "aten.mm.default", T(folded), T(small));
    out = CALL(c, "aten._unsafe_view.default", T(out), ints(c, shape, n));
    return transposed ? contiguous(c, transpose(c, out, -2, -1)) : out;
}

static struct tensor matmul(struct call *c, struct tensor a, struct tensor b, unsigned depth);

/* The folded form computes gradients of a broadcast matrix faster. Returns true if *ret is the
 * result. */
static bool fold_one_batch(struct call *c, struct tensor a, struct tensor b, unsigned depth,
                           struct tensor *ret)
{
    if (depth > 2 || ndim_of(a) != 3 || ndim_of(b) != 3 ||
        !guard_or_true(c, ne(c, size_of(c, a, 0), size_of(c, b, 0))))
        return false;
    if (guard_or_false(c, eq_int(c, size_of(c, a, 0), 1)) && a.meta->requires_grad) {
        *ret = matmul(c, CALL(c, "aten.squeeze.dim", T(a), I(c, 0)), b, depth + 1);
        return true;
    }
    if (guard_or_false(c, eq_int(c, size_of(c, b, 0), 1)) && b.meta->requires_grad) {
        *ret = matmul(c, a, CALL(c, "aten.squeeze.dim", T(b), I(c, 0)), depth + 1);
        return true;
    }
    return false;
}

static struct tensor batched_matmul(struct call *c, struct tensor a, struct tensor b,
                                    unsigned depth)
{
    uint32_t dim_a = ndim_of(a), dim_b = ndim_of(b);
    sym_id rows = dim_a > 1 ? size_of(c, a, -2) : SYM_ID_ONE, m1 = size_of(c, a, -1);
    sym_id m2 = dim_b > 1 ? size_of(c, b, -2) : size_of(c, b, -1);
    sym_id columns = dim_b > 1 ? size_of(c, b, -1) : SYM_ID_ONE;
    struct tensor folded;
    if (fold_one_batch(c, a, b, depth, &folded))
        return folded;
    uint32_t n_a = dim_a > 2 ? dim_a - 2 : 0, n_b = dim_b > 2 ? dim_b - 2 : 0;
    sym_id *shape = syms(c, (n_a > n_b ? n_a : n_b) + 2);
    if (!shape)
        return no_tensor();
    uint32_t n = broadcast_two(c, sizes_of(a), n_a, sizes_of(b), n_b, shape);
    sym_id batch = SYM_ID_ONE;
    for (uint32_t i = 0; i < n; i++)
        batch = i == 0 ? shape[0] : mul(c, batch, shape[i]);

    shape[n] = rows;
    shape[n + 1] = m1;
    sym_id left[] = { batch, rows, m1 };
    a = reshape(c, expand(c, a, shape, n + 2), left, 3);
    if (dim_b == 1) {
        shape[n] = m2;
        sym_id right[] = { batch, m2 };
        b = unsqueeze(c, reshape(c, expand(c, b, shape, n + 1), right, 2), 2);
    } else {
        shape[n] = m2;
        shape[n + 1] = columns;
        sym_id right[] = { batch, m2, columns };
        b = reshape(c, expand(c, b, shape, n + 2), right, 3);
    }
    uint32_t n_out = n;
    if (dim_a > 1)
        shape[n_out++] = rows;
    if (dim_b > 1)
        shape[n_out++] = columns;
    struct tensor out = CALL(c, "aten.bmm.default", T(a), T(b));
    if (dim_b == 1)
        out = CALL(c, "aten.squeeze.dim", T(out), I(c, -1));
    return view(c, out, shape, n_out);
}

/* matmul of torch/_decomp/decompositions.py, which the Python dispatcher calls. */
static struct tensor matmul(struct call *c, struct tensor a, struct tensor b, unsigned depth)
{
    uint32_t dim_a = ndim_of(a), dim_b = ndim_of(b);
    if (c->failed || !require(c, dim_a && dim_b, "RuntimeError",
                              "both arguments to matmul need to be at least 1D, but they are "
                              "%uD and %uD",
                              dim_a, dim_b))
        return no_tensor();
    if (dim_a == 1 && dim_b == 1)
        return CALL(c, "aten.dot.default", T(a), T(b));
    if (dim_a == 2 && dim_b == 1)
        return CALL(c, "aten.mv.default", T(a), T(b));
    if (dim_a == 1 && dim_b == 2) {
        struct tensor out = CALL(c, "aten.mm.default", T(unsqueeze(c, a, 0)), T(b));
        return CALL(c, "aten.squeeze.dim", T(out), I(c, 0));
    }
    if (dim_a == 2 && dim_b == 2)
        return CALL(c, "aten.mm.default", T(a), T(b));
    if (should_fold(c, a, b))
        return fold(c, a, b);
    return batched_matmul(c, a, b, depth);
}

bool rule_matmul(struct call *c)
{
    return ret_tensor(c, matmul(c, arg_tensor(c, 0), arg_tensor(c, 1), 0));
}

/* _flatten_nd_linear of aten/src/ATen/native/Linear.cpp */
static struct tensor flat_linear(struct call *c, struct tensor x, struct tensor weight,
                                 struct tensor bias)
{
    uint32_t n = ndim_of(x);
    sym_id *shape = syms(c, n);
    if (!shape)
        return no_tensor();
    sym_id rows = SYM_ID_ONE;
    for (uint32_t i = 0; i + 1 < n; i++) {
        shape[i] = size_of(c, x, i);
        rows = mul(c, rows, shape[i]);
    }
    sym_id flat[] = { rows, size_of(c, x, -1) };
    x = reshape(c, x, flat, 2);
    struct tensor w = CALL(c, "aten.t.default", T(weight));
    struct tensor out = CALL(c, "aten.addmm.default", T(bias), T(x), T(w));
    shape[n - 1] = size_of(c, weight, 0);
    return view(c, out, shape, n);
}

bool rule_linear(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weight = arg_tensor(c, 1), bias = arg_tensor(c, 2);
    uint32_t n = ndim_of(x);
    if (!require(c, n && ndim_of(weight), "RuntimeError",
                 "both arguments to linear need to be at least 1D, but they are %uD and %uD", n,
                 ndim_of(weight)))
        return false;
    if (n == 2 && some(bias)) {
        struct tensor w = CALL(c, "aten.t.default", T(weight));
        return ret_tensor(c, CALL(c, "aten.addmm.default", T(bias), T(x), T(w)));
    }
    if (some(bias))
        count_devices(c, 1); /* is_xla() */
    if (some(bias) && is_contiguous(c, x, FORMAT_CONTIGUOUS))
        return ret_tensor(c, flat_linear(c, x, weight, bias));
    struct tensor out = matmul(c, x, CALL(c, "aten.t.default", T(weight)), 0);
    if (some(bias))
        out = plus(c, T(out), T(bias));
    return ret_tensor(c, out);
}

bool rule_linear_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grad = arg_tensor(c, 1), out[3];
    struct value mask = arg(c, 3);
    bool on[3] = { false, false, false };
    for (uint32_t i = 0; i < 3 && i < mask.n; i++)
        on[i] = mask.u.items[i].u.sym == SYM_ID_TRUE;
    out[0] = out[1] = out[2] = no_tensor();
    if (on[0])
        out[0] = new_tensor(c, dtype_of(grad), device_of(grad), sizes_of(x), ndim_of(x));
    if (on[1] || on[2]) {
        sym_id sizes[] = { size_of(c, grad, -1), size_of(c, x, -1) };
        out[1] = new_tensor(c, dtype_of(grad), device_of(grad), sizes, 2);
        out[2] = new_tensor(c, dtype_of(grad), device_of(grad), sizes, 1);
    }
    return ret_tensors(c, out, 3);
}

/* inner is mul for a scalar, else tensordot over the last dimensions. */
bool rule_inner(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (ndim_of(a) == 0 || ndim_of(b) == 0)
        return ret_tensor(c, times(c, T(a), T(b)));
    sym_id x = size_of(c, a, -1), y = size_of(c, b, -1);
    require(c, guard_bool(c, eq(c, x, y)), "RuntimeError",
            "inner() the last dimension must match on both input tensors but got shapes %s and %s",
            sizes_text(c, sizes_of(a), ndim_of(a)), sizes_text(c, sizes_of(b), ndim_of(b)));
    int64_t last = -1;
    return ret_tensor(
        c, CALL(c, "aten.tensordot.default", T(a), T(b), dims(c, &last, 1), dims(c, &last, 1)));
}

struct contraction {
    struct tensor x;
    bool gone[TENSOR_MAX_DIM];
    int64_t order[TENSOR_MAX_DIM];
    sym_id kept; /* product of the sizes that are not contracted */
};

static void find_contracted(struct call *c, struct contraction *t, const int64_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->failed; i++)
        t->gone[wrap_dim(c, list[i], ndim_of(t->x))] = true;
}

/* tensordot of aten/src/ATen/native/Linear.cpp */
bool rule_tensordot(struct call *c)
{
    struct contraction a = { .x = arg_tensor(c, 0), .kept = SYM_ID_ONE };
    struct contraction b = { .x = arg_tensor(c, 1), .kept = SYM_ID_ONE };
    const int64_t *list_a, *list_b;
    uint32_t n = arg_ints(c, 2, &list_a), n_b = arg_ints(c, 3, &list_b);
    require(c, n == n_b, "RuntimeError", "both dimension lists should have same length");
    require(c, dtype_of(a.x) == dtype_of(b.x), "RuntimeError",
            "both inputs should have same dtype");
    find_contracted(c, &a, list_a, n);
    find_contracted(c, &b, list_b, n);
    sym_id inner = SYM_ID_ONE;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        sym_id s1 = size_of(c, arg_tensor(c, 0), list_a[i]);
        sym_id s2 = size_of(c, arg_tensor(c, 1), list_b[i]);
        if (guard_bool(c, eq_int(c, s2, 1))) {
            a.x = sum_dims(c, a.x, &list_a[i], 1, true);
        } else if (guard_bool(c, eq_int(c, s1, 1))) {
            b.x = sum_dims(c, b.x, &list_b[i], 1, true);
        } else {
            require(c, guard_bool(c, eq(c, s1, s2)), "RuntimeError",
                    "contracted dimensions need to match, but first has size %s in dim %d and "
                    "second has size %s in dim %d",
                    sym_text(c, s1), (int)list_a[i], sym_text(c, s2), (int)list_b[i]);
            inner = mul(c, inner, s1);
        }
    }
    uint32_t n_x = ndim_of(a.x), n_y = ndim_of(b.x), n_out = 0, k = 0;
    sym_id *shape = syms(c, n_x + n_y);
    if (!shape || c->failed)
        return false;
    for (uint32_t i = 0; i < n_x; i++) {
        if (a.gone[i])
            continue;
        a.order[k++] = i;
        a.kept = mul(c, a.kept, size_of(c, a.x, i));
        shape[n_out++] = size_of(c, a.x, i);
    }
    for (uint32_t i = 0; i < n && k < TENSOR_MAX_DIM; i++)
        a.order[k++] = list_a[i];
    for (k = 0; k < n && k < TENSOR_MAX_DIM; k++)
        b.order[k] = list_b[k];
    for (uint32_t i = 0; i < n_y && k < TENSOR_MAX_DIM; i++) {
        if (b.gone[i])
            continue;
        b.order[k++] = i;
        b.kept = mul(c, b.kept, size_of(c, b.x, i));
        shape[n_out++] = size_of(c, b.x, i);
    }
    sym_id left[] = { a.kept, inner }, right[] = { inner, b.kept };
    struct tensor x = reshape(c, permute(c, a.x, a.order, n_x), left, 2);
    struct tensor y = reshape(c, permute(c, b.x, b.order, n_y), right, 2);
    return ret_tensor(c, reshape(c, CALL(c, "aten.mm.default", T(x), T(y)), shape, n_out));
}

bool rule_chain_matmul(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    require(c, n > 0, "RuntimeError", "chain_matmul(): Expected one or more matrices");
    for (uint32_t i = 0; i < n && !c->failed; i++)
        require(c, ndim_of(x[i]) == 2, "RuntimeError",
                "Tensor #%u (got %u dims): expected 2-dimensional tensor", i + 1, ndim_of(x[i]));
    if (c->failed)
        return false;
    struct tensor out = x[0];
    for (uint32_t i = 1; i < n && !c->failed; i++)
        out = CALL(c, "aten.mm.default", T(out), T(x[i]));
    return ret_tensor(c, out);
}
