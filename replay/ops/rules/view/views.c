/* The rules of views of one tensor, and of the copies that are named after them. */
#include "replay/ops/rules/view/views.h"
#include "replay/ops/layout/storage.h"

#include <inttypes.h>

static bool ret_geometry(struct call *c, struct tensor x, const struct geometry *g)
{
    if (c->failed || !x.meta)
        return false;
    if (c->param == AS_COPY)
        return ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, g->size, g->n));
    if (c->param == IN_PLACE) /* Only as_strided_() checks the size of the storage. */
        check_in_bounds(c, x, x.meta->dtype, g->size, g->stride, g->n, g->offset);
    return ret_tensor(c, geometry_view(c, x, g));
}

bool rule_expand(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    return geometry_expand(c, &g, shape, n) && ret_geometry(c, x, &g);
}

bool rule_expand_as(struct call *c)
{
    struct tensor other = arg_tensor(c, 1);
    return other.meta &&
           ret_tensor(c, call_expand(c, arg_tensor(c, 0), other.meta->size, other.meta->ndim));
}

bool rule_permute(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    const int64_t *dims;
    uint32_t n = arg_ints(c, 1, &dims);
    return geometry_permute(c, &g, dims, n) && ret_geometry(c, x, &g);
}

bool rule_transpose(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_transpose(c, &g, arg_int(c, 1), arg_int(c, 2)) && ret_geometry(c, x, &g);
}

bool rule_t(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    REQUIRE(c, g.n <= 2, "RuntimeError",
            "t() expects a tensor with <= 2 dimensions, but self is %uD", g.n);
    if (c->symbolic)
        count_dispatches(c, 1);
    return geometry_transpose(c, &g, 0, g.n < 2 ? 0 : 1) && ret_geometry(c, x, &g);
}

bool rule_unsqueeze(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_unsqueeze(c, &g, arg_int(c, 1)) && ret_geometry(c, x, &g);
}

bool rule_squeeze_all(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_squeeze_all(c, &g) && ret_geometry(c, x, &g);
}

bool rule_squeeze(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    const int64_t *dims;
    uint32_t n = arg_ints(c, 1, &dims);
    if (!eager(c) && c->symbolic && value_is_number(arg(c, 1)))
        count_dispatches(c, 1); /* aten.squeeze.dims (torch/_decomp/decompositions.py) */
    return geometry_squeeze(c, &g, dims, n) && ret_geometry(c, x, &g);
}

bool rule_diagonal(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_diagonal(c, &g, arg_int(c, 1), arg_int(c, 2), arg_int(c, 3)) &&
           ret_geometry(c, x, &g);
}

/* A view_copy operator's meta kernel makes the view on the meta device (_make_copy_from_view of
 * torch/_refs). */
static bool copied_in_meta(const struct call *c)
{
    return c->param == AS_COPY && !eager(c);
}

bool rule_slice(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_slice(c, &g, arg_int(c, 1), arg(c, 2), arg(c, 3), arg_sym(c, 4),
                          copied_in_meta(c)) &&
           ret_geometry(c, x, &g);
}

bool rule_select(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_select(c, &g, arg_int(c, 1), arg_sym(c, 2)) && ret_geometry(c, x, &g);
}

/* narrow_copy_dense_cpu_out of aten/src/ATen/native/TensorShape.cpp */
static bool check_narrow_copy(struct call *c, const struct geometry *g)
{
    int64_t dim = arg_int(c, 1);
    REQUIRE(c, g->n == 0 || dim < (int64_t)g->n, "RuntimeError",
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request "
            "to PyTorch.)");
    uint32_t at = wrap_dim(c, dim, g->n);
    if (c->failed || g->n == 0)
        return !c->failed;
    REQUIRE(c, guard_bool(c, ge(c, arg_sym(c, 3), SYM_ID_ZERO)), "RuntimeError",
            "start (%s) + length (%s) exceeds dimension size (%s).", sym_text(c, arg_sym(c, 2)),
            sym_text(c, arg_sym(c, 3)), sym_text(c, g->size[at]));
    return !c->failed;
}

