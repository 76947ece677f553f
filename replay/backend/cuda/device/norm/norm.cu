/* Normalisation, forward and backward.
 *
 * Defines: T: type of x and the result; W: of the weight; B: of the bias, or of the gradient; S: of
 * the statistics that are read or saved; M, R: of norm_stats; ACC; INDEX; VECTOR if x, the result
 * and the gradient are read and written 16 bytes at a time; BACKWARD. */
#include "replay/backend/cuda/device/math.h"
#include "replay/backend/cuda/device/norm/norm.h"

#if defined ROWS || defined APPLY
DEVICE ACC weight_at(const struct norm_args *a, INDEX i)
{
    return a->weight ? (ACC)LOAD(W, PTR(W, a->weight), i) : 1;
}
#endif

#ifdef ROWS
#include "replay/backend/cuda/device/rows.h"

/* Each row has its own statistics. A long row is read several times: for the mean, for the sum of
 * squared differences from the mean, and for the result. */
struct moments {
    ACC sum, along;
};

DEVICE struct moments moments_exchange(struct moments m, u32 mask)
{
    struct moments r = { XOR_LANE(m.sum, mask), XOR_LANE(m.along, mask) };
    return r;
}

DEVICE struct moments moments_join(struct moments p, struct moments q)
{
    p.sum += q.sum;
    p.along += q.along;
    return p;
}

TEAM_JOIN(team_join, struct moments, moments_exchange, moments_join)

/* Computes the positions of column i in the first tensors and, if they are vectors, in weight and
 * bias. */
DEVICE void places(const struct norm_args *a, const INDEX *row, INDEX i, INDEX *at)
{
    UNROLL
    for (i32 t = 0; t < NORM_TENSORS; t++)
        at[t] = row[t];
    SPAN_PLACES(&a->cols, NORM_TENSORS, i, at);
}

#ifndef BACKWARD
DEVICE ACC bias_at(const struct norm_args *a, INDEX i)
{
    return a->other ? (ACC)LOAD(B, PTR(B, a->other), i) : 0;
}

/* Returns element i; it is stored in shared memory when it is read for the first time. */
DEVICE ACC element(const struct norm_args *a, struct team t, ACC *kept, const INDEX *row, INDEX i, b8 first)
{
    u32 at = kept_at(t, (INDEX)a->cols.n, i);
    if (a->kept && !first)
        return kept[at];
    INDEX place = row[NORM_X] + span_at(&a->cols, NORM_X, i);
    ACC x = (ACC)LOAD(T, PTR(T, a->x), place);
    if (a->kept)
        kept[at] = x;
    return x;
}

/* Sums this lane's elements, or the squares of their differences from the mean. */
DEVICE ACC sum_of(const struct norm_args *a, struct team t, ACC *kept, const INDEX *row, INDEX n, b8 first,
                  b8 squares, ACC mean)
{
    ACC sum = 0;
#ifdef VECTOR
    ROLLED
    for (INDEX i = t.lane * STEP; i < WHOLE(n); i += t.lanes * STEP) {
        VEC(T) x;
        ACC lot = 0;
        if (first || !a->kept)
            x = LOAD16(T, PTR(T, a->x), row[NORM_X] + i);
        UNROLL
        for (i32 j = 0; j < STEP; j++) {
            u32 at = kept_at(t, (INDEX)a->cols.n, i + j);
            ACC each = a->kept && !first ? kept[at] : AT(T, x, j), d = each - mean;
            if (a->kept && first)
                kept[at] = each;
            lot += squares ? d * d : each;
        }
        sum += lot;
    }
#endif
    ROLLED
    for (INDEX i = WHOLE(n) + t.lane; i < n; i += t.lanes) {
        ACC x = element(a, t, kept, row, i, first), d = x - mean;
        sum += squares ? d * d : x;
    }
    return sum;
}

