/* Device memory by parts: chunks are asked for at the driver in multiples of 2 MiB and cut up.
 *
 * A part is the smallest free one that fits; neighbours that are free become one again. What is
 * given back may be handed out at once: everything that uses it runs in order on one stream.
 * Addresses are multiples of 256. Parts of no bytes have an address of their own, too.
 *
 * The pool knows no driver: it asks for chunks through `source`. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MEMORY_POOL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MEMORY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POOL_ALIGNMENT = 256, POOL_CHUNK = 2 << 20 };

struct pool_source {
    /* False: there is not so much. The address is a multiple of POOL_ALIGNMENT. */
    bool (*get)(void *user, size_t bytes, uint64_t *ret);
    void (*put)(void *user, uint64_t address);
    void *user;
};

struct pool_part;
enum { POOL_CLASSES = 224 };

struct pool {
    struct pool_source source;
    struct pool_part *free[POOL_CLASSES]; /* by size: four classes a power of two */
    struct pool_part *chunks;             /* the first part of each chunk */
    struct pool_part *unused;             /* descriptions of none, linked by next_free */
    struct pool_part **used;              /* by address: a table of `n_slots`, a power of two */
    size_t n_used, n_slots;
    size_t bytes, peak;             /* handed out now, rounded, and at most */
    size_t reserved, reserved_peak; /* of the source */
    size_t next_chunk;
    uint64_t n_chunks; /* that were ever asked for */
};

void pool_init(struct pool *pool, struct pool_source source);
void pool_release(struct pool *pool); /* all chunks go back */

enum pool_outcome { POOL_DONE, POOL_NO_DEVICE_MEMORY, POOL_NO_MEMORY };
/* Without room, chunks that nothing is in go back and it is tried once more. */
enum pool_outcome pool_get(struct pool *pool, size_t bytes, uint64_t *ret);
/* False: it is no part that was handed out. */
bool pool_put(struct pool *pool, uint64_t address);
/* Chunks that nothing is in go back; returns their bytes. */
size_t pool_trim(struct pool *pool);

#endif
