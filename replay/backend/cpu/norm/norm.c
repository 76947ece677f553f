/* Normalisation: layer, group, batch; forward and backward. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

/* The mean and variance of a row. */
struct moments {
    double mean, variance; /* of the population */
};

/* Returns the moments of n runs of `length` values, `step` apart. */
static struct moments moments_of(const double *x, int64_t n, int64_t length, int64_t step)
{
    struct moments m = { 0, 0 };
    double count = (double)n * (double)length;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < length; j++)
            m.mean += x[i * step + j];
    m.mean /= count;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < length; j++) {
            double d = x[i * step + j] - m.mean;
            m.variance += d * d;
        }
    m.variance /= count;
    return m;
}

static double scale_at(struct dense weight, int64_t i, double otherwise)
{
    return weight.u.p ? weight.u.r[i] : otherwise;
}

void kernel_layer_norm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense weight = load_optional(k, "weight"), bias = load_optional(k, "bias");
    int64_t shape[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = ints_arg(k, "normalized_shape", shape, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < ndim; i++)
        n *= shape[i];
    int64_t rows = n ? x.n / n : 0;
    struct dense mean = dense_new(k, DENSE_REAL, &rows, 1),
                 rstd = dense_new(k, DENSE_REAL, &rows, 1);
    double eps = real_arg(k, "eps", 1e-5);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        double *p = x.u.r + r * n;
        struct moments m = moments_of(p, 1, n, 0);
        mean.u.r[r] = m.mean;
        rstd.u.r[r] = 1 / sqrt(m.variance + eps);
        for (int64_t i = 0; i < n; i++)
            p[i] = (p[i] - m.mean) * rstd.u.r[r] * scale_at(weight, i, 1) + scale_at(bias, i, 0);
    }
    store_tensor(k, result(k, 0), x);
    if (n_results(k) == 3) {
        store_tensor(k, result(k, 1), mean);
        store_tensor(k, result(k, 2), rstd);
    }
}

/* Computes the gradient of the normalised values: g minus its mean and its projection on them. */
static void normalised_backward(const double *g, const double *normal, double *out, int64_t n,
                                double rstd)
{
    double sum = 0, along = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += g[i];
        along += g[i] * normal[i];
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = rstd * (g[i] - (sum + normal[i] * along) / (double)n);
}

void kernel_layer_norm_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_out"), DENSE_REAL);
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense mean = load_as(k, tensor_arg(k, "mean"), DENSE_REAL);
    struct dense rstd = load_as(k, tensor_arg(k, "rstd"), DENSE_REAL);
    struct dense weight = load_optional(k, "weight");
    int64_t shape[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = ints_arg(k, "normalized_shape", shape, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < ndim; i++)
        n *= shape[i];
    int64_t rows = n ? x.n / n : 0;
    struct dense grad_weight = dense_new(k, DENSE_REAL, shape, ndim);
    struct dense grad_bias = dense_new(k, DENSE_REAL, shape, ndim);
    double *scaled = workspace(k, n, sizeof *scaled), *normal = workspace(k, n, sizeof *normal);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        for (int64_t i = 0; i < n; i++) {
            double y = g.u.r[r * n + i];
            normal[i] = (x.u.r[r * n + i] - mean.u.r[r]) * rstd.u.r[r];
            grad_weight.u.r[i] += y * normal[i];
            grad_bias.u.r[i] += y;
            scaled[i] = y * scale_at(weight, i, 1);
        }
        normalised_backward(scaled, normal, x.u.r + r * n, n, rstd.u.r[r]);
    }
    store_tensor(k, result(k, 0), x);
    if (result(k, 1).meta)
        store_tensor(k, result(k, 1), grad_weight);
    if (result(k, 2).meta)
        store_tensor(k, result(k, 2), grad_bias);
}

