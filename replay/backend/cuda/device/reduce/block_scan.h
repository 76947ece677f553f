/* Prefix sums over the threads of a block. Defines: N. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_BLOCK_SCAN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_BLOCK_SCAN_H

#include "replay/backend/cuda/device/prologue.h"

enum { BLOCK_SCAN_WARPS = 32 };

#ifdef KERNEL
/* Returns the sum of the values of the block's threads before this one; *all is the sum of all.
 * Blocks must have whole warps; shared has BLOCK_SCAN_WARPS elements. */
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
