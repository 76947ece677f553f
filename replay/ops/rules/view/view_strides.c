/* Computes the strides of aten::view on a shape, and evaluates its guards.
 *
 * There are three algorithms. Concrete sizes follow C++ (ATen/TensorUtils.cpp). Symbolic sizes
 * follow _reshape_view_helper of torch/_refs/__init__.py, dimension by dimension from the left.
 * Sizes that depend on data follow _view_unbacked_meta of torch/_subclasses/fake_impls.py. */
#include "replay/ops/rules/view/views.h"

#include <string.h>

/* --- infer_size --- */

static bool bad_shape(struct call *c, const sym_id *shape, uint32_t n, sym_id elements)
{
    return refuse(c, "RuntimeError", "shape '%s' is invalid for input of size %s",
                  sizes_text(c, shape, n), sym_text(c, elements));
}

static bool check_shape(struct call *c, sym_id condition, const sym_id *shape, uint32_t n,
                        sym_id elements)
{
    CHECK(c, condition, "RuntimeError", "shape '%s' is invalid for input of size %s",
          sizes_text(c, shape, n), sym_text(c, elements));
    return !c->failed;
}

static bool ambiguous_shape(struct call *c, const sym_id *shape, uint32_t n)
{
    return refuse(c, "RuntimeError",
                  "cannot reshape tensor of 0 elements into shape %s because the unspecified "
                  "dimension size -1 can be any value and is ambiguous",
                  sizes_text(c, shape, n));
}

/* Returns the dimension of shape that is -1, or n where there is none, and sets *others to the
 * product of the other dimensions. */
static uint32_t find_inferred(struct call *c, const sym_id *shape, uint32_t n, bool cpp,
                              sym_id *others)
{
    uint32_t found = n;
    *others = SYM_ID_ONE;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (guard_or_false(c, eq_int(c, shape[i], -1))) {
            if (found < n)
                refuse(c, "RuntimeError", "only one dimension can be inferred");
            found = i;
            continue;
        }
        if (cpp || eager(c))
            CHECK(c, cpp ? gt(c, shape[i], SYM_ID_MINUS_ONE) : ge(c, shape[i], SYM_ID_ZERO),
                  "RuntimeError", "invalid shape dimension %s", sym_text(c, shape[i]));
        else
            CHECK(c, py_ge(c, shape[i], SYM_ID_ZERO), "RuntimeError",
                  "invalid shape dimension %s. If this was symbolic, it was assumed to not be -1."
                  "If this was meant to be inferred, please explicitly pass in -1.",
                  sym_text(c, shape[i]));
        *others = mul(c, *others, shape[i]);
    }
    return found;
}

/* numel() of a tensor with symbolic sizes is a SymInt, even if it is 0, and so stays on the left.
 */
static sym_id eq_numel(struct call *c, struct tensor x, sym_id elements, sym_id other)
{
    for (uint32_t d = 0; d < x.meta->ndim; d++)
        if (!is_number(c, env_replace(c->env, x.meta->size[d])))
            return eq(c, elements, other);
    return py_eq(c, elements, other);
}

bool infer_shape(struct call *c, struct tensor x, const sym_id *shape, uint32_t n, sym_id *ret)
{
    sym_id others, elements = numel(c, x);
    uint32_t inferred = find_inferred(c, shape, n, false, &others);
    if (c->failed)
        return false;
    if (n)
        memcpy(ret, shape, n * sizeof(*ret));
    if (inferred == n)
        return check_shape(c, eq_numel(c, x, elements, others), shape, n, elements);
    sym_id some = py_ne(c, others, SYM_ID_ZERO);
    if (some == SYM_ID_FALSE)
        return guard_or_false(c, py_eq(c, elements, SYM_ID_ZERO))
                   ? ambiguous_shape(c, shape, n)
                   : bad_shape(c, shape, n, elements);
    if (!check_shape(c, some, shape, n, elements))
        return false;
    sym_id rest = py_eq(c, mod(c, elements, others), SYM_ID_ZERO);
    if (!check_shape(c, rest, shape, n, elements))
        return false;
    ret[inferred] = floordiv(c, elements, others);
    CHECK(c, py_ge(c, ret[inferred], SYM_ID_ZERO), "RuntimeError",
          "Expected cond to be True, but got False. (Could this error message be improved? If so, "
          "please report an enhancement request to PyTorch.)");
    return !c->failed;
}