/* native_group_norm: N, C, HxW and group are arguments. */
void kernel_group_norm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense weight = load_optional(k, "weight"), bias = load_optional(k, "bias");
    int64_t n = int_arg(k, "N", 1), c = int_arg(k, "C", 1), hw = int_arg(k, "HxW", 1);
    int64_t groups = int_arg(k, "group", 1), rows = n * groups,
            length = groups ? c / groups * hw : 0;
    struct dense mean = dense_new(k, DENSE_REAL, &rows, 1),
                 rstd = dense_new(k, DENSE_REAL, &rows, 1);
    for (int64_t r = 0; r < rows && !k->failed && length; r++) {
        double *p = x.u.r + r * length;
        struct moments m = moments_of(p, 1, length, 0);
        mean.u.r[r] = m.mean;
        rstd.u.r[r] = 1 / sqrt(m.variance + real_arg(k, "eps", 1e-5));
        for (int64_t i = 0; i < length; i++) {
            int64_t channel = r % groups * (c / groups) + i / hw;
            p[i] = (p[i] - m.mean) * rstd.u.r[r] * scale_at(weight, channel, 1) +
                   scale_at(bias, channel, 0);
        }
    }
    store_tensor(k, result(k, 0), x);
    store_tensor(k, result(k, 1), mean);
    store_tensor(k, result(k, 2), rstd);
}

void kernel_group_norm_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_out"), DENSE_REAL);
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense mean = load_as(k, tensor_arg(k, "mean"), DENSE_REAL);
    struct dense rstd = load_as(k, tensor_arg(k, "rstd"), DENSE_REAL);
    struct dense weight = load_optional(k, "weight");
    int64_t n = int_arg(k, "N", 1), c = int_arg(k, "C", 1), hw = int_arg(k, "HxW", 1);
    int64_t groups = int_arg(k, "group", 1), length = groups ? c / groups * hw : 0;
    struct dense grad_weight = dense_new(k, DENSE_REAL, &c, 1);
    struct dense grad_bias = dense_new(k, DENSE_REAL, &c, 1);
    double *scaled = workspace(k, length, sizeof *scaled),
           *normal = workspace(k, length, sizeof *normal);
    for (int64_t r = 0; r < n * groups && !k->failed; r++) {
        for (int64_t i = 0; i < length; i++) {
            int64_t channel = r % groups * (c / groups) + i / hw;
            double y = g.u.r[r * length + i];
            normal[i] = (x.u.r[r * length + i] - mean.u.r[r]) * rstd.u.r[r];
            grad_weight.u.r[channel] += y * normal[i];
            grad_bias.u.r[channel] += y;
            scaled[i] = y * scale_at(weight, channel, 1);
        }
        normalised_backward(scaled, normal, x.u.r + r * length, length, rstd.u.r[r]);
    }
    store_tensor(k, result(k, 0), x);
    if (result(k, 1).meta)
        store_tensor(k, result(k, 1), grad_weight);
    if (result(k, 2).meta)
        store_tensor(k, result(k, 2), grad_bias);
}

/* ---- Batch ---- */

static void write_running(struct kernel *k, const char *name, int64_t channel,
                          struct dense *running, double value)
{
    double momentum = real_arg(k, "momentum", 0.1);
    if (has_arg(k, name))
        running->u.r[channel] = (1 - momentum) * running->u.r[channel] + momentum * value;
}

/* All of PyTorch's forms: native_batch_norm, _native_batch_norm_legit (also no_training),
 * _batch_norm_with_update, cudnn_batch_norm. save_mean and save_invstd are those of the batch in
 * training. In the _functional form the updated running statistics are results 3 and 4. */
void kernel_batch_norm(struct kernel *k)
{
    struct kernel_tensor input = tensor_arg(k, "input");
    struct dense x = load_as(k, input, DENSE_REAL);
    struct dense weight = load_optional(k, "weight"), bias = load_optional(k, "bias");
    struct dense mean = load_optional(k, "running_mean"), var = load_optional(k, "running_var");
    bool train = k->row->param == 1 || bool_arg(k, "training", bool_arg(k, "train", false));
    if (k->row->param == 2)
        train = false;
    int64_t c = x.ndim > 1 ? x.size[1] : 0, n = x.ndim ? x.size[0] : 0;
    int64_t hw = c && n ? x.n / n / c : 0, none = 0;
    struct dense save_mean = dense_new(k, DENSE_REAL, train ? &c : &none, 1);
    struct dense save_rstd = dense_new(k, DENSE_REAL, train ? &c : &none, 1);
    double eps = real_arg(k, "eps", real_arg(k, "epsilon", 1e-5)), count = (double)n * (double)hw;
    for (int64_t ch = 0; ch < c && !k->failed; ch++) {
        struct moments m = { scale_at(mean, ch, 0), scale_at(var, ch, 1) };
        if (train) {
            m = moments_of(x.u.r + ch * hw, n, hw, c * hw);
            write_running(k, "running_mean", ch, &mean, m.mean);
            write_running(k, "running_var", ch, &var, m.variance * count / (count - 1));
        }
        double rstd = 1 / sqrt(m.variance + eps);
        if (train) {
            save_mean.u.r[ch] = m.mean;
            save_rstd.u.r[ch] = rstd;
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < hw; j++) {
                double *p = &x.u.r[(i * c + ch) * hw + j];
                *p = (*p - m.mean) * rstd * scale_at(weight, ch, 1) + scale_at(bias, ch, 0);
            }
    }
    store_tensor(k, result(k, 0), x);
    for (uint32_t i = 1; i < 3 && i < n_results(k); i++)
        if (result(k, i).meta && (train || i > 2)) {
            struct dense saved = i == 1 ? save_mean : save_rstd;
            store_tensor(k, result(k, i), saved);
        }
    bool functional = n_results(k) >= 5;
    if (train && has_arg(k, "running_mean"))
        store_tensor(k, functional ? result(k, n_results(k) - 2) : tensor_arg(k, "running_mean"),
                     mean);
    if (train && has_arg(k, "running_var"))
        store_tensor(k, functional ? result(k, n_results(k) - 1) : tensor_arg(k, "running_var"),
                     var);
}

