/* Dispatch: binding, the cache, the rule, what in-place and out= forms add, counting. */
#include "replay/ops/dispatch/context.h"

#include "replay/ops/layout/storage.h"
#include "replay/ops/memo/cache.h"
#include "replay/ops/model/recall.h"
#include "replay/ops/rules/view/views.h"

/* --- Counting --- */

void count(struct call *c, enum op_counter counter)
{
    stats_count(c->ops, c->op->index, counter);
    op_cache_log(c->ops, c->op->index, c->ops->depth, counter, 1, false);
}

void count_call(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within)
{
    struct ops *ops = c->ops;
    struct fake_key key;
    enum op_bypass ignored;
    if (ops->model.mode != MODEL_NOTHING && !ops->stats.muted && ops->depth) {
        bool known = fake_cache_step(ops, name, x, g, args, n, &key) &&
                     fake_cache_look(ops, &key, &ignored) != FAKE_MISS;
        if (known)
            within = 0;
        else
            fake_cache_keep(ops, &key, OP_BYPASS_NONE); /* else it is counted again */
    }
    count_dispatches(c, 1);
    stats_dispatch(ops, c->op->index, ops->depth + 1, ops->depth ? within : 0);
    op_cache_log(ops, c->op->index, ops->depth + 1, EVENT_DISPATCH, ops->depth ? within : 0, false);
}

struct tensor count_made(struct call *c, const char *name, struct tensor x)
{
    struct ops *ops = c->ops;
    if (ops->model.mode != MODEL_NOTHING && !ops->stats.muted && ops->depth && x.meta &&
        x.meta->stride && !c->failed) {
        struct geometry g = geometry_of(x);
        struct fake_key key;
        enum op_bypass ignored;
        /* What is made anew is told by its layout alone. */
        struct tensor nowhere = { x.meta, UINT32_MAX, NULL };
        if (fake_cache_step(ops, name, nowhere, &g, NULL, 0, &key) &&
            fake_cache_look(ops, &key, &ignored) != FAKE_MISS) {
            struct value value = value_tensor(x);
            fake_cache_synthesize(ops, &value, x.storage);
        } else {
            fake_cache_keep(ops, &key, OP_BYPASS_NONE);
        }
    }
    count_dispatches(c, 1);
    return x;
}

void count_dispatches(struct call *c, uint32_t n)
{
    if (!c->ops->depth)
        return; /* by Python or C++ itself, above FakeTensorMode */
    stats_within(c->ops, c->op->index, c->ops->depth, n);
    op_cache_log(c->ops, c->op->index, c->ops->depth, EVENT_WITHIN, n, false);
}

/* C++ takes composite operators apart before FakeTensorMode sees them, but for those that a
 * decomposition in Python calls. */
static bool is_dispatched(const struct ops *ops, const struct op *op)
{
    return !op->composite || ops->depth;
}

/* The dispatch itself, which PyTorch counts before it asks its cache. */
static void count_self(struct ops *ops, const struct op *op, const struct cache_key *key)
{
    if (!is_dispatched(ops, op))
        return;
    stats_dispatch(ops, op->index, ops->depth, 1);
    op_cache_log(ops, op->index, ops->depth, EVENT_DISPATCH, 1, key->bypass == OP_BYPASS_NONE);
}

bool in_kernel(const struct call *c)
{
    return c->in_kernel || c->ops->kernel;
}

bool eager(const struct call *c)
{
    return !c->symbolic && c->ops->eager;
}

bool fast_path(const struct call *c)
{
    return c->symbolic && !c->ops->fast_off && !c->op->slow;
}

/* --- The rule --- */

/* has_symbolic_sizes of FakeTensorMode._dispatch_impl: SymFloats and SymBools are none. */
static bool value_symbolic(const struct ops *ops, const struct value *value, unsigned depth)
{
    switch (value->kind) {
    case VALUE_TENSOR: return ops->metas.symbolic.v[value->u.tensor.meta->id];
    case VALUE_INT: return !sym_is_number(ops->pool, value->u.sym);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
        for (uint32_t i = 0; i < value->n && depth < 64; i++)
            if (value_symbolic(ops, &value->u.items[i], depth + 1))
                return true;
        return false;
    default: return false;
    }
}

