/* functools.lru_cache(256): what PyTorch remembers, and no longer than it does, since a question
 * that was forgotten is guarded on again. No allocation after the first use. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_LRU_H
#define SYMTAPE_REPLAY_SHAPE_ENV_LRU_H

#include <stdbool.h>
#include <stdint.h>

enum { ENV_LRU_SIZE = 256, ENV_LRU_SLOTS = 1024, ENV_LRU_NONE = 0xffff };

struct env_lru_entry {
    uint64_t a, b; /* the key */
    uint32_t result;
    uint16_t newer, older;
    uint16_t next; /* in the slot's chain */
};

struct env_lru {
    struct env_lru_entry *entries; /* ENV_LRU_SIZE of them, NULL until used */
    uint16_t *slots;
    uint16_t newest, oldest, n;
};

/* True, with the result, when the key is there; it is the newest then. */
bool env_lru_find(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t *result);
/* False: out of memory. */
bool env_lru_put(struct env_lru *lru, uint64_t a, uint64_t b, uint32_t result);
void env_lru_release(struct env_lru *lru);

#endif