void kernel_batch_norm_backward(struct kernel *k)
{
    struct dense g =
        load_as(k, tensor_arg(k, has_arg(k, "grad_out") ? "grad_out" : "grad_output"), DENSE_REAL);
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense weight = load_optional(k, "weight");
    bool train = k->row->param == 1 || bool_arg(k, "train", bool_arg(k, "update", true));
    const char *means = has_arg(k, "save_mean") ? "save_mean" : "save_mean";
    const char *rstds = has_arg(k, "save_invstd") ? "save_invstd" : "save_var";
    struct dense mean = load_optional(k, train ? means : "running_mean");
    struct dense rstd = load_optional(k, train ? rstds : "running_var");
    int64_t n = x.ndim ? x.size[0] : 0, c = x.ndim > 1 ? x.size[1] : 0;
    int64_t hw = c && n ? x.n / n / c : 0;
    double eps = real_arg(k, "eps", real_arg(k, "epsilon", 1e-5)), count = (double)n * (double)hw;
    struct dense grad_weight = dense_new(k, DENSE_REAL, &c, 1);
    struct dense grad_bias = dense_new(k, DENSE_REAL, &c, 1);
    for (int64_t ch = 0; ch < c && !k->failed; ch++) {
        double m = scale_at(mean, ch, 0), r = scale_at(rstd, ch, 1), sum = 0, along = 0;
        if (!train)
            r = 1 / sqrt(r + eps);
        for (int64_t i = 0; i < n * hw; i++) {
            int64_t j = (i / hw * c + ch) * hw + i % hw;
            sum += g.u.r[j];
            along += g.u.r[j] * (x.u.r[j] - m) * r;
        }
        grad_bias.u.r[ch] = sum;
        grad_weight.u.r[ch] = along;
        for (int64_t i = 0; i < n * hw; i++) {
            int64_t j = (i / hw * c + ch) * hw + i % hw;
            double normal = (x.u.r[j] - m) * r;
            double d = train ? g.u.r[j] - (sum + normal * along) / count : g.u.r[j];
            x.u.r[j] = d * r * scale_at(weight, ch, 1);
        }
    }
    if (result(k, 0).meta)
        store_tensor(k, result(k, 0), x);
    if (result(k, 1).meta)
        store_tensor(k, result(k, 1), grad_weight);
    if (result(k, 2).meta)
        store_tensor(k, result(k, 2), grad_bias);
}

void kernel_rms_norm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense w = load_optional(k, "weight");
    int64_t shape[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = ints_arg(k, "normalized_shape", shape, TENSOR_MAX_DIM);
    struct kernel_tensor to = result(k, 0);
    for (uint32_t i = 0; i < ndim; i++)
        n *= shape[i];
    double eps = real_arg(k, "eps", to.meta && to.meta->dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23);
    int64_t rows = n ? x.n / n : 0;
    struct dense rstd = dense_new(k, DENSE_REAL, &rows, 1);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += x.u.r[r * n + i] * x.u.r[r * n + i];
        rstd.u.r[r] = 1 / sqrt(sum / (double)n + eps);
        for (int64_t i = 0; i < n; i++)
            x.u.r[r * n + i] *= rstd.u.r[r] * (w.u.p ? w.u.r[i] : 1);
    }
    store_tensor(k, to, x);
    if (n_results(k) > 1)
        store_tensor(k, result(k, 1), rstd);
}