/* narrow_tensor_symint of TensorShape.cpp reads the element of the tensor. */
static sym_id narrow_start(struct call *c)
{
    struct tensor start = arg_tensor(c, 2);
    if (!require(c, start.meta && start.meta->ndim == 0 && dtype_is_integer(start.meta->dtype),
                 "RuntimeError", "start must be an 0-dim integral Tensor."))
        return SYM_ID_ZERO;
    struct value args[] = { value_tensor(start) };
    struct value item = call_op(c, "aten.item.default", args, 1);
    return !c->failed && value_is_number(item) ? item.u.sym : SYM_ID_ZERO;
}

bool rule_narrow(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    sym_id start = value_is_number(arg(c, 2)) ? arg_sym(c, 2) : narrow_start(c);
    if (c->failed)
        return false;
    if (eager(c))
        count_dispatches(c, 1);
    if (eager(c) && c->param == AS_COPY && !check_narrow_copy(c, &g))
        return false;
    return geometry_narrow(c, &g, arg_int(c, 1), start, arg_sym(c, 3), copied_in_meta(c)) &&
           ret_geometry(c, x, &g);
}

bool rule_unfold(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return geometry_unfold(c, &g, arg_int(c, 1), arg_sym(c, 2), arg_sym(c, 3)) &&
           ret_geometry(c, x, &g);
}

/* alias, detach, lift and others return a view of the whole tensor, or a copy of it. */
bool rule_alias(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    return ret_geometry(c, x, &g);
}

/* FakeTensorMode makes a new tensor with its own storage from a constant. Eager mode returns the
 * constant itself. */
bool rule_lift_fresh(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    if (eager(c) || !x.meta)
        return ret_geometry(c, x, &g);
    struct tensor fresh =
        new_tensor_strided(c, x.meta->dtype, x.meta->device, g.size, g.stride, g.n);
    fresh.data = x.data;
    return ret_tensor(c, fresh);
}

bool rule_as_strided(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    const sym_id *size, *stride;
    uint32_t n = arg_syms(c, 1, &size), n_stride = arg_syms(c, 2, &stride);
    REQUIRE(c, n == n_stride, "RuntimeError", "mismatch in length of strides and shape");
    if (!check_ndim(c, n))
        return false;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (eager(c))
            CHECK(c, ge(c, stride[i], SYM_ID_ZERO), "RuntimeError",
                  "as_strided: Negative strides are not supported at the moment, got strides: %s",
                  sizes_text(c, stride, n));
        g.size[i] = size[i];
        g.stride[i] = stride[i];
    }
    g.n = n;
    if (arg_given(c, 3))
        g.offset = arg_sym(c, 3);
    if (eager(c))
        CHECK(c, ge(c, g.offset, SYM_ID_ZERO), "RuntimeError", "Tensor: invalid storage offset %s",
              sym_text(c, g.offset));
    return ret_geometry(c, x, &g);
}

/* --- Composites --- */

bool rule_swapaxes(struct call *c)
{
    return ret_tensor(c, call_transpose(c, arg_tensor(c, 0), arg_int(c, 1), arg_int(c, 2)));
}

/* .T of any tensor: all dimensions in reverse order (numpy_T). */
bool rule_numpy_transpose(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t dims[TENSOR_MAX_DIM];
    uint32_t n = x.meta ? x.meta->ndim : 0;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = (int64_t)n - 1 - i;
    return ret_tensor(c, call_permute(c, x, dims, n));
}

static bool ret_conj(struct call *c, struct tensor x)
{
    struct value args[] = { value_tensor(x) };
    if (!x.meta || !dtype_is_complex(x.meta->dtype))
        return ret_tensor(c, x);
    return ret_tensor(c, call_tensor(c, "aten._conj.default", args, 1));
}

/* .mT (param 't'), .mH ('h'), .H ('H') and adjoint ('a') exchange the last two dimensions, and
 * all but .mT conjugate (matrix_H and _adjoint of aten/src/ATen/native/TensorShape.cpp). They
 * accept a 0-dim tensor. */
