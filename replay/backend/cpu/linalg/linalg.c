#include "replay/backend/cpu/linalg/linalg.h"

#include <string.h>

struct matrices matrices_of(struct kernel *k, struct dense x)
{
    struct matrices ret = { .all = x };
    if (!k->failed && x.ndim < 2)
        kernel_fail(k, "a tensor of %u dimensions is not a matrix", x.ndim);
    if (k->failed)
        return ret;
    ret.rows = x.size[x.ndim - 2];
    ret.columns = x.size[x.ndim - 1];
    ret.n = 1;
    for (uint32_t i = 0; i + 2 < x.ndim; i++)
        ret.n *= x.size[i];
    return ret;
}

struct matrices load_matrices(struct kernel *k, const char *name)
{
    return matrices_of(k, load_as(k, tensor_arg(k, name), DENSE_COMPLEX));
}

struct matrices matrices_like(struct kernel *k, const struct matrices *like, int64_t rows,
                              int64_t columns)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = like->all.ndim;
    if (k->failed)
        return (struct matrices){ 0 };
    memcpy(size, like->all.size, ndim * sizeof *size);
    size[ndim - 2] = rows;
    size[ndim - 1] = columns;
    return matrices_of(k, dense_new(k, DENSE_COMPLEX, size, ndim));
}

struct matrix nth(const struct matrices *x, int64_t i)
{
    return (struct matrix){ x->rows, x->columns, x->all.u.c + i * x->rows * x->columns };
}

struct dense per_matrix(struct kernel *k, const struct matrices *like, enum dense_kind kind,
                        int64_t each)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = like->all.ndim;
    if (k->failed)
        return (struct dense){ .kind = kind };
    memcpy(size, like->all.size, ndim * sizeof *size);
    size[ndim - 2] = each;
    return dense_new(k, kind, size, each ? ndim - 1 : ndim - 2);
}

static void expand_batch(struct kernel *k, struct matrices *x, const int64_t *batch, uint32_t n)
{
    int64_t size[TENSOR_MAX_DIM];
    memcpy(size, batch, n * sizeof *size);
    size[n] = x->rows;
    size[n + 1] = x->columns;
    *x = matrices_of(k, dense_broadcast(k, x->all, size, n + 2));
}

void broadcast_batches(struct kernel *k, struct matrices *a, struct matrices *b)
{
    int64_t batch[TENSOR_MAX_DIM];
    uint32_t n = (a->all.ndim > b->all.ndim ? a->all.ndim : b->all.ndim) - 2;
    if (k->failed)
        return;
    for (uint32_t i = 0; i < n; i++) { /* from the last one on */
        int64_t x = i + 2 < a->all.ndim ? a->all.size[a->all.ndim - 3 - i] : 1;
        int64_t y = i + 2 < b->all.ndim ? b->all.size[b->all.ndim - 3 - i] : 1;
        batch[n - 1 - i] = x == 1 ? y : x;
    }
    expand_batch(k, a, batch, n);
    expand_batch(k, b, batch, n);
}

/* linalg_solve_is_vector_rhs() of LinearAlgebraUtils.h. */
static bool is_vector_rhs(const struct dense *b, const struct dense *a)
{
    bool same = b->ndim + 1 == a->ndim;
    for (uint32_t i = 0; same && i < b->ndim; i++)
        same = b->size[i] == a->size[i];
    return b->ndim == 1 || same;
}

struct matrices load_right_side(struct kernel *k, const char *name, const struct matrices *a)
{
    struct dense b = load_as(k, tensor_arg(k, name), DENSE_COMPLEX);
    if (!k->failed && is_vector_rhs(&b, &a->all) && b.ndim < TENSOR_MAX_DIM)
        b.size[b.ndim++] = 1;
    return matrices_of(k, b);
}

