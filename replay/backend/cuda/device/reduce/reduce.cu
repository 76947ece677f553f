/* Reductions: rows of elements become one value each, or two.
 *
 * Defines: one of OP_...; T, U, V, W: types of the inputs; ACC: type of sums; O, P: types of the
 * outputs; INDEX; VECTOR if the first input's rows are read 16 bytes at a time.
 *
 * A state represents the elements that were read so far. one() returns the state of an element,
 * join() combines two states. States are combined as a tree, which keeps the error of long sums
 * small, and always in the same order, so that a repetition gives the same bits. */
#include "replay/backend/cuda/device/math.h"
#include "replay/backend/cuda/device/reduce/reduce.h"

#if defined OP_MAX || defined OP_MIN || defined OP_ARGMAX || defined OP_ARGMIN
#define PLACE
#elif defined OP_VARIANCE
#define NUMBERS 3
#elif defined OP_AMINMAX || defined OP_LOGSUMEXP || defined OP_GRADIENT || defined OP_NLL
#define NUMBERS 2
#endif
#ifndef NUMBERS
#define NUMBERS 1
#endif
#if defined OP_MSE || defined OP_BCE || defined OP_BCE_LOGITS || defined OP_SOFT_MARGIN || \
    defined OP_SMOOTH_L1 || defined OP_HUBER || defined OP_MSE_BACKWARD || defined OP_BCE_BACKWARD || \
    defined OP_SOFT_MARGIN_BACKWARD || defined OP_SMOOTH_L1_BACKWARD || defined OP_HUBER_BACKWARD
#define SCALED
#endif
#ifndef INPUTS
#define INPUTS 1
#endif

/* How an input is converted: a half is not false. */
#if defined OP_ANY || defined OP_ALL || defined OP_COUNT
#define TO_ACC(x) ((x) != 0)
#else
#define TO_ACC(x) ((ACC)(x))
#endif

struct state {
    ACC a;
#if NUMBERS > 1
    ACC b;
#endif
#if NUMBERS > 2
    ACC c;
#endif
#ifdef PLACE
    i64 at; /* -1: no element yet */
#endif
};

DEVICE struct state state_exchange(struct state s, u32 mask)
{
    s.a = CAT(SHUFFLE_XOR_, ACC)(s.a, mask);
#if NUMBERS > 1
    s.b = CAT(SHUFFLE_XOR_, ACC)(s.b, mask);
#endif
#if NUMBERS > 2
    s.c = CAT(SHUFFLE_XOR_, ACC)(s.c, mask);
#endif
#ifdef PLACE
    s.at = SHUFFLE_XOR_i64(s.at, mask);
#endif
    return s;
}

/* --- The state of no element --- */

DEVICE struct state nothing(void)
{
    struct state s = { 0 };
#if defined OP_PROD || defined OP_ALL
    s.a = 1;
#elif defined OP_AMAX || defined OP_LOGSUMEXP
    s.a = LEAST;
#elif defined OP_AMIN || defined OP_NORM_LEAST || defined OP_AMINMAX
    s.a = GREATEST;
#endif
#ifdef OP_AMINMAX
    s.b = LEAST;
#endif
#ifdef PLACE
    s.at = -1;
#endif
    return s;
}

/* --- The state of one element: x of each input; missing inputs are 1 --- */

