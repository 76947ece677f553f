/* Max pooling of windows at random positions. */
#include "replay/backend/cuda/device/conv/pooling.h"

/* Returns the start of window o of a dimension; the last one ends with the input
 * (generate_intervals, aten/src/ATen/native/FractionalMaxPooling.h). */
DEVICE I fractional_start(const struct pool_args *a, u32 d, I o, f64 sample)
{
    i64 range = a->in[d] - a->window[d], last = a->out[d] - 1;
    if (o == last || last < 1)
        return (I)range;
    f64 alpha = (f64)range / (f64)last;
    return (I)((i64)(((f64)o + sample) * alpha) - (i64)(sample * alpha));
}

/* Windows at positions that random numbers determine; of a plane's samples the width's is first.
 * `adaptive` is the number of dimensions. */
KERNEL(pool_fractional, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out);
        const I plane = plane_of(&e, a.inner_stride);
        I from[PLANE_DIMS] = { 0, 0, 0 };
        UNROLL
        for (i32 d = 0; d < PLANE_DIMS; d++) {
            i32 own = d - (PLANE_DIMS - (i32)a.adaptive), which = a.adaptive == 2 ? 1 - own : own;
            if (own >= 0)
                from[d] = fractional_start(
                    &a, d, e.at[d],
                    (f64)LOAD(T, PTR(const T, a.samples),
                              e.batch * a.sample_stride[0] + e.channel * a.sample_stride[1] +
                                  which * a.sample_stride[2]));
        }
        ACC most = (ACC)LOWEST;
        i64 where = -1;
        ROLLED
        for (i64 j = 0; j < a.window[0] * a.window[1] * a.window[2]; j++) {
            I d = from[0] + (I)(j / a.window[2] / a.window[1]);
            I h = from[1] + (I)(j / a.window[2] % a.window[1]), w = from[2] + (I)(j % a.window[2]);
            if (d < 0 || d >= a.in[0] || h < 0 || h >= a.in[1] || w < 0 || w >= a.in[2])
                continue;
            ACC x = (ACC)LOAD(T, PTR(const T, a.inner), plane + place_in(a.inner_stride, d, h, w));
            if (where < 0 || x > most || x != x) {
                most = x;
                where = ((i64)d * a.in[1] + h) * a.in[2] + w;
            }
        }
        STORE(T, PTR(T, a.outer),
              plane_of(&e, a.outer_stride) + place_in(a.outer_stride, e.at[0], e.at[1], e.at[2]),
              most);
        store_where(&a, &e, where);
    }
}
