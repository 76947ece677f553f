#include "replay/ops/memo/memo.h"

#include "replay/ops/layout/storage.h"

enum { MAX_NESTING = 16 };

/* An item of a result in preorder; groups are followed by their items. */
enum slot_kind { SLOT_VALUE, SLOT_FRESH, SLOT_ALIAS, SLOT_GROUP };

struct slot {
    uint8_t kind, value_kind;
    uint32_t n;   /* index of the new or the argument's storage; for a group, its number of items */
    sym_id bytes; /* only for a fresh storage */
    union {
        const struct tensor_meta *meta;
        struct value value;
    } u;
};

struct memo_entry {
    uint64_t hash;
    uint32_t key_at, key_n;
    uint32_t slots_at;
    uint32_t n_fresh;
};

struct memo {
    struct call_keys keys;
    vec_of(struct memo_entry)
    entries;
    vec_of(uint32_t)
    words; /* the keys of the entries */
    vec_of(struct slot)
    slots;
    uint32_t *table; /* entry + 1 */
    uint32_t n_table;
    bool off;
};

struct memo *memo_new(void)
{
    return calloc(1, sizeof(struct memo));
}

void memo_free(struct memo *memo)
{
    if (!memo)
        return;
    call_keys_release(&memo->keys);
    vec_release(&memo->entries);
    vec_release(&memo->words);
    vec_release(&memo->slots);
    free(memo->table);
    free(memo);
}

void memo_clear_calls(struct memo *memo)
{
    memo->entries.n = memo->words.n = memo->slots.n = 0;
    if (memo->table)
        memset(memo->table, 0, memo->n_table * sizeof *memo->table);
}

void memo_set_answers(struct memo *memo, bool on)
{
    memo->off = !on;
}

struct call_keys *memo_keys(struct memo *memo)
{
    return &memo->keys;
}

/* --- Looking up --- */

/* Returns the slot of a key in the table, used or empty. */
static uint32_t *memo_slot(struct memo *memo, const struct call_key *key)
{
    uint32_t i = (uint32_t)key->hash & (memo->n_table - 1);
    const uint32_t *words = memo->keys.words.v + key->at;
    for (; memo->table[i]; i = (i + 1) & (memo->n_table - 1)) {
        const struct memo_entry *e = &memo->entries.v[memo->table[i] - 1];
        if (e->hash == key->hash && e->key_n == key->n &&
            memcmp(memo->words.v + e->key_at, words, key->n * sizeof *words) == 0)
            break;
    }
    return &memo->table[i];
}

uint32_t memo_lookup(struct memo *memo, const struct call_key *key)
{
    uint32_t found = key->usable && memo->n_table ? *memo_slot(memo, key) : 0;
    return found ? found - 1 : MEMO_NONE;
}

static bool rebuild_result(struct call *c, const struct call_key *key, uint32_t *at,
                           struct value *ret)
{
    const struct memo *memo = c->ops->memo;
    const struct slot *slot = &memo->slots.v[(*at)++];
    struct tensor x = { .meta = slot->u.meta, .storage = c->fresh_from + slot->n };
    switch ((enum slot_kind)slot->kind) {
    case SLOT_VALUE: *ret = slot->u.value; return true;
    case SLOT_FRESH:
        if (slot->bytes != SYM_NONE)
            storage_note(c->ops, x.storage, slot->bytes);
        *ret = (struct value){ .kind = VALUE_TENSOR, .u.tensor = x };
        return true;
    case SLOT_ALIAS:
        x.storage = memo->keys.storages.v[key->storages_at + slot->n];
        *ret = (struct value){ .kind = VALUE_TENSOR, .u.tensor = x };
        return true;
    case SLOT_GROUP: break;
    }
    struct value *items = ops_values(c->ops, slot->n);
    *ret = value_items((enum value_kind)slot->value_kind, items, slot->n);
    for (uint32_t i = 0; i < ret->n && items; i++)
        if (!rebuild_result(c, key, at, &items[i]))
            return false;
    return items;
}

bool memo_answer(struct call *c, const struct call_key *key, uint32_t number)
{
    const struct memo *memo = c->ops->memo;
    if (number == MEMO_NONE || memo->off)
        return false;
    const struct memo_entry *entry = &memo->entries.v[number];
    uint32_t at = entry->slots_at;
    if (!rebuild_result(c, key, &at, &c->ret))
        return false; /* out of memory, which the rule will report, too */
    c->ops->next_storage += entry->n_fresh;
    return true;
}

void memo_forget_formats(struct call *c)
{
    struct tensor *x;
    for (uint32_t i = 0; (x = result_tensor(c, i)); i++)
        x->channels_last = x->contiguous = false;
}

/* --- Storing --- */

struct template_maker {
    struct call *c;
    const struct call_key *key;
    uint32_t n_fresh;
};

