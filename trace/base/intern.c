#include "trace/base/intern.h"

#include "trace/base/hash.h"

static uint32_t find_hashed(const struct intern *table, struct str text, uint32_t hash)
{
    uint32_t id;
    for (size_t at = hash_index_start(&table->index, hash);
         hash_index_next(&table->index, hash, &at, &id);)
        if (str_eq(table->texts.v[id], text))
            return id;
    return INTERN_NONE;
}

uint32_t intern_find(const struct intern *table, struct str text)
{
    return find_hashed(table, text, (uint32_t)hash_str(text));
}

uint32_t intern(struct intern *table, struct str text)
{
    uint32_t hash = (uint32_t)hash_str(text), id = find_hashed(table, text, hash);
    if (id != INTERN_NONE)
        return id;
    if (table->texts.n >= INTERN_NONE - 1 || !hash_index_reserve(&table->index, 1) ||
        !vec_reserve(&table->texts, 1))
        return INTERN_NONE;
    struct str copy = arena_copy(&table->arena, text);
    if (!copy.p)
        return INTERN_NONE;
    id = (uint32_t)table->texts.n;
    table->texts.v[table->texts.n++] = copy;
    hash_index_add(&table->index, hash, id);
    return id;
}

void intern_release(struct intern *table)
{
    arena_release(&table->arena);
    vec_release(&table->texts);
    hash_index_release(&table->index);
    *table = INTERN_INIT;
}
