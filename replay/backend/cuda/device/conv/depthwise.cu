/* Depthwise convolutions of one or two dimensions: each output channel reads one input channel. A
 * thread computes OUTS adjacent outputs of a channel, a strip, from inputs in its registers.
 * Defines: T, ACC, STRIP (the dimension of a strip, 1 or 2), TAPS (of the window, in that
 * dimension), OTHERS (in the other one), STEP and APART (stride and dilation in that dimension),
 * LAST (whether adjacent lanes have adjacent channels). */
#include "replay/backend/cuda/device/conv/conv.h"

enum { OUTS = DEPTHWISE_OUTS, OTHER = 3 - STRIP, SPAN = (OUTS - 1) * STEP + (TAPS - 1) * APART + 1 };
enum { WARPS = 8, WINDOW = TAPS * OTHERS };

DEVICE i64 weight_place(const struct conv_args *a, i32 channel, int other, int tap)
{
    return channel * a->weight.batch + other * a->weight.place[OTHER] +
           tap * a->weight.place[STRIP];
}

DEVICE ACC weight_of(const struct conv_args *a, const ACC *shared, i32 channel, int other, int tap)
{
#if LAST
    (void)a, (void)channel;
    return shared[(other * TAPS + tap) * WARP];
#else
    (void)shared;
    return (ACC)LOAD(T, PTR(T, a->weight.p), weight_place(a, channel, other, tap));
#endif
}

/* Computes the outputs from `first` on; `at` is their position in the other dimension. shared: the
 * channel's weights. */
DEVICE void compute_strip(const struct conv_args *a, const ACC *shared, i32 batch, i32 channel,
                          i32 first, i32 at)
{
    const T *in = PTR(T, a->in.p);
    i64 from = batch * a->in.batch + channel / (i32)a->out_group * a->in.channel;
    i32 size = (i32)a->in_size[STRIP], begin = first * STEP - (i32)a->padding[STRIP];
    ACC sum[OUTS], bias = a->bias ? (ACC)LOAD(T, PTR(T, a->bias), channel) : (ACC)0;
    UNROLL for (int o = 0; o < OUTS; o++)
        sum[o] = bias;
    ROLLED for (int other = 0; other < OTHERS; other++) {
        i32 row = at * (i32)a->stride[OTHER] - (i32)a->padding[OTHER] + other * (i32)a->dilation[OTHER];
        ACC x[SPAN];
        if (row < 0 || row >= a->in_size[OTHER])
            continue;
        UNROLL for (int i = 0; i < SPAN; i++)
            x[i] = begin + i >= 0 && begin + i < size
                       ? (ACC)LOAD(T, in, from + row * a->in.place[OTHER] +
                                              (begin + i) * a->in.place[STRIP])
                       : (ACC)0;
        UNROLL for (int tap = 0; tap < TAPS; tap++) {
            ACC w = weight_of(a, shared, channel, other, tap);
            UNROLL for (int o = 0; o < OUTS; o++)
                sum[o] += w * x[o * STEP + tap * APART];
        }
    }
    i64 to = batch * a->out.batch + channel * a->out.channel + at * a->out.place[OTHER];
    UNROLL for (int o = 0; o < OUTS; o++)
        if (first + o < a->out_size[STRIP])
            STORE(T, PTR(T, a->out.p), to + (first + o) * a->out.place[STRIP], sum[o]);
}

/* LAST: a warp has 32 channels of a strip, a block the weights of these channels. Otherwise threads
 * have adjacent positions, or strips. */
KERNEL(conv_depthwise, struct conv_args)
{
    i32 strips = (i32)(a.out_size[STRIP] + OUTS - 1) / OUTS;
    i32 inner = STRIP == 1 && !LAST ? (i32)a.out_size[OTHER] : strips;
    i32 outer = STRIP == 1 && !LAST ? strips : (i32)a.out_size[OTHER];
    i32 channels = (i32)(a.groups * a.out_group);
#if LAST
    SHARED(ACC, shared, WINDOW * WARP);
    i32 chunks = (channels + WARP - 1) / WARP, chunk = (i32)BLOCK_X % chunks * WARP;
    i32 total = (i32)a.batch * outer * inner, channel = chunk + (i32)LANE;
    ROLLED for (i32 i = (i32)THREAD; i < WINDOW * WARP; i += WARPS * WARP) {
        i32 c = i / WINDOW, tap = i % WINDOW;
        shared[tap * WARP + c] =
            chunk + c < channels ? (ACC)LOAD(T, PTR(T, a.weight.p),
                                             weight_place(&a, chunk + c, tap / TAPS, tap % TAPS))
                                 : (ACC)0;
    }
    SYNC();
    i32 step = (i32)GRID_X / chunks * WARPS;
    ROLLED for (i32 e = (i32)BLOCK_X / chunks * WARPS + (i32)THREAD / WARP; e < total; e += step)
        if (channel < channels)
            compute_strip(&a, shared + LANE, e / inner / outer, channel, e % inner * OUTS,
                          e / inner % outer);
#else
    i32 total = (i32)a.batch * channels * outer * inner, step = (i32)(GRID_X * THREADS);
    ROLLED for (i32 e = (i32)(BLOCK_X * THREADS + THREAD); e < total; e += step) {
        i32 i = e % inner, o = e / inner % outer, plane = e / inner / outer;
        compute_strip(&a, 0, plane / channels, plane % channels, (STRIP == 1 ? o : i) * OUTS,
                      STRIP == 1 ? i : o);
    }
#endif
}
