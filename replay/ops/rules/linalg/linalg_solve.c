/* Solvers and products of several matrices (torch/_meta_registrations.py: linalg_solve_*,
 * linalg_lu_solve and similar functions; the texts are those of
 * aten/src/ATen/native/LinearAlgebraUtils.h). */
#include "replay/ops/rules/linalg/linalg.h"

#include <string.h>

#include "replay/ops/layout/storage.h"

static bool check_same_dtype(struct call *c, struct tensor a, struct tensor b, const char *name)
{
    return require(c, a.meta->dtype == b.meta->dtype, "RuntimeError",
                   "%s: Expected A and B to have the same dtype, but found A of type %s and B of "
                   "type %s instead",
                   name, dtype_scalar_name(a.meta->dtype), dtype_scalar_name(b.meta->dtype));
}

/* checkInputsSolver */
static bool check_solver(struct call *c, struct tensor a, struct tensor b, bool left,
                         const char *name)
{
    if (!linalg_square(c, a, name) || !linalg_matrix(c, b, name, "B"))
        return false;
    uint32_t d = left ? 2 : 1;
    return check(c, eq(c, side(a, d), side(b, d)), "RuntimeError",
                 "%s: Incompatible shapes of A and B for the equation %s (%sx%s and %sx%s)", name,
                 left ? "AX = B" : "XA = B", sym_text(c, side(a, 2)), sym_text(c, side(a, 1)),
                 sym_text(c, side(b, 2)), sym_text(c, side(b, 1)));
}

/* linearSolveCheckInputs */
static bool check_linear_solve(struct call *c, struct tensor b, struct tensor a, const char *name)
{
    return require(c, device_equal(b.meta->device, a.meta->device), "RuntimeError",
                   "Expected b and A to be on the same device") &&
           require(c, b.meta->dtype == a.meta->dtype, "RuntimeError",
                   "Expected b and A to have the same dtype, but found b of type %s and A of type "
                   "%s instead.",
                   dtype_scalar_name(b.meta->dtype), dtype_scalar_name(a.meta->dtype)) &&
           check(c, eq(c, side(a, 1), side(a, 2)), "RuntimeError",
                 "A must be batches of square matrices, but they are %s by %s matrices",
                 sym_text(c, side(a, 2)), sym_text(c, side(a, 1))) &&
           check(c, eq(c, side(a, 1), side(b, 2)), "RuntimeError",
                 "Incompatible matrix sizes for %s: each A matrix is %s by %s but each b matrix is "
                 "%s by %s",
                 name, sym_text(c, side(a, 1)), sym_text(c, side(a, 1)), sym_text(c, side(b, 2)),
                 sym_text(c, side(b, 1)));
}

/* Compares shapes as Python compares tuples: first the rank, then each size until one differs. */
static bool guard_same_shape(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b,
                             uint32_t n_b)
{
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++)
        if (!guard_bool(c, eq(c, a[i], b[i])))
            return false;
    return !c->failed;
}

/* _linalg_broadcast_batch_dims: returns b's sizes with both batch shapes broadcast. *batch is
 * the batch shape alone. */
static sym_id *broadcast_batch(struct call *c, struct tensor b, struct tensor a, uint32_t *n)
{
    sym_id *sizes = syms(c, TENSOR_MAX_DIM + 2);
    struct tensor batches[] = {
        linalg_contiguous(c, b, b.meta->dtype, b.meta->size, b.meta->ndim - 2),
        linalg_contiguous(c, a, a.meta->dtype, a.meta->size, a.meta->ndim - 2)
    };
    if (!sizes || c->failed || !broadcast_shapes(c, batches, 2, sizes, n))
        return NULL;
    sizes[(*n)++] = side(b, 2);
    sizes[(*n)++] = side(b, 1);
    return sizes;
}

