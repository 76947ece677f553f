/* Average pooling. */
#include "replay/backend/cuda/device/conv/pooling.h"

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
