/* Convolutions of one to three dimensions and their gradients, as matmuls whose right matrix is
 * gathered while it is used. Defines: T, ACC, PART: 0 to the output:  [out_group, in_group *
 * window] times the places [.., batch * out_size] 1 to the input:   [in_group, out_group * window]
 * times the places [.., batch * in_size] 2 to the weight:  [out_group, batch * out_size] times [..,
 * in_group * window] */
#include "replay/backend/cuda/device/conv/conv.h"
#include "replay/backend/cuda/device/tile.h"

struct place {
    i64 batch, at[CONV_DIMS];
    int inside;
};

struct tap { /* a channel of the group and a position in the window */
    i64 channel, at[CONV_DIMS];
    int inside;
};

DEVICE struct place place_of(i64 i, i64 n, const i64 *size)
{
    struct place p;
    p.inside = i < n;
    p.at[2] = i % size[2];
    i /= size[2];
    p.at[1] = i % size[1];
    i /= size[1];
    p.at[0] = i % size[0];
    p.batch = i / size[0];
    return p;
}

DEVICE struct tap tap_of(const struct conv_args *a, i64 i, i64 n)
{
    struct place p = place_of(i, n, a->window);
    struct tap t;
    t.inside = p.inside;
    t.channel = p.batch;
    UNROLL for (int d = 0; d < CONV_DIMS; d++)
        t.at[d] = p.at[d];
    return t;
}

DEVICE i64 element_at(const struct conv_tensor *x, i64 batch, i64 channel, const i64 *at)
{
    return batch * x->batch + channel * x->channel + at[0] * x->place[0] + at[1] * x->place[1] +
           at[2] * x->place[2];
}

DEVICE ACC weight_at(const struct conv_args *a, i64 group, i64 out_channel, const struct tap *t)
{
    return (ACC)LOAD(T, PTR(T, a->weight.p),
                     element_at(&a->weight, group * a->out_group + out_channel, t->channel, t->at));
}

/* Returns the input's element for an output position and a tap; 0 outside. */
DEVICE ACC input_at(const struct conv_args *a, i64 group, const struct place *o, const struct tap *t)
{
    i64 at[CONV_DIMS];
    int inside = o->inside && t->inside;
    UNROLL for (int d = 0; d < CONV_DIMS; d++) {
        at[d] = o->at[d] * a->stride[d] - a->padding[d] + t->at[d] * a->dilation[d];
        inside = inside && at[d] >= 0 && at[d] < a->in_size[d];
    }
    return inside ? (ACC)LOAD(T, PTR(T, a->in.p),
                              element_at(&a->in, o->batch, group * a->in_group + t->channel, at))
                  : (ACC)0;
}

/* Returns the output's element for an input position and a tap; 0 if there is none. */
DEVICE ACC output_at(const struct conv_args *a, i64 group, const struct place *i,
                     const struct tap *t)
{
    i64 at[CONV_DIMS];
    int inside = i->inside && t->inside;
    UNROLL for (int d = 0; d < CONV_DIMS; d++) {
        i64 x = i->at[d] + a->padding[d] - t->at[d] * a->dilation[d];
        at[d] = x / a->stride[d];
        inside = inside && x >= 0 && at[d] * a->stride[d] == x && at[d] < a->out_size[d];
    }
    return inside ? (ACC)LOAD(T, PTR(T, a->out.p),
                              element_at(&a->out, i->batch, group * a->out_group + t->channel, at))
                  : (ACC)0;
}

#if PART == 2
DEVICE ACC left_at(const struct conv_args *a, i64 group, i64 row, const struct place *o)
{
    return row < a->m && o->inside
               ? (ACC)LOAD(T, PTR(T, a->out.p),
                           element_at(&a->out, o->batch, group * a->out_group + row, o->at))
               : (ACC)0;
}
#else
DEVICE ACC left_at(const struct conv_args *a, i64 group, i64 row, const struct tap *t)
{
    if (row >= a->m || !t->inside)
        return (ACC)0;
#if PART == 0
    return weight_at(a, group, row, t);
#else
    struct tap turned = *t;
    turned.channel = row;
    return weight_at(a, group, t->channel, &turned);
#endif
}
#endif

DEVICE void finish(const struct conv_args *a, i64 group, i64 row, i64 column, ACC sum)
{
#if PART == 2
    struct tap t = tap_of(a, column, a->n);
    i64 to = element_at(&a->weight, group * a->out_group + row, t.channel, t.at);
    STORE(T, PTR(T, a->weight.p), to, sum);
#else
    const struct conv_tensor *x = PART == 0 ? &a->out : &a->in;
    struct place p = place_of(column, a->n, PART == 0 ? a->out_size : a->in_size);
    i64 channel = group * a->m + row;
    if (a->bias)
        sum += (ACC)LOAD(T, PTR(T, a->bias), channel);
    STORE(T, PTR(T, x->p), element_at(x, p.batch, channel, p.at), sum);
#endif
}

DEVICE void finish_or_part(const struct conv_args *a, i64 split, i64 group, i64 row, i64 column,
                           ACC sum)
{
    if (row >= a->m || column >= a->n)
        return;
    if (a->part)
        PTR(ACC, a->part)[((split * a->groups + group) * a->m + row) * a->n + column] = sum;
    else
        finish(a, group, row, column, sum);
}

