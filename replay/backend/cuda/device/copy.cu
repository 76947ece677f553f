/* Defines: FROM, TO (dtypes), INDEX (i32 or i64: what offsets in elements fit); SAME 1: the dtypes
 * are one, and both addresses multiples of 16. */
#include "replay/backend/cuda/device/copy.h"

KERNEL(copy_strided, struct copy_args)
{
    TO *to = PTR(TO, a.to);
    const FROM *from = PTR(const FROM, a.from);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        INDEX left = (INDEX)i, at_to = 0, at_from = 0;
        ROLLED
        for (u32 d = a.ndim; d-- > 0;) {
            INDEX size = (INDEX)a.size[d], next = left / size, k = left - next * size;
            at_to += k * (INDEX)a.to_stride[d];
            at_from += k * (INDEX)a.from_stride[d];
            left = next;
        }
        STORE(TO, to, at_to, LOAD(FROM, from, at_from));
    }
}

/* Both in order without gaps. */
KERNEL(copy_dense, struct copy_args)
{
    TO *to = PTR(TO, a.to);
    const FROM *from = PTR(const FROM, a.from);
#if SAME
    const i64 whole = a.n / PER16(TO);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < whole; i += (i64)GRID_X * THREADS) {
        VEC(TO) x = LOAD16(TO, from, i * PER16(TO));
        STORE16(TO, to, i * PER16(TO), x);
    }
    const i64 done = whole * PER16(TO);
#else
    const i64 done = 0;
#endif
    ROLLED
    for (i64 i = done + (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS)
        STORE(TO, to, i, LOAD(FROM, from, i));
}