bool infer_shape_cpp(struct call *c, sym_id elements, const sym_id *shape, uint32_t n, sym_id *ret)
{
    sym_id others;
    uint32_t inferred = find_inferred(c, shape, n, true, &others);
    if (c->failed)
        return false;
    if (n)
        memcpy(ret, shape, n * sizeof(*ret));
    sym_id whole = eq(c, elements, others);
    if (inferred < n && others != SYM_ID_ZERO) {
        sym_id divides = eq(c, mod(c, elements, others), SYM_ID_ZERO);
        divides = sym_and(c->pool, gt(c, others, SYM_ID_ZERO), divides);
        whole = sym_or(c->pool, divides, whole);
    }
    if (!check_shape(c, whole, shape, n, elements))
        return false;
    if (inferred == n)
        return !c->failed;
    if (!guard_bool(c, ne(c, others, SYM_ID_ZERO)))
        return ambiguous_shape(c, shape, n);
    ret[inferred] = floordiv(c, elements, others);
    return !c->failed;
}

/* --- computeStride --- */

static bool evaluate_condition(struct call *c, enum stride_way way, bool otherwise,
                               sym_id condition)
{
    if (way == STRIDE_EXACT)
        return guard_bool(c, condition);
    return otherwise ? guard_or_true(c, condition) : guard_or_false(c, condition);
}

/* C++ and Python build different expressions for a comparison. */
static bool evaluate_eq(struct call *c, enum stride_way way, sym_id a, sym_id b)
{
    return evaluate_condition(c, way, false, way == STRIDE_CPP ? eq(c, a, b) : py_eq(c, a, b));
}

static bool evaluate_ne(struct call *c, enum stride_way way, sym_id a, sym_id b)
{
    return evaluate_condition(c, way, true, way == STRIDE_CPP ? ne(c, a, b) : py_ne(c, a, b));
}

/* In the reshapes of autograd's formulas, not those within other operators, C++ compares a number
 * with a symbol as Python does: X > 32, and not 32 < X, from which other conditions follow
 * (get_implications of torch/fx/experimental/symbolic_shapes.py). */
static bool evaluate_lt(struct call *c, enum stride_way way, sym_id a, sym_id b)
{
    bool cpp = way == STRIDE_CPP && !in_backward(c);
    return evaluate_condition(c, way, true, cpp ? lt(c, a, b) : py_lt(c, a, b));
}

static sym_id all_equal(struct call *c, const sym_id *a, const sym_id *b, uint32_t n)
{
    sym_id all = SYM_ID_TRUE;
    for (uint32_t i = 0; i < n; i++)
        all = sym_and(c->pool, all, py_eq(c, a[i], b[i]));
    return all;
}

static bool empty_stride(struct call *c, const struct geometry *old, const sym_id *shape,
                         uint32_t n, enum stride_way way, sym_id *stride)
{
    if (n == old->n && evaluate_condition(c, way, false, all_equal(c, old->size, shape, n))) {
        memcpy(stride, old->stride, n * sizeof(*stride));
        return true;
    }
    for (uint32_t i = n; i-- > 0;)
        stride[i] =
            i + 1 == n ? SYM_ID_ONE : mul(c, sym_max2(c, shape[i + 1], SYM_ID_ONE), stride[i + 1]);
    return true;
}

/* Returns true where a contiguous chunk of memory, which no dimension of a view may cross, ends
 * before dimension d. */
