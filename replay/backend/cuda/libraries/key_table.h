/* A hash table of keys that are compared by their bytes, including padding, which must be zero.
 * Entries are numbered from 0 in the order in which they were added. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_KEY_TABLE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_KEY_TABLE_H

#include <stdint.h>

#include "trace/base/vec.h"

struct key_table {
    size_t key_bytes;
    uint32_t n;
    vec_of(unsigned char)
    keys;
    vec_of(uint32_t)
    slots; /* entry + 1; their number is a power of two */
};

#define KEY_NONE UINT32_MAX

uint32_t key_table_find(const struct key_table *table,
                        const void *key); /* KEY_NONE: there is none */
/* Adds a key that is not there; false: out of memory, nothing has changed. */
bool key_table_add(struct key_table *table, const void *key);
/* Returns the key of an entry, which is valid until another one is added. */
const void *key_table_key(const struct key_table *table, uint32_t i);
void key_table_release(struct key_table *table);

#endif
