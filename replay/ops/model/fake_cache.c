#include "replay/ops/model/fake_cache.h"

#include "replay/ops/layout/layout.h"
#include "replay/ops/layout/storage.h"
#include "replay/ops/model/model.h"
#include "trace/base/hash.h"

enum { MAX_NESTING = 16, MAX_COMPARED = 256 };

/* --- Tensors that require a gradient --- */

static uint64_t grad_name(struct tensor x)
{
    return (uint64_t)x.storage << 32 | x.meta->id;
}

bool fake_cache_has_grad(const struct fake_cache *cache, struct tensor x)
{
    uint32_t hash = (uint32_t)hash_mix(grad_name(x), 0), row;
    for (size_t at = hash_index_start(&cache->grad_index, hash);
         hash_index_next(&cache->grad_index, hash, &at, &row);)
        if (cache->grads.v[row] == grad_name(x))
            return true;
    return false;
}

bool fake_cache_requires_grad(struct ops *ops, struct tensor x)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    if (fake_cache_has_grad(cache, x))
        return true;
    if (!hash_index_reserve(&cache->grad_index, 1) || !vec_push(&cache->grads, grad_name(x)))
        return false;
    hash_index_add(&cache->grad_index, (uint32_t)hash_mix(grad_name(x), 0),
                   (uint32_t)cache->grads.n - 1);
    return true;
}

void fake_cache_forget_tensors(struct fake_cache *cache)
{
    hash_index_clear(&cache->grad_index);
    cache->grads.n = cache->forms.n = 0;
}

/* --- Sizes of storages as they are written --- */

void ops_model_set_form(struct ops *ops, uint32_t storage, sym_id bytes)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    while (cache->forms.n <= storage)
        if (!vec_push(&cache->forms, SYM_NONE)) {
            ops->short_of_memory = true;
            return;
        }
    cache->forms.v[storage] = bytes;
}

sym_id ops_model_form(const struct ops *ops, uint32_t storage)
{
    const struct fake_cache *cache = &ops->model->fake_cache;
    return storage < cache->forms.n && cache->forms.v[storage] != SYM_NONE
               ? cache->forms.v[storage]
               : storage_bytes(ops, storage);
}

/* --- Keys --- */

static bool hash_word(struct fake_cache *cache, uint32_t word)
{
    return vec_push(&cache->words, word);
}

sym_id fake_cache_replaced(struct ops *ops, sym_id size, uint32_t later)
{
    const struct fake_cache *cache = &ops->model->fake_cache;
    const struct env_replacement *replacement = env_replacement_of(ops->env, size);
    if (cache->graph != UINT32_MAX) {
        if (!replacement)
            return size; /* a sum or product whose symbols are replaced is taken as it is */
        const struct env_origin *made = &replacement->origin;
        if (made->node != ENV_NODE_NONE &&
            (made->graph != cache->graph || made->node >= cache->node + later))
            return size;
    }
    sym_id ret = env_replace(ops->env, size);
    return ret == SYM_NONE ? size : ret;
}

/* A SymInt that became a number differs from that number (_PySymInputStub). */
static bool hash_sym(struct ops *ops, sym_id sym)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    if (sym_is_number(ops->pool, sym))
        return hash_word(cache, sym);
    sym_id known = fake_cache_replaced(ops, sym, 0);
    return hash_word(cache, known) && (!sym_is_number(ops->pool, known) || hash_word(cache, sym));
}

static bool hash_syms(struct ops *ops, const sym_id *syms, uint32_t n, bool *unbacked)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        ok = hash_sym(ops, syms[i]);
        *unbacked |= !sym_is_number(ops->pool, syms[i]) && env_has_unbacked(ops->env, syms[i]);
    }
    return ok;
}

/* Returns the form of a storage's size; without symbols it follows from the rest. */
static sym_id written_bytes(const struct ops *ops, struct tensor x)
{
    sym_id bytes = ops_model_form(ops, x.storage);
    return bytes != SYM_NONE && sym_is_number(ops->pool, bytes) ? SYM_NONE : bytes;
}

