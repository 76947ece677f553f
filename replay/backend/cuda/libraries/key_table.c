#include "replay/backend/cuda/libraries/key_table.h"

#include <string.h>

#include "trace/base/hash.h"

static const unsigned char *key_at(const struct key_table *table, uint32_t i)
{
    return table->keys.v + i * table->key_bytes;
}

static size_t first_slot(const struct key_table *table, const void *key)
{
    return XXH3_64bits(key, table->key_bytes) & (table->slots.n - 1);
}

static void put_slot(struct key_table *table, uint32_t i)
{
    size_t at = first_slot(table, key_at(table, i));
    while (table->slots.v[at])
        at = (at + 1) & (table->slots.n - 1);
    table->slots.v[at] = i + 1;
}

static bool grow_key_slots(struct key_table *table)
{
    size_t n = table->slots.n ? 2 * table->slots.n : 64;
    if (!vec_reserve(&table->slots, n - table->slots.n))
        return false;
    table->slots.n = n;
    memset(table->slots.v, 0, n * sizeof *table->slots.v);
    for (uint32_t i = 0; i < table->n; i++)
        put_slot(table, i);
    return true;
}

uint32_t key_table_find(const struct key_table *table, const void *key)
{
    if (!table->slots.n)
        return KEY_NONE;
    for (size_t at = first_slot(table, key); table->slots.v[at];
         at = (at + 1) & (table->slots.n - 1)) {
        uint32_t i = table->slots.v[at] - 1;
        if (memcmp(key_at(table, i), key, table->key_bytes) == 0)
            return i;
    }
    return KEY_NONE;
}

const void *key_table_key(const struct key_table *table, uint32_t i)
{
    return key_at(table, i);
}

bool key_table_add(struct key_table *table, const void *key)
{
    if ((table->n + 1) * 2 > table->slots.n && !grow_key_slots(table))
        return false;
    if (!vec_reserve(&table->keys, table->key_bytes))
        return false;
    memcpy(table->keys.v + table->keys.n, key, table->key_bytes);
    table->keys.n += table->key_bytes;
    put_slot(table, table->n++);
    return true;
}

void key_table_release(struct key_table *table)
{
    vec_release(&table->keys);
    vec_release(&table->slots);
    table->n = 0;
}