static bool push_slot(struct template_maker *m, struct slot slot)
{
    bool ok = vec_push(&m->c->ops->memo->slots, slot);
    m->c->ops->short_of_memory |= !ok;
    return ok;
}

static bool keep_tensor(struct template_maker *m, struct tensor x)
{
    const struct memo *memo = m->c->ops->memo;
    struct slot slot = { .kind = SLOT_ALIAS, .u.meta = x.meta };
    if (x.data)
        return false;
    if (x.storage >= m->c->fresh_from) {
        slot.kind = SLOT_FRESH;
        /* Keeps the distances between storages, because a rule may have made others in between. */
        slot.n = x.storage - m->c->fresh_from;
        slot.bytes = storage_bytes(m->c->ops, x.storage);
        m->n_fresh = slot.n + 1 > m->n_fresh ? slot.n + 1 : m->n_fresh;
        return push_slot(m, slot);
    }
    for (uint32_t i = 0; i < m->key->n_storages; i++)
        if (memo->keys.storages.v[m->key->storages_at + i] == x.storage) {
            slot.n = i;
            return push_slot(m, slot);
        }
    return false;
}

static bool keep_value(struct template_maker *m, struct value value, unsigned nesting)
{
    switch (value.kind) {
    case VALUE_TENSOR: return keep_tensor(m, value.u.tensor);
    case VALUE_NONE:
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_BOOL:
    case VALUE_COMPLEX:
    case VALUE_DTYPE:
    case VALUE_LAYOUT:
    case VALUE_MEMORY_FORMAT:
    case VALUE_DEVICE: return push_slot(m, (struct slot){ .kind = SLOT_VALUE, .u.value = value });
    case VALUE_LIST:
    case VALUE_TUPLE:
        if (nesting >= MAX_NESTING ||
            !push_slot(m, (struct slot){ .kind = SLOT_GROUP,
                                         .value_kind = (uint8_t)value.kind,
                                         .n = value.n }))
            return false;
        for (uint32_t i = 0; i < value.n; i++)
            if (!keep_value(m, value.u.items[i], nesting + 1))
                return false;
        return true;
    default: return false;
    }
}

static bool grow_memo_table(struct memo *memo)
{
    uint32_t n = memo->n_table ? 2 * memo->n_table : 1024;
    uint32_t *table = calloc(n, sizeof *table);
    if (!table)
        return false;
    for (size_t e = 0; e < memo->entries.n; e++) {
        uint32_t i = (uint32_t)memo->entries.v[e].hash & (n - 1);
        while (table[i])
            i = (i + 1) & (n - 1);
        table[i] = (uint32_t)e + 1;
    }
    free(memo->table);
    memo->table = table;
    memo->n_table = n;
    return true;
}

static bool keep_key(struct memo *memo, const struct call_key *key)
{
    if (!vec_reserve(&memo->words, key->n))
        return false;
    memcpy(memo->words.v + memo->words.n, call_key_words(&memo->keys, key),
           key->n * sizeof(uint32_t));
    memo->words.n += key->n;
    return true;
}

uint32_t memo_keep(struct call *c, const struct call_key *key)
{
    struct memo *memo = c->ops->memo;
    struct template_maker m = { .c = c, .key = key };
    struct memo_entry entry = { .hash = key->hash,
                                .key_at = (uint32_t)memo->words.n,
                                .key_n = key->n,
                                .slots_at = (uint32_t)memo->slots.n };
    if (!key->usable || !c->repeatable)
        return MEMO_NONE;
    bool reserved = (2 * (memo->entries.n + 1) <= memo->n_table || grow_memo_table(memo)) &&
                    vec_reserve(&memo->entries, 1) && vec_reserve(&memo->words, key->n);
    c->ops->short_of_memory |= !reserved;
    if (!reserved || !keep_value(&m, c->ret, 0) || !keep_key(memo, key)) {
        memo->slots.n = entry.slots_at;
        return MEMO_NONE;
    }
    entry.n_fresh = m.n_fresh;
    uint32_t *place = memo_slot(memo, key);
    if (*place) { /* the rule called itself with the same arguments, or the layer above ran it */
        memo->entries.v[*place - 1] = entry;
        return *place - 1;
    }
    memo->entries.v[memo->entries.n++] = entry;
    *place = (uint32_t)memo->entries.n;
    return *place - 1;
}

/* --- The layer --- */

enum op_outcome memo_call(struct call *c)
{
    struct memo *memo = c->ops->memo;
    struct call_key key;
    uint32_t number;
    enum op_outcome outcome = OP_DONE;
    if (!call_key_push(&memo->keys, c, &key))
        outcome = ops_no_memory(c->ops);
    else if (!memo_answer(c, &key, number = memo_lookup(memo, &key))) {
        outcome = compute_call(c);
        if (outcome == OP_DONE && number != MEMO_NONE)
            memo_forget_formats(c);
        if (outcome == OP_DONE)
            memo_keep(c, &key);
    }
    call_key_pop(&memo->keys, &key);
    return outcome;
}
