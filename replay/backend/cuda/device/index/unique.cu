/* Distinct values. Defines: T (compared as numbers), V (the same by its bits). */
#include "replay/backend/cuda/device/index/unique.h"

DEVICE i64 slice_at(const struct unique_args *a, i64 p)
{
    return a->order ? PTR(const i64, a->order)[p] : p;
}

DEVICE i64 place_of(const struct unique_args *a, i64 slice, i64 e)
{
    i64 o = e / a->inner;
    return (o * a->n + slice) * a->inner + (e - o * a->inner);
}

DEVICE i32 differ(const struct unique_args *a, i64 p, i64 q)
{
    const i64 width = a->outer * a->inner;
    ROLLED
    for (i64 e = 0; e < width; e++)
        if (LOAD(T, PTR(const T, a->from), place_of(a, p, e)) !=
            LOAD(T, PTR(const T, a->from), place_of(a, q, e)))
            return 1;
    return 0;
}

/* Returns whether slice p is before q. NaN is the greatest; of equal slices the first is first. */
DEVICE i32 stands_before(const struct unique_args *a, i64 p, i64 q)
{
    const i64 width = a->outer * a->inner;
    ROLLED
    for (i64 e = 0; e < width; e++) {
        COMPUTE(T) x = LOAD(T, PTR(const T, a->from), place_of(a, p, e));
        COMPUTE(T) y = LOAD(T, PTR(const T, a->from), place_of(a, q, e));
        i32 less = x < y || (x == x && y != y), greater = x > y || (x != x && y == y);
        if (less || greater)
            return less;
    }
    return p < q;
}

/* A block computes a slice's position: the number of slices before it. */
KERNEL(unique_order, struct unique_args)
{
    SHARED(u32, before, 1);
    ROLLED
    for (i64 p = BLOCK_X; p < a.n; p += GRID_X) {
        u32 mine = 0;
        if (THREAD == 0)
            before[0] = 0;
        SYNC();
        ROLLED
        for (i64 q = THREAD; q < a.n; q += THREADS)
            mine += q != p && stands_before(&a, q, p);
        ATOMIC_ADD_u32(before, mine);
        SYNC();
        if (THREAD == 0)
            PTR(i64, a.order)[before[0]] = p;
        SYNC();
    }
}

KERNEL(unique_heads, struct unique_args)
{
    ROLLED
    for (i64 p = (i64)BLOCK_X * THREADS + THREAD; p < a.n; p += (i64)GRID_X * THREADS)
        PTR(u32, a.heads)[p] = p == 0 || differ(&a, slice_at(&a, p), slice_at(&a, p - 1));
}

KERNEL(unique_give, struct unique_args)
{
    const i64 width = a.outer * a.inner, all = a.n * width;
    const u32 *heads = PTR(const u32, a.heads);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 p = i / width, e = i - p * width, slice = slice_at(&a, p);
        u32 next = p + 1 < a.n ? heads[p + 1] : *PTR(const u32, a.total);
        i32 head = next != heads[p];
        i64 at = (i64)next - 1;
        if (at >= a.distinct)
            continue;
        if (head)
            PTR(V, a.to)[at * width + e] = PTR(const V, a.from)[place_of(&a, slice, e)];
        if (e == 0 && a.inverse)
            PTR(i64, a.inverse)[slice] = at;
        if (e == 0 && head && a.starts)
            PTR(i64, a.starts)[at] = p;
    }
}

KERNEL(unique_counts, struct unique_args)
{
    const i64 *starts = PTR(const i64, a.starts);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.distinct; i += (i64)GRID_X * THREADS)
        PTR(i64, a.counts)[i] = (i + 1 < a.distinct ? starts[i + 1] : a.n) - starts[i];
}
