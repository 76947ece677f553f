/* Pooling. Defines: T, ACC (f32, f64, i64), I (i32 or i64). */
#include "replay/backend/cuda/device/conv/pooling.h"

/* A window in one dimension: from, from + step ... below to; `whole` with padding. */
struct span {
    I from, to, step, n, whole;
};

DEVICE struct span span_of(const struct pool_args *a, u32 d, I o)
{
    struct span s;
    I in = (I)a->in[d], out = (I)a->out[d];
    if (a->adaptive) {
        s.from = (I)((i64)o * in / out);
        s.to = (I)((((i64)o + 1) * in + out - 1) / out);
        s.step = 1;
        s.n = s.whole = s.to - s.from;
        return s;
    }
    s.step = (I)a->dilation[d];
    s.from = o * (I)a->stride[d] - (I)a->padding[d];
    s.to = s.from + ((I)a->window[d] - 1) * s.step + 1;
    s.whole = MIN(s.to, in + (I)a->padding[d]) - s.from;
    if (s.from < 0)
        s.from += (-s.from + s.step - 1) / s.step * s.step;
    s.to = MIN(s.to, in);
    s.n = s.to > s.from ? (s.to - s.from + s.step - 1) / s.step : 0;
    return s;
}

/* Returns the windows that contain position i: from `from` to `to`, inclusive. */
DEVICE struct span windows_of(const struct pool_args *a, u32 d, I i)
{
    struct span s;
    I in = (I)a->in[d], out = (I)a->out[d];
    if (a->adaptive) {
        s.from = (I)((i64)i * out / in);
        s.to = (I)((((i64)i + 1) * out - 1) / in);
    } else {
        I padded = i + (I)a->padding[d], stride = (I)a->stride[d];
        I behind = padded - ((I)a->window[d] - 1) * (I)a->dilation[d];
        s.from = behind <= 0 ? 0 : (behind + stride - 1) / stride;
        s.to = MIN(padded / stride, out - 1);
    }
    s.step = 1;
    s.n = s.whole = s.to - s.from + 1;
    return s;
}

/* Returns the divisor of the window's sum. */
DEVICE i64 divisor_of(const struct pool_args *a, const struct span *s)
{
    if (a->divisor)
        return a->divisor;
    return a->count_padding ? (i64)s[0].whole * s[1].whole * s[2].whole
                            : (i64)s[0].n * s[1].n * s[2].n;
}

KERNEL(pool_avg, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out);
        const I plane = plane_of(&e, a.inner_stride);
        struct span s[PLANE_DIMS] = { span_of(&a, 0, e.at[0]), span_of(&a, 1, e.at[1]),
                                     span_of(&a, 2, e.at[2]) };
        ACC sum = 0;
        ROLLED
        for (I d = s[0].from; d < s[0].to; d += s[0].step)
            ROLLED
            for (I h = s[1].from; h < s[1].to; h += s[1].step)
                ROLLED
                for (I w = s[2].from; w < s[2].to; w += s[2].step)
                    sum += (ACC)LOAD(T, PTR(const T, a.inner),
                                     plane + place_in(a.inner_stride, d, h, w));
        STORE(T, PTR(T, a.outer),
              plane_of(&e, a.outer_stride) + place_in(a.outer_stride, e.at[0], e.at[1], e.at[2]),
              sum / (ACC)divisor_of(&a, s));
    }
}

KERNEL(pool_avg_backward, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.in);
        const I plane = plane_of(&e, a.outer_stride);
        struct span o[PLANE_DIMS] = { windows_of(&a, 0, e.at[0]), windows_of(&a, 1, e.at[1]),
                                     windows_of(&a, 2, e.at[2]) };
        ACC sum = 0;
        ROLLED
        for (I d = o[0].from; d <= o[0].to; d++)
            ROLLED
            for (I h = o[1].from; h <= o[1].to; h++)
                ROLLED
                for (I w = o[2].from; w <= o[2].to; w++) {
                    struct span s[PLANE_DIMS] = { span_of(&a, 0, d), span_of(&a, 1, h),
                                                 span_of(&a, 2, w) };
                    sum += (ACC)LOAD(T, PTR(const T, a.outer),
                                     plane + place_in(a.outer_stride, d, h, w)) /
                           (ACC)divisor_of(&a, s);
                }
        STORE(T, PTR(T, a.inner),
              plane_of(&e, a.inner_stride) + place_in(a.inner_stride, e.at[0], e.at[1], e.at[2]),
              sum);
    }
}

