/* Matmuls of real matrices in blocks.
 *
 * Every element's sum has the order of the inner dimension, as in three nested loops: only elements
 * that do not depend on one another are blocked, vectorised and distributed to threads. Factors are
 * multiplied and rounded before they are added (no FMA), so that all processors give the same
 * bits. */
#include <string.h>

#include "replay/backend/cpu/linalg/matmul.h"
#include "replay/backend/cpu/threads.h"

enum {
    TILE_ROWS = 8,
    TILE_COLUMNS = 16, /* columns whose sums stay in registers */
    BLOCK_ROWS = 128,
    BLOCK_COLUMNS = 64,
    BLOCK_INNER = 256,
    TILE = TILE_ROWS * TILE_COLUMNS,
    ROW_TILES = BLOCK_ROWS / TILE_ROWS,
    COLUMN_TILES = BLOCK_COLUMNS / TILE_COLUMNS,
    SMALL = 1 << 16, /* with fewer multiplications no thread is started */
};

/* Computes sum[8][16] += rows a[8][inner] times panel [inner][16], `rows` by two vectors at a time,
 * as many as a processor's registers hold. */
typedef void multiply_tile(const double *const *a, const double *panel, double *sum, int64_t inner);

#define MULTIPLY_TILE(name, target, rows, bytes)                                         \
    target static void name(const double *const *a, const double *panel, double *sum,    \
                            int64_t inner)                                               \
    {                                                                                    \
        typedef double lanes __attribute__((vector_size(bytes), aligned(8), may_alias)); \
        enum { LANES = (bytes) / 8 };                                                    \
        for (int i = 0; i < TILE_ROWS; i += (rows))                                      \
            for (int j = 0; j < TILE_COLUMNS; j += 2 * LANES) {                          \
                lanes part[rows][2];                                                     \
                for (int r = 0; r < (rows); r++) {                                       \
                    part[r][0] = *(lanes *)(sum + (i + r) * TILE_COLUMNS + j);           \
                    part[r][1] = *(lanes *)(sum + (i + r) * TILE_COLUMNS + j + LANES);   \
                }                                                                        \
                for (int64_t l = 0; l < inner; l++) {                                    \
                    lanes b0 = *(const lanes *)(panel + l * TILE_COLUMNS + j);           \
                    lanes b1 = *(const lanes *)(panel + l * TILE_COLUMNS + j + LANES);   \
                    for (int r = 0; r < (rows); r++) {                                   \
                        part[r][0] += a[i + r][l] * b0;                                  \
                        part[r][1] += a[i + r][l] * b1;                                  \
                    }                                                                    \
                }                                                                        \
                for (int r = 0; r < (rows); r++) {                                       \
                    *(lanes *)(sum + (i + r) * TILE_COLUMNS + j) = part[r][0];           \
                    *(lanes *)(sum + (i + r) * TILE_COLUMNS + j + LANES) = part[r][1];   \
                }                                                                        \
            }                                                                            \
    }

MULTIPLY_TILE(multiply_plain, , 4, 16)
#if defined(__x86_64__)
MULTIPLY_TILE(multiply_avx2, __attribute__((target("avx2"))), 4, 32)
MULTIPLY_TILE(multiply_avx512, __attribute__((target("avx512f"))), 8, 64)
#endif

static multiply_tile *tile_of_processor(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return multiply_avx512;
    if (__builtin_cpu_supports("avx2"))
        return multiply_avx2;
#endif
    return multiply_plain;
}

struct blocked_product {
    const double *a, *b;
    double *c;
    int64_t m, n, inner;
    int64_t row_blocks, column_blocks;
    multiply_tile *multiply;
};

static int64_t smaller_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Copies columns [column, column + 16) of rows [l, l + inner) of b contiguously, with zeros beyond
 * the last column. */
