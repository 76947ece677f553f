/* Computes the geometry of slice, select, narrow and unfold. */
#include "replay/ops/rules/view/views.h"

#include <inttypes.h>

static sym_id negate_size(struct call *c, sym_id e)
{
    return mul(c, SYM_ID_MINUS_ONE, e);
}

/* _compute_slice_index of torch/_subclasses/fake_impls.py. Returns SYM_NONE where the index
 * depends on data. */
static sym_id slice_index(struct call *c, sym_id size, sym_id index)
{
    sym_id from_start = sym_and(c->pool, py_ge(c, index, SYM_ID_ZERO), py_le(c, index, size));
    if (guard_or_false(c, from_start))
        return index;
    sym_id from_end =
        sym_and(c->pool, py_lt(c, index, SYM_ID_ZERO), py_ge(c, index, negate_size(c, size)));
    if (guard_or_false(c, from_end))
        return add(c, index, size);
    if (guard_or_false(c, py_lt(c, index, negate_size(c, size))))
        return SYM_ID_ZERO;
    if (guard_or_false(c, py_gt(c, index, size)))
        return size;
    if (guard_or_false(c, py_ge(c, index, SYM_ID_ZERO)))
        return sym_min2(c, index, size);
    if (guard_or_false(c, py_lt(c, index, SYM_ID_ZERO)))
        return sym_max2(c, add(c, index, size), SYM_ID_ZERO);
    return SYM_NONE;
}

static sym_id unknown_length(struct call *c, sym_id size)
{
    sym_id ret = new_unbacked(c);
    CHECK(c, py_ge(c, ret, SYM_ID_ZERO), "RuntimeError", "slice of a negative length");
    CHECK(c, py_le(c, ret, size), "RuntimeError", "slice longer than its dimension");
    return ret;
}

static sym_id slice_length(struct call *c, sym_id size, sym_id first, sym_id last, sym_id step)
{
    if (first == SYM_NONE || last == SYM_NONE)
        return unknown_length(c, size);
    sym_id round = sub(c, step, SYM_ID_ONE), length;
    if (guard_or_false(c, py_ge(c, last, first)))
        length = sub(c, last, first);
    else if (guard_or_false(c, py_ge(c, first, last)))
        return SYM_ID_ZERO;
    else if (behaves(c->env, BEHAVIOR_SLICE_LENGTH_IS_A_MAX))
        length = sym_max2(c, sub(c, last, first), SYM_ID_ZERO);
    else
        return unknown_length(c, size);
    return floordiv(c, add(c, length, round), step);
}

/* Returns a bound of slice_forward of torch/_decomp/decompositions.py, at least `least`. */
static sym_id clamped_bound(struct call *c, sym_id bound, sym_id least, sym_id size)
{
    if (guard_bool(c, py_lt(c, bound, least)))
        return least;
    return guard_bool(c, py_gt(c, bound, size)) ? size : bound;
}

/* slice_forward of torch/_decomp/decompositions.py, which computes slices of tensors on the meta
 * device: those that meta kernels in Python make. */
static bool slice_forward(struct call *c, struct geometry *g, uint32_t at, struct value start,
                          struct value end, sym_id step)
{
    sym_id size = g->size[at], stride = g->stride[at];
    sym_id first = start.kind == VALUE_NONE ? SYM_ID_ZERO : start.u.sym;
    sym_id last = end.kind == VALUE_NONE ? num(c, INT64_MAX) : end.u.sym;
    if (guard_bool(c, py_lt(c, first, SYM_ID_ZERO)))
        first = add(c, first, size);
    if (guard_bool(c, py_lt(c, last, SYM_ID_ZERO)))
        last = add(c, last, size);
    first = clamped_bound(c, first, SYM_ID_ZERO, size);
    last = known_true(c, py_eq(c, last, num(c, INT64_MAX))) ? size
                                                            : clamped_bound(c, last, first, size);
    sym_id length = sub(c, last, first);
    g->size[at] = floordiv(c, sub(c, add(c, length, step), SYM_ID_ONE), step);
    g->stride[at] = mul(c, stride, step);
    g->offset = add(c, g->offset, mul(c, first, stride));
    return !c->failed;
}

bool geometry_slice(struct call *c, struct geometry *g, int64_t dim, struct value start,
                    struct value end, sym_id step, bool in_meta)
{
    REQUIRE(c, g->n > 0, !eager(c) ? "RuntimeError" : "IndexError",
            "slice() cannot be applied to a 0-dim tensor.");
    uint32_t at = wrap_dim(c, dim, g->n);
    if (c->failed)
        return false;
    if (guard_bool(c, py_le(c, step, SYM_ID_ZERO)))
        return refuse(c, "RuntimeError", "slice step must be positive");
    if (in_meta)
        return slice_forward(c, g, at, start, end, step);
    sym_id size = g->size[at], stride = g->stride[at];
    sym_id first = start.kind == VALUE_NONE ? SYM_ID_ZERO : slice_index(c, size, start.u.sym);
    sym_id last = size;
    if (end.kind != VALUE_NONE && !known_true(c, py_eq(c, end.u.sym, num(c, INT64_MAX))))
        last = slice_index(c, size, end.u.sym);
    if (c->failed)
        return false;
    g->size[at] = slice_length(c, size, first, last, step);
    g->stride[at] = mul(c, stride, step);
    if (first == SYM_NONE) {
        g->offset = new_unbacked(c);
        CHECK(c, py_ge(c, g->offset, SYM_ID_ZERO), "RuntimeError", "negative storage offset");
    } else {
        g->offset = add(c, g->offset, mul(c, first, stride));
    }
    if (!eager(c))
        count_dispatches(c, 1);
    return !c->failed;
}