DEVICE struct state one(const struct reduce_args *a, const ACC *x, i64 at)
{
    struct state s = { 0 };
    (void)a;
    (void)at;
#if defined OP_NANSUM
    s.a = IS_NAN(x[0]) ? 0 : x[0];
#elif defined OP_NORM_ONE || defined OP_NORM_GREATEST || defined OP_NORM_LEAST
    s.a = ABS(x[0]);
#elif defined OP_NORM_TWO
    s.a = x[0] * x[0];
#elif defined OP_NORM
    s.a = OF(POW, ABS(x[0]), (ACC)a->p);
#elif defined OP_VARIANCE
    s.a = 1; /* their number; their mean; the sum of squared differences from it */
    s.b = x[0];
#elif defined OP_AMINMAX
    s.a = s.b = x[0];
#elif defined OP_LOGSUMEXP
    s.a = x[0]; /* the greatest; the sum of exp(x - greatest) */
    s.b = 1;
#elif defined OP_GRADIENT
    s.a = x[0] * (a->p != 0 ? x[3] : 1); /* gradients; their products with the normalised values */
    s.b = x[0] * (x[1] - x[2]) * x[3];
#elif defined OP_MSE
    s.a = (x[0] - x[1]) * (x[0] - x[1]);
#elif defined OP_BCE
    ACC one_less = OF(LOG1P, -x[0]), log_of = OF(LOG, x[0]);
    s.a = ((x[1] - 1) * GREATER_OF(one_less, -100) - x[1] * GREATER_OF(log_of, -100)) * x[2];
#elif defined OP_BCE_LOGITS
    ACC weight = (x[3] - 1) * x[1] + 1, least = x[0] < 0 ? -x[0] : 0;
    s.a = ((1 - x[1]) * x[0] + weight * (OF(LOG1P, OF(EXP, -ABS(x[0]))) + least)) * x[2];
#elif defined OP_SOFT_MARGIN
    s.a = OF(LOG1P, OF(EXP, -x[1] * x[0]));
#elif defined OP_SMOOTH_L1
    ACC d = ABS(x[0] - x[1]), beta = (ACC)a->p;
    s.a = d < beta ? (ACC)0.5 * d * d / beta : d - (ACC)0.5 * beta;
#elif defined OP_HUBER
    ACC d = ABS(x[0] - x[1]), delta = (ACC)a->p;
    s.a = d <= delta ? (ACC)0.5 * d * d : delta * (d - (ACC)0.5 * delta);
#elif defined OP_MSE_BACKWARD
    s.a = 2 * (x[0] - x[1]) * x[2] * x[3];
#elif defined OP_BCE_BACKWARD
    ACC least = (ACC)1e-12, spread = x[0] * (1 - x[0]);
    s.a = (x[0] - x[1]) / GREATER_OF(spread, least) * x[2] * x[3];
#elif defined OP_SOFT_MARGIN_BACKWARD
    s.a = -x[1] / (1 + OF(EXP, x[1] * x[0])) * x[2];
#elif defined OP_SMOOTH_L1_BACKWARD
    ACC d = x[0] - x[1], beta = (ACC)a->p;
    s.a = (d <= -beta ? -1 : d >= beta ? 1 : d / beta) * x[2];
#elif defined OP_HUBER_BACKWARD
    ACC d = x[0] - x[1], delta = (ACC)a->p;
    s.a = (d <= -delta ? -delta : d >= delta ? delta : d) * x[2];
#elif defined OP_NLL
    s.a = x[0]; /* losses; weights */
    s.b = x[1];
#else
    s.a = x[0];
#endif
#ifdef PLACE
    s.at = at;
#endif
    return s;
}

/* --- Two states combined --- */

DEVICE struct state join(struct state p, struct state q)
{
#if defined OP_PROD
    p.a *= q.a;
#elif defined OP_AMAX || defined OP_ANY || defined OP_NORM_GREATEST
    p.a = GREATER_OF(p.a, q.a);
#elif defined OP_AMIN || defined OP_ALL || defined OP_NORM_LEAST
    p.a = LESS_OF(p.a, q.a);
#elif defined OP_AMINMAX
    p.a = LESS_OF(p.a, q.a);
    p.b = GREATER_OF(p.b, q.b);
#elif defined OP_VARIANCE
    ACC n = p.a + q.a, share = n > 0 ? q.a / n : 0, d = q.b - p.b;
    p.c += q.c + d * d * p.a * share;
    p.b = q.a > 0 ? p.b + d * share : p.b;
    p.a = n;
#elif defined OP_LOGSUMEXP
    ACC most = GREATER_OF(p.a, q.a);
    p.b = p.b * (p.a == most ? 1 : OF(EXP, p.a - most)) + q.b * (q.a == most ? 1 : OF(EXP, q.a - most));
    p.a = most;
#elif defined PLACE
#if defined OP_MAX || defined OP_ARGMAX
    b8 better = (IS_NAN(q.a) && !IS_NAN(p.a)) || q.a > p.a;
#else
    b8 better = (IS_NAN(q.a) && !IS_NAN(p.a)) || q.a < p.a;
#endif
    b8 same = q.a == p.a || (IS_NAN(p.a) && IS_NAN(q.a));
    b8 take = p.at < 0 || (q.at >= 0 && (better || (same && q.at < p.at)));
    p.a = take ? q.a : p.a;
    p.at = take ? q.at : p.at;
#else
    p.a += q.a;
#if NUMBERS > 1
    p.b += q.b;
#endif
#endif
    return p;
}

/* --- The results of a state --- */

/* Stores the second result if it is requested. */
#define SECOND(v) \
    do { \
        if (a->to[1]) \
            STORE(P, PTR(P, a->to[1]), span_at(&a->rows, REDUCE_INPUTS + 1, row), v); \
    } while (0)

DEVICE void finish(const struct reduce_args *a, struct state s, INDEX row)
{
    INDEX at = span_at(&a->rows, REDUCE_INPUTS, row);
    O *to = PTR(O, a->to[0]);
#if defined OP_MEAN
    STORE(O, to, at, s.a / (ACC)a->cols.n);
#elif defined SCALED
    STORE(O, to, at, s.a * (ACC)a->scale);
#elif defined OP_NORM_TWO
    STORE(O, to, at, OF(SQRT, s.a));
#elif defined OP_NORM
    STORE(O, to, at, OF(POW, s.a, (ACC)(1 / a->p)));
#elif defined OP_VARIANCE
    ACC divisor = (ACC)((f64)a->cols.n - a->p), variance = s.c / (divisor > 0 ? divisor : 0);
    if (a->to[0])
        STORE(O, to, at, a->scale != 0 ? OF(SQRT, variance) : variance);
    SECOND(s.a > 0 ? s.b : (ACC)NAN);
#elif defined OP_LOGSUMEXP
    STORE(O, to, at, OF(LOG, s.b) + s.a);
#elif defined OP_AMINMAX || defined OP_GRADIENT
    if (a->to[0])
        STORE(O, to, at, s.a);
    SECOND(s.b);
#elif defined OP_NLL
    STORE(O, to, at, a->scale != 0 ? s.a / s.b : s.a);
    SECOND(s.b);
#elif defined OP_ARGMAX || defined OP_ARGMIN
    STORE(O, to, at, s.at);
#else
    STORE(O, to, at, s.a);
#ifdef PLACE
    SECOND(s.at);
#endif
#endif
}

