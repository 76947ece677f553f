/* Prefix sums. Defines: N (u32 or i64). */
#include "replay/backend/cuda/device/reduce/block_scan.h"
#include "replay/backend/cuda/device/index/offsets.h"

KERNEL(offsets_sum, struct offsets_args)
{
    SHARED(N, shared, BLOCK_SCAN_WARPS);
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

/* Loads the contiguous numbers of a thread and returns their sum. */
DEVICE N take_each(const struct offsets_args *a, i64 first, N *x)
{
    const N *numbers = PTR(const N, a->numbers);
    N sum = 0;
    UNROLL
    for (u32 j = 0; j < OFFSETS_EACH; j++) {
        x[j] = first + j < a->n ? numbers[first + j] : 0;
        sum += x[j];
    }
    return sum;
}

DEVICE void give_each(const struct offsets_args *a, i64 first, const N *x, N at)
{
    UNROLL
    for (u32 j = 0; j < OFFSETS_EACH; j++) {
        if (first + j < a->n)
            PTR(N, a->numbers)[first + j] = at;
        at += x[j];
    }
}

/* One block processes all of them. */
KERNEL_OF(offsets_one, struct offsets_args, 1024)
{
    SHARED(N, shared, BLOCK_SCAN_WARPS);
    N done = 0, x[OFFSETS_EACH], all;
    ROLLED
    for (i64 start = 0; start < a.n; start += (i64)THREADS * OFFSETS_EACH) {
        i64 first = start + (i64)THREAD * OFFSETS_EACH;
        N before = sum_before(shared, take_each(&a, first, x), &all);
        give_each(&a, first, x, done + before);
        done += all;
    }
    if (THREAD == 0 && a.total)
        *PTR(N, a.total) = done;
}

/* The sums before each tile were computed by offsets_one from the tiles' sums. */
KERNEL(offsets_write, struct offsets_args)
{
    SHARED(N, shared, BLOCK_SCAN_WARPS);
    N x[OFFSETS_EACH], all;
    const i64 first = (i64)BLOCK_X * OFFSETS_TILE + (i64)THREAD * OFFSETS_EACH;
    N before = sum_before(shared, take_each(&a, first, x), &all);
    give_each(&a, first, x, PTR(const N, a.sums)[BLOCK_X] + before);
}
