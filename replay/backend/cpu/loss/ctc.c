/* _ctc_loss: the logarithm of the probability of all alignments of a target with a sequence of
 * symbols and blanks (aten/src/ATen/native/LossCTC.cpp). */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

static double log_sum(double a, double b)
{
    double most = fmax(a, b);
    return isinf(most) ? most : most + log1p(exp(fmin(a, b) - most));
}

struct ctc {
    struct dense log_probs, targets;
    int64_t steps, batch, symbols, blank;
    int64_t targets_in_row; /* 0: targets are concatenated */
};

/* Returns symbol s of a target that has a blank before, between and after its symbols. */
static int64_t target_symbol(const struct ctc *c, int64_t first, int64_t s)
{
    int64_t i = first + s / 2;
    return s % 2 == 0 ? c->blank : i < c->targets.n ? c->targets.u.i[i] : c->blank;
}

/* Computes the loss of one sequence; alpha is [steps, positions]. */
static double ctc_forward(const struct ctc *c, int64_t b, int64_t first, int64_t steps, int64_t n,
                          double *alpha, int64_t places)
{
    int64_t used = 2 * n + 1;
    for (int64_t t = 0; t < steps; t++)
        for (int64_t s = 0; s < used; s++) {
            const double *p = c->log_probs.u.r + (t * c->batch + b) * c->symbols;
            const double *before = alpha + (t - 1) * places;
            int64_t symbol = target_symbol(c, first, s);
            double sum = t == 0 ? (s < 2 ? 0 : -INFINITY) : before[s];
            if (t > 0 && s > 0)
                sum = log_sum(sum, before[s - 1]);
            if (t > 0 && s > 1 && symbol != c->blank && symbol != target_symbol(c, first, s - 2))
                sum = log_sum(sum, before[s - 2]);
            alpha[t * places + s] = sum + (symbol >= 0 && symbol < c->symbols ? p[symbol] : NAN);
        }
    if (steps == 0)
        return n == 0 ? 0 : INFINITY;
    const double *last = alpha + (steps - 1) * places;
    return -(n ? log_sum(last[used - 1], last[used - 2]) : last[0]);
}

static struct dense lengths(struct kernel *k, const char *name)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, name, &items);
    if (!n && value_arg(k, name).kind == KERNEL_TENSOR)
        return load_as(k, tensor_arg(k, name), DENSE_INT);
    int64_t size = n;
    struct dense ret = dense_new(k, DENSE_INT, &size, 1);
    for (uint32_t i = 0; i < n && !k->failed; i++)
        ret.u.i[i] = number_as_int(items[i], 0);
    return ret;
}

void kernel_ctc_loss(struct kernel *k)
{
    struct ctc c = { .log_probs = load_as(k, tensor_arg(k, "log_probs"), DENSE_REAL),
                     .targets = load_as(k, tensor_arg(k, "targets"), DENSE_INT),
                     .blank = int_arg(k, "blank", 0) };
    struct dense in = lengths(k, "input_lengths"), of = lengths(k, "target_lengths");
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 1), size);
    struct dense alpha = dense_new(k, DENSE_REAL, size, ndim);
    if (k->failed || ndim != 3 || c.log_probs.ndim != 3 || in.n != size[0] || of.n != size[0])
        return;
    c.steps = c.log_probs.size[0];
    c.batch = size[0];
    c.symbols = c.log_probs.size[2];
    struct dense loss = dense_new(k, DENSE_REAL, &c.batch, 1);
    for (int64_t i = 0; i < alpha.n && !k->failed; i++)
        alpha.u.r[i] = -INFINITY;
    for (int64_t b = 0, first = 0; b < c.batch && !k->failed; b++) {
        int64_t at = c.targets.ndim == 2 ? b * c.targets.size[1] : first;
        if (in.u.i[b] < 0 || in.u.i[b] > size[1] || of.u.i[b] < 0 || 2 * of.u.i[b] + 1 > size[2]) {
            kernel_fail(k, "a length is greater than that of its sequence");
            return;
        }
        loss.u.r[b] = ctc_forward(&c, b, at, in.u.i[b], of.u.i[b],
                                  alpha.u.r + b * size[1] * size[2], size[2]);
        first += of.u.i[b];
    }
    store_tensor(k, result(k, 0), loss);
    store_tensor(k, result(k, 1), alpha);
}
