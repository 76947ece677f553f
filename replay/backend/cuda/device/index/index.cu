/* Reads at indices. Defines: T (elements by their bits: u8, u16, u32, u64, struct words16), I,
 * DIMS. */
#include "replay/backend/cuda/device/index/places.h"

KERNEL(index_read, struct index_args)
{
    T *to = PTR(T, a.to);
    const T *from = PTR(const T, a.from);
    const u8 *mask = PTR(const u8, a.mask);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        I at[DIMS];
        i32 skipped = 0;
        coordinates(a.size, a.ndim, (I)i, at);
        I place = offset_of(a.from_stride, a.ndim, at), target = offset_of(a.to_stride, a.ndim, at);
        if (mask && !mask[offset_of(a.mask_stride, a.ndim, at)])
            to[target] = *(const T *)a.fill;
        else if (add_indices(&a, at, &place, &skipped))
            to[target] = from[place];
    }
}
MOVES16(index_read, sizeof(T) == 16, sizeof(T) == 16)

/* Writes the key of each entry. */
KERNEL(index_keys, struct index_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        PTR(u32, a.to)[i] = entry_key(&a, i);
        PTR(u32, a.order)[i] = (u32)i;
    }
}
