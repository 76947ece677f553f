/* Computes the geometry of the views that move, add and drop dimensions. Concrete sizes follow
 * C++ (ATen/native/TensorShape.cpp, ATen/ExpandUtils.cpp), symbolic ones follow torch/_refs. */
#include "replay/ops/rules/view/views.h"

#include <inttypes.h>
#include <string.h>

/* --- expand --- */

/* Computes the strides of broadcast_in_dim (torch/_prims). The tensor's dimensions are the last
 * ones of shape, or all but dimension `at`. */
static bool broadcast_strides(struct call *c, const struct geometry *g, const sym_id *shape,
                              uint32_t n, uint32_t at, struct geometry *ret)
{
    uint32_t old = 0, leading = at < n ? 0 : n - g->n;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        sym_id *stride = &ret->stride[i];
        ret->size[i] = shape[i];
        if (i < leading || i == at) {
            if (guard_or_true(c, py_ne(c, shape[i], SYM_ID_ONE)))
                *stride = SYM_ID_ZERO;
            else
                *stride = old == g->n ? SYM_ID_ONE : mul(c, g->stride[old], g->size[old]);
            continue;
        }
        sym_id size = g->size[old];
        *stride = g->stride[old++];
        if (!guard_or_false(c, py_eq(c, size, SYM_ID_ONE)))
            CHECK(c, py_eq(c, size, shape[i]), "RuntimeError",
                  "non-broadcasting semantics require %s == %s", sym_text(c, size),
                  sym_text(c, shape[i]));
        else if (!guard_or_false(c, py_eq(c, size, shape[i])))
            *stride = SYM_ID_ZERO;
    }
    ret->n = n;
    ret->offset = g->offset;
    return !c->failed;
}

/* prims.broadcast_in_dim, and aten.as_strided within */
static void count_broadcast(struct call *c)
{
    if (c->symbolic)
        count_dispatches(c, 2);
}

static sym_id broadcastable(struct call *c, sym_id size, sym_id wanted)
{
    return sym_or(c->pool, py_eq(c, size, SYM_ID_ONE), py_eq(c, wanted, size));
}

bool geometry_expand_reference(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n)
{
    if (!check_ndim(c, n))
        return false;
    REQUIRE(c, n >= g->n, "RuntimeError", "expand: the requested shape has too few dimensions!");
    sym_id wanted[TENSOR_MAX_DIM];
    if (n) /* A shape without sizes has no array. */
        memcpy(wanted, shape, n * sizeof(*shape));
    for (uint32_t i = 0; i < g->n && !c->failed; i++) {
        sym_id *w = &wanted[i + n - g->n];
        if (guard_or_false(c, eq_int(c, *w, -1))) {
            *w = g->size[i];
            continue;
        }
        CHECK(c, broadcastable(c, g->size[i], *w), "RuntimeError",
              "expand: attempting to expand a dimension of length %s -> %s!",
              sym_text(c, g->size[i]), sym_text(c, *w));
        CHECK(c, py_ge(c, *w, SYM_ID_ZERO), "RuntimeError", "expand: a negative size");
    }
    for (uint32_t i = 0; i < n && !c->failed; i++)
        CHECK(c, py_ge(c, wanted[i], SYM_ID_ZERO), "RuntimeError",
              "Received an invalid shape dimension of %s", sym_text(c, wanted[i]));
    for (uint32_t i = 0; i < g->n && !c->failed; i++)
        CHECK(c, broadcastable(c, g->size[i], wanted[i + n - g->n]), "RuntimeError",
              "%s must be broadcastable to %s", sym_text(c, g->size[i]),
              sym_text(c, wanted[i + n - g->n]));
    struct geometry ret;
    if (!broadcast_strides(c, g, wanted, n, n, &ret))
        return false;
    *g = ret;
    return true;
}

