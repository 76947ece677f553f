/* Defines: N (u32 or i64). */
#include "replay/backend/cuda/device/offsets.h"

/* The sum of what the block's threads before this one have; of all in *all. */
DEVICE N sum_before(N *shared, N mine, N *all)
{
    N sum = mine;
    shared[THREAD] = sum;
    SYNC();
    ROLLED
    for (u32 by = 1; by < OFFSETS_THREADS; by *= 2) {
        N other = THREAD >= by ? shared[THREAD - by] : 0;
        SYNC();
        sum += other;
        shared[THREAD] = sum;
        SYNC();
    }
    *all = shared[OFFSETS_THREADS - 1];
    SYNC();
    return sum - mine;
}

KERNEL(offsets_sum, struct offsets_args)
{
    SHARED(N, shared, OFFSETS_THREADS);
    const N *numbers = PTR(const N, a.numbers);
    N mine = 0, all;
    UNROLL
    for (u32 j = 0; j < OFFSETS_EACH; j++) {
        i64 i = (i64)BLOCK_X * OFFSETS_TILE + j * OFFSETS_THREADS + THREAD;
        mine += i < a.n ? numbers[i] : 0;
    }
    sum_before(shared, mine, &all);
    if (THREAD == 0)
        PTR(N, a.sums)[BLOCK_X] = all;
}

/* One block: the tiles' sums become offsets. */
KERNEL(offsets_tiles, struct offsets_args)
{
    SHARED(N, shared, OFFSETS_THREADS);
    N *sums = PTR(N, a.sums), done = 0, all;
    ROLLED
    for (i64 start = 0; start < a.tiles; start += OFFSETS_THREADS) {
        i64 i = start + THREAD;
        N mine = i < a.tiles ? sums[i] : 0, before = sum_before(shared, mine, &all);
        if (i < a.tiles)
            sums[i] = done + before;
        done += all;
    }
    if (THREAD == 0 && a.total)
        *PTR(N, a.total) = done;
}

KERNEL(offsets_write, struct offsets_args)
{
    SHARED(N, shared, OFFSETS_THREADS);
    N *numbers = PTR(N, a.numbers), x[OFFSETS_EACH], mine = 0, all;
    const i64 first = (i64)BLOCK_X * OFFSETS_TILE + (i64)THREAD * OFFSETS_EACH;
    UNROLL
    for (u32 j = 0; j < OFFSETS_EACH; j++) {
        x[j] = first + j < a.n ? numbers[first + j] : 0;
        mine += x[j];
    }
    N at = PTR(const N, a.sums)[BLOCK_X] + sum_before(shared, mine, &all);
    UNROLL
    for (u32 j = 0; j < OFFSETS_EACH; j++) {
        if (first + j < a.n)
            numbers[first + j] = at;
        at += x[j];
    }
}
