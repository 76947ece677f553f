/* Matmuls of few rows, with any strides. Defines: TA, TB, TC, TS (a, b, c, self), ACC (sums),
 * INTEGERS, SCALE (the type of scales, if there are any). The order of each element's sum does not
 * depend on the grid. One program has the kernels for all numbers of rows, so that another number
 * compiles nothing. */
#include "replay/backend/cuda/device/linalg/matmul.h"

enum { MOST_ROWS = 8, EACH = MAX(PER16(TA), PER16(TB)) };

/* For at most `rows` rows, which is a constant: a block sums a few columns, each by slices of the
 * inner dimension. Adjacent threads read along the dimension in which b is contiguous. part: 256 *
 * rows sums. */
DEVICE void multiply_thin(const struct matmul_args *a, ACC *part, const int rows)
{
    int columns = (int)a->columns, slices = 256 / columns, along = a->b.row == 1;
    int c = along ? (int)THREAD / slices : (int)THREAD % columns;
    int slice = along ? (int)THREAD % slices : (int)THREAD / columns;
    i64 tile = (i64)BLOCK_X, z = tile / a->column_tiles, j = tile % a->column_tiles * columns + c;
    i64 at_a = batch_offset(a, &a->a, z), at_b = batch_offset(a, &a->b, z) + j * a->b.column;
    ACC sum[MOST_ROWS];
    UNROLL for (int i = 0; i < rows; i++)
        sum[i] = 0;
    ROLLED for (i64 s = 0; s < a->sums && j < a->n; s++) {
        if (a->vector) {
            ROLLED for (i64 l = slice * EACH; l < a->inner; l += slices * EACH) {
                VEC(TB) q[EACH / PER16(TB)];
                UNROLL for (int v = 0; v < EACH / PER16(TB); v++)
                    q[v] = LOAD16(TB, PTR(TB, a->b.p), at_b + s * a->b_sum + l + v * PER16(TB));
                UNROLL for (int i = 0; i < rows; i++)
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
            UNROLL for (int i = 0; i < rows; i++)
                if (i < a->m)
                    sum[i] += (ACC)LOAD(TA, PTR(TA, a->a.p),
                                        at_a + s * a->a_sum + i * a->a.row + l * a->a.column) *
                              q;
        }
    }
    UNROLL for (int i = 0; i < rows; i++)
        part[i * 256 + slice * columns + c] = sum[i];
    ROLLED for (int half = slices / 2; half > 0; half /= 2) {
        SYNC();
        UNROLL for (int i = 0; i < rows; i++)
            if (slice < half)
                part[i * 256 + slice * columns + c] +=
                    part[i * 256 + (slice + half) * columns + c];
    }
    UNROLL for (int i = 0; i < rows; i++)
        if (slice == 0 && j < a->n && i < a->m)
            finish(a, z, i, j, part[i * 256 + c]);
}

#define THIN(rows)                                \
    KERNEL(matmul_thin_##rows, struct matmul_args) \
    {                                             \
        SHARED(ACC, part, 256 * rows);            \
        multiply_thin(&a, part, rows);            \
    }                                             \
    MOVES16(matmul_thin_##rows, 1 + rows, 0)
THIN(1)
THIN(2)
THIN(4)
THIN(8)