static void pack_panel(const struct blocked_product *p, int64_t l, int64_t inner, int64_t column,
                       double *panel)
{
    int64_t n = smaller_of(p->n - column, TILE_COLUMNS);
    for (int64_t i = 0; i < inner; i++) {
        const double *from = p->b + (l + i) * p->n + column;
        if (n == TILE_COLUMNS) {
            memcpy(panel + i * TILE_COLUMNS, from, TILE_COLUMNS * sizeof *panel);
            continue;
        }
        for (int64_t j = 0; j < n; j++)
            panel[i * TILE_COLUMNS + j] = from[j];
        for (int64_t j = n; j < TILE_COLUMNS; j++)
            panel[i * TILE_COLUMNS + j] = 0;
    }
}

/* Sets pointers to the rows from `row` on, from column l on. Beyond the last row they point to the
 * last row again, and their results are not used. */
static void rows_at(const struct blocked_product *p, int64_t row, int64_t l, const double **ret)
{
    for (int64_t r = 0; r < TILE_ROWS; r++)
        ret[r] = p->a + smaller_of(row + r, p->m - 1) * p->inner + l;
}

static void add_tile(const struct blocked_product *p, int64_t row, int64_t column,
                     const double *sum)
{
    int64_t rows = smaller_of(p->m - row, TILE_ROWS),
            columns = smaller_of(p->n - column, TILE_COLUMNS);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++)
            p->c[(row + r) * p->n + column + j] += sum[r * TILE_COLUMNS + j];
}

/* Computes the elements of one block. */
static void multiply_block(void *user, int64_t block)
{
    const struct blocked_product *p = user;
    int64_t per_matrix = p->row_blocks * p->column_blocks, matrix = block / per_matrix;
    struct blocked_product q = *p;
    double sum[COLUMN_TILES][ROW_TILES][TILE], panel[BLOCK_INNER * TILE_COLUMNS];
    q.a += matrix * p->m * p->inner;
    q.b += matrix * p->inner * p->n;
    q.c += matrix * p->m * p->n;
    int64_t row = block % per_matrix / p->column_blocks * BLOCK_ROWS;
    int64_t column = block % p->column_blocks * BLOCK_COLUMNS;
    int64_t rows = smaller_of(p->m - row, BLOCK_ROWS),
            columns = smaller_of(p->n - column, BLOCK_COLUMNS);
    memset(sum, 0, sizeof sum);
    for (int64_t l = 0; l < p->inner; l += BLOCK_INNER) {
        int64_t inner = smaller_of(p->inner - l, BLOCK_INNER);
        for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
            pack_panel(&q, l, inner, column + j, panel);
            for (int64_t i = 0; i < rows; i += TILE_ROWS) {
                const double *a[TILE_ROWS];
                rows_at(&q, row + i, l, a);
                p->multiply(a, panel, sum[j / TILE_COLUMNS][i / TILE_ROWS], inner);
            }
        }
    }
    for (int64_t j = 0; j < columns; j += TILE_COLUMNS)
        for (int64_t i = 0; i < rows; i += TILE_ROWS)
            add_tile(&q, row + i, column + j, sum[j / TILE_COLUMNS][i / TILE_ROWS]);
}

static struct blocked_product make_blocked_product(const double *a, const double *b, double *c,
                                                   int64_t m, int64_t n, int64_t inner)
{
    return (struct blocked_product){ a,
                                     b,
                                     c,
                                     m,
                                     n,
                                     inner,
                                     (m + BLOCK_ROWS - 1) / BLOCK_ROWS,
                                     (n + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS,
                                     tile_of_processor() };
}

void multiply_matrices(const double *a, const double *b, double *c, int64_t m, int64_t n,
                       int64_t inner)
{
    struct blocked_product p = make_blocked_product(a, b, c, m, n, inner);
    for (int64_t i = 0; i < p.row_blocks * p.column_blocks; i++)
        multiply_block(&p, i);
}

void multiply_batches(struct kernel *k, const double *a, const double *b, double *c, int64_t batch,
                      int64_t m, int64_t n, int64_t inner)
{
    struct blocked_product p = make_blocked_product(a, b, c, m, n, inner);
    int64_t blocks = batch * p.row_blocks * p.column_blocks;
    if ((double)m * (double)n * (double)inner * (double)batch >= SMALL)
        cpu_parallel(k, blocks, multiply_block, &p);
    else
        for (int64_t i = 0; i < blocks; i++)
            multiply_block(&p, i);
}
