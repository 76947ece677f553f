/* The backward of grid_sampler. Defines: T, ACC (f32, f64), I (i32 or i64), DIMS (2 or 3), MODE,
 * PADDING (GRID_...), CORNERS (0 or 1). Positions are computed in float64, as in the reference. */
#include "replay/backend/cuda/device/conv/grid.h"

#define TAPS (MODE == GRID_NEAREST ? 1 : MODE == GRID_CUBIC ? 4 : 2)

/* A coordinate in pixels, and its derivative by the grid's coordinate. */
struct coordinate {
    f64 at, slope;
};

DEVICE void reflect(struct coordinate *c, f64 low, f64 high)
{
    f64 span = high - low, from = fabs(c->at - low);
    if (span <= 0) {
        c->at = c->slope = 0;
        return;
    }
    f64 rest = fmod(from, span), back = fmod(floor(from / span), 2.0);
    c->slope = (c->at < low) != (back != 0) ? -c->slope : c->slope;
    c->at = back != 0 ? span - rest + low : rest + low;
}

DEVICE void pad(struct coordinate *c, i64 n)
{
    f64 last = (f64)(n - 1);
    if (PADDING == GRID_REFLECTION)
        reflect(c, CORNERS ? 0 : -0.5, CORNERS ? last : (f64)n - 0.5);
    if (PADDING != GRID_ZEROS && (c->at <= 0 || c->at >= last)) {
        c->at = c->at <= 0 ? 0 : last;
        c->slope = 0;
    }
}

DEVICE struct coordinate coordinate_of(f64 x, i64 n)
{
    f64 slope = (f64)(CORNERS ? n - 1 : n) / 2;
    struct coordinate c = { CORNERS ? (x + 1) * slope : ((x + 1) * (f64)n - 1) / 2, slope };
    if (MODE != GRID_CUBIC)
        pad(&c, n);
    return c;
}

DEVICE f64 cubic(f64 x)
{
    const f64 a = -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

DEVICE f64 cubic_slope(f64 x)
{
    const f64 a = -0.75, sign = x < 0 ? -1 : 1;
    x = fabs(x);
    if (x <= 1)
        return sign * (3 * (a + 2) * x - 2 * (a + 3)) * x;
    return x < 2 ? sign * ((3 * a * x - 10 * a) * x + 8 * a) : 0;
}

/* A tap in one dimension: its position, its weight, and the derivative of the weight by the
 * coordinate. */
struct tap {
    I at; /* -1: outside */
    f64 share, slope;
};

DEVICE struct tap tap_of(struct coordinate c, i32 j, i64 n)
{
    struct tap t = { 0, 1, 0 };
    f64 first = floor(c.at), rest = c.at - first;
    struct coordinate place = { MODE == GRID_NEAREST ? rint(c.at) : first + (f64)j, 1 };
    if (MODE == GRID_LINEAR) {
        t.share = j ? rest : 1 - rest;
        t.slope = j ? 1 : -1;
    } else if (MODE == GRID_CUBIC) {
        place.at = first + (f64)(j - 1);
        t.share = cubic(rest - (f64)(j - 1));
        t.slope = cubic_slope(rest - (f64)(j - 1));
        pad(&place, n);
    }
    t.at = place.at >= 0 && place.at < (f64)n ? (I)place.at : -1;
    t.slope *= c.slope;
    return t;
}

/* Combines the taps of all dimensions; false: combination j is outside. Missing first dimensions
 * are ignored. */
DEVICE i32 taps_of(const struct grid_args *a, const struct coordinate *c, i32 j, struct tap *t)
{
    i32 inside = 1;
    UNROLL
    for (i32 d = 0; d < PLANE_DIMS; d++) {
        t[d].at = 0;
        t[d].share = 1;
        t[d].slope = 0;
        if (d < PLANE_DIMS - DIMS)
            continue;
        t[d] = tap_of(c[d], j % TAPS, a->in_size[d]);
        inside &= t[d].at >= 0;
        j /= TAPS;
    }
    return inside;
}

#define COMBINATIONS (DIMS == 3 ? TAPS * TAPS * TAPS : TAPS * TAPS)

DEVICE I grid_place(const struct element *e, const i64 *stride)
{
    return e->batch * (I)stride[0] + e->at[0] * (I)stride[1] + e->at[1] * (I)stride[2] +
           e->at[2] * (I)stride[3];
}

DEVICE void coordinates_of(const struct grid_args *a, const struct element *e, struct coordinate *c)
{
    const I g = grid_place(e, a->grid_stride);
    UNROLL
    for (i32 d = PLANE_DIMS - DIMS; d < PLANE_DIMS; d++)
        c[d] = coordinate_of(
            (f64)LOAD(T, PTR(const T, a->grid), g + (PLANE_DIMS - 1 - d) * (I)a->grid_stride[4]),
            a->in_size[d]);
}

/* Computes the gradient of each position of the grid, over all channels. */
KERNEL(grid_to_grid, struct grid_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, 1, a.out_size);
        struct coordinate c[PLANE_DIMS];
        ACC sum[PLANE_DIMS] = { 0, 0, 0 };
        coordinates_of(&a, &e, c);
        ROLLED
        for (i32 j = 0; j < COMBINATIONS; j++) {
            struct tap t[PLANE_DIMS];
            if (!taps_of(&a, c, j, t))
                continue;
            const I at =
                place_in(a.in_stride, t[0].at, t[1].at, t[2].at) + e.batch * (I)a.in_stride[0];
            const I from =
                place_in(a.out_stride, e.at[0], e.at[1], e.at[2]) + e.batch * (I)a.out_stride[0];
            ACC along = 0;
            ROLLED
            for (I ch = 0; ch < (I)a.channels; ch++)
                along += (ACC)LOAD(T, PTR(const T, a.out), from + ch * (I)a.out_stride[1]) *
                         (ACC)LOAD(T, PTR(const T, a.x), at + ch * (I)a.in_stride[1]);
            sum[0] += along * (ACC)(t[0].slope * t[1].share * t[2].share);
            sum[1] += along * (ACC)(t[0].share * t[1].slope * t[2].share);
            sum[2] += along * (ACC)(t[0].share * t[1].share * t[2].slope);
        }
        const I to = grid_place(&e, a.to_grid_stride);
        UNROLL
        for (i32 d = PLANE_DIMS - DIMS; d < PLANE_DIMS; d++)
            STORE(T, PTR(T, a.to_grid), to + (PLANE_DIMS - 1 - d) * (I)a.to_grid_stride[4], sum[d]);
    }
}

/* Adds every gradient to the elements that were read, in any order, as PyTorch does. */
KERNEL(grid_to_input, struct grid_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out_size);
        const I plane = plane_of(&e, a.to_x_stride);
        const ACC up = (ACC)LOAD(T, PTR(const T, a.out),
                                 plane_of(&e, a.out_stride) +
                                     place_in(a.out_stride, e.at[0], e.at[1], e.at[2]));
        struct coordinate c[PLANE_DIMS];
        coordinates_of(&a, &e, c);
        ROLLED
        for (i32 j = 0; j < COMBINATIONS; j++) {
            struct tap t[PLANE_DIMS];
            if (taps_of(&a, c, j, t))
                ATOMIC_ADD(ACC,
                           PTR(ACC, a.to_x) + plane +
                               place_in(a.to_x_stride, t[0].at, t[1].at, t[2].at),
                           up * (ACC)(t[0].share * t[1].share * t[2].share));
        }
    }
}
