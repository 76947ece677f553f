/* An index of rows by the hash of their keys: open addressing with linear probing.
 *
 * Rows and keys belong to the user, who numbers the rows from 0; the index stores the hash and the
 * number of each row, so that it grows without the keys. Rows may share a hash, and the user
 * compares the keys:
 *
 *     for (size_t at = hash_index_start(x, hash); hash_index_next(x, hash, &at, &row);)
 *         if (rows[row].key == key)
 *             return row;
 *     if (!hash_index_reserve(x, 1) || !vec_push(&rows, ...))
 *         return err_nomem(err);
 *     hash_index_add(x, hash, row); */
#ifndef SYMTAPE_TRACE_BASE_HASH_INDEX_H
#define SYMTAPE_TRACE_BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
    uint32_t hash;
    uint32_t row; /* plus 1; 0 marks an empty slot */
};

struct hash_index {
    struct hash_slot *slots;
    size_t n_slots; /* a power of two, at least twice `n` */
    size_t n;
};

#define HASH_INDEX_INIT ((struct hash_index){ 0 })

/* Makes the slots more, so that `extra` rows fit. Returns false, without a change, if memory ran
 * out. */
bool hash_index_grow(struct hash_index *index, size_t extra);
/* Removes all rows, and keeps the memory. */
void hash_index_clear(struct hash_index *index);
void hash_index_release(struct hash_index *index);
/* Gives the place of row `old` to row `new`, whose key is equal. */
void hash_index_replace(struct hash_index *index, uint32_t hash, uint32_t old, uint32_t new);

static inline bool hash_index_reserve(struct hash_index *index, size_t extra)
{
    return (index->n + extra) * 2 <= index->n_slots || hash_index_grow(index, extra);
}

/* Adds a row; hash_index_reserve() made space for it. */
static inline void hash_index_add(struct hash_index *index, uint32_t hash, uint32_t row)
{
    size_t mask = index->n_slots - 1, at = hash & mask;
    while (index->slots[at].row)
        at = (at + 1) & mask;
    index->slots[at] = (struct hash_slot){ hash, row + 1 };
    index->n++;
}

static inline size_t hash_index_start(const struct hash_index *index, uint32_t hash)
{
    return index->n_slots ? hash & (index->n_slots - 1) : 0;
}

/* Sets *row to the next row of that hash, and returns false if there are no more. */
static inline bool hash_index_next(const struct hash_index *index, uint32_t hash, size_t *at,
                                   uint32_t *row)
{
    while (index->n_slots) {
        struct hash_slot slot = index->slots[*at];
        if (!slot.row)
            return false;
        *at = (*at + 1) & (index->n_slots - 1);
        if (slot.hash == hash) {
            *row = slot.row - 1;
            return true;
        }
    }
    return false;
}

#endif
