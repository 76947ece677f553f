/* repeat_interleave and bincount. Defines: T (an integer), O (of repeat_places' result). */
#define N i64
#include "replay/backend/cuda/device/reduce/block_scan.h"
#include "replay/backend/cuda/device/index/count.h"

/* It runs in one block. */
KERNEL_OF(repeat_sums, struct repeat_args, COUNT_THREADS)
{
    SHARED(i64, shared, BLOCK_SCAN_WARPS);
    i64 done = 0, below = 0, x[COUNT_EACH], all;
    ROLLED
    for (i64 start = 0; start < a.n; start += (i64)THREADS * COUNT_EACH) {
        i64 first = start + (i64)THREAD * COUNT_EACH, mine = 0;
        UNROLL
        for (u32 j = 0; j < COUNT_EACH; j++) {
            x[j] = first + j < a.n ? (i64)LOAD(T, PTR(const T, a.numbers), (first + j) * a.step) : 0;
            mine += x[j];
            below += x[j] < 0;
        }
        i64 at = done + sum_before(shared, mine, &all);
        UNROLL
        for (u32 j = 0; j < COUNT_EACH; j++) {
            if (first + j < a.n)
                PTR(i64, a.sums)[first + j] = at;
            at += x[j];
        }
        done += all;
    }
    sum_before(shared, below, &all);
    if (THREAD == 0) {
        PTR(i64, a.total)[0] = done;
        PTR(i64, a.total)[1] = all;
    }
}

/* Writes the number that each element of the result repeats. */
KERNEL(repeat_places, struct repeat_args)
{
    const i64 *sums = PTR(const i64, a.sums), total = *PTR(const i64, a.total);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.length; i += (i64)GRID_X * THREADS) {
        i64 low = 0, high = a.n;
        ROLLED
        while (low < high) {
            i64 mid = low + (high - low) / 2;
            b8 before = sums[mid] <= i;
            low = before ? mid + 1 : low;
            high = before ? high : mid;
        }
        STORE(O, PTR(O, a.to), i * a.to_step, i < total ? low - 1 : 0);
    }
}

KERNEL(extremes, struct extremes_args)
{
    SHARED(i64, greatest, BLOCK_SCAN_WARPS);
    SHARED(i64, least, BLOCK_SCAN_WARPS);
    i64 most = I64_MIN, fewest = I64_MAX;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        i64 x = (i64)LOAD(T, PTR(const T, a.numbers), i * a.step);
        most = MAX(most, x);
        fewest = MIN(fewest, x);
    }
    ROLLED
    for (u32 mask = WARP / 2; mask; mask /= 2) {
        i64 p = SHUFFLE_XOR_i64(most, mask), q = SHUFFLE_XOR_i64(fewest, mask);
        most = MAX(most, p);
        fewest = MIN(fewest, q);
    }
    if (LANE == 0) {
        greatest[THREAD / WARP] = most;
        least[THREAD / WARP] = fewest;
    }
    SYNC();
    if (THREAD != 0)
        return;
    ROLLED
    for (u32 w = 1; w < THREADS / WARP; w++) {
        most = MAX(most, greatest[w]);
        fewest = MIN(fewest, least[w]);
    }
    PTR(i64, a.to)[BLOCK_X] = most;
    PTR(i64, a.to)[GRID_X + BLOCK_X] = fewest;
}
