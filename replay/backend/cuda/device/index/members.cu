/* isin and triangle indices. Defines: T, E (of elements and of the set), O (of the triangle). */
#include "replay/backend/cuda/device/index/members.h"

KERNEL(members, struct member_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        f64 x = a.elements ? (f64)LOAD(T, PTR(const T, a.elements), i) : a.element;
        b8 found = 0;
        ROLLED
        for (i64 j = 0; j < a.n_among && !found; j++)
            found = x == (a.among ? (f64)LOAD(E, PTR(const E, a.among), j) : a.other);
        PTR(b8, a.to)[i] = found != (a.invert != 0);
    }
}

DEVICE i64 within(i64 x, i64 columns)
{
    return x < 0 ? 0 : x > columns ? columns : x;
}

/* Returns the sum of within(u) for u up to v. */
DEVICE i64 sum_within(i64 v, i64 columns)
{
    if (v <= 0)
        return 0;
    if (v <= columns)
        return v * (v + 1) / 2;
    return columns * (columns + 1) / 2 + (v - columns) * columns;
}

/* Each position inside the triangle computes how many are before it, row by row. */
KERNEL(triangle, struct triangle_args)
{
    const i64 all = a.rows * a.columns;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 r = i / a.columns, c = i - r * a.columns, at;
        if (a.upper ? c - r < a.offset : c - r > a.offset)
            continue;
        if (a.upper)
            at = r * a.columns -
                 (sum_within(r + a.offset - 1, a.columns) - sum_within(a.offset - 1, a.columns)) +
                 c - within(r + a.offset, a.columns);
        else
            at = sum_within(r + a.offset, a.columns) - sum_within(a.offset, a.columns) + c;
        if (at < a.n) {
            STORE(O, PTR(O, a.to), at * a.step, r);
            STORE(O, PTR(O, a.to), a.next + at * a.step, c);
        }
    }
}