/* Returns the position in its window of position `at` of the plane. */
DEVICE I in_window(const struct pool_args *a, u32 d, I o, I at)
{
    return (at + (I)a->padding[d] - o * (I)a->stride[d]) / (I)a->dilation[d];
}

DEVICE void store_where(const struct pool_args *a, const struct element *e, i64 where)
{
    I to = plane_of(e, a->index_stride) + place_in(a->index_stride, e->at[0], e->at[1], e->at[2]);
    if (a->indices)
        PTR(i64, a->indices)[to] = where;
    if (!a->offsets)
        return;
    I w = (I)(where % a->in[2]), h = (I)(where / a->in[2] % a->in[1]);
    I d = (I)(where / a->in[2] / a->in[1]);
    PTR(i8, a->offsets)[to] = (i8)((in_window(a, 0, e->at[0], d) * (I)a->window[1] +
                                    in_window(a, 1, e->at[1], h)) * (I)a->window[2] +
                                   in_window(a, 2, e->at[2], w));
}

/* Computes positions in the plane from those in the window. */
KERNEL(pool_indices, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out);
        I offset = PTR(const i8, a.offsets)[plane_of(&e, a.outer_stride) +
                                            place_in(a.outer_stride, e.at[0], e.at[1], e.at[2])];
        i64 place = 0, each = 1;
        UNROLL
        for (i32 d = PLANE_DIMS - 1; d >= 0; d--) {
            I window = (I)a.window[d];
            place += each * (e.at[d] * (I)a.stride[d] - (I)a.padding[d] +
                             offset % window * (I)a.dilation[d]);
            offset /= window;
            each *= a.in[d];
        }
        PTR(i64, a.indices)[plane_of(&e, a.index_stride) +
                            place_in(a.index_stride, e.at[0], e.at[1], e.at[2])] = place;
    }
}

/* Computes the greatest element of each window and its position: a NaN is the greatest; of equal
 * elements the first counts. */
KERNEL(pool_max, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out);
        const I plane = plane_of(&e, a.inner_stride);
        struct span s[PLANE_DIMS] = { span_of(&a, 0, e.at[0]), span_of(&a, 1, e.at[1]),
                                     span_of(&a, 2, e.at[2]) };
        ACC most = (ACC)LOWEST;
        i64 where = -1;
        ROLLED
        for (I d = s[0].from; d < s[0].to; d += s[0].step)
            ROLLED
            for (I h = s[1].from; h < s[1].to; h += s[1].step)
                ROLLED
                for (I w = s[2].from; w < s[2].to; w += s[2].step) {
                    ACC x = (ACC)LOAD(T, PTR(const T, a.inner),
                                      plane + place_in(a.inner_stride, d, h, w));
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

/* Each position sums the gradients of the windows that chose it, in their order. */
KERNEL(pool_max_backward, struct pool_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.in);
        const I plane = plane_of(&e, a.outer_stride), of_index = plane_of(&e, a.index_stride);
        const i64 here = ((i64)e.at[0] * a.in[1] + e.at[1]) * a.in[2] + e.at[2];
        struct span o[PLANE_DIMS] = { windows_of(&a, 0, e.at[0]), windows_of(&a, 1, e.at[1]),
                                     windows_of(&a, 2, e.at[2]) };
        ACC sum = 0;
        ROLLED
        for (I d = o[0].from; d <= o[0].to; d++)
            ROLLED
            for (I h = o[1].from; h <= o[1].to; h++)
                ROLLED
                for (I w = o[2].from; w <= o[2].to; w++)
                    if (PTR(const i64, a.indices)[of_index +
                                                  place_in(a.index_stride, d, h, w)] == here)
                        sum += (ACC)LOAD(T, PTR(const T, a.outer),
                                         plane + place_in(a.outer_stride, d, h, w));
        STORE(T, PTR(T, a.inner),
              plane_of(&e, a.inner_stride) + place_in(a.inner_stride, e.at[0], e.at[1], e.at[2]),
              sum);
    }
}

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
