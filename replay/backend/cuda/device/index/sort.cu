/* Stable sorting along a dimension, the first elements of that order, and searches in sorted rows.
 *
 * Defines: T: the input; KEY: u32 or u64, whose order as unsigned numbers is that of T; INDEX;
 * SEARCH for search alone (E: edges, S: sorter, T: values, O: the result).
 *
 * Rows that fit in a block are sorted in shared memory, as are tiles of longer rows, whose runs are
 * merged by launches that double their length. Equal keys are ordered by their indices, which makes
 * the sort stable. */
#include "replay/backend/cuda/device/index/sort.h"

#ifndef SEARCH

/* Keys from a float's bits. NaN is the greatest, and both zeros are equal. */
#define SIGN ((KEY)1 << (sizeof(KEY) * 8 - 1))
#define OF_BITS(bits) ((bits) & SIGN ? ~(bits) : (bits) | SIGN)
#define FLOAT_BITS(x) \
    (sizeof(KEY) == 8 ? (KEY)bits_of_f64((x) == 0 ? 0 : (f64)(x)) \
                      : (KEY)bits_of_f32((x) == 0 ? 0 : (f32)(x)))
#define KEY_OF_FLOAT(x) ((x) != (x) ? ~(KEY)0 : OF_BITS(FLOAT_BITS(x)))
#define KEY_OF_INT(x) ((KEY)(x) ^ SIGN)
#define KEY_OF_f64(x) KEY_OF_FLOAT(x)
#define KEY_OF_f32(x) KEY_OF_FLOAT(x)
#define KEY_OF_f16(x) KEY_OF_FLOAT(x)
#define KEY_OF_bf16(x) KEY_OF_FLOAT(x)
#define KEY_OF_f8e4m3(x) KEY_OF_FLOAT(x)
#define KEY_OF_f8e5m2(x) KEY_OF_FLOAT(x)
#define KEY_OF_i64(x) KEY_OF_INT(x)
#define KEY_OF_i32(x) KEY_OF_INT(x)
#define KEY_OF_i16(x) KEY_OF_INT(x)
#define KEY_OF_i8(x) KEY_OF_INT(x)
#define KEY_OF_u32(x) ((KEY)(x))
#define KEY_OF_u16(x) KEY_OF_INT(x)
#define KEY_OF_u8(x) KEY_OF_INT(x)
#define KEY_OF_b8(x) KEY_OF_INT(x)

/* Writes element `id` at position `to` of a row of the result. */
DEVICE void give(const struct sort_args *a, INDEX row, INDEX to, u32 id)
{
    INDEX at[3] = { 0 };
    SPAN_PLACES(&a->rows, 3, row, at);
    if (a->values)
        PTR(T, a->values)[at[1] + to * (INDEX)a->step[1]] =
            PTR(T, a->from)[at[0] + (INDEX)id * (INDEX)a->step[0]];
    if (a->places)
        STORE(i64, PTR(i64, a->places), at[2] + to * (INDEX)a->step[2], id);
}

DEVICE KEY key_at(const struct sort_args *a, INDEX row, INDEX i)
{
    if (a->live.at && (i64)i >= LIVE_COUNT(a->live))
        return ~(KEY)0;
    COMPUTE(T) x = LOAD(T, PTR(T, a->from), span_at(&a->rows, 0, row) + i * (INDEX)a->step[0]);
    KEY key = CAT(KEY_OF_, T)(x);
    return a->descending ? ~key : key;
}

/* Sorts each segment of the tile with a bitonic network. */
DEVICE void sort_shared(KEY *keys, u32 *ids, u32 segment)
{
    ROLLED
    for (u32 size = 2; size <= segment; size *= 2) {
        ROLLED
        for (u32 apart = size / 2; apart; apart /= 2) {
            ROLLED
            for (u32 pair = THREAD; pair < SORT_TILE / 2; pair += THREADS) {
                u32 i = pair / apart * apart * 2 + pair % apart, j = i + apart;
                b8 up = (i & (segment - 1) & size) == 0;
                KEY p = keys[i], q = keys[j];
                u32 s = ids[i], t = ids[j];
                b8 greater = p > q || (p == q && s > t);
                if (greater == up) {
                    keys[i] = q;
                    keys[j] = p;
                    ids[i] = t;
                    ids[j] = s;
                }
            }
            SYNC();
        }
    }
}

