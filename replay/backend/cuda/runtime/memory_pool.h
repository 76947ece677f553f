/* A pool of device memory: chunks are allocated by the driver in multiples of 2 MiB and split into
 * blocks.
 *
 * An allocation gets the smallest free block that fits; free neighbours are merged. Freed memory
 * may be reused at once, since everything that uses it runs in order on one stream. Addresses are
 * multiples of 256. Blocks of size 0 have an address of their own, too.
 *
 * The pool calls no driver: `source` allocates its chunks. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MEMORY_POOL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MEMORY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_POOL_ALIGNMENT = 256, MEMORY_POOL_CHUNK = 2 << 20 };

struct memory_pool_source {
    /* False: out of device memory. The address is a multiple of MEMORY_POOL_ALIGNMENT. */
    bool (*get)(void *user, size_t bytes, uint64_t *ret);
    void (*put)(void *user, uint64_t address);
    void *user;
};

struct pool_block;
enum { MEMORY_POOL_CLASSES = 224 };

struct memory_pool {
    struct memory_pool_source source;
    struct pool_block *free[MEMORY_POOL_CLASSES]; /* by size: four classes for each power of two */
    struct pool_block *chunks;                    /* the first block of each chunk */
    struct pool_block *unused;                    /* unused descriptors, linked by next_free */
    struct pool_block **used; /* by address: a hash table of `n_slots`, a power of two */
    size_t n_used, n_slots;
    size_t bytes, peak;             /* allocated now, rounded, and the maximum */
    size_t reserved, reserved_peak; /* from the source */
    uint64_t n_chunks;              /* that were allocated in total */
    uint64_t taken, returned;       /* bytes, from and to the source, in total */
    /* Bytes of chunks that the pool keeps when they are empty, and beyond which it takes no more
     * than it needs; 0: any. What is used may exceed it. */
    uint64_t budget;
    /* Empty chunks stay until the pool is released: work that is launched later uses them. */
    bool keeps_chunks;
};

void memory_pool_init(struct memory_pool *pool, struct memory_pool_source source);
void memory_pool_release(struct memory_pool *pool); /* frees all chunks */

enum memory_pool_outcome { MEMORY_POOL_DONE, MEMORY_POOL_NO_DEVICE_MEMORY, MEMORY_POOL_NO_MEMORY };
/* Allocates. If no free block is large enough, it frees empty chunks before it takes another. */
enum memory_pool_outcome memory_pool_get(struct memory_pool *pool, size_t bytes, uint64_t *ret);
/* False: the address was not allocated. */
bool memory_pool_put(struct memory_pool *pool, uint64_t address);
/* Frees empty chunks; returns their bytes. */
size_t memory_pool_trim(struct memory_pool *pool);
/* Frees empty chunks until what is left is within the budget. */
void memory_pool_keep_budget(struct memory_pool *pool);

#endif
