/* Writes entries at their keys: the last one of a key, or all of one key combined. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_COMBINE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_COMBINE_H

#include "replay/backend/cuda/device/index/index.h"

/* SMALL: keys that a block searches in shared memory; MATCHES: those that a warp found and did not
 * combine yet; CHUNK: sorted entries of a chunk. */
enum { COMBINE_SMALL = 4096, COMBINE_MATCHES = 256, COMBINE_THREADS = 256, COMBINE_CHUNK = 32 };

/* HOW: the values of COMBINE_ADD ... of replay/backend/call/combine.h. */
struct combine_args {
    u64 to, values;
    u64 keys, order; /* u32 by entry; sorted by key for combine_chunks and combine_joins */
    u64 winner;      /* u32 by key: the last entry with that key, plus 1 */
    u64 partial;  /* ACC [chunk][2][inner]: the runs that continue from the chunk before, and into
                     the next one */
    i64 n, inner; /* entries, and the elements of each */
    i64 unit, limit;           /* key k is at element k * unit; keys from `limit` on are not used */
    i64 to_inner, value_inner; /* strides of an entry's elements */
    f64 alpha;                 /* multiplies values, for HOW 1 */
    u32 ndim, include_self;
    u32 columns; /* lanes of a warp for an entry's elements: a power of two */
    u32 unused;
    i64 size[STRIDED_MAX_DIM], value_stride[STRIDED_MAX_DIM]; /* of the entries */
};

/* index.n 0: keys are in memory. */
struct combine_small_args {
    struct combine_args c;
    struct index_args index;
};

#endif
