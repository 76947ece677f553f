/* Copies. Defines: FROM, TO (dtypes), INDEX (i32 or i64, for offsets in elements); SAME 1: the
 * dtypes are equal and both addresses multiples of 16. TURNED: T (elements by their bits) and INDEX
 * instead. */
#include "replay/backend/cuda/device/copy.h"

#ifndef TURNED
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

/* Both are contiguous. */
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
#if SAME
MOVES16(copy_dense, 1, 1)
#endif
#else
/* Tiles are read along their rows and written along their columns. Between these they are in shared
 * memory, with a padding of one element that avoids bank conflicts. */
KERNEL(copy_turned, struct copy_turned_args)
{
    enum { PITCH = COPY_TILE + 1, LINES = 256 / COPY_TILE };
    SHARED(T, tile, COPY_TILE * PITCH);
    const INDEX down = (INDEX)((a.rows - 1) / COPY_TILE + 1);
    const INDEX along = (INDEX)((a.columns - 1) / COPY_TILE + 1);
    const INDEX x = THREAD % COPY_TILE, y = THREAD / COPY_TILE;
    ROLLED
    for (i64 i = BLOCK_X; i < a.matrices * down * along; i += GRID_X) {
        INDEX left = (INDEX)(i / along), matrix = left / down;
        INDEX column = (INDEX)(i % along) * COPY_TILE, row = left % down * COPY_TILE;
        INDEX to = 0, from = 0;
        ROLLED
        for (u32 d = a.ndim; d-- > 0;) {
            INDEX size = (INDEX)a.size[d], next = matrix / size, k = matrix - next * size;
            to += k * (INDEX)a.to_stride[d];
            from += k * (INDEX)a.from_stride[d];
            matrix = next;
        }
        UNROLL
        for (INDEX l = 0; l < COPY_TILE / LINES; l++) {
            const INDEX j = y + l * LINES;
            if (row + x < (INDEX)a.rows && column + j < (INDEX)a.columns)
                tile[j * PITCH + x] =
                    PTR(const T, a.from)[from + row + x + (column + j) * (INDEX)a.from_column];
        }
        SYNC();
        UNROLL
        for (INDEX l = 0; l < COPY_TILE / LINES; l++) {
            const INDEX j = y + l * LINES;
            if (row + j < (INDEX)a.rows && column + x < (INDEX)a.columns)
                PTR(T, a.to)[to + (row + j) * (INDEX)a.to_row + column + x] = tile[x * PITCH + j];
        }
        SYNC();
    }
}
#endif