KERNEL(norm_rows, struct norm_args)
{
    SHARED(struct moments, scratch, TEAM_THREADS);
    DYNAMIC_SHARED(ACC, kept);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n;
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < rows; first += (INDEX)GRID_X * t.rows) {
        INDEX n = first + t.row < rows ? (INDEX)a.cols.n : 0, row[NORM_TENSORS] = { 0 };
        struct moments m = { 0, 0 };
        ACC mean = 0, count = (ACC)a.cols.n;
        if (n)
            SPAN_PLACES(&a.rows, NORM_TENSORS, first + t.row, row);
        if (a.centred) {
            m.sum = sum_of(&a, t, kept, row, n, 1, 0, 0);
            mean = team_join(t, m, scratch).sum / count;
        }
        m.sum = sum_of(&a, t, kept, row, n, !a.centred, 1, mean);
        ACC rstd = 1 / OF(SQRT, team_join(t, m, scratch).sum / count + (ACC)a.eps);
        if (n && t.lane == 0 && a.mean)
            STORE(S, PTR(S, a.mean), row[NORM_STATS], mean);
        if (n && t.lane == 0 && a.rstd)
            STORE(S, PTR(S, a.rstd), row[NORM_STATS], rstd);
#ifdef VECTOR
        ROLLED
        for (INDEX i = t.lane * STEP; i < WHOLE(n); i += t.lanes * STEP) {
            VEC(T) x, y;
            if (!a.kept)
                x = LOAD16(T, PTR(T, a.x), row[NORM_X] + i);
            UNROLL
            for (i32 j = 0; j < STEP; j++) {
                ACC each = a.kept ? kept[kept_at(t, (INDEX)a.cols.n, i + j)] : AT(T, x, j);
                INDEX w = row[NORM_WEIGHT] + span_at(&a.cols, NORM_WEIGHT, i + j);
                INDEX b = row[NORM_OTHER] + span_at(&a.cols, NORM_OTHER, i + j);
                PUT(T, y, j, (each - mean) * rstd * weight_at(&a, w) + bias_at(&a, b));
            }
            STORE16(T, PTR(T, a.to), row[NORM_TO] + i, y);
        }
#endif
        ROLLED
        for (INDEX i = WHOLE(n) + t.lane; i < n; i += t.lanes) {
            INDEX at[NORM_TENSORS];
            places(&a, row, i, at);
            ACC x = element(&a, t, kept, row, i, 0);
            STORE(T, PTR(T, a.to), at[NORM_TO],
                  (x - mean) * rstd * weight_at(&a, at[NORM_WEIGHT]) + bias_at(&a, at[NORM_OTHER]));
        }
        SYNC();
    }
}
#ifdef VECTOR
MOVES16(norm_rows, 2, 1)
#endif
#else
DEVICE ACC gradient_at(const struct norm_args *a, INDEX i)
{
    return (ACC)LOAD(B, PTR(B, a->other), i);
}

/* A row's statistics, and its position in each tensor. */
struct row {
    INDEX n, at[NORM_TENSORS];
    ACC mean, rstd;
};

DEVICE struct row row_of(const struct norm_args *a, INDEX i)
{
    struct row r = { 0 };
    r.rstd = 1;
    if (i >= (INDEX)a->rows.n)
        return r;
    r.n = (INDEX)a->cols.n;
    SPAN_PLACES(&a->rows, NORM_TENSORS, i, r.at);
    r.mean = a->centred ? (ACC)LOAD(S, PTR(S, a->mean), r.at[NORM_STATS]) : 0;
    r.rstd = (ACC)LOAD(S, PTR(S, a->rstd), r.at[NORM_STATS]);
    return r;
}

/* Sums this lane's gradients g * w, and their products with the values. */
DEVICE struct moments gradient_sums(const struct norm_args *a, struct team t, const struct row *r)
{
    struct moments m = { 0, 0 };
#ifdef VECTOR
    ROLLED
    for (INDEX i = t.lane * STEP; i < WHOLE(r->n); i += t.lanes * STEP) {
        VEC(T) x = LOAD16(T, PTR(T, a->x), r->at[NORM_X] + i);
        VEC(T) g = LOAD16(T, PTR(T, a->other), r->at[NORM_OTHER] + i);
        struct moments lot = { 0, 0 };
        UNROLL
        for (i32 j = 0; j < STEP; j++) {
            INDEX w = r->at[NORM_WEIGHT] + span_at(&a->cols, NORM_WEIGHT, i + j);
            ACC each = AT(T, g, j) * weight_at(a, w);
            lot.sum += each;
            lot.along += each * (AT(T, x, j) - r->mean);
        }
        m = moments_join(m, lot);
    }
#endif
    ROLLED
    for (INDEX i = WHOLE(r->n) + t.lane; i < r->n; i += t.lanes) {
        INDEX at[NORM_TENSORS];
        places(a, r->at, i, at);
        ACC each = gradient_at(a, at[NORM_OTHER]) * weight_at(a, at[NORM_WEIGHT]);
        m.sum += each;
        m.along += each * ((ACC)LOAD(T, PTR(T, a->x), at[NORM_X]) - r->mean);
    }
    return m;
}

