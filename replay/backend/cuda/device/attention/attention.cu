/* Scaled dot product attention without the matrix of scores: a block computes 8 * ROWS rows of one
 * head and iterates over the other side's rows, 32 at a time, one for each lane. Defines: T, ACC,
 * TB (bias; BIAS 0: none, 1: added, 2: a boolean mask), TO (out), TL (given logarithms), EXP, LOG,
 * DEPTHS (columns, a multiple of 64), ROWS (of a warp), X (bounds of sequences; SEQUENCES 0:
 * none), ONLY_name (for the program's kernel). */
#include "replay/backend/cuda/device/attention/score.h"

enum { LANES = 32, WARPS = 8, CHUNK = 64, PITCH = CHUNK + 1 };

/* Loads [rows, CHUNK] of one head from a row and a column on; 0 outside. */
DEVICE void load_rows(ACC *to, int pitch, int rows, const struct attention_tensor *x, i64 batch,
                      i64 head, i64 row, i64 n, i64 column, i64 columns)
{
    ROLLED for (int e = (int)THREAD; e < rows * CHUNK; e += LANES * WARPS) {
        i64 r = row + e / CHUNK, c = column + e % CHUNK;
        to[e / CHUNK * pitch + e % CHUNK] =
            r < n && c < columns
                ? (ACC)LOAD(T, PTR(T, x->p), element_at(x, batch, head, r, c))
                : (ACC)0;
    }
}

/* Adds the warp's row r times the lane's row to sum[r]. */
DEVICE void multiply_rows(ACC *sum, const ACC *rows, const ACC *lanes, int warp, int lane)
{
    ROLLED for (int c = 0; c < CHUNK; c += 8)
        UNROLL for (int d = 0; d < 8; d++) {
            ACC y = lanes[lane * PITCH + c + d];
            UNROLL for (int r = 0; r < ROWS; r++)
                sum[r] += rows[(warp * ROWS + r) * CHUNK + c + d] * y;
        }
}

DEVICE ACC most_of_warp(ACC x)
{
    UNROLL for (int mask = LANES / 2; mask > 0; mask /= 2) {
        ACC y = CAT(SHUFFLE_XOR_, ACC)(x, mask);
        x = y > x ? y : x;
    }
    return x;
}

DEVICE ACC sum_of_warp(ACC x)
{
    UNROLL for (int mask = LANES / 2; mask > 0; mask /= 2)
        x += CAT(SHUFFLE_XOR_, ACC)(x, mask);
    return x;
}

/* Adds the weights of one chunk times its rows to a result: to[r][lane + ...]. */
DEVICE void add_weighted(ACC *to0, ACC *to1, const ACC *weights, const ACC *rows, int warp, int lane)
{
    ROLLED for (int j = 0; j < LANES; j++) {
        ACC x = rows[j * PITCH + lane], y = rows[j * PITCH + LANES + lane];
        UNROLL for (int r = 0; r < ROWS; r++) {
            ACC w = weights[(warp * ROWS + r) * (LANES + 1) + j];
            to0[r * (DEPTHS / LANES)] += w * x;
            to1[r * (DEPTHS / LANES)] += w * y;
        }
    }
}

/* Adds the product of the warp's row r of one head and the lane's row of another to sum[r], over
 * all columns. */
DEVICE void multiply_heads(ACC *sum, ACC *own, ACC *other, i64 batch, i64 columns,
                           const struct attention_tensor *x, i64 x_head, i64 x_row, i64 x_rows,
                           const struct attention_tensor *y, i64 y_head, i64 y_row, i64 y_rows)
{
    ROLLED for (i64 c = 0; c < columns; c += CHUNK) {
        load_rows(own, CHUNK, WARPS * ROWS, x, batch, x_head, x_row, x_rows, c, columns);
        load_rows(other, PITCH, LANES, y, batch, y_head, y_row, y_rows, c, columns);
        SYNC();
        multiply_rows(sum, own, other, (int)THREAD / LANES, (int)THREAD % LANES);
        SYNC();
    }
}

/* Adds the weights of the warp's rows times LANES rows of a head to sum, for all columns. */
DEVICE void add_head(ACC *sum, const ACC *weights, ACC *other, const struct attention_tensor *x,
                     i64 batch, i64 head, i64 row, i64 rows, i64 columns)
{
    UNROLL for (int c = 0; c < DEPTHS / CHUNK; c++) {
        load_rows(other, PITCH, LANES, x, batch, head, row, rows, c * CHUNK, columns);
        SYNC();
        add_weighted(sum + 2 * c, sum + 2 * c + 1, weights, other, (int)THREAD / LANES,
                     (int)THREAD % LANES);
        SYNC();
    }
}

