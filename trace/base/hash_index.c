#include "trace/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_SLOTS = 64 };

bool hash_index_grow(struct hash_index *index, size_t extra)
{
    size_t n_slots = index->n_slots ? index->n_slots * 2 : FEWEST_SLOTS;
    while (n_slots < (index->n + extra) * 2)
        n_slots *= 2;
    struct hash_index grown = { .slots = calloc(n_slots, sizeof *grown.slots), .n_slots = n_slots };
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < index->n_slots; i++)
        if (index->slots[i].row)
            hash_index_add(&grown, index->slots[i].hash, index->slots[i].row - 1);
    free(index->slots);
    *index = grown;
    return true;
}

void hash_index_clear(struct hash_index *index)
{
    if (index->n)
        memset(index->slots, 0, index->n_slots * sizeof *index->slots);
    index->n = 0;
}

void hash_index_release(struct hash_index *index)
{
    free(index->slots);
    *index = HASH_INDEX_INIT;
}

void hash_index_replace(struct hash_index *index, uint32_t hash, uint32_t old, uint32_t new)
{
    size_t mask = index->n_slots - 1, at = hash & mask;
    while (index->slots[at].row != old + 1)
        at = (at + 1) & mask;
    index->slots[at].row = new + 1;
}
