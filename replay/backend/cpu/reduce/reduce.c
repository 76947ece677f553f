/* Reductions over some dimensions, in the order of the elements. */
#include <math.h>

#include "replay/backend/cpu/reduce/reduce.h"

enum reduction { SUM, MEAN, PROD, AMAX, AMIN, ANY, ALL };

struct dense reduced_last(struct kernel *k, struct dense x, const char *name, int64_t *n)
{
    bool reduced[TENSOR_MAX_DIM];
    uint32_t order[TENSOR_MAX_DIM], at = 0;
    dims_arg(k, name, x.ndim, reduced);
    *n = 1;
    for (uint32_t i = 0; i < x.ndim; i++)
        if (!reduced[i])
            order[at++] = i;
    for (uint32_t i = 0; i < x.ndim; i++)
        if (reduced[i]) {
            order[at++] = i;
            *n *= x.size[i];
        }
    return dense_permute(k, x, order);
}

static double first_real(enum reduction what)
{
    return what == PROD || what == ALL ? 1 : what == AMAX ? -INFINITY : what == AMIN ? INFINITY : 0;
}

static double reduce_real(enum reduction what, const double *x, int64_t n)
{
    double ret = first_real(what);
    for (int64_t i = 0; i < n; i++) {
        switch (what) {
        case SUM:
        case MEAN: ret += x[i]; break;
        case PROD: ret *= x[i]; break;
        case AMAX: ret = isnan(x[i]) || isnan(ret) ? NAN : x[i] > ret ? x[i] : ret; break;
        case AMIN: ret = isnan(x[i]) || isnan(ret) ? NAN : x[i] < ret ? x[i] : ret; break;
        case ANY: ret = ret != 0 || x[i] != 0; break;
        case ALL: ret = ret != 0 && x[i] != 0; break;
        }
    }
    return what == MEAN ? ret / (double)n : ret;
}

static int64_t reduce_int(enum reduction what, const int64_t *x, int64_t n)
{
    uint64_t ret = what == PROD || what == ALL;
    if ((what == AMAX || what == AMIN) && n)
        ret = (uint64_t)x[0];
    for (int64_t i = 0; i < n; i++) {
        switch (what) {
        case SUM:
        case MEAN: ret += (uint64_t)x[i]; break;
        case PROD: ret *= (uint64_t)x[i]; break;
        case AMAX: ret = x[i] > (int64_t)ret ? (uint64_t)x[i] : ret; break;
        case AMIN: ret = x[i] < (int64_t)ret ? (uint64_t)x[i] : ret; break;
        case ANY: ret = ret || x[i]; break;
        case ALL: ret = ret && x[i]; break;
        }
    }
    return (int64_t)ret;
}

static cdouble reduce_complex(enum reduction what, const cdouble *x, int64_t n)
{
    cdouble ret = what == PROD || what == ALL;
    for (int64_t i = 0; i < n; i++) {
        switch (what) {
        case PROD: ret *= x[i]; break;
        case ANY: ret = ret != 0 || x[i] != 0; break;
        case ALL: ret = ret != 0 && x[i] != 0; break;
        default: ret += x[i];
        }
    }
    return what == MEAN ? ret / (double)n : ret;
}

void kernel_reduce(struct kernel *k)
{
    enum reduction what = (enum reduction)k->row->param;
    struct kernel_tensor self = tensor_arg(k, "self"), to = result(k, 0);
    int64_t n, size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    struct dense x = load_tensor(k, self);
    if (x.kind == DENSE_INT && to.meta && dense_kind_of(to.meta->dtype) != DENSE_INT)
        x = dense_convert(k, x, dense_kind_of(to.meta->dtype));
    if (x.kind == DENSE_REAL && to.meta && dense_kind_of(to.meta->dtype) == DENSE_COMPLEX)
        x = dense_convert(k, x, DENSE_COMPLEX);
    x = reduced_last(k, x, "dim", &n);
    struct dense out = dense_new(k, x.kind, size, ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        if (x.kind == DENSE_REAL)
            out.u.r[i] = reduce_real(what, x.u.r + i * n, n);
        else if (x.kind == DENSE_INT)
            out.u.i[i] = reduce_int(what, x.u.i + i * n, n);
        else
            out.u.c[i] = reduce_complex(what, x.u.c + i * n, n);
    }
    store_tensor(k, to, out);
}
