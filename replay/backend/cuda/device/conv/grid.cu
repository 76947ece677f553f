/* grid_sampler. Defines: T, ACC (f32, f64), I (i32 or i64), DIMS (2 or 3), MODE, PADDING
 * (GRID_...), CORNERS (0 or 1). Positions are computed in float64, as in the reference. */
#include "replay/backend/cuda/device/conv/grid.h"

#define TAPS (MODE == GRID_NEAREST ? 1 : MODE == GRID_CUBIC ? 4 : 2)

DEVICE f64 reflected(f64 x, f64 low, f64 high)
{
    f64 span = high - low;
    if (span <= 0)
        return 0;
    f64 from = fmod(fabs(x - low), 2 * span);
    return from > span ? 2 * span - from + low : from + low;
}

/* Returns the position that is read for a position outside. */
DEVICE f64 padded(f64 x, i64 n)
{
    if (PADDING == GRID_REFLECTION)
        x = CORNERS ? reflected(x, 0, (f64)(n - 1)) : reflected(x, -0.5, (f64)n - 0.5);
    return PADDING ? fmin(fmax(x, 0.0), (f64)(n - 1)) : x;
}

/* Converts a coordinate between -1 and 1 to a position in the plane. */
DEVICE f64 place_along(f64 x, i64 n)
{
    x = CORNERS ? (x + 1) / 2 * (f64)(n - 1) : ((x + 1) * (f64)n - 1) / 2;
    if (MODE != GRID_CUBIC)
        x = padded(x, n);
    return MODE == GRID_NEAREST ? rint(x) : x;
}

DEVICE f64 cubic(f64 x)
{
    const f64 a = -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Returns the weight of tap j of position `at` in one dimension, and the tap's position; -1:
 * outside. */
DEVICE f64 tap_of(f64 at, i32 j, i64 n, I *place)
{
    f64 first = floor(at), rest = at - first;
    i32 offset = MODE == GRID_CUBIC ? j - 1 : j;
    f64 p = first + (f64)offset;
    if (MODE == GRID_CUBIC)
        p = padded(p, n);
    *place = p >= 0 && p < (f64)n ? (I)p : -1;
    return MODE == GRID_NEAREST ? 1
           : MODE == GRID_CUBIC ? cubic(rest - (f64)offset)
                                : (offset ? rest : 1 - rest);
}

KERNEL(grid_sample, struct grid_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out_size);
        const I plane = plane_of(&e, a.in_stride);
        I g = e.batch * (I)a.grid_stride[0];
        f64 at[PLANE_DIMS];
        UNROLL
        for (i32 d = 0; d < PLANE_DIMS; d++)
            g += e.at[d] * (I)a.grid_stride[1 + d];
        UNROLL
        for (i32 d = 0; d < PLANE_DIMS; d++)
            at[d] = d < PLANE_DIMS - DIMS
                        ? 0
                        : place_along((f64)LOAD(T, PTR(const T, a.grid),
                                                g + (PLANE_DIMS - 1 - d) * (I)a.grid_stride[4]),
                                      a.in_size[d]);
        ACC sum = 0;
        ROLLED
        for (i32 z = 0; z < (DIMS > 2 ? TAPS : 1); z++) {
            I in_z = 0, in_y, in_x;
            f64 by_z = DIMS > 2 ? tap_of(at[0], z, a.in_size[0], &in_z) : 1;
            ROLLED
            for (i32 y = 0; y < TAPS && in_z >= 0; y++) {
                f64 by_y = by_z * tap_of(at[1], y, a.in_size[1], &in_y);
                ROLLED
                for (i32 x = 0; x < TAPS && in_y >= 0; x++) {
                    f64 by_x = by_y * tap_of(at[2], x, a.in_size[2], &in_x);
                    if (in_x >= 0)
                        sum +=
                            (ACC)by_x * (ACC)LOAD(T, PTR(const T, a.x),
                                                  plane + place_in(a.in_stride, in_z, in_y, in_x));
                }
            }
        }
        STORE(T, PTR(T, a.out),
              plane_of(&e, a.out_stride) + place_in(a.out_stride, e.at[0], e.at[1], e.at[2]), sum);
    }
}
