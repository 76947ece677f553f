#include "replay/backend/cuda/runtime/memory_pool.h"

#include <stdlib.h>
#include <string.h>

/* A block of memory, used or free. `before` and `after` are its neighbours in the chunk; the first
 * block of a chunk is in the list of chunks, a free block in the list of its class. */
struct pool_block {
    uint64_t address;
    size_t bytes;
    bool used;
    struct pool_block *before, *after;
    struct pool_block *next_free, *previous_free;
    struct pool_block *next_chunk, *previous_chunk; /* of the first block of a chunk */
};

enum { MOST_AT_ONCE = 256 << 20 };

void memory_pool_init(struct memory_pool *pool, struct memory_pool_source source)
{
    *pool = (struct memory_pool){ .source = source };
}

/* ---- Descriptors ---- */

static struct pool_block *part_new(struct memory_pool *pool)
{
    struct pool_block *part = pool->unused;
    if (!part)
        return malloc(sizeof *part);
    pool->unused = part->next_free;
    return part;
}

static void part_free(struct memory_pool *pool, struct pool_block *part)
{
    part->next_free = pool->unused;
    pool->unused = part;
}

/* ---- Free blocks by size ---- */

/* Returns the size class; there are four for each power of two: 256, 320, 384, 448, 512, 640 ...
 * Each contains the sizes below the next one. */
static unsigned size_class(size_t bytes)
{
    size_t units = bytes / MEMORY_POOL_ALIGNMENT;
    unsigned log = 63 - (unsigned)__builtin_clzll(units);
    unsigned quarter =
        log >= 2 ? (unsigned)(units >> (log - 2)) & 3 : (unsigned)(units << (2 - log)) & 3;
    return log * 4 + quarter;
}

static void link_free(struct memory_pool *pool, struct pool_block *part)
{
    struct pool_block **first = &pool->free[size_class(part->bytes)];
    part->used = false;
    part->previous_free = NULL;
    part->next_free = *first;
    if (*first)
        (*first)->previous_free = part;
    *first = part;
}

static void unlink_free(struct memory_pool *pool, struct pool_block *part)
{
    if (part->next_free)
        part->next_free->previous_free = part->previous_free;
    if (part->previous_free)
        part->previous_free->next_free = part->next_free;
    else
        pool->free[size_class(part->bytes)] = part->next_free;
}

/* Returns the smallest block that fits; of equal ones that with the lowest address, so that runs
 * are reproducible. */
static struct pool_block *best_free(struct memory_pool *pool, size_t bytes)
{
    for (unsigned c = size_class(bytes); c < MEMORY_POOL_CLASSES; c++) {
        struct pool_block *best = NULL;
        for (struct pool_block *p = pool->free[c]; p; p = p->next_free)
            if (p->bytes >= bytes && (!best || p->bytes < best->bytes ||
                                      (p->bytes == best->bytes && p->address < best->address)))
                best = p;
        if (best)
            return best;
    }
    return NULL;
}

/* ---- Used blocks by address ---- */

static size_t address_slot(const struct memory_pool *pool, uint64_t address)
{
    uint64_t mixed = (address / MEMORY_POOL_ALIGNMENT) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 20) & (pool->n_slots - 1);
}

static void place_used(struct memory_pool *pool, struct pool_block *part)
{
    size_t i = address_slot(pool, part->address);
    while (pool->used[i])
        i = (i + 1) & (pool->n_slots - 1);
    pool->used[i] = part;
}

static bool grow_used(struct memory_pool *pool)
{
    size_t old_n = pool->n_slots, n = old_n ? old_n * 2 : 64;
    struct pool_block **old = pool->used, **more = calloc(n, sizeof *more);
    if (!more)
        return false;
    pool->used = more;
    pool->n_slots = n;
    for (size_t i = 0; i < old_n; i++)
        if (old[i])
            place_used(pool, old[i]);
    free(old);
    return true;
}

static struct pool_block *take_used(struct memory_pool *pool, uint64_t address)
{
    if (!pool->n_slots)
        return NULL;
    size_t mask = pool->n_slots - 1, i = address_slot(pool, address);
    while (pool->used[i] && pool->used[i]->address != address)
        i = (i + 1) & mask;
    struct pool_block *found = pool->used[i];
    if (!found)
        return NULL;
    pool->used[i] = NULL;
    pool->n_used--;
    /* entries behind the gap that collided may have to move into it */
    for (size_t j = (i + 1) & mask; pool->used[j]; j = (j + 1) & mask) {
        struct pool_block *moved = pool->used[j];
        pool->used[j] = NULL;
        place_used(pool, moved);
    }
    return found;
}

/* ---- Chunks ---- */

static bool add_chunk(struct memory_pool *pool, size_t bytes)
{
    uint64_t address;
    struct pool_block *part = part_new(pool);
    if (!part || !pool->source.get(pool->source.user, bytes, &address)) {
        if (part)
            part_free(pool, part);
        return false;
    }
    *part = (struct pool_block){ .address = address, .bytes = bytes, .next_chunk = pool->chunks };
    if (pool->chunks)
        pool->chunks->previous_chunk = part;
    pool->chunks = part;
    link_free(pool, part);
    pool->n_chunks++;
    pool->taken += bytes;
    pool->reserved += bytes;
    if (pool->reserved > pool->reserved_peak)
        pool->reserved_peak = pool->reserved;
    return true;
}

