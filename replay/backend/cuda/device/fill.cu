/* Fills a range. Defines: T (u8, u16 or u32). */
#include "replay/backend/cuda/device/fill.h"

KERNEL(fill, struct fill_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS)
        PTR(T, a.to)[i] = (T)a.value;
}
