/* segment_reduce. Defines: T, X (of bounds), ACC. A thread computes one element of the result. */
#include "replay/backend/cuda/device/index/segments.h"

DEVICE ACC joined(u32 how, ACC r, ACC v)
{
    if (how == SEGMENTS_PROD)
        return r * v;
    if (how < SEGMENTS_PROD)
        return r + v;
    if (r != r || v != v)
        return r + v;
    return how == SEGMENTS_MAX ? (v > r ? v : r) : (v < r ? v : r);
}

KERNEL(segments, struct segments_args)
{
    const i64 all = a.outer * a.segments * a.inner;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 in = i % a.inner, s = i / a.inner % a.segments, o = i / a.inner / a.segments;
        i64 at = o * a.per_outer + s;
        i64 start = a.ends ? (s ? (i64)LOAD(X, PTR(const X, a.bounds), at - 1) : 0)
                           : (i64)LOAD(X, PTR(const X, a.bounds), at);
        i64 end = (i64)LOAD(X, PTR(const X, a.bounds), at + !a.ends), length = end - start;
        ACC r = (ACC)a.initial;
        if (start < 0 || end > a.n) {
            REPORT(a.error, end > a.n ? end : start);
            continue;
        }
        ROLLED
        for (i64 j = start; j < end; j++)
            r = joined(a.how, r, (ACC)LOAD(T, PTR(const T, a.from), (o * a.n + j) * a.inner + in));
        if (a.how == SEGMENTS_MEAN)
            r = length > 0 ? r / (ACC)length : a.has_initial ? r : (ACC)NAN;
        STORE(T, PTR(T, a.to), i, r);
    }
}
