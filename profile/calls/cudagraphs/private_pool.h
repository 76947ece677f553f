/* A pool of PyTorch's caching allocator for CUDA (c10/cuda/CUDACachingAllocator.cpp,
 * DeviceCachingAllocator): blocks are cut from segments, the best that fits first, and joined when
 * they are free. Segments are never given back. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_PRIVATE_POOL_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_PRIVATE_POOL_H

#include <stdint.h>

#include "trace/base/vec.h"

struct pool_block {
    uint64_t bytes;
    uint32_t previous, next; /* in the segment; BLOCK_NONE */
    uint32_t at;             /* in private_pool.free; BLOCK_NONE while it is used */
    bool small;              /* its segment is for blocks of 1 MiB at most */
};
#define BLOCK_NONE UINT32_MAX

struct private_pool {
    vec_of(struct pool_block)
    blocks;
    vec_of(uint32_t)
    free, unused;        /* blocks; entries of `blocks` that joined another */
    uint64_t reserved;   /* bytes of all segments */
    uint64_t used, peak; /* bytes of blocks that are used, and the most so far */
    uint64_t work;       /* blocks that were looked at */
};

/* The most that a caller may let `reserved` become, and the most bytes of one block: no GPU has as
 * much, and no sum overflows. */
#define POOL_MOST_BYTES ((uint64_t)1 << 48)

/* Sets *ret to a block; BLOCK_NONE for 0 bytes. Returns false when memory ran out. */
bool private_pool_take(struct private_pool *pool, uint64_t bytes, uint32_t *ret);
/* BLOCK_NONE is allowed. Returns false when memory ran out. */
bool private_pool_give(struct private_pool *pool, uint32_t block);
void private_pool_release(struct private_pool *pool);

#endif