DEVICE void write_gradients(const struct norm_args *a, struct team t, const struct row *r, ACC sum,
                            ACC along)
{
#ifdef VECTOR
    ROLLED
    for (INDEX i = t.lane * STEP; i < WHOLE(r->n); i += t.lanes * STEP) {
        VEC(T) x = LOAD16(T, PTR(T, a->x), r->at[NORM_X] + i);
        VEC(T) g = LOAD16(T, PTR(T, a->other), r->at[NORM_OTHER] + i), d;
        UNROLL
        for (i32 j = 0; j < STEP; j++) {
            INDEX w = r->at[NORM_WEIGHT] + span_at(&a->cols, NORM_WEIGHT, i + j);
            ACC each = AT(T, g, j) * weight_at(a, w), normal = (AT(T, x, j) - r->mean) * r->rstd;
            PUT(T, d, j, r->rstd * (each - (sum + normal * along)));
        }
        STORE16(T, PTR(T, a->to), r->at[NORM_TO] + i, d);
    }
#endif
    ROLLED
    for (INDEX i = WHOLE(r->n) + t.lane; i < r->n; i += t.lanes) {
        INDEX at[NORM_TENSORS];
        places(a, r->at, i, at);
        ACC each = gradient_at(a, at[NORM_OTHER]) * weight_at(a, at[NORM_WEIGHT]);
        ACC normal = ((ACC)LOAD(T, PTR(T, a->x), at[NORM_X]) - r->mean) * r->rstd;
        STORE(T, PTR(T, a->to), at[NORM_TO], r->rstd * (each - (sum + normal * along)));
    }
}

/* Computes the gradient of x: rstd times the gradient g * w without its mean and without its
 * projection on the normalised values. */
KERNEL(norm_rows_backward, struct norm_args)
{
    SHARED(struct moments, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < (INDEX)a.rows.n;
         first += (INDEX)GRID_X * t.rows) {
        struct row r = row_of(&a, first + t.row);
        struct moments m = team_join(t, gradient_sums(&a, t, &r), scratch);
        ACC sum = a.centred ? m.sum / (ACC)a.cols.n : 0;
        write_gradients(&a, t, &r, sum, m.along * r.rstd / (ACC)a.cols.n);
    }
}
#ifdef VECTOR
MOVES16(norm_rows_backward, 4, 1)
#endif
#endif
#elif defined APPLY
/* Normalises all elements with given statistics, STEPS neighbours at a time: 16 bytes, or one
 * element. */
#ifdef VECTOR
#define STEPS PER16(T)
#define READ(p, at, x) x = LOAD16(T, p, at)
#define WRITE(p, at, y) STORE16(T, p, at, y)
#define OF_X(x, j) AT(T, x, j)
#define SET_Y(y, j, v) PUT(T, y, j, v)
#define LOT VEC(T)
#else
#define STEPS 1
#define READ(p, at, x) x = (ACC)LOAD(T, p, at)
#define WRITE(p, at, y) STORE(T, p, at, y)
#define OF_X(x, j) (x)
#define SET_Y(y, j, v) (y = (v))
#define LOT ACC
#endif
/* The strides of weight and statistics along the innermost dimension. */
#define NEXT(tensor) (a.rows.ndim ? (INDEX)a.rows.stride[tensor][a.rows.ndim - 1] : 0)