bool rule_linalg_solve_ex(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    bool left = arg_bool(c, 2);
    if (!linalg_floating(c, a, "linalg.solve", true) || !check_same_dtype(c, a, b, "linalg.solve"))
        return false;
    uint32_t n = a.meta->ndim;
    bool vector =
        b.meta->ndim == 1 || (n == b.meta->ndim + 1 &&
                              guard_same_shape(c, b.meta->size, b.meta->ndim, a.meta->size, n - 1));
    struct tensor rhs = b;
    if (vector) {
        sym_id *sizes = syms(c, b.meta->ndim + 1);
        for (uint32_t i = 0; sizes && i < b.meta->ndim; i++)
            sizes[i] = b.meta->size[i];
        if (!sizes)
            return false;
        sizes[b.meta->ndim] = SYM_ID_ONE;
        rhs = linalg_contiguous(c, b, b.meta->dtype, sizes, b.meta->ndim + 1);
    }
    if (c->failed || !check_solver(c, a, rhs, left, "linalg.solve"))
        return false;
    uint32_t n_result;
    sym_id *sizes = broadcast_batch(c, rhs, a, &n_result);
    if (!sizes || !require(c, left || !vector, "RuntimeError",
                           "linalg.solve: Vector broadcasting of the left hand side is not "
                           "supported for left=False. In this case linalg.solve is equivalent to "
                           "B / A.squeeze(-1)"))
        return false;
    struct tensor ret[] = { linalg_row_or_column(c, b, sizes, n_result - vector, !left),
                            linalg_column_major(c, a, a.meta->dtype, a.meta->size, n),
                            linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 1),
                            linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 2) };
    return ret_tensors(c, ret, 4);
}

static void swap_last(sym_id *x, uint32_t n)
{
    sym_id last = x[n - 1];
    x[n - 1] = x[n - 2];
    x[n - 2] = last;
}

/* x.expand() to the n - 2 batch sizes, as _linalg_broadcast_batch_dims_name calls it always. */
static struct tensor expand_batch(struct call *c, struct tensor x, const sym_id *batch, uint32_t n)
{
    struct value *sizes = values(c, n);
    for (uint32_t i = 0; sizes && i < n; i++)
        sizes[i] = value_int(i + 2 < n ? batch[i] : side(x, n - i));
    struct value args[] = { value_tensor(x), value_items(VALUE_LIST, sizes, sizes ? n : 0) };
    return sizes ? call_tensor(c, "aten.expand.default", args, 2) : x;
}

/* A_.transpose(-2, -1).is_contiguous() of linalg_solve_triangular_meta. */
static void evaluate_transposed(struct call *c, struct tensor x, uint32_t n)
{
    sym_id *sizes = syms(c, n), *strides = syms(c, n);
    if (!sizes || !strides || c->failed)
        return;
    memcpy(sizes, x.meta->size, n * sizeof *sizes);
    memcpy(strides, x.meta->stride, n * sizeof *strides);
    swap_last(sizes, n);
    swap_last(strides, n);
    is_contiguous(c, new_view(c, x, sizes, strides, n, x.meta->offset), FORMAT_CONTIGUOUS);
}

/* out.resize_(B_.transpose(-2, -1).shape); out.transpose_(-2, -1), where out is new_empty([0]). */
static struct tensor resize_transposed(struct call *c, struct tensor like, const sym_id *sizes,
                                       uint32_t n)
{
    enum dtype dtype = like.meta->dtype;
    sym_id *turned = syms(c, n), *strides = syms(c, n);
    if (!turned || !strides || c->failed)
        return like;
    memcpy(turned, sizes, n * sizeof *turned);
    swap_last(turned, n);
    if (!guard_bool(c, eq_int(c, product(c, turned, n), 0)))
        guard_bool(c, gt(c, contiguous_bytes(c, dtype, turned, n), SYM_ID_ZERO));
    struct tensor out = linalg_contiguous(c, like, dtype, turned, n);
    contiguous_strides(c, turned, n, strides);
    swap_last(strides, n);
    if (c->failed)
        return out;
    check_in_bounds(c, out, dtype, sizes, strides, n, SYM_ID_ZERO);
    return new_view(c, out, sizes, strides, n, SYM_ID_ZERO);
}

bool rule_linalg_solve_triangular(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    uint32_t n;
    if (!check_solver(c, a, b, arg_bool(c, 3), "linalg.solve_triangular"))
        return false;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    if (!sizes || !c->symbolic)
        return sizes && ret_tensor(c, linalg_column_major(c, a, a.meta->dtype, sizes, n));
    c->in_kernel = true;
    expand_batch(c, b, sizes, n);
    evaluate_transposed(c, expand_batch(c, a, sizes, n), n);
    return ret_tensor(c, resize_transposed(c, a, sizes, n));
}

