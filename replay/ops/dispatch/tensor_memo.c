#include "replay/ops/dispatch/tensor_memo.h"

static bool is_memo_of(const struct tensor_memo_entry *entry, struct tensor x,
                       enum tensor_memo memo)
{
    return entry->storage == x.storage && entry->meta == x.meta->id && entry->memo == memo;
}

struct value tensor_memo_get(struct tensor_memo_table *table, struct tensor x,
                             enum tensor_memo memo)
{
    table->uses++;
    for (size_t i = 0; x.meta && i < table->entries.n; i++)
        if (is_memo_of(&table->entries.v[i], x, memo))
            return table->entries.v[i].value;
    return value_none();
}

bool tensor_memo_set(struct tensor_memo_table *table, struct tensor x, enum tensor_memo memo,
                     struct value value)
{
    if (!x.meta)
        return true;
    for (size_t i = 0; i < table->entries.n; i++)
        if (is_memo_of(&table->entries.v[i], x, memo)) {
            table->entries.v[i].value = value;
            return true;
        }
    return vec_push(&table->entries,
                    (struct tensor_memo_entry){ x.storage, x.meta->id, memo, value });
}

void tensor_memo_forget(struct tensor_memo_table *table, uint32_t storage)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->entries.n; i++)
        if (table->entries.v[i].storage != storage)
            table->entries.v[kept++] = table->entries.v[i];
    table->entries.n = kept;
}

void tensor_memo_clear(struct tensor_memo_table *table)
{
    table->entries.n = 0;
}

void tensor_memo_release(struct tensor_memo_table *table)
{
    vec_release(&table->entries);
}
