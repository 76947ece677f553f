/* functools.lru_cache(256): what PyTorch remembers, and no longer than it does, since a question
 * that was forgotten is guarded on again. No allocation after the first use; finding is a few
 * nanoseconds, because an entry only notes when it was used and the oldest is looked for when room
 * is needed. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_ENV_LRU_H
#define SYMTAPE_REPLAY_SHAPE_ENV_ENV_LRU_H

#include <stdbool.h>
#include <stdint.h>

enum { ENV_LRU_SIZE = 256, ENV_LRU_SLOTS = 1024, ENV_LRU_NONE = 0xffff };

struct env_lru_entry {
    uint64_t a, b; /* the key */
    uint32_t result;
    uint16_t next; /* in the slot's chain */
};

struct env_lru {
    struct env_lru_entry *entries; /* ENV_LRU_SIZE of them, NULL until used */
    uint64_t *used; /* of each entry, when: apart, because all are looked at at once */
    uint16_t *slots;
    uint64_t clock;
    uint16_t n;
};

static inline uint16_t *env_lru_slot(const struct env_lru *lru, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93);
    return &lru->slots[h >> 54];
}

/* True, with the result, when the key is there; it is the newest then. */
static inline bool env_lru_find(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t *result)
{
    if (!lru->entries)
        return false;
    for (uint16_t at = *env_lru_slot(lru, a, b); at != ENV_LRU_NONE;) {
        struct env_lru_entry *e = &lru->entries[at];
        if (e->a == a && e->b == b) {
            lru->used[at] = ++lru->clock;
            *result = e->result;
            return true;
        }
        at = e->next;
    }
    return false;
}

/* False: out of memory. The key is not there. */
bool env_lru_put(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t result);
void env_lru_release(struct env_lru *lru);

#endif