struct side {
    struct attention_tensor x;
    i64 rows;
};

#if SEQUENCES
DEVICE i64 bound_at(u64 bounds, i64 sequence)
{
    return (i64)LOAD(X, PTR(const X, bounds), sequence);
}

/* Limits the rows of both sides to a sequence; rows outside of all sequences are skipped. */
DEVICE void take_sequence(const struct attention_args *a, i64 sequence, struct side *q,
                          struct side *keys, struct side *values, struct side *out)
{
    i64 q0 = bound_at(a->bounds_q, sequence), q1 = bound_at(a->bounds_q, sequence + 1);
    i64 k0 = bound_at(a->bounds_k, sequence), k1 = bound_at(a->bounds_k, sequence + 1);
    b8 outside = q0 < 0 || q1 > a->n || k0 < 0 || k1 > a->m || q1 - q0 > a->tiles * WARPS * ROWS;
    if (outside) {
        REPORT(a->error, sequence);
        q0 = q1 = k0 = k1 = 0;
    }
    q->x.p += (u64)(q0 * q->x.row) * sizeof(T);
    out->x.p += (u64)(q0 * out->x.row) * sizeof(TO);
    keys->x.p += (u64)(k0 * keys->x.row) * sizeof(T);
    values->x.p += (u64)(k0 * values->x.row) * sizeof(T);
    q->rows = out->rows = MAX(q1 - q0, 0);
    keys->rows = values->rows = MAX(k1 - k0, 0);
}
#endif

#ifdef ONLY_attention_logarithms

/* Copies contiguous logarithms to the result for them; its further rows are 0. */
KERNEL(attention_logarithms, struct attention_args)
{
    i64 rows = WARPS * ROWS, head = BLOCK_X / a.tiles, first = BLOCK_X % a.tiles * rows;
    for (i64 i = first + THREAD; i < first + rows && i < a.padded; i += LANES * WARPS) {
        ACC x = i < a.n ? PTR(ACC, a.logarithms)[head * a.n + i] : (ACC)0;
        STORE(TL, PTR(TL, a.given.p),
              element_at(&a.given, head / a.heads, head % a.heads, i, 0), x);
    }
}

#elif defined ONLY_attention

KERNEL(attention, struct attention_args)
{
    SHARED(ACC, own, WARPS * ROWS * CHUNK);
    SHARED(ACC, other, LANES * PITCH);
    SHARED(ACC, weights, WARPS * ROWS * (LANES + 1));
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * (WARPS * ROWS), head = block / a.tiles;
    i64 batch = head / a.heads, key_head = head % a.heads * a.key_heads / a.heads;
    int warp = (int)THREAD / LANES, lane = (int)THREAD % LANES;
    struct side q = { a.q, a.n }, keys = { a.k, a.m }, values = { a.v, a.m }, out = { a.out, a.n };
#if SEQUENCES
    take_sequence(&a, batch, &q, &keys, &values, &out);
    batch = 0;
#endif
    i64 first = tile + warp * ROWS, last = keys.rows;
    ACC sum[ROWS * (DEPTHS / LANES)], most[ROWS], total[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++) {
        most[r] = NEVER;
        total[r] = 0;
    }
    UNROLL for (int i = 0; i < ROWS * (DEPTHS / LANES); i++)
        sum[i] = 0;
    head %= a.heads;
    if (a.causal && tile + WARPS * ROWS < last)
        last = tile + WARPS * ROWS;
    ROLLED for (i64 j = 0; j < last; j += LANES) {
        ACC score[ROWS];
        UNROLL for (int r = 0; r < ROWS; r++)
            score[r] = 0;
        multiply_heads(score, own, other, batch, a.depth, &q.x, head, tile, q.rows,
                       &keys.x, key_head, j, keys.rows);
        UNROLL for (int r = 0; r < ROWS; r++) {
            score[r] = score_of(&a, q.rows, keys.rows, batch, head, first + r, j + lane, score[r]);
            ACC next = most_of_warp(score[r]);
            next = next > most[r] ? next : most[r];
            ACC factor = EXP(most[r] - next);
            ACC weight = score[r] == NEVER ? (ACC)0 : EXP(score[r] - next);
            total[r] = total[r] * factor + sum_of_warp(weight);
            most[r] = next;
            weights[(warp * ROWS + r) * (LANES + 1) + lane] = weight;
            UNROLL for (int i = 0; i < DEPTHS / LANES; i++)
                sum[r * (DEPTHS / LANES) + i] *= factor;
        }
        add_head(sum, weights, other, &values.x, batch, key_head, j, keys.rows, a.value_depth);
    }
    UNROLL for (int r = 0; r < ROWS; r++) {
        i64 i = first + r;
        if (i >= q.rows) {
            if (lane == 0 && a.given.p && i < a.padded)
                STORE(TL, PTR(TL, a.given.p), element_at(&a.given, batch, head, i, 0), 0);
            continue;
        }
        UNROLL for (int c = 0; c < DEPTHS / LANES; c++)
            if (c * LANES + lane < a.value_depth)
                STORE(TO, PTR(TO, out.x.p),
                      element_at(&out.x, batch, head, i, c * LANES + lane),
                      total[r] == 0 ? (ACC)0 : sum[r * (DEPTHS / LANES) + c] / total[r]);
        ACC logarithm = total[r] == 0 ? -INFINITY : most[r] + LOG(total[r]);
        if (lane == 0 && a.logarithms)
            PTR(ACC, a.logarithms)[(batch * a.heads + head) * a.n + i] = logarithm;
        if (lane == 0 && a.given.p)
            STORE(TL, PTR(TL, a.given.p), element_at(&a.given, batch, head, i, 0), logarithm);
    }
}

