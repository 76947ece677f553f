#include "minify/search/answer_cache.h"

struct cached_answer *cache_find(const struct cache *cache, struct cand_hash hash)
{
    uint32_t low = (uint32_t)hash.low, entry;
    for (size_t at = hash_index_start(&cache->index, low);
         hash_index_next(&cache->index, low, &at, &entry);)
        if (cand_hash_eq(cache->entries.v[entry].hash, hash))
            return &cache->entries.v[entry];
    return NULL;
}

static bool cache_copy_text(struct cache *cache, struct str *text)
{
    *text = text->n ? arena_copy(&cache->texts, *text) : STR("");
    return text->p != NULL;
}

static bool copy_answer_texts(struct cache *cache, struct cached_answer *known)
{
    struct signature *signature = &known->signature;
    return cache_copy_text(cache, &known->node) && cache_copy_text(cache, &signature->kind) &&
           cache_copy_text(cache, &signature->message) && cache_copy_text(cache, &signature->op) &&
           cache_copy_text(cache, &signature->frame) && cache_copy_text(cache, &known->text);
}

bool cache_add(struct cache *cache, const struct cached_answer *known)
{
    struct cached_answer added = *known;
    if (cache->entries.n >= UINT32_MAX / 2 || !hash_index_reserve(&cache->index, 1) ||
        !copy_answer_texts(cache, &added))
        return false;
    struct cached_answer *old = cache_find(cache, known->hash);
    if (old) {
        added.needed |= old->needed;
        *old = added;
        return true;
    }
    if (!vec_push(&cache->entries, added))
        return false;
    hash_index_add(&cache->index, (uint32_t)known->hash.low, (uint32_t)cache->entries.n - 1);
    return true;
}

void cache_release(struct cache *cache)
{
    vec_release(&cache->entries);
    hash_index_release(&cache->index);
    arena_release(&cache->texts);
    *cache = CACHE_INIT;
}
