/* Scaled dot product attention of f32 on tensor cores. A factor is the sum of two TF32 numbers, and
 * three of their four products are added, which keeps the precision of f32. A block of four warps
 * computes 64 rows of one head, 16 for each warp, and iterates over the other side's rows, OTHERS at
 * a time. Defines: TB (bias; BIAS 0: none, 1: added, 2: a boolean mask), DEPTHS (columns, a multiple
 * of 32), OTHERS (a multiple of 16; of 32 up to 64 columns), MOVE (bytes that are copied at once, 16
 * or 4), ONLY_name (for the program's kernel: NVRTC needs half a second and more for each). */
#define T   f32
#define ACC f32
#include "replay/backend/cuda/device/attention/score.h"

enum { THREADS_OF_BLOCK = 128, TILE = 64, PITCH = DEPTHS + 4 };
enum { BLOCKS = OTHERS / 8, AT_ONCE = DEPTHS > 64 ? 2 : 4 };
#ifdef ONLY_attention_tf32_key_gradient
enum { TURNS = 2 }; /* in one, it spills */
#else
enum { TURNS = DEPTHS > 64 ? 1 : BIAS ? 4 : 2 }; /* with a bias, four take no longer than one */
#endif

#define LOG2_E 1.4426950408889634f

/* Loads `tile` rows of one head from a row on; 0 outside. A thread's next elements are STEP further
 * on: rolled loops that add strides are small, and NVRTC's time grows with a kernel's size. */
DEVICE void load_rows(f32 *to, int tile, const struct attention_tensor *x, i64 batch, i64 head, i64 row,
                      i64 rows, i64 columns)
{
    enum { EACH = MOVE / (int)sizeof(f32), STEP = THREADS_OF_BLOCK * EACH };
    enum { ROWS = STEP / DEPTHS, COLUMNS = STEP % DEPTHS };
    const f32 *from = PTR(const f32, x->p);
    int r = (int)THREAD * EACH / DEPTHS, c = (int)THREAD * EACH % DEPTHS;
    i64 at = element_at(x, batch, head, row + r, c);
    ROLLED while (r < tile) {
        b8 is = r < rows - row && c < columns;
#if MOVE == 16
        COPY_ASYNC_16(to + r * PITCH + c, from + (is ? at : 0), is);
#else
        COPY_ASYNC_4(to + r * PITCH + c, from + (is ? at : 0), is);
#endif
        r += ROWS;
        c += COLUMNS;
        at += ROWS * x->row + COLUMNS * x->column;
        if (COLUMNS && c >= DEPTHS) {
            r++;
            c -= DEPTHS;
            at += x->row - DEPTHS * x->column;
        }
    }
}

/* x = big + small; big is rounded to TF32. */
DEVICE void split(u32 *big, u32 *small, f32 x)
{
    *big = (bits_of_f32(x) + 0x1000u) & 0xffffe000u;
    *small = bits_of_f32(x - f32_of_bits(*big));
}

/* Adds the product of a and AT_ONCE other matrices, of which a lane has x[i][0] and x[i][1]. */
DEVICE void multiply(f32 (*sum)[4], const f32 *a, f32 (*x)[2])
{
    u32 big[4], small[4], other_big[AT_ONCE][2], other_small[AT_ONCE][2];
    UNROLL for (int i = 0; i < 4; i++)
        split(&big[i], &small[i], a[i]);
    UNROLL for (int i = 0; i < AT_ONCE; i++)
        UNROLL for (int j = 0; j < 2; j++)
            split(&other_big[i][j], &other_small[i][j], x[i][j]);
    UNROLL for (int i = 0; i < AT_ONCE; i++)
        MULTIPLY_TF32(sum[i], small, other_big[i]);
    UNROLL for (int i = 0; i < AT_ONCE; i++)
        MULTIPLY_TF32(sum[i], big, other_small[i]);
    UNROLL for (int i = 0; i < AT_ONCE; i++)
        MULTIPLY_TF32(sum[i], big, other_big[i]);
}

