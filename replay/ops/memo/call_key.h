/* What tells calls apart: the operator and the arguments, tensors by interned meta and by which of
 * them share a storage. Two calls with the same words are the same call, on other storages maybe.
 *
 * Keys lie on a stack between call_key_push() and call_key_pop(), since rules call further
 * operators in between. */
#ifndef SYMTAPE_REPLAY_OPS_MEMO_CALL_KEY_H
#define SYMTAPE_REPLAY_OPS_MEMO_CALL_KEY_H

#include "replay/ops/dispatch/context.h"

struct call_key {
    uint64_t hash;
    uint32_t at, n;                   /* words */
    uint32_t storages_at, n_storages; /* of the arguments, each once */
    bool usable; /* false: something among the arguments is not told apart, as graphs and data */
};

struct storage_stamp {
    uint32_t epoch, index;
};

struct call_keys {
    struct intern texts;
    vec_of(uint32_t)
    words;
    vec_of(uint32_t)
    storages;
    vec_of(struct storage_stamp)
    stamps; /* by storage: its index among those of the key that is being made */
    uint32_t epoch;
};

void call_keys_release(struct call_keys *keys);

/* False: out of memory. */
bool call_key_push(struct call_keys *keys, const struct call *c, struct call_key *ret);
void call_key_pop(struct call_keys *keys, const struct call_key *key);

/* Until something is called. */
const uint32_t *call_key_words(const struct call_keys *keys, const struct call_key *key);
const uint32_t *call_key_storages(const struct call_keys *keys, const struct call_key *key);

/* A key's words with other metas (by id) and expressions in place of its own; the first word, the
 * operator, stays. */
struct call_key_translation {
    uint32_t (*meta)(void *user, uint32_t id);
    sym_id (*expr)(void *user, sym_id e);
    void *user;
};
void call_key_translate(const uint32_t *words, uint32_t n, const struct call_key_translation *to,
                        uint32_t *out);

#endif
