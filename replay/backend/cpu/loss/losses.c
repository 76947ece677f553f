/* Losses of pairs of values, with the reductions none, mean and sum, and their gradients. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

/* Stores the losses, or their sum or mean by `reduction`; weight is the mean's divisor. */
static void store_reduced(struct kernel *k, struct dense losses, double weight)
{
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    if (reduction == REDUCE_NONE || k->failed) {
        store_tensor(k, result(k, 0), losses);
        return;
    }
    struct dense sum = dense_new(k, DENSE_REAL, NULL, 0);
    for (int64_t i = 0; i < losses.n && sum.u.p; i++)
        sum.u.r[0] += losses.u.r[i];
    if (sum.u.p && reduction == REDUCE_MEAN)
        sum.u.r[0] /= weight;
    store_tensor(k, result(k, 0), sum);
}

static struct dense optional(struct kernel *k, const char *name, struct dense like)
{
    if (!has_arg(k, name))
        return (struct dense){ 0 };
    return dense_broadcast(k, load_as(k, tensor_arg(k, name), DENSE_REAL), like.size, like.ndim);
}

static double log_at_least(double x)
{
    return fmax(log(x), -100); /* as PyTorch clamps it */
}

enum pair_loss { MSE, BCE, BCE_LOGITS, SOFT_MARGIN, SMOOTH_L1, HUBER };

static double loss_of(const struct kernel *k, enum pair_loss what, double x, double y, double pos)
{
    double d = fabs(x - y);
    switch (what) {
    case MSE: return (x - y) * (x - y);
    case BCE: return (y - 1) * fmax(log1p(-x), -100) - y * log_at_least(x);
    case BCE_LOGITS: {
        double weight = (pos - 1) * y + 1;
        return (1 - y) * x + weight * (log1p(exp(-fabs(x))) + fmax(-x, 0));
    }
    case SOFT_MARGIN: return log1p(exp(-y * x));
    case SMOOTH_L1: {
        double beta = real_arg(k, "beta", 1);
        return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
    }
    default: {
        double delta = real_arg(k, "delta", 1);
        return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
    }
    }
}

void kernel_pair_loss(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = x.ndim > y.ndim ? x.ndim : y.ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        int64_t a = i + x.ndim >= ndim ? x.size[i + x.ndim - ndim] : 1;
        int64_t b = i + y.ndim >= ndim ? y.size[i + y.ndim - ndim] : 1;
        size[i] = a == 1 ? b : a;
    }
    x = dense_broadcast(k, x, size, ndim);
    y = dense_broadcast(k, y, size, ndim);
    struct dense w = optional(k, "weight", x), pos = optional(k, "pos_weight", x);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++)
        out.u.r[i] = loss_of(k, (enum pair_loss)k->row->param, x.u.r[i], y.u.r[i],
                             pos.u.p ? pos.u.r[i] : 1) *
                     (w.u.p ? w.u.r[i] : 1);
    store_reduced(k, out, (double)out.n);
}

/* ---- Losses of classes ---- */

struct classes {
    int64_t batch, classes, inner;
};

static struct classes classes_of(const struct dense *x)
{
    struct classes c = { 1, x->ndim ? x->size[x->ndim == 1 ? 0 : 1] : 1, 1 };
    if (x->ndim > 1)
        c.batch = x->size[0];
    for (uint32_t i = 2; i < x->ndim; i++)
        c.inner *= x->size[i];
    return c;
}

/* nll_loss_forward, nll_loss2d_forward: the loss and the total weight. */
void kernel_nll_loss(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    struct dense w = load_optional(k, "weight");
    struct classes c = classes_of(&x);
    int64_t ignore = int_arg(k, "ignore_index", -100);
    struct dense out = dense_new(k, DENSE_REAL, y.size, y.ndim);
    struct dense total = dense_new(k, DENSE_REAL, NULL, 0);
    for (int64_t i = 0; i < y.n && !k->failed; i++) {
        int64_t class = y.u.i[i];
        if (class == ignore)
            continue;
        if (class < 0 || class >= c.classes) {
            kernel_fail(k, "Target %lld is out of bounds.", (long long)class);
            return;
        }
        double weight = w.u.p ? w.u.r[class] : 1;
        out.u.r[i] = -weight * x.u.r[(i / c.inner * c.classes + class) * c.inner + i % c.inner];
        total.u.r[0] += weight;
    }
    if (k->failed)
        return;
    store_reduced(k, out, total.u.r[0]);
    if (int_arg(k, "reduction", REDUCE_MEAN) == REDUCE_NONE && x.ndim > 1)
        total.u.r[0] = 0;
    store_tensor(k, result(k, 1), total);
}

