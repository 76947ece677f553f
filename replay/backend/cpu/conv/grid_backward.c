/* Backward of grid_sampler_2d and grid_sampler_3d: gradients of the input and of the grid
 * (aten/src/ATen/native/GridSampler.h, the functions with _set_grad). */
#include <math.h>

#include "replay/backend/cpu/conv/cubic.h"
#include "replay/backend/cpu/kernel.h"

enum { GRID_DIMS = 3, GRID_LINEAR = 0, GRID_NEAREST, GRID_CUBIC };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };

/* A coordinate in pixels, and its derivative by the grid's coordinate. */
struct coordinate {
    double at, slope;
};

static void clip(struct coordinate *c, int64_t n)
{
    double last = (double)(n - 1);
    if (c->at <= 0 || c->at >= last) {
        c->at = c->at <= 0 ? 0 : last;
        c->slope = 0;
    }
}

static void reflect_coordinate(struct coordinate *c, double low, double high)
{
    double span = high - low, from = fabs(c->at - low);
    if (span <= 0) {
        *c = (struct coordinate){ 0, 0 };
        return;
    }
    if (c->at - low < 0)
        c->slope = -c->slope;
    bool back = fmod(floor(from / span), 2) != 0;
    double rest = fmod(from, span);
    c->at = back ? span - rest + low : rest + low;
    c->slope = back ? -c->slope : c->slope;
}

static void pad(struct coordinate *c, int64_t n, int64_t padding, bool corners)
{
    if (padding == PAD_REFLECTION)
        reflect_coordinate(c, corners ? 0 : -0.5, corners ? (double)(n - 1) : (double)n - 0.5);
    if (padding != PAD_ZEROS)
        clip(c, n);
}

static double cubic_slope(double x)
{
    const double a = CUBIC_A;
    double sign = x < 0 ? -1 : 1;
    x = fabs(x);
    if (x <= 1)
        return sign * (3 * (a + 2) * x - 2 * (a + 3)) * x;
    return x < 2 ? sign * ((3 * a * x - 10 * a) * x + 8 * a) : 0;
}

struct sampler {
    uint32_t dims;
    int64_t mode, padding, size[GRID_DIMS], plane, places, channels;
    bool corners;
};

/* A tap in one dimension: its position, its weight, and the derivative of the weight by the
 * coordinate. */
struct tap {
    int64_t at; /* -1: outside */
    double share, slope;
};

static struct tap tap_of(const struct sampler *s, uint32_t d, struct coordinate c, int64_t i)
{
    struct tap t = { .share = 1 };
    double first = floor(c.at), rest = c.at - first;
    struct coordinate place = { s->mode == GRID_NEAREST ? nearbyint(c.at) : first + (double)i, 1 };
    if (s->mode == GRID_LINEAR) {
        t.share = i ? rest : 1 - rest;
        t.slope = i ? 1 : -1;
    } else if (s->mode == GRID_CUBIC) {
        place.at = first + (double)(i - 1);
        t.share = cubic_weight(CUBIC_A, rest - (double)(i - 1));
        t.slope = cubic_slope(rest - (double)(i - 1));
        pad(&place, s->size[d], s->padding, s->corners);
    }
    bool inside = place.at >= 0 && place.at < (double)s->size[d];
    t.at = inside ? (int64_t)place.at : -1;
    return t;
}

/* Processes one position of the output, for all channels. */
static void add_gradients(const struct sampler *s, const struct coordinate *c, const double *x,
                          const double *g, double *to_x, double *to_grid)
{
    int64_t taps = s->mode == GRID_NEAREST ? 1 : s->mode == GRID_CUBIC ? 4 : 2, all = 1;
    for (uint32_t d = 0; d < s->dims; d++)
        all *= taps;
    for (int64_t i = 0; i < all; i++) {
        struct tap t[GRID_DIMS];
        int64_t left = i, place = 0;
        double share = 1;
        bool inside = true;
        for (uint32_t d = 0; d < s->dims; d++, left /= taps) {
            t[d] = tap_of(s, d, c[d], left % taps);
            inside &= t[d].at >= 0;
            place = place * s->size[d] + t[d].at;
            share *= t[d].share;
        }
        for (int64_t ch = 0; ch < s->channels && inside; ch++) {
            double up = g[ch * s->places], value = x[ch * s->plane + place];
            to_x[ch * s->plane + place] += up * share;
            for (uint32_t d = 0; d < s->dims; d++) {
                double others = t[d].slope * c[d].slope;
                for (uint32_t e = 0; e < s->dims; e++)
                    others *= e == d ? 1 : t[e].share;
                to_grid[s->dims - 1 - d] += up * value * others;
            }
        }
    }
}

static struct coordinate coordinate_of(const struct sampler *s, uint32_t d, double x)
{
    double n = (double)s->size[d], slope = (s->corners ? n - 1 : n) / 2;
    struct coordinate c = { s->corners ? (x + 1) * slope : ((x + 1) * n - 1) / 2, slope };
    if (s->mode != GRID_CUBIC)
        pad(&c, s->size[d], s->padding, s->corners);
    return c;
}

void kernel_grid_sampler_backward(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense grid = load_as(k, tensor_arg(k, "grid"), DENSE_REAL);
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense to_x = dense_new(k, DENSE_REAL, x.size, x.ndim);
    struct dense to_grid = dense_new(k, DENSE_REAL, grid.size, grid.ndim);
    struct sampler s = { .dims = x.ndim > 2 ? x.ndim - 2 : 0, .plane = 1, .places = 1 };
    if (k->failed || s.dims < 2 || s.dims > GRID_DIMS || g.ndim != x.ndim)
        return;
    s.mode = int_arg(k, "interpolation_mode", 0);
    s.padding = int_arg(k, "padding_mode", 0);
    s.corners = bool_arg(k, "align_corners", false);
    s.channels = x.size[1];
    for (uint32_t d = 0; d < s.dims; d++) {
        s.size[d] = x.size[2 + d];
        s.plane *= x.size[2 + d];
        s.places *= g.size[2 + d];
    }
    for (int64_t i = 0; i < x.size[0] * s.places; i++) {
        int64_t batch = i / s.places, first = batch * s.channels;
        struct coordinate c[GRID_DIMS];
        for (uint32_t d = 0; d < s.dims; d++)
            c[d] = coordinate_of(&s, d, grid.u.r[i * s.dims + s.dims - 1 - d]);
        add_gradients(&s, c, x.u.r + first * s.plane, g.u.r + first * s.places + i % s.places,
                      to_x.u.r + first * s.plane, to_grid.u.r + i * s.dims);
    }
    int64_t size[TENSOR_MAX_DIM];
    if (result(k, 0).meta && tensor_sizes(result(k, 0), size) == x.ndim)
        store_tensor(k, result(k, 0), to_x);
    if (result(k, 1).meta && tensor_sizes(result(k, 1), size) == grid.ndim)
        store_tensor(k, result(k, 1), to_grid);
}
