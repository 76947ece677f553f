/* slice_scatter and similar operators, the backward forms of views, and operators that resize or
 * set a tensor in place. */
#include "replay/ops/rules/factory/factories.h"
#include "replay/ops/rules/pointwise/pointwise.h"
#include "replay/ops/rules/view/views.h"

#include <string.h>

static sym_id required_elements(struct call *c, const sym_id *size, const sym_id *stride,
                                uint32_t n, sym_id offset)
{
    if (guard_or_false(c, py_eq(c, product(c, size, n), SYM_ID_ZERO)))
        return SYM_ID_ZERO;
    sym_id last = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n; i++)
        last = add(c, last, mul(c, sub(c, size[i], SYM_ID_ONE), stride[i]));
    return add(c, add(c, SYM_ID_ONE, offset), last);
}

/* clone_preserve_strides of torch/_prims_common: copies the memory that x spans, and returns a
 * view of the copy with the strides of x. */
static struct tensor strided_copy(struct call *c, struct tensor x)
{
    const struct tensor_meta *m = x.meta;
    if (eager(c) && m->offset == SYM_ID_ZERO)
        return new_tensor_strided(c, m->dtype, m->device, m->size, m->stride, m->ndim);
    sym_id span = required_elements(c, m->size, m->stride, m->ndim, m->offset);
    const sym_id one[] = { SYM_ID_ONE };
    if (!eager(c)) { /* aten.empty_strided checks the storage's size (ATen/EmptyTensor.cpp). */
        if (!check_sizes(c, &span, 1))
            return x;
        (void)guard_or_false(c, eq(c, span, SYM_ID_ZERO));
    }
    struct tensor buffer = new_tensor_strided(c, m->dtype, m->device, &span, one, 1);
    return new_view(c, buffer, m->size, m->stride, m->ndim, m->offset);
}

/* _scatter_meta_output of torch/_meta_registrations.py */
static bool ret_scatter_copy(struct call *c, struct tensor x)
{
    if (!eager(c) && behaves(c->env, BEHAVIOR_SCATTER_CLONES_OVERLAPPING) &&
        has_only_hinted(c, x.meta) && surely_overlaps(c, x))
        return ret_tensor(c, call_clone(c, x));
    return !c->failed && ret_tensor(c, strided_copy(c, x));
}

static bool source_mismatch(struct call *c, struct tensor source, const struct geometry *part,
                            const char *what)
{
    return refuse(
        c, "RuntimeError",
        "expected src to have a size equal to the %s of self. src size = %s, %s size = %s", what,
        sizes_text(c, source.meta->size, source.meta->ndim), what,
        sizes_text(c, part->size, part->n));
}

static bool same_size(struct call *c, struct tensor source, const struct geometry *part)
{
    if (source.meta->ndim != part->n)
        return false;
    for (uint32_t i = 0; i < part->n && !c->failed; i++)
        if (guard_bool(c, py_ne(c, source.meta->size[i], part->size[i])))
            return false;
    return !c->failed;
}

/* Eager PyTorch compares the sizes; meta_slice_scatter of torch/_meta_registrations.py does not. */
static bool ret_slice_scatter(struct call *c, struct tensor x, struct tensor source, int64_t dim,
                              struct value start, struct value end, sym_id step)
{
    if (!x.meta || !source.meta)
        return false;
    struct geometry part = geometry_of(x);
    if (!eager(c))
        return ret_scatter_copy(c, x);
    if (!geometry_slice(c, &part, dim, start, end, step, false))
        return false;
    if (!same_size(c, source, &part))
        return source_mismatch(c, source, &part, "slice");
    return ret_scatter_copy(c, x);
}

bool rule_slice_scatter(struct call *c)
{
    return ret_slice_scatter(c, arg_tensor(c, 0), arg_tensor(c, 1), arg_int(c, 2), arg(c, 3),
                             arg(c, 4), arg_sym(c, 5));
}