static bool chunk_ends(struct call *c, const struct geometry *old, uint32_t d, sym_id elements,
                       sym_id base, enum stride_way way)
{
    if (d == 0)
        return true;
    return evaluate_ne(c, way, old->size[d - 1], SYM_ID_ONE) &&
           evaluate_ne(c, way, old->stride[d - 1], mul(c, elements, base));
}

bool compute_stride(struct call *c, const struct geometry *old, const sym_id *shape, uint32_t n,
                    enum stride_way way, sym_id *stride)
{
    if (old->n == 0) {
        for (uint32_t i = 0; i < n; i++)
            stride[i] = SYM_ID_ONE;
        return true;
    }
    if (evaluate_eq(c, way, geometry_numel(c, old), SYM_ID_ZERO))
        return empty_stride(c, old, shape, n, way, stride);
    uint32_t left = n;
    sym_id base = old->stride[old->n - 1], elements = SYM_ID_ONE, seen = SYM_ID_ONE;
    for (uint32_t d = old->n; d-- > 0 && !c->failed;) {
        elements = mul(c, elements, old->size[d]);
        if (!chunk_ends(c, old, d, elements, base, way))
            continue;
        while (left > 0 && !c->failed &&
               (evaluate_lt(c, way, seen, elements) ||
                evaluate_eq(c, way, shape[left - 1], SYM_ID_ONE))) {
            left--;
            stride[left] = mul(c, seen, base);
            seen = mul(c, seen, shape[left]);
        }
        if (evaluate_ne(c, way, seen, elements))
            return false;
        if (d > 0) {
            base = old->stride[d - 1];
            elements = seen = SYM_ID_ONE;
        }
    }
    return left == 0 && !c->failed;
}

/* --- Dimension by dimension --- */

/* _collapse_view_helper of torch/_prims: merges dimensions first to last into one. Returns false
 * where no view can do so. must is the message of a torch._check() on it, or NULL for none. */
static bool collapse(struct call *c, const struct geometry *g, uint32_t first, uint32_t last,
                     const char *must, struct geometry *ret)
{
    *ret = *g;
    if (first == last)
        return true;
    sym_id elements = geometry_numel(c, g), valid = SYM_ID_TRUE;
    if (guard_or_false(c, py_ne(c, elements, SYM_ID_ZERO)))
        for (uint32_t i = last; i-- > first && valid != SYM_ID_FALSE;) {
            sym_id nested = py_eq(c, g->stride[i], mul(c, g->stride[i + 1], g->size[i + 1]));
            sym_id one = sym_or(c->pool, py_eq(c, g->size[i], SYM_ID_ONE),
                                py_eq(c, g->size[i + 1], SYM_ID_ONE));
            valid = sym_and(c->pool, valid, sym_or(c->pool, one, nested));
        }
    valid = sym_or(c->pool, valid, py_eq(c, elements, SYM_ID_ZERO));
    if (must)
        CHECK(c, valid, "RuntimeError", "%s", must);
    else if (!guard_or_false(c, valid))
        return false;

    sym_id stride = g->stride[last], length = g->size[last];
    for (uint32_t i = last; i-- > first;)
        if (guard_bool(c, py_ne(c, g->size[i], SYM_ID_ONE)))
            stride = py_min(c, stride, g->stride[i]);
    if (!guard_or_true(c, py_ne(c, length, SYM_ID_ZERO)))
        stride = SYM_ID_ZERO;
    else
        for (uint32_t i = last; i-- > first;) {
            if (guard_or_false(c, py_eq(c, g->size[i], SYM_ID_ZERO))) {
                length = stride = SYM_ID_ZERO;
                break;
            }
            length = mul(c, length, g->size[i]);
        }
    for (uint32_t i = last; i > first; i--)
        geometry_remove(ret, i);
    ret->size[first] = length;
    ret->stride[first] = stride;
    if (guard_or_false(c, py_eq(c, elements, SYM_ID_ZERO)))
        contiguous_strides(c, ret->size, ret->n, ret->stride);
    return !c->failed;
}

