/* quantile and nanquantile: interpolation between sorted values. */
#include <math.h>
#include <stdlib.h>

#include "replay/backend/cpu/kernel.h"

static int compare_elements_of_row(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static double interpolate_quantile(double low, double high, double rest, struct str how)
{
    if (str_is(how, "lower"))
        return low;
    if (str_is(how, "higher"))
        return rest > 0 ? high : low;
    if (str_is(how, "midpoint"))
        return rest > 0 ? low + (high - low) * 0.5 : low;
    if (str_is(how, "nearest"))
        return rest > 0.5 ? high : low;
    return rest < 0.5 ? low + rest * (high - low) : high - (high - low) * (1 - rest);
}

/* Returns the quantile of a sorted row whose NaNs are last. */
static double quantile_of(const struct kernel *k, const double *row, int64_t n, double q)
{
    bool skip = k->row->param == 1;
    struct str how = text_arg(k, "interpolation");
    int64_t good = n;
    while (good > 0 && isnan(row[good - 1]))
        good--;
    if ((!skip && good < n) || good == 0)
        return NAN;
    double place = q * (double)(good - 1);
    if (str_is(how, "nearest"))
        return row[(int64_t)nearbyint(place)];
    int64_t low = (int64_t)floor(place), high = low + 1 < good ? low + 1 : low;
    return interpolate_quantile(row[low], row[high], place - (double)low, how);
}

/* PARAM 1: NaNs are ignored. A single q adds no dimension to the result; several add the first
 * one. */
void kernel_quantile(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense q = load_value(k, value_arg(k, "q"), DENSE_REAL);
    if (!has_arg(k, "dim"))
        x = dense_reshape(x, &x.n, 1);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
    int64_t rows = a.outer * a.inner, size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    double *row = workspace(k, a.n, sizeof *row);
    if (k->failed || out.n != rows * q.n)
        return;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < a.n; i++)
            row[i] = x.u.r[(r / a.inner * a.n + i) * a.inner + r % a.inner];
        qsort(row, (size_t)a.n, sizeof *row, compare_elements_of_row);
        for (int64_t i = 0; i < q.n; i++)
            out.u.r[i * rows + r] = quantile_of(k, row, a.n, q.u.r[i]);
    }
    store_tensor(k, result(k, 0), out);
}
