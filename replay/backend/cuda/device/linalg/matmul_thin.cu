/* Matmuls of few rows, with any strides. Defines: TA, TB, TC, TS (a, b, c, self), ACC (sums),
 * INTEGERS, SCALE (the type of scales, if there are any), ROWS (the greatest number of rows: 1, 2, 4
 * or 8). The order of each element's sum does not depend on the grid. */
#include "replay/backend/cuda/device/linalg/matmul.h"

enum { EACH = MAX(PER16(TA), PER16(TB)) };

/* A block sums a few columns, each by slices of the inner dimension. Adjacent threads read along the
 * dimension in which b is contiguous. part: 256 * ROWS sums. */
DEVICE void multiply_thin(const struct matmul_args *a, ACC *part)
{
    int columns = (int)a->columns, slices = 256 / columns, along = a->b.row == 1;
    int c = along ? (int)THREAD / slices : (int)THREAD % columns;
    int slice = along ? (int)THREAD % slices : (int)THREAD / columns;
    i64 tile = (i64)BLOCK_X, z = tile / a->column_tiles, j = tile % a->column_tiles * columns + c;
    i64 at_a = batch_offset(a, &a->a, z), at_b = batch_offset(a, &a->b, z) + j * a->b.column;
    ACC sum[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++)
        sum[i] = 0;
    ROLLED for (i64 s = 0; s < a->sums && j < a->n; s++) {
        if (a->vector) {
            ROLLED for (i64 l = slice * EACH; l < a->inner; l += slices * EACH) {
                VEC(TB) q[EACH / PER16(TB)];
                UNROLL for (int v = 0; v < EACH / PER16(TB); v++)
                    q[v] = LOAD16(TB, PTR(TB, a->b.p), at_b + s * a->b_sum + l + v * PER16(TB));
                UNROLL for (int i = 0; i < ROWS; i++)
                    if (i < a->m) {
                        UNROLL for (int v = 0; v < EACH / PER16(TA); v++) {
                            VEC(TA) p = LOAD16(TA, PTR(TA, a->a.p),
                                               at_a + s * a->a_sum + i * a->a.row + l +
                                                   v * PER16(TA));
                            UNROLL for (int e = 0; e < PER16(TA); e++) {
                                const int at = v * PER16(TA) + e;
                                sum[i] += (ACC)AT(TA, p, e) *
                                          (ACC)AT(TB, q[at / PER16(TB)], at % PER16(TB));
                            }
                        }
                    }
            }
            continue;
        }
        ROLLED for (i64 l = slice; l < a->inner; l += slices) {
            ACC q = (ACC)LOAD(TB, PTR(TB, a->b.p), at_b + s * a->b_sum + l * a->b.row);
            UNROLL for (int i = 0; i < ROWS; i++)
                if (i < a->m)
                    sum[i] += (ACC)LOAD(TA, PTR(TA, a->a.p),
                                        at_a + s * a->a_sum + i * a->a.row + l * a->a.column) *
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
        if (slice == 0 && j < a->n && i < a->m)
            finish(a, z, i, j, part[i * 256 + c]);
}

KERNEL(matmul_thin, struct matmul_args)
{
    SHARED(ACC, part, 256 * ROWS);
    multiply_thin(&a, part);
}
MOVES16(matmul_thin, 1 + ROWS, 0)
