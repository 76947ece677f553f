#include "trace/base/intern.h"

#include <stdlib.h>

#include "trace/base/hash.h"

static size_t find_slot(const struct intern *table, struct str text)
{
    size_t mask = table->n_slots - 1;
    size_t i = hash_str(text) & mask;
    while (table->slots[i] && !str_eq(table->texts.v[table->slots[i] - 1], text))
        i = (i + 1) & mask;
    return i;
}

static bool grow_slots(struct intern *table)
{
    if (table->n_slots > table->texts.n * 2)
        return true;
    size_t n = table->n_slots ? table->n_slots * 2 : 64;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->n_slots = n;
    for (size_t id = 0; id < table->texts.n; id++)
        slots[find_slot(table, table->texts.v[id])] = (uint32_t)id + 1;
    return true;
}

uint32_t intern_find(const struct intern *table, struct str text)
{
    return table->n_slots ? table->slots[find_slot(table, text)] - 1 : INTERN_NONE;
}

uint32_t intern(struct intern *table, struct str text)
{
    if (!grow_slots(table))
        return INTERN_NONE;
    size_t slot = find_slot(table, text);
    if (table->slots[slot])
        return table->slots[slot] - 1;
    if (table->texts.n >= INTERN_NONE - 1 || !vec_reserve(&table->texts, 1))
        return INTERN_NONE;
    struct str copy = arena_copy(&table->arena, text);
    if (!copy.p)
        return INTERN_NONE;
    table->texts.v[table->texts.n++] = copy;
    table->slots[slot] = (uint32_t)table->texts.n;
    return table->slots[slot] - 1;
}

void intern_release(struct intern *table)
{
    arena_release(&table->arena);
    vec_release(&table->texts);
    free(table->slots);
    *table = INTERN_INIT;
}
