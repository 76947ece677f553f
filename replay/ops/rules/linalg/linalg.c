/* Matrix factorizations and solvers (torch/_meta_registrations.py, linalg_* and its helpers).
 * The texts of shape errors are those of aten/src/ATen/native/LinearAlgebraUtils.h. Results that
 * LAPACK writes are column-major. */
#include "replay/ops/rules/linalg/linalg.h"

/* --- Checks --- */

bool linalg_matrix(struct call *c, struct tensor x, const char *name, const char *what)
{
    return require(c, x.meta->ndim >= 2, "RuntimeError",
                   "%s: The input tensor %s must have at least 2 dimensions.", name, what);
}

sym_id side(struct tensor x, uint32_t from_end)
{
    return x.meta->size[x.meta->ndim - from_end];
}

bool linalg_square(struct call *c, struct tensor a, const char *name)
{
    return linalg_matrix(c, a, name, "A") &&
           check(c, eq(c, side(a, 1), side(a, 2)), "RuntimeError",
                 "%s: A must be batches of square matrices, but they are %s by %s matrices", name,
                 sym_text(c, side(a, 2)), sym_text(c, side(a, 1)));
}

bool linalg_floating(struct call *c, struct tensor x, const char *name, bool low_precision)
{
    enum dtype t = x.meta->dtype;
    if (!require(c, dtype_is_float(t) || dtype_is_complex(t), "RuntimeError",
                 "%s: Expected a floating point or complex tensor as input. Got %s", name,
                 dtype_scalar_name(t)))
        return false;
    return low_precision ||
           require(c, t == DTYPE_F32 || t == DTYPE_F64 || t == DTYPE_C64 || t == DTYPE_C128,
                   "RuntimeError", "%s: Low precision dtypes not supported. Got %s", name,
                   dtype_scalar_name(t));
}

/* --- Results --- */

/* Python's min(rows, columns), which adds a guard, or torch.sym_min, which adds none. */
static sym_id smaller_side(struct call *c, struct tensor a, enum behavior uses_sym_min)
{
    if (behaves(c->env, uses_sym_min))
        return sym_min2(c, side(a, 2), side(a, 1));
    return py_min(c, side(a, 2), side(a, 1));
}

struct tensor linalg_contiguous(struct call *c, struct tensor like, enum dtype dtype,
                                const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, like.meta->device, sizes, n);
}

struct tensor linalg_none(struct call *c, struct tensor like, enum dtype dtype)
{
    sym_id zero = SYM_ID_ZERO;
    return linalg_contiguous(c, like, dtype, &zero, 1);
}

/* make_contiguous_strides_for(row_major=False) */
struct tensor linalg_column_major(struct call *c, struct tensor like, enum dtype dtype,
                                  const sym_id *sizes, uint32_t n)
{
    sym_id *strides = syms(c, n);
    if (!strides || n < 2)
        return linalg_contiguous(c, like, dtype, sizes, n);
    contiguous_strides(c, sizes, n, strides);
    strides[n - 2] = SYM_ID_ONE;
    strides[n - 1] = sym_max2(c, sizes[n - 2], SYM_ID_ONE);
    return new_tensor_strided(c, dtype, like.meta->device, sizes, strides, n);
}

struct tensor linalg_row_or_column(struct call *c, struct tensor like, const sym_id *sizes,
                                   uint32_t n, bool row_major)
{
    return row_major ? linalg_contiguous(c, like, like.meta->dtype, sizes, n)
                     : linalg_column_major(c, like, like.meta->dtype, sizes, n);
}

/* Returns a copy of x's sizes, in which the caller may set the last two. */
sym_id *linalg_sizes(struct call *c, struct tensor x)
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

/* --- Factorizations of a square matrix --- */

/* Says what a factorization of a square matrix returns; it is the param of the rows. */
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
    if (!linalg_square(c, a, square[c->param].name) ||
        !linalg_floating(c, a, square[c->param].name, square[c->param].low_precision))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor factor = linalg_column_major(c, a, a.meta->dtype, a.meta->size, n);
    struct tensor info = linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 2);
    if (!square[c->param].pivots)
        return ret_tensors(c, (struct tensor[]){ factor, info }, 2);
    return ret_three(c, factor, linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 1), info);
}