KERNEL(sort_tiles, struct sort_args)
{
    SHARED(KEY, keys, SORT_TILE);
    SHARED(u32, ids, SORT_TILE);
    u32 segment = (u32)a.segment, segments = SORT_TILE / segment;
    INDEX work = (INDEX)a.rows.n * (INDEX)a.tiles, n = (INDEX)a.n, tiles = (INDEX)a.tiles;
    ROLLED
    for (INDEX first = (INDEX)BLOCK_X * segments; first < work; first += (INDEX)GRID_X * segments) {
        ROLLED
        for (u32 e = THREAD; e < SORT_TILE; e += THREADS) {
            INDEX tile = first + e / segment, row = tile / tiles;
            INDEX i = tile % tiles * segment + e % segment;
            b8 there = tile < work && i < n;
            keys[e] = ~(KEY)0;
            ids[e] = ~0u;
            if (there && a.keys) {
                keys[e] = PTR(KEY, a.keys)[row * n + i];
                ids[e] = PTR(u32, a.ids)[row * n + i];
            } else if (there) {
                keys[e] = key_at(&a, row, i);
                ids[e] = (u32)i;
            }
        }
        SYNC();
        sort_shared(keys, ids, segment);
        ROLLED
        for (u32 e = THREAD; e < SORT_TILE; e += THREADS) {
            INDEX tile = first + e / segment, row = tile / tiles, i = e % segment;
            INDEX left = n - MIN(n, tile % tiles * segment), to = tile % tiles * (INDEX)a.keep + i;
            if (tile >= work || i >= MIN(left, (INDEX)a.keep))
                continue;
            if (a.to_keys) {
                PTR(KEY, a.to_keys)[row * (INDEX)a.to_n + to] = keys[e];
                PTR(u32, a.to_ids)[row * (INDEX)a.to_n + to] = ids[e];
            } else {
                give(&a, row, i, ids[e]);
            }
        }
        SYNC();
    }
}

/* Merges pairs of runs: the position of an element is its index in its run plus the number of
 * elements of the other run before it. */
KERNEL(sort_merge, struct sort_args)
{
    INDEX n = (INDEX)a.n, width = (INDEX)a.width, all = (INDEX)a.rows.n * n;
    const KEY *keys = PTR(KEY, a.keys);
    ROLLED
    for (INDEX e = (INDEX)BLOCK_X * THREADS + THREAD; e < all; e += (INDEX)GRID_X * THREADS) {
        INDEX row = e / n, i = e % n, run = i / width, pair = run / 2 * 2 * width;
        INDEX other = run % 2 ? pair : MIN(pair + width, n), end = run % 2 ? pair + width : MIN(pair + 2 * width, n);
        INDEX low = other, high = end;
        KEY key = keys[e];
        ROLLED
        while (low < high) {
            INDEX mid = low + (high - low) / 2;
            KEY there = keys[row * n + mid];
            b8 before = run % 2 ? there <= key : there < key;
            low = before ? mid + 1 : low;
            high = before ? high : mid;
        }
        INDEX to = row * n + pair + (i - run * width) + (low - other);
        PTR(KEY, a.to_keys)[to] = key;
        PTR(u32, a.to_ids)[to] = PTR(u32, a.ids)[e];
    }
}

/* Writes the first `keep` elements of each sorted row. */
KERNEL(sort_give, struct sort_args)
{
    INDEX keep = (INDEX)a.keep, all = (INDEX)a.rows.n * keep;
    ROLLED
    for (INDEX e = (INDEX)BLOCK_X * THREADS + THREAD; e < all; e += (INDEX)GRID_X * THREADS)
        give(&a, e / keep, e % keep, PTR(u32, a.ids)[e / keep * (INDEX)a.n + e % keep]);
}