/* A block computes one split of one tile of one group. */
KERNEL(conv_tile, struct conv_args)
{
    SHARED(ACC, left, DEPTH * PITCH);
    SHARED(ACC, right, DEPTH * PITCH);
    i64 block = (i64)BLOCK_X, column = block % a.column_tiles * TILE;
    block /= a.column_tiles;
    i64 row = block % a.row_tiles * TILE, group = block / a.row_tiles % a.groups;
    i64 split = block / a.row_tiles / a.groups, from = split * a.split;
    i64 until = from + a.split < a.inner ? from + a.split : a.inner;
    int y = (int)THREAD / 16 * 4, x = (int)THREAD % 16 * 4;
    int at = (int)THREAD % TILE, first = (int)THREAD / TILE;
    ACC sum[4][4];
    UNROLL for (int i = 0; i < 4; i++)
        UNROLL for (int j = 0; j < 4; j++)
            sum[i][j] = 0;
#if PART == 2
    struct tap fixed = tap_of(&a, column + at, a.n);
#else
    struct place fixed = place_of(column + at, a.n, PART == 0 ? a.out_size : a.in_size);
#endif
    ROLLED for (i64 l = from; l < until; l += DEPTH) {
        UNROLL for (int i = 0; i < DEPTH; i += 256 / TILE) {
            int d = first + i;
#if PART == 2
            struct place p = place_of(l + d, until, a.out_size);
            left[d * PITCH + at] = left_at(&a, group, row + at, &p);
            right[d * PITCH + at] = input_at(&a, group, &p, &fixed);
#else
            struct tap t = tap_of(&a, l + d, until);
            left[d * PITCH + at] = left_at(&a, group, row + at, &t);
            right[d * PITCH + at] = PART == 0 ? input_at(&a, group, &fixed, &t)
                                              : output_at(&a, group, &fixed, &t);
#endif
        }
        SYNC();
        add_products(sum, left, right, y, x);
        SYNC();
    }
    UNROLL for (int i = 0; i < 4; i++)
        UNROLL for (int j = 0; j < 4; j++)
            finish_or_part(&a, split, group, row + y + i, column + x + j, sum[i][j]);
}

/* For groups with few channels: a thread computes one split of an element. */
KERNEL(conv_element, struct conv_args)
{
    i64 total = a.splits * a.groups * a.m * a.n;
    i64 step = (i64)GRID_X * THREADS;
    ROLLED for (i64 e = (i64)BLOCK_X * THREADS + THREAD; e < total; e += step) {
        i64 column = e % a.n, row = e / a.n % a.m, group = e / a.n / a.m % a.groups;
        i64 split = e / a.n / a.m / a.groups, from = split * a.split;
        i64 until = from + a.split < a.inner ? from + a.split : a.inner;
        ACC sum = 0;
#if PART == 2
        struct tap fixed = tap_of(&a, column, a.n);
        ROLLED for (i64 l = from; l < until; l++) {
            struct place p = place_of(l, until, a.out_size);
            sum += left_at(&a, group, row, &p) * input_at(&a, group, &p, &fixed);
        }
#else
        struct place fixed = place_of(column, a.n, PART == 0 ? a.out_size : a.in_size);
        ROLLED for (i64 l = from; l < until; l++) {
            struct tap t = tap_of(&a, l, until);
            sum += left_at(&a, group, row, &t) *
                   (PART == 0 ? input_at(&a, group, &fixed, &t) : output_at(&a, group, &fixed, &t));
        }
#endif
        finish_or_part(&a, split, group, row, column, sum);
    }
}

/* Sums the splits of each element, in order. */
KERNEL(conv_sum, struct conv_args)
{
    i64 total = a.groups * a.m * a.n, step = (i64)GRID_X * THREADS;
    ROLLED for (i64 e = (i64)BLOCK_X * THREADS + THREAD; e < total; e += step) {
        ACC sum = 0;
        ROLLED for (i64 s = 0; s < a.splits; s++)
            sum += PTR(ACC, a.part)[s * total + e];
        finish(&a, e / a.n / a.m, e / a.n % a.m, e % a.n, sum);
    }
}

/* A block computes one channel. */
KERNEL(conv_bias, struct conv_bias_args)
{
    SHARED(ACC, part, 256);
    i64 n = a.batch * a.out_size[0] * a.out_size[1] * a.out_size[2];
    ACC sum = 0;
    ROLLED for (i64 i = THREAD; i < n; i += 256) {
        struct place p = place_of(i, n, a.out_size);
        sum += (ACC)LOAD(T, PTR(T, a.out.p), element_at(&a.out, p.batch, (i64)BLOCK_X, p.at));
    }
    part[THREAD] = sum;
    ROLLED for (int half = 128; half > 0; half /= 2) {
        SYNC();
        if ((int)THREAD < half)
            part[THREAD] += part[(int)THREAD + half];
    }
    if (THREAD == 0)
        STORE(T, PTR(T, a.to), (i64)BLOCK_X, part[0]);
}

KERNEL(conv_add_bias, struct conv_bias_args)
{
    i64 n = a.batch * a.channels * a.out_size[0] * a.out_size[1] * a.out_size[2];
    i64 step = (i64)GRID_X * THREADS;
    ROLLED for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < n; i += step) {
        struct place p = place_of(i, n, a.out_size);
        i64 channel = p.batch % a.channels;
        i64 at = element_at(&a.out, p.batch / a.channels, channel, p.at);
        STORE(T, PTR(T, a.out.p), at,
              (ACC)LOAD(T, PTR(T, a.out.p), at) + (ACC)LOAD(T, PTR(T, a.to), channel));
    }
}
