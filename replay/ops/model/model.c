#include "replay/ops/model/model.h"

#include "replay/ops/memo/memo.h"

/* --- Creation --- */

struct model *model_new(uint32_t n_ops)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->recall = recall_new();
    if (stats_init(&model->stats, n_ops) && model->recall)
        return model;
    model_free(model);
    return NULL;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    stats_release(&model->stats);
    known_calls_release(&model->known);
    recall_free(model->recall);
    fake_cache_release(&model->fake_cache);
    dispatch_model_release(&model->dispatch);
    free(model);
}

void model_reset(struct model *model)
{
    model->dispatch.grads.n = 0;
    fake_cache_forget_tensors(&model->fake_cache);
}

void model_forget_calls(struct model *model)
{
    known_calls_clear(&model->known);
    recall_clear(model->recall);
    fake_cache_clear(&model->fake_cache);
}

bool model_is_muted(const struct ops *ops)
{
    return ops->model->stats.muted;
}

bool model_is_passing(const struct ops *ops)
{
    return ops->model->dispatch.mode != MODEL_NOTHING && !model_is_muted(ops);
}

/* --- A call that PyTorch runs --- */

/* Returns whether PyTorch looks the call up in its cache. */
static bool is_looked_up(const struct call *c)
{
    return !is_ablated(c, ABLATION_CACHE);
}

/* Computes the call and counts; from then on it is known. */
static enum op_outcome run_counted(struct call *c, const struct call_key *key)
{
    struct ops *ops = c->ops;
    struct model *model = ops->model;
    bool runs_again = c->op->composite || call_bypass(c) != OP_BYPASS_NONE;
    bool logs = key->usable && runs_again;
    uint32_t events_at = (uint32_t)model->known.log.n;
    bool muted = is_ablated(c, ABLATION_INLINE) && is_dispatched(c);
    model->known.logging += logs;
    model->stats.muted += muted;
    enum op_outcome outcome = compute_call(c);
    model->stats.muted -= muted;
    model->known.logging -= logs;
    if (outcome != OP_DONE)
        return outcome;
    if (!is_looked_up(c) && is_dispatched(c))
        stats_uncached(ops, c->op->index, true);
    else if (!c->op->composite)
        stats_miss(ops, c->op->index, c->bypass);
    uint32_t number = is_looked_up(c) ? memo_keep(c, key) : MEMO_NONE;
    if (number == MEMO_NONE)
        return OP_DONE;
    struct known_call known = { .events_at = events_at,
                                .n_events = logs ? (uint32_t)model->known.log.n - events_at : 0,
                                .depth = ops->depth,
                                .bypass = (uint8_t)c->bypass,
                                .seen = !model_is_muted(ops) };
    ops->short_of_memory |= !known_call_set(&model->known, number, &known);
    return OP_DONE;
}

/* --- A call that was made before --- */

/* Gets its result, while nothing counts. */
static enum op_outcome known_result(struct call *c, const struct call_key *key, uint32_t number)
{
    struct op_stats_table *stats = &c->ops->model->stats;
    if (memo_answer(c, key, number))
        return OP_DONE;
    stats->muted++;
    enum op_outcome outcome = compute_call(c);
    stats->muted--;
    if (outcome == OP_DONE)
        memo_forget_formats(c);
    return outcome;
}

/* Returns NULL when PyTorch runs the call. */
static const struct known_call *lookup_known(const struct call *c, uint32_t number)
{
    const struct model *model = c->ops->model;
    /* While a pass is modelled, PyTorch sees the calls that a composite operator makes. */
    bool taken_apart = c->op->composite && model->dispatch.mode != MODEL_NOTHING;
    if (number == MEMO_NONE || !is_looked_up(c) || taken_apart)
        return NULL;
    const struct known_call *known = known_call_at(&model->known, number);
    return known && (known->seen || model_is_muted(c->ops)) ? known : NULL;
}

/* Counts what PyTorch counts for a call that was made before. */
static void count_repeated(struct ops *ops, const struct op *op, const struct known_call *known)
{
    if (known->bypass == OP_BYPASS_NONE && !op->composite) {
        stats_hit(ops, op->index);
        return;
    }
    stats_answered(ops, op->index, (enum op_bypass)known->bypass);
    count_again(ops, known);
}

