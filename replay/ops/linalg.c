/* Matrix factorisations and solvers (torch/_meta_registrations.py, linalg_* and its helpers; the
 * texts of shape errors are those of aten/src/ATen/native/LinearAlgebraUtils.h). Results that
 * LAPACK writes are column-major. */
#include "replay/ops/layout.h"

/* --- Checks --- */

static bool check_matrix(struct call *c, struct tensor x, const char *name, const char *what)
{
    return require(c, x.meta->ndim >= 2, "RuntimeError",
                   "%s: The input tensor %s must have at least 2 dimensions.", name, what);
}

static sym_id dim_size(struct tensor x, uint32_t from_end)
{
    return x.meta->size[x.meta->ndim - from_end];
}

static bool check_square(struct call *c, struct tensor a, const char *name)
{
    return check_matrix(c, a, name, "A") &&
           check(c, eq(c, dim_size(a, 1), dim_size(a, 2)), "RuntimeError",
                 "%s: A must be batches of square matrices, but they are %s by %s matrices", name,
                 sym_text(c, dim_size(a, 2)), sym_text(c, dim_size(a, 1)));
}

static bool check_floating(struct call *c, struct tensor x, const char *name, bool low_precision)
{
    enum dtype t = x.meta->dtype;
    if (!require(c, dtype_is_float(t) || dtype_is_complex(t), "RuntimeError",
                 "%s: Expected a floating point or complex tensor as input. Got %s", name,
                 dtype_scalar_name(t)))
        return false;
    return low_precision || require(c,
                                    t == DTYPE_F32 || t == DTYPE_F64 || t == DTYPE_C64 ||
                                        t == DTYPE_C128,
                                    "RuntimeError", "%s: Low precision dtypes not supported. Got %s",
                                    name, dtype_scalar_name(t));
}

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
    if (!check_square(c, a, name) || !check_matrix(c, b, name, "B"))
        return false;
    uint32_t d = left ? 2 : 1;
    return check(c, eq(c, dim_size(a, d), dim_size(b, d)), "RuntimeError",
                 "%s: Incompatible shapes of A and B for the equation %s (%sx%s and %sx%s)", name,
                 left ? "AX = B" : "XA = B", sym_text(c, dim_size(a, 2)),
                 sym_text(c, dim_size(a, 1)), sym_text(c, dim_size(b, 2)),
                 sym_text(c, dim_size(b, 1)));
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
           check(c, eq(c, dim_size(a, 1), dim_size(a, 2)), "RuntimeError",
                 "A must be batches of square matrices, but they are %s by %s matrices",
                 sym_text(c, dim_size(a, 2)), sym_text(c, dim_size(a, 1))) &&
           check(c, eq(c, dim_size(a, 1), dim_size(b, 2)), "RuntimeError",
                 "Incompatible matrix sizes for %s: each A matrix is %s by %s but each b matrix is "
                 "%s by %s",
                 name, sym_text(c, dim_size(a, 1)), sym_text(c, dim_size(a, 1)),
                 sym_text(c, dim_size(b, 2)), sym_text(c, dim_size(b, 1)));
}

/* Shapes compared as tuples are: rank first, then each size until one differs. */
static bool same_shape(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b)
{
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a; i++)
        if (!guard_bool(c, eq(c, a[i], b[i])))
            return false;
    return !c->failed;
}

/* --- Results --- */

/* Python's min(rows, columns): a question, where torch.sym_min is none. */
static sym_id smaller_side(struct call *c, struct tensor a)
{
    sym_id m = dim_size(a, 2), n = dim_size(a, 1);
    return guard_bool(c, lt(c, n, m)) ? n : m;
}

static struct tensor plain(struct call *c, struct tensor like, enum dtype dtype,
                           const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, like.meta->device, sizes, n);
}

static struct tensor empty_1d(struct call *c, struct tensor like, enum dtype dtype)
{
    sym_id zero = SYM_ID_ZERO;
    return plain(c, like, dtype, &zero, 1);
}

/* make_contiguous_strides_for(row_major=False) */
static struct tensor column_major(struct call *c, struct tensor like, enum dtype dtype,
                                  const sym_id *sizes, uint32_t n)
{
    sym_id *strides = syms(c, n);
    if (!strides || n < 2)
        return plain(c, like, dtype, sizes, n);
    contiguous_strides(c, sizes, n, strides);
    strides[n - 2] = SYM_ID_ONE;
    strides[n - 1] = sym_max2(c, sizes[n - 2], SYM_ID_ONE);
    return new_tensor_strided(c, dtype, like.meta->device, sizes, strides, n);
}

