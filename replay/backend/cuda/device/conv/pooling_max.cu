/* Max pooling. */
#include "replay/backend/cuda/device/conv/pooling.h"

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