#elif defined ONLY_attention_sums

/* Computes sums[i]: the output's row times its gradient. Copies logarithms that are given. */
KERNEL(attention_sums, struct attention_args)
{
    i64 block = (i64)BLOCK_X, head = block / a.tiles, batch = head / a.heads;
    int warp = (int)THREAD / LANES, lane = (int)THREAD % LANES;
    i64 first = block % a.tiles * (WARPS * ROWS) + warp * ROWS;
    head %= a.heads;
    UNROLL for (int r = 0; r < ROWS; r++) {
        i64 i = first + r;
        ACC sum = 0;
        if (i < a.n)
            ROLLED for (i64 c = lane; c < a.value_depth; c += LANES)
                sum += (ACC)LOAD(T, PTR(T, a.grad_out.p), element_at(&a.grad_out, batch, head, i, c)) *
                       PTR(ACC, a.out.p)[element_at(&a.out, batch, head, i, c)];
        sum = sum_of_warp(sum);
        if (lane != 0 || i >= a.n)
            continue;
        PTR(ACC, a.sums)[(batch * a.heads + head) * a.n + i] = sum;
        if (a.given.p)
            PTR(ACC, a.logarithms)[(batch * a.heads + head) * a.n + i] =
                (ACC)LOAD(TL, PTR(TL, a.given.p), element_at(&a.given, batch, head, i, 0));
    }
}

#else

/* Returns the weight of a key for a query. */
DEVICE ACC weight_of(const struct attention_args *a, i64 batch, i64 head, i64 i, i64 j, ACC dot)
{
    ACC score = score_of(a, a->n, a->m, batch, head, i, j, dot);
    return score == NEVER ? (ACC)0
                          : EXP(score - PTR(ACC, a->logarithms)[(batch * a->heads + head) * a->n + i]);
}

#ifdef ONLY_attention_query_gradient

/* Computes the gradients of the queries and the bias. */
KERNEL(attention_query_gradient, struct attention_args)
{
    SHARED(ACC, own, WARPS * ROWS * CHUNK);
    SHARED(ACC, other, LANES * PITCH);
    SHARED(ACC, weights, WARPS * ROWS * (LANES + 1));
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * (WARPS * ROWS), head = block / a.tiles;
    i64 batch = head / a.heads, key_head = head % a.heads * a.key_heads / a.heads;
    int warp = (int)THREAD / LANES, lane = (int)THREAD % LANES;
    i64 first = tile + warp * ROWS;
    ACC sum[ROWS * (DEPTHS / LANES)];
    UNROLL for (int i = 0; i < ROWS * (DEPTHS / LANES); i++)
        sum[i] = 0;
    head %= a.heads;
    ROLLED for (i64 j = 0; j < a.m; j += LANES) {
        ACC score[ROWS], slope[ROWS];
        UNROLL for (int r = 0; r < ROWS; r++)
            score[r] = slope[r] = 0;
        multiply_heads(score, own, other, batch, a.depth, &a.q, head, tile, a.n,
                       &a.k, key_head, j, a.m);
        multiply_heads(slope, own, other, batch, a.value_depth, &a.grad_out, head, tile, a.n,
                       &a.v, key_head, j, a.m);
        UNROLL for (int r = 0; r < ROWS; r++) {
            i64 i = first + r;
            ACC s = 0;
            if (i < a.n && j + lane < a.m) {
                s = weight_of(&a, batch, head, i, j + lane, score[r]) *
                    (slope[r] - PTR(ACC, a.sums)[(batch * a.heads + head) * a.n + i]);
#if BIAS
                if (a.grad_bias.p)
                    STORE(T, PTR(T, a.grad_bias.p),
                          element_at(&a.grad_bias, batch, head, i, j + lane), s);
#endif
            }
            weights[(warp * ROWS + r) * (LANES + 1) + lane] = s * (ACC)a.scale;
        }
        add_head(sum, weights, other, &a.k, batch, key_head, j, a.m, a.depth);
    }
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int c = 0; c < DEPTHS / LANES; c++)
            if (first + r < a.n && c * LANES + lane < a.depth && a.grad_q.p)
                STORE(T, PTR(T, a.grad_q.p),
                      element_at(&a.grad_q, batch, head, first + r, c * LANES + lane),
                      sum[r * (DEPTHS / LANES) + c]);
}