bool rule_triangular_solve(struct call *c)
{
    struct tensor b = arg_tensor(c, 0), a = arg_tensor(c, 1);
    if (!require(c, b.meta->ndim >= 2, "RuntimeError",
                 "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has %u "
                 "dimensions instead",
                 b.meta->ndim) ||
        !require(c, a.meta->ndim >= 2, "RuntimeError",
                 "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has %u "
                 "dimensions instead",
                 a.meta->ndim) ||
        !check_linear_solve(c, b, a, "triangular_solve"))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    if (!sizes)
        return false;
    sym_id *a_sizes = syms(c, n);
    for (uint32_t i = 0; a_sizes && i < n; i++)
        a_sizes[i] = i + 2 < n ? sizes[i] : side(a, n - i);
    if (!a_sizes)
        return false;
    struct tensor ret[] = { linalg_column_major(c, b, b.meta->dtype, sizes, n),
                            linalg_column_major(c, a, a.meta->dtype, a_sizes, n) };
    return ret_tensors(c, ret, 2);
}

bool rule_cholesky_solve(struct call *c)
{
    struct tensor b = arg_tensor(c, 0), a = arg_tensor(c, 1);
    if (!require(c, b.meta->ndim >= 2, "RuntimeError",
                 "b should have at least 2 dimensions, but has %u dimensions instead",
                 b.meta->ndim) ||
        !require(c, a.meta->ndim >= 2, "RuntimeError",
                 "u should have at least 2 dimensions, but has %u dimensions instead",
                 a.meta->ndim) ||
        !check_linear_solve(c, b, a, "cholesky_solve"))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, linalg_column_major(c, b, b.meta->dtype, sizes, n));
}

static bool check_pivots(struct call *c, struct tensor a, struct tensor pivots, const char *name)
{
    return require(
        c,
        guard_same_shape(c, a.meta->size, a.meta->ndim - 1, pivots.meta->size, pivots.meta->ndim),
        "RuntimeError",
        "%s: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots "
        "with shape %s instead",
        name, sizes_text(c, pivots.meta->size, pivots.meta->ndim));
}

bool rule_linalg_lu_solve(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), pivots = arg_tensor(c, 1), b = arg_tensor(c, 2);
    bool left = arg_bool(c, 3);
    if (!linalg_floating(c, a, "torch.linalg.lu_solve", true) ||
        !require(c, a.meta->dtype == b.meta->dtype, "RuntimeError",
                 "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
                 "%s and B of type %s instead",
                 dtype_scalar_name(a.meta->dtype), dtype_scalar_name(b.meta->dtype)) ||
        !require(c, pivots.meta->dtype == DTYPE_I32, "RuntimeError",
                 "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32") ||
        !linalg_square(c, a, "torch.linalg.lu_solve") ||
        !check_solver(c, a, b, left, "linalg.lu_solve") ||
        !require(c, pivots.meta->ndim > 0, "IndexError", "tuple index out of range") ||
        !check(c, eq(c, side(a, 1), side(pivots, 1)), "RuntimeError",
               "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
               "matrix") ||
        !check_pivots(c, a, pivots, "linalg.lu_solve"))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, linalg_row_or_column(c, b, sizes, n, !left));
}

bool rule_linalg_ldl_solve(struct call *c)
{
    const char *name = "torch.linalg.ldl_solve";
    struct tensor a = arg_tensor(c, 0), pivots = arg_tensor(c, 1), b = arg_tensor(c, 2);
    if (!linalg_square(c, a, name) || !linalg_floating(c, a, name, true) ||
        !require(c, b.meta->ndim >= 2, "RuntimeError",
                 "%s: Expected B to have at least 2 dimensions, but it has %u dimensions instead",
                 name, b.meta->ndim) ||
        !check_linear_solve(c, b, a, name) || !check_pivots(c, a, pivots, name) ||
        !require(c, dtype_is_integer(pivots.meta->dtype), "RuntimeError",
                 "%s: Expected pivots to be integers. Got %s", name,
                 dtype_scalar_name(pivots.meta->dtype)))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, linalg_column_major(c, b, b.meta->dtype, sizes, n));
}