/* For a call with a known result that PyTorch runs again: only evaluates its conditions. */
static enum op_outcome evaluate_again(const struct call *c)
{
    struct ops *ops = c->ops;
    struct call again = call_of(ops, c->op, c->args);
    size_t written = ops->written.n;
    ops->model->stats.muted++;
    enum op_outcome outcome = run_call(&again, true);
    ops->model->stats.muted--;
    ops->written.n = written;
    return outcome;
}

/* --- While a graph is walked --- */

static enum op_outcome call_in_walk(struct call *c, const struct call_key *key)
{
    struct ops *ops = c->ops;
    bool recalls =
        ops->model->recalls && !c->op->composite && key->usable && call_bypass(c) == OP_BYPASS_NONE;
    unsigned found = recalls ? recall_call(ops, key) : 0, all = (1u << RECALL_RUNS) - 1;
    uint32_t number = memo_lookup(ops->memo, key);
    const struct known_call *found_call = lookup_known(c, number);
    enum op_outcome outcome;
    if (!found_call) {
        outcome = run_counted(c, key);
    } else {
        struct known_call known = *found_call; /* a copy, because the array may move */
        outcome = known_result(c, key, number);
        if (outcome == OP_DONE)
            count_repeated(ops, c->op, &known);
        if (outcome == OP_DONE && recalls && found != all)
            outcome = evaluate_again(c);
    }
    if (outcome == OP_DONE && recalls)
        recall_result(c, found);
    return outcome;
}

/* --- While a pass is modelled --- */

/* For a hit in PyTorch's cache: nothing inside the call counts. */
static enum op_outcome hit_in_pass(struct call *c, const struct call_key *key)
{
    struct ops *ops = c->ops;
    uint32_t number = memo_lookup(ops->memo, key);
    ops->model->stats.muted++;
    enum op_outcome outcome =
        lookup_known(c, number) ? known_result(c, key, number) : run_counted(c, key);
    ops->model->stats.muted--;
    stats_hit(ops, c->op->index);
    if (outcome == OP_DONE)
        fake_cache_synthesize(ops, &c->ret, c->fresh_from);
    return outcome;
}

/* Returns whether the cache that cached-meta stands for has the call. */
static bool is_meta_cached(const struct call *c, const struct call_key *key)
{
    const struct known_call *known = is_ablated(c, ABLATION_CACHED_META)
                                         ? lookup_known(c, memo_lookup(c->ops->memo, key))
                                         : NULL;
    return known && known->bypass == OP_BYPASS_NONE;
}

static enum op_outcome call_in_pass(struct call *c, const struct call_key *key)
{
    struct ops *ops = c->ops;
    struct fake_key fake;
    if (!ops->depth)
        stats_outer(ops, c->op->index);
    if (call_bypass(c) != OP_BYPASS_NONE || !is_looked_up(c))
        return run_counted(c, key);
    if (is_meta_cached(c, key))
        return hit_in_pass(c, key);
    if (!fake_cache_key(c, &fake))
        return ops_no_memory(ops);
    enum fake_answer answer = fake_cache_look(ops, &fake, &c->bypass);
    if (answer == FAKE_HIT)
        return hit_in_pass(c, key);
    enum op_outcome outcome = run_counted(c, key);
    if (outcome == OP_DONE && answer == FAKE_MISS && !fake_cache_keep(ops, &fake, c->bypass))
        return ops_no_memory(ops);
    return outcome;
}

/* Repeats the effect on the cache of a part of a pass that was counted in the pass before. */
static bool repeat_cache_effect(struct call *c)
{
    struct fake_key fake;
    if (!fake_cache_key(c, &fake))
        return false;
    if (!fake_cache_missed(c->ops, &fake))
        fake_cache_synthesize(c->ops, &c->ret, c->fresh_from);
    return true;
}

/* Functionalization runs another operator in place of one that writes, and that one is counted; the
 * result is the same. Returns whether it did, with that one's result. */
static bool count_functional(struct call *c, struct value *made)
{
    struct ops *ops = c->ops;
    struct dispatch_model *dispatch = &ops->model->dispatch;
    struct op *op = ops->depth == 0 ? model_functional(ops, c->op) : NULL;
    if (!op)
        return false;
    struct call functional = call_of(ops, op, c->args);
    dispatch->functionalizing = true;
    if (ops->layers.enter(&functional) == OP_DONE)
        *made = functional.ret;
    dispatch->functionalizing = false;
    return true;
}

static void take_form(struct ops *ops, const struct value *to, const struct value *from)
{
    if (to->kind == VALUE_TENSOR && from->kind == VALUE_TENSOR)
        ops_model_set_form(ops, to->u.tensor.storage, ops_model_form(ops, from->u.tensor.storage));
}