static void number_storages(struct ops *ops, struct value *value)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.storage == STORAGE_FRESH)
        value->u.tensor.storage = ops->next_storage++;
    if (value->kind != VALUE_LIST && value->kind != VALUE_TUPLE)
        return;
    struct value *items = (struct value *)value->u.items;
    for (uint32_t i = 0; i < value->n; i++)
        if (items[i].kind == VALUE_TENSOR && items[i].u.tensor.storage == STORAGE_FRESH)
            items[i].u.tensor.storage = ops->next_storage++;
}

/* What was raised and not asked for is this call's; none of it may reach the next one. */
static bool settle(struct ops *ops, struct call *c)
{
    struct env_raised what = env_raised(ops->env);
    if (c->failed || what.kind == ENV_RAISED_NOTHING)
        return !c->failed;
    c->failed = true;
    if (what.kind == ENV_RAISED_MEMORY)
        ops_no_memory(ops);
    else
        ops_refuse(ops, str_of(what.type), "%.*s", STR_ARG(what.text));
    return false;
}

static bool concrete(struct call *c, struct value *value)
{
    if (value->kind == VALUE_INT && !sym_is_number(c->pool, value->u.sym))
        value->u.sym = num(c, guard_int(c, value->u.sym));
    return !c->failed;
}

/* What a schema calls int leaves as a Python int, SymInt does not. */
static bool make_ints(struct call *c)
{
    const struct schema *s = &c->op->schema;
    if (s->n_results != 1 || s->results[0].type != SCHEMA_INT)
        return true;
    if (!s->results[0].list)
        return concrete(c, &c->ret);
    for (uint32_t i = 0; i < c->ret.n; i++)
        if (!concrete(c, (struct value *)&c->ret.u.items[i]))
            return false;
    return true;
}

enum op_outcome run_rule(struct ops *ops, const struct op *op, const struct value *bound,
                         struct value *ret)
{
    struct call c = { .ops = ops,
                      .env = ops->env,
                      .pool = ops->pool,
                      .op = op,
                      .args = bound,
                      .n_args = op->schema.n_args,
                      .param = op->param };
    for (uint32_t i = 0; i < c.n_args && !c.symbolic; i++)
        c.symbolic = value_symbolic(ops, &bound[i], 0);
    ops->outcome = OP_DONE;
    if (!ops->kernel)
        ask_metadata(&c, NULL);
    bool done = !c.failed && check_backend(&c) && op->rule(&c);
    if (done && !c.failed && c.symbolic)
        done = make_ints(&c);
    if (done && !c.failed && op->writes)
        done = finish_written(&c);
    if (done && !c.failed && !ops->kernel)
        ask_metadata(&c, &c.ret);
    done = settle(ops, &c) && done;
    if (!done && !c.failed && ops->outcome == OP_DONE)
        unsupported(&c, "%.*s: its rule gave up", STR_ARG(op->name));
    if (c.failed || !done)
        return ops->outcome == OP_DONE ? ops_no_memory(ops) : ops->outcome;
    number_storages(ops, &c.ret);
    *ret = c.ret;
    return OP_DONE;
}

/* What must happen each time anew: symbols, runtime asserts, writing to an argument's meta. */
struct effects {
    uint32_t symbols, asserts;
    size_t written;
    uint64_t memo_uses;
};

static struct effects effects_now(const struct ops *ops)
{
    return (struct effects){ env_n_symbols(ops->env), env_n_asserts(ops->env), ops->written.n,
                             ops->memo_uses };
}

static enum op_outcome miss(struct ops *ops, const struct op *op, const struct value *bound,
                            struct cache_key *key, struct value *ret)
{
    struct effects before = effects_now(ops);
    uint32_t deeper = is_dispatched(ops, op);
    op_cache_record(ops, op, key);
    ops->depth += deeper;
    ops->nesting++;
    enum op_outcome outcome = run_rule(ops, op, bound, ret);
    ops->nesting--;
    ops->depth -= deeper;
    struct effects after = effects_now(ops);
    if (ops->nesting)
        ops->written.n = before.written; /* of a call from within: nothing to tell outside */
    if (outcome != OP_DONE)
        return outcome;
    if (key->bypass == OP_BYPASS_NONE && op->composite && op->schema.n_results &&
        op->schema.results[0].alias)
        key->bypass = OP_BYPASS_COMPOSITE;
    if (key->bypass == OP_BYPASS_NONE)
        key->bypass = after.symbols != before.symbols ? OP_BYPASS_UNREPRESENTED
                                                      : op_bypass_of_result(op, *ret);
    if (!op->composite && key->bypass == OP_BYPASS_NONE)
        ask_synthesized(ops, op, *ret);
    if (!op->composite)
        stats_miss(ops, op->index, key->bypass);
    if (memcmp(&before, &after, sizeof before) == 0)
        op_cache_store(ops, key, *ret);
    return OP_DONE;
}

