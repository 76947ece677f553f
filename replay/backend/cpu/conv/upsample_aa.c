/* Interpolation with antialiasing: it averages over the area of an output pixel
 * (aten/src/ATen/native/cpu/UpSampleKernel.cpp, HelperInterpBase::_compute_indices_weights_aa). */
#include <math.h>

#include "replay/backend/cpu/conv/cubic.h"
#include "replay/backend/cpu/kernel.h"

enum { AA_DIMS = 2 };

/* One dimension: the first position that each output position reads, and its weights, at most
 * `most`. */
struct spread {
    int64_t in, out, most;
    int64_t *from, *n;
    double *weight;
};

/* Returns the filter's value: a triangle, or the cubic curve with -0.5. */
static double filter_weight(double x, bool cubic)
{
    if (cubic)
        return cubic_weight(CUBIC_A_ANTIALIAS, x);
    return fabs(x) < 1 ? 1 - fabs(x) : 0;
}

static double antialias_scale(const struct kernel *k, uint32_t d, int64_t in, int64_t out)
{
    double factors[AA_DIMS];
    uint32_t n = reals_arg(k, "scale_factors", factors, AA_DIMS);
    double given = n > d ? factors[d] : real_arg(k, d ? "scales_w" : "scales_h", 0);
    if (bool_arg(k, "align_corners", false))
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
    return given > 0 ? 1 / given : (double)in / (double)out;
}

static void make_spread(struct kernel *k, uint32_t d, int64_t in, int64_t out, bool cubic,
                        struct spread *s)
{
    double scale = antialias_scale(k, d, in, out), wide = scale > 1 ? scale : 1;
    double support = (cubic ? 2 : 1) * wide;
    *s = (struct spread){ .in = in, .out = out, .most = (int64_t)ceil(support) * 2 + 1 };
    s->from = workspace(k, out, sizeof *s->from);
    s->n = workspace(k, out, sizeof *s->n);
    s->weight = workspace(k, out * s->most, sizeof *s->weight);
    for (int64_t i = 0; i < out && !k->failed; i++) {
        double centre = scale * ((double)i + 0.5), sum = 0, *w = s->weight + i * s->most;
        int64_t first = (int64_t)(centre - support + 0.5), last = (int64_t)(centre + support + 0.5);
        s->from[i] = first > 0 ? first : 0;
        s->n[i] = (last < in ? last : in) - s->from[i];
        s->n[i] = s->n[i] > s->most ? s->most : s->n[i];
        for (int64_t j = 0; j < s->n[i]; j++)
            sum += w[j] = filter_weight(((double)(j + s->from[i]) - centre + 0.5) / wide, cubic);
        for (int64_t j = 0; j < s->n[i] && sum != 0; j++)
            w[j] /= sum;
    }
}

static void spread_plane(const struct spread *y, const struct spread *x, double *in, double *out,
                         bool back)
{
    for (int64_t i = 0; i < y->out * x->out; i++) {
        int64_t row = i / x->out, column = i % x->out;
        double sum = 0;
        for (int64_t a = 0; a < y->n[row]; a++)
            for (int64_t b = 0; b < x->n[column]; b++) {
                double w = y->weight[row * y->most + a] * x->weight[column * x->most + b];
                double *p = &in[(y->from[row] + a) * x->in + x->from[column] + b];
                sum += w * *p;
                if (back)
                    *p += w * out[i];
            }
        if (!back)
            out[i] = sum;
    }
}

/* PARAM: 1 cubic; 2 backward, which computes forward's input. */
void kernel_upsample_aa(struct kernel *k)
{
    bool back = (k->row->param & 2) != 0, cubic = (k->row->param & 1) != 0;
    const char *name = back ? "grad_output" : has_arg(k, "self") ? "self" : "input";
    struct dense given = load_as(k, tensor_arg(k, name), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense made = dense_new(k, DENSE_REAL, size, ndim);
    const struct dense *in = back ? &made : &given, *out = back ? &given : &made;
    struct spread y, x;
    if (k->failed || in->ndim != 4 || out->ndim != 4)
        return;
    make_spread(k, 0, in->size[2], out->size[2], cubic, &y);
    make_spread(k, 1, in->size[3], out->size[3], cubic, &x);
    for (int64_t p = 0; p < in->size[0] * in->size[1] && !k->failed; p++)
        spread_plane(&y, &x, in->u.r + p * y.in * x.in, out->u.r + p * y.out * x.out, back);
    store_tensor(k, result(k, 0), made);
}