#ifndef BACKWARD
KERNEL(norm_apply, struct norm_args)
{
    INDEX n = (INDEX)a.rows.n, weight_step = NEXT(NORM_WEIGHT), bias_step = NEXT(NORM_OTHER);
    INDEX stats_step = NEXT(NORM_STATS);
    const ACC *mean = PTR(ACC, a.mean), *rstd = PTR(ACC, a.rstd);
    ROLLED
    for (INDEX i = ((INDEX)BLOCK_X * THREADS + THREAD) * STEPS; i < n; i += (INDEX)GRID_X * THREADS * STEPS) {
        INDEX at[NORM_TENSORS] = { 0 };
        LOT x, y;
        SPAN_PLACES(&a.rows, NORM_TENSORS, i, at);
        READ(PTR(T, a.x), at[NORM_X], x);
        UNROLL
        for (i32 j = 0; j < STEPS; j++) {
            INDEX s = at[NORM_STATS] + j * stats_step;
            ACC w = weight_at(&a, at[NORM_WEIGHT] + j * weight_step), b = 0;
            if (a.other)
                b = (ACC)LOAD(B, PTR(B, a.other), at[NORM_OTHER] + j * bias_step);
            SET_Y(y, j, (OF_X(x, j) - mean[s]) * rstd[s] * w + b);
        }
        WRITE(PTR(T, a.to), at[NORM_TO], y);
    }
}
#ifdef VECTOR
MOVES16(norm_apply, 1, 1)
#endif
#else
KERNEL(norm_apply_backward, struct norm_args)
{
    INDEX n = (INDEX)a.rows.n, weight_step = NEXT(NORM_WEIGHT), stats_step = NEXT(NORM_STATS);
    const S *means = PTR(S, a.mean), *rstds = PTR(S, a.rstd);
    const ACC *sums = PTR(ACC, a.sum), *alongs = PTR(ACC, a.along);
    ROLLED
    for (INDEX i = ((INDEX)BLOCK_X * THREADS + THREAD) * STEPS; i < n; i += (INDEX)GRID_X * THREADS * STEPS) {
        INDEX at[NORM_TENSORS] = { 0 };
        LOT x, g, d;
        SPAN_PLACES(&a.rows, NORM_TENSORS, i, at);
        READ(PTR(T, a.x), at[NORM_X], x);
#ifdef VECTOR
        g = LOAD16(T, PTR(T, a.other), at[NORM_OTHER]);
#else
        g = (ACC)LOAD(B, PTR(B, a.other), at[NORM_OTHER]);
#endif
        UNROLL
        for (i32 j = 0; j < STEPS; j++) {
            INDEX s = at[NORM_STATS] + j * stats_step;
            ACC w = weight_at(&a, at[NORM_WEIGHT] + j * weight_step);
            ACC rstd = (ACC)LOAD(S, rstds, s), each = OF_X(g, j) * w;
            if (a.sum) {
                ACC normal = (OF_X(x, j) - (ACC)LOAD(S, means, s)) * rstd;
                ACC with = a.weighted ? 1 : w, along = alongs[s] * (a.weighted ? rstd : 1);
                each -= (sums[s] + normal * along) * with / (ACC)a.count;
            }
            SET_Y(d, j, each * rstd);
        }
        WRITE(PTR(T, a.to), at[NORM_TO], d);
    }
}
#ifdef VECTOR
MOVES16(norm_apply_backward, 2, 1)
#endif
#endif
#else
/* Computes the scales from means and variances, saves these, and updates the running ones. */
KERNEL(norm_stats, struct norm_stats_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        ACC mean = (ACC)LOAD(M, PTR(M, a.mean), i * a.step), var = (ACC)LOAD(M, PTR(M, a.var), i * a.step);
        ACC rstd = 1 / OF(SQRT, var + (ACC)a.eps), share = (ACC)a.momentum;
        i64 at = i * a.running_step;
        if (a.to_mean)
            STORE(ACC, PTR(ACC, a.to_mean), i, mean);
        STORE(ACC, PTR(ACC, a.to_rstd), i, rstd);
        if (a.save_mean)
            STORE(S, PTR(S, a.save_mean), i, mean);
        if (a.save_rstd)
            STORE(S, PTR(S, a.save_rstd), i, rstd);
        if (a.new_mean)
            STORE(R, PTR(R, a.new_mean), at,
                  (1 - share) * (ACC)LOAD(R, PTR(R, a.old_mean), at) + share * mean);
        if (a.new_var)
            STORE(R, PTR(R, a.new_var), at,
                  (1 - share) * (ACC)LOAD(R, PTR(R, a.old_var), at) + share * var * (ACC)a.unbiased);
    }
}
#endif
