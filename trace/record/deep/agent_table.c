#include <stdlib.h>

#include "trace/record/deep/agent.h"

uint64_t agent_hash(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdu;
    key ^= key >> 33;
    return key * 0xc4ceb9fe1a85ec53u >> 7;
}

static size_t ptr_place(const struct ptr_table *table, const PyObject *key)
{
    size_t i = agent_hash((uint64_t)(uintptr_t)key) & (table->cap - 1);
    while (table->slots[i].key && table->slots[i].key != key)
        i = (i + 1) & (table->cap - 1);
    return i;
}

struct ptr_slot *ptr_find(const struct ptr_table *table, const PyObject *key)
{
    if (table->cap == 0)
        return NULL;
    struct ptr_slot *slot = &table->slots[ptr_place(table, key)];
    return slot->key ? slot : NULL;
}

static bool ptr_grow(struct ptr_table *table)
{
    struct ptr_table grown = { .cap = table->cap ? 2 * table->cap : 256, .n = table->n };
    grown.slots = calloc(grown.cap, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < table->cap; i++)
        if (table->slots[i].key)
            grown.slots[ptr_place(&grown, table->slots[i].key)] = table->slots[i];
    free(table->slots);
    *table = grown;
    return true;
}

bool ptr_add(struct ptr_table *table, PyObject *key, uint32_t id, uint32_t flags)
{
    if (table->n * 2 >= table->cap && !ptr_grow(table))
        return false;
    Py_INCREF(key);
    table->slots[ptr_place(table, key)] = (struct ptr_slot){ key, id, flags };
    table->n++;
    return true;
}

/* Releasing an object may run any code, which may use this table again; it is empty by then. */
void ptr_clear(struct ptr_table *table)
{
    struct ptr_table old = *table;
    *table = (struct ptr_table){ 0 };
    for (size_t i = 0; i < old.cap; i++)
        Py_XDECREF(old.slots[i].key);
    free(old.slots);
}

static size_t u64_place(const struct u64_table *table, uint64_t key)
{
    size_t i = agent_hash(key) & (table->cap - 1);
    while (table->values[i] && table->keys[i] != key)
        i = (i + 1) & (table->cap - 1);
    return i;
}

uint64_t u64_find(const struct u64_table *table, uint64_t key)
{
    return table->cap ? table->values[u64_place(table, key)] : 0;
}

static bool u64_grow(struct u64_table *table)
{
    struct u64_table grown = { .cap = table->cap ? 2 * table->cap : 256, .n = table->n };
    grown.keys = calloc(grown.cap, sizeof *grown.keys);
    grown.values = calloc(grown.cap, sizeof *grown.values);
    if (!grown.keys || !grown.values) {
        free(grown.keys);
        free(grown.values);
        return false;
    }
    for (size_t i = 0; i < table->cap; i++)
        if (table->values[i]) {
            size_t place = u64_place(&grown, table->keys[i]);
            grown.keys[place] = table->keys[i];
            grown.values[place] = table->values[i];
        }
    free(table->keys);
    free(table->values);
    *table = grown;
    return true;
}

bool u64_add(struct u64_table *table, uint64_t key, uint64_t value)
{
    if (table->n * 2 >= table->cap && !u64_grow(table))
        return false;
    size_t place = u64_place(table, key);
    table->n += table->values[place] == 0;
    table->keys[place] = key;
    table->values[place] = value;
    return true;
}

void u64_clear(struct u64_table *table)
{
    free(table->keys);
    free(table->values);
    *table = (struct u64_table){ 0 };
}
