/* Pooling: windows of up to three dimensions over planes. Defines of its texts: T, ACC (f32, f64,
 * i64), I (i32 or i64), LOWEST. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_POOLING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_POOLING_H

#include "replay/backend/cuda/device/planes.h"

struct pool_args {
    u64 inner,
        outer;   /* tensors of the sizes in[] and out[]: forward reads inner and writes outer */
    u64 indices; /* i64, of the sizes out[]: the position of the greatest element in its plane */
    u64 offsets; /* i8: its position in its window, with padding */
    i64 n, channels; /* n: elements of the result */
    i64 in[PLANE_DIMS], out[PLANE_DIMS];
    i64 window[PLANE_DIMS], stride[PLANE_DIMS], padding[PLANE_DIMS], dilation[PLANE_DIMS];
    i64 inner_stride[PLANE_STRIDES], outer_stride[PLANE_STRIDES], index_stride[PLANE_STRIDES];
    u64 samples; /* fractional: T by batch, channel and dimension */
    i64 sample_stride[3];
    i64 divisor; /* avg: 0: the elements of the window */
    u32 adaptive, count_padding;
};

#ifdef KERNEL

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
    PTR(i8, a->offsets)
    [to] = (i8)((in_window(a, 0, e->at[0], d) * (I)a->window[1] + in_window(a, 1, e->at[1], h)) *
                    (I)a->window[2] +
                in_window(a, 2, e->at[2], w));
}

#endif
#endif