bool rule_linalg_householder_product(struct call *c)
{
    const char *name = "torch.linalg.householder_product";
    struct tensor x = arg_tensor(c, 0), tau = arg_tensor(c, 1);
    uint32_t n = x.meta->ndim;
    if (!require(c, n >= 2, "RuntimeError", "%s: input must have at least 2 dimensions.", name) ||
        !check(c, ge(c, side(x, 2), side(x, 1)), "RuntimeError",
               "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", name) ||
        !require(c, tau.meta->ndim > 0, "IndexError", "tuple index out of range") ||
        !check(c, ge(c, side(x, 1), side(tau, 1)), "RuntimeError",
               "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", name) ||
        !require(c, n == tau.meta->ndim + 1, "RuntimeError",
                 "%s: Expected tau to have one dimension less than input, but got tau.ndim equal "
                 "to %u and input.ndim is equal to %u",
                 name, tau.meta->ndim, n) ||
        !require(c, guard_same_shape(c, tau.meta->size, n - 2, x.meta->size, n - 2), "RuntimeError",
                 "%s: Expected batch dimensions of tau to be equal to input.shape[:-2], but got %s",
                 name, sizes_text(c, tau.meta->size, n - 2)) ||
        !require(c, tau.meta->dtype == x.meta->dtype, "RuntimeError",
                 "%s: tau dtype %s does not match input dtype %s", name,
                 dtype_scalar_name(tau.meta->dtype), dtype_scalar_name(x.meta->dtype)))
        return false;
    return ret_tensor(c, linalg_column_major(c, x, x.meta->dtype, x.meta->size, n));
}

/* The kernel requires all reflectors; the meta function accepts fewer. */
static bool check_ormqr_tau(struct call *c, struct tensor x, struct tensor tau, struct tensor other,
                            uint32_t d)
{
    if (!eager(c))
        return check(c, le(c, side(tau, 1), side(x, 1)), "RuntimeError",
                     "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]");
    sym_id most = sym_min2(c, side(other, d), side(x, 1));
    return check(c, eq(c, most, side(tau, 1)), "RuntimeError",
                 "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[-%u], "
                 "input.shape[-1])",
                 d);
}

static bool check_ormqr(struct call *c, struct tensor x, struct tensor tau, struct tensor other,
                        bool left)
{
    uint32_t n = x.meta->ndim, d = left ? 2 : 1;
    return require(c, n >= 2, "RuntimeError",
                   "torch.ormqr: input must have at least 2 dimensions.") &&
           require(c, other.meta->ndim >= 2, "RuntimeError",
                   "torch.ormqr: other must have at least 2 dimensions.") &&
           require(c, tau.meta->ndim > 0, "IndexError", "tuple index out of range") &&
           check(c, ge(c, side(other, d), side(tau, 1)), "RuntimeError",
                 "torch.ormqr: other.shape[-%u] must be greater than or equal to tau.shape[-1]",
                 d) &&
           check(c, eq(c, side(other, d), side(x, 2)), "RuntimeError",
                 "torch.ormqr: other.shape[-%u] must be equal to input.shape[-2]", d) &&
           check_ormqr_tau(c, x, tau, other, d) &&
           require(c, n == tau.meta->ndim + 1, "RuntimeError",
                   "torch.ormqr: Expected tau to have one dimension less than input, but got "
                   "tau.ndim equal to %u and input.ndim is equal to %u",
                   tau.meta->ndim, n) &&
           require(c, n == other.meta->ndim, "RuntimeError",
                   "torch.ormqr: Expected other to have the same number of dimensions as input, "
                   "but got other.ndim equal to %u and input.ndim is equal to %u",
                   other.meta->ndim, n) &&
           require(c, guard_same_shape(c, tau.meta->size, n - 2, x.meta->size, n - 2),
                   "RuntimeError",
                   "torch.ormqr: Expected batch dimensions of tau to be equal to "
                   "input.shape[:-2], but got %s",
                   sizes_text(c, tau.meta->size, n - 2)) &&
           require(c, guard_same_shape(c, other.meta->size, n - 2, x.meta->size, n - 2),
                   "RuntimeError",
                   "torch.ormqr: Expected batch dimensions of other to be equal to "
                   "input.shape[:-2], but got %s",
                   sizes_text(c, other.meta->size, n - 2));
}

bool rule_ormqr(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), tau = arg_tensor(c, 1), other = arg_tensor(c, 2);
    if (!check_ormqr(c, x, tau, other, arg_bool(c, 3)))
        return false;
    return ret_tensor(
        c, linalg_column_major(c, other, other.meta->dtype, other.meta->size, other.meta->ndim));
}

/* linalg_lstsq of C++ (BatchLinearAlgebra.cpp). The driver determines what is returned besides
 * the solution. Residuals exist for a tall matrix of full rank. The rank depends on values, so
 * every matrix is assumed to have full rank. Symbols are refused. */