/* flatten of torch/_refs, where a view exists. The reference computes the merged geometry again,
 * and the prim does so once more. */
static bool flatten(struct call *c, struct tensor x, struct geometry *g, uint32_t first,
                    uint32_t last)
{
    struct geometry collapsed;
    if (!collapse(c, g, first, last, NULL, &collapsed) ||
        !collapse(c, g, first, last,
                  "Attempting to view a collapsed tensor, but no such view exists!", &collapsed))
        return false;
    count_call(c, "prims.collapse_view", x, g, (sym_id[]){ num(c, first), num(c, last) }, 2, 1);
    *g = collapsed;
    geometry_pass(c, x, g);
    return !c->failed;
}

/* prims.split_dim */
static bool split_dim(struct call *c, struct tensor x, struct geometry *g, uint32_t dim,
                      sym_id outer)
{
    sym_id length = g->size[dim], stride = g->stride[dim];
    CHECK(c, py_ge(c, outer, SYM_ID_ZERO), "AssertionError", "length must be non-negative, got %s",
          sym_text(c, outer));
    sym_id inner = floordiv(c, length, outer);
    if (guard_bool(c, py_ne(c, mod(c, length, outer), SYM_ID_ZERO)))
        return refuse(c, "ValueError",
                      "Attempting to split dimension of length %s, but outer length of %s divides "
                      "it with a remainder!",
                      sym_text(c, length), sym_text(c, outer));
    count_call(c, "prims.split_dim", x, g, (sym_id[]){ num(c, dim), outer }, 2, 1);
    g->size[dim] = inner;
    if (!geometry_insert(c, g, dim, outer, mul(c, stride, inner)))
        return false;
    geometry_pass(c, x, g);
    return !c->failed;
}

static bool cannot_view(struct call *c, struct tensor x, const sym_id *shape, uint32_t n)
{
    const struct tensor_meta *m = x.meta;
    return refuse(c, "ValueError",
                  "Cannot view a tensor with shape %s and strides %s as a tensor with shape %s!",
                  py_size_text(c, m->size, m->ndim), py_tuple_text(c, m->stride, m->ndim),
                  py_tuple_text(c, shape, n));
}

static bool copied_geometry(struct call *c, const sym_id *shape, uint32_t n, struct geometry *g,
                            bool *copied)
{
    if (n)
        memcpy(g->size, shape, n * sizeof(*shape));
    g->n = n;
    g->offset = SYM_ID_ZERO;
    contiguous_strides(c, shape, n, g->stride);
    *copied = true;
    return !c->failed;
}

/* Gives dimension `at` that length by merging it with the dimensions behind it and splitting the
 * result. Clears *viewable where no view can do so. */
static bool take_dimension(struct call *c, struct tensor x, struct geometry *g, uint32_t at,
                           sym_id length, bool *viewable)
{
    sym_id taken = g->size[at];
    uint32_t end = at;
    while (!c->failed && guard_bool(c, py_ne(c, mod(c, taken, length), SYM_ID_ZERO))) {
        if (++end >= g->n)
            return refuse(c, "IndexError", "tuple index out of range");
        taken = mul(c, taken, g->size[end]);
    }
    struct geometry ignored;
    if (end != at) {
        if (!collapse(c, g, at, end, NULL, &ignored)) {
            *viewable = false;
            return !c->failed;
        }
        if (!flatten(c, x, g, at, end))
            return false;
    }
    return !guard_bool(c, py_ne(c, taken, length)) || split_dim(c, x, g, at, length);
}

