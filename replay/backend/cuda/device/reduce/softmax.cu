/* softmax, log_softmax and their gradients.
 *
 * Defines: T, U: types of the inputs; O: of the result; ACC; INDEX; one of SOFTMAX, LOG_SOFTMAX,
 * SAFE_SOFTMAX (zeros for rows of nothing but -inf); VECTOR if all rows have one type and are read
 * and written 16 bytes at a time.
 *
 * Forward: one pass computes the greatest element and the sum of exp(x - greatest), as a state that
 * is rescaled when a greater element is read. */
#include "replay/backend/cuda/device/math.h"
#include "replay/backend/cuda/device/rows.h"
#include "replay/backend/cuda/device/reduce/softmax.h"

#ifndef BACKWARD
struct state {
    ACC most, sum;
};

DEVICE struct state state_exchange(struct state s, u32 mask)
{
    struct state r = { XOR_LANE(s.most, mask), XOR_LANE(s.sum, mask) };
    return r;
}

DEVICE struct state join(struct state p, struct state q)
{
    ACC most = GREATER_OF(p.most, q.most);
    p.sum = p.sum * (p.most == most ? 1 : OF(EXP, p.most - most)) +
            q.sum * (q.most == most ? 1 : OF(EXP, q.most - most));
    p.most = most;
    return p;
}

/* Adds an element: the state is rescaled only if it is the greatest so far. */
DEVICE struct state with(struct state s, ACC x)
{
    if (IS_NAN(x) || x > s.most) {
        s.sum = s.sum * OF(EXP, s.most - x) + 1;
        s.most = x;
    } else {
        s.sum += x == s.most ? 1 : OF(EXP, x - s.most);
    }
    return s;
}

DEVICE ACC soft(struct state s, ACC log_sum, ACC x)
{
    (void)log_sum;
#if defined LOG_SOFTMAX
    return x - s.most - log_sum;
#elif defined SAFE_SOFTMAX
    return s.most == LEAST ? 0 : OF(EXP, x - s.most) / s.sum;
#else
    return OF(EXP, x - s.most) / s.sum;
#endif
}

TEAM_JOIN(team_join, struct state, state_exchange, join)

/* Returns a team's state of a row, which is stored if rows fit in shared memory. */
DEVICE struct state state_of(const struct softmax_args *a, struct team t, const T *from, INDEX size,
                             ACC *kept)
{
    const INDEX body = WHOLE(size), n = (INDEX)a->cols.n;
    const INDEX step = a->cols.ndim ? (INDEX)a->cols.stride[0][0] : 0;
    struct state s = { LEAST, 0 };
#ifdef VECTOR
    ROLLED
    for (INDEX i = t.lane * STEP; i < body; i += t.lanes * STEP) {
        VEC(T) x = LOAD16(T, from, i);
        UNROLL
        for (i32 j = 0; j < STEP; j++) {
            s = with(s, AT(T, x, j));
            if (a->kept)
                kept[kept_at(t, n, i + j)] = AT(T, x, j);
        }
    }
#endif
    ROLLED
    for (INDEX i = body + t.lane; i < size; i += t.lanes) {
        ACC x = (ACC)LOAD(T, from, i * step);
        s = with(s, x);
        if (a->kept)
            kept[kept_at(t, n, i)] = x;
    }
    return s;
}

DEVICE void write_row(const struct softmax_args *a, struct team t, struct state s, const T *from,
                      O *to, INDEX size, const ACC *kept)
{
    const INDEX body = WHOLE(size), n = (INDEX)a->cols.n;
    const INDEX step = a->cols.ndim ? (INDEX)a->cols.stride[0][0] : 0;
    const INDEX to_step = a->cols.ndim ? (INDEX)a->cols.stride[2][0] : 0;
    const ACC log_sum = OF(LOG, s.sum);
#ifdef VECTOR
    ROLLED
    for (INDEX i = t.lane * STEP; i < body; i += t.lanes * STEP) {
        VEC(T) x, y;
        if (!a->kept)
            x = LOAD16(T, from, i);
        UNROLL
        for (i32 j = 0; j < STEP; j++) {
            ACC each = a->kept ? kept[kept_at(t, n, i + j)] : AT(T, x, j);
            PUT(T, y, j, soft(s, log_sum, each));
        }
        STORE16(T, to, i, y);
    }
#endif
    ROLLED
    for (INDEX i = body + t.lane; i < size; i += t.lanes) {
        ACC x = a->kept ? kept[kept_at(t, n, i)] : (ACC)LOAD(T, from, i * step);
        STORE(O, to, i * to_step, soft(s, log_sum, x));
    }
}

