/* Matmuls of matrices with any strides. Defines: TA, TC, TS (a and b, c, self), ACC (sums),
 * INTEGERS; ROWS (matmul_thin). The order of each element's sum does not depend on the grid. */
#include "replay/backend/cuda/device/linalg/matmul.h"
#include "replay/backend/cuda/device/tile.h"

DEVICE i64 batch_offset(const struct matmul_args *a, const struct matmul_operand *x, i64 z)
{
    i64 last = z % a->batch[2], rest = z / a->batch[2];
    return last * x->batch[2] + rest % a->batch[1] * x->batch[1] + rest / a->batch[1] * x->batch[0];
}

DEVICE void finish(const struct matmul_args *a, i64 z, i64 i, i64 j, ACC sum)
{
    i64 to = batch_offset(a, &a->c, z) + i * a->c.row + j * a->c.column;
#if INTEGERS
    u64 value = (u64)a->alpha_int * (u64)sum;
    if (a->self.p)
        value += (u64)a->beta_int *
                 (u64)LOAD(TS, PTR(TS, a->self.p),
                           batch_offset(a, &a->self, z) + i * a->self.row + j * a->self.column);
    STORE(TC, PTR(TC, a->c.p), to, (i64)value);
#else
    ACC value = (ACC)a->alpha * sum;
    if (a->self.p)
        value += (ACC)a->beta *
                 (ACC)LOAD(TS, PTR(TS, a->self.p),
                           batch_offset(a, &a->self, z) + i * a->self.row + j * a->self.column);
    STORE(TC, PTR(TC, a->c.p), to, value);
#endif
}

/* Loads TILE rows of DEPTH elements, [DEPTH][PITCH]; adjacent threads read adjacent memory. */
DEVICE void load_tile(ACC *to, u64 p, i64 at, i64 row, i64 rows, i64 row_stride, i64 inner,
                      i64 inners, i64 inner_stride)
{
    int along = inner_stride == 1;
    UNROLL for (int i = 0; i < TILE * DEPTH / 256; i++) {
        int r = along ? (int)THREAD / DEPTH + i * (256 / DEPTH) : (int)THREAD % TILE;
        int l = along ? (int)THREAD % DEPTH : (int)THREAD / TILE + i * (256 / TILE);
        int inside = row + r < rows && inner + l < inners;
        to[l * PITCH + r] =
            inside ? (ACC)LOAD(TA, PTR(TA, p),
                               at + (row + r) * row_stride + (inner + l) * inner_stride)
                   : (ACC)0;
    }
}

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
            load_tile(left, a.a.p, at_a + s * a.a_sum, row, a.m, a.a.row, l, a.inner, a.a.column);
            load_tile(right, a.b.p, at_b + s * a.b_sum, column, a.n, a.b.column, l, a.inner,
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

/* For at most ROWS rows: a block sums a few columns, each by slices of the inner dimension.
 * Adjacent threads read along the dimension in which b is contiguous. */
KERNEL(matmul_thin, struct matmul_args)
{
    SHARED(ACC, part, 256 * ROWS);
    int columns = (int)a.columns, slices = 256 / columns, along = a.b.row == 1;
    int c = along ? (int)THREAD / slices : (int)THREAD % columns;
    int slice = along ? (int)THREAD % slices : (int)THREAD / columns;
    i64 tile = (i64)BLOCK_X, z = tile / a.column_tiles, j = tile % a.column_tiles * columns + c;
    i64 at_a = batch_offset(&a, &a.a, z), at_b = batch_offset(&a, &a.b, z) + j * a.b.column;
    ACC sum[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++)
        sum[i] = 0;
    ROLLED for (i64 s = 0; s < a.sums && j < a.n; s++) {
        if (a.vector) {
            ROLLED for (i64 l = slice * PER16(TA); l < a.inner; l += slices * PER16(TA)) {
                VEC(TA) q = LOAD16(TA, PTR(TA, a.b.p), at_b + s * a.b_sum + l);
                UNROLL for (int i = 0; i < ROWS; i++)
                    if (i < a.m) {
                        VEC(TA) p = LOAD16(TA, PTR(TA, a.a.p),
                                           at_a + s * a.a_sum + i * a.a.row + l);
                        UNROLL for (int e = 0; e < PER16(TA); e++)
                            sum[i] += (ACC)AT(TA, p, e) * (ACC)AT(TA, q, e);
                    }
            }
            continue;
        }
        ROLLED for (i64 l = slice; l < a.inner; l += slices) {
            ACC q = (ACC)LOAD(TA, PTR(TA, a.b.p), at_b + s * a.b_sum + l * a.b.row);
            UNROLL for (int i = 0; i < ROWS; i++)
                if (i < a.m)
                    sum[i] += (ACC)LOAD(TA, PTR(TA, a.a.p),
                                        at_a + s * a.a_sum + i * a.a.row + l * a.a.column) *
                              q;
        }
    }
    UNROLL for (int i = 0; i < ROWS; i++)
        part[i * 256 + slice * columns + c] = sum[i];
    ROLLED for (int half = slices / 2; half > 0; half /= 2) {
        SYNC();
        UNROLL for (int i = 0; i < ROWS; i++)
            if (slice < half)
                part[i * 256 + slice * columns + c] +=
                    part[i * 256 + (slice + half) * columns + c];
    }
    UNROLL for (int i = 0; i < ROWS; i++)
        if (slice == 0 && j < a.n && i < a.m)
            finish(&a, z, i, j, part[i * 256 + c]);
}
MOVES16(matmul_thin, 1 + ROWS, 0)