/* A call that we know and PyTorch runs again: what it asks, and nothing else. */
static enum op_outcome ask_again(struct ops *ops, const struct op *op, const struct value *bound)
{
    struct value ignored;
    size_t written = ops->written.n;
    ops->stats.muted++;
    ops->depth++;
    ops->nesting++;
    enum op_outcome outcome = run_rule(ops, op, bound, &ignored);
    ops->nesting--;
    ops->depth--;
    ops->stats.muted--;
    ops->written.n = written;
    return outcome;
}

/* From the cache or by its rule. */
static enum op_outcome answer(struct ops *ops, const struct op *op, const struct value *bound,
                              struct cache_key *key, struct value *ret)
{
    bool tells = ops->recalls && !op->composite && key->usable && key->bypass == OP_BYPASS_NONE;
    unsigned found = tells ? recall_call(ops, key) : 0, all = (1u << RECALL_RUNS) - 1;
    enum op_outcome outcome = OP_DONE;
    if (!op_cache_answer(ops, op, key, ret))
        outcome = miss(ops, op, bound, key, ret);
    else if (tells && found != all)
        outcome = ask_again(ops, op, bound);
    if (outcome == OP_DONE && tells)
        recall_result(ops, key, *ret, found);
    return outcome;
}

/* --- Modelling a pass --- */

static bool is_modelled(const struct ops *ops, const struct op *op)
{
    return ops->model.mode != MODEL_NOTHING && !ops->stats.muted && is_dispatched(ops, op);
}

/* Counted as PyTorch's cache would have it; what our own knows is the answer either way. */
static enum op_outcome hit(struct ops *ops, const struct op *op, const struct value *bound,
                           struct cache_key *key, struct value *ret)
{
    enum op_outcome outcome = OP_DONE;
    ops->stats.muted++;
    if (!op_cache_answer(ops, op, key, ret))
        outcome = miss(ops, op, bound, key, ret);
    ops->stats.muted--;
    stats_hit(ops, op->index);
    if (outcome == OP_DONE)
        fake_cache_synthesize(ops, ret, key->fresh_from);
    return outcome;
}

static enum op_outcome model(struct ops *ops, const struct op *op, const struct value *bound,
                             struct cache_key *key, struct value *ret)
{
    struct fake_key fake;
    enum op_bypass bypass = key->bypass;
    if (!ops->depth)
        stats_outer(ops, op->index);
    if (bypass != OP_BYPASS_NONE)
        return miss(ops, op, bound, key, ret);
    if (!fake_cache_key(ops, op, bound, &fake))
        return ops_no_memory(ops);
    enum fake_answer answer = fake_cache_look(ops, &fake, &bypass);
    if (answer == FAKE_HIT)
        return hit(ops, op, bound, key, ret);
    key->bypass = bypass;
    enum op_outcome outcome = miss(ops, op, bound, key, ret);
    if (outcome == OP_DONE && answer == FAKE_MISS && !fake_cache_keep(ops, &fake, key->bypass))
        return ops_no_memory(ops);
    return outcome;
}

/* What the part of a pass left behind that was counted in the pass before. */
static bool model_silently(struct ops *ops, const struct op *op, const struct value *bound,
                           uint32_t fresh_from, struct value *ret)
{
    struct fake_key fake;
    if (!fake_cache_key(ops, op, bound, &fake))
        return false;
    if (!fake_cache_missed(ops, &fake))
        fake_cache_synthesize(ops, ret, fresh_from);
    return true;
}

/* What a kernel calls goes by FakeTensorMode and its cache. */
static enum op_outcome call_in_kernel(struct ops *ops, const struct op *op,
                                      const struct value *bound, struct value *ret)
{
    size_t written = ops->written.n;
    ops->nesting++;
    enum op_outcome outcome = run_rule(ops, op, bound, ret);
    ops->nesting--;
    ops->written.n = written;
    if (outcome == OP_DONE && op->writes)
        forget_written(ops, op, bound);
    return outcome;
}