/* sum = the warp's rows times the other rows, over all columns. */
DEVICE void multiply_rows(f32 (*sum)[4], const f32 *rows, const f32 *others)
{
    int g = (int)LANE / 4, t = (int)LANE % 4;
    rows += ((int)THREAD / WARP * 16 + g) * PITCH + t;
    others += g * PITCH + t;
    UNROLL for (int b = 0; b < BLOCKS; b++)
        UNROLL for (int i = 0; i < 4; i++)
            sum[b][i] = 0;
    ROLLED for (int c = 0; c < DEPTHS; c += 8) {
        f32 a[4] = { rows[c], rows[8 * PITCH + c], rows[c + 4], rows[8 * PITCH + c + 4] };
        UNROLL for (int b = 0; b < BLOCKS; b += AT_ONCE) {
            f32 x[AT_ONCE][2];
            UNROLL for (int i = 0; i < AT_ONCE; i++) {
                x[i][0] = others[(b + i) * 8 * PITCH + c];
                x[i][1] = others[(b + i) * 8 * PITCH + c + 4];
            }
            multiply(sum + b, a, x);
        }
    }
}

/* Adds weights [16][OTHERS] times OTHERS rows to to [16][DEPTHS]. A column of the weights is
 * multiplied where a lane has it: both factors are in the same order. Tensor cores round sums
 * towards 0, which adds up; so each product has sums of its own, which are added with rounding to
 * nearest. The rows are multiplied in TURNS, since NVRTC's time grows with the unrolled code: each
 * turn's weights come first, and after the last turn all are where they were. More turns take longer
 * on the device (results/backend.md). */
DEVICE void add_weighted(f32 (*to)[4], f32 (*weights)[4], const f32 *others)
{
    enum { PART = DEPTHS == 64 ? 8 : DEPTHS > 96 ? 2 : 4 }; /* blocks of columns */
    enum { EACH = BLOCKS / TURNS };                         /* blocks of rows in a turn */
    int g = (int)LANE / 4, t = (int)LANE % 4;
    others += 2 * t * PITCH + g;
    UNROLL for (int part = 0; part < DEPTHS / 8; part += PART) {
        f32 sum[PART][4];
        UNROLL for (int c = 0; c < PART; c++)
            UNROLL for (int i = 0; i < 4; i++)
                sum[c][i] = 0;
        ROLLED for (int turn = 0; turn < TURNS; turn++) {
            const f32 *rows = others + turn * EACH * 8 * PITCH;
            UNROLL for (int b = 0; b < EACH; b++) {
                f32 a[4] = { weights[b][0], weights[b][2], weights[b][1], weights[b][3] };
                UNROLL for (int c = 0; c < PART; c += AT_ONCE) {
                    f32 x[AT_ONCE][2];
                    UNROLL for (int i = 0; i < AT_ONCE; i++) {
                        x[i][0] = rows[b * 8 * PITCH + (part + c + i) * 8];
                        x[i][1] = rows[b * 8 * PITCH + PITCH + (part + c + i) * 8];
                    }
                    multiply(sum + c, a, x);
                }
            }
            UNROLL for (int b = 0; b < EACH; b++)
                UNROLL for (int i = 0; i < 4; i++) {
                    f32 first = weights[b][i];
                    UNROLL for (int next = b + EACH; next < BLOCKS; next += EACH)
                        weights[next - EACH][i] = weights[next][i];
                    weights[BLOCKS - EACH + b][i] = first;
                }
        }
        UNROLL for (int c = 0; c < PART; c++)
            UNROLL for (int i = 0; i < 4; i++)
                to[part + c][i] += sum[c][i];
    }
}

/* The four lanes that have a row. */
DEVICE f32 most_of_row(f32 x)
{
    UNROLL for (u32 mask = 1; mask < 4; mask *= 2) {
        f32 y = SHUFFLE_XOR_f32(x, mask);
        x = y > x ? y : x;
    }
    return x;
}

DEVICE f32 sum_of_row(f32 x)
{
    UNROLL for (u32 mask = 1; mask < 4; mask *= 2)
        x += SHUFFLE_XOR_f32(x, mask);
    return x;
}