DEVICE i64 id_at(const struct sort_args *s, INDEX row_ids, INDEX i)
{
    return PTR(const i64, s->places)[row_ids + i];
}

DEVICE b8 is_nan_at(const struct sort_args *s, INDEX row, INDEX row_ids, INDEX i)
{
    COMPUTE(T) x = LOAD(T, PTR(T, s->from), span_at(&s->rows, 0, row) +
                                                (INDEX)id_at(s, row_ids, i) * (INDEX)s->step[0]);
    return x != x;
}

/* Returns the number of elements that are not NaN; those are last. */
DEVICE INDEX numbers_of(const struct sort_args *s, INDEX row, INDEX row_ids)
{
    INDEX low = 0, high = (INDEX)s->n;
    ROLLED
    while (low < high) {
        INDEX mid = low + (high - low) / 2;
        b8 nan = is_nan_at(s, row, row_ids, mid);
        low = nan ? low : mid + 1;
        high = nan ? mid : high;
    }
    return low;
}

/* Returns the last index of the most frequent value; of several, of the least. */
DEVICE INDEX mode_of(const struct sort_args *s, INDEX row, INDEX row_ids)
{
    INDEX n = (INDEX)s->n, best = 0, most = 0, run = 0;
    KEY key = 0;
    ROLLED
    for (INDEX i = 0; i < n; i++) {
        KEY next = key_at(s, row, (INDEX)id_at(s, row_ids, i));
        run = i && next == key ? run + 1 : 1;
        key = next;
        best = run > most ? i : best;
        most = run > most ? run : most;
    }
    return best;
}

KERNEL(sort_pick, struct pick_args)
{
    const struct sort_args *s = &a.sorted;
    ROLLED
    for (INDEX row = (INDEX)BLOCK_X * THREADS + THREAD; row < (INDEX)s->rows.n;
         row += (INDEX)GRID_X * THREADS) {
        INDEX ids = span_at(&s->rows, 2, row), n = (INDEX)s->n, i = (INDEX)a.kth;
        INDEX numbers = a.what == PICK_KTH ? n : numbers_of(s, row, ids);
        if (a.what == PICK_MEDIAN)
            i = numbers < n ? numbers : (n - 1) / 2;
        else if (a.what == PICK_NANMEDIAN)
            i = numbers ? (numbers - 1) / 2 : 0;
        else if (a.what == PICK_MODE)
            i = mode_of(s, row, ids);
        i64 id = id_at(s, ids, i);
        PTR(T, a.values)[span_at(&s->rows, 3, row)] =
            PTR(T, s->from)[span_at(&s->rows, 0, row) + (INDEX)id * (INDEX)s->step[0]];
        if (a.places)
            STORE(i64, PTR(i64, a.places), span_at(&s->rows, 4, row), id);
    }
}

#else

KERNEL(search, struct search_args)
{
    INDEX all = (INDEX)a.span.n, n = (INDEX)a.n;
    ROLLED
    for (INDEX i = (INDEX)BLOCK_X * THREADS + THREAD; i < all; i += (INDEX)GRID_X * THREADS) {
        INDEX at[2] = { 0 }, base = i / (INDEX)a.per_row * n, low = 0, high = n;
        SPAN_PLACES(&a.span, 2, i, at);
        f64 x = a.x ? (f64)LOAD(T, PTR(T, a.x), at[0]) : a.value;
        ROLLED
        while (low < high) {
            INDEX mid = low + (high - low) / 2, place = mid;
            if (a.sorter)
                place = (INDEX)LOAD(S, PTR(S, a.sorter), base + mid);
            f64 edge = (f64)LOAD(E, PTR(E, a.edges), base + MIN(place, n - 1));
            b8 before = a.right ? !(edge > x) : !(edge >= x);
            low = before ? mid + 1 : low;
            high = before ? high : mid;
        }
        STORE(O, PTR(O, a.to), at[1], (i64)low);
    }
}

#endif