/* _reshape_view_helper_core_alg */
static bool view_dimensions(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                            bool allow_copy, struct geometry *g, bool *copied)
{
    uint32_t at = 0;
    bool same = true;
    for (uint32_t i = 0; i < n && !c->failed; i++, at++) {
        same &= at < g->n;
        if (at >= g->n) { /* The remaining sizes of shape must be 1. */
            if (guard_bool(c, py_ne(c, shape[i], SYM_ID_ONE)))
                return refuse(c, "AssertionError",
                              "Cannot unsqueeze dimension with length %s, expected 1",
                              sym_text(c, shape[i]));
            if (!split_dim(c, x, g, g->n - 1, g->size[g->n - 1]))
                return false;
            continue;
        }
        if (guard_bool(c, py_eq(c, shape[i], g->size[at])))
            continue;
        bool viewable = true;
        same = false;
        if (!take_dimension(c, x, g, at, shape[i], &viewable))
            return false;
        if (!viewable)
            return allow_copy ? copied_geometry(c, shape, n, g, copied)
                              : cannot_view(c, x, shape, n);
    }
    while (at < g->n && !c->failed) { /* The remaining dimensions of g must have size 1. */
        CHECK(c, py_eq(c, g->size[at], SYM_ID_ONE), "RuntimeError",
              "a.size(%u) expected to be 1 but got %s", at, sym_text(c, g->size[at]));
        if (!guard_or_false(c, py_eq(c, g->size[at], SYM_ID_ONE)))
            return refuse(c, "AssertionError", "a dimension that is no 1 cannot be squeezed");
        same = false;
        count_call(c, "prims.squeeze", x, g, (sym_id[]){ num(c, at) }, 1, 1);
        geometry_remove(g, at);
        geometry_pass(c, x, g);
    }
    if (same)
        count_call(c, "prims.view_of", x, g, NULL, 0, 1);
    return !c->failed;
}

/* --- Choice of the algorithm --- */

static bool set_geometry(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n)
{
    if (n)
        memcpy(g->size, shape, n * sizeof(*shape));
    g->n = n;
    contiguous_strides(c, shape, n, g->stride);
    count_dispatches(c, 1);
    return !c->failed;
}

