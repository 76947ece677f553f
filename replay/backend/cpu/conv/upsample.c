/* Interpolation of one to three dimensions, and sampling at the positions of a grid. */
#include <math.h>

#include "replay/backend/cpu/conv/cubic.h"
#include "replay/backend/cpu/kernel.h"

enum upsample { NEAREST, NEAREST_EXACT, LINEAR, CUBIC };
enum { MAX_TAPS = 4, UPSAMPLE_MAX_DIM = 3 };

/* The positions of the input that one position of the output reads, in one dimension, and their
 * weights. */
struct taps {
    int64_t at[MAX_TAPS];
    double share[MAX_TAPS];
    int n;
};

static double upsample_scale(const struct kernel *k, uint32_t d, uint32_t dims, int64_t in,
                             int64_t out)
{
    static const char *const by_dims[][3] = { { "scales", "", "" },
                                              { "scales_h", "scales_w", "" },
                                              { "scales_d", "scales_h", "scales_w" } };
    double factors[UPSAMPLE_MAX_DIM];
    uint32_t n = reals_arg(k, "scale_factors", factors, UPSAMPLE_MAX_DIM);
    double given = n > d ? factors[d] : real_arg(k, by_dims[dims - 1][d], 0);
    if (bool_arg(k, "align_corners", false))
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
    return given > 0 ? 1 / given : (double)in / (double)out;
}

static int64_t clamped_index(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static struct taps taps_of(enum upsample how, double scale, bool corners, int64_t o, int64_t in)
{
    struct taps t = { .n = 1, .share = { 1 } };
    double from = corners ? scale * (double)o : scale * ((double)o + 0.5) - 0.5;
    if (how == NEAREST || how == NEAREST_EXACT) { /* PyTorch computes these positions in float32 */
        float s = (float)scale, place = how == NEAREST ? (float)o * s : ((float)o + 0.5f) * s;
        t.at[0] = clamped_index((int64_t)floorf(place), in);
        return t;
    }
    if (how == LINEAR && from < 0)
        from = 0;
    int64_t first = (int64_t)floor(from);
    double rest = from - (double)first;
    t.n = how == LINEAR ? 2 : 4;
    for (int i = 0; i < t.n; i++) {
        int offset = how == LINEAR ? i : i - 1;
        t.at[i] = clamped_index(first + offset, in);
        t.share[i] = how == LINEAR ? (i ? rest : 1 - rest) : cubic_weight(CUBIC_A, rest - offset);
    }
    return t;
}

/* PARAM: dimensions times ten plus the kind. forward: computes out from in, otherwise in from
 * out. */
static void interpolate(struct kernel *k, struct dense in, struct dense out, bool forward)
{
    uint32_t dims = (uint32_t)k->row->param / 10;
    enum upsample how = (enum upsample)(k->row->param % 10);
    if (k->failed || in.ndim < dims + 1 || out.ndim != in.ndim || dims == 0)
        return;
    bool corners = bool_arg(k, "align_corners", false);
    const int64_t *is = in.size + in.ndim - dims, *os = out.size + out.ndim - dims;
    double scale[UPSAMPLE_MAX_DIM];
    int64_t in_plane = 1, out_plane = 1;
    for (uint32_t d = 0; d < dims; d++) {
        scale[d] = upsample_scale(k, d, dims, is[d], os[d]);
        in_plane *= is[d];
        out_plane *= os[d];
    }
    for (int64_t i = 0; i < out.n; i++) {
        struct taps t[UPSAMPLE_MAX_DIM];
        int64_t rest = i % out_plane, combinations = 1;
        for (uint32_t d = dims; d-- > 0; rest /= os[d]) {
            t[d] = taps_of(how, scale[d], corners, rest % os[d], is[d]);
            combinations *= t[d].n;
        }
        double sum = 0;
        for (int64_t c = 0; c < combinations; c++) {
            int64_t place = 0, left = c;
            double share = 1;
            for (uint32_t d = 0; d < dims; left /= t[d].n, d++) {
                place = place * is[d] + t[d].at[left % t[d].n];
                share *= t[d].share[left % t[d].n];
            }
            double *x = &in.u.r[i / out_plane * in_plane + place];
            if (forward)
                sum += share * *x;
            else
                *x += share * out.u.r[i];
        }
        if (forward)
            out.u.r[i] = sum;
    }
}

void kernel_upsample(struct kernel *k)
{
    struct dense out = like_result(k, 0, DENSE_REAL);
    const char *name = has_arg(k, "self") ? "self" : "input";
    interpolate(k, load_as(k, tensor_arg(k, name), DENSE_REAL), out, true);
    store_tensor(k, result(k, 0), out);
}

void kernel_upsample_backward(struct kernel *k)
{
    struct dense in = like_result(k, 0, DENSE_REAL);
    interpolate(k, in, load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL), false);
    store_tensor(k, result(k, 0), in);
}

