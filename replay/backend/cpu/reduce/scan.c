/* Operators along a dimension: cumulative sums and extremes, sorting, medians, searches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cpu/pointwise/pointwise.h"

/* cumsum, cumprod (PARAM 1), logcumsumexp (2). */
void kernel_cumulate(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    if (!to.meta)
        return;
    struct dense x = load_as(k, tensor_arg(k, "self"), dense_kind_of(to.meta->dtype));
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed; row++) {
        int64_t at = row / a.inner * a.n * a.inner + row % a.inner;
        for (int64_t i = 1; i < a.n; i++) {
            int64_t last = at + (i - 1) * a.inner, here = at + i * a.inner;
            bool product = k->row->param == 1;
            if (k->row->param == 2 && x.kind == DENSE_REAL) {
                double p = x.u.r[last], q = x.u.r[here], m = fmax(p, q);
                x.u.r[here] = isinf(m) && m < 0      ? m
                              : isnan(p) || isnan(q) ? NAN
                              : isinf(m)             ? m
                                                     : m + log1p(exp(fmin(p, q) - m));
            } else if (k->row->param == 2) {
                x.u.c[here] = clog(cexp(x.u.c[last]) + cexp(x.u.c[here]));
            } else if (x.kind == DENSE_REAL) {
                x.u.r[here] = product ? x.u.r[last] * x.u.r[here] : x.u.r[last] + x.u.r[here];
            } else if (x.kind == DENSE_INT) {
                uint64_t p = (uint64_t)x.u.i[last], q = (uint64_t)x.u.i[here];
                x.u.i[here] = (int64_t)(product ? p * q : p + q);
            } else {
                x.u.c[here] = product ? x.u.c[last] * x.u.c[here] : x.u.c[last] + x.u.c[here];
            }
        }
    }
    store_tensor(k, to, x);
}

/* Compares two elements of either kind: NaN is the greatest. */
static int compare_elements(const struct dense *x, int64_t i, int64_t j)
{
    if (x->kind == DENSE_INT)
        return (x->u.i[i] > x->u.i[j]) - (x->u.i[i] < x->u.i[j]);
    double a = x->u.r[i], b = x->u.r[j];
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

/* cummax, cummin (PARAM 1): values and the last index of each. */
void kernel_cumulate_extreme(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
    struct dense index = dense_new(k, DENSE_INT, x.size, x.ndim);
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed; row++) {
        int64_t at = row / a.inner * a.n * a.inner + row % a.inner;
        for (int64_t i = 1; i < a.n; i++) {
            int64_t last = at + (i - 1) * a.inner, here = at + i * a.inner;
            int sign = compare_elements(&x, here, last);
            bool is_nan = x.kind == DENSE_REAL && isnan(x.u.r[here]);
            bool was_nan = x.kind == DENSE_REAL && isnan(x.u.r[last]);
            bool take = is_nan || (!was_nan && (k->row->param ? sign <= 0 : sign >= 0));
            index.u.i[here] = take ? i : index.u.i[last];
            if (!take)
                x.u.i[here] = x.u.i[last]; /* copies the bits, of either kind */
        }
    }
    store_tensor(k, result(k, 0), x);
    store_tensor(k, result(k, 1), index);
}

/* ---- Sorting ---- */

struct ordered {
    const struct dense *x;
    int64_t at, step; /* of the row's elements in x */
    bool descending;
};

/* Sorts indices with merge sort, which is stable and, unlike qsort(), needs no global state. */
static void sort_places(const struct ordered *o, int64_t *places, int64_t *spare, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t from = 0; from < n; from += 2 * width) {
            int64_t i = from, mid = from + width < n ? from + width : n;
            int64_t j = mid, end = from + 2 * width < n ? from + 2 * width : n;
            for (int64_t to = from; to < end; to++) {
                int sign = i < mid && j < end ? compare_elements(o->x, o->at + places[i] * o->step,
                                                                 o->at + places[j] * o->step)
                                              : 0;
                bool left = i < mid && (j >= end || (o->descending ? sign >= 0 : sign <= 0));
                spare[to] = left ? places[i++] : places[j++];
            }
        }
        memcpy(places, spare, (size_t)n * sizeof *places);
    }
}

static void place_row(const struct ordered *o, int64_t *places, int64_t *spare, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        places[i] = i;
    sort_places(o, places, spare, n);
}

/* sort, topk (PARAM 1), argsort (2). */
void kernel_sort(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    if (x.kind == DENSE_COMPLEX) {
        kernel_fail(k, "complex numbers have no order");
        return;
    }
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), x.ndim);
    struct around a = around_dim(&x, dim);
    bool topk = k->row->param == 1;
    int64_t keep = topk ? int_arg(k, "k", 0) : a.n, size[TENSOR_MAX_DIM];
    memcpy(size, x.size, sizeof size);
    if (x.ndim)
        size[dim] = keep;
    struct dense out = dense_new(k, x.kind, size, x.ndim),
                 index = dense_new(k, DENSE_INT, size, x.ndim);
    int64_t *places = workspace(k, a.n, sizeof *places), *spare = workspace(k, a.n, sizeof *spare);
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed; row++) {
        int64_t o = row / a.inner, in = row % a.inner;
        struct ordered by = { &x, o * a.n * a.inner + in, a.inner,
                              topk ? bool_arg(k, "largest", true)
                                   : bool_arg(k, "descending", false) };
        place_row(&by, places, spare, a.n);
        for (int64_t i = 0; i < keep && i < a.n; i++) {
            int64_t to = (o * keep + i) * a.inner + in;
            out.u.i[to] = x.u.i[by.at + places[i] * a.inner];
            index.u.i[to] = places[i];
        }
    }
    if (k->row->param == 2) {
        store_tensor(k, result(k, 0), index);
        return;
    }
    store_tensor(k, result(k, 0), out);
    store_tensor(k, result(k, 1), index);
}