static struct tensor row_or_column(struct call *c, struct tensor like, const sym_id *sizes,
                                   uint32_t n, bool row_major)
{
    return row_major ? plain(c, like, like.meta->dtype, sizes, n)
                     : column_major(c, like, like.meta->dtype, sizes, n);
}

/* A copy of x's sizes, the last two of which may be set. */
static sym_id *copy_sizes(struct call *c, struct tensor x)
{
    sym_id *sizes = syms(c, x.meta->ndim ? x.meta->ndim : 1);
    for (uint32_t i = 0; sizes && i < x.meta->ndim; i++)
        sizes[i] = x.meta->size[i];
    return sizes;
}

static bool ret_three(struct call *c, struct tensor a, struct tensor b, struct tensor d)
{
    return ret_tensors(c, (struct tensor[]){ a, b, d }, 3);
}

static bool is_cuda(struct tensor x)
{
    return x.meta->device.type == DEVICE_CUDA;
}

/* --- Of one square matrix --- */

/* What a factorisation of a square matrix returns besides: param of their rows. */
enum { SQUARE_CHOLESKY, SQUARE_INV, SQUARE_LDL };

static const struct {
    const char *name;
    bool low_precision, pivots;
} square[] = {
    [SQUARE_CHOLESKY] = { "linalg.cholesky", true, false },
    [SQUARE_INV] = { "linalg.inv", false, false },
    [SQUARE_LDL] = { "torch.linalg.ldl_factor_ex", true, true },
};

bool rule_square_factor(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_square(c, a, square[c->param].name) ||
        !check_floating(c, a, square[c->param].name, square[c->param].low_precision))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor factor = column_major(c, a, a.meta->dtype, a.meta->size, n);
    struct tensor info = plain(c, a, DTYPE_I32, a.meta->size, n - 2);
    if (!square[c->param].pivots)
        return ret_tensors(c, (struct tensor[]){ factor, info }, 2);
    return ret_three(c, factor, plain(c, a, DTYPE_I32, a.meta->size, n - 1), info);
}

/* cholesky, cholesky_inverse: cloneBatchedColumnMajor */
bool rule_cholesky(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!c->param && guard_bool(c, eq_int(c, numel(c, a), 0)))
        return ret_tensor(c, plain(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
    if (!check_square(c, a, c->param ? "cholesky_inverse" : "cholesky"))
        return false;
    return ret_tensor(c, column_major(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
}

bool rule_linalg_det(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_square(c, a, "linalg.det") || !check_floating(c, a, "linalg.det", false))
        return false;
    uint32_t n = a.meta->ndim;
    return ret_three(c, plain(c, a, a.meta->dtype, a.meta->size, n - 2),
                     column_major(c, a, a.meta->dtype, a.meta->size, n),
                     plain(c, a, DTYPE_I32, a.meta->size, n - 1));
}

bool rule_linalg_slogdet(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_square(c, a, "linalg.slogdet") || !check_floating(c, a, "linalg.slogdet", false))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor ret[] = { plain(c, a, a.meta->dtype, a.meta->size, n - 2),
                            plain(c, a, dtype_real(a.meta->dtype), a.meta->size, n - 2),
                            column_major(c, a, a.meta->dtype, a.meta->size, n),
                            plain(c, a, DTYPE_I32, a.meta->size, n - 1) };
    return ret_tensors(c, ret, 4);
}

bool rule_linalg_eigh(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    struct str uplo = arg_string(c, 1);
    if (!check_square(c, a, "linalg.eigh") ||
        !require(c, uplo.n == 1 && strchr("LUlu", uplo.p[0]), "RuntimeError",
                 "Expected UPLO argument to be 'L' or 'U', but got %.*s", STR_ARG(uplo)))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor vectors = arg_bool(c, 2) ? column_major(c, a, a.meta->dtype, a.meta->size, n)
                                           : empty_1d(c, a, a.meta->dtype);
    struct tensor values = plain(c, a, dtype_real(a.meta->dtype), a.meta->size, n - 1);
    return ret_tensors(c, (struct tensor[]){ values, vectors }, 2);
}

/* linalg_eig; param: without eigenvectors */
bool rule_linalg_eig(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_square(c, a, c->param ? "linalg.eigvals" : "linalg.eig"))
        return false;
    uint32_t n = a.meta->ndim;
    enum dtype complex = dtype_is_complex(a.meta->dtype) ? a.meta->dtype
                                                         : dtype_complex(a.meta->dtype);
    struct tensor values = plain(c, a, complex, a.meta->size, n - 1);
    if (c->param)
        return ret_tensor(c, values);
    struct tensor vectors = is_cuda(a) ? plain(c, a, complex, a.meta->size, n)
                                       : column_major(c, a, complex, a.meta->size, n);
    return ret_tensors(c, (struct tensor[]){ values, vectors }, 2);
}

