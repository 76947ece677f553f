/* Entries written where their keys say: one for each key, or all that share one combined in their
 * order. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COMBINE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COMBINE_H

#include "replay/backend/cuda/device/strided.h"

/* HOW: as COMBINE_ADD ... of replay/backend/combine.h. */
struct combine_args {
    u64 to, values;
    u64 keys, order; /* u32 by entry, sorted by key for combine_segments */
    u64 winner;      /* u32 by key: the last entry that has it, plus 1 */
    i64 n, inner;    /* entries, and elements that each moves */
    i64 unit, limit; /* key k is at element k * unit; from `limit` on there is no place */
    i64 to_inner, value_inner; /* strides of an entry's elements */
    f64 alpha;       /* what values are multiplied by, for HOW 1 */
    u32 ndim, include_self;
    i64 size[STRIDED_MAX_DIM], value_stride[STRIDED_MAX_DIM]; /* of the entries */
};

#endif
