/* functools.lru_cache(256), with the same entries that PyTorch's caches have, since an evaluation
 * that is no longer cached adds its guard again. It allocates only on first use. The entries form a
 * list in the order of their uses. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_ENV_LRU_H
#define SYMTAPE_REPLAY_SHAPE_ENV_ENV_LRU_H

#include <stdbool.h>
#include <stdint.h>

enum { ENV_LRU_SIZE = 256, ENV_LRU_SLOTS = 1024, ENV_LRU_NONE = 0xffff };

struct env_lru_entry {
    uint64_t a, b; /* the key */
    uint32_t result;
    uint16_t next;         /* in the chain of the slot */
    uint16_t newer, older; /* in the order of uses */
};

struct env_lru {
    struct env_lru_entry *entries; /* ENV_LRU_SIZE of them, NULL before the first use */
    uint16_t *slots;
    uint16_t newest, oldest;
    uint16_t n;
};

static inline uint16_t *env_lru_slot(const struct env_lru *lru, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93);
    return &lru->slots[h >> 54];
}

/* Takes an entry out of the order of uses. */
static inline void env_lru_leave(struct env_lru *lru, uint16_t at)
{
    const struct env_lru_entry *e = &lru->entries[at];
    *(e->newer == ENV_LRU_NONE ? &lru->newest : &lru->entries[e->newer].older) = e->older;
    *(e->older == ENV_LRU_NONE ? &lru->oldest : &lru->entries[e->older].newer) = e->newer;
}

/* Makes an entry that is not in the order of uses the newest one. */
static inline void env_lru_enter(struct env_lru *lru, uint16_t at)
{
    struct env_lru_entry *e = &lru->entries[at];
    e->newer = ENV_LRU_NONE;
    e->older = lru->newest;
    *(e->older == ENV_LRU_NONE ? &lru->oldest : &lru->entries[e->older].newer) = at;
    lru->newest = at;
}

/* Returns whether the key is there, with its result, and makes it the newest entry. */
static inline bool env_lru_find(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t *result)
{
    if (!lru->entries)
        return false;
    for (uint16_t at = *env_lru_slot(lru, a, b); at != ENV_LRU_NONE;) {
        struct env_lru_entry *e = &lru->entries[at];
        if (e->a == a && e->b == b) {
            if (lru->newest != at) {
                env_lru_leave(lru, at);
                env_lru_enter(lru, at);
            }
            *result = e->result;
            return true;
        }
        at = e->next;
    }
    return false;
}

/* Adds a key that is not there. False: out of memory. */
bool env_lru_put(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t result);
void env_lru_release(struct env_lru *lru);

#endif
