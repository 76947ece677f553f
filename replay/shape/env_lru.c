#include "replay/shape/env_lru.h"

#include <stdlib.h>

#include "trace/base/hash.h"

static uint16_t *slot_of(const struct env_lru *lru, uint64_t a, uint64_t b)
{
    uint64_t h = hash_mix(a, b);
    return &lru->slots[(h ^ (h >> 29)) & (ENV_LRU_SLOTS - 1)];
}

static void unlink_age(struct env_lru *lru, uint16_t at)
{
    struct env_lru_entry *e = &lru->entries[at];
    if (e->newer == ENV_LRU_NONE)
        lru->newest = e->older;
    else
        lru->entries[e->newer].older = e->older;
    if (e->older == ENV_LRU_NONE)
        lru->oldest = e->newer;
    else
        lru->entries[e->older].newer = e->newer;
}

static void make_newest(struct env_lru *lru, uint16_t at)
{
    struct env_lru_entry *e = &lru->entries[at];
    e->newer = ENV_LRU_NONE;
    e->older = lru->newest;
    if (lru->newest == ENV_LRU_NONE)
        lru->oldest = at;
    else
        lru->entries[lru->newest].newer = at;
    lru->newest = at;
}

static uint16_t find(const struct env_lru *lru, uint64_t a, uint64_t b)
{
    uint16_t at = *slot_of(lru, a, b);
    while (at != ENV_LRU_NONE && (lru->entries[at].a != a || lru->entries[at].b != b))
        at = lru->entries[at].next;
    return at;
}

bool env_lru_find(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t *result)
{
    if (!lru->entries)
        return false;
    uint16_t at = find(lru, a, b);
    if (at == ENV_LRU_NONE)
        return false;
    if (at != lru->newest) {
        unlink_age(lru, at);
        make_newest(lru, at);
    }
    *result = lru->entries[at].result;
    return true;
}

static void drop_oldest(struct env_lru *lru)
{
    uint16_t at = lru->oldest;
    const struct env_lru_entry *e = &lru->entries[at];
    uint16_t *link = slot_of(lru, e->a, e->b);
    while (*link != at)
        link = &lru->entries[*link].next;
    *link = e->next;
    unlink_age(lru, at);
}

static bool prepare(struct env_lru *lru)
{
    if (lru->entries)
        return true;
    lru->slots = malloc(ENV_LRU_SLOTS * sizeof *lru->slots);
    struct env_lru_entry *entries = malloc(ENV_LRU_SIZE * sizeof *entries);
    if (!lru->slots || !entries) {
        free(lru->slots);
        free(entries);
        lru->slots = NULL;
        return false;
    }
    lru->entries = entries;
    for (uint32_t i = 0; i < ENV_LRU_SLOTS; i++)
        lru->slots[i] = ENV_LRU_NONE;
    lru->newest = lru->oldest = ENV_LRU_NONE;
    lru->n = 0;
    return true;
}

bool env_lru_put(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t result)
{
    if (!prepare(lru))
        return false;
    uint16_t at = find(lru, a, b);
    if (at != ENV_LRU_NONE) {
        lru->entries[at].result = result;
        return true;
    }
    if (lru->n < ENV_LRU_SIZE) {
        at = lru->n++;
    } else {
        at = lru->oldest;
        drop_oldest(lru);
    }
    uint16_t *slot = slot_of(lru, a, b);
    lru->entries[at] = (struct env_lru_entry){ .a = a, .b = b, .result = result, .next = *slot };
    *slot = at;
    make_newest(lru, at);
    return true;
}

void env_lru_release(struct env_lru *lru)
{
    free(lru->entries);
    free(lru->slots);
    *lru = (struct env_lru){ 0 };
}
