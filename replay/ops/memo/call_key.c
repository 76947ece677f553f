#include "replay/ops/memo/call_key.h"

#include "trace/base/hash.h"

/* A tensor's first word: its kind, how empty() made it, and the index of its storage. */
enum {
    MAX_WORDS = 1 << 16,
    MAX_NESTING = 16,
    KEY_CHANNELS_LAST = 1 << 8,
    KEY_CONTIGUOUS = 1 << 9,
    KEY_STORAGE_SHIFT = 10
};

void call_keys_release(struct call_keys *keys)
{
    vec_release(&keys->words);
    vec_release(&keys->storages);
    vec_release(&keys->stamps);
    intern_release(&keys->texts);
}

static bool push_key_word(struct call_keys *keys, uint32_t word)
{
    return vec_push(&keys->words, word);
}

static bool put2(struct call_keys *keys, uint32_t a, uint32_t b)
{
    return push_key_word(keys, a) && push_key_word(keys, b);
}

/* Returns the index of a storage among those of this call. */
static bool storage_index(struct call_keys *keys, const struct call_key *key, uint32_t storage,
                          uint32_t *ret)
{
    while (keys->stamps.n <= storage)
        if (!vec_push(&keys->stamps, (struct storage_stamp){ 0, 0 }))
            return false;
    struct storage_stamp *stamp = &keys->stamps.v[storage];
    if (stamp->epoch != keys->epoch) {
        *stamp =
            (struct storage_stamp){ keys->epoch, (uint32_t)keys->storages.n - key->storages_at };
        if (!vec_push(&keys->storages, storage))
            return false;
    }
    *ret = stamp->index;
    return true;
}

static bool key_tensor(struct call_keys *keys, struct call_key *key, struct tensor x)
{
    uint32_t index = 0;
    if (x.data)
        key->usable = false; /* because the result may depend on the data */
    uint32_t format = !key->composite   ? 0
                      : x.channels_last ? KEY_CHANNELS_LAST
                      : x.contiguous    ? KEY_CONTIGUOUS
                                        : 0;
    return storage_index(keys, key, x.storage, &index) &&
           put2(keys, VALUE_TENSOR | format | index << KEY_STORAGE_SHIFT, x.meta->id);
}

static bool key_text(struct call_keys *keys, const struct value *value)
{
    uint32_t id = intern(&keys->texts, value->u.text);
    return id != INTERN_NONE && put2(keys, value->kind, id);
}

static bool key_complex(struct call_keys *keys, const struct value *value)
{
    uint32_t bits[4];
    memcpy(bits, &value->u.complex, sizeof bits);
    return push_key_word(keys, value->kind) && put2(keys, bits[0], bits[1]) &&
           put2(keys, bits[2], bits[3]);
}

static bool key_value(struct call_keys *keys, struct call_key *key, const struct value *value,
                      unsigned nesting)
{
    switch (value->kind) {
    case VALUE_NONE:
    case VALUE_ELLIPSIS: return push_key_word(keys, value->kind);
    case VALUE_TENSOR: return key_tensor(keys, key, value->u.tensor);
    case VALUE_FLOAT:
    case VALUE_BOOL:
    case VALUE_INT: return put2(keys, value->kind, value->u.sym);
    case VALUE_COMPLEX: return key_complex(keys, value);
    case VALUE_DTYPE: return put2(keys, value->kind, value->u.dtype);
    case VALUE_LAYOUT: return put2(keys, value->kind, value->u.layout);
    case VALUE_MEMORY_FORMAT: return put2(keys, value->kind, value->u.memory_format);
    case VALUE_DEVICE:
        return put2(keys, value->kind | (uint32_t)value->u.device.type << 8,
                    (uint32_t)value->u.device.index);
    case VALUE_STRING:
    case VALUE_FUNCTION: return key_text(keys, value);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_SLICE:
        key->usable &= nesting < MAX_NESTING && value->n < MAX_WORDS;
        if (!key->usable)
            return true;
        for (uint32_t i = 0; i < value->n; i++)
            if ((i == 0 && !put2(keys, value->kind, value->n)) ||
                !key_value(keys, key, &value->u.items[i], nesting + 1))
                return false;
        return value->n || put2(keys, value->kind, 0);
    default: key->usable = false; return true; /* graphs and objects, which cannot be compared */
    }
}

bool call_key_push(struct call_keys *keys, const struct call *c, struct call_key *ret)
{
    *ret = (struct call_key){ .at = (uint32_t)keys->words.n,
                              .storages_at = (uint32_t)keys->storages.n,
                              .usable = true,
                              .composite = c->op->composite };
    keys->epoch++;
    bool ok = push_key_word(keys, c->op->index | c->ops->excluded_sdpa << 28);
    for (uint32_t i = 0; i < c->n_args && ok && ret->usable; i++)
        ok = key_value(keys, ret, &c->args[i], 0);
    ret->n = (uint32_t)keys->words.n - ret->at;
    ret->n_storages = (uint32_t)keys->storages.n - ret->storages_at;
    if (!ok || ret->n > MAX_WORDS)
        ret->usable = false;
    ret->hash = ret->usable ? XXH3_64bits(keys->words.v + ret->at, ret->n * sizeof(uint32_t)) : 0;
    return ok;
}

void call_key_pop(struct call_keys *keys, const struct call_key *key)
{
    keys->words.n = key->at;
    keys->storages.n = key->storages_at;
}

const uint32_t *call_key_words(const struct call_keys *keys, const struct call_key *key)
{
    return vec_from(&keys->words, key->at);
}

const uint32_t *call_key_storages(const struct call_keys *keys, const struct call_key *key)
{
    return vec_from(&keys->storages, key->storages_at);
}

/* Returns the number of words of one value; groups are followed by their items. */
static uint32_t words_of(uint32_t kind)
{
    return kind == VALUE_NONE || kind == VALUE_ELLIPSIS ? 1 : kind == VALUE_COMPLEX ? 5 : 2;
}

void call_key_translate(const uint32_t *words, uint32_t n, const struct call_key_translation *to,
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