bool rule_linalg_lstsq(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (c->symbolic)
        return refuse(c, "DynamicOutputShapeException", "aten.linalg_lstsq.default");
    uint32_t n = a.meta->ndim;
    if (!require(c, n >= 2, "RuntimeError",
                 "torch.linalg.lstsq: input must have at least 2 dimensions.") ||
        !require(c, b.meta->ndim >= 1, "RuntimeError",
                 "torch.linalg.lstsq: other must have at least 1 dimension.") ||
        !require(c, b.meta->ndim == n || b.meta->ndim + 1 == n, "RuntimeError",
                 "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and "
                 "(input.dim() - other.dim()) <= 1"))
        return false;
    bool vector = b.meta->ndim + 1 == n;
    struct str driver = arg_given(c, 3) ? arg_string(c, 3)
                        : on_cuda(a)    ? STR("gels")
                                        : STR("gelsy");
    bool gels = str_eq(driver, STR("gels")), gelsy = str_eq(driver, STR("gelsy"));
    sym_id rows = side(a, 2), columns = side(a, 1);
    bool tall = guard_bool(c, gt(c, rows, columns)) && !gelsy;
    /* The solution is stored where B was copied to, so its columns have the length of the longer
     * side. */
    sym_id *sizes = linalg_sizes(c, b), *strides = syms(c, n), *values = linalg_sizes(c, a);
    if (!sizes || !strides || !values)
        return false;
    sym_id longer = sym_max2(c, rows, columns), nrhs = vector ? SYM_ID_ONE : side(b, 1);
    sizes[n - 2] = columns;
    strides[n - 1] = sym_max2(c, longer, SYM_ID_ONE);
    strides[n - 2] = SYM_ID_ONE;
    sym_id step = mul(c, strides[n - 1], sym_max2(c, nrhs, SYM_ID_ONE));
    for (uint32_t i = n - 2; i-- > 0;) {
        strides[i] = step;
        step = mul(c, step, sym_max2(c, sizes[i], SYM_ID_ONE));
    }
    enum dtype t = b.meta->dtype, real = dtype_real(t);
    values[n - 2] = nrhs;
    struct tensor residuals = tall ? linalg_contiguous(c, a, real, values, vector ? n - 2 : n - 1)
                                   : linalg_none(c, a, real);
    sym_id *singular = linalg_sizes(c, a);
    if (!singular)
        return false;
    singular[n - 2] = sym_min2(c, rows, columns);
    struct tensor ret[] = { new_tensor_strided(c, t, b.meta->device, sizes, strides, b.meta->ndim),
                            residuals,
                            gels ? linalg_none(c, a, DTYPE_I64)
                                 : linalg_contiguous(c, a, DTYPE_I64, a.meta->size, n - 2),
                            gels || gelsy ? linalg_none(c, a, real)
                                          : linalg_contiguous(c, a, real, singular, n - 1) };
    return ret_tensors(c, ret, 4);
}

bool rule_linalg_cross(struct call *c)
{
    struct tensor x[] = { arg_tensor(c, 0), arg_tensor(c, 1) };
    if (!require(c, x[0].meta->ndim == x[1].meta->ndim, "RuntimeError",
                 "linalg.cross: inputs must have the same number of dimensions."))
        return false;
    int64_t dim = arg_int(c, 2);
    uint32_t d = wrap_dim(c, dim, x[0].meta->ndim);
    if (c->failed || x[0].meta->ndim == 0)
        return require(c, false, "IndexError", "tuple index out of range");
    bool three = guard_bool(c, eq_int(c, x[0].meta->size[d], 3)) &&
                 guard_bool(c, eq_int(c, x[1].meta->size[d], 3));
    if (!require(c, three, "RuntimeError",
                 "linalg.cross: inputs dimension %lld must have length 3. Got %s and %s",
                 (long long)dim, sym_text(c, x[0].meta->size[d]), sym_text(c, x[1].meta->size[d])))
        return false;
    sym_id *sizes = syms(c, TENSOR_MAX_DIM);
    uint32_t n;
    if (!sizes || !broadcast_shapes(c, x, 2, sizes, &n))
        return false;
    return ret_tensor(c, linalg_contiguous(c, x[0], x[0].meta->dtype, sizes, n));
}

/* Reads the values of info, which fake tensors do not have. */
bool rule_linalg_check_errors(struct call *c)
{
    return ret_none(c);
}
