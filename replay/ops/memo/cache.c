#include "replay/ops/memo/cache.h"
#include "replay/ops/layout/storage.h"
#include "trace/base/hash.h"
#include "trace/base/intern.h"

enum { CACHE_MAX_WORDS = 1 << 16, CACHE_MAX_NESTING = 16 };

/* A result in preorder; groups are followed by their items. */
enum slot_kind { SLOT_VALUE, SLOT_FRESH, SLOT_ALIAS, SLOT_GROUP };

struct slot {
    uint8_t kind, value_kind;
    uint32_t n;   /* storage: ordinal of the new storage or of the argument's; items of a group */
    sym_id bytes; /* of a fresh storage */
    union {
        const struct tensor_meta *meta;
        struct value value;
    } u;
};

struct entry {
    uint64_t hash;
    uint32_t key_at, key_n;
    uint32_t slots_at;
    uint32_t n_fresh;
    uint32_t events_at, n_events;
    uint32_t depth; /* of the run that was logged */
    uint8_t bypass; /* NONE: PyTorch's cache has it too */
    bool muted;     /* from a run that counted nothing: PyTorch has not seen this call */
};

/* What a run counted; depth is that of the operator. */
struct event {
    uint32_t op;
    uint16_t depth;
    uint8_t kind; /* EVENT_DISPATCH or a counter */
    bool cached;  /* PyTorch's cache answers it from now on: what is deeper happens no more */
    uint32_t n;
};

struct stamp {
    uint32_t epoch, index;
};

struct op_cache {
    vec_of(struct entry)
    entries;
    vec_of(uint32_t)
    keys;
    vec_of(struct slot)
    slots;
    vec_of(struct event)
    events;
    uint32_t *table; /* entry + 1 */
    uint32_t n_table;
    struct intern texts;
    /* Stacks of what calls in progress hold. */
    vec_of(uint32_t)
    words;
    vec_of(uint32_t)
    storages;
    vec_of(struct stamp)
    stamps; /* by storage */
    uint32_t epoch, recording;
};

struct op_cache *op_cache_new(void)
{
    return calloc(1, sizeof(struct op_cache));
}

void op_cache_free(struct op_cache *cache)
{
    if (!cache)
        return;
    vec_release(&cache->entries);
    vec_release(&cache->keys);
    vec_release(&cache->slots);
    vec_release(&cache->events);
    vec_release(&cache->words);
    vec_release(&cache->storages);
    vec_release(&cache->stamps);
    intern_release(&cache->texts);
    free(cache->table);
    free(cache);
}

void op_cache_clear(struct op_cache *cache)
{
    cache->entries.n = cache->keys.n = cache->slots.n = cache->events.n = 0;
    if (cache->table)
        memset(cache->table, 0, cache->n_table * sizeof *cache->table);
}

/* --- The key --- */

static bool put(struct op_cache *cache, uint32_t word)
{
    return vec_push(&cache->words, word);
}

static bool put2(struct op_cache *cache, uint32_t a, uint32_t b)
{
    return put(cache, a) && put(cache, b);
}

/* The ordinal of a storage among those of this call. */
static bool storage_index(struct op_cache *cache, const struct cache_key *key, uint32_t storage,
                          uint32_t *ret)
{
    while (cache->stamps.n <= storage)
        if (!vec_push(&cache->stamps, (struct stamp){ 0, 0 }))
            return false;
    struct stamp *stamp = &cache->stamps.v[storage];
    if (stamp->epoch != cache->epoch) {
        *stamp = (struct stamp){ cache->epoch, (uint32_t)cache->storages.n - key->storages_at };
        if (!vec_push(&cache->storages, storage))
            return false;
    }
    *ret = stamp->index;
    return true;
}

