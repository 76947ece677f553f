/* Matmuls of matrices with any strides. Defines: TA, TB, TC, TS (a, b, c, self), ACC (sums),
 * INTEGERS, SCALE (the type of scales, if there are any). The order of each element's sum does not
 * depend on the grid. */
#include "replay/backend/cuda/device/linalg/matmul.h"
#include "replay/backend/cuda/device/tile.h"

/* Loads TILE rows of DEPTH elements of a type, [DEPTH][PITCH]; adjacent threads read adjacent
 * memory. */
#define LOAD_TILE(name, T)                                                                  \
    DEVICE void name(ACC *to, u64 p, i64 at, i64 row, i64 rows, i64 row_stride, i64 inner,  \
                     i64 inners, i64 inner_stride)                                          \
    {                                                                                       \
        int along = inner_stride == 1;                                                      \
        UNROLL for (int i = 0; i < TILE * DEPTH / 256; i++) {                               \
            int r = along ? (int)THREAD / DEPTH + i * (256 / DEPTH) : (int)THREAD % TILE;   \
            int l = along ? (int)THREAD % DEPTH : (int)THREAD / TILE + i * (256 / TILE);    \
            int inside = row + r < rows && inner + l < inners;                              \
            to[l * PITCH + r] =                                                             \
                inside ? (ACC)LOAD(T, PTR(T, p),                                            \
                                   at + (row + r) * row_stride + (inner + l) * inner_stride) \
                       : (ACC)0;                                                            \
        }                                                                                   \
    }
LOAD_TILE(load_left, TA)
LOAD_TILE(load_right, TB)

KERNEL(matmul_tile, struct matmul_args)
{
    SHARED(ACC, left, DEPTH * PITCH);
    SHARED(ACC, right, DEPTH * PITCH);
    i64 tile = (i64)BLOCK_X, tiles = a.row_tiles * a.column_tiles, z = tile / tiles;
    i64 row = tile % tiles / a.column_tiles * TILE, column = tile % a.column_tiles * TILE;
    int y = (int)THREAD / 16 * 4, x = (int)THREAD % 16 * 4;
    ACC sum[4][4];
    UNROLL for (int i = 0; i < 4; i++)
        UNROLL for (int j = 0; j < 4; j++)
            sum[i][j] = 0;
    i64 at_a = batch_offset(&a, &a.a, z), at_b = batch_offset(&a, &a.b, z);
    ROLLED for (i64 s = 0; s < a.sums; s++) {
        ROLLED for (i64 l = 0; l < a.inner; l += DEPTH) {
            load_left(left, a.a.p, at_a + s * a.a_sum, row, a.m, a.a.row, l, a.inner, a.a.column);
            load_right(right, a.b.p, at_b + s * a.b_sum, column, a.n, a.b.column, l, a.inner,
                      a.b.row);
            SYNC();
            add_products(sum, left, right, y, x);
            SYNC();
        }
    }
    UNROLL for (int i = 0; i < 4; i++)
        UNROLL for (int j = 0; j < 4; j++)
            if (row + y + i < a.m && column + x + j < a.n)
                finish(&a, z, row + y + i, column + x + j, sum[i][j]);
}