static bool ret_select_scatter(struct call *c, struct tensor x, struct tensor source, int64_t dim,
                               sym_id index)
{
    if (!x.meta || !source.meta)
        return false;
    uint32_t at = wrap_dim(c, dim, x.meta->ndim);
    if (c->failed)
        return false;
    if (!eager(c))
        return ret_scatter_copy(c, x);
    struct geometry part = geometry_of(x);
    if (!geometry_select(c, &part, at, index))
        return false;
    if (!same_size(c, source, &part))
        return source_mismatch(c, source, &part, "slice");
    return ret_scatter_copy(c, x);
}

bool rule_select_scatter(struct call *c)
{
    return ret_select_scatter(c, arg_tensor(c, 0), arg_tensor(c, 1), arg_int(c, 2), arg_sym(c, 3));
}

/* diagonal_scatter of torch/_refs compares the sizes, then the numbers of elements; the meta
 * function that replaced it does not. */
static bool diagonal_source(struct call *c, struct tensor source, const struct geometry *part)
{
    if (!eager(c) && behaves(c->env, BEHAVIOR_DIAGONAL_SCATTER_HAS_META))
        return true;
    if (eager(c))
        return same_size(c, source, part) || source_mismatch(c, source, part, "slice");
    bool same = source.meta->ndim == part->n;
    sym_id differs = SYM_ID_FALSE;
    for (uint32_t i = 0; same && i < part->n; i++)
        differs = sym_or(c->pool, differs, py_ne(c, part->size[i], source.meta->size[i]));
    if (!same || guard_or_false(c, differs))
        return refuse(c, "RuntimeError",
                      "expected src to have a size equal to the diagonal of the input.Got %s for a "
                      "diagonal of shape %s",
                      py_size_text(c, source.meta->size, source.meta->ndim),
                      py_size_text(c, part->size, part->n));
    sym_id elements = geometry_numel(c, part);
    if (guard_bool(c, py_ne(c, elements, numel(c, source))))
        return refuse(c, "RuntimeError",
                      "Attempting to copy %s elements to a tensor with %s elements!",
                      sym_text(c, numel(c, source)), sym_text(c, elements));
    return !c->failed;
}

static bool ret_diagonal_scatter(struct call *c, struct tensor x, struct tensor source,
                                 int64_t offset, int64_t dim1, int64_t dim2)
{
    if (!x.meta || !source.meta)
        return false;
    struct geometry part = geometry_of(x);
    return geometry_diagonal(c, &part, offset, dim1, dim2) && diagonal_source(c, source, &part) &&
           ret_scatter_copy(c, x);
}

bool rule_diagonal_scatter(struct call *c)
{
    return ret_diagonal_scatter(c, arg_tensor(c, 0), arg_tensor(c, 1), arg_int(c, 2), arg_int(c, 3),
                                arg_int(c, 4));
}

/* --- as_strided_scatter --- */

/* validate_shape and validate_strides of torch/_prims_common/__init__.py */
static bool validate_layout(struct call *c, const sym_id *size, const sym_id *stride, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->failed; i++)
        check(c, py_ge(c, size[i], SYM_ID_ZERO), "RuntimeError",
              "Expected cond to be True, but got False. (Could this error message be improved? If "
              "so, please report an enhancement request to PyTorch.)");
    for (uint32_t i = 0; i < n && !c->failed; i++)
        if (guard_bool(c, py_lt(c, stride[i], SYM_ID_ZERO)))
            return refuse(c, "AssertionError", "stride must be non-negative, got %s",
                          sym_text(c, stride[i]));
    return !c->failed;
}

/* is_same_shape, which is one condition of all sizes (sym_eq); the kernel has the slice at its left
 */
static bool is_same_shape(struct call *c, struct tensor source, const struct geometry *part)
{
    sym_id same = SYM_ID_TRUE;
    bool by_kernel = behaves(c->env, BEHAVIOR_STRIDED_SCATTER_IS_A_META_KERNEL);
    if (!behaves(c->env, BEHAVIOR_SHAPES_ARE_COMPARED_AT_ONCE) || eager(c))
        return same_size(c, source, part);
    if (source.meta->ndim != part->n)
        return false;
    for (uint32_t i = 0; i < part->n; i++)
        same = sym_and(c->pool, same,
                       by_kernel ? py_eq(c, part->size[i], source.meta->size[i])
                                 : py_eq(c, source.meta->size[i], part->size[i]));
    return check(
        c, same, "RuntimeError",
        "expected src to have a size equal to the slice of self. src size = %s, slice size "
        "= %s",
        sizes_text(c, source.meta->size, part->n), sizes_text(c, part->size, part->n));
}