bool rule_linalg_matrix_exp(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_square(c, a, "linalg.matrix_exp") ||
        !check_floating(c, a, "linalg.matrix_exp", true))
        return false;
    return ret_tensor(c, plain(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
}

/* --- Of one matrix of any shape --- */

bool rule_linalg_qr(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_matrix(c, a, "linalg.qr", "A") || !check_floating(c, a, "linalg.qr", true))
        return false;
    struct str mode = arg_string(c, 1);
    bool complete = str_eq(mode, STR("complete")), q = !str_eq(mode, STR("r"));
    if (!require(c, complete || !q || str_eq(mode, STR("reduced")), "RuntimeError",
                 "qr received unrecognized mode '%.*s' but expected one of 'reduced' (default), "
                 "'r', or 'complete'",
                 STR_ARG(mode)))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id m = dim_size(a, 2), k = smaller_side(c, a);
    sym_id *q_size = copy_sizes(c, a), *r_size = copy_sizes(c, a);
    if (!q_size || !r_size)
        return false;
    q_size[n - 1] = r_size[n - 2] = complete ? m : k;
    struct tensor ret[] = { q ? column_major(c, a, a.meta->dtype, q_size, n)
                              : empty_1d(c, a, a.meta->dtype),
                            column_major(c, a, a.meta->dtype, r_size, n) };
    return ret_tensors(c, ret, 2);
}

bool rule_linalg_svd(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_matrix(c, a, "linalg.svd", "A") || !check_floating(c, a, "linalg.svd", true))
        return false;
    bool full = arg_bool(c, 1), vectors = arg_bool(c, 2);
    uint32_t n = a.meta->ndim;
    sym_id k = smaller_side(c, a);
    sym_id *u = copy_sizes(c, a), *s = copy_sizes(c, a), *v = copy_sizes(c, a);
    if (!u || !s || !v)
        return false;
    u[n - 1] = full ? dim_size(a, 2) : k;
    v[n - 2] = full ? dim_size(a, 1) : k;
    s[n - 2] = k;
    struct tensor none = empty_1d(c, a, a.meta->dtype);
    return ret_three(c, vectors ? column_major(c, a, a.meta->dtype, u, n) : none,
                     plain(c, a, dtype_real(a.meta->dtype), s, n - 1),
                     vectors ? row_or_column(c, a, v, n, is_cuda(a)) : none);
}

/* P, L and U of a matrix whose smaller side is k: linalg_lu, and lu_unpack, which may leave some
 * out. */
static bool ret_plu(struct call *c, struct tensor a, sym_id k, bool p, bool lu)
{
    uint32_t n = a.meta->ndim;
    sym_id m = dim_size(a, 2);
    sym_id *p_size = copy_sizes(c, a), *l_size = copy_sizes(c, a), *u_size = copy_sizes(c, a);
    if (!p_size || !l_size || !u_size)
        return false;
    p_size[n - 1] = m;
    l_size[n - 1] = k;
    u_size[n - 2] = k;
    enum dtype t = a.meta->dtype;
    return ret_three(c, p ? plain(c, a, t, p_size, n) : empty_1d(c, a, t),
                     lu ? plain(c, a, t, l_size, n) : empty_1d(c, a, t),
                     lu ? plain(c, a, t, u_size, n) : empty_1d(c, a, t));
}

static bool check_lu(struct call *c, struct tensor a, const char *name)
{
    return require(c, a.meta->ndim >= 2, "RuntimeError",
                   "%s: Expected tensor with 2 or more dimensions. Got size: %s instead", name,
                   sizes_text(c, a.meta->size, a.meta->ndim));
}

bool rule_linalg_lu(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    return check_lu(c, a, "linalg.lu") &&
           ret_plu(c, a, sym_min2(c, dim_size(a, 2), dim_size(a, 1)), arg_bool(c, 1), true);
}

