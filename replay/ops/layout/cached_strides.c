#include "replay/ops/layout/cached_strides.h"

#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/strides.h"
#include "trace/base/hash.h"

enum { HEAD = 3, MAX_KEY = HEAD + 2 * TENSOR_MAX_DIM };

/* Returns the number of words. */
static uint32_t write_key(uint32_t *key, enum dtype dtype, struct device device,
                          const sym_id *sizes, uint32_t n, const uint32_t *perm)
{
    key[0] = n;
    key[1] = (uint32_t)dtype;
    key[2] = (uint32_t)device.type << 16 ^ (uint32_t)device.index;
    memcpy(key + HEAD, sizes, n * sizeof *sizes);
    memcpy(key + HEAD + n, perm, n * sizeof *perm);
    return HEAD + 2 * n;
}

static const sym_id *find_call(const struct cached_strides *cached, const uint32_t *key, uint32_t n,
                               uint32_t hash)
{
    uint32_t row;
    for (size_t at = hash_index_start(&cached->index, hash);
         hash_index_next(&cached->index, hash, &at, &row);) {
        const uint32_t *known = &cached->words.v[cached->calls.v[row]];
        if (known[0] == key[0] && memcmp(known, key, n * sizeof *key) == 0)
            return known + n;
    }
    return NULL;
}

static bool add_call(struct cached_strides *cached, const uint32_t *key, uint32_t n,
                     const sym_id *strides, uint32_t n_strides, uint32_t hash)
{
    const size_t begin = cached->words.n, all = (size_t)n + n_strides;
    if (begin + all > UINT32_MAX || !vec_reserve(&cached->words, all) ||
        !hash_index_reserve(&cached->index, 1) || !vec_push(&cached->calls, (uint32_t)begin))
        return false;
    memcpy(cached->words.v + begin, key, n * sizeof *key);
    memcpy(cached->words.v + begin + n, strides, n_strides * sizeof *strides);
    cached->words.n += all;
    hash_index_add(&cached->index, hash, (uint32_t)cached->calls.n - 1);
    return true;
}

static bool has_symbols(struct call *c, const sym_id *sizes, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++)
        if (!sym_is_number(c->pool, sizes[d]))
            return true;
    return false;
}

void cached_permuted_strides(struct call *c, enum dtype dtype, struct device device,
                             const sym_id *sizes, uint32_t n, const uint32_t *perm, sym_id *strides)
{
    struct cached_strides *cached = &c->ops->cached_strides;
    uint32_t key[MAX_KEY];
    if (!c->symbolic || n > TENSOR_MAX_DIM || !has_symbols(c, sizes, n)) {
        permuted_strides(c, sizes, n, perm, strides);
        return;
    }
    const uint32_t n_key = write_key(key, dtype, device, sizes, n, perm);
    const uint32_t hash = (uint32_t)XXH3_64bits(key, n_key * sizeof *key);
    const sym_id *known = find_call(cached, key, n_key, hash);
    if (known) {
        memcpy(strides, known, n * sizeof *strides);
        return;
    }
    permuted_strides(c, sizes, n, perm, strides);
    if (!c->failed && !add_call(cached, key, n_key, strides, n, hash))
        call_no_memory(c);
}

void cached_strides_clear(struct cached_strides *cached)
{
    cached->words.n = cached->calls.n = 0;
    hash_index_clear(&cached->index);
}

void cached_strides_release(struct cached_strides *cached)
{
    vec_release(&cached->words);
    vec_release(&cached->calls);
    hash_index_release(&cached->index);
}