/* A view from or to a 0-dim tensor: every size must be 1. */
static bool view_scalar(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                        struct geometry *g, bool check_only)
{
    bool from_scalar = g->n == 0;
    uint32_t count = from_scalar ? n : g->n;
    const sym_id *sizes = from_scalar ? shape : g->size;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        if (check_only)
            CHECK(c, py_eq(c, sizes[i], SYM_ID_ONE), "RuntimeError",
                  "Expected cond to be True, but got False.");
        else if (guard_bool(c, py_ne(c, sizes[i], SYM_ID_ONE)))
            return refuse(c, "AssertionError",
                          from_scalar
                              ? "Cannot reshape 0-dim tensor: shape dimension must be 1, got %s"
                              : "Cannot reshape to 0-dim tensor: shape dimension must be 1, got %s",
                          sym_text(c, sizes[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        count_call(c, from_scalar ? "prims.unsqueeze" : "prims.squeeze", x, g,
                   (sym_id[]){ num(c, i) }, 1, 1);
    for (uint32_t i = 0; i < n; i++) {
        g->size[i] = SYM_ID_ONE;
        g->stride[i] = SYM_ID_ONE;
    }
    g->n = n;
    return !c->failed;
}

static bool view_symbolic(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                          bool allow_copy, struct geometry *g, bool *copied)
{
    sym_id elements = numel(c, x);
    if (guard_bool(c, py_eq(c, elements, SYM_ID_ZERO))) { /* prims.as_strided compares again. */
        guard_bool(c, py_eq(c, product(c, shape, n), SYM_ID_ZERO));
        return set_geometry(c, g, shape, n);
    }
    if (g->n == 0 || n == 0)
        return view_scalar(c, x, shape, n, g, false);
    if (contiguous_or_false(c, x)) {
        if (n == 1 && g->n > 1) {
            g->size[0] = elements;
            g->stride[0] = SYM_ID_ONE;
            g->n = 1;
            count_dispatches(c, 1);
            return !c->failed;
        }
        if (n == 2 && g->n == 1) {
            g->size[0] = shape[0];
            g->size[1] = g->stride[0] = shape[1];
            g->stride[1] = SYM_ID_ONE;
            g->n = 2;
            count_dispatches(c, 1);
            return !c->failed;
        }
    }
    CHECK(c, py_eq(c, elements, product(c, shape, n)), "RuntimeError",
          "Could not reshape a tensor with shape %s as a tensor with shape %s!",
          py_size_text(c, x.meta->size, x.meta->ndim), py_tuple_text(c, shape, n));
    return view_dimensions(c, x, shape, n, allow_copy, g, copied);
}

static bool view_unbacked(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                          bool allow_copy, bool oblivious, struct geometry *g, bool *copied)
{
    if (g->n == 0 || n == 0)
        return view_scalar(c, x, shape, n, g, true);
    CHECK(c, py_eq(c, numel(c, x), product(c, shape, n)), "RuntimeError",
          "Could not reshape a tensor with shape %s as a tensor with shape %s!",
          py_size_text(c, x.meta->size, x.meta->ndim), py_tuple_text(c, shape, n));
    if (n == g->n && guard_or_false(c, all_equal(c, shape, g->size, n))) {
        count_call(c, "prims.view_of", x, g, NULL, 0, 1);
        return !c->failed;
    }
    if (oblivious ? contiguous_or_false(c, x) : is_contiguous(c, x, FORMAT_CONTIGUOUS))
        return set_geometry(c, g, shape, n);
    sym_id stride[TENSOR_MAX_DIM];
    if (compute_stride(c, g, shape, n, oblivious ? STRIDE_OBLIVIOUS : STRIDE_EXACT, stride)) {
        if (n)
            memcpy(g->size, shape, n * sizeof(*shape));
        memcpy(g->stride, stride, n * sizeof(*stride));
        g->n = n;
        count_dispatches(c, 1);
        return !c->failed;
    }
    if (c->failed)
        return false;
    if (oblivious)
        return view_unbacked(c, x, shape, n, allow_copy, false, g, copied);
    return allow_copy ? copied_geometry(c, shape, n, g, copied) : cannot_view(c, x, shape, n);
}

static bool view_plain(struct call *c, const sym_id *shape, uint32_t n, bool allow_copy,
                       struct geometry *g, bool *copied)
{
    sym_id stride[TENSOR_MAX_DIM];
    if (!compute_stride(c, g, shape, n, STRIDE_CPP, stride)) {
        if (c->failed)
            return false;
        if (allow_copy)
            return copied_geometry(c, shape, n, g, copied);
        return refuse(c, "RuntimeError",
                      "view size is not compatible with input tensor's size and stride (at least "
                      "one dimension spans across two contiguous subspaces). Use .reshape(...) "
                      "instead.");
    }
    if (n)
        memcpy(g->size, shape, n * sizeof(*shape));
    memcpy(g->stride, stride, n * sizeof(*stride));
    g->n = n;
    return true;
}

static bool any_unbacked(struct call *c, const sym_id *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_number(c, items[i]) && env_has_unbacked(c->env, items[i]))
            return true;
    return false;
}

bool view_geometry(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                   bool allow_copy, struct geometry *ret, bool *copied)
{
    *copied = false;
    *ret = geometry_of(x);
    if (!x.meta || !check_ndim(c, n))
        return false;
    sym_id full[TENSOR_MAX_DIM];
    bool unbacked = env_settings(c->env)->backed_size_oblivious || any_unbacked(c, shape, n) ||
                    any_unbacked(c, ret->size, ret->n) || any_unbacked(c, ret->stride, ret->n);
    if (!infer_shape(c, x, shape, n, full))
        return false;
    if (eager(c))
        return view_plain(c, full, n, allow_copy, ret, copied);
    if (unbacked)
        return view_unbacked(c, x, full, n, allow_copy, true, ret, copied);
    return view_symbolic(c, x, full, n, allow_copy, ret, copied);
}