/* Functionalization runs another operator in its place, which counts; what comes of it is the
 * same. True where it did. */
static bool count_functional(struct ops *ops, const struct op *op, const struct value *args,
                             uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct value ignored;
    struct op *functional = ops->depth == 0 ? model_functional(ops, op) : NULL;
    if (!functional)
        return false;
    ops->model.functionalizing = true;
    enum op_outcome outcome =
        ops_dispatch(ops, functional, args, n, keywords, n_keywords, &ignored);
    ops->model.functionalizing = false;
    if (outcome == OP_DONE && n && args[0].kind == VALUE_TENSOR && ignored.kind == VALUE_TENSOR)
        storage_note(ops, args[0].u.tensor.storage, storage_bytes(ops, ignored.u.tensor.storage));
    return true;
}

enum op_outcome ops_dispatch(struct ops *ops, struct op *op, const struct value *args, uint32_t n,
                             const struct keyword *keywords, uint32_t n_keywords, struct value *ret)
{
    struct value bound[OPS_MAX_ARGS];
    struct cache_key key;
    *ret = value_none();
    if (!op_prepare(ops, op))
        return ops->outcome;
    if (ops->nesting >= OPS_MAX_DEPTH)
        return ops_unsupported(ops, "%.*s: calls nested too deep", STR_ARG(op->name));
    ops->outcome = OP_DONE;
    enum op_outcome outcome = ops_bind(ops, op, args, n, keywords, n_keywords, bound);
    if (outcome != OP_DONE)
        return outcome;
    if (ops->parts)
        return nested_call(ops, op, bound, ret);
    if (ops->kernel)
        return call_in_kernel(ops, op, bound, ret);
    bool replaced = count_functional(ops, op, args, n, keywords, n_keywords);
    ops->stats.muted += op->free + replaced;
    if (!op_cache_key(ops, op, bound, &key))
        outcome = ops_no_memory(ops);
    if (outcome == OP_DONE)
        count_self(ops, op, &key);
    if (outcome == OP_DONE)
        outcome = is_modelled(ops, op) ? model(ops, op, bound, &key, ret)
                                       : answer(ops, op, bound, &key, ret);
    if (outcome == OP_DONE && ops->model.silent && ops->nesting == 0 &&
        !model_silently(ops, op, bound, key.fresh_from, ret))
        outcome = ops_no_memory(ops);
    if (outcome == OP_DONE && op->writes)
        forget_written(ops, op, bound);
    op_cache_drop(ops, &key);
    ops->stats.muted -= op->free + replaced;
    if (outcome == OP_DONE && ops->model.mode != MODEL_NOTHING && ops->depth == 0 &&
        !ops->stats.muted && !ops->model.functionalizing)
        model_call(ops, op, bound, ret, key.fresh_from);
    return outcome;
}

enum op_outcome ops_call_op(struct ops *ops, const struct op *op, const struct value *args,
                            uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                            struct value *ret)
{
    struct op *row = &ops->table.rows[op->index];
    ops->written.n = 0;
    ops->failure = (struct err){ .kind = ERR_NONE };
    struct stats_mark mark = stats_begin(ops);
    enum op_outcome outcome = ops_dispatch(ops, row, args, n, keywords, n_keywords, ret);
    ops->stats.muted += row->free;
    stats_end(ops, row->index, &mark);
    ops->stats.muted -= row->free;
    return outcome;
}

const struct schema *ops_bound(struct ops *ops, const struct op *op, const struct value *args,
                               uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                               struct value *bound)
{
    struct op *row = &ops->table.rows[op->index];
    bool ok =
        op_prepare(ops, row) && ops_bind(ops, row, args, n, keywords, n_keywords, bound) == OP_DONE;
    return ok ? &row->schema : NULL;
}

enum op_outcome ops_call(struct ops *ops, struct str name, const struct value *args, uint32_t n,
                         const struct keyword *keywords, uint32_t n_keywords, struct value *ret)
{
    struct op *op = op_table_find(&ops->table, name);
    if (!op) {
        *ret = value_none();
        return ops_unsupported(ops, "%.*s", STR_ARG(name));
    }
    return ops_call_op(ops, op, args, n, keywords, n_keywords, ret);
}