enum pick {
    PICK_MAX,
    PICK_MIN,
    PICK_ARGMAX,
    PICK_ARGMIN,
    PICK_KTH,
    PICK_MEDIAN,
    PICK_NANMEDIAN,
    PICK_MODE
};

/* Returns the index of the requested element of a sorted row. */
static int64_t picked(const struct kernel *k, enum pick what, const struct ordered *o,
                      const int64_t *places, int64_t n)
{
    const struct dense *x = o->x;
    int64_t last = places[n - 1], good = n;
    bool has_nan = x->kind == DENSE_REAL && isnan(x->u.r[o->at + last * o->step]);
    switch (what) {
    case PICK_MAX:
    case PICK_ARGMAX: /* the first of the greatest */
        for (int64_t i = n - 1; i > 0 && compare_elements(x, o->at + places[i - 1] * o->step,
                                                          o->at + last * o->step) == 0;
             i--)
            last = places[i - 1];
        return last;
    case PICK_MIN:
    case PICK_ARGMIN:
        if (!has_nan)
            return places[0];
        for (int64_t i = n - 1; i > 0 && isnan(x->u.r[o->at + places[i - 1] * o->step]); i--)
            last = places[i - 1];
        return last;
    case PICK_KTH: return places[int_arg(k, "k", 1) - 1];
    case PICK_MEDIAN:
        for (int64_t i = n - 1; has_nan && i >= 0 && isnan(x->u.r[o->at + places[i] * o->step]);
             i--)
            last = places[i];
        return has_nan ? last : places[(n - 1) / 2];
    case PICK_NANMEDIAN:
        while (x->kind == DENSE_REAL && good > 0 &&
               isnan(x->u.r[o->at + places[good - 1] * o->step]))
            good--;
        return good ? places[(good - 1) / 2] : places[0];
    default: break;
    }
    int64_t best = 0,
            most = 0; /* mode: the least of the most frequent values, and its last index */
    for (int64_t i = 0; i < n;) {
        int64_t j = i;
        while (j < n &&
               compare_elements(x, o->at + places[i] * o->step, o->at + places[j] * o->step) == 0)
            j++;
        if (j - i > most) {
            most = j - i;
            best = j - 1;
        }
        i = j;
    }
    return places[best];
}

/* max, min, argmax and others over a dimension, or over everything without `dim`. */
void kernel_pick(struct kernel *k)
{
    enum pick what = (enum pick)k->row->param;
    if (has_arg(k, "other")) { /* max.other */
        run_point(k, what == PICK_MAX ? POINT_maximum : POINT_minimum, result(k, 0));
        return;
    }
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    bool all = !has_arg(k, "dim") && what != PICK_KTH && what != PICK_MODE;
    int64_t dim_arg = int_arg(k, "dim", -1);
    if (x.kind == DENSE_COMPLEX) {
        kernel_fail(k, "complex numbers have no order");
        return;
    }
    if (all)
        x = dense_reshape(x, &x.n, 1);
    struct around a = around_dim(&x, all ? 0 : wrapped_dim(dim_arg, x.ndim));
    int64_t rows = a.outer * a.inner;
    struct dense out = dense_new(k, x.kind, &rows, 1), index = dense_new(k, DENSE_INT, &rows, 1);
    int64_t *places = workspace(k, a.n, sizeof *places), *spare = workspace(k, a.n, sizeof *spare);
    for (int64_t row = 0; row < rows && !k->failed && a.n; row++) {
        struct ordered by = { &x, row / a.inner * a.n * a.inner + row % a.inner, a.inner, false };
        place_row(&by, places, spare, a.n);
        index.u.i[row] = picked(k, what, &by, places, a.n);
        out.u.i[row] = x.u.i[by.at + index.u.i[row] * a.inner];
    }
    if (what == PICK_ARGMAX || what == PICK_ARGMIN) {
        store_tensor(k, result(k, 0), index);
        return;
    }
    store_tensor(k, result(k, 0), out);
    if (n_results(k) > 1)
        store_tensor(k, result(k, 1), index);
}

/* searchsorted and bucketize (PARAM 1): the index at which a value would be inserted. */
void kernel_searchsorted(struct kernel *k)
{
    bool buckets = k->row->param == 1;
    struct dense edges =
        load_as(k, tensor_arg(k, buckets ? "boundaries" : "sorted_sequence"), DENSE_REAL);
    struct dense x = load_value(k, value_arg(k, "self"), DENSE_REAL);
    struct dense sorter =
        has_arg(k, "sorter") ? load_as(k, tensor_arg(k, "sorter"), DENSE_INT) : (struct dense){ 0 };
    bool right = bool_arg(k, "right", false) || str_is(text_arg(k, "side"), "right");
    int64_t n = edges.ndim ? edges.size[edges.ndim - 1] : 0, rows = n ? edges.n / n : 1;
    int64_t per_row = rows > 1 && x.n ? x.n / rows : x.n;
    struct dense out = dense_new(k, DENSE_INT, x.size, x.ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        int64_t base = rows > 1 ? i / per_row * n : 0, low = 0, high = n;
        while (low < high) {
            int64_t mid = low + (high - low) / 2;
            double edge = edges.u.r[base + (sorter.u.p ? sorter.u.i[base + mid] : mid)];
            bool before = right ? !(edge > x.u.r[i]) : !(edge >= x.u.r[i]);
            low = before ? mid + 1 : low;
            high = before ? high : mid;
        }
        out.u.i[i] = low;
    }
    store_tensor(k, result(k, 0), out);
}
