/* Evaluates the indices of an entry. Defines: I, DIMS. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_PLACES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_PLACES_H

#include "replay/backend/cuda/device/index/index.h"

#ifdef DIMS
/* Adds the indices' parts to the position; false: it is out of range. Negative indices count from
 * the end. */
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

/* Returns the key of an entry; index_args.limit: it has none. */
DEVICE u32 entry_key(const struct index_args *a, i64 entry)
{
    const u8 *mask = PTR(const u8, a->mask);
    I at[DIMS];
    i32 skipped = 0;
    if (a->live.at && entry >= LIVE_COUNT(a->live))
        return (u32)a->limit;
    coordinates(a->size, a->ndim, (I)entry, at);
    I place = offset_of(a->from_stride, a->ndim, at);
    i32 goes = (!mask || mask[offset_of(a->mask_stride, a->ndim, at)]) &&
               add_indices(a, at, &place, &skipped) && !skipped;
    return goes ? (u32)(place / (I)a->unit) : (u32)a->limit;
}
#endif

#endif