/* inferExpandGeometry */
static bool expand_plain(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n)
{
    REQUIRE(c, n >= g->n, "RuntimeError",
            "expand(%s, size=%s): the number of sizes provided (%u) must be greater or equal to "
            "the number of dimensions in the tensor (%u)",
            sizes_text(c, g->size, g->n), sizes_text(c, shape, n), n, g->n);
    struct geometry ret = { .n = n, .offset = g->offset };
    uint32_t leading = n - g->n;
    for (uint32_t i = n; i-- > 0;) {
        bool exists = i >= leading;
        sym_id size = exists ? g->size[i - leading] : SYM_ID_ONE;
        sym_id stride = exists      ? g->stride[i - leading]
                        : i + 1 < n ? mul(c, ret.size[i + 1], ret.stride[i + 1])
                                    : SYM_ID_ZERO;
        sym_id wanted = shape[i];
        if (is_int(c, wanted, -1)) {
            REQUIRE(c, exists, "RuntimeError",
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
                    "dimension %u",
                    i);
            wanted = size;
        }
        if (wanted != size) {
            REQUIRE(c, size == SYM_ID_ONE, "RuntimeError",
                    "The expanded size of the tensor (%s) must match the existing size (%s) at "
                    "non-singleton dimension %u.  Target sizes: %s.  Tensor sizes: %s",
                    sym_text(c, wanted), sym_text(c, size), i, sizes_text(c, shape, n),
                    sizes_text(c, g->size, g->n));
            stride = SYM_ID_ZERO;
        }
        ret.size[i] = wanted;
        ret.stride[i] = g->n == 0 ? SYM_ID_ZERO : stride;
    }
    *g = ret;
    return true;
}

bool geometry_expand(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n)
{
    if (!check_ndim(c, n))
        return false;
    if (eager(c))
        return expand_plain(c, g, shape, n);
    if (!geometry_expand_reference(c, g, shape, n))
        return false;
    count_broadcast(c);
    return true;
}

/* --- permute and transpose --- */

static bool bad_permutation(struct call *c, const int64_t *dims, uint32_t n, uint32_t ndim)
{
    sym_id *items = syms(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = num(c, wrap_dim(c, dims[i], ndim));
    return items &&
           refuse(c, "ValueError", "Received an invalid permutation, %s!", sizes_text(c, items, n));
}

bool geometry_permute(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n)
{
    if (eager(c))
        REQUIRE(c, n == g->n, "RuntimeError",
                "permute(sparse_coo): number of dimensions in the tensor input does not match the "
                "length of the desired ordering of dimensions i.e. input.dim() = %u is not equal "
                "to len(dims) = %u",
                g->n, n);
    struct geometry old = *g;
    bool seen[TENSOR_MAX_DIM] = { 0 };
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t dim = wrap_dim(c, dims[i], old.n);
        if (c->failed)
            return false;
        REQUIRE(c, n == old.n, "ValueError",
                "Attempting to permute a tensor of rank %u, but received a permutation of length "
                "%u!",
                old.n, n);
        if (seen[dim] && eager(c))
            return refuse(c, "RuntimeError", "permute(): duplicate dims are not allowed.");
        if (seen[dim])
            return bad_permutation(c, dims, n, old.n);
        seen[dim] = true;
        g->size[i] = old.size[dim];
        g->stride[i] = old.stride[dim];
    }
    REQUIRE(c, n == old.n, "ValueError",
            "Attempting to permute a tensor of rank %u, but received a permutation of length %u!",
            old.n, n);
    if (c->symbolic)
        count_dispatches(c, 2);
    return !c->failed;
}

bool geometry_transpose(struct call *c, struct geometry *g, int64_t dim0, int64_t dim1)
{
    uint32_t a = wrap_dim(c, dim0, g->n), b = wrap_dim(c, dim1, g->n);
    if (c->failed)
        return false;
    if (c->symbolic)
        count_dispatches(c, g->n <= 1 || dim0 == dim1 ? 1 : 3);
    if (g->n <= 1)
        return true;
    sym_id size = g->size[a], stride = g->stride[a];
    g->size[a] = g->size[b];
    g->stride[a] = g->stride[b];
    g->size[b] = size;
    g->stride[b] = stride;
    return true;
}

/* --- unsqueeze and squeeze --- */

