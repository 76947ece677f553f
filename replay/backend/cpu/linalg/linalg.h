/* Matrices, for the kernels of linear algebra.
 *
 * Everything is computed in complex128, in which real matrices stay real, with LAPACK's algorithms:
 * its pivots, the signs of its reflections, its order of rotations. So factors, which are not
 * unique, are those of PyTorch, and `info` has LAPACK's values. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_LINALG_LINALG_H
#define SYMTAPE_REPLAY_BACKEND_CPU_LINALG_LINALG_H

#include "replay/backend/cpu/kernel.h"

/* The elements are in row-major order. */
struct matrix {
    int64_t rows, columns;
    cdouble *v;
};

static inline cdouble *cell(struct matrix a, int64_t row, int64_t column)
{
    return a.v + row * a.columns + column;
}

static inline int64_t shorter_side(struct matrix a)
{
    return a.rows < a.columns ? a.rows : a.columns;
}

/* A tensor whose last two dimensions are matrices. */
struct matrices {
    struct dense all;
    int64_t n, rows, columns; /* n 0 after a failure */
};

struct matrices matrices_of(struct kernel *k, struct dense x);
struct matrices load_matrices(struct kernel *k, const char *name);
/* Returns zeros, as many matrices as `like` has. */
struct matrices matrices_like(struct kernel *k, const struct matrices *like, int64_t rows,
                              int64_t columns);
struct matrix nth(const struct matrices *x, int64_t i);
/* Returns zeros, `each` per matrix (0: one, without a dimension of its own). */
struct dense per_matrix(struct kernel *k, const struct matrices *like, enum dense_kind kind,
                        int64_t each);
/* Expands both to the batch that they broadcast to. */
void broadcast_batches(struct kernel *k, struct matrices *a, struct matrices *b);
/* Loads an argument that may be a vector for each matrix of A, as one column. */
struct matrices load_right_side(struct kernel *k, const char *name, const struct matrices *a);
/* Stores result i if it exists and is not empty: options leave some empty. */
void store_result(struct kernel *k, uint32_t i, struct dense x);

/* Returns zeros; without memory a matrix without rows and columns. */
struct matrix matrix_new(struct kernel *k, int64_t rows, int64_t columns);
struct matrix matrix_copy(struct kernel *k, struct matrix a);
struct matrix identity_matrix(struct kernel *k, int64_t rows, int64_t columns);
struct matrix adjoint(struct kernel *k, struct matrix a);
struct matrix product_of_matrices(struct kernel *k, struct matrix a, struct matrix b);
/* Copies the upper left corner that both have. */
void copy_corner(struct matrix from, struct matrix to);
void swap_rows(struct matrix a, int64_t i, int64_t j);
/* Rotates columns j and j + 1. */
void rotate_columns(struct matrix a, int64_t j, double c, double s);
void keep_triangle(struct matrix a, bool upper);
static inline double size1(cdouble x) /* the size that LAPACK compares pivots by */
{
    return __builtin_fabs(__real__ x) + __builtin_fabs(__imag__ x);
}

/* The triangle of `a` to solve with, transposed or not. */
struct triangle {
    bool upper, unit, turned, conjugated;
};
void solve_triangle(struct matrix a, struct matrix b, struct triangle t); /* overwrites b */

/* --- linalg_lu.c --- */

/* Factors in place; pivots count from 1. Returns info. */
int64_t lu_factor(struct matrix a, int64_t *pivots);

/* --- linalg_qr.c --- */

/* Computes the reflection I - tau v v^H whose adjoint maps x to beta e1. v, whose first element is
 * 1, overwrites x after beta. Elements are `step` apart. Returns tau. */
cdouble reflection(cdouble *x, int64_t n, int64_t step);
/* Factors in place, as LAPACK's geqrf does. */
void qr_factor(struct kernel *k, struct matrix a, cdouble *tau);
/* Computes c := Q c or Q^H c with the first n reflections. */
void apply_reflections(struct matrix a, const cdouble *tau, int64_t n, struct matrix c,
                       bool adjointly);

/* --- linalg_eigh.c, linalg_svd.c --- */

/* The largest matrix that LAPACK's syevd and gesdd do not divide and conquer (ilaenv's SMLSIZ). */
enum { LAPACK_UNDIVIDED = 25 };
/* Returns the sum of the squares of n numbers of a column. */
double part_of_column(struct matrix a, int64_t column, int64_t from, int64_t n);

/* Computes the eigenvalues, in ascending order, and eigenvectors of a hermitian matrix, which is
 * overwritten with the vectors. */
int64_t eigh(struct kernel *k, struct matrix a, bool upper, double eps, double *values);

/* Computes the singular values of a bidiagonal matrix (linalg_bidiagonal.c), which overwrite d. u
 * and vh, both square, are multiplied with the transformations. */
struct bidiagonal {
    int64_t n;
    double *d, *e; /* e above the diagonal */
    struct matrix u, vh;
    double eps;
};
bool bidiagonal_svd(struct kernel *k, struct bidiagonal *b); /* false: it does not converge */
void rotation_of(double f, double g, double *c, double *s, double *r);

struct svd {
    struct matrix u, vh; /* rows x rows and columns x columns */
    double *values;
    int64_t n;
};
bool svd(struct kernel *k, struct matrix a, enum dtype dtype, struct svd *ret);
double eps_of(enum dtype dtype); /* half a unit in the last place of 1 */

#endif
