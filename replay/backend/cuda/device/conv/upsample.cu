/* Interpolation. Defines: T, ACC (f32, f64, i64), I (i32 or i64), HOW (UPSAMPLE_...), DIMS (1 to
 * 3). Positions are computed in float64, as in the reference. */
#include "replay/backend/cuda/device/conv/upsample.h"

#define NEAREST (HOW <= UPSAMPLE_NEAREST_EXACT)
#define SMOOTH  (HOW >= UPSAMPLE_SMOOTH_LINEAR)
#define CUBIC   (HOW == UPSAMPLE_CUBIC || HOW == UPSAMPLE_SMOOTH_CUBIC)

/* The positions of the input that one position of the output reads, in one dimension: n from
 * `first` on; positions outside are replaced by the nearest inside. */
struct taps {
    I first;
    i32 n;
    f64 rest; /* the distance from `first` to the position */
    f64 unit; /* of the filter */
    f64 total;
};

DEVICE f64 cubic(f64 x)
{
    const f64 a = SMOOTH ? -0.5 : -0.75;
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

DEVICE f64 weight(f64 x)
{
    return CUBIC ? cubic(x) : fmax(1 - fabs(x), 0.0);
}

DEVICE f64 share_of(const struct taps *t, i32 j)
{
    return NEAREST ? 1 : weight((j - t->rest) / t->unit) / t->total;
}

DEVICE I tap_place(const struct taps *t, i32 j, I in)
{
    I at = t->first + j;
    return at < 0 ? 0 : at >= in ? in - 1 : at;
}

/* The filter is cut at the edges and its weights are normalised again. */
DEVICE struct taps smooth_taps(f64 scale, I o, I in)
{
    struct taps t = { 0, 0, 0, 1, 1 };
    f64 center = scale * ((f64)o + 0.5), support = (CUBIC ? 2 : 1) * fmax(scale, 1.0);
    i64 first = (i64)(center - support + 0.5), behind = (i64)(center + support + 0.5);
    t.first = (I)MAX(first, 0);
    t.n = (i32)(MIN(behind, (i64)in) - t.first);
    t.rest = center - 0.5 - (f64)t.first;
    t.unit = fmax(scale, 1.0);
    f64 total = 0;
    ROLLED
    for (i32 j = 0; j < t.n; j++)
        total += share_of(&t, j);
    t.total = total != 0 ? total : 1;
    return t;
}

DEVICE struct taps taps_of(const struct upsample_args *a, u32 d, I o)
{
    struct taps t = { 0, 1, 0, 1, 1 };
    I in = (I)a->in_size[d];
    if (SMOOTH)
        return smooth_taps(a->scale[d], o, in);
    if (NEAREST) { /* PyTorch computes these positions in float32 */
        f32 s = (f32)a->scale[d];
        t.first = (I)floorf(HOW == UPSAMPLE_NEAREST ? (f32)o * s : ((f32)o + 0.5f) * s);
        return t;
    }
    f64 from = a->corners ? a->scale[d] * (f64)o : a->scale[d] * ((f64)o + 0.5) - 0.5;
    if (!CUBIC && from < 0)
        from = 0;
    t.first = (I)floor(from) - CUBIC;
    t.n = CUBIC ? 4 : 2;
    t.rest = from - (f64)t.first;
    return t;
}

/* Returns the range of positions of the output that may read position i of the input. */
DEVICE void takers_of(const struct upsample_args *a, u32 d, I i, I *from, I *to)
{
    f64 scale = a->scale[d], shift = a->corners && !SMOOTH ? 0 : 0.5;
    f64 reach = ((CUBIC ? 2 : 1) * (SMOOTH ? fmax(scale, 1.0) : 1)) + 1;
    *from = 0;
    *to = (I)a->out_size[d] - 1;
    if (!(scale > 0))
        return;
    f64 low = ((f64)i - reach + shift) / scale - shift - 1;
    f64 high = ((f64)i + reach + shift) / scale - shift + 1;
    if (i > 0 && low > 0)
        *from = low < (f64)*to ? (I)low : *to;
    if (i < (I)a->in_size[d] - 1 && high < (f64)*to)
        *to = high < 0 ? 0 : (I)high;
}

/* Returns the weight of position i of the input for position o of the output. */
DEVICE ACC taken(const struct upsample_args *a, u32 d, I o, I i)
{
    struct taps t = taps_of(a, d, o);
    ACC sum = 0;
    ROLLED
    for (i32 j = 0; j < t.n; j++)
        if (tap_place(&t, j, (I)a->in_size[d]) == i)
            sum += (ACC)share_of(&t, j);
    return sum;
}

KERNEL(upsample, struct upsample_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.out_size);
        const I plane = plane_of(&e, a.in_stride);
        struct taps t[PLANE_DIMS] = { { 0, 1, 0, 1, 1 }, { 0, 1, 0, 1, 1 }, { 0, 1, 0, 1, 1 } };
        UNROLL
        for (u32 d = PLANE_DIMS - DIMS; d < PLANE_DIMS; d++)
            t[d] = taps_of(&a, d, e.at[d]);
        ACC sum = 0;
        ROLLED
        for (i32 j = 0; j < t[0].n; j++) {
            const I z = tap_place(&t[0], j, (I)a.in_size[0]);
            const ACC by_z = DIMS > 2 ? (ACC)share_of(&t[0], j) : 1;
            ROLLED
            for (i32 l = 0; l < t[1].n; l++) {
                const I y = tap_place(&t[1], l, (I)a.in_size[1]);
                const ACC by_y = DIMS > 1 ? by_z * (ACC)share_of(&t[1], l) : 1;
                ROLLED
                for (i32 m = 0; m < t[2].n; m++) {
                    const I x = tap_place(&t[2], m, (I)a.in_size[2]);
                    sum += by_y * (ACC)share_of(&t[2], m) *
                           (ACC)LOAD(T, PTR(const T, a.in), plane + place_in(a.in_stride, z, y, x));
                }
            }
        }
        STORE(T, PTR(T, a.out),
              plane_of(&e, a.out_stride) + place_in(a.out_stride, e.at[0], e.at[1], e.at[2]), sum);
    }
}

/* Each position of the input sums its part of every gradient for which it was read, in their
 * order. */
KERNEL(upsample_backward, struct upsample_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, a.in_size);
        const I plane = plane_of(&e, a.out_stride);
        I from[PLANE_DIMS] = { 0, 0, 0 }, to[PLANE_DIMS] = { 0, 0, 0 };
        UNROLL
        for (u32 d = PLANE_DIMS - DIMS; d < PLANE_DIMS; d++)
            takers_of(&a, d, e.at[d], &from[d], &to[d]);
        ACC sum = 0;
        ROLLED
        for (I z = from[0]; z <= to[0]; z++) {
            const ACC by_z = DIMS > 2 ? taken(&a, 0, z, e.at[0]) : 1;
            ROLLED
            for (I y = from[1]; y <= to[1] && by_z != 0; y++) {
                const ACC by_y = DIMS > 1 ? by_z * taken(&a, 1, y, e.at[1]) : 1;
                ROLLED
                for (I x = from[2]; x <= to[2] && by_y != 0; x++) {
                    const ACC by_x = taken(&a, 2, x, e.at[2]);
                    if (by_x != 0)
                        sum += by_y * by_x *
                               (ACC)LOAD(T, PTR(const T, a.out),
                                         plane + place_in(a.out_stride, z, y, x));
                }
            }
        }
        STORE(T, PTR(T, a.in),
              plane_of(&e, a.in_stride) + place_in(a.in_stride, e.at[0], e.at[1], e.at[2]), sum);
    }
}
