/* Distances of rows. Defines: T, ACC (f32, f64), I, DIMS, NORM (DISTANCE_...), LANES (1, or WARP:
 * threads of a row). */
#include "replay/backend/cuda/device/linalg/distance.h"
#include "replay/backend/cuda/device/math.h"

DEVICE ACC joined(ACC sum, ACC v)
{
    return NORM == DISTANCE_MOST ? GREATER_OF(sum, v) : sum + v;
}

DEVICE ACC part_of(ACC d, ACC p)
{
    d = ABS(d);
    return NORM == DISTANCE_COUNT   ? (ACC)(d != 0)
           : NORM == DISTANCE_ROOT  ? d * d
           : NORM == DISTANCE_POWER ? OF(POW, d, p)
                                    : d;
}

KERNEL(distance, struct distance_args)
{
    const i64 step = (i64)GRID_X * (THREADS / LANES);
    const ACC p = (ACC)a.p;
    ROLLED
    for (i64 first = (i64)BLOCK_X * (THREADS / LANES); first < a.n; first += step) {
        const i64 i = first + THREAD / LANES; /* a whole warp agrees, since all of its threads shuffle */
        I at[DIMS];
        ACC sum = 0;
        coordinates(a.size, a.ndim, (I)MIN(i, a.n - 1), at);
        const T *x = PTR(const T, a.x) + offset_of(a.x_stride, a.ndim, at);
        const T *y = PTR(const T, a.y) + offset_of(a.y_stride, a.ndim, at);
        ROLLED
        for (i64 j = THREAD % LANES; j < a.inner; j += LANES)
            sum = joined(
                sum, part_of((ACC)LOAD(T, x, j * a.x_inner) - (ACC)LOAD(T, y, j * a.y_inner), p));
        ROLLED
        for (u32 mask = LANES / 2; mask; mask /= 2) {
            ACC other = XOR_LANE(sum, mask);
            sum = joined(sum, other);
        }
        if (i >= a.n || THREAD % LANES)
            continue;
        sum = NORM == DISTANCE_ROOT    ? OF(SQRT, sum)
              : NORM == DISTANCE_POWER ? OF(POW, sum, 1 / p)
                                       : sum;
        STORE(T, PTR(T, a.to), offset_of(a.to_stride, a.ndim, at), sum);
    }
}