/* cholesky, cholesky_inverse: cloneBatchedColumnMajor */
bool rule_cholesky(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!c->param && guard_bool(c, eq_int(c, numel(c, a), 0)))
        return ret_tensor(c, linalg_contiguous(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
    if (!linalg_square(c, a, c->param ? "cholesky_inverse" : "cholesky"))
        return false;
    return ret_tensor(c, linalg_column_major(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
}

bool rule_linalg_det(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_square(c, a, "linalg.det") || !linalg_floating(c, a, "linalg.det", false))
        return false;
    uint32_t n = a.meta->ndim;
    return ret_three(c, linalg_contiguous(c, a, a.meta->dtype, a.meta->size, n - 2),
                     linalg_column_major(c, a, a.meta->dtype, a.meta->size, n),
                     linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 1));
}

bool rule_linalg_slogdet(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_square(c, a, "linalg.slogdet") || !linalg_floating(c, a, "linalg.slogdet", false))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor ret[] = { linalg_contiguous(c, a, a.meta->dtype, a.meta->size, n - 2),
                            linalg_contiguous(c, a, dtype_real(a.meta->dtype), a.meta->size, n - 2),
                            linalg_column_major(c, a, a.meta->dtype, a.meta->size, n),
                            linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 1) };
    return ret_tensors(c, ret, 4);
}

bool rule_linalg_eigh(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    struct str uplo = arg_string(c, 1);
    if (!linalg_square(c, a, "linalg.eigh") ||
        !require(c, uplo.n == 1 && strchr("LUlu", uplo.p[0]), "RuntimeError",
                 "Expected UPLO argument to be 'L' or 'U', but got %.*s", STR_ARG(uplo)))
        return false;
    uint32_t n = a.meta->ndim;
    struct tensor vectors = arg_bool(c, 2)
                                ? linalg_column_major(c, a, a.meta->dtype, a.meta->size, n)
                                : linalg_none(c, a, a.meta->dtype);
    struct tensor values = linalg_contiguous(c, a, dtype_real(a.meta->dtype), a.meta->size, n - 1);
    return ret_tensors(c, (struct tensor[]){ values, vectors }, 2);
}

/* linalg_eig; param is 1 without eigenvectors. */
bool rule_linalg_eig(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_square(c, a, c->param ? "linalg.eigvals" : "linalg.eig"))
        return false;
    uint32_t n = a.meta->ndim;
    enum dtype complex =
        dtype_is_complex(a.meta->dtype) ? a.meta->dtype : dtype_complex(a.meta->dtype);
    struct tensor values = linalg_contiguous(c, a, complex, a.meta->size, n - 1);
    if (c->param)
        return ret_tensor(c, values);
    struct tensor vectors = on_cuda(a) ? linalg_contiguous(c, a, complex, a.meta->size, n)
                                       : linalg_column_major(c, a, complex, a.meta->size, n);
    return ret_tensors(c, (struct tensor[]){ values, vectors }, 2);
}

static bool matrix_function(struct call *c, const char *name, bool low_precision)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_square(c, a, name) || !linalg_floating(c, a, name, low_precision))
        return false;
    return ret_tensor(c, linalg_contiguous(c, a, a.meta->dtype, a.meta->size, a.meta->ndim));
}

bool rule_linalg_matrix_exp(struct call *c)
{
    return matrix_function(c, "linalg.matrix_exp", true);
}

bool rule_linalg_matrix_sqrth(struct call *c)
{
    return matrix_function(c, "linalg.matrix_sqrth", false);
}

/* --- Factorizations of a matrix of any shape --- */

bool rule_linalg_qr(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_matrix(c, a, "linalg.qr", "A") || !linalg_floating(c, a, "linalg.qr", true))
        return false;
    struct str mode = arg_string(c, 1);
    bool complete = str_eq(mode, STR("complete")), q = !str_eq(mode, STR("r"));
    if (!require(c, complete || !q || str_eq(mode, STR("reduced")), "RuntimeError",
                 "qr received unrecognized mode '%.*s' but expected one of 'reduced' (default), "
                 "'r', or 'complete'",
                 STR_ARG(mode)))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id m = side(a, 2), k = smaller_side(c, a, BEHAVIOR_FACTORS_USE_SYM_MIN);
    sym_id *q_size = linalg_sizes(c, a), *r_size = linalg_sizes(c, a);
    if (!q_size || !r_size)
        return false;
    q_size[n - 1] = r_size[n - 2] = complete ? m : k;
    struct tensor ret[] = { q ? linalg_column_major(c, a, a.meta->dtype, q_size, n)
                              : linalg_none(c, a, a.meta->dtype),
                            linalg_column_major(c, a, a.meta->dtype, r_size, n) };
    return ret_tensors(c, ret, 2);
}

/* linalg_polar_meta */
bool rule_linalg_polar(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_matrix(c, a, "linalg.polar", "A") || !linalg_floating(c, a, "linalg.polar", true) ||
        !check(c, py_ge(c, side(a, 2), side(a, 1)), "RuntimeError",
               "linalg.polar: input must have at least as many rows as columns, but got %s by %s "
               "matrices",
               sym_text(c, side(a, 2)), sym_text(c, side(a, 1))))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *size = linalg_sizes(c, a);
    if (!size)
        return false;
    struct tensor u = new_tensor(c, a.meta->dtype, a.meta->device, size, n);
    size[n - 2] = size[n - 1];
    return ret_tensors(
        c, (struct tensor[]){ u, new_tensor(c, a.meta->dtype, a.meta->device, size, n) }, 2);
}

