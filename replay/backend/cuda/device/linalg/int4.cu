/* Matmuls with weights of four bits. Defines: T (self, the result, unpacked weights), TS (scales).
 * Weights are rounded to T before they are multiplied, and sums are f32. */
#include "replay/backend/cuda/device/linalg/int4.h"

enum { MOST_ROWS = 8, VALUES = 8, COLUMNS = 8 };

/* Returns the first k of a lane's word; its eight values are at k + 8 * s and k + 8 * s + 1. */
DEVICE i64 first_k(i64 block, i64 words, i64 word, i64 lane)
{
    return (block * words + word) * 32 + lane % 4 * 2;
}

/* Returns value s, or the one behind it, as it is multiplied. */
DEVICE f32 weight_of(u32 bits, int s, int behind, f32 scale, f32 zero)
{
    f32 q = (f32)((i32)(bits >> (4 * (s + 4 * behind)) & 15) - 8);
    return CAT(to_compute_, T)(CAT(of_compute_, T)(q * scale + zero));
}

KERNEL(int4_unpack, struct int4_args)
{
    const i64 each = a.blocks * 32 * a.words; /* words of eight rows */
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n / COLUMNS * each;
         i += (i64)GRID_X * THREADS) {
        const i64 word = i % a.words, lane = i / a.words % 32, block = i % each / a.words / 32;
        const i64 n = i / each * COLUMNS + lane / 4, k = first_k(block, a.words, word, lane);
        const u32 bits = PTR(const u32, a.packed)[i];
        const TS *scale = PTR(const TS, a.scales) + (k / a.group * a.n + n) * 2;
        const f32 by = (f32)LOAD(TS, scale, 0), zero = (f32)LOAD(TS, scale, 1);
        UNROLL
        for (int s = 0; s < VALUES / 2; s++)
            UNROLL
            for (int j = 0; j < 2; j++)
                STORE(T, PTR(T, a.to), n * a.k + k + 8 * s + j, weight_of(bits, s, j, by, zero));
    }
}

/* For at most `rows` rows, which is a constant: a block computes eight columns, its warps parts of
 * the sums. part: 8 * 8 * rows sums. */
DEVICE void multiply_int4(const struct int4_args *a, f32 *part, const int rows)
{
    const i64 tile = (i64)BLOCK_X, lane = LANE, n = tile * COLUMNS + lane / 4;
    const u32 warp = THREAD / WARP, warps = THREADS / WARP;
    f32 sum[MOST_ROWS];
    UNROLL for (int i = 0; i < rows; i++)
        sum[i] = 0;
    ROLLED for (i64 j = warp; j < a->blocks * a->words; j += warps) {
        const i64 block = j / a->words, word = j % a->words;
        const i64 k = first_k(block, a->words, word, lane);
        const u32 bits =
            PTR(const u32, a->packed)[((tile * a->blocks + block) * 32 + lane) * a->words + word];
        const TS *scale = PTR(const TS, a->scales) + (k / a->group * a->n + n) * 2;
        const f32 by = (f32)LOAD(TS, scale, 0), zero = (f32)LOAD(TS, scale, 1);
        UNROLL for (int s = 0; s < VALUES; s++) {
            const f32 w = weight_of(bits, s / 2, s % 2, by, zero);
            const i64 at = (k + s / 2 * 8 + s % 2) * a->x_column;
            UNROLL for (int i = 0; i < rows; i++)
                if (i < a->m)
                    sum[i] += (f32)LOAD(T, PTR(const T, a->x), i * a->x_row + at) * w;
        }
    }
    UNROLL for (int i = 0; i < rows; i++) {
        f32 other = SHUFFLE_XOR_f32(sum[i], 1);
        sum[i] += other;
        other = SHUFFLE_XOR_f32(sum[i], 2);
        sum[i] += other;
        if (lane % 4 == 0)
            part[(warp * COLUMNS + lane / 4) * rows + i] = sum[i];
    }
    SYNC();
    for (u32 i = THREAD; i < (u32)(COLUMNS * rows); i += THREADS) {
        const i64 row = i % rows, column = i / rows;
        f32 total = 0;
        for (u32 w = 0; w < warps; w++)
            total += part[(w * COLUMNS + column) * rows + row];
        if (row < a->m)
            STORE(T, PTR(T, a->to), row * a->to_row + (tile * COLUMNS + column) * a->to_column,
                  total);
    }
}

#define THIN(rows)                                   \
    KERNEL(int4_multiply_##rows, struct int4_args)   \
    {                                                \
        SHARED(f32, part, 8 * COLUMNS * rows);       \
        multiply_int4(&a, part, rows);               \
    }
THIN(1)
THIN(2)
THIN(4)
THIN(8)

KERNEL(int4_pack, struct int4_pack_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.count; i += (i64)GRID_X * THREADS) {
        const i64 word = i % a.words, lane = i / a.words % 32, block = i / a.words / 32;
        const i64 n = block / a.blocks * COLUMNS + lane / 4;
        const i64 k = first_k(block % a.blocks, a.words, word, lane);
        u32 bits = 0;
        UNROLL
        for (int s = 0; s < VALUES / 2; s++) {
            const u32 pair = PTR(const u8, a.from)[n * a.from_row + (k + 8 * s) / 2 * a.from_column];
            bits |= (pair >> 4 & 15) << (4 * s) | (pair & 15) << (4 * s + 16);
        }
        PTR(u32, a.packed)[i] = bits;
    }
}