/* --- Iterations over rows --- */

TEAM_JOIN(team_join, struct state, state_exchange, join)

/* Returns the state of the element at those positions of the inputs. */
DEVICE struct state element(const struct reduce_args *a, const INDEX *place, i64 at)
{
    ACC x[REDUCE_INPUTS] = { 1, 1, 1, 1 };
    x[0] = TO_ACC(LOAD(T, PTR(T, a->from[0]), place[0]));
#if INPUTS > 1
    x[1] = (ACC)LOAD(U, PTR(U, a->from[1]), place[1]);
#endif
#if INPUTS > 2
    if (a->from[2])
        x[2] = (ACC)LOAD(V, PTR(V, a->from[2]), place[2]);
    if (a->from[3])
        x[3] = (ACC)LOAD(W, PTR(W, a->from[3]), place[3]);
#endif
    return one(a, x, at);
}

DEVICE struct state element_at(const struct reduce_args *a, const INDEX *row_place, INDEX i)
{
    INDEX place[INPUTS];
    UNROLL
    for (i32 t = 0; t < INPUTS; t++)
        place[t] = row_place[t];
    SPAN_PLACES(&a->cols, INPUTS, i, place);
    return element(a, place, (i64)i);
}

/* Returns this lane's state of elements [begin, end) of a row. */
DEVICE struct state share(const struct reduce_args *a, struct team t, INDEX row, INDEX begin, INDEX end)
{
    struct state s = nothing();
    INDEX place[INPUTS] = { 0 }, i = begin + t.lane;
    SPAN_PLACES(&a->rows, INPUTS, row, place);
#ifdef VECTOR
    const T *from = PTR(T, a->from[0]) + place[0];
    ROLLED
    for (i = begin + t.lane * PER16(T); i + PER16(T) <= end; i += t.lanes * PER16(T)) {
        VEC(T) x = LOAD16(T, from, i);
        struct state lot = nothing();
        UNROLL
        for (i32 j = 0; j < PER16(T); j += 2) {
            ACC value[] = { TO_ACC(AT(T, x, j)), 1, 1, 1 };
            ACC next[] = { TO_ACC(AT(T, x, j + 1)), 1, 1, 1 };
            struct state two = join(one(a, value, (i64)i + j), one(a, next, (i64)i + j + 1));
            lot = j ? join(lot, two) : two;
        }
        s = join(s, lot);
    }
    i = end - (end - begin) % PER16(T) + t.lane;
#else
    ROLLED
    for (; i + 3 * t.lanes < end; i += 4 * t.lanes) {
        struct state p = element_at(a, place, i), q = element_at(a, place, i + t.lanes);
        struct state r = element_at(a, place, i + 2 * t.lanes), u = element_at(a, place, i + 3 * t.lanes);
        s = join(s, join(join(p, q), join(r, u)));
    }
#endif
    ROLLED
    for (; i < end; i += t.lanes)
        s = join(s, element_at(a, place, i));
    return s;
}

KERNEL(reduce, struct reduce_args)
{
    SHARED(struct state, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n, n = (INDEX)a.cols.n;
    INDEX begin = MIN((INDEX)BLOCK_Y * (INDEX)a.chunk, n), end = MIN(begin + (INDEX)a.chunk, n);
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < rows; first += (INDEX)GRID_X * t.rows) {
        INDEX row = first + t.row;
        struct state s = nothing();
        if (row < rows)
            s = share(&a, t, row, begin, end);
        s = team_join(t, s, scratch);
        if (row < rows && t.lane == 0) {
            if (a.splits > 1)
                PTR(struct state, a.partial)[(i64)row * a.splits + BLOCK_Y] = s;
            else
                finish(&a, s, row);
        }
    }
}
#ifdef VECTOR
MOVES16(reduce, 1, 0)
#endif

/* Combines the states of a row's chunks. */
KERNEL(reduce_splits, struct reduce_args)
{
    SHARED(struct state, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    ROLLED
    for (i64 first = (i64)BLOCK_X * t.rows; first < a.rows.n; first += (i64)GRID_X * t.rows) {
        i64 row = first + t.row;
        struct state s = nothing();
        if (row < a.rows.n) {
            const struct state *from = PTR(struct state, a.partial) + row * a.splits;
            ROLLED
            for (i64 i = t.lane; i < a.splits; i += t.lanes)
                s = join(s, from[i]);
        }
        s = team_join(t, s, scratch);
        if (row < a.rows.n && t.lane == 0)
            finish(&a, s, (INDEX)row);
    }
}