void kernel_nll_loss_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    struct dense total = load_as(k, tensor_arg(k, "total_weight"), DENSE_REAL);
    struct dense w = load_optional(k, "weight");
    struct classes c = classes_of(&x);
    int64_t ignore = int_arg(k, "ignore_index", -100);
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t i = 0; i < y.n && !k->failed; i++) {
        int64_t class = y.u.i[i];
        if (class == ignore || class < 0 || class >= c.classes)
            continue;
        double weight = w.u.p ? w.u.r[class] : 1;
        double up = g.u.r[reduction == REDUCE_NONE ? i : 0];
        if (reduction == REDUCE_MEAN)
            up /= total.u.r[0];
        out.u.r[(i / c.inner * c.classes + class) * c.inner + i % c.inner] = -weight * up;
    }
    store_tensor(k, result(k, 0), out);
}

/* multi_margin_loss: sums how far other classes are within the margin of the target class. */
void kernel_multi_margin_loss(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    struct dense w = load_optional(k, "weight");
    struct classes c = classes_of(&x);
    double margin = real_arg(k, "margin", 1), p = real_arg(k, "p", 1);
    struct dense out = dense_new(k, DENSE_REAL, y.size, y.ndim);
    for (int64_t i = 0; i < y.n && !k->failed; i++) {
        int64_t right = y.u.i[i];
        if (right < 0 || right >= c.classes) {
            kernel_fail(k, "target out of range");
            return;
        }
        for (int64_t j = 0; j < c.classes; j++) {
            double d = margin - x.u.r[i * c.classes + right] + x.u.r[i * c.classes + j];
            if (j != right && d > 0)
                out.u.r[i] += (p == 1 ? d : d * d) * (w.u.p ? w.u.r[right] : 1);
        }
        out.u.r[i] /= (double)c.classes;
    }
    store_reduced(k, out, (double)out.n);
}

/* multilabel_margin_loss_forward: the labels of a row end at the first negative number. */
void kernel_multilabel_margin_loss(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_INT);
    int64_t n = x.ndim ? x.size[x.ndim - 1] : 1, rows = n ? x.n / n : 0, size[] = { rows };
    struct dense out = dense_new(k, DENSE_REAL, size, x.ndim > 1);
    struct dense is = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        int64_t labels = 0;
        for (; labels < n && y.u.i[r * n + labels] >= 0 && y.u.i[r * n + labels] < n; labels++)
            is.u.r[r * n + y.u.i[r * n + labels]] = 1;
        for (int64_t l = 0; l < labels; l++)
            for (int64_t j = 0; j < n; j++) {
                double d = 1 - x.u.r[r * n + y.u.i[r * n + l]] + x.u.r[r * n + j];
                if (is.u.r[r * n + j] == 0 && d > 0)
                    out.u.r[r] += d / (double)n;
            }
    }
    store_reduced(k, out, (double)rows);
    if (result(k, 1).meta)
        store_tensor(k, result(k, 1), is);
}

/* log_sigmoid_forward: the values, and a buffer for backward, which is empty on some devices. */
void kernel_log_sigmoid_forward(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense kept = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        kept.u.r[i] = exp(-fabs(x.u.r[i]));
        x.u.r[i] = fmin(x.u.r[i], 0) - log1p(kept.u.r[i]);
    }
    store_tensor(k, result(k, 0), x);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 1), size);
    if (ndim == x.ndim && (!ndim || size[0] == x.size[0]))
        store_tensor(k, result(k, 1), kept);
}

/* ---- Gradients of losses of pairs ---- */

void kernel_pair_loss_backward(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "target"), DENSE_REAL);
    g = dense_broadcast(k, g, x.size, x.ndim);
    y = dense_broadcast(k, y, x.size, x.ndim);
    struct dense w = optional(k, "weight", x);
    double divide = int_arg(k, "reduction", REDUCE_MEAN) == REDUCE_MEAN ? (double)x.n : 1;
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        double a = x.u.r[i], t = y.u.r[i], d = a - t, slope;
        switch ((enum pair_loss)k->row->param) {
        case MSE: slope = 2 * d; break;
        case BCE: slope = d / fmax(a * (1 - a), 1e-12); break;
        case SOFT_MARGIN: slope = -t / (1 + exp(t * a)); break;
        case SMOOTH_L1: {
            double beta = real_arg(k, "beta", 1);
            slope = d <= -beta ? -1 : d >= beta ? 1 : d / beta;
            break;
        }
        default: {
            double delta = real_arg(k, "delta", 1);
            slope = d <= -delta ? -delta : d >= delta ? delta : d;
        }
        }
        x.u.r[i] = g.u.r[i] * slope * (w.u.p ? w.u.r[i] : 1) / divide;
    }
    store_tensor(k, result(k, 0), x);
}
