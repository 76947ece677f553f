/* Gradients of operators that are in no other family. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

/* glu: self is [a, b] along a dimension, the value a sigmoid(b). */
void kernel_glu_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad_output"), x = load_optional(k, "self");
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", -1), x.ndim));
    int64_t half = a.n / 2 * a.inner;
    for (int64_t i = 0; i < g.n && !k->failed; i++) {
        int64_t first = i / half * 2 * half + i % half;
        double s = 1 / (1 + exp(-x.u.r[first + half]));
        out.u.r[first] = g.u.r[i] * s;
        out.u.r[first + half] = g.u.r[i] * x.u.r[first] * s * (1 - s);
    }
    store_tensor(k, result(k, 0), out);
}

/* Both gradients have self's sizes: the weight's is summed by another call. */
void kernel_prelu_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad_output"), x = load_optional(k, "self");
    struct dense w = dense_broadcast(k, load_optional(k, "weight"), x.size, x.ndim);
    struct dense to_x = dense_new(k, DENSE_REAL, x.size, x.ndim);
    struct dense to_w = dense_new(k, DENSE_REAL, x.size, x.ndim);
    g = dense_broadcast(k, g, x.size, x.ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        to_x.u.r[i] = x.u.r[i] > 0 ? g.u.r[i] : w.u.r[i] * g.u.r[i];
        to_w.u.r[i] = x.u.r[i] > 0 ? 0 : x.u.r[i] * g.u.r[i];
    }
    store_tensor(k, result(k, 0), to_x);
    store_tensor(k, result(k, 1), to_w);
}

/* ---- Losses ---- */

enum { REDUCE_NONE, REDUCE_MEAN };

/* Returns the part of the gradient for a row's loss. */
static double share_of(const struct kernel *k, const struct dense *g, int64_t row, int64_t rows)
{
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    double up = g->u.r[reduction == REDUCE_NONE && g->n > row ? row : 0];
    return reduction == REDUCE_MEAN ? up / (double)rows : up;
}

void kernel_multi_margin_loss_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad_output"), x = load_optional(k, "self"),
                 w = load_optional(k, "weight");
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    double margin = real_arg(k, "margin", 1), p = real_arg(k, "p", 1);
    int64_t classes = x.ndim ? x.size[x.ndim - 1] : 1, rows = y.n;
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t i = 0; i < rows && !k->failed; i++) {
        int64_t right = y.u.i[i];
        if (right < 0 || right >= classes) {
            kernel_fail(k, "target out of range");
            return;
        }
        double share = share_of(k, &g, i, rows) / (double)classes;
        double *to = out.u.r + i * classes;
        for (int64_t j = 0; j < classes; j++) {
            double d = margin - x.u.r[i * classes + right] + x.u.r[i * classes + j];
            if (j == right || d <= 0)
                continue;
            double slope = share * (p == 1 ? 1 : 2 * d) * (w.u.p ? w.u.r[right] : 1);
            to[j] += slope;
            to[right] -= slope;
        }
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_multilabel_margin_loss_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad_output"), x = load_optional(k, "self"),
                 is = load_optional(k, "is_target");
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    int64_t n = x.ndim ? x.size[x.ndim - 1] : 1, rows = n ? x.n / n : 0;
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        double share = share_of(k, &g, r, rows) / (double)n, *to = out.u.r + r * n;
        for (int64_t l = 0; l < n && y.u.i[r * n + l] >= 0 && y.u.i[r * n + l] < n; l++)
            for (int64_t j = 0; j < n; j++) {
                double d = 1 - x.u.r[r * n + y.u.i[r * n + l]] + x.u.r[r * n + j];
                if (is.u.r[r * n + j] != 0 || d <= 0)
                    continue;
                to[j] += share;
                to[y.u.i[r * n + l]] -= share;
            }
    }
    store_tensor(k, result(k, 0), out);
}

/* ---- Distances ---- */

/* Returns the derivative of the distance, the p-th root of a sum, by the difference of one
 * coordinate. */
static double distance_slope(double difference, double distance, double p)
{
    double sign = (difference > 0) - (difference < 0);
    if (p == 0 || distance == 0)
        return p == 1 ? sign : 0;
    if (p == 1)
        return sign;
    if (isinf(p))
        return (float)fabs(difference) == (float)distance ? sign : 0; /* the distance was rounded */
    if (p == 2)
        return difference / distance;
    return sign * pow(fabs(difference), p - 1) * pow(distance, 1 - p);
}

/* Computes the gradient of the first argument, [.., rows, n]; both arguments are broadcast by their
 * batches. */
