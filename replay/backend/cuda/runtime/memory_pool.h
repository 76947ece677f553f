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

enum { POOL_ALIGNMENT = 256, POOL_CHUNK = 2 << 20 };

struct pool_source {
    /* False: out of device memory. The address is a multiple of POOL_ALIGNMENT. */
    bool (*get)(void *user, size_t bytes, uint64_t *ret);
    void (*put)(void *user, uint64_t address);
    void *user;
};

struct pool_part;
enum { POOL_CLASSES = 224 };

struct pool {
    struct pool_source source;
    struct pool_part *free[POOL_CLASSES]; /* by size: four classes for each power of two */
    struct pool_part *chunks;             /* the first block of each chunk */
    struct pool_part *unused;             /* unused descriptors, linked by next_free */
    struct pool_part **used; /* by address: a hash table of `n_slots`, a power of two */
    size_t n_used, n_slots;
    size_t bytes, peak;             /* allocated now, rounded, and the maximum */
    size_t reserved, reserved_peak; /* from the source */
    size_t next_chunk;
    uint64_t n_chunks; /* that were allocated in total */
};

void pool_init(struct pool *pool, struct pool_source source);
void pool_release(struct pool *pool); /* frees all chunks */

enum pool_outcome { POOL_DONE, POOL_NO_DEVICE_MEMORY, POOL_NO_MEMORY };
/* Allocates. If there is no space, it frees empty chunks and tries again. */
enum pool_outcome pool_get(struct pool *pool, size_t bytes, uint64_t *ret);
/* False: the address was not allocated. */
bool pool_put(struct pool *pool, uint64_t address);
/* Frees empty chunks; returns their bytes. */
size_t pool_trim(struct pool *pool);

#endif