static bool put_tensor(struct op_cache *cache, struct cache_key *key, struct tensor x)
{
    uint32_t index = 0;
    if (x.data) {
        key->usable = false; /* the answer may depend on it */
        key->bypass = key->bypass ? key->bypass : OP_BYPASS_CONSTANT;
    }
    if (x.meta->layout != LAYOUT_STRIDED && !key->bypass)
        key->bypass = OP_BYPASS_SPARSE;
    return storage_index(cache, key, x.storage, &index) &&
           put2(cache, VALUE_TENSOR | index << 8, x.meta->id);
}

static bool put_text(struct op_cache *cache, struct value value)
{
    uint32_t id = intern(&cache->texts, value.u.text);
    return id != INTERN_NONE && put2(cache, value.kind, id);
}

static bool put_complex(struct op_cache *cache, struct value value)
{
    uint32_t bits[4];
    memcpy(bits, &value.u.complex, sizeof bits);
    return put(cache, value.kind) && put2(cache, bits[0], bits[1]) && put2(cache, bits[2], bits[3]);
}

static bool put_value(struct ops *ops, struct cache_key *key, const struct value *value,
                      unsigned nesting)
{
    struct op_cache *cache = ops->cache;
    switch (value->kind) {
    case VALUE_NONE:
    case VALUE_ELLIPSIS: return put(cache, value->kind);
    case VALUE_TENSOR: return put_tensor(cache, key, value->u.tensor);
    case VALUE_FLOAT:
    case VALUE_BOOL:
        if (!key->bypass && value->u.sym > SYM_ID_TRUE && !sym_is_number(ops->pool, value->u.sym))
            key->bypass = OP_BYPASS_SYMBOLIC_SHAPE;
        return put2(cache, value->kind, value->u.sym);
    case VALUE_INT: return put2(cache, value->kind, value->u.sym);
    case VALUE_COMPLEX: return put_complex(cache, *value);
    case VALUE_DTYPE: return put2(cache, value->kind, value->u.dtype);
    case VALUE_LAYOUT: return put2(cache, value->kind, value->u.layout);
    case VALUE_MEMORY_FORMAT: return put2(cache, value->kind, value->u.memory_format);
    case VALUE_DEVICE:
        return put2(cache, value->kind | (uint32_t)value->u.device.type << 8,
                    (uint32_t)value->u.device.index);
    case VALUE_STRING: return put_text(cache, *value);
    case VALUE_FUNCTION:
        key->bypass = key->bypass ? key->bypass : OP_BYPASS_FUNCTION_ARGUMENT;
        return put_text(cache, *value);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_SLICE:
        key->usable &= nesting < CACHE_MAX_NESTING && value->n < CACHE_MAX_WORDS;
        if (!key->usable)
            return true;
        for (uint32_t i = 0; i < value->n; i++)
            if ((i == 0 && !put2(cache, value->kind, value->n)) ||
                !put_value(ops, key, &value->u.items[i], nesting + 1))
                return false;
        return value->n || put2(cache, value->kind, 0);
    default: key->usable = false; return true; /* graphs, objects: who knows */
    }
}

/* index.Tensor has a dynamic shape with masks only. */
static bool has_mask(const struct value *bound)
{
    for (uint32_t i = 0; bound[1].kind == VALUE_LIST && i < bound[1].n; i++) {
        const struct value *index = &bound[1].u.items[i];
        if (index->kind == VALUE_TENSOR &&
            (index->u.tensor.meta->dtype == DTYPE_B8 || index->u.tensor.meta->dtype == DTYPE_I8))
            return true;
    }
    return false;
}

enum op_bypass op_bypass_of(const struct op *op, const struct value *bound)
{
    if (op->bypass == OP_BYPASS_DYNAMIC_SHAPE && str_is(op->schema.base, "index") &&
        !has_mask(bound))
        return OP_BYPASS_NONE;
    return op->bypass;
}