static void drop_chunk(struct memory_pool *pool, struct pool_block *part)
{
    if (part->next_chunk)
        part->next_chunk->previous_chunk = part->previous_chunk;
    if (part->previous_chunk)
        part->previous_chunk->next_chunk = part->next_chunk;
    else
        pool->chunks = part->next_chunk;
    unlink_free(pool, part);
    pool->reserved -= part->bytes;
    pool->returned += part->bytes;
    pool->source.put(pool->source.user, part->address);
    part_free(pool, part);
}

/* Frees empty chunks until no more than `most` bytes are left. */
static size_t trim_to(struct memory_pool *pool, uint64_t most)
{
    size_t before = pool->reserved;
    for (struct pool_block *part = pool->keeps_chunks ? NULL : pool->chunks, *next;
         part && pool->reserved > most; part = next) {
        next = part->next_chunk;
        if (!part->used && !part->after)
            drop_chunk(pool, part);
    }
    return before - pool->reserved;
}

size_t memory_pool_trim(struct memory_pool *pool)
{
    return trim_to(pool, 0);
}

void memory_pool_keep_budget(struct memory_pool *pool)
{
    if (pool->budget)
        trim_to(pool, pool->budget);
}

/* Returns whether that many more bytes are within the budget. */
static bool within_budget(const struct memory_pool *pool, size_t bytes)
{
    return !pool->budget ||
           (pool->reserved <= pool->budget && bytes <= pool->budget - pool->reserved);
}

/* Empty chunks are freed first: each is too small, and the new one serves what they served. A chunk
 * is as large as all others together, so that their number stays small, or exact beyond the budget
 * or where the device has no more. Thus the pool may be twice as large as what is used. */
static bool grow_pool(struct memory_pool *pool, size_t bytes)
{
    if (bytes > SIZE_MAX - MEMORY_POOL_CHUNK)
        return false;
    size_t exact = (bytes + MEMORY_POOL_CHUNK - 1) / MEMORY_POOL_CHUNK * MEMORY_POOL_CHUNK;
    trim_to(pool, 0);
    size_t more = pool->reserved < MOST_AT_ONCE ? pool->reserved : MOST_AT_ONCE;
    return (more > exact && within_budget(pool, more) && add_chunk(pool, more)) ||
           add_chunk(pool, exact);
}

/* ---- Blocks ---- */

/* Splits the block: the memory after the first `bytes` becomes a free block. */
static bool split_block(struct memory_pool *pool, struct pool_block *part, size_t bytes)
{
    if (part->bytes == bytes)
        return true;
    struct pool_block *rest = part_new(pool);
    if (!rest)
        return false;
    *rest = (struct pool_block){ .address = part->address + bytes,
                                 .bytes = part->bytes - bytes,
                                 .before = part,
                                 .after = part->after };
    if (part->after)
        part->after->before = rest;
    part->after = rest;
    part->bytes = bytes;
    link_free(pool, rest);
    return true;
}

enum memory_pool_outcome memory_pool_get(struct memory_pool *pool, size_t bytes, uint64_t *ret)
{
    if (bytes > SIZE_MAX / 2)
        return MEMORY_POOL_NO_DEVICE_MEMORY;
    bytes =
        bytes ? (bytes + MEMORY_POOL_ALIGNMENT - 1) / MEMORY_POOL_ALIGNMENT * MEMORY_POOL_ALIGNMENT
              : MEMORY_POOL_ALIGNMENT;
    if (pool->n_used * 2 >= pool->n_slots && !grow_used(pool))
        return MEMORY_POOL_NO_MEMORY;
    struct pool_block *part = best_free(pool, bytes);
    if (!part && grow_pool(pool, bytes))
        part = best_free(pool, bytes);
    if (!part)
        return MEMORY_POOL_NO_DEVICE_MEMORY;
    unlink_free(pool, part);
    if (!split_block(pool, part, bytes)) {
        link_free(pool, part);
        return MEMORY_POOL_NO_MEMORY;
    }
    part->used = true;
    place_used(pool, part);
    pool->n_used++;
    pool->bytes += bytes;
    pool->peak = pool->bytes > pool->peak ? pool->bytes : pool->peak;
    *ret = part->address;
    return MEMORY_POOL_DONE;
}

/* Merges the block with the one after it, which is in no list. */
static void merge_with_next(struct memory_pool *pool, struct pool_block *part)
{
    struct pool_block *after = part->after;
    part->bytes += after->bytes;
    part->after = after->after;
    if (part->after)
        part->after->before = part;
    part_free(pool, after);
}

bool memory_pool_put(struct memory_pool *pool, uint64_t address)
{
    struct pool_block *part = take_used(pool, address);
    if (!part)
        return false;
    pool->bytes -= part->bytes;
    if (part->after && !part->after->used) {
        unlink_free(pool, part->after);
        merge_with_next(pool, part);
    }
    if (part->before && !part->before->used) {
        part = part->before;
        unlink_free(pool, part);
        merge_with_next(pool, part);
    }
    link_free(pool, part);
    return true;
}

void memory_pool_release(struct memory_pool *pool)
{
    for (struct pool_block *chunk = pool->chunks, *next_chunk; chunk; chunk = next_chunk) {
        next_chunk = chunk->next_chunk;
        pool->source.put(pool->source.user, chunk->address);
        for (struct pool_block *part = chunk, *next; part; part = next) {
            next = part->after;
            free(part);
        }
    }
    for (struct pool_block *part = pool->unused, *next; part; part = next) {
        next = part->next_free;
        free(part);
    }
    free(pool->used);
    *pool = (struct memory_pool){ 0 };
}