/* Returns whether x is one of the values. *left: how many are compared before it is assumed. */
static bool is_among(const struct value *values, uint32_t n, struct tensor x, uint32_t *left,
                     unsigned nesting)
{
    bool found = false;
    for (uint32_t i = 0; i < n && !found; i++) {
        const struct value *value = &values[i];
        if (!*left)
            return true;
        --*left;
        if (value->kind == VALUE_TENSOR)
            found = value->u.tensor.meta == x.meta && value->u.tensor.storage == x.storage;
        if ((value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) && nesting < MAX_NESTING)
            found = is_among(value->u.items, value->n, x, left, nesting + 1);
    }
    return found;
}

/* Returns whether the running call from outside, or a call in it, has made the tensor. */
static bool is_made_within(const struct ops *ops, struct tensor x)
{
    const struct call *outer = ops->nesting ? ops->outermost : NULL;
    uint32_t left = MAX_COMPARED;
    return outer &&
           (x.storage >= outer->fresh_from || !is_among(outer->args, outer->n_args, x, &left, 0));
}

/* Hashes sizes that were arguments of the call that made a tensor: the arguments' parser takes the
 * number of a SymInt that has become one (SymNode.maybe_as_int, torch/fx/experimental/sym_node.py).
 */
static bool hash_settled(struct ops *ops, const sym_id *syms, uint32_t n, bool *unbacked)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        sym_id settled = ops_model_settled(ops, syms[i]);
        ok = hash_syms(ops, &settled, 1, unbacked);
    }
    return ok;
}

static bool hash_tensor(struct ops *ops, struct tensor x)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    const struct tensor_meta *m = x.meta;
    bool unbacked = false;
    bool (*hash_sizes)(struct ops *, const sym_id *, uint32_t, bool *) =
        is_made_within(ops, x) ? hash_settled : hash_syms;
    uint32_t flags = (uint32_t)m->layout | (uint32_t)m->conj << 8 | (uint32_t)m->neg << 9 |
                     (uint32_t)fake_cache_has_grad(cache, x) << 10;
    return hash_word(cache, VALUE_TENSOR) && hash_word(cache, m->dtype) &&
           hash_word(cache, flags) && hash_word(cache, (uint32_t)m->device.type) &&
           hash_word(cache, (uint32_t)m->device.index) && hash_word(cache, m->ndim) &&
           hash_sizes(ops, m->size, m->ndim, &unbacked) &&
           (!m->stride || hash_sizes(ops, m->stride, m->ndim, &unbacked)) &&
           hash_syms(ops, &m->offset, 1, &unbacked) && hash_word(cache, written_bytes(ops, x)) &&
           (!unbacked || hash_word(cache, cache->pass));
}

static bool hash_data(struct fake_cache *cache, const void *data, size_t n)
{
    uint64_t hash = XXH3_64bits(data, n);
    return hash_word(cache, (uint32_t)hash) && hash_word(cache, (uint32_t)(hash >> 32));
}

static bool hash_value(struct ops *ops, const struct value *value, unsigned nesting)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    bool unbacked = false, ok = true;
    switch (value->kind) {
    case VALUE_TENSOR: return hash_tensor(ops, value->u.tensor);
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_BOOL:
        return hash_word(cache, value->kind) && hash_syms(ops, &value->u.sym, 1, &unbacked) &&
               (!unbacked || hash_word(cache, cache->pass));
    case VALUE_COMPLEX:
        return hash_word(cache, value->kind) &&
               hash_data(cache, &value->u.complex, sizeof value->u.complex);
    case VALUE_DTYPE: return hash_word(cache, value->kind) && hash_word(cache, value->u.dtype);
    case VALUE_LAYOUT: return hash_word(cache, value->kind) && hash_word(cache, value->u.layout);
    case VALUE_MEMORY_FORMAT:
        return hash_word(cache, value->kind) && hash_word(cache, value->u.memory_format);
    case VALUE_DEVICE:
        return hash_word(cache, value->kind) && hash_word(cache, (uint32_t)value->u.device.type) &&
               hash_word(cache, (uint32_t)value->u.device.index);
    case VALUE_STRING:
    case VALUE_FUNCTION:
    case VALUE_GRAPH:
    case VALUE_OPAQUE:
        return hash_word(cache, value->kind) && hash_data(cache, value->u.text.p, value->u.text.n);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_SLICE:
        ok = hash_word(cache, value->kind) && hash_word(cache, value->n);
        for (uint32_t i = 0; i < value->n && nesting < MAX_NESTING && ok; i++)
            ok = hash_value(ops, &value->u.items[i], nesting + 1);
        return ok;
    case VALUE_NONE:
    case VALUE_ELLIPSIS: return hash_word(cache, value->kind);
    }
    return true;
}