DEVICE void store_rows(const struct attention_tensor *to, i64 batch, i64 head, i64 row, i64 rows,
                       i64 columns, f32 (*x)[4], f32 first, f32 second)
{
    int column = (int)LANE % 4 * 2;
    UNROLL for (int r = 0; r < 2; r++) {
        f32 *at = PTR(f32, to->p) + element_at(to, batch, head, row + r * 8, column);
        i64 left = row + r * 8 < rows ? columns - column : 0;
        UNROLL for (int c = 0; c < DEPTHS; c += 8)
            UNROLL for (int i = 0; i < 2; i++)
                if (c + i < left)
                    at[(c + i) * to->column] = x[c / 8][2 * r + i] * (r == 0 ? first : second);
    }
}

/* Makes scores of products; i, j: of the lane's first. `whole`: of a tile without keys that do not
 * count. */
DEVICE void finish_scores(const struct attention_args *a, i64 batch, i64 head, i64 i, i64 j,
                          b8 whole, f32 (*score)[4])
{
    f32 scale = (f32)a->scale;
    if (whole && !BIAS) {
        UNROLL for (int b = 0; b < BLOCKS; b++)
            UNROLL for (int e = 0; e < 4; e++)
                score[b][e] *= scale;
        return;
    }
    UNROLL for (int r = 0; r < 2; r++) {
        i64 row = i + r * 8, left = (a->causal && row + 1 < a->m ? row + 1 : a->m) - j;
        i64 bias = element_at(&a->bias, batch, head, row, j);
        left = row < a->n ? left : 0;
        UNROLL for (int k = 0; k < OTHERS; k += 8)
            UNROLL for (int e = 0; e < 2; e++) {
                f32 *x = &score[k / 8][2 * r + e];
                *x = k + e < left ? biased(a, bias + (k + e) * a->bias.column, *x * scale) : NEVER;
            }
    }
}

#ifdef ONLY_attention_tf32

KERNEL_OF(attention_tf32, struct attention_args, THREADS_OF_BLOCK)
{
    DYNAMIC_SHARED(f32, own);
    f32 *keys = own + TILE * PITCH, *values = keys + OTHERS * PITCH;
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * TILE, head = block / a.tiles;
    i64 batch = head / a.heads, key_head = head % a.heads * a.key_heads / a.heads;
    i64 row = tile + (int)THREAD / WARP * 16 + (int)LANE / 4, last = a.m;
    f32 out[DEPTHS / 8][4], most[2] = { NEVER, NEVER }, total[2] = { 0, 0 };
    head %= a.heads;
    if (a.causal && tile + TILE < last)
        last = tile + TILE;
    UNROLL for (int c = 0; c < DEPTHS / 8; c++)
        UNROLL for (int i = 0; i < 4; i++)
            out[c][i] = 0;
    load_rows(own, TILE, &a.q, batch, head, tile, a.n, a.depth);
    load_rows(keys, OTHERS, &a.k, batch, key_head, 0, last, a.depth);
    ASYNC_COMMIT();
    load_rows(values, OTHERS, &a.v, batch, key_head, 0, last, a.value_depth);
    ASYNC_COMMIT();
    ROLLED for (i64 j = 0; j < last; j += OTHERS) {
        f32 score[BLOCKS][4];
        b8 more = j + OTHERS < last;
        ASYNC_WAIT(1);
        SYNC();
        multiply_rows(score, own, keys);
        SYNC();
        if (more)
            load_rows(keys, OTHERS, &a.k, batch, key_head, j + OTHERS, last, a.depth);
        ASYNC_COMMIT();
        finish_scores(&a, batch, head, row, j + (int)LANE % 4 * 2,
                      j + OTHERS <= a.m && (!a.causal || j + OTHERS <= tile), score);
        UNROLL for (int r = 0; r < 2; r++) {
            f32 next = most[r];
            UNROLL for (int b = 0; b < BLOCKS; b++)
                UNROLL for (int i = 0; i < 2; i++)
                    next = score[b][2 * r + i] > next ? score[b][2 * r + i] : next;
            next = most_of_row(next);
            f32 factor = exp2f((most[r] - next) * LOG2_E);
            most[r] = next;
            total[r] *= factor;
            UNROLL for (int b = 0; b < BLOCKS; b++)
                UNROLL for (int i = 0; i < 2; i++) {
                    f32 *x = &score[b][2 * r + i];
                    *x = *x == NEVER ? 0 : exp2f((*x - next) * LOG2_E);
                    total[r] += *x;
                }
            UNROLL for (int c = 0; c < DEPTHS / 8; c++)
                UNROLL for (int i = 0; i < 2; i++)
                    out[c][2 * r + i] *= factor;
        }
        ASYNC_WAIT(1);
        SYNC();
        add_weighted(out, score, values);
        SYNC();
        if (more)
            load_rows(values, OTHERS, &a.v, batch, key_head, j + OTHERS, last, a.value_depth);
        ASYNC_COMMIT();
    }
    ASYNC_WAIT(0);
    f32 factor[2];
    UNROLL for (int r = 0; r < 2; r++) {
        i64 i = row + 8 * r;
        total[r] = sum_of_row(total[r]);
        factor[r] = total[r] == 0 ? 0 : 1 / total[r];
        if (LANE % 4)
            continue;
        f32 logarithm = total[r] == 0 ? -INFINITY : most[r] + logf(total[r]);
        if (a.logarithms && i < a.n)
            PTR(f32, a.logarithms)[(batch * a.heads + head) * a.n + i] = logarithm;
        if (a.given.p && i < a.padded)
            STORE(TL, PTR(TL, a.given.p), element_at(&a.given, batch, head, i, 0),
                  i < a.n ? logarithm : 0);
    }
    store_rows(&a.out, batch, head, row, a.n, a.value_depth, out, factor[0], factor[1]);
}