bool rule_lu_unpack(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), pivots = arg_tensor(c, 1);
    bool p = arg_bool(c, 3);
    return check_lu(c, a, "torch.lu_unpack") &&
           require(c, !p || pivots.meta->dtype == DTYPE_I32, "RuntimeError",
                   "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of "
                   "torch.int32 dtype.\nNote: this function is intended to be used with the output "
                   "produced by torch.linalg.lu_factor") &&
           ret_plu(c, a, smaller_side(c, a), p, arg_bool(c, 2));
}

bool rule_linalg_lu_factor(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_lu(c, a, "torch.lu_factor"))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *pivots = copy_sizes(c, a);
    if (!pivots)
        return false;
    pivots[n - 2] = sym_min2(c, dim_size(a, 2), dim_size(a, 1));
    return ret_three(c, column_major(c, a, a.meta->dtype, a.meta->size, n),
                     plain(c, a, DTYPE_I32, pivots, n - 1),
                     plain(c, a, DTYPE_I32, a.meta->size, n - 2));
}

/* C++ only (aten/src/ATen/native/BatchLinearAlgebra.cpp): no symbolic sizes. */
bool rule_geqrf(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (c->symbolic)
        return refuse(c, "UnsupportedOperatorException", "aten.geqrf.default");
    if (!require(c, a.meta->ndim >= 2, "RuntimeError",
                 "torch.geqrf: input must have at least 2 dimensions."))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *tau = copy_sizes(c, a);
    if (!tau)
        return false;
    tau[n - 2] = sym_min2(c, dim_size(a, 2), dim_size(a, 1));
    struct tensor ret[] = { column_major(c, a, a.meta->dtype, a.meta->size, n),
                            plain(c, a, a.meta->dtype, tau, n - 1) };
    return ret_tensors(c, ret, 2);
}

/* linalg_pinv of C++: the transposed shape, by way of eigh for a Hermitian matrix and of svd for
 * others. */
bool rule_linalg_pinv(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!require(c, a.meta->ndim >= 2, "RuntimeError",
                 "linalg.pinv: The input tensor A must have at least 2 dimensions.") ||
        !check_floating(c, a, "linalg.pinv", true))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *sizes = copy_sizes(c, a);
    if (!sizes)
        return false;
    sizes[n - 1] = dim_size(a, 2);
    sizes[n - 2] = dim_size(a, 1);
    if (arg_bool(c, 3)) {
        if (!check_square(c, a, "linalg.eigh"))
            return false;
    } else {
        smaller_side(c, a);
    }
    return ret_tensor(c, plain(c, a, a.meta->dtype, sizes, n));
}

/* --- Of several --- */

/* _linalg_broadcast_batch_dims: b's sizes with both batch shapes broadcast; the batch alone in
 * *batch. */
static sym_id *broadcast_batch(struct call *c, struct tensor b, struct tensor a, uint32_t *n)
{
    sym_id *sizes = syms(c, TENSOR_MAX_DIM + 2);
    struct tensor batches[] = { plain(c, b, b.meta->dtype, b.meta->size, b.meta->ndim - 2),
                                plain(c, a, a.meta->dtype, a.meta->size, a.meta->ndim - 2) };
    if (!sizes || c->failed || !broadcast_shapes(c, batches, 2, sizes, n))
        return NULL;
    sizes[(*n)++] = dim_size(b, 2);
    sizes[(*n)++] = dim_size(b, 1);
    return sizes;
}

bool rule_linalg_solve_ex(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    bool left = arg_bool(c, 2);
    if (!check_floating(c, a, "linalg.solve", true) || !check_same_dtype(c, a, b, "linalg.solve"))
        return false;
    uint32_t n = a.meta->ndim;
    bool vector = b.meta->ndim == 1 ||
                  (n == b.meta->ndim + 1 &&
                   same_shape(c, b.meta->size, b.meta->ndim, a.meta->size, n - 1));
    struct tensor rhs = b;
    if (vector) {
        sym_id *sizes = syms(c, b.meta->ndim + 1);
        for (uint32_t i = 0; sizes && i < b.meta->ndim; i++)
            sizes[i] = b.meta->size[i];
        if (!sizes)
            return false;
        sizes[b.meta->ndim] = SYM_ID_ONE;
        rhs = plain(c, b, b.meta->dtype, sizes, b.meta->ndim + 1);
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
    struct tensor ret[] = { row_or_column(c, b, sizes, n_result - vector, !left),
                            column_major(c, a, a.meta->dtype, a.meta->size, n),
                            plain(c, a, DTYPE_I32, a.meta->size, n - 1),
                            plain(c, a, DTYPE_I32, a.meta->size, n - 2) };
    return ret_tensors(c, ret, 4);
}

bool rule_linalg_solve_triangular(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    uint32_t n;
    if (!check_solver(c, a, b, arg_bool(c, 3), "linalg.solve_triangular"))
        return false;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, column_major(c, a, a.meta->dtype, sizes, n));
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
        a_sizes[i] = i + 2 < n ? sizes[i] : dim_size(a, n - i);
    if (!a_sizes)
        return false;
    struct tensor ret[] = { column_major(c, b, b.meta->dtype, sizes, n),
                            column_major(c, a, a.meta->dtype, a_sizes, n) };
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
    return sizes && ret_tensor(c, column_major(c, b, b.meta->dtype, sizes, n));
}

