/* Answers to calls that were seen: by operator and arguments, tensors by interned meta and by which
 * of them share a storage (torch/_subclasses/fake_tensor.py, FakeTensorMode._cached_dispatch_impl).
 * An entry is a template of the result: fresh storages, aliases of arguments, numbers.
 *
 * PyTorch passes many calls by (replay/ops/dispatch/op_bypass.def) and computes them again. Ours
 * are answered too, as long as the answer is the same, but what PyTorch does meanwhile is counted:
 * an entry of that kind holds the dispatches of its first run, without those below calls that would
 * hit by now.
 *
 * A key lives on a stack inside the cache between op_cache_key() and op_cache_drop(), since rules
 * call further operators in between. */
#ifndef SYMTAPE_REPLAY_OPS_MEMO_CACHE_H
#define SYMTAPE_REPLAY_OPS_MEMO_CACHE_H

#include "replay/ops/dispatch/context.h"

struct cache_key {
    uint64_t hash;
    uint32_t at, n;                   /* words */
    uint32_t storages_at, n_storages; /* of the arguments, each once */
    uint32_t fresh_from;              /* storages from here on are the call's own */
    uint32_t events_at;               /* of the log */
    enum op_bypass bypass;            /* why PyTorch's cache would pass it by, from its key */
    bool usable;                      /* by ours */
    bool recording;                   /* its dispatches are being logged */
};

struct op_cache *op_cache_new(void);
void op_cache_free(struct op_cache *cache);
void op_cache_clear(struct op_cache *cache);

/* What PyTorch's cache says of an operator whatever its arguments. */
enum op_bypass op_bypass_of(const struct op *op, const struct value *bound);

/* And what it says once the result is there. */
enum op_bypass op_bypass_of_result(const struct op *op, struct value result);

/* False: out of memory. */
bool op_cache_key(struct ops *ops, const struct op *op, const struct value *bound,
                  struct cache_key *ret);
/* True with the result where the call was seen; counts what PyTorch would count. */
bool op_cache_answer(struct ops *ops, const struct op *op, const struct cache_key *key,
                     struct value *ret);
/* What follows is the call's own doing. */
void op_cache_record(struct ops *ops, const struct op *op, struct cache_key *key);
/* After a run; what cannot be a template is not kept, nor is anything when memory is short. */
void op_cache_store(struct ops *ops, const struct cache_key *key, struct value result);
/* Those of the arguments, n_storages of them; until something is called. */
const uint32_t *op_cache_storages(const struct op_cache *cache, const struct cache_key *key);
const uint32_t *op_cache_words(const struct op_cache *cache, const struct cache_key *key);
/* A key's words with other metas (by id) and expressions in place of its own; the first word, the
 * operator, stays. */
struct op_cache_translation {
    uint32_t (*meta)(void *user, uint32_t id);
    sym_id (*expr)(void *user, sym_id e);
    void *user;
};
void op_cache_translate(const uint32_t *words, uint32_t n, const struct op_cache_translation *to,
                        uint32_t *out);
void op_cache_drop(struct ops *ops, const struct cache_key *key);

/* What a run counts, for entries that PyTorch does not have. */
enum {
    EVENT_DISPATCH = OP_COUNTERS, /* below it: a counter of the fast path */
    EVENT_WITHIN                  /* dispatches of what a rule does not call by itself */
};
void op_cache_log(struct ops *ops, uint32_t op, uint32_t depth, uint32_t kind, uint32_t n,
                  bool cached);

#endif