/* as_strided_scatter_symint of aten/src/ATen/native/TensorShape.cpp: copies source to a view of a
 * clone. */
static bool strided_scatter_kernel(struct call *c, struct tensor x, struct tensor source,
                                   const struct geometry *part)
{
    struct tensor out = strided_copy(c, x);
    if (c->failed)
        return false;
    if (!is_same_shape(c, source, part))
        return c->failed ? false : source_mismatch(c, source, part, "slice");
    struct tensor slice = geometry_view(c, out, part);
    return !c->failed && check_meta_copy(c, slice, source) && ret_tensor(c, out);
}

bool rule_as_strided_scatter(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), source = arg_tensor(c, 1);
    struct geometry part = { .n = 0 };
    const sym_id *size, *stride;
    uint32_t n = arg_syms(c, 2, &size), n_stride = arg_syms(c, 3, &stride);
    sym_id offset = arg_given(c, 4) ? arg_sym(c, 4) : SYM_ID_ZERO;
    if (!x.meta || !source.meta || !check_ndim(c, n))
        return false;
    REQUIRE(c, n == n_stride, "RuntimeError", "mismatch in length of strides and shape");
    part.n = n;
    part.offset = offset;
    for (uint32_t i = 0; i < n; i++) {
        part.size[i] = size[i];
        part.stride[i] = stride[i];
    }
    if (!eager(c) && behaves(c->env, BEHAVIOR_STRIDED_SCATTER_IS_A_META_KERNEL))
        return strided_scatter_kernel(c, x, source, &part);
    if (!eager(c) && !validate_layout(c, size, stride, n))
        return false;
    sym_id required = required_elements(c, size, stride, n, offset);
    sym_id bytes = num(c, (int64_t)dtype_size(x.meta->dtype));
    sym_id elements = !eager(c) ? numel(c, x)
                                : required_elements(c, x.meta->size, x.meta->stride, x.meta->ndim,
                                                    x.meta->offset);
    if (!eager(c))
        CHECK(c, py_ge(c, elements, required), "RuntimeError",
              "as_strided_scatter: sizes %s, strides %s, storage offset %s  and itemsize %s "
              "requiring a storage size of %s are out of bounds for storage of size %s",
              sizes_text(c, size, n), sizes_text(c, stride, n), sym_text(c, offset),
              sym_text(c, bytes), sym_text(c, mul(c, required, bytes)),
              sym_text(c, mul(c, elements, bytes)));
    else
        CHECK(c, ge(c, elements, required), "RuntimeError",
              "setStorage: sizes %s, strides %s, storage offset %s, and itemsize %s requiring a "
              "storage size of %s are out of bounds for storage of size %s",
              sizes_text(c, size, n), sizes_text(c, stride, n), sym_text(c, offset),
              sym_text(c, bytes), sym_text(c, mul(c, required, bytes)),
              sym_text(c, mul(c, elements, bytes)));
    if (c->failed)
        return false;
    if (!is_same_shape(c, source, &part))
        return c->failed ? false : source_mismatch(c, source, &part, "slice");
    return ret_scatter_copy(c, x);
}

/* --- Backward --- */

static struct tensor zeros_for(struct call *c, struct tensor grad)
{
    struct value args[] = { value_tensor(grad), arg(c, 1) };
    return call_tensor(c, "aten.new_zeros.default", args, 2);
}

bool rule_slice_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), zeros = zeros_for(c, grad);
    if (!eager(c))
        count_dispatches(c, 1);
    return ret_slice_scatter(c, zeros, grad, arg_int(c, 2), arg(c, 3), arg(c, 4), arg_sym(c, 5));
}

bool rule_select_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), zeros = zeros_for(c, grad);
    if (!eager(c))
        count_dispatches(c, 1);
    return ret_select_scatter(c, zeros, grad, arg_int(c, 2), arg_sym(c, 3));
}