static bool check_pivots(struct call *c, struct tensor a, struct tensor pivots, const char *name)
{
    return require(c,
                   same_shape(c, a.meta->size, a.meta->ndim - 1, pivots.meta->size,
                              pivots.meta->ndim),
                   "RuntimeError",
                   "%s: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots "
                   "with shape %s instead",
                   name, sizes_text(c, pivots.meta->size, pivots.meta->ndim));
}

bool rule_linalg_lu_solve(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), pivots = arg_tensor(c, 1), b = arg_tensor(c, 2);
    bool left = arg_bool(c, 3);
    if (!check_floating(c, a, "torch.linalg.lu_solve", true) ||
        !require(c, a.meta->dtype == b.meta->dtype, "RuntimeError",
                 "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type "
                 "%s and B of type %s instead",
                 dtype_scalar_name(a.meta->dtype), dtype_scalar_name(b.meta->dtype)) ||
        !require(c, pivots.meta->dtype == DTYPE_I32, "RuntimeError",
                 "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32") ||
        !check_square(c, a, "torch.linalg.lu_solve") ||
        !check_solver(c, a, b, left, "linalg.lu_solve") ||
        !require(c, pivots.meta->ndim > 0, "IndexError", "tuple index out of range") ||
        !check(c, eq(c, dim_size(a, 1), dim_size(pivots, 1)), "RuntimeError",
               "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the "
               "matrix") ||
        !check_pivots(c, a, pivots, "linalg.lu_solve"))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, row_or_column(c, b, sizes, n, !left));
}

bool rule_linalg_ldl_solve(struct call *c)
{
    const char *name = "torch.linalg.ldl_solve";
    struct tensor a = arg_tensor(c, 0), pivots = arg_tensor(c, 1), b = arg_tensor(c, 2);
    if (!check_square(c, a, name) || !check_floating(c, a, name, true) ||
        !require(c, b.meta->ndim >= 2, "RuntimeError",
                 "%s: Expected B to have at least 2 dimensions, but it has %u dimensions instead",
                 name, b.meta->ndim) ||
        !check_linear_solve(c, b, a, name) ||
        !check_pivots(c, a, pivots, name) ||
        !require(c, dtype_is_integer(pivots.meta->dtype), "RuntimeError",
                 "%s: Expected pivots to be integers. Got %s", name,
                 dtype_scalar_name(pivots.meta->dtype)))
        return false;
    uint32_t n;
    sym_id *sizes = broadcast_batch(c, b, a, &n);
    return sizes && ret_tensor(c, column_major(c, b, b.meta->dtype, sizes, n));
}

