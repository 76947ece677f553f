/* FakeTensorMode's operator cache as PyTorch keys it (torch/_subclasses/fake_tensor.py, _cache_key,
 * _prep_args_for_hash; _fake_tensor_utils.py): what it would say of each call while a pass of
 * PyTorch's is modelled (replay/attempt/passes.h). For counts only; answers come from
 * replay/ops/memo/memo.h.
 *
 * A tensor is known by its meta, by whether it requires a gradient, and by the size of its storage
 * as it was written: that of a hit is written as empty_strided() writes it. Which SymNode a size
 * is makes no difference: in 90,000 recorded calls the same values were the same key. */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_FAKE_CACHE_H
#define SYMTAPE_REPLAY_OPS_MODEL_FAKE_CACHE_H

#include "replay/ops/dispatch/counters.h"
#include "replay/ops/dispatch/ops.h"
#include "trace/base/vec.h"

struct fake_key {
    uint64_t low, high;
};

enum fake_answer { FAKE_MISS, FAKE_HIT, FAKE_BYPASS };

struct fake_entry {
    struct fake_key key;
    bool used;
    bool missed;    /* the last call of it was a miss */
    uint8_t bypass; /* why calls of it are passed by, once it was computed */
};

struct fake_cache {
    struct fake_entry *entries; /* open addressing */
    uint32_t n_slots, n;
    uint64_t *grads; /* tensors that require a gradient: storage and meta, + 1 */
    uint32_t n_grad_slots, n_grads;
    vec_of(uint32_t)
    words;
    uint32_t pass; /* sizes that depend on data are other symbols in each */
};

/* False: out of memory. */
struct call;
bool fake_cache_key(const struct call *c, struct fake_key *ret);
/* Of a call that a rule stands for: a primitive that makes something of x as laid out by g. */
struct geometry;
bool fake_cache_step(struct ops *ops, const char *name, struct tensor x, const struct geometry *g,
                     const sym_id *args, uint32_t n, struct fake_key *ret);
enum fake_answer fake_cache_look(struct ops *ops, const struct fake_key *key,
                                 enum op_bypass *bypass);
/* Was computed, and will be answered or passed by from now on. False: out of memory. */
bool fake_cache_keep(struct ops *ops, const struct fake_key *key, enum op_bypass bypass);
/* Of a call that counts nothing since it was counted before: did it miss then? Asked once. */
bool fake_cache_missed(struct ops *ops, const struct fake_key *key);
/* The storages that a hit makes: those from fresh_from on. */
void fake_cache_synthesize(struct ops *ops, const struct value *result, uint32_t fresh_from);

/* From here on that tensor requires a gradient; until ops_reset(). False: out of memory. */
bool fake_cache_requires_grad(struct ops *ops, struct tensor x);
bool fake_cache_has_grad(const struct fake_cache *cache, struct tensor x);
void fake_cache_forget_tensors(struct fake_cache *cache);
void fake_cache_clear(struct fake_cache *cache);
void fake_cache_release(struct fake_cache *cache);

#endif
