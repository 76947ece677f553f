/* Defines: T (elements by their bits: u8, u16, u32, u64, struct words16), I, DIMS. */
#include "replay/backend/cuda/device/index.h"

/* Adds what the indices say to the place; false: there is no such place. Negative ones count from the
 * end. */
DEVICE i32 add_indices(const struct index_args *a, const I *at, I *place, i32 *skipped)
{
    ROLLED
    for (u32 j = 0; j < a->n_tensors; j++) {
        const struct index_tensor *t = &a->tensor[j];
        I offset = offset_of(t->stride, a->ndim, at);
        i64 given = t->narrow ? (i64)PTR(const i32, t->address)[offset]
                              : PTR(const i64, t->address)[offset];
        i64 index = given;
        if (a->clamp)
            index = index < 0 ? 0 : index >= t->bound ? t->bound - 1 : index;
        else if (index < 0)
            index += t->bound;
        if (index < 0 || index >= t->bound) {
            REPORT(a->error, given);
            return 0;
        }
        *skipped |= a->has_skip && given == a->skip;
        *place += (I)index * (I)t->step;
    }
    return 1;
}

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

/* Where each entry goes. */
KERNEL(index_keys, struct index_args)
{
    const u8 *mask = PTR(const u8, a.mask);
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        I at[DIMS];
        i32 skipped = 0;
        coordinates(a.size, a.ndim, (I)i, at);
        I place = offset_of(a.from_stride, a.ndim, at);
        i32 goes = (!mask || mask[offset_of(a.mask_stride, a.ndim, at)]) &&
                   add_indices(&a, at, &place, &skipped) && !skipped;
        PTR(u32, a.to)[i] = (u32)(goes ? (i64)place / a.unit : a.limit);
        PTR(u32, a.order)[i] = (u32)i;
    }
}
