/* Combines values by their keys. Defines: T and V (dtypes of the result and of the values), ACC
 * (f64, or i64 and IS_INT 1), HOW, I, DIMS, MANY (entries: 0 for few; 1 for many).
 *
 * The order in which values are combined depends only on the number of entries and their sizes, so
 * the bits are the same at every run; it need not be the entries' own order. */
#include "replay/backend/cuda/device/bits.h"
#include "replay/backend/cuda/device/index/combine.h"
#include "replay/backend/cuda/device/math.h"
#include "replay/backend/cuda/device/index/places.h"

DEVICE i64 value_place(const struct combine_args *a, u32 entry)
{
    I at[DIMS];
    coordinates(a->size, a->ndim, (I)entry, at);
    return (i64)offset_of(a->value_stride, a->ndim, at);
}

DEVICE ACC value_of(const struct combine_args *a, u32 entry, i64 j)
{
    ACC v = (ACC)LOAD(V, PTR(const V, a->values), value_place(a, entry) + j * a->value_inner);
#if HOW == 1
    v *= (ACC)a->alpha;
#endif
    return v;
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

/* Writes x, which combines `count` values. */
DEVICE void give(const struct combine_args *a, u32 key, i64 j, ACC x, i64 count)
{
    i64 place = (i64)key * a->unit + j * a->to_inner;
    if (a->include_self)
        x = combined((ACC)LOAD(T, PTR(const T, a->to), place), x);
    count += a->include_self;
#if HOW == 5 && IS_INT
    x = x / count - (x % count < 0);
#elif HOW == 5
    x /= (ACC)count;
#endif
    STORE(T, PTR(T, a->to), place, x);
}

#if !MANY

/* ---- Few entries: every block reads all keys ---- */

/* Returns a bit for each lane: whether the entry there, of those in [low, high), has the key. */
DEVICE u32 alike(const u32 *keys, u32 low, u32 high, u32 from, u32 key)
{
    u32 at = from + LANE;
    return BALLOT(at >= low && at < high && keys[at] == key);
}

/* Returns whether an entry in [low, high) has the key. Four words of bits do not wait for each
 * other. */
DEVICE i32 is_among(const u32 *keys, u32 low, u32 high, u32 key)
{
    ROLLED
    for (u32 from = low; from < high; from += 4 * WARP) {
        u32 any = 0;
        UNROLL
        for (u32 t = 0; t < 4; t++)
            any |= alike(keys, low, high, from + t * WARP, key);
        if (any)
            return 1;
    }
    return 0;
}

/* Combines the entries of the list. Lanes that share a column process them in turn, eight at
 * once. */
DEVICE ACC take_matches(const struct combine_args *a, const u32 *matches, u32 n, i64 j, ACC x,
                        i64 *count)
{
    const u32 rows = WARP / a->columns;
    SYNC_WARP();
    ROLLED
    for (u32 m = LANE / a->columns; m < n && j < a->inner; m += 8 * rows) {
        ACC v[8];
        UNROLL
        for (u32 t = 0; t < 8; t++)
            v[t] = m + t * rows < n ? value_of(a, matches[m + t * rows], j) : 0;
        UNROLL
        for (u32 t = 0; t < 8; t++)
            if (m + t * rows < n)
                x = (*count)++ ? combined(x, v[t]) : v[t];
    }
    SYNC_WARP();
    return x;
}

/* Combines all entries that have the key of p, the first of them. */
DEVICE ACC take(const struct combine_args *a, const u32 *keys, u32 *matches, u32 p, i64 j,
                i64 *count)
{
    const u32 n = (u32)a->n, row = LANE / a->columns;
    u32 found = 0;
    ACC x = 0;
    ROLLED
    for (u32 from = p; from < n; from += 4 * WARP) {
        u32 bits[4];
        UNROLL
        for (u32 t = 0; t < 4; t++)
            bits[t] = alike(keys, p, n, from + t * WARP, keys[p]);
        UNROLL
        for (u32 t = 0; t < 4; t++) {
            if (bits[t] >> LANE & 1)
                matches[found + popcount32(bits[t] & ((1u << LANE) - 1))] = from + t * WARP + LANE;
            found += popcount32(bits[t]);
        }
        /* one call: its code is most of the kernel's, and of the time to compile it */
        if (found > COMBINE_MATCHES - 4 * WARP || from + 4 * WARP >= n) {
            x = take_matches(a, matches, found, j, x, count);
            found = 0;
        }
    }
    ROLLED
    for (u32 mask = a->columns; mask < WARP; mask *= 2) {
        ACC other = XOR_LANE(x, mask);
        i64 others = SHUFFLE_XOR_i64(*count, mask);
        if (others)
            x = *count ? (row & (mask / a->columns) ? combined(other, x) : combined(x, other))
                       : other;
        *count += others;
    }
    return x;
}

/* A warp processes an entry; that of the first entry of a key combines all entries of the key. */
KERNEL(combine_small, struct combine_small_args)
{
    SHARED(u32, keys, COMBINE_SMALL);
    SHARED(u32, matches, (COMBINE_THREADS / WARP) * COMBINE_MATCHES);
    const u32 n = (u32)a.c.n, tiles = (u32)((a.c.inner + a.c.columns - 1) / a.c.columns);
    ROLLED
    for (u32 p = THREAD; p < n; p += THREADS)
        keys[p] = a.index.n ? entry_key(&a.index, p) : PTR(const u32, a.c.keys)[p];
    SYNC();
    ROLLED
    for (u32 w = BLOCK_X * (THREADS / WARP) + THREAD / WARP; w < n * tiles;
         w += GRID_X * (THREADS / WARP)) {
        u32 p = w / tiles;
        i64 j = (i64)(w - p * tiles) * a.c.columns + LANE % a.c.columns, count = 0;
        if (keys[p] >= a.c.limit)
            continue;
#if HOW == 0
        if (!is_among(keys, p + 1, n, keys[p]) && LANE < a.c.columns && j < a.c.inner)
            STORE(T, PTR(T, a.c.to), (i64)keys[p] * a.c.unit + j * a.c.to_inner,
                  LOAD(V, PTR(const V, a.c.values), value_place(&a.c, p) + j * a.c.value_inner));
        (void)count;
#else
        if (is_among(keys, 0, p, keys[p]))
            continue;
        ACC x = take(&a.c, keys, matches + THREAD / WARP * COMBINE_MATCHES, p, j, &count);
        if (LANE < a.c.columns && j < a.c.inner)
            give(&a.c, keys[p], j, x, count);
#endif
    }
}

#elif HOW == 0

/* ---- Many entries: the last one of each key ---- */

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

#else

/* ---- Many entries, sorted by their keys: runs of one key ---- */

/* A thread processes one element of the entries of a chunk. It writes the results of runs inside
 * the chunk; runs that begin before it or continue after it are stored for combine_joins. */
KERNEL(combine_chunks, struct combine_args)
{
    const u32 *keys = PTR(const u32, a.keys), *order = PTR(const u32, a.order);
    const i64 chunks = (a.n + COMBINE_CHUNK - 1) / COMBINE_CHUNK, all = chunks * a.inner;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 chunk = i / a.inner, j = i - chunk * a.inner, start = chunk * COMBINE_CHUNK;
        i64 end = MIN(start + COMBINE_CHUNK, a.n), count = 0;
        u32 key = keys[start];
        b8 goes_on = start > 0 && keys[start - 1] == key;
        ACC x = 0;
        ROLLED
        for (i64 base = start; base < end && key < a.limit; base += 4) {
            ACC v[4];
            UNROLL
            for (i64 t = 0; t < 4; t++)
                v[t] = base + t < end ? value_of(&a, order[base + t], j) : 0;
            UNROLL
            for (i64 t = 0; t < 4; t++) {
                i64 p = base + t;
                if (p >= end || key >= a.limit)
                    continue;
                u32 next = p + 1 < a.n ? keys[p + 1] : (u32)a.limit;
                x = count++ ? combined(x, v[t]) : v[t];
                if (next == key && p + 1 < end)
                    continue;
                if (next != key && !goes_on)
                    give(&a, key, j, x, count);
                else
                    PTR(ACC, a.partial)[(2 * chunk + !goes_on) * a.inner + j] = x;
                goes_on = 0;
                count = 0;
                key = next;
            }
        }
    }
}

