/* The identity of a call: the operator and the arguments, tensors by interned meta and by which
 * of them share a storage. Two calls with the same words are the same call, possibly on other
 * storages. For a composite operator, tensors that empty() made channels last differ from others of
 * their meta, since it asks fewer guards of them; calls of other operators are those of PyTorch's
 * cache, whose key has no such thing (FakeTensorMode._cache_key of
 * torch/_subclasses/fake_tensor.py).
 *
 * Keys are on a stack between call_key_push() and call_key_pop(), since rules call further
 * operators in between. */
#ifndef SYMTAPE_REPLAY_OPS_MEMO_CALL_KEY_H
#define SYMTAPE_REPLAY_OPS_MEMO_CALL_KEY_H

#include "replay/ops/dispatch/context.h"

struct call_key {
    uint64_t hash;
    uint32_t at, n;                   /* words */
    uint32_t storages_at, n_storages; /* those of the arguments, each once */
    bool composite;
    bool usable; /* false: an argument has no identity in a key, as graphs and data */
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
    stamps; /* by storage: its index in the key that is being made */
    uint32_t epoch;
};

void call_keys_release(struct call_keys *keys);

/* Makes the key of a call. False: out of memory. */
bool call_key_push(struct call_keys *keys, const struct call *c, struct call_key *ret);
void call_key_pop(struct call_keys *keys, const struct call_key *key);

/* Returns the key's words, valid until something is called. */
const uint32_t *call_key_words(const struct call_keys *keys, const struct call_key *key);
const uint32_t *call_key_storages(const struct call_keys *keys, const struct call_key *key);

/* Replaces metas (by id) and expressions in a key's words; the first word, the operator, remains.
 */
struct call_key_translation {
    uint32_t (*meta)(void *user, uint32_t id);
    sym_id (*expr)(void *user, sym_id e);
    void *user;
};
void call_key_translate(const uint32_t *words, uint32_t n, const struct call_key_translation *to,
                        uint32_t *out);

#endif