bool geometry_unsqueeze(struct call *c, struct geometry *g, int64_t dim)
{
    uint32_t at = wrap_dim(c, dim, g->n + 1);
    if (c->failed)
        return false;
    if (eager(c))
        return geometry_insert(c, g, at, SYM_ID_ONE,
                               at >= g->n ? SYM_ID_ONE : mul(c, g->size[at], g->stride[at]));
    struct geometry wider = *g, ret;
    if (!geometry_insert(c, &wider, at, SYM_ID_ONE, SYM_ID_ONE))
        return false;
    if (!broadcast_strides(c, g, wider.size, wider.n, at, &ret))
        return false;
    count_broadcast(c);
    *g = ret;
    return true;
}

/* prims.squeeze evaluates the caller's condition again. */
static bool squeeze_one(struct call *c, struct geometry *g, uint32_t dim)
{
    if (guard_bool(c, py_ne(c, g->size[dim], SYM_ID_ONE)))
        return refuse(c, "AssertionError", "Cannot squeeze dimension %u with size %s (must be 1)",
                      dim, sym_text(c, g->size[dim]));
    geometry_remove(g, dim);
    if (c->symbolic)
        count_dispatches(c, 2);
    return !c->failed;
}

bool geometry_squeeze(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n)
{
    bool chosen[TENSOR_MAX_DIM] = { 0 };
    uint32_t wrapped[TENSOR_MAX_DIM], count = 0;
    if (!check_ndim(c, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        wrapped[i] = wrap_dim(c, dims[i], g->n);
    if (c->failed || g->n == 0)
        return !c->failed;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (chosen[wrapped[i]])
            return refuse(c, "RuntimeError", "dim %u appears multiple times in the list of dims",
                          wrapped[i]);
        if (!guard_or_false(c, py_eq(c, g->size[wrapped[i]], SYM_ID_ONE)))
            continue;
        chosen[wrapped[i]] = true;
        count++;
    }
    for (uint32_t i = g->n; i-- > 0 && !c->failed;) {
        if (!chosen[i])
            continue;
        /* torch/_refs squeezes several dimensions one by one and compares the size of each
         * again. */
        if (count > 1 && !guard_or_false(c, py_eq(c, g->size[i], SYM_ID_ONE)))
            continue;
        if (!squeeze_one(c, g, i))
            return false;
    }
    return !c->failed;
}

bool geometry_squeeze_all(struct call *c, struct geometry *g)
{
    int64_t dims[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < g->n; i++)
        dims[i] = i;
    return geometry_squeeze(c, g, dims, g->n);
}

/* --- diagonal --- */

bool geometry_diagonal(struct call *c, struct geometry *g, int64_t offset, int64_t dim1,
                       int64_t dim2)
{
    uint32_t a = wrap_dim(c, dim1, g->n), b = wrap_dim(c, dim2, g->n);
    if (c->failed)
        return false;
    if (!eager(c))
        REQUIRE(c, a != b, "RuntimeError", "diagonal dimensions cannot be identical %u, %u", a, b);
    REQUIRE(c, a != b, "RuntimeError",
            "diagonal dimensions cannot be identical %" PRId64 ", %" PRId64, dim1, dim2);
    sym_id size, shift;
    if (offset >= 0) {
        size = sym_min2(c, g->size[a], sub(c, g->size[b], num(c, offset)));
        shift = mul(c, num(c, offset), g->stride[b]);
    } else {
        size = sym_min2(c, add(c, g->size[a], num(c, offset)), g->size[b]);
        shift = mul(c, sub(c, SYM_ID_ZERO, num(c, offset)), g->stride[a]);
    }
    size = sym_max2(c, size, SYM_ID_ZERO);
    if (!eager(c) || size != SYM_ID_ZERO)
        g->offset = add(c, g->offset, shift);
    sym_id stride = add(c, g->stride[a], g->stride[b]);
    geometry_remove(g, a > b ? a : b);
    geometry_remove(g, a > b ? b : a);
    if (!eager(c))
        count_dispatches(c, 1);
    return geometry_insert(c, g, g->n, size, stride);
}
