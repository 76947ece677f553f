/* Cumulative sums, products and extremes along a dimension.
 *
 * Defines: one of OP_...; T: the input; O: the values; ACC; INDEX.
 *
 * Each lane scans some adjacent elements, and then the lanes' results are scanned; the result of
 * previous elements is carried along the row. Rows that are split over blocks are read twice: first
 * for the result of each chunk, and then with the result of all chunks before it. */
#include "replay/backend/cuda/device/math.h"
#include "replay/backend/cuda/device/reduce/scan.h"

#if defined OP_MAX || defined OP_MIN
#define PLACE
#endif

struct state {
    ACC v;
#ifdef PLACE
    i64 at; /* -1: no element yet */
#endif
};

DEVICE struct state nothing(void)
{
    struct state s = { 0 };
#if defined OP_PROD
    s.v = 1;
#elif defined OP_LOGSUMEXP
    s.v = LEAST;
#endif
#ifdef PLACE
    s.at = -1;
#endif
    return s;
}

/* The positions give the order of extremes: the last of equal ones counts. */
DEVICE struct state join(struct state p, struct state q)
{
#if defined OP_PROD
    p.v *= q.v;
#elif defined OP_LOGSUMEXP
    ACC most = GREATER_OF(p.v, q.v), least = LESS_OF(p.v, q.v);
    p.v = most == least || most - least < GREATEST ? most + OF(LOG1P, OF(EXP, least - most)) : most;
    p.v = most == LEAST || most == GREATEST ? most : p.v;
#elif defined PLACE
    struct state first = p.at < q.at ? p : q, last = p.at < q.at ? q : p;
#ifdef OP_MAX
    b8 better = last.v >= first.v;
#else
    b8 better = last.v <= first.v;
#endif
    p = first.at < 0 || IS_NAN(last.v) || (!IS_NAN(first.v) && better) ? last : first;
#else
    p.v += q.v;
#endif
    return p;
}

DEVICE struct state state_up(struct state s, u32 by)
{
    s.v = CAT(SHUFFLE_UP_, ACC)(s.v, by);
#ifdef PLACE
    s.at = SHUFFLE_UP_i64(s.at, by);
#endif
    return s;
}

DEVICE struct state state_of_lane(struct state s, u32 lane)
{
    s.v = CAT(SHUFFLE_, ACC)(s.v, lane);
#ifdef PLACE
    s.at = SHUFFLE_i64(s.at, lane);
#endif
    return s;
}

DEVICE struct state state_exchange(struct state s, u32 mask)
{
    s.v = XOR_LANE(s.v, mask);
#ifdef PLACE
    s.at = SHUFFLE_XOR_i64(s.at, mask);
#endif
    return s;
}

TEAM_JOIN(team_join, struct state, state_exchange, join)

enum { ITEMS = 4, WARPS = TEAM_THREADS / 32 };

DEVICE struct state element(const struct scan_args *a, INDEX place, INDEX i)
{
    struct state s;
    INDEX step = a->cols.ndim ? (INDEX)a->cols.stride[0][0] : 0;
    s.v = (ACC)LOAD(T, PTR(T, a->from), place + i * step);
#ifdef PLACE
    s.at = (i64)i;
#endif
    return s;
}

DEVICE void put(const struct scan_args *a, const INDEX *place, INDEX i, struct state s)
{
    INDEX step = a->cols.ndim ? (INDEX)a->cols.stride[1][0] : 0;
    STORE(O, PTR(O, a->to), place[1] + i * step, s.v);
#ifdef PLACE
    step = a->cols.ndim ? (INDEX)a->cols.stride[2][0] : 0;
    STORE(i64, PTR(i64, a->places), place[2] + i * step, s.at);
#endif
}

/* Returns the state of all lanes before this one, and in *all that of all lanes. */
DEVICE struct state lanes_before(struct team t, struct state mine, struct state *all, struct state *scratch)
{
    struct state s = mine, before;
    if (t.lanes == 1) {
        *all = mine;
        return nothing();
    }
    ROLLED
    for (u32 by = 1; by < WARP; by *= 2) {
        struct state other = state_up(s, by);
        if (LANE >= by)
            s = join(other, s);
    }
    before = state_up(s, 1);
    if (LANE == 0)
        before = nothing();
    *all = state_of_lane(s, WARP - 1);
    if (t.lanes == WARP)
        return before;
    if (LANE == 0)
        scratch[THREAD / WARP] = *all;
    SYNC();
    struct state front = nothing();
    *all = nothing();
    UNROLL
    for (u32 w = 0; w < WARPS; w++) {
        if (w == THREAD / WARP)
            front = *all;
        *all = join(*all, scratch[w]);
    }
    SYNC();
    return join(front, before);
}

/* Scans elements [begin, end) of a row after `carry`; returns the state with them. */
DEVICE struct state scan_row(const struct scan_args *a, struct team t, const INDEX *place, INDEX begin,
                             INDEX end, struct state carry, b8 store, struct state *scratch)
{
    ROLLED
    for (INDEX base = begin; base < end; base += t.lanes * ITEMS) {
        struct state each[ITEMS], all;
        INDEX first = base + t.lane * ITEMS;
        UNROLL
        for (u32 j = 0; j < ITEMS; j++) {
            each[j] = first + j < end ? element(a, place[0], first + j) : nothing();
            if (j)
                each[j] = join(each[j - 1], each[j]);
        }
        struct state front = join(carry, lanes_before(t, each[ITEMS - 1], &all, scratch));
        UNROLL
        for (u32 j = 0; j < ITEMS; j++)
            if (store && first + j < end)
                put(a, place, first + j, join(front, each[j]));
        carry = join(carry, all);
    }
    return carry;
}

KERNEL(scan, struct scan_args)
{
    SHARED(struct state, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n, n = (INDEX)a.cols.n;
    INDEX begin = (INDEX)BLOCK_Y * (INDEX)a.chunk, end = MIN(begin + (INDEX)a.chunk, n);
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * t.rows; first < rows; first += (INDEX)GRID_X * t.rows) {
        INDEX row = first + t.row, place[3] = { 0 };
        struct state carry = nothing();
        if (a.splits > 1) { /* the row belongs to the block */
            const struct state *from = PTR(struct state, a.partial) + (i64)row * a.splits;
            ROLLED
            for (u32 i = t.lane; i < BLOCK_Y; i += t.lanes)
                carry = join(carry, from[i]);
            carry = team_join(t, carry, scratch);
        }
        if (row >= rows)
            continue; /* for blocks, warps or threads as a whole */
        SPAN_PLACES(&a.rows, 3, row, place);
        scan_row(&a, t, place, begin, end, carry, 1, scratch);
    }
}

KERNEL(scan_totals, struct scan_args)
{
    SHARED(struct state, scratch, TEAM_THREADS);
    struct team t = team_of(a.team);
    INDEX rows = (INDEX)a.rows.n, n = (INDEX)a.cols.n;
    INDEX begin = (INDEX)BLOCK_Y * (INDEX)a.chunk, end = MIN(begin + (INDEX)a.chunk, n);
    ROLLED
    for (INDEX row = BLOCK_X; row < rows; row += GRID_X) {
        INDEX place[3] = { 0 };
        SPAN_PLACES(&a.rows, 3, row, place);
        struct state s = scan_row(&a, t, place, begin, end, nothing(), 0, scratch);
        if (THREAD == 0)
            PTR(struct state, a.partial)[(i64)row * a.splits + BLOCK_Y] = s;
    }
}
