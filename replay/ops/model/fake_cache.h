/* FakeTensorMode's operator cache with PyTorch's keys (torch/_subclasses/fake_tensor.py,
 * _cache_key, _prep_args_for_hash; _fake_tensor_utils.py): simulates hits and misses while a pass
 * of PyTorch's is modelled (replay/attempt/dispatch_passes.h). Only for counts; results come from
 * replay/ops/memo/memo.h.
 *
 * A key has a tensor's meta, whether it requires a gradient, and its storage's size as an
 * expression, which for a hit is the one of empty_strided(); that form is kept here, because the
 * rules compute with the one that they made. Sizes are as they had been replaced by then; a size
 * that became a number differs from the number. PyTorch's key also says which sizes are one SymNode
 * (_InputBackref). Here only numbers that AOTAutograd passes from the graph's inputs are told apart
 * by it (hash_own_node()), so that some of PyTorch's misses count as hits. */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_FAKE_CACHE_H
#define SYMTAPE_REPLAY_OPS_MODEL_FAKE_CACHE_H

#include "replay/ops/dispatch/counters.h"
#include "replay/ops/dispatch/ops.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct fake_key {
    uint64_t low, high;
};

enum fake_answer { FAKE_MISS, FAKE_HIT, FAKE_BYPASS };

struct fake_entry {
    struct fake_key key;
    bool missed;    /* the last such call was a miss */
    uint8_t bypass; /* why such calls bypass the cache, once one was computed */
};

struct fake_cache {
    vec_of(struct fake_entry)
    entries;
    struct hash_index index; /* of entries, by key.low */
    vec_of(uint64_t)
    grads; /* tensors that require a gradient: storage and meta */
    struct hash_index grad_index;
    vec_of(sym_id)
    forms; /* by storage: its size as ops_model_form() returns it, or SYM_NONE */
    vec_of(uint32_t)
    words;
    uint32_t graph, node; /* see ops_model_at() */
    bool takes_numbers;
    uint32_t pass; /* the current pass; sizes that depend on data are new symbols in each */
};

/* Makes the key of a call. False: out of memory. */
struct call;
bool fake_cache_key(const struct call *c, struct fake_key *ret);
/* The same for a call that a rule implements: a primitive that makes a tensor of x laid out as g.
 */
struct geometry;
bool fake_cache_step(struct ops *ops, const char *name, struct tensor x, const struct geometry *g,
                     const sym_id *args, uint32_t n, struct fake_key *ret);
enum fake_answer fake_cache_look(struct ops *ops, const struct fake_key *key,
                                 enum op_bypass *bypass);
/* Notes a computed call, which will hit or bypass the cache from now on. False: out of memory. */
bool fake_cache_keep(struct ops *ops, const struct fake_key *key, enum op_bypass bypass);
/* Returns, once, whether a call that was counted before missed then. */
bool fake_cache_missed(struct ops *ops, const struct fake_key *key);
/* Sets the forms of the storages that a hit makes: those from fresh_from on. */
void fake_cache_synthesize(struct ops *ops, const struct value *result, uint32_t fresh_from);

/* Notes that the tensor requires a gradient, until ops_reset(). False: out of memory. */
bool fake_cache_requires_grad(struct ops *ops, struct tensor x);
bool fake_cache_has_grad(const struct fake_cache *cache, struct tensor x);
/* Returns a size with the replacements that were known before `later` nodes after the current one.
 */
sym_id fake_cache_replaced(struct ops *ops, sym_id size, uint32_t later);
void fake_cache_forget_tensors(struct fake_cache *cache);
void fake_cache_clear(struct fake_cache *cache);
void fake_cache_release(struct fake_cache *cache);

#endif