bool rule_linalg_svd(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!linalg_matrix(c, a, "linalg.svd", "A") || !linalg_floating(c, a, "linalg.svd", true))
        return false;
    bool full = arg_bool(c, 1), vectors = arg_bool(c, 2);
    uint32_t n = a.meta->ndim;
    sym_id k = smaller_side(c, a, BEHAVIOR_SVD_USES_SYM_MIN);
    sym_id *u = linalg_sizes(c, a), *s = linalg_sizes(c, a), *v = linalg_sizes(c, a);
    if (!u || !s || !v)
        return false;
    u[n - 1] = full ? side(a, 2) : k;
    v[n - 2] = full ? side(a, 1) : k;
    s[n - 2] = k;
    struct tensor none = linalg_none(c, a, a.meta->dtype);
    return ret_three(c, vectors ? linalg_column_major(c, a, a.meta->dtype, u, n) : none,
                     linalg_contiguous(c, a, dtype_real(a.meta->dtype), s, n - 1),
                     vectors ? linalg_row_or_column(c, a, v, n, on_cuda(a)) : none);
}

/* Returns P, L and U of a matrix whose smaller side is k, for linalg_lu and for lu_unpack, which
 * may omit some. */
static bool ret_plu(struct call *c, struct tensor a, sym_id k, bool p, bool lu)
{
    uint32_t n = a.meta->ndim;
    sym_id m = side(a, 2);
    sym_id *p_size = linalg_sizes(c, a), *l_size = linalg_sizes(c, a), *u_size = linalg_sizes(c, a);
    if (!p_size || !l_size || !u_size)
        return false;
    p_size[n - 1] = m;
    l_size[n - 1] = k;
    u_size[n - 2] = k;
    enum dtype t = a.meta->dtype;
    return ret_three(c, p ? linalg_contiguous(c, a, t, p_size, n) : linalg_none(c, a, t),
                     lu ? linalg_contiguous(c, a, t, l_size, n) : linalg_none(c, a, t),
                     lu ? linalg_contiguous(c, a, t, u_size, n) : linalg_none(c, a, t));
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
           ret_plu(c, a, sym_min2(c, side(a, 2), side(a, 1)), arg_bool(c, 1), true);
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
           ret_plu(c, a, smaller_side(c, a, BEHAVIOR_FACTORS_USE_SYM_MIN), p, arg_bool(c, 2));
}

bool rule_linalg_lu_factor(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!check_lu(c, a, "torch.lu_factor"))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *pivots = linalg_sizes(c, a);
    if (!pivots)
        return false;
    pivots[n - 2] = sym_min2(c, side(a, 2), side(a, 1));
    return ret_three(c, linalg_column_major(c, a, a.meta->dtype, a.meta->size, n),
                     linalg_contiguous(c, a, DTYPE_I32, pivots, n - 1),
                     linalg_contiguous(c, a, DTYPE_I32, a.meta->size, n - 2));
}

/* This operator exists only in C++ (aten/src/ATen/native/BatchLinearAlgebra.cpp), so symbolic
 * sizes are not supported. */
bool rule_geqrf(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (c->symbolic)
        return refuse(c, "UnsupportedOperatorException", "aten.geqrf.default");
    if (!require(c, a.meta->ndim >= 2, "RuntimeError",
                 "torch.geqrf: input must have at least 2 dimensions."))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *tau = linalg_sizes(c, a);
    if (!tau)
        return false;
    tau[n - 2] = sym_min2(c, side(a, 2), side(a, 1));
    struct tensor ret[] = { linalg_column_major(c, a, a.meta->dtype, a.meta->size, n),
                            linalg_contiguous(c, a, a.meta->dtype, tau, n - 1) };
    return ret_tensors(c, ret, 2);
}

/* linalg_pinv of C++: the shape is transposed. A Hermitian matrix uses eigh, others use svd. */
bool rule_linalg_pinv(struct call *c)
{
    struct tensor a = arg_tensor(c, 0);
    if (!require(c, a.meta->ndim >= 2, "RuntimeError",
                 "linalg.pinv: The input tensor A must have at least 2 dimensions.") ||
        !linalg_floating(c, a, "linalg.pinv", true))
        return false;
    uint32_t n = a.meta->ndim;
    sym_id *sizes = linalg_sizes(c, a);
    if (!sizes)
        return false;
    sizes[n - 1] = side(a, 2);
    sizes[n - 2] = side(a, 1);
    if (arg_bool(c, 3)) {
        if (!linalg_square(c, a, "linalg.eigh"))
            return false;
    } else if (!behaves(c->env, BEHAVIOR_SVD_USES_SYM_MIN) || !arg_given(c, 2)) {
        py_min(c, side(a, 2), side(a, 1)); /* svd's, later that of the default for rtol */
    }
    return ret_tensor(c, linalg_contiguous(c, a, a.meta->dtype, sizes, n));
}
