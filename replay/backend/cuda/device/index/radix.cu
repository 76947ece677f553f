/* Radix sort. Defines: K (u32 or u64). A block sorts a tile, in rounds of a key for each thread. */
#include "replay/backend/cuda/device/bits.h"
#include "replay/backend/cuda/device/index/radix.h"

DEVICE u32 digit_of(const struct radix_args *a, i64 i)
{
    return i < a->n ? (u32)(PTR(const K, a->keys)[i] >> a->shift) & (RADIX_DIGITS - 1)
                    : RADIX_DIGITS;
}

KERNEL(radix_count, struct radix_args)
{
    SHARED(u32, count, RADIX_DIGITS);
    count[THREAD] = 0;
    SYNC();
    ROLLED
    for (u32 round = 0; round < RADIX_ROUNDS; round++) {
        u32 digit = digit_of(&a, (i64)BLOCK_X * RADIX_TILE + round * RADIX_THREADS + THREAD);
        if (digit < RADIX_DIGITS)
            ATOMIC_ADD_u32(&count[digit], 1);
    }
    SYNC();
    PTR(u32, a.counts)[(i64)THREAD * GRID_X + BLOCK_X] = count[THREAD];
}

/* Returns the lanes of the warp that have the same digit. */
DEVICE u32 lanes_alike(u32 digit)
{
    u32 alike = 0xffffffffu;
    UNROLL
    for (u32 bit = 0; bit < 9; bit++) {
        u32 set = BALLOT(digit >> bit & 1);
        alike &= digit >> bit & 1 ? set : ~set;
    }
    return alike;
}

KERNEL(radix_place, struct radix_args)
{
    SHARED(u32, base, RADIX_DIGITS);
    SHARED(u32, of_warp, RADIX_THREADS / WARP * RADIX_DIGITS);
    base[THREAD] = PTR(const u32, a.counts)[(i64)THREAD * GRID_X + BLOCK_X];
    ROLLED
    for (u32 round = 0; round < RADIX_ROUNDS; round++) {
        i64 i = (i64)BLOCK_X * RADIX_TILE + round * RADIX_THREADS + THREAD;
        u32 digit = digit_of(&a, i), warp = THREAD / WARP;
        ROLLED
        for (u32 w = 0; w < RADIX_THREADS / WARP; w++)
            of_warp[w * RADIX_DIGITS + THREAD] = 0;
        SYNC();
        u32 alike = lanes_alike(digit), rank = popcount32(alike & ((1u << LANE) - 1));
        if (rank == 0 && digit < RADIX_DIGITS)
            of_warp[warp * RADIX_DIGITS + digit] = popcount32(alike);
        SYNC();
        u32 before = base[THREAD]; /* here a thread represents a digit */
        ROLLED
        for (u32 w = 0; w < RADIX_THREADS / WARP; w++) {
            u32 n = of_warp[w * RADIX_DIGITS + THREAD];
            of_warp[w * RADIX_DIGITS + THREAD] = before;
            before += n;
        }
        base[THREAD] = before;
        SYNC();
        if (digit < RADIX_DIGITS) {
            u32 place = of_warp[warp * RADIX_DIGITS + digit] + rank;
            PTR(K, a.to_keys)[place] = PTR(const K, a.keys)[i];
            PTR(u32, a.to_order)[place] = PTR(const u32, a.order)[i];
        }
        SYNC();
    }
}