KERNEL(softmax, struct softmax_args)
{
    SHARED(struct state, scratch, TEAM_THREADS);
    DYNAMIC_SHARED(ACC, kept);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n;
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < rows; first += (INDEX)GRID_X * t.rows) {
        INDEX row = first + t.row, size = row < rows ? (INDEX)a.cols.n : 0;
        const T *from = PTR(T, a.from) + (row < rows ? span_at(&a.rows, 0, row) : 0);
        O *to = PTR(O, a.to) + (row < rows ? span_at(&a.rows, 2, row) : 0);
        struct state s = state_of(&a, t, from, size, kept);
        s = team_join(t, s, scratch);
        write_row(&a, t, s, from, to, size, kept);
        SYNC();
    }
}
#ifdef VECTOR
MOVES16(softmax, 2, 1)
#endif
#else
TEAM_JOIN(team_sum, ACC, XOR_LANE, SUM_OF)

/* from: the gradient; other: the forward's result. */
DEVICE ACC gradient(ACC sum, ACC g, ACC y)
{
#ifdef LOG_SOFTMAX
    return g - OF(EXP, y) * sum;
#else
    return y * (g - sum);
#endif
}

DEVICE ACC part(ACC g, ACC y)
{
#ifdef LOG_SOFTMAX
    (void)y;
    return g;
#else
    return g * y;
#endif
}

KERNEL(softmax_backward, struct softmax_args)
{
    SHARED(ACC, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n, n = (INDEX)a.cols.n;
    INDEX step[3];
    UNROLL
    for (i32 i = 0; i < 3; i++)
        step[i] = a.cols.ndim ? (INDEX)a.cols.stride[i][0] : 0;
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < rows; first += (INDEX)GRID_X * t.rows) {
        INDEX row = first + t.row, size = row < rows ? n : 0, body = WHOLE(size);
        INDEX place[3] = { 0 };
        if (row < rows)
            SPAN_PLACES(&a.rows, 3, row, place);
        const T *g = PTR(T, a.from) + place[0];
        const U *y = PTR(U, a.other) + place[1];
        O *to = PTR(O, a.to) + place[2];
        ACC sum = 0;
#ifdef VECTOR
        ROLLED
        for (INDEX i = t.lane * STEP; i < body; i += t.lanes * STEP) {
            VEC(T) p = LOAD16(T, g, i), q = LOAD16(T, y, i);
            ACC lot = 0;
            UNROLL
            for (i32 j = 0; j < STEP; j++)
                lot += part(AT(T, p, j), AT(T, q, j));
            sum += lot;
        }
#endif
        ROLLED
        for (INDEX i = body + t.lane; i < size; i += t.lanes)
            sum += part((ACC)LOAD(T, g, i * step[0]), (ACC)LOAD(U, y, i * step[1]));
        sum = team_sum(t, sum, scratch);
#ifdef VECTOR
        ROLLED
        for (INDEX i = t.lane * STEP; i < body; i += t.lanes * STEP) {
            VEC(T) p = LOAD16(T, g, i), q = LOAD16(T, y, i), d;
            UNROLL
            for (i32 j = 0; j < STEP; j++)
                PUT(T, d, j, gradient(sum, AT(T, p, j), AT(T, q, j)));
            STORE16(T, to, i, d);
        }
#endif
        ROLLED
        for (INDEX i = body + t.lane; i < size; i += t.lanes) {
            ACC p = (ACC)LOAD(T, g, i * step[0]), q = (ACC)LOAD(U, y, i * step[1]);
            STORE(O, to, i * step[2], gradient(sum, p, q));
        }
    }
}
#ifdef VECTOR
MOVES16(softmax_backward, 4, 1)
#endif
#endif
