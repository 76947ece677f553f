/* Matrices with other numbers of rows and columns. A warp copies a part of a row. Defines: T (the
 * bits of elements), I (i32 or i64, for offsets in elements). */
#include "replay/backend/cuda/device/linalg/resize.h"

KERNEL(resize, struct resize_args)
{
    const i64 n = a.batches * a.rows * a.parts, step = (i64)GRID_X * (THREADS / WARP);
    ROLLED
    for (i64 i = (i64)BLOCK_X * (THREADS / WARP) + THREAD / WARP; i < n; i += step) {
        const I line = (I)i / (I)a.parts, part = (I)i - line * (I)a.parts;
        const I batch = line / (I)a.rows, row = line - batch * (I)a.rows;
        const I first = part * RESIZE_COLUMNS + (I)LANE;
        const T *from = PTR(const T, a.from) + (batch * (I)a.from_batch + row * (I)a.from_row);
        T *to = PTR(T, a.to) + (batch * (I)a.to_batch + row * (I)a.to_row);
        T x[RESIZE_PARTS];
        UNROLL
        for (i32 j = 0; j < RESIZE_PARTS; j++) {
            const I column = first + j * WARP;
            const bool inside = row < (I)a.from_rows && column < (I)a.from_columns;
            x[j] = inside ? from[column * (I)a.from_column] : (T)0;
        }
        UNROLL
        for (i32 j = 0; j < RESIZE_PARTS; j++)
            if (first + j * WARP < (I)a.columns)
                to[first + j * WARP] = x[j];
    }
}