void store_result(struct kernel *k, uint32_t i, struct dense x)
{
    int64_t size[TENSOR_MAX_DIM], n = 1;
    struct kernel_tensor to = result(k, i);
    uint32_t ndim = tensor_sizes(to, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    if (to.meta && n)
        store_tensor(k, to, x);
}

struct matrix matrix_new(struct kernel *k, int64_t rows, int64_t columns)
{
    cdouble *v = workspace(k, rows * columns, sizeof *v);
    return v ? (struct matrix){ rows, columns, v } : (struct matrix){ 0 };
}

struct matrix matrix_copy(struct kernel *k, struct matrix a)
{
    struct matrix ret = matrix_new(k, a.rows, a.columns);
    if (ret.v)
        memcpy(ret.v, a.v, (size_t)(a.rows * a.columns) * sizeof *a.v);
    return ret;
}

struct matrix identity_matrix(struct kernel *k, int64_t rows, int64_t columns)
{
    struct matrix ret = matrix_new(k, rows, columns);
    for (int64_t i = 0; ret.v && i < shorter_side(ret); i++)
        *cell(ret, i, i) = 1;
    return ret;
}

struct matrix adjoint(struct kernel *k, struct matrix a)
{
    struct matrix ret = matrix_new(k, a.columns, a.rows);
    for (int64_t i = 0; ret.v && i < a.rows; i++)
        for (int64_t j = 0; j < a.columns; j++)
            *cell(ret, j, i) = conj(*cell(a, i, j));
    return ret;
}

struct matrix product_of_matrices(struct kernel *k, struct matrix a, struct matrix b)
{
    struct matrix ret = matrix_new(k, a.rows, b.columns);
    for (int64_t i = 0; ret.v && i < a.rows; i++)
        for (int64_t l = 0; l < a.columns; l++)
            for (int64_t j = 0; j < b.columns; j++)
                *cell(ret, i, j) += *cell(a, i, l) * *cell(b, l, j);
    return ret;
}

void copy_corner(struct matrix from, struct matrix to)
{
    for (int64_t i = 0; i < from.rows && i < to.rows; i++)
        for (int64_t j = 0; j < from.columns && j < to.columns; j++)
            *cell(to, i, j) = *cell(from, i, j);
}

void swap_rows(struct matrix a, int64_t i, int64_t j)
{
    for (int64_t c = 0; c < a.columns && i != j; c++) {
        cdouble swapped = *cell(a, i, c);
        *cell(a, i, c) = *cell(a, j, c);
        *cell(a, j, c) = swapped;
    }
}

void rotate_columns(struct matrix a, int64_t j, double c, double s)
{
    for (int64_t i = 0; i < a.rows; i++) {
        cdouble x = *cell(a, i, j + 1);
        *cell(a, i, j + 1) = c * x - s * *cell(a, i, j);
        *cell(a, i, j) = s * x + c * *cell(a, i, j);
    }
}

void keep_triangle(struct matrix a, bool upper)
{
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.columns; j++)
            if (upper ? j < i : j > i)
                *cell(a, i, j) = 0;
}

static cdouble of_triangle(struct matrix a, struct triangle t, int64_t i, int64_t j)
{
    cdouble x = t.turned ? *cell(a, j, i) : *cell(a, i, j);
    return t.conjugated ? conj(x) : x;
}

void solve_triangle(struct matrix a, struct matrix b, struct triangle t)
{
    bool lower = t.upper == t.turned;
    for (int64_t done = 0; done < b.rows; done++) {
        int64_t i = lower ? done : b.rows - 1 - done;
        for (int64_t c = 0; c < b.columns; c++) {
            cdouble x = *cell(b, i, c);
            for (int64_t j = lower ? 0 : i + 1; j < (lower ? i : b.rows); j++)
                x -= of_triangle(a, t, i, j) * *cell(b, j, c);
            *cell(b, i, c) = t.unit ? x : x / of_triangle(a, t, i, i);
        }
    }
}
