/* Sums over a block's threads: what each begins at. Defines: N. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_BLOCK_SCAN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_BLOCK_SCAN_H

#include "replay/backend/cuda/device/prologue.h"

enum { BLOCK_SCAN_WARPS = 32 };

#ifdef KERNEL
/* The sum of what the block's threads before this one have; of all in *all. Blocks of whole warps;
 * shared: BLOCK_SCAN_WARPS. */
DEVICE N sum_before(N *shared, N mine, N *all)
{
    N sum = mine, before = 0, total = 0;
    ROLLED
    for (u32 by = 1; by < WARP; by *= 2) {
        N other = CAT(SHUFFLE_UP_, N)(sum, by);
        sum += LANE >= by ? other : 0;
    }
    if (LANE == WARP - 1)
        shared[THREAD / WARP] = sum;
    SYNC();
    ROLLED
    for (u32 w = 0; w < THREADS / WARP; w++) {
        before += w < THREAD / WARP ? shared[w] : 0;
        total += shared[w];
    }
    SYNC();
    *all = total;
    return before + sum - mine;
}
#endif

#endif