static bool holds_size(const struct value *value, sym_id size, unsigned nesting)
{
    bool holds = false;
    if (value->kind == VALUE_TENSOR)
        for (uint32_t i = 0; i < value->u.tensor.meta->ndim; i++)
            holds |= value->u.tensor.meta->size[i] == size;
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < value->n && nesting < MAX_NESTING; i++)
            holds |= holds_size(&value->u.items[i], size, nesting + 1);
    return holds;
}

static bool holds_number(const struct value *value, sym_id number, unsigned nesting)
{
    bool holds = value->kind == VALUE_INT && value->u.sym == number;
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < value->n && nesting < MAX_NESTING; i++)
            holds |= holds_number(&value->u.items[i], number, nesting + 1);
    return holds;
}

/* The SymNode of a number that is an input of the graph is that of a size of Dynamo's input, and a
 * key refers to the size (_InputBackref). AOTAutograd makes the inputs' sizes anew, but not the
 * numbers. */
static bool hash_own_node(const struct call *c, sym_id number)
{
    const struct call *graphs = c->ops->nesting ? c->ops->outermost : c;
    bool size = false, passed = false;
    for (uint32_t i = 0; i < c->n_args; i++)
        size |= holds_size(&c->args[i], number, 0);
    for (uint32_t i = 0; size && i < graphs->n_args; i++)
        passed |= holds_number(&graphs->args[i], number, 0);
    return !passed || hash_word(&c->ops->model->fake_cache, SYM_NONE);
}

static bool hash_own_nodes(const struct call *c, const struct value *value)
{
    bool ok = true;
    if (value->kind == VALUE_INT && !sym_is_number(c->pool, value->u.sym))
        return hash_own_node(c, value->u.sym);
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < value->n && ok; i++)
            ok = value->u.items[i].kind != VALUE_INT || hash_own_nodes(c, &value->u.items[i]);
    return ok;
}

bool fake_cache_key(const struct call *c, struct fake_key *ret)
{
    struct fake_cache *cache = &c->ops->model->fake_cache;
    bool outside = c->ops->depth == 0 && cache->takes_numbers &&
                   c->ops->model->dispatch.mode == MODEL_FUNCTIONAL;
    cache->words.n = 0;
    bool ok = hash_word(cache, c->op->index);
    for (uint32_t i = 0; i < c->n_args && ok; i++)
        ok = hash_value(c->ops, &c->args[i], 0) && (!outside || hash_own_nodes(c, &c->args[i]));
    XXH128_hash_t hash = XXH3_128bits(cache->words.v, cache->words.n * sizeof(uint32_t));
    *ret = (struct fake_key){ hash.low64, hash.high64 };
    return ok;
}

/* Returns whether x is laid out as g. */
static bool is_laid_out(struct tensor x, const struct geometry *g)
{
    size_t bytes = g->n * sizeof *g->size;
    return x.meta->ndim == g->n && memcmp(x.meta->size, g->size, bytes) == 0 &&
           memcmp(x.meta->stride, g->stride, bytes) == 0 && x.meta->offset == g->offset;
}

bool fake_cache_step(struct ops *ops, const char *name, struct tensor x, const struct geometry *g,
                     const sym_id *args, uint32_t n, struct fake_key *ret)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    bool unbacked = false, grad = fake_cache_has_grad(cache, x) && is_laid_out(x, g);
    cache->words.n = 0;
    bool ok = hash_word(cache, UINT32_MAX) && hash_word(cache, grad) &&
              hash_data(cache, name, strlen(name)) && hash_word(cache, x.meta->dtype) &&
              hash_word(cache, (uint32_t)x.meta->device.type) &&
              hash_word(cache, (uint32_t)x.meta->device.index) && hash_word(cache, g->n) &&
              hash_syms(ops, g->size, g->n, &unbacked) &&
              hash_syms(ops, g->stride, g->n, &unbacked) &&
              hash_syms(ops, &g->offset, 1, &unbacked) && hash_word(cache, written_bytes(ops, x)) &&
              hash_syms(ops, args, n, &unbacked) && (!unbacked || hash_word(cache, cache->pass));
    XXH128_hash_t hash = XXH3_128bits(cache->words.v, cache->words.n * sizeof(uint32_t));
    *ret = (struct fake_key){ hash.low64, hash.high64 };
    return ok;
}

