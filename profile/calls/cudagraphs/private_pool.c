#include "profile/calls/cudagraphs/private_pool.h"

/* kMinBlockSize, kSmallSize, kSmallBuffer, kLargeBuffer, kMinLargeAlloc, kRoundLarge */
enum {
    MIN_BLOCK = 512,
    SMALL_SIZE = 1 << 20,
    SMALL_BUFFER = 2 << 20,
    LARGE_BUFFER = 20 << 20,
    MIN_LARGE = 10 << 20,
    ROUND_LARGE = 2 << 20
};

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint64_t segment_bytes(uint64_t bytes)
{
    return bytes <= SMALL_SIZE ? SMALL_BUFFER
           : bytes < MIN_LARGE ? LARGE_BUFFER
                               : round_up(bytes, ROUND_LARGE);
}

static bool add_block(struct private_pool *pool, struct pool_block block, uint32_t *ret)
{
    if (pool->unused.n) {
        *ret = pool->unused.v[--pool->unused.n];
        pool->blocks.v[*ret] = block;
        return true;
    }
    *ret = (uint32_t)pool->blocks.n;
    return vec_push(&pool->blocks, block);
}

static bool set_free(struct private_pool *pool, uint32_t block)
{
    pool->blocks.v[block].at = (uint32_t)pool->free.n;
    return vec_push(&pool->free, block);
}

static void set_used(struct private_pool *pool, uint32_t block)
{
    uint32_t at = pool->blocks.v[block].at, last = pool->free.v[--pool->free.n];
    pool->free.v[at] = last;
    pool->blocks.v[last].at = at;
    pool->blocks.v[block].at = BLOCK_NONE;
}

/* Returns the smallest free block that fits, the one that came first of equal ones. */
static uint32_t best_fit(struct private_pool *pool, uint64_t bytes, bool small)
{
    uint32_t best = BLOCK_NONE;
    pool->work += pool->free.n + 1;
    for (size_t i = 0; i < pool->free.n; i++) {
        uint32_t id = pool->free.v[i];
        const struct pool_block *block = &pool->blocks.v[id];
        if (block->small != small || block->bytes < bytes)
            continue;
        if (best == BLOCK_NONE || block->bytes < pool->blocks.v[best].bytes ||
            (block->bytes == pool->blocks.v[best].bytes && id < best))
            best = id;
    }
    return best;
}

/* should_split() */
static bool should_split(const struct pool_block *block, uint64_t bytes)
{
    uint64_t rest = block->bytes - bytes;
    return block->small ? rest >= MIN_BLOCK : rest > SMALL_SIZE;
}

static bool split(struct private_pool *pool, uint32_t block, uint64_t bytes)
{
    struct pool_block rest = pool->blocks.v[block];
    uint32_t id;
    rest.bytes -= bytes;
    rest.previous = block;
    if (!add_block(pool, rest, &id))
        return false;
    if (rest.next != BLOCK_NONE)
        pool->blocks.v[rest.next].previous = id;
    pool->blocks.v[block].bytes = bytes;
    pool->blocks.v[block].next = id;
    return set_free(pool, id);
}

bool private_pool_take(struct private_pool *pool, uint64_t bytes, uint32_t *ret)
{
    *ret = BLOCK_NONE;
    if (!bytes)
        return true;
    bytes = round_up(bytes, MIN_BLOCK);
    bool small = bytes <= SMALL_SIZE;
    *ret = best_fit(pool, bytes, small);
    if (*ret == BLOCK_NONE) {
        struct pool_block segment = { segment_bytes(bytes), BLOCK_NONE, BLOCK_NONE, BLOCK_NONE,
                                      small };
        if (!add_block(pool, segment, ret) || !set_free(pool, *ret))
            return false;
        pool->reserved += segment.bytes;
    }
    set_used(pool, *ret);
    if (should_split(&pool->blocks.v[*ret], bytes) && !split(pool, *ret, bytes))
        return false;
    pool->used += pool->blocks.v[*ret].bytes;
    pool->peak = pool->used > pool->peak ? pool->used : pool->peak;
    return true;
}

/* Joins a block with the one behind it; the latter is no block any more. */
static bool join(struct private_pool *pool, uint32_t block)
{
    uint32_t next = pool->blocks.v[block].next;
    struct pool_block *a = &pool->blocks.v[block], *b = &pool->blocks.v[next];
    a->bytes += b->bytes;
    a->next = b->next;
    if (b->next != BLOCK_NONE)
        pool->blocks.v[b->next].previous = block;
    return vec_push(&pool->unused, next);
}

static bool is_free(const struct private_pool *pool, uint32_t block)
{
    return block != BLOCK_NONE && pool->blocks.v[block].at != BLOCK_NONE;
}

bool private_pool_give(struct private_pool *pool, uint32_t block)
{
    if (block == BLOCK_NONE)
        return true;
    pool->used -= pool->blocks.v[block].bytes;
    uint32_t next = pool->blocks.v[block].next, previous = pool->blocks.v[block].previous;
    if (is_free(pool, next)) {
        set_used(pool, next);
        if (!join(pool, block))
            return false;
    }
    if (!is_free(pool, previous))
        return set_free(pool, block);
    return join(pool, previous);
}

void private_pool_release(struct private_pool *pool)
{
    vec_release(&pool->blocks);
    vec_release(&pool->free);
    vec_release(&pool->unused);
}
