/* The distinct values of sizes, numbered from 0 in the order in which they were added. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_VALUE_SET_H
#define SYMTAPE_REPLAY_ATTEMPT_VALUE_SET_H

#include "trace/base/hash.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct value_set {
    vec_of(int64_t)
    values;
    struct hash_index index;
};

static inline uint32_t value_hash(int64_t value)
{
    return (uint32_t)hash_mix((uint64_t)value, 0);
}

/* Returns the number of a value, or UINT32_MAX. */
static inline uint32_t value_set_find(const struct value_set *set, int64_t value)
{
    uint32_t hash = value_hash(value), row;
    for (size_t at = hash_index_start(&set->index, hash);
         hash_index_next(&set->index, hash, &at, &row);)
        if (set->values.v[row] == value)
            return row;
    return UINT32_MAX;
}

/* Returns the number of a value, which is added if it is new; UINT32_MAX: out of memory. */
static inline uint32_t value_set_add(struct value_set *set, int64_t value)
{
    uint32_t row = value_set_find(set, value);
    if (row != UINT32_MAX)
        return row;
    row = (uint32_t)set->values.n;
    if (!hash_index_reserve(&set->index, 1) || !vec_push(&set->values, value))
        return UINT32_MAX;
    hash_index_add(&set->index, value_hash(value), row);
    return row;
}

static inline void value_set_release(struct value_set *set)
{
    vec_release(&set->values);
    hash_index_release(&set->index);
}

#endif
