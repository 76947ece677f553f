/* A block of 256 threads computes a tile of 64 by 64 sums, 4 by 4 for each thread, from DEPTH rows
 * of left and right at a time: [DEPTH][PITCH] in shared memory. Defines: ACC. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TILE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TILE_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef KERNEL
enum { TILE = 64, DEPTH = 16, PITCH = TILE + 4 };

/* Adds the products of rows y + i of left and x + j of right to sum[i][j]. */
DEVICE void add_products(ACC (*sum)[4], const ACC *left, const ACC *right, int y, int x)
{
    UNROLL for (int d = 0; d < DEPTH; d++)
    {
        ACC p[4], q[4];
        UNROLL for (int i = 0; i < 4; i++)
        {
            p[i] = left[d * PITCH + y + i];
            q[i] = right[d * PITCH + x + i];
        }
        UNROLL for (int i = 0; i < 4; i++) UNROLL for (int j = 0; j < 4; j++) sum[i][j] +=
            p[i] * q[j];
    }
}
#endif

#endif