void kernel_cdist_backward(struct kernel *k)
{
    struct dense out = like_result(k, 0, DENSE_REAL), g = load_optional(k, "grad"),
                 d = load_optional(k, "cdist");
    int64_t size[TENSOR_MAX_DIM];
    if (k->failed || out.ndim < 2)
        return;
    int64_t n = out.size[out.ndim - 1], rows = out.size[out.ndim - 2];
    int64_t columns = d.ndim ? d.size[d.ndim - 1] : 0;
    struct dense x = dense_broadcast(k, load_optional(k, "x1"), out.size, out.ndim);
    memcpy(size, out.size, sizeof size);
    size[out.ndim - 2] = columns;
    struct dense y = dense_broadcast(k, load_optional(k, "x2"), size, out.ndim);
    double p = real_arg(k, "p", 2);
    for (int64_t i = 0; i < g.n && columns && !k->failed; i++) {
        int64_t row = i / columns, batch = row / rows;
        const double *b = y.u.r + (batch * columns + i % columns) * n;
        for (int64_t j = 0; j < n && row * n + j < out.n; j++)
            out.u.r[row * n + j] +=
                g.u.r[i] * distance_slope(x.u.r[row * n + j] - b[j], d.u.r[i], p);
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_pdist_backward(struct kernel *k)
{
    struct dense x = load_optional(k, "self"), g = load_optional(k, "grad"),
                 d = load_optional(k, "pdist");
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    int64_t at = 0, n = x.ndim == 2 ? x.size[1] : 0;
    double p = real_arg(k, "p", 2);
    for (int64_t i = 0; !k->failed && n && i < x.size[0]; i++)
        for (int64_t j = i + 1; j < x.size[0] && at < g.n; j++, at++)
            for (int64_t c = 0; c < n; c++) {
                double difference = x.u.r[i * n + c] - x.u.r[j * n + c];
                double slope = g.u.r[at] * distance_slope(difference, d.u.r[at], p);
                out.u.r[i * n + c] += slope;
                out.u.r[j * n + c] -= slope;
            }
    store_tensor(k, result(k, 0), out);
}

/* ---- Chosen elements ---- */

/* Copies the gradient's elements for which the mask is true, in order, followed by zeros. */
void kernel_masked_scatter_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad_output"), out = like_result(k, 0, DENSE_REAL);
    struct dense mask =
        dense_broadcast(k, load_as(k, tensor_arg(k, "mask"), DENSE_REAL), g.size, g.ndim);
    for (int64_t i = 0, at = 0; i < g.n && at < out.n && !k->failed; i++)
        if (mask.u.r[i] != 0)
            out.u.r[at++] = g.u.r[i];
    store_tensor(k, result(k, 0), out);
}

struct segment {
    int64_t from, to;
};

static void segment_backward(const struct kernel *k, const double *x, double r, double g,
                             int64_t step, struct segment s, double *to)
{
    struct str how = text_arg(k, "reduce");
    int64_t n = s.to - s.from, equal = 0;
    bool extreme = str_is(how, "max") || str_is(how, "min");
    for (int64_t i = s.from; i < s.to; i++)
        equal += x[i * step] == r || isnan(x[i * step]);
    for (int64_t i = s.from; i < s.to; i++) {
        double v = x[i * step], others = 1;
        for (int64_t j = s.from; str_is(how, "prod") && v == 0 && j < s.to; j++)
            others *= j == i ? 1 : x[j * step];
        if (extreme)
            to[i * step] = v == r || isnan(v) ? g / (double)equal : 0;
        else if (str_is(how, "prod"))
            to[i * step] = g * (v == 0 ? others * real_arg(k, "initial", 1) : r / v);
        else
            to[i * step] = str_is(how, "mean") ? g / (double)n : g;
    }
}

void kernel_segment_reduce_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad"), r = load_optional(k, "output"),
                 x = load_optional(k, "data");
    bool lengths = has_arg(k, "lengths");
    struct dense bounds = load_as(k, tensor_arg(k, lengths ? "lengths" : "offsets"), DENSE_INT);
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "axis", 0), x.ndim));
    int64_t each = bounds.ndim ? bounds.size[bounds.ndim - 1] : 0, segments = each - !lengths;
    for (int64_t o = 0; o < a.outer && !k->failed; o++) {
        const int64_t *b = bounds.u.i + (bounds.ndim > 1 ? o * each : 0);
        struct segment s = { 0, 0 };
        for (int64_t i = 0; i < segments; i++) {
            s.from = lengths ? s.to : b[i];
            s.to = lengths ? s.from + b[i] : b[i + 1];
            s.to = s.to < a.n ? s.to : a.n;
            for (int64_t in = 0; in < a.inner && s.from < s.to; in++) {
                int64_t at = (o * segments + i) * a.inner + in, base = o * a.n * a.inner + in;
                segment_backward(k, x.u.r + base, r.u.r[at], g.u.r[at], a.inner, s, out.u.r + base);
            }
        }
    }
    store_tensor(k, result(k, 0), out);
}