/* The storages of the result, or of what a call has written, have the sizes of the functional
 * operator's result, as they are written there. */
static void take_forms(const struct call *c, const struct value *made)
{
    if (made->kind == VALUE_TENSOR && c->n_args)
        take_form(c->ops, &c->args[0], made);
    if (made->kind == VALUE_TUPLE && c->ret.kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < c->ret.n && i < made->n; i++)
            take_form(c->ops, &c->ret.u.items[i], &made->u.items[i]);
}

/* --- The layer --- */

/* Counts the dispatch itself, which PyTorch counts before it uses its cache. */
static void count_self(struct call *c)
{
    struct ops *ops = c->ops;
    if (!is_dispatched(c))
        return;
    stats_dispatch(ops, c->op->index, ops->depth, 1);
    if (ops->model->known.logging)
        log_event(ops, c->op->index, ops->depth, EVENT_DISPATCH, 1,
                  call_bypass(c) == OP_BYPASS_NONE);
}

/* Computes a call that is dispatched and then counts no more: it returns at once, or only what
 * cannot go is counted. */
static enum op_outcome call_only_dispatched(struct call *c)
{
    struct ops *ops = c->ops;
    count_self(c);
    if (!ops->depth && model_is_passing(ops))
        stats_outer(ops, c->op->index);
    stats_uncached(ops, c->op->index, false);
    ops->model->stats.muted++;
    enum op_outcome outcome = compute_call(c);
    ops->model->stats.muted--;
    return outcome;
}

/* Makes a call by its key, in the modelled pass or in the walk. */
static enum op_outcome call_counted(struct call *c)
{
    struct ops *ops = c->ops;
    struct call_keys *keys = memo_keys(ops->memo);
    struct call_key key;
    enum op_outcome outcome;
    if (!call_key_push(keys, c, &key)) {
        outcome = ops_no_memory(ops);
    } else {
        count_self(c);
        outcome = model_is_passing(ops) && is_dispatched(c) ? call_in_pass(c, &key)
                                                            : call_in_walk(c, &key);
    }
    call_key_pop(keys, &key);
    return outcome;
}

static bool is_only_dispatched(const struct call *c)
{
    return is_dispatched(c) && !model_is_muted(c->ops) &&
           (is_ablated(c, ABLATION_IDENTITY) || is_ablated(c, ABLATION_ROOFLINE));
}

/* Returns whether an ablation leaves a call and all calls in it out. */
static bool is_left_out(const struct call *c)
{
    return is_ablated(c, ABLATION_FREE) ||
           (c->ops->depth && ops_is_ablated(c->ops, ABLATION_SHORT_CIRCUIT_ALLOC) &&
            op_allocates(c->op->name));
}

static enum op_outcome model_call(struct call *c)
{
    struct ops *ops = c->ops;
    struct model *model = ops->model;
    uint32_t left_out = is_left_out(c), functional;
    struct value made = value_none();
    bool passing = model_is_passing(ops);
    model->stats.muted += left_out;
    functional = count_functional(c, &made);
    c->fresh_from = ops->next_storage;
    model->stats.muted += functional;
    enum op_outcome outcome = is_only_dispatched(c) ? call_only_dispatched(c) : call_counted(c);
    if (outcome == OP_DONE && model->dispatch.silent && ops->nesting == 0 &&
        !repeat_cache_effect(c))
        outcome = ops_no_memory(ops);
    model->stats.muted -= functional;
    if (outcome == OP_DONE && functional)
        take_forms(c, &made);
    if (outcome == OP_DONE && passing && ops->depth == 0 && !model->dispatch.functionalizing)
        count_outside_dispatches(c);
    model->stats.muted -= left_out;
    return outcome;
}

/* Makes a call from outside and measures its costs. */
static enum op_outcome model_outside(struct ops *ops, struct op *op,
                                     const struct arguments *arguments, struct value *ret)
{
    struct stats_mark mark = stats_begin(ops);
    enum op_outcome outcome = ops_dispatch(ops, op, arguments, ret);
    if (!op_is_ablated(op, ABLATION_FREE))
        stats_end(ops, op->index, &mark);
    return outcome;
}

const struct ops_layers model_layers = {
    .enter = model_call,
    .outside = model_outside,
    .counter = count_counter,
    .dispatches = count_within,
    .step = count_step,
    .made = count_step_made,
    .devices = count_device,
};
