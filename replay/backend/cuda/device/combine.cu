/* Defines: T and V (dtypes of what is written and of the values), ACC (f64, or i64 and IS_INT 1), HOW, I, DIMS. */
#include "replay/backend/cuda/device/combine.h"

DEVICE i64 value_place(const struct combine_args *a, u32 entry)
{
    I at[DIMS];
    coordinates(a->size, a->ndim, (I)entry, at);
    return (i64)offset_of(a->value_stride, a->ndim, at);
}

KERNEL(combine_clear, struct combine_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.limit; i += (i64)GRID_X * THREADS)
        PTR(u32, a.winner)[i] = 0;
}

KERNEL(combine_winners, struct combine_args)
{
    const u32 *keys = PTR(const u32, a.keys);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS)
        if (keys[i] < a.limit)
            ATOMIC_MAX_u32(PTR(u32, a.winner) + keys[i], (u32)i + 1);
}

/* Where several entries have one key, the last one stands. */
KERNEL(combine_set, struct combine_args)
{
    const u32 *keys = PTR(const u32, a.keys), *winner = PTR(const u32, a.winner);
    const i64 all = a.n * a.inner;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 entry = i / a.inner, j = i - entry * a.inner;
        u32 key = keys[entry];
        if (key < a.limit && winner[key] == (u32)entry + 1)
            STORE(T, PTR(T, a.to), (i64)key * a.unit + j * a.to_inner,
                  LOAD(V, PTR(const V, a.values),
                       value_place(&a, (u32)entry) + j * a.value_inner));
    }
}

DEVICE ACC combined(ACC x, ACC v)
{
#if HOW == 2
    return x * v;
#elif HOW == 3
    return x != x || v != v ? x + v : x > v ? x : v;
#elif HOW == 4
    return x != x || v != v ? x + v : x < v ? x : v;
#else
    return x + v;
#endif
}

/* Entries in the order of their keys, equal ones in their own: the first of a key takes all of it. */
KERNEL(combine_segments, struct combine_args)
{
    const u32 *keys = PTR(const u32, a.keys), *order = PTR(const u32, a.order);
    const i64 all = a.n * a.inner;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 p = i / a.inner, j = i - p * a.inner, count = a.include_self;
        u32 key = keys[p];
        if (key >= a.limit || (p > 0 && keys[p - 1] == key))
            continue;
        i64 place = (i64)key * a.unit + j * a.to_inner;
        ACC x = a.include_self ? (ACC)LOAD(T, PTR(const T, a.to), place) : (ACC)0;
        ROLLED
        for (; p < a.n && keys[p] == key; p++) {
            ACC v = (ACC)LOAD(V, PTR(const V, a.values),
                              value_place(&a, order[p]) + j * a.value_inner);
#if HOW == 1
            v *= (ACC)a.alpha;
#endif
            x = count++ ? combined(x, v) : v;
        }
#if HOW == 5 && IS_INT
        x = x / count - (x % count < 0);
#elif HOW == 5
        x /= (ACC)count;
#endif
        STORE(T, PTR(T, a.to), place, x);
    }
}