bool rule_matrix_transpose(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t n = x.meta ? x.meta->ndim : 0;
    if (c->param == 'H')
        REQUIRE(c, n == 0 || n == 2, "RuntimeError",
                "tensor.H is only supported on matrices (2-D tensors). Got %u-D tensor.%s", n,
                n > 2 ? " For batches of matrices, consider using tensor.mH" : "");
    REQUIRE(c, n != 1, "RuntimeError",
            "tensor.%s is only supported on matrices or batches of matrices. Got 1-D tensor.",
            c->param == 't'   ? "mT"
            : c->param == 'h' ? "mH"
                              : "adjoint()");
    if (n > 0)
        x = call_transpose(c, x, -2, -1);
    return c->param == 't' ? ret_tensor(c, x) : ret_conj(c, x);
}

static const char *dims_text(struct call *c, const int64_t *dims, uint32_t n)
{
    sym_id *items = syms(c, n);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = num(c, dims[i]);
    return items ? sizes_text(c, items, n) : "";
}

static bool distinct(struct call *c, const uint32_t *dims, uint32_t n, const char *what,
                     const int64_t *given)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (seen >> dims[i] & 1)
            return refuse(c, "RuntimeError", "movedim: repeated dim in `%s` (%s)", what,
                          dims_text(c, given, n));
        seen |= UINT64_C(1) << dims[i];
    }
    return true;
}

bool rule_movedim(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t ndim = x.meta ? x.meta->ndim : 0;
    const int64_t *from, *to;
    uint32_t n = arg_ints(c, 1, &from), n_to = arg_ints(c, 2, &to);
    REQUIRE(c, n == n_to, "RuntimeError",
            "movedim: Invalid source or destination dims: source (%s dims) should contain the same "
            "number of dims as destination (%s dims)",
            dims_text(c, from, n), dims_text(c, to, n_to));
    if (!check_ndim(c, n))
        return false;
    uint32_t source[TENSOR_MAX_DIM], target[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < n; i++) {
        source[i] = wrap_dim(c, from[i], ndim);
        target[i] = wrap_dim(c, to[i], ndim);
    }
    if (c->failed || !distinct(c, source, n, "source", from) ||
        !distinct(c, target, n, "destination", to))
        return false;
    if (ndim == 0)
        return ret_tensor(c, call_alias(c, x));
    int64_t dims[TENSOR_MAX_DIM];
    uint64_t taken = 0, placed = 0;
    for (uint32_t i = 0; i < n; i++) {
        dims[target[i]] = source[i];
        placed |= UINT64_C(1) << target[i];
        taken |= UINT64_C(1) << source[i];
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < ndim; i++) {
        if (placed >> i & 1)
            continue;
        while (taken >> next & 1)
            next++;
        dims[i] = next++;
    }
    return ret_tensor(c, call_permute(c, x, dims, ndim));
}

/* --- Conjugates, negations, real and complex views --- */

static struct tensor conj_flipped(struct call *c, struct tensor x, bool conj)
{
    struct tensor_meta meta = *x.meta;
    if (conj)
        meta.conj = !meta.conj;
    else
        meta.neg = !meta.neg;
    x.meta = ops_intern(c->ops, &meta);
    if (!x.meta)
        refuse(c, "MemoryError", "out of memory");
    return x;
}

/* param is 1 for _conj, 0 for _neg_view. Their copies set no such bit and have the rule of
 * alias. */
bool rule_conj_view(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    if (c->param)
        REQUIRE(c, dtype_is_complex(x.meta->dtype), "RuntimeError",
                "_conj expects a complex tensor");
    return ret_tensor(c, conj_flipped(c, x, c->param != 0));
}

bool rule_conj(struct call *c)
{
    return ret_conj(c, arg_tensor(c, 0));
}

/* param is 1 for resolve_conj, 0 for resolve_neg. */
bool rule_resolve(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    if (c->param ? !x.meta->conj : !x.meta->neg)
        return ret_tensor(c, x);
    return ret_tensor(c, call_clone(c, x));
}

