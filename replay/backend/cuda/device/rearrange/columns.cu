/* im2col and col2im. Defines: T, ACC, I (i32 or i64). im2col copies elements by their bits. */
#include "replay/backend/cuda/device/rearrange/columns.h"

DEVICE I in_columns(const struct columns_args *a, I batch, I row, I window)
{
    return batch * (I)a->column_stride[0] + row * (I)a->column_stride[1] +
           window * (I)a->column_stride[2];
}

KERNEL(im2col, struct columns_args)
{
    const I windows = (I)(a.windows[0] * a.windows[1]), places = (I)(a.window[0] * a.window[1]);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        I window = (I)i % windows, left = (I)i / windows, place = left % places;
        I plane = left / places, batch = plane / (I)a.channels;
        I channel = plane - batch * (I)a.channels;
        I y = window / (I)a.windows[1] * (I)a.stride[0] - (I)a.padding[0] +
              place / (I)a.window[1] * (I)a.dilation[0];
        I x = window % (I)a.windows[1] * (I)a.stride[1] - (I)a.padding[1] +
              place % (I)a.window[1] * (I)a.dilation[1];
        I to = in_columns(&a, batch, channel * places + place, window);
        T v = { 0 };
        if (y >= 0 && y < (I)a.size[0] && x >= 0 && x < (I)a.size[1])
            v = PTR(const T,
                    a.image)[batch * (I)a.image_stride[0] + channel * (I)a.image_stride[1] +
                             place_in(a.image_stride, 0, y, x)];
        PTR(T, a.columns)[to] = v;
    }
}

#ifdef ACC
/* Returns the window, in one dimension, that has position `at` of the image at its position
 * `place`; -1: none. */
DEVICE I window_of(const struct columns_args *a, u32 d, I at, I place)
{
    I from = at + (I)a->padding[d] - place * (I)a->dilation[d], stride = (I)a->stride[d];
    if (from < 0 || from % stride != 0)
        return -1;
    return from / stride < (I)a->windows[d] ? from / stride : -1;
}

/* Each pixel sums its elements of the windows, in the order of its positions in them. */
KERNEL(col2im, struct columns_args)
{
    const i64 size[PLANE_DIMS] = { 1, a.size[0], a.size[1] };
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, size);
        ACC sum = 0;
        ROLLED
        for (I u = 0; u < (I)a.window[0]; u++) {
            const I y = window_of(&a, 0, e.at[1], u);
            ROLLED
            for (I v = 0; v < (I)a.window[1] && y >= 0; v++) {
                const I x = window_of(&a, 1, e.at[2], v);
                I row = (e.channel * (I)a.window[0] + u) * (I)a.window[1] + v;
                if (x >= 0)
                    sum += (ACC)LOAD(T, PTR(const T, a.columns),
                                     in_columns(&a, e.batch, row, y * (I)a.windows[1] + x));
            }
        }
        STORE(T, PTR(T, a.image),
              plane_of(&e, a.image_stride) + place_in(a.image_stride, 0, e.at[1], e.at[2]), sum);
    }
}
#endif