bool op_cache_key(struct ops *ops, const struct op *op, const struct value *bound,
                  struct cache_key *ret)
{
    struct op_cache *cache = ops->cache;
    *ret = (struct cache_key){ .at = (uint32_t)cache->words.n,
                               .storages_at = (uint32_t)cache->storages.n,
                               .fresh_from = ops->next_storage,
                               .usable = true };
    ret->bypass = op_bypass_of(op, bound);
    cache->epoch++;
    bool ok = put(cache, op->index);
    for (uint32_t i = 0; i < op->schema.n_args && ok && ret->usable; i++)
        ok = put_value(ops, ret, &bound[i], 0);
    ret->n = (uint32_t)cache->words.n - ret->at;
    ret->n_storages = (uint32_t)cache->storages.n - ret->storages_at;
    if (!ok || ret->n > CACHE_MAX_WORDS)
        ret->usable = false;
    ret->hash = ret->usable ? XXH3_64bits(cache->words.v + ret->at, ret->n * sizeof(uint32_t)) : 0;
    return ok;
}

void op_cache_record(struct ops *ops, const struct op *op, struct cache_key *key)
{
    struct op_cache *cache = ops->cache;
    key->events_at = (uint32_t)cache->events.n;
    key->recording = key->usable && (op->composite || key->bypass != OP_BYPASS_NONE);
    cache->recording += key->recording;
}

const uint32_t *op_cache_storages(const struct op_cache *cache, const struct cache_key *key)
{
    return vec_from(&cache->storages, key->storages_at);
}

const uint32_t *op_cache_words(const struct op_cache *cache, const struct cache_key *key)
{
    return vec_from(&cache->words, key->at);
}

/* Of one value; groups are followed by their items. */
static uint32_t words_of(uint32_t kind)
{
    return kind == VALUE_NONE || kind == VALUE_ELLIPSIS ? 1 : kind == VALUE_COMPLEX ? 5 : 2;
}

void op_cache_translate(const uint32_t *words, uint32_t n, const struct op_cache_translation *to,
                        uint32_t *out)
{
    memcpy(out, words, n * sizeof *out);
    for (uint32_t i = 1; i < n; i += words_of(words[i] & 0xff)) {
        uint32_t kind = words[i] & 0xff;
        if (i + 1 < n && kind == VALUE_TENSOR)
            out[i + 1] = to->meta(to->user, words[i + 1]);
        else if (i + 1 < n && (kind == VALUE_INT || kind == VALUE_FLOAT || kind == VALUE_BOOL))
            out[i + 1] = to->expr(to->user, words[i + 1]);
    }
}

void op_cache_drop(struct ops *ops, const struct cache_key *key)
{
    ops->cache->words.n = key->at;
    ops->cache->storages.n = key->storages_at;
    ops->cache->recording -= key->recording;
}

/* --- Looking up --- */

static uint32_t *find(struct op_cache *cache, const struct cache_key *key)
{
    uint32_t i = (uint32_t)key->hash & (cache->n_table - 1);
    const uint32_t *words = cache->words.v + key->at;
    for (; cache->table[i]; i = (i + 1) & (cache->n_table - 1)) {
        const struct entry *e = &cache->entries.v[cache->table[i] - 1];
        if (e->hash == key->hash && e->key_n == key->n &&
            memcmp(cache->keys.v + e->key_at, words, key->n * sizeof *words) == 0)
            break;
    }
    return &cache->table[i];
}

static bool rebuild(struct ops *ops, const struct cache_key *key, uint32_t *at, struct value *ret)
{
    const struct op_cache *cache = ops->cache;
    const struct slot *slot = &cache->slots.v[(*at)++];
    switch ((enum slot_kind)slot->kind) {
    case SLOT_VALUE: *ret = slot->u.value; return true;
    case SLOT_FRESH:
        if (slot->bytes != SYM_NONE)
            storage_note(ops, key->fresh_from + slot->n, slot->bytes);
        *ret = (struct value){ .kind = VALUE_TENSOR,
                               .u.tensor = { slot->u.meta, key->fresh_from + slot->n, NULL } };
        return true;
    case SLOT_ALIAS:
        *ret =
            (struct value){ .kind = VALUE_TENSOR,
                            .u.tensor = { slot->u.meta,
                                          cache->storages.v[key->storages_at + slot->n], NULL } };
        return true;
    case SLOT_GROUP: break;
    }
    struct value *items = ops_values(ops, slot->n);
    *ret = value_items((enum value_kind)slot->value_kind, items, slot->n);
    for (uint32_t i = 0; i < ret->n && items; i++)
        if (!rebuild(ops, key, at, &items[i]))
            return false;
    return items;
}