bool rule_linalg_householder_product(struct call *c)
{
    const char *name = "torch.linalg.householder_product";
    struct tensor x = arg_tensor(c, 0), tau = arg_tensor(c, 1);
    uint32_t n = x.meta->ndim;
    if (!require(c, n >= 2, "RuntimeError", "%s: input must have at least 2 dimensions.", name) ||
        !check(c, ge(c, dim_size(x, 2), dim_size(x, 1)), "RuntimeError",
               "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", name) ||
        !require(c, tau.meta->ndim > 0, "IndexError", "tuple index out of range") ||
        !check(c, ge(c, dim_size(x, 1), dim_size(tau, 1)), "RuntimeError",
               "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", name) ||
        !require(c, n == tau.meta->ndim + 1, "RuntimeError",
                 "%s: Expected tau to have one dimension less than input, but got tau.ndim equal "
                 "to %u and input.ndim is equal to %u",
                 name, tau.meta->ndim, n) ||
        !require(c, same_shape(c, tau.meta->size, n - 2, x.meta->size, n - 2), "RuntimeError",
                 "%s: Expected batch dimensions of tau to be equal to input.shape[:-2], but got %s",
                 name, sizes_text(c, tau.meta->size, n - 2)) ||
        !require(c, tau.meta->dtype == x.meta->dtype, "RuntimeError",
                 "%s: tau dtype %s does not match input dtype %s", name,
                 dtype_scalar_name(tau.meta->dtype), dtype_scalar_name(x.meta->dtype)))
        return false;
    return ret_tensor(c, column_major(c, x, x.meta->dtype, x.meta->size, n));
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
           check(c, ge(c, dim_size(other, d), dim_size(tau, 1)), "RuntimeError",
                 "torch.ormqr: other.shape[-%u] must be greater than or equal to tau.shape[-1]",
                 d) &&
           check(c, eq(c, dim_size(other, d), dim_size(x, 2)), "RuntimeError",
                 "torch.ormqr: other.shape[-%u] must be equal to input.shape[-2]", d) &&
           check(c, le(c, dim_size(tau, 1), dim_size(x, 1)), "RuntimeError",
                 "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]") &&
           require(c, n == tau.meta->ndim + 1, "RuntimeError",
                   "torch.ormqr: Expected tau to have one dimension less than input, but got "
                   "tau.ndim equal to %u and input.ndim is equal to %u",
                   tau.meta->ndim, n) &&
           require(c, n == other.meta->ndim, "RuntimeError",
                   "torch.ormqr: Expected other to have the same number of dimensions as input, "
                   "but got other.ndim equal to %u and input.ndim is equal to %u",
                   other.meta->ndim, n) &&
           require(c, same_shape(c, tau.meta->size, n - 2, x.meta->size, n - 2), "RuntimeError",
                   "torch.ormqr: Expected batch dimensions of tau to be equal to "
                   "input.shape[:-2], but got %s",
                   sizes_text(c, tau.meta->size, n - 2)) &&
           require(c, same_shape(c, other.meta->size, n - 2, x.meta->size, n - 2), "RuntimeError",
                   "torch.ormqr: Expected batch dimensions of other to be equal to "
                   "input.shape[:-2], but got %s",
                   sizes_text(c, other.meta->size, n - 2));
}

bool rule_ormqr(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), tau = arg_tensor(c, 1), other = arg_tensor(c, 2);
    if (!check_ormqr(c, x, tau, other, arg_bool(c, 3)))
        return false;
    return ret_tensor(c, column_major(c, other, other.meta->dtype, other.meta->size,
                                      other.meta->ndim));
}

/* linalg_lstsq of C++ (BatchLinearAlgebra.cpp): what is returned besides the solution follows from
 * the driver; residuals exist for a tall matrix of full rank, which every one is taken to be, since
 * the rank is in the values. Symbols are refused. */
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
                        : is_cuda(a)    ? STR("gels")
                                        : STR("gelsy");
    bool gels = str_eq(driver, STR("gels")), gelsy = str_eq(driver, STR("gelsy"));
    sym_id rows = dim_size(a, 2), columns = dim_size(a, 1);
    bool tall = guard_bool(c, gt(c, rows, columns)) && !gelsy;
    /* The solution lies where B was copied to: columns of the longer side. */
    sym_id *sizes = copy_sizes(c, b), *strides = syms(c, n), *values = copy_sizes(c, a);
    if (!sizes || !strides || !values)
        return false;
    sym_id longer = sym_max2(c, rows, columns), nrhs = vector ? SYM_ID_ONE : dim_size(b, 1);
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
    struct tensor residuals = tall ? plain(c, a, real, values, vector ? n - 2 : n - 1)
                                   : empty_1d(c, a, real);
    sym_id *singular = copy_sizes(c, a);
    if (!singular)
        return false;
    singular[n - 2] = sym_min2(c, rows, columns);
    struct tensor ret[] = {
        new_tensor_strided(c, t, b.meta->device, sizes, strides, b.meta->ndim), residuals,
        gels ? empty_1d(c, a, DTYPE_I64) : plain(c, a, DTYPE_I64, a.meta->size, n - 2),
        gels || gelsy ? empty_1d(c, a, real) : plain(c, a, real, singular, n - 1)
    };
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
    return ret_tensor(c, plain(c, x[0], x[0].meta->dtype, sizes, n));
}

/* Looks at the values of info, which fake tensors do not have. */
bool rule_linalg_check_errors(struct call *c)
{
    return ret_none(c);
}