static bool select_range(struct call *c, const struct geometry *g, sym_id index, int64_t dim)
{
    return refuse(c, "IndexError",
                  "select(): index %s out of range for tensor of size %s at dimension %" PRId64,
                  sym_text(c, index), sizes_text(c, g->size, g->n), dim);
}

/* meta_select of torch/_subclasses/fake_impls.py */
bool geometry_select(struct call *c, struct geometry *g, int64_t dim, sym_id index)
{
    REQUIRE(c, g->n > 0, "IndexError", "select() cannot be applied to a 0-dim tensor.");
    uint32_t at = wrap_dim(c, dim, g->n);
    if (c->failed)
        return false;
    sym_id size = g->size[at], stride = g->stride[at];
    if (eager(c) &&
        (guard_bool(c, ge(c, index, size)) || guard_bool(c, lt(c, index, negate_size(c, size)))))
        return select_range(c, g, index, at);
    if (!eager(c) && behaves(c->env, BEHAVIOR_SELECT_CHECKS_INDEX) &&
        (guard_or_false(c, py_ge(c, index, size)) ||
         guard_or_false(c, py_lt(c, index, negate_size(c, size)))))
        return select_range(c, g, index, at);
    if (guard_or_false(c, py_ge(c, index, SYM_ID_ZERO)))
        g->offset = add(c, g->offset, mul(c, index, stride));
    else if (guard_or_false(c, py_lt(c, index, SYM_ID_ZERO)))
        g->offset = add(c, g->offset, mul(c, add(c, index, size), stride));
    else
        g->offset = new_unbacked(c);
    geometry_remove(g, at);
    if (!eager(c))
        count_dispatches(c, 1);
    return !c->failed;
}

/* narrow_symint of ATen/native/TensorShape.cpp, which calls slice */
bool geometry_narrow(struct call *c, struct geometry *g, int64_t dim, sym_id start, sym_id length,
                     bool in_meta)
{
    REQUIRE(c, g->n > 0, "RuntimeError", "narrow() cannot be applied to a 0-dim tensor.");
    CHECK(c, ge(c, length, SYM_ID_ZERO), "RuntimeError", "narrow(): length must be non-negative.");
    uint32_t at = wrap_dim(c, dim, g->n);
    if (c->failed)
        return false;
    sym_id size = g->size[at], least = negate_size(c, size);
    CHECK(c, sym_and(c->pool, le(c, least, start), le(c, start, size)), "IndexError",
          "start out of range (expected to be in range of [%s, %s], but got %s)",
          sym_text(c, least), sym_text(c, size), sym_text(c, start));
    bool from_end = guard_or_false(c, lt(c, start, SYM_ID_ZERO));
    if (from_end || guard_or_false(c, ge(c, start, SYM_ID_ZERO))) {
        if (from_end)
            start = add(c, start, size);
        CHECK(c, le(c, start, sub(c, size, length)), "RuntimeError",
              "start (%s) + length (%s) exceeds dimension size (%s).", sym_text(c, start),
              sym_text(c, length), sym_text(c, size));
    }
    if (c->failed)
        return false;
    return geometry_slice(c, g, at, value_int(start), value_int(add(c, start, length)), SYM_ID_ONE,
                          in_meta);
}

/* _get_unfold_shape_stride of torch/_refs. The messages of C++ are in lower case. */
bool geometry_unfold(struct call *c, struct geometry *g, int64_t dim, sym_id size, sym_id step)
{
    uint32_t at = wrap_dim(c, dim, g->n);
    if (c->failed)
        return false;
    bool scalar = g->n == 0;
    sym_id most = scalar ? SYM_ID_ONE : g->size[at];
    sym_id stride = scalar ? SYM_ID_ONE : g->stride[at];
    if (eager(c))
        CHECK(c, ge(c, size, SYM_ID_ZERO), "RuntimeError", "size is %s but must be >= 0",
              sym_text(c, size));
    CHECK(c, py_le(c, size, most), "RuntimeError",
          "%caximum size for tensor at dimension %u is %s but size is %s", !eager(c) ? 'M' : 'm',
          at, sym_text(c, most), sym_text(c, size));
    CHECK(c, py_gt(c, step, SYM_ID_ZERO), "RuntimeError", "%ctep is %s but must be > 0",
          !eager(c) ? 'S' : 's', sym_text(c, step));
    if (c->failed)
        return false;
    if (!scalar) {
        g->size[at] = add(c, floordiv(c, sub(c, most, size), step), SYM_ID_ONE);
        g->stride[at] = mul(c, stride, step);
    }
    if (!eager(c))
        count_dispatches(c, 1);
    return geometry_insert(c, g, g->n, size, stride);
}