#else /* DEPTHS <= 128: more sums than registers otherwise */

/* Returns the weight of a score. `logarithm`: the query's. The difference comes first: a product of
 * each would be rounded, which counts where a finite mask makes them large. */
DEVICE f32 weight_of(f32 score, f32 logarithm)
{
    return score == NEVER ? 0 : exp2f((score - logarithm) * LOG2_E);
}

/* Reads what the forward left for a query: the logarithm and the sum. */
DEVICE void read_row(const struct attention_args *a, i64 batch, i64 head, i64 i, f32 *logarithm,
                     f32 *sum)
{
    i64 at = (batch * a->heads + head) * a->n + i;
    b8 is = i < a->n;
    *logarithm = is ? PTR(f32, a->logarithms)[at] : 0;
    *sum = is ? PTR(f32, a->sums)[at] : 0;
}

#ifdef ONLY_attention_tf32_query_gradient

/* Computes the gradients of the queries and the bias. */
KERNEL_OF(attention_tf32_query_gradient, struct attention_args, THREADS_OF_BLOCK)
{
    DYNAMIC_SHARED(f32, own);
    f32 *slopes = own + TILE * PITCH, *keys = slopes + TILE * PITCH, *values = keys + OTHERS * PITCH;
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * TILE, head = block / a.tiles;
    i64 batch = head / a.heads, key_head = head % a.heads * a.key_heads / a.heads;
    i64 row = tile + (int)THREAD / WARP * 16 + (int)LANE / 4, last = a.m;
    f32 out[DEPTHS / 8][4];
    head %= a.heads;
    if (a.causal && !a.grad_bias.p && tile + TILE < last)
        last = tile + TILE;
    UNROLL for (int c = 0; c < DEPTHS / 8; c++)
        UNROLL for (int i = 0; i < 4; i++)
            out[c][i] = 0;
    load_rows(own, TILE, &a.q, batch, head, tile, a.n, a.depth);
    load_rows(slopes, TILE, &a.grad_out, batch, head, tile, a.n, a.value_depth);
    f32 logarithm[2], sum[2];
    UNROLL for (int r = 0; r < 2; r++)
        read_row(&a, batch, head, row + 8 * r, &logarithm[r], &sum[r]);
    ROLLED for (i64 j = 0; j < last; j += OTHERS) {
        f32 score[BLOCKS][4], slope[BLOCKS][4];
        load_rows(keys, OTHERS, &a.k, batch, key_head, j, last, a.depth);
        load_rows(values, OTHERS, &a.v, batch, key_head, j, last, a.value_depth);
        ASYNC_COMMIT();
        ASYNC_WAIT(0);
        SYNC();
        multiply_rows(score, own, keys);
        multiply_rows(slope, slopes, values);
        finish_scores(&a, batch, head, row, j + (int)LANE % 4 * 2,
                      j + OTHERS <= a.m && (!a.causal || j + OTHERS <= tile), score);
        UNROLL for (int b = 0; b < BLOCKS; b++)
            UNROLL for (int e = 0; e < 4; e++) {
                f32 s = weight_of(score[b][e], logarithm[e / 2]) * (slope[b][e] - sum[e / 2]);
#if BIAS
                i64 i = row + e / 2 * 8, key = j + b * 8 + (int)LANE % 4 * 2 + e % 2;
                if (a.grad_bias.p && i < a.n && key < a.m)
                    PTR(f32, a.grad_bias.p)[element_at(&a.grad_bias, batch, head, i, key)] = s;
#endif
                score[b][e] = s;
            }
        add_weighted(out, score, keys);
        SYNC();
    }
    ASYNC_WAIT(0);
    if (a.grad_q.p)
        store_rows(&a.grad_q, batch, head, row, a.n, a.depth, out, (f32)a.scale, (f32)a.scale);
}

