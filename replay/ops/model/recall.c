#include "replay/ops/model/recall.h"
#include "replay/ops/layout/storage.h"
#include "replay/ops/memo/memo.h"
#include "replay/ops/model/model.h"
#include "trace/base/hash.h"
#include "trace/base/hash_index.h"

struct storage_sizes {
    bool known;
    sym_id bytes[RECALL_RUNS];
};

/* A call of an earlier graph: the words of its key, then its storages' sizes. */
struct earlier {
    size_t at;
    uint32_t n_words, n_storages;
};

struct recall {
    vec_of(struct storage_sizes)
    sizes; /* by storage */
    vec_of(uint64_t)
    seen; /* hashes of calls */
    struct hash_index seen_index;
    vec_of(struct earlier)
    earlier;
    vec_of(uint32_t)
    words; /* those of `earlier`, and of the current call */
    vec_of(uint32_t)
    metas;                   /* by id: the meta after replacements, plus 1 */
    uint32_t n_replacements; /* the environment's number when `metas` and hashes were computed */
    vec_of(sym_id)
    synthesized; /* by id of a meta: its synthesized_bytes(), or SYM_NONE */
};

struct recall *recall_new(void)
{
    return calloc(1, sizeof(struct recall));
}

static void forget_earlier(struct recall *r)
{
    vec_release(&r->earlier);
    vec_release(&r->words);
}

void recall_free(struct recall *recall)
{
    if (!recall)
        return;
    forget_earlier(recall);
    vec_release(&recall->sizes);
    vec_release(&recall->metas);
    vec_release(&recall->synthesized);
    vec_release(&recall->seen);
    hash_index_release(&recall->seen_index);
    free(recall);
}

void recall_clear(struct recall *recall)
{
    recall->sizes.n = recall->words.n = recall->earlier.n = recall->metas.n = 0;
    recall->seen.n = recall->synthesized.n = 0;
    hash_index_clear(&recall->seen_index);
}

/* --- Replacements of symbols --- */

static sym_id expr_now(void *user, sym_id e)
{
    struct ops *ops = user;
    if (e <= SYM_ID_TRUE || e == SYM_NONE || sym_is_number(ops->pool, e))
        return e;
    sym_id now = env_replace(ops->env, e);
    env_raised(ops->env);
    return now == SYM_NONE ? e : now;
}

/* Notes that memory ran out. Always returns true. */
static bool note_short_of_memory(struct ops *ops)
{
    return ops->short_of_memory = true;
}

static uint32_t replaced_meta(struct ops *ops, const struct tensor_meta *meta)
{
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    struct tensor_meta now = *meta;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        size[i] = expr_now(ops, meta->size[i]);
        stride[i] = expr_now(ops, meta->stride[i]);
    }
    now.size = size;
    now.stride = stride;
    now.offset = expr_now(ops, meta->offset);
    now.requires_grad = false;
    const struct tensor_meta *ret = ops_intern(ops, &now);
    return ret ? ret->id : meta->id;
}

static uint32_t meta_now(void *user, uint32_t id)
{
    struct ops *ops = user;
    struct recall *r = ops->model->recall;
    const struct tensor_meta *meta = ops->metas.metas.v[id];
    if (meta->layout != LAYOUT_STRIDED)
        return id;
    while (r->metas.n <= id)
        if (!vec_push(&r->metas, 0))
            return note_short_of_memory(ops), id;
    if (!r->metas.v[id]) {
        uint32_t now = replaced_meta(ops, meta);
        r->metas.v[id] = now + 1;
    }
    return r->metas.v[id] - 1;
}

/* --- Earlier calls --- */

/* Adds a call. Returns whether it was there already, which is assumed when memory runs out. */
static bool add_seen(struct ops *ops, const uint32_t *words, size_t n)
{
    struct recall *r = ops->model->recall;
    uint64_t hash = XXH3_64bits(words, n * sizeof *words);
    uint32_t low = (uint32_t)hash, row;
    for (size_t at = hash_index_start(&r->seen_index, low);
         hash_index_next(&r->seen_index, low, &at, &row);)
        if (r->seen.v[row] == hash)
            return true;
    if (!hash_index_reserve(&r->seen_index, 1) || !vec_push(&r->seen, hash))
        return note_short_of_memory(ops);
    hash_index_add(&r->seen_index, low, (uint32_t)r->seen.n - 1);
    return false;
}

/* Adds an earlier call with its symbols replaced. */
static void add_renewed(struct ops *ops, const struct earlier *e)
{
    struct recall *r = ops->model->recall;
    struct call_key_translation to = { meta_now, expr_now, ops };
    uint32_t *words = r->words.v + e->at;
    call_key_translate(words, e->n_words, &to, words);
    for (uint32_t i = 0; i < e->n_storages; i++)
        words[e->n_words + i] = expr_now(ops, words[e->n_words + i]);
    add_seen(ops, words, (size_t)e->n_words + e->n_storages);
}

static void begin_graph(struct ops *ops)
{
    struct recall *r = ops->model->recall;
    r->sizes.n = 0;
    if (r->n_replacements != env_n_replacements(ops->env)) {
        r->n_replacements = env_n_replacements(ops->env);
        r->metas.n = 0;
        for (size_t i = 0; i < r->earlier.n; i++)
            add_renewed(ops, &r->earlier.v[i]);
    }
    forget_earlier(r);
}