bool rule_diagonal_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), zeros = zeros_for(c, grad);
    if (!eager(c))
        count_dispatches(c, 1);
    return ret_diagonal_scatter(c, zeros, grad, arg_int(c, 2), arg_int(c, 3), arg_int(c, 4));
}

bool rule_unfold_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    const sym_id *size;
    uint32_t n = arg_syms(c, 1, &size);
    CHECK(c, py_gt(c, arg_sym(c, 4), SYM_ID_ZERO), "ValueError", "step is %s but must be > 0",
          sym_text(c, arg_sym(c, 4)));
    if (c->failed || !grad.meta)
        return false;
    if (n)
        wrap_dim(c, arg_int(c, 2), n);
    return ret_tensor(c, new_tensor(c, grad.meta->dtype, grad.meta->device, size, n));
}

/* --- In place --- */

static bool ret_resized(struct call *c, struct tensor x, const sym_id *size, uint32_t n,
                        enum memory_format format)
{
    if (!x.meta || !check_ndim(c, n))
        return false;
    bool same = x.meta->ndim == n;
    for (uint32_t i = 0; same && i < n; i++)
        same = guard_bool(c, eq(c, x.meta->size[i], size[i]));
    if (c->failed || (same && format == FORMAT_PRESERVE))
        return !c->failed && ret_tensor(c, x);
    if (c->symbolic && !same)
        return refuse(c, "RuntimeError", "tried to directly modify sizes for customized tensor");
    sym_id stride[TENSOR_MAX_DIM];
    format_strides(c, size, n, format == FORMAT_PRESERVE ? FORMAT_CONTIGUOUS : format, stride);
    return ret_tensor(c, new_view(c, x, size, stride, n, x.meta->offset));
}

bool rule_resize(struct call *c)
{
    const sym_id *size;
    uint32_t n = arg_syms(c, 1, &size);
    return ret_resized(c, arg_tensor(c, 0), size, n, arg_format(c, 2, FORMAT_PRESERVE));
}

/* resize_as_ converts the sizes to ints: those of the template first, then those of the tensor
 * itself. */
bool rule_resize_as(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), like = arg_tensor(c, 1);
    if (!x.meta || !like.meta)
        return false;
    enum memory_format format = arg_format(c, 2, FORMAT_CONTIGUOUS);
    sym_id size[TENSOR_MAX_DIM], own[TENSOR_MAX_DIM];
    bool same = like.meta->ndim == x.meta->ndim;
    for (uint32_t i = 0; i < like.meta->ndim; i++)
        size[i] = num(c, guard_int(c, like.meta->size[i]));
    for (uint32_t i = 0; i < x.meta->ndim; i++) {
        own[i] = num(c, guard_int(c, x.meta->size[i]));
        same = same && own[i] == size[i];
    }
    if (c->failed)
        return false;
    if (format == FORMAT_PRESERVE)
        format = suggest_format(c, like);
    if (c->symbolic && !same)
        return refuse(c, "RuntimeError", "tried to directly modify sizes for customized tensor");
    if (same && !arg_given(c, 2))
        return ret_tensor(c, new_view(c, x, own, x.meta->stride, x.meta->ndim, x.meta->offset));
    sym_id stride[TENSOR_MAX_DIM];
    format_strides(c, size, like.meta->ndim, format, stride);
    return ret_tensor(c, new_view(c, x, size, stride, like.meta->ndim, x.meta->offset));
}

static struct tensor moved_to(struct call *c, struct tensor x, struct tensor source,
                              const struct geometry *g)
{
    x.storage = source.storage;
    return new_view(c, x, g->size, g->stride, g->n, g->offset);
}

bool rule_set_tensor(struct call *c)
{
    struct tensor source = arg_tensor(c, 1);
    struct geometry g = geometry_of(source);
    return ret_tensor(c, moved_to(c, arg_tensor(c, 0), source, &g));
}

/* (source, storage_offset, size, stride) */
bool rule_set_geometry(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct tensor source = arg(c, 1).kind == VALUE_TENSOR ? arg_tensor(c, 1) : x;
    const sym_id *size, *stride;
    uint32_t n = arg_syms(c, 3, &size), n_stride = arg_syms(c, 4, &stride);
    struct geometry g = { .n = n, .offset = arg_sym(c, 2) };
    if (!check_ndim(c, n))
        return false;
    memcpy(g.size, size, n * sizeof(*size));
    if (n_stride == n && n)
        memcpy(g.stride, stride, n * sizeof(*stride));
    else
        contiguous_strides(c, g.size, n, g.stride);
    return ret_tensor(c, moved_to(c, x, source, &g));
}

