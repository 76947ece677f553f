#include "replay/shape/env/env_lru.h"

#include <stdlib.h>

static void unlink_entry(struct env_lru *lru, uint16_t at)
{
    const struct env_lru_entry *e = &lru->entries[at];
    uint16_t *link = env_lru_slot(lru, e->a, e->b);
    while (*link != at)
        link = &lru->entries[*link].next;
    *link = e->next;
}

static bool allocate_entries(struct env_lru *lru)
{
    if (lru->entries)
        return true;
    lru->slots = malloc(ENV_LRU_SLOTS * sizeof *lru->slots);
    lru->entries = malloc(ENV_LRU_SIZE * sizeof *lru->entries);
    if (!lru->slots || !lru->entries) {
        env_lru_release(lru);
        return false;
    }
    lru->newest = lru->oldest = ENV_LRU_NONE;
    for (uint32_t i = 0; i < ENV_LRU_SLOTS; i++)
        lru->slots[i] = ENV_LRU_NONE;
    return true;
}

bool env_lru_put(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t result)
{
    uint32_t known;
    if (!allocate_entries(lru))
        return false;
    if (env_lru_find(lru, a, b, &known)) /* the evaluation evaluated the same key */
        return true;
    uint16_t at = lru->n;
    if (lru->n < ENV_LRU_SIZE) {
        lru->n++;
    } else {
        at = lru->oldest;
        env_lru_leave(lru, at);
        unlink_entry(lru, at);
    }
    uint16_t *slot = env_lru_slot(lru, a, b);
    lru->entries[at] = (struct env_lru_entry){ .a = a, .b = b, .result = result, .next = *slot };
    env_lru_enter(lru, at);
    *slot = at;
    return true;
}

void env_lru_release(struct env_lru *lru)
{
    free(lru->entries);
    free(lru->slots);
    *lru = (struct env_lru){ 0 };
}