#else

/* Computes the gradients of the keys and values: rows are keys, lanes are queries of all heads that
 * use the key. */
KERNEL(attention_key_gradient, struct attention_args)
{
    SHARED(ACC, own, WARPS * ROWS * CHUNK);
    SHARED(ACC, other, LANES * PITCH);
    SHARED(ACC, weights, WARPS * ROWS * (LANES + 1));
    SHARED(ACC, slopes, WARPS * ROWS * (LANES + 1));
    i64 block = (i64)BLOCK_X, tile = block % a.tiles * (WARPS * ROWS), key_head = block / a.tiles;
    i64 batch = key_head / a.key_heads;
    int warp = (int)THREAD / LANES, lane = (int)THREAD % LANES;
    i64 first = tile + warp * ROWS;
    ACC to_k[ROWS * (DEPTHS / LANES)], to_v[ROWS * (DEPTHS / LANES)];
    UNROLL for (int i = 0; i < ROWS * (DEPTHS / LANES); i++)
        to_k[i] = to_v[i] = 0;
    key_head %= a.key_heads;
    ROLLED for (i64 head = 0; head < a.heads; head++) {
        if (head * a.key_heads / a.heads != key_head)
            continue;
        ROLLED for (i64 i = 0; i < a.n; i += LANES) {
            ACC score[ROWS], slope[ROWS];
            UNROLL for (int r = 0; r < ROWS; r++)
                score[r] = slope[r] = 0;
            multiply_heads(score, own, other, batch, a.depth, &a.k, key_head, tile, a.m,
                           &a.q, head, i, a.n);
            multiply_heads(slope, own, other, batch, a.value_depth, &a.v, key_head, tile, a.m,
                           &a.grad_out, head, i, a.n);
            UNROLL for (int r = 0; r < ROWS; r++) {
                i64 at = (warp * ROWS + r) * (LANES + 1) + lane;
                ACC weight = 0, s = 0;
                if (i + lane < a.n && first + r < a.m) {
                    weight = weight_of(&a, batch, head, i + lane, first + r, score[r]);
                    s = weight * (slope[r] -
                                  PTR(ACC, a.sums)[(batch * a.heads + head) * a.n + i + lane]);
                }
                weights[at] = weight;
                slopes[at] = s * (ACC)a.scale;
            }
            add_head(to_v, weights, other, &a.grad_out, batch, head, i, a.n, a.value_depth);
            add_head(to_k, slopes, other, &a.q, batch, head, i, a.n, a.depth);
        }
    }
    UNROLL for (int r = 0; r < ROWS; r++)
        UNROLL for (int c = 0; c < DEPTHS / LANES; c++) {
            if (first + r < a.m && c * LANES + lane < a.depth && a.grad_k.p)
                STORE(T, PTR(T, a.grad_k.p),
                      element_at(&a.grad_k, batch, key_head, first + r, c * LANES + lane),
                      to_k[r * (DEPTHS / LANES) + c]);
            if (first + r < a.m && c * LANES + lane < a.value_depth && a.grad_v.p)
                STORE(T, PTR(T, a.grad_v.p),
                      element_at(&a.grad_v, batch, key_head, first + r, c * LANES + lane),
                      to_v[r * (DEPTHS / LANES) + c]);
        }
}

#endif

#endif