bool rule_view_as_real(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    REQUIRE(c, dtype_is_complex(x.meta->dtype), "RuntimeError",
            "view_as_real is only supported for complex tensors");
    REQUIRE(c, !x.meta->conj, "RuntimeError",
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original.");
    struct geometry g = geometry_of(x);
    for (uint32_t i = 0; i < g.n; i++)
        g.stride[i] = mul(c, g.stride[i], SYM_ID_TWO);
    g.offset = mul(c, g.offset, SYM_ID_TWO);
    if (!geometry_insert(c, &g, g.n, SYM_ID_TWO, SYM_ID_ONE))
        return false;
    enum dtype dtype = dtype_real(x.meta->dtype);
    if (c->param == AS_COPY)
        return ret_tensor(c, new_tensor(c, dtype, x.meta->device, g.size, g.n));
    return ret_tensor(c, new_view_dtype(c, x, dtype, g.size, g.stride, g.n, g.offset));
}

/* computeStrideForViewAsComplex of ATen/native/ComplexHelper.h */
static sym_id has_even_stride(struct call *c, sym_id size, sym_id stride)
{
    sym_id even = eq(c, mod(c, stride, SYM_ID_TWO), SYM_ID_ZERO);
    return behaves(c->env, BEHAVIOR_COMPLEX_VIEW_IGNORES_SINGLE_STRIDES)
               ? sym_or(c->pool, eq(c, size, SYM_ID_ONE), even)
               : even;
}

bool rule_view_as_complex(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    enum dtype dtype = x.meta->dtype;
    REQUIRE(c, dtype == DTYPE_F16 || dtype == DTYPE_F32 || dtype == DTYPE_F64, "RuntimeError",
            "view_as_complex is only supported for half, float and double tensors, but got a "
            "tensor of scalar type: %s",
            dtype_scalar_name(dtype));
    struct geometry g = geometry_of(x);
    REQUIRE(c, g.n > 0, "RuntimeError", "Input tensor must have one or more dimensions");
    uint32_t last = g.n - 1;
    if (!guard_bool(c, eq(c, g.size[last], SYM_ID_TWO)))
        return refuse(c, "RuntimeError", "Tensor must have a last dimension of size 2");
    if (!guard_bool(c, eq(c, g.stride[last], SYM_ID_ONE)))
        return refuse(c, "RuntimeError", "Tensor must have a last dimension with stride 1");
    for (uint32_t i = 0; i < last && !c->failed; i++) {
        if (!guard_bool(c, has_even_stride(c, g.size[i], g.stride[i])))
            return refuse(c, "RuntimeError",
                          "Tensor must have a stride divisible by 2 for all but last dimension");
        g.stride[i] = floordiv(c, g.stride[i], SYM_ID_TWO);
    }
    if (!guard_bool(c, eq(c, mod(c, g.offset, SYM_ID_TWO), SYM_ID_ZERO)))
        return refuse(c, "RuntimeError", "Tensor must have a storage_offset divisible by 2");
    g.offset = floordiv(c, g.offset, SYM_ID_TWO);
    geometry_remove(&g, last);
    dtype = dtype_complex(dtype);
    if (c->param == AS_COPY)
        return ret_tensor(c, new_tensor(c, dtype, x.meta->device, g.size, g.n));
    return ret_tensor(c, new_view_dtype(c, x, dtype, g.size, g.stride, g.n, g.offset));
}

/* param is 0 for real, 1 for imag. */
bool rule_real(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct value args[] = { value_tensor(x) };
    if (!x.meta)
        return false;
    if (!dtype_is_complex(x.meta->dtype)) {
        REQUIRE(c, c->param == 0, "RuntimeError",
                "imag is not implemented for tensors with non-complex dtypes.");
        return ret_tensor(c, x);
    }
    bool conjugated = x.meta->conj;
    if (conjugated)
        args[0] = value_tensor(call_tensor(c, "aten._conj.default", args, 1));
    struct tensor both = call_tensor(c, "aten.view_as_real.default", args, 1);
    if (c->failed)
        return false;
    struct value part[] = { value_tensor(both), int_value(c, both.meta->ndim - 1),
                            int_value(c, c->param) };
    x = call_tensor(c, "aten.select.int", part, 3);
    if (!conjugated || c->param == 0)
        return ret_tensor(c, x);
    args[0] = value_tensor(x);
    return ret_tensor(c, call_tensor(c, "aten._neg_view.default", args, 1));
}
