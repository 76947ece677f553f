#include "replay/ops/dispatch/tensor_memo.h"

#include "trace/base/hash.h"

#define NO_META UINT32_MAX /* of no tensor: the entry is that of its storage */

static struct tensor_memo_entry *find(struct tensor_memo_table *table, uint32_t storage,
                                      uint32_t meta, enum tensor_memo memo, uint32_t *hash)
{
    uint32_t row;
    *hash = (uint32_t)hash_mix(storage, (uint64_t)meta << 8 | memo);
    for (size_t at = hash_index_start(&table->index, *hash);
         hash_index_next(&table->index, *hash, &at, &row);) {
        struct tensor_memo_entry *entry = &table->entries.v[row];
        if (entry->storage == storage && entry->meta == meta && entry->memo == memo)
            return entry;
    }
    return NULL;
}

static struct tensor_memo_entry *find_or_add(struct tensor_memo_table *table, uint32_t storage,
                                             uint32_t meta, enum tensor_memo memo)
{
    uint32_t hash, row = (uint32_t)table->entries.n;
    struct tensor_memo_entry *known = find(table, storage, meta, memo, &hash);
    if (known)
        return known;
    if (!hash_index_reserve(&table->index, 1) ||
        !vec_push(&table->entries,
                  (struct tensor_memo_entry){ .storage = storage, .meta = meta, .memo = memo }))
        return NULL;
    hash_index_add(&table->index, hash, row);
    return &table->entries.v[row];
}

struct value tensor_memo_get(struct tensor_memo_table *table, struct tensor x,
                             enum tensor_memo memo)
{
    uint32_t ignored;
    table->uses++;
    if (!x.meta || !table->entries.n)
        return value_none();
    const struct tensor_memo_entry *entry = find(table, x.storage, x.meta->id, memo, &ignored);
    const struct tensor_memo_entry *storage =
        entry ? find(table, x.storage, NO_META, 0, &ignored) : NULL;
    return storage && entry->time > storage->time ? entry->value : value_none();
}

bool tensor_memo_set(struct tensor_memo_table *table, struct tensor x, enum tensor_memo memo,
                     struct value value)
{
    if (!x.meta)
        return true;
    if (!find_or_add(table, x.storage, NO_META, 0))
        return false;
    struct tensor_memo_entry *entry = find_or_add(table, x.storage, x.meta->id, memo);
    if (!entry)
        return false;
    entry->time = ++table->clock;
    entry->value = value;
    return true;
}

void tensor_memo_forget(struct tensor_memo_table *table, uint32_t storage)
{
    uint32_t ignored;
    struct tensor_memo_entry *entry =
        table->entries.n ? find(table, storage, NO_META, 0, &ignored) : NULL;
    if (entry)
        entry->time = ++table->clock;
}

void tensor_memo_clear(struct tensor_memo_table *table)
{
    table->entries.n = 0;
    table->clock = 0;
    hash_index_clear(&table->index);
}

void tensor_memo_release(struct tensor_memo_table *table)
{
    vec_release(&table->entries);
    hash_index_release(&table->index);
}