/* Returns the first entry after p that has a greater key. */
DEVICE i64 end_of_run(const u32 *keys, i64 n, i64 p)
{
    i64 low = p + 1, high = n;
    ROLLED
    while (low < high) {
        i64 mid = low + (high - low) / 2;
        b8 within = keys[mid] == keys[p];
        low = within ? mid + 1 : low;
        high = within ? high : mid;
    }
    return low;
}

/* Combines runs over several chunks: a block sums the parts of one run, for `columns` elements at a
 * time; its other threads are rows that process the chunks in turn. */
KERNEL(combine_joins, struct combine_args)
{
    SHARED(ACC, sums, COMBINE_THREADS);
    const u32 *keys = PTR(const u32, a.keys);
    const ACC *partial = PTR(const ACC, a.partial);
    const u32 rows = COMBINE_THREADS / a.columns, row = THREAD / a.columns;
    const i64 chunks = (a.n + COMBINE_CHUNK - 1) / COMBINE_CHUNK;
    ROLLED
    for (i64 chunk = BLOCK_X; chunk + 1 < chunks; chunk += GRID_X) {
        i64 start = chunk * COMBINE_CHUNK, last = start + COMBINE_CHUNK - 1;
        u32 key = keys[last];
        b8 whole = keys[start] == key, from_before = whole && start > 0 && keys[start - 1] == key;
        if (key >= a.limit || keys[last + 1] != key || from_before)
            continue; /* no run begins here and continues */
        i64 end = end_of_run(keys, a.n, last), first = last, n = (end - 1) / COMBINE_CHUNK - chunk;
        ROLLED
        while (first > start && keys[first - 1] == key)
            first--;
        ROLLED
        for (i64 base = (i64)BLOCK_Y * a.columns; base < a.inner; base += (i64)GRID_Y * a.columns) {
            i64 j = base + THREAD % a.columns;
            ACC x = 0;
            ROLLED
            for (i64 c = row; c <= n && j < a.inner; c += rows) {
                ACC v = partial[(2 * (chunk + c) + (c == 0)) * a.inner + j];
                x = c == (i64)row ? v : combined(x, v);
            }
            sums[THREAD] = x;
            SYNC();
            ROLLED
            for (u32 r = 1; row == 0 && j < a.inner && r < rows && r <= n; r++)
                x = combined(x, sums[r * a.columns + THREAD]);
            if (row == 0 && j < a.inner)
                give(&a, key, j, x, end - first);
            SYNC();
        }
    }
}

#endif