/* ---- grid_sampler_2d, grid_sampler_3d ---- */

static double reflect_position(double x, double low, double high)
{
    double span = high - low;
    if (span <= 0)
        return 0;
    double from = fmod(fabs(x - low), 2 * span);
    return from > span ? 2 * span - from + low : from + low;
}

static double grid_place(double x, int64_t n, int64_t padding, bool corners)
{
    x = corners ? (x + 1) / 2 * (double)(n - 1) : ((x + 1) * (double)n - 1) / 2;
    if (padding == 2)
        x = corners ? reflect_position(x, 0, (double)(n - 1))
                    : reflect_position(x, -0.5, (double)n - 0.5);
    return padding ? fmin(fmax(x, 0), (double)(n - 1)) : x;
}

/* Modes: 0 linear, 1 nearest, 2 cubic (in two dimensions); paddings: 0 zeros, 1 border, 2
 * reflection. */
void kernel_grid_sampler(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense grid = load_as(k, tensor_arg(k, "grid"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    uint32_t dims = x.ndim > 2 ? x.ndim - 2 : 0;
    int64_t mode = int_arg(k, "interpolation_mode", 0), padding = int_arg(k, "padding_mode", 0);
    bool corners = bool_arg(k, "align_corners", false);
    int64_t plane = 1, places = 1;
    if (k->failed || dims < 2 || dims > 3 || (mode == 2 && dims != 2))
        return;
    for (uint32_t d = 0; d < dims; d++) {
        plane *= x.size[2 + d];
        places *= out.size[2 + d];
    }
    for (int64_t i = 0; i < out.n; i++) {
        int64_t b = i / places / x.size[1], taps = mode == 1 ? 1 : mode == 2 ? 4 : 2, all = 1;
        const double *g = grid.u.r + (b * places + i % places) * dims;
        double at[3], sum = 0;
        for (uint32_t d = 0; d < dims; d++) {
            at[d] = grid_place(g[dims - 1 - d], x.size[2 + d], mode == 2 ? 0 : padding, corners);
            at[d] = mode == 1 ? nearbyint(at[d]) : at[d];
            all *= taps;
        }
        for (int64_t c = 0; c < all; c++) {
            int64_t left = c, place = 0;
            double share = 1;
            bool inside = true;
            for (uint32_t d = 0; d < dims; d++, left /= taps) {
                double first = floor(at[d]), rest = at[d] - first;
                int64_t offset = mode == 2 ? left % taps - 1 : left % taps;
                double p = first + (double)offset;
                if (mode == 2 && padding)
                    p = padding == 1
                            ? fmin(fmax(p, 0), (double)(x.size[2 + d] - 1))
                            : fmin(
                                  fmax(corners
                                           ? reflect_position(p, 0, (double)(x.size[2 + d] - 1))
                                           : reflect_position(p, -0.5, (double)x.size[2 + d] - 0.5),
                                       0),
                                  (double)(x.size[2 + d] - 1));
                share *= mode == 1   ? 1
                         : mode == 2 ? cubic_weight(CUBIC_A, rest - (double)offset)
                                     : (offset ? rest : 1 - rest);
                inside &= p >= 0 && p < (double)x.size[2 + d];
                place = place * x.size[2 + d] + (inside ? (int64_t)p : 0);
            }
            if (inside)
                sum += share * x.u.r[i / places * plane + place];
        }
        out.u.r[i] = sum;
    }
    store_tensor(k, result(k, 0), out);
}