#else

/* Computes the gradients of the keys and values: rows are keys, the others are queries of all heads
 * that use the key. */
KERNEL_OF(attention_tf32_key_gradient, struct attention_args, THREADS_OF_BLOCK)
{
    DYNAMIC_SHARED(f32, keys);
    f32 *values = keys + TILE * PITCH, *queries = values + TILE * PITCH,
        *slopes = queries + OTHERS * PITCH;
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * TILE, key_head = block / a.tiles;
    i64 batch = key_head / a.key_heads;
    i64 row = tile + (int)THREAD / WARP * 16 + (int)LANE / 4;
    f32 to_k[DEPTHS / 8][4], to_v[DEPTHS / 8][4];
    UNROLL for (int c = 0; c < DEPTHS / 8; c++)
        UNROLL for (int i = 0; i < 4; i++)
            to_k[c][i] = to_v[c][i] = 0;
    key_head %= a.key_heads;
    load_rows(keys, TILE, &a.k, batch, key_head, tile, a.m, a.depth);
    load_rows(values, TILE, &a.v, batch, key_head, tile, a.m, a.value_depth);
    ROLLED for (i64 head = 0; head < a.heads; head++) {
        if (head * a.key_heads / a.heads != key_head)
            continue;
        ROLLED for (i64 first = a.causal ? tile : 0; first < a.n; first += OTHERS) {
            f32 score[BLOCKS][4], slope[BLOCKS][4];
            load_rows(queries, OTHERS, &a.q, batch, head, first, a.n, a.depth);
            load_rows(slopes, OTHERS, &a.grad_out, batch, head, first, a.n, a.value_depth);
            ASYNC_COMMIT();
            ASYNC_WAIT(0);
            SYNC();
            multiply_rows(score, keys, queries);
            multiply_rows(slope, values, slopes);
            i64 column = first + (int)LANE % 4 * 2;
            b8 whole = first + OTHERS <= a.n && (!a.causal || first >= tile + TILE);
            UNROLL for (int b = 0; b < BLOCKS; b++)
                UNROLL for (int i = 0; i < 2; i++) {
                    i64 query = column + b * 8 + i;
                    f32 logarithm, sum;
                    read_row(&a, batch, head, query, &logarithm, &sum);
                    UNROLL for (int e = i; e < 4; e += 2) {
                        f32 x = whole && !BIAS ? score[b][e] * (f32)a.scale
                                               : score_of(&a, a.n, a.m, batch, head, query,
                                                          row + e / 2 * 8, score[b][e]);
                        score[b][e] = weight_of(x, logarithm);
                        slope[b][e] = score[b][e] * (slope[b][e] - sum);
                    }
                }
            add_weighted(to_v, score, slopes);
            add_weighted(to_k, slope, queries);
            SYNC();
        }
    }
    ASYNC_WAIT(0);
    if (a.grad_k.p)
        store_rows(&a.grad_k, batch, key_head, row, a.m, a.depth, to_k, (f32)a.scale,
                   (f32)a.scale);
    if (a.grad_v.p)
        store_rows(&a.grad_v, batch, key_head, row, a.m, a.value_depth, to_v, 1, 1);
}

#endif

#endif