/* What PyTorch does again; calls within that its cache answers by now end there. */
static void count_again(struct ops *ops, struct entry entry)
{
    struct op_cache *cache = ops->cache;
    uint32_t below = UINT32_MAX;
    for (uint32_t i = 0; i < entry.n_events; i++) {
        struct event e = cache->events.v[entry.events_at + i]; /* the log may move */
        if (e.depth > below)
            continue;
        below = e.cached ? e.depth : UINT32_MAX;
        uint32_t depth = ops->depth + (e.depth - entry.depth);
        if (e.kind < OP_COUNTERS)
            stats_count(ops, e.op, (enum op_counter)e.kind);
        else if (e.kind == EVENT_WITHIN)
            stats_within(ops, e.op, depth, e.n);
        else
            stats_dispatch(ops, e.op, depth, e.n);
        if (e.cached)
            stats_hit(ops, e.op);
        op_cache_log(ops, e.op, depth, e.kind, e.n, e.cached);
    }
}

bool op_cache_answer(struct ops *ops, const struct op *op, const struct cache_key *key,
                     struct value *ret)
{
    struct op_cache *cache = ops->cache;
    /* A pass that is modelled sees the calls that a composite operator makes. */
    bool seen = op->composite && ops->model.mode != MODEL_NOTHING;
    if (!key->usable || ops->cache_off || !cache->n_table || seen)
        return false;
    uint32_t found = *find(cache, key);
    if (!found)
        return false;
    const struct entry *entry = &cache->entries.v[found - 1];
    uint32_t at = entry->slots_at;
    if (entry->muted && !ops->stats.muted)
        return false;
    if (!rebuild(ops, key, &at, ret))
        return false; /* out of memory: the rule will find out, too */
    ops->next_storage += entry->n_fresh;
    if (entry->bypass == OP_BYPASS_NONE && !op->composite) {
        stats_hit(ops, op->index);
        return true;
    }
    stats_answered(ops, op->index, (enum op_bypass)entry->bypass);
    count_again(ops, *entry);
    return true;
}

/* --- Keeping --- */

struct maker {
    struct ops *ops;
    const struct cache_key *key;
    uint32_t n_fresh;
};

static bool push_slot(struct maker *m, struct slot slot)
{
    bool ok = vec_push(&m->ops->cache->slots, slot);
    m->ops->short_of_memory |= !ok;
    return ok;
}

static bool keep_tensor(struct maker *m, struct tensor x)
{
    struct op_cache *cache = m->ops->cache;
    struct slot slot = { .kind = SLOT_ALIAS, .u.meta = x.meta };
    if (x.data)
        return false;
    if (x.storage >= m->key->fresh_from) {
        slot.kind = SLOT_FRESH;
        /* As far apart as they were: a rule may have made others in between. */
        slot.n = x.storage - m->key->fresh_from;
        slot.bytes = storage_bytes(m->ops, x.storage);
        m->n_fresh = slot.n + 1 > m->n_fresh ? slot.n + 1 : m->n_fresh;
        return push_slot(m, slot);
    }
    for (uint32_t i = 0; i < m->key->n_storages; i++)
        if (cache->storages.v[m->key->storages_at + i] == x.storage) {
            slot.n = i;
            return push_slot(m, slot);
        }
    return false;
}