bool rule_set_empty(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id size[] = { SYM_ID_ZERO }, stride[] = { SYM_ID_ONE };
    if (!x.meta)
        return false;
    struct tensor fresh = new_tensor_strided(c, x.meta->dtype, x.meta->device, size, stride, 1);
    x.storage = fresh.storage;
    return ret_tensor(c, new_view(c, x, size, stride, 1, SYM_ID_ZERO));
}

/* --- view.dtype --- */

static bool view_wider(struct call *c, struct geometry *g, int64_t ratio, const char *from,
                       const char *as)
{
    uint32_t last = g->n - 1;
    sym_id by = num(c, ratio);
    if (!guard_bool(c, eq(c, mod(c, g->size[last], by), SYM_ID_ZERO)))
        return refuse(c, "RuntimeError",
                      "self.size(-1) must be divisible by %lld to view %s as %s (different element "
                      "sizes), but got %s",
                      (long long)ratio, from, as, sym_text(c, g->size[last]));
    if (!guard_bool(c, eq(c, mod(c, g->offset, by), SYM_ID_ZERO)))
        return refuse(c, "RuntimeError",
                      "self.storage_offset() must be divisible by %lld to view %s as %s (different "
                      "element sizes), but got %s",
                      (long long)ratio, from, as, sym_text(c, g->offset));
    for (uint32_t i = 0; i < last && !c->failed; i++) {
        if (!guard_bool(c, eq(c, mod(c, g->stride[i], by), SYM_ID_ZERO)))
            return refuse(c, "RuntimeError",
                          "self.stride(%u) must be divisible by %lld to view %s as %s (different "
                          "element sizes), but got %s",
                          i, (long long)ratio, from, as, sym_text(c, g->stride[i]));
        g->stride[i] = floordiv(c, g->stride[i], by);
    }
    g->size[last] = floordiv(c, g->size[last], by);
    g->offset = floordiv(c, g->offset, by);
    return !c->failed;
}

static void view_narrower(struct call *c, struct geometry *g, int64_t ratio)
{
    sym_id by = num(c, ratio);
    for (uint32_t i = 0; i + 1 < g->n; i++)
        g->stride[i] = mul(c, g->stride[i], by);
    g->size[g->n - 1] = mul(c, g->size[g->n - 1], by);
    g->offset = mul(c, g->offset, by);
}

bool rule_view_dtype(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    enum dtype from = x.meta->dtype, to = arg_dtype(c, 1, from);
    struct geometry g = geometry_of(x);
    int64_t old = (int64_t)dtype_size(from), wanted = (int64_t)dtype_size(to);
    REQUIRE(c, from == to || !x.meta->conj, "RuntimeError",
            "torch.Tensor.view is not supported for conjugate view tensors when converting to a "
            "different dtype.");
    if (old != wanted && old > 0 && wanted > 0) {
        REQUIRE(c, g.n > 0, "RuntimeError",
                "self.dim() cannot be 0 to view %s as %s (different element sizes)",
                dtype_scalar_name(from), dtype_scalar_name(to));
        if (!guard_bool(c, eq(c, g.stride[g.n - 1], SYM_ID_ONE)))
            return refuse(c, "RuntimeError",
                          "self.stride(-1) must be 1 to view %s as %s (different element sizes), "
                          "but got %s",
                          dtype_scalar_name(from), dtype_scalar_name(to),
                          sym_text(c, g.stride[g.n - 1]));
        if (old > wanted)
            view_narrower(c, &g, old / wanted);
        else if (!view_wider(c, &g, wanted / old, dtype_scalar_name(from), dtype_scalar_name(to)))
            return false;
    }
    if (c->param == AS_COPY)
        return ret_tensor(c, new_tensor(c, to, x.meta->device, g.size, g.n));
    return ret_tensor(c, new_view_dtype(c, x, to, g.size, g.stride, g.n, g.offset));
}