void ops_set_recall(struct ops *ops, unsigned runs)
{
    ops->model->recalls = runs < RECALL_RUNS ? runs : RECALL_RUNS;
    if (runs)
        begin_graph(ops);
}

static struct storage_sizes sizes_of_storage(const struct ops *ops, uint32_t storage)
{
    const struct recall *r = ops->model->recall;
    if (storage < r->sizes.n && r->sizes.v[storage].known)
        return r->sizes.v[storage];
    struct storage_sizes ret = { .known = true };
    for (unsigned run = 0; run < RECALL_RUNS; run++)
        ret.bytes[run] = storage_bytes(ops, storage);
    return ret;
}

/* Writes the sizes of the key's storages in a run, after those of the run before. Returns whether
 * one is not what stood there. */
static bool put_sizes(struct ops *ops, const struct call_key *key, unsigned run, uint32_t *to)
{
    const uint32_t *storages = call_key_storages(memo_keys(ops->memo), key);
    bool differs = false;
    for (uint32_t i = 0; i < key->n_storages; i++) {
        struct storage_sizes sizes = sizes_of_storage(ops, storages[i]);
        if (run > 0 && sizes.bytes[run] == sizes.bytes[run - 1])
            continue;
        sym_id size = expr_now(ops, sizes.bytes[run]);
        differs |= to[i] != size;
        to[i] = size;
    }
    return differs;
}

/* Looks a call up in each run. Only the sizes of storages are others in the second run. */
static unsigned find_call(struct ops *ops, const struct call_key *key)
{
    struct recall *r = ops->model->recall;
    struct call_key_translation to = { meta_now, expr_now, ops };
    size_t n = (size_t)key->n + key->n_storages;
    unsigned found = 0;
    if (!vec_reserve(&r->words, n)) {
        note_short_of_memory(ops);
        return (1u << ops->model->recalls) - 1;
    }
    uint32_t *words = r->words.v + r->words.n;
    call_key_translate(call_key_words(memo_keys(ops->memo), key), key->n, &to, words);
    for (unsigned run = 0; run < ops->model->recalls; run++) {
        bool differs = put_sizes(ops, key, run, words + key->n);
        bool seen = (run > 0 && !differs) || add_seen(ops, words, n);
        found |= (unsigned)seen << run;
    }
    /* Only the calls of graphs that others follow are needed later: those of Dynamo, in one run. */
    struct earlier e = { r->words.n, key->n, key->n_storages };
    if (ops->model->recalls != 1 || found)
        return found;
    if (vec_push(&r->earlier, e))
        r->words.n += n;
    else
        note_short_of_memory(ops);
    return found;
}

unsigned recall_call(struct ops *ops, const struct call_key *key)
{
    unsigned found = ops->model->recalls ? find_call(ops, key) : 0;
    for (unsigned run = ops->model->recalls; run < RECALL_RUNS; run++)
        found |= (found & 1) << run;
    return found;
}

/* --- Results --- */

/* Returns the bytes that _get_output_tensor_from_cache_entry() computes with suppressed guards. */
static sym_id synthesized_bytes(struct ops *ops, const struct tensor_meta *meta)
{
    struct sym_pool *pool = ops->pool;
    sym_id span = SYM_ID_ONE;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (meta->size[i] == SYM_ID_ZERO)
            return SYM_ID_ZERO;
        sym_id steps = sym_sub(pool, meta->size[i], SYM_ID_ONE);
        span = sym_add(pool, span, sym_mul(pool, meta->stride[i], steps));
    }
    return sym_mul(pool, sym_integer(pool, dtype_size(meta->dtype)), span);
}

/* Returns the same, computed once for a meta. */
static sym_id synthesized_size(struct ops *ops, const struct tensor_meta *meta)
{
    struct recall *r = ops->model->recall;
    while (r->synthesized.n <= meta->id)
        if (!vec_push(&r->synthesized, SYM_NONE)) {
            note_short_of_memory(ops);
            return synthesized_bytes(ops, meta);
        }
    if (r->synthesized.v[meta->id] == SYM_NONE)
        r->synthesized.v[meta->id] = synthesized_bytes(ops, meta);
    return r->synthesized.v[meta->id];
}

static void note_tensor(const struct call *c, struct tensor x, unsigned found)
{
    struct ops *ops = c->ops;
    struct recall *r = ops->model->recall;
    if (x.storage < c->fresh_from || x.storage == STORAGE_FRESH ||
        !ops->metas.symbolic.v[x.meta->id])
        return;
    struct storage_sizes sizes = { .known = true };
    sym_id synthesized = found ? synthesized_size(ops, x.meta) : SYM_NONE;
    for (unsigned run = 0; run < RECALL_RUNS; run++)
        sizes.bytes[run] = found >> run & 1 ? synthesized : storage_bytes(ops, x.storage);
    while (r->sizes.n <= x.storage)
        if (!vec_push(&r->sizes, (struct storage_sizes){ .known = false })) {
            note_short_of_memory(ops);
            return;
        }
    r->sizes.v[x.storage] = sizes;
}

void recall_result(const struct call *c, unsigned found)
{
    const struct value *result = &c->ret;
    if (result->kind == VALUE_TENSOR)
        note_tensor(c, result->u.tensor, found);
    if (result->kind != VALUE_LIST && result->kind != VALUE_TUPLE)
        return;
    for (uint32_t i = 0; i < result->n; i++)
        if (result->u.items[i].kind == VALUE_TENSOR)
            note_tensor(c, result->u.items[i].u.tensor, found);
}
