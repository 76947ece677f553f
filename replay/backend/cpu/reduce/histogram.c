/* Histograms of any number of dimensions, and hashes of values. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

/* The bins of one dimension: edges ascend, the last bin includes its right edge. */
struct bin_axis {
    double *edges;
    int64_t bins;
};

static int64_t bin_index(const struct bin_axis *a, double x)
{
    int64_t low = 0, high = a->bins;
    if (!(a->bins > 0 && x >= a->edges[0] && x <= a->edges[a->bins]))
        return -1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (x >= a->edges[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Computes edges of equal bins, as select_outer_bin_edges() of HistogramKernel.cpp does. x is
 * [rows, width]. */
static void equal_bins(struct kernel *k, const struct dense *x, int64_t width, int64_t at,
                       enum dtype dtype, struct bin_axis *a)
{
    double given[2 * TENSOR_MAX_DIM], low = 0, high = 0;
    uint32_t n = reals_arg(k, "range", given, 2 * TENSOR_MAX_DIM);
    if (n >= 2 * (uint32_t)(at + 1)) {
        low = given[2 * at];
        high = given[2 * at + 1];
    } else if (x->n) {
        low = INFINITY, high = -INFINITY;
        for (int64_t i = at; i < x->n; i += width) {
            low = fmin(low, x->u.r[i]);
            high = fmax(high, x->u.r[i]);
        }
    }
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    a->edges = workspace(k, a->bins + 1, sizeof *a->edges);
    for (int64_t i = 0; a->edges && i <= a->bins; i++) /* from both ends, as linspace does */
        a->edges[i] =
            round_real(dtype, i <= a->bins / 2
                                  ? low + (high - low) / (double)a->bins * (double)i
                                  : high - (high - low) / (double)a->bins * (double)(a->bins - i));
}

/* Reads `bins`: numbers of bins, or tensors of edges. Returns the number of all bins. */
static int64_t axes_of(struct kernel *k, const struct dense *x, int64_t width,
                       struct bin_axis *axes)
{
    struct kernel_value bins = value_arg(k, "bins");
    const struct kernel_value *items = &bins;
    int64_t n = value_has_items(bins) ? list_arg(k, "bins", &items) : 1;
    struct kernel_tensor self = tensor_arg(k, "self");
    for (int64_t i = 0; i < n && i < TENSOR_MAX_DIM && !k->failed; i++) {
        if (items[i].kind == KERNEL_TENSOR) {
            struct dense edges = load_value(k, items[i], DENSE_REAL);
            axes[i] = (struct bin_axis){ edges.u.r, edges.n - 1 };
        } else {
            struct dense count = load_value(k, items[i], DENSE_INT);
            axes[i].bins = k->failed ? 0 : count.u.i[0];
            equal_bins(k, x, width, i, self.meta->dtype, &axes[i]);
        }
    }
    return n < TENSOR_MAX_DIM ? n : TENSOR_MAX_DIM;
}

static void to_density(struct dense hist, const struct bin_axis *axes, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < hist.n; i++)
        sum += hist.u.r[i];
    for (int64_t i = 0; i < hist.n; i++) {
        int64_t rest = i;
        double volume = 1;
        for (int64_t d = width; d-- > 0; rest /= axes[d].bins) {
            int64_t at = rest % axes[d].bins;
            volume *= axes[d].edges[at + 1] - axes[d].edges[at];
        }
        hist.u.r[i] /= sum * volume;
    }
}

static void count_into_bins(struct kernel *k, struct dense x, const struct bin_axis *axes,
                            int64_t width, struct dense hist)
{
    struct dense weight = { 0 };
    if (has_arg(k, "weight"))
        weight = load_as(k, tensor_arg(k, "weight"), DENSE_REAL);
    for (int64_t row = 0; width && row < x.n / width && !k->failed; row++) {
        int64_t at = 0, bin = 0;
        for (int64_t d = 0; d < width && bin >= 0; d++) {
            bin = bin_index(&axes[d], x.u.r[row * width + d]);
            at = at * axes[d].bins + bin;
        }
        if (bin >= 0 && at < hist.n)
            hist.u.r[at] += weight.u.p ? weight.u.r[row] : 1;
    }
}

/* histogram (PARAM 0): counts and edges of one dimension; _histogramdd_from_bin_* (1): counts of
 * rows; _histogramdd_bin_edges (2): edges. */
void kernel_histogram(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    int64_t width = k->row->param == 0 || !x.ndim ? 1 : x.size[x.ndim - 1], size[TENSOR_MAX_DIM];
    struct bin_axis axes[TENSOR_MAX_DIM] = { { 0 } };
    int64_t n = axes_of(k, &x, width, axes);
    if (n != width)
        kernel_fail(k, "bins of %lld dimensions for %lld", (long long)n, (long long)width);
    if (k->failed)
        return;
    for (int64_t i = 0; i < n && k->row->param == 2; i++) {
        int64_t edges = axes[i].bins + 1;
        struct dense out = dense_new(k, DENSE_REAL, &edges, 1);
        if (!k->failed)
            memcpy(out.u.r, axes[i].edges, (size_t)edges * sizeof *axes[i].edges);
        store_tensor(k, result(k, (uint32_t)i), out);
    }
    if (k->row->param == 2)
        return;
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense hist = dense_new(k, DENSE_REAL, size, ndim);
    count_into_bins(k, x, axes, width, hist);
    if (bool_arg(k, "density", false) && !k->failed)
        to_density(hist, axes, width);
    store_tensor(k, result(k, 0), hist);
    if (k->row->param == 0 && n_results(k) > 1) {
        int64_t edges = axes[0].bins + 1;
        struct dense out = dense_new(k, DENSE_REAL, &edges, 1);
        if (!k->failed)
            memcpy(out.u.r, axes[0].edges, (size_t)edges * sizeof *axes[0].edges);
        store_tensor(k, result(k, 1), out);
    }
}

/* hash_tensor: exclusive or of the bits of the values as 64-bit integers or float64. */
void kernel_hash(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    bool reduced[TENSOR_MAX_DIM];
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_INT, size, ndim);
    dims_arg(k, "dim", x.ndim, reduced);
    for (uint32_t d = 0; d < x.ndim; d++)
        n *= reduced[d] ? 1 : x.size[d];
    for (int64_t i = 0; i < x.n && !k->failed && n == out.n; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (uint32_t d = x.ndim; d-- > 0; rest /= x.size[d]) {
            at += reduced[d] ? 0 : rest % x.size[d] * step;
            step *= reduced[d] ? 1 : x.size[d];
        }
        out.u.i[at] ^= x.u.i[i];
    }
    store_tensor(k, result(k, 0), out);
}