/* --- Entries --- */

/* Returns the entry of that key, or NULL. */
static struct fake_entry *find_fake_entry(const struct fake_cache *cache,
                                          const struct fake_key *key)
{
    uint32_t low = (uint32_t)key->low, row;
    for (size_t at = hash_index_start(&cache->index, low);
         hash_index_next(&cache->index, low, &at, &row);) {
        struct fake_entry *entry = &cache->entries.v[row];
        if (entry->key.low == key->low && entry->key.high == key->high)
            return entry;
    }
    return NULL;
}

enum fake_answer fake_cache_look(struct ops *ops, const struct fake_key *key,
                                 enum op_bypass *bypass)
{
    struct fake_entry *entry = find_fake_entry(&ops->model->fake_cache, key);
    if (!entry)
        return FAKE_MISS;
    entry->missed = false;
    *bypass = (enum op_bypass)entry->bypass;
    return entry->bypass ? FAKE_BYPASS : FAKE_HIT;
}

bool fake_cache_keep(struct ops *ops, const struct fake_key *key, enum op_bypass bypass)
{
    struct fake_cache *cache = &ops->model->fake_cache;
    const struct fake_entry entry = { *key, true, (uint8_t)bypass };
    struct fake_entry *old = find_fake_entry(cache, key);
    if (old) {
        *old = entry;
        return true;
    }
    if (!hash_index_reserve(&cache->index, 1) || !vec_push(&cache->entries, entry))
        return false;
    hash_index_add(&cache->index, (uint32_t)key->low, (uint32_t)cache->entries.n - 1);
    return true;
}

bool fake_cache_missed(struct ops *ops, const struct fake_key *key)
{
    struct fake_entry *entry = find_fake_entry(&ops->model->fake_cache, key);
    if (!entry || entry->bypass)
        return true;
    bool ret = entry->missed;
    entry->missed = false;
    return ret;
}

/* --- The result of a hit --- */

static void synthesize_storage(struct ops *ops, struct tensor x, uint32_t fresh_from)
{
    struct call c = { .ops = ops, .env = ops->env, .pool = ops->pool, .symbolic = true };
    const struct tensor_meta *m = x.meta;
    if (x.storage < fresh_from || m->layout != LAYOUT_STRIDED || !ops->metas.symbolic.v[m->id])
        return;
    ops_model_set_form(ops, x.storage, strided_bytes(&c, m->dtype, m->size, m->stride, m->ndim));
}

void fake_cache_synthesize(struct ops *ops, const struct value *result, uint32_t fresh_from)
{
    env_suppress_guards(ops->env);
    if (result->kind == VALUE_TENSOR)
        synthesize_storage(ops, result->u.tensor, fresh_from);
    if (result->kind == VALUE_TUPLE || result->kind == VALUE_LIST)
        for (uint32_t i = 0; i < result->n; i++)
            if (result->u.items[i].kind == VALUE_TENSOR)
                synthesize_storage(ops, result->u.items[i].u.tensor, fresh_from);
    env_resume_guards(ops->env);
    env_raised(ops->env);
    ops->outcome = OP_DONE;
}

void fake_cache_clear(struct fake_cache *cache)
{
    hash_index_clear(&cache->index);
    cache->entries.n = 0;
    cache->pass = 0;
    fake_cache_forget_tensors(cache);
}

void fake_cache_release(struct fake_cache *cache)
{
    vec_release(&cache->entries);
    vec_release(&cache->grads);
    hash_index_release(&cache->index);
    hash_index_release(&cache->grad_index);
    vec_release(&cache->forms);
    vec_release(&cache->words);
    *cache = (struct fake_cache){ 0 };
}
