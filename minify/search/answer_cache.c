#include "minify/search/answer_cache.h"

/* Returns the slot of the entry, or the empty one where it would go. The key is a hash, so its low
 * bits are the slot. */
static size_t cache_slot(const struct cache *cache, struct cand_hash hash)
{
    size_t slot = (size_t)hash.low & (cache->n_slots - 1);
    while (cache->slots[slot] && !cand_hash_eq(cache->entries.v[cache->slots[slot] - 1].hash, hash))
        slot = (slot + 1) & (cache->n_slots - 1);
    return slot;
}

struct cached_answer *cache_find(const struct cache *cache, struct cand_hash hash)
{
    if (cache->n_slots == 0)
        return NULL;
    uint32_t entry = cache->slots[cache_slot(cache, hash)];
    return entry ? &cache->entries.v[entry - 1] : NULL;
}

static bool cache_grow(struct cache *cache)
{
    size_t n = cache->n_slots ? cache->n_slots * 2 : 256;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    free(cache->slots);
    cache->slots = slots;
    cache->n_slots = n;
    for (size_t i = 0; i < cache->entries.n; i++)
        slots[cache_slot(cache, cache->entries.v[i].hash)] = (uint32_t)i + 1;
    return true;
}

static bool cache_copy_text(struct cache *cache, struct str *text)
{
    *text = text->n ? arena_copy(&cache->texts, *text) : STR("");
    return text->p != NULL;
}

static bool keep_texts(struct cache *cache, struct cached_answer *known)
{
    struct signature *signature = &known->signature;
    return cache_copy_text(cache, &known->node) && cache_copy_text(cache, &signature->kind) &&
           cache_copy_text(cache, &signature->message) && cache_copy_text(cache, &signature->op) &&
           cache_copy_text(cache, &signature->frame) && cache_copy_text(cache, &known->text);
}

bool cache_add(struct cache *cache, const struct cached_answer *known)
{
    struct cached_answer added = *known;
    if (cache->entries.n >= UINT32_MAX / 2 ||
        (cache->entries.n * 2 >= cache->n_slots && !cache_grow(cache)))
        return false;
    if (!keep_texts(cache, &added))
        return false;
    struct cached_answer *old = cache_find(cache, known->hash);
    if (old) {
        added.needed |= old->needed;
        *old = added;
        return true;
    }
    if (!vec_push(&cache->entries, added))
        return false;
    cache->slots[cache_slot(cache, known->hash)] = (uint32_t)cache->entries.n;
    return true;
}

void cache_release(struct cache *cache)
{
    vec_release(&cache->entries);
    free(cache->slots);
    arena_release(&cache->texts);
    *cache = CACHE_INIT;
}