static bool keep_value(struct maker *m, struct value value, unsigned nesting)
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
        if (nesting >= CACHE_MAX_NESTING ||
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

static bool grow(struct op_cache *cache)
{
    uint32_t n = cache->n_table ? 2 * cache->n_table : 1024;
    uint32_t *table = calloc(n, sizeof *table);
    if (!table)
        return false;
    for (size_t e = 0; e < cache->entries.n; e++) {
        uint32_t i = (uint32_t)cache->entries.v[e].hash & (n - 1);
        while (table[i])
            i = (i + 1) & (n - 1);
        table[i] = (uint32_t)e + 1;
    }
    free(cache->table);
    cache->table = table;
    cache->n_table = n;
    return true;
}

static bool keep_key(struct op_cache *cache, const struct cache_key *key)
{
    if (!vec_reserve(&cache->keys, key->n))
        return false;
    memcpy(cache->keys.v + cache->keys.n, cache->words.v + key->at, key->n * sizeof(uint32_t));
    cache->keys.n += key->n;
    return true;
}

/* PyTorch keeps tensors and groups of tensors, integers and None. */
enum op_bypass op_bypass_of_result(const struct op *op, struct value result)
{
    const struct value *items = &result;
    bool group = result.kind == VALUE_LIST || result.kind == VALUE_TUPLE;
    if (op->returns_keyword)
        return OP_BYPASS_KEYWORD_ALIASES;
    for (uint32_t i = 0; i < (group ? result.n : 1); i++) {
        const struct value *item = group ? &result.u.items[i] : items;
        if (item->kind == VALUE_TENSOR && item->u.tensor.meta->layout != LAYOUT_STRIDED)
            return OP_BYPASS_SPARSE;
        if (item->kind != VALUE_TENSOR && item->kind != VALUE_NONE && item->kind != VALUE_INT)
            return OP_BYPASS_NON_TENSOR_OUTPUT;
    }
    return OP_BYPASS_NONE;
}

void op_cache_store(struct ops *ops, const struct cache_key *key, struct value result)
{
    struct op_cache *cache = ops->cache;
    struct maker m = { .ops = ops, .key = key };
    struct entry entry = { .hash = key->hash,
                           .key_at = (uint32_t)cache->keys.n,
                           .key_n = key->n,
                           .slots_at = (uint32_t)cache->slots.n,
                           .events_at = key->events_at,
                           .depth = ops->depth,
                           .bypass = (uint8_t)key->bypass };
    entry.muted = ops->stats.muted > 0;
    if (!key->usable || ops->cache_off)
        return;
    if (key->recording)
        entry.n_events = (uint32_t)cache->events.n - key->events_at;
    bool room = (2 * (cache->entries.n + 1) <= cache->n_table || grow(cache)) &&
                vec_reserve(&cache->entries, 1) && vec_reserve(&cache->keys, key->n);
    ops->short_of_memory |= !room;
    if (!room || !keep_value(&m, result, 0) || !keep_key(cache, key)) {
        cache->slots.n = entry.slots_at;
        return;
    }
    entry.n_fresh = m.n_fresh;
    uint32_t *slot = find(cache, key);
    if (*slot) { /* of a muted run, or the rule called itself with the same arguments */
        cache->entries.v[*slot - 1] = entry;
        return;
    }
    cache->entries.v[cache->entries.n++] = entry;
    *slot = (uint32_t)cache->entries.n;
}

void op_cache_log(struct ops *ops, uint32_t op, uint32_t depth, uint32_t kind, uint32_t n,
                  bool cached)
{
    struct op_cache *cache = ops->cache;
    if (!cache->recording || ops->stats.muted)
        return;
    /* Without memory the counts of a later answer are short; the answer is right. */
    if (!vec_push(&cache->events, (struct event){ .op = op,
                                                  .depth = (uint16_t)depth,
                                                  .kind = (uint8_t)kind,
                                                  .cached = cached,
                                                  .n = n }))
        ops->short_of_memory = true;
}
