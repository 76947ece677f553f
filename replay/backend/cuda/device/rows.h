/* Iterations of teams over rows: STEP elements, 16 bytes, at a time if the text defines VECTOR, and
 * one at a time from WHOLE(n) on. Rows may be stored in shared memory for the next iteration. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ROWS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ROWS_H

#include "replay/backend/cuda/device/team.h"

#ifdef KERNEL
#ifdef VECTOR
#define STEP     PER16(T)
#define WHOLE(n) ((n) - (n) % STEP)
#else
#define WHOLE(n) 0
#endif

/* Returns the position of element i of a row of n: adjacent threads have adjacent positions. */
DEVICE u32 kept_at(struct team t, INDEX n, INDEX i)
{
    return t.across ? (u32)i * t.rows + t.row : t.row * (u32)n + (u32)i;
}
#endif

#endif
