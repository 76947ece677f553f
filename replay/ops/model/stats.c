#include "replay/ops/model/model.h"
#include "trace/base/clock.h"
#include "trace/base/hash.h"

static const char *const counter_names[] = {
#define OP_COUNTER(id, name) name,
#include "replay/ops/dispatch/op_counters.def"
#undef OP_COUNTER
};

static const char *const bypass_reasons[] = {
#define OP_BYPASS(id, reason) reason,
#include "replay/ops/dispatch/op_bypass.def"
#undef OP_BYPASS
};

const char *op_counter_name(enum op_counter counter)
{
    return counter_names[counter];
}

const char *op_bypass_reason(enum op_bypass bypass)
{
    return bypass_reasons[bypass];
}

static const struct op_stats_row *find_stats(const struct ops *ops, uint32_t op)
{
    static const struct op_stats_row nothing;
    const struct op_stats_table *stats = &ops->model->stats;
    return stats->rows[op] ? &stats->counted.v[stats->rows[op] - 1] : &nothing;
}

const struct op_stats *ops_stats(const struct ops *ops, const struct op *op)
{
    return &find_stats(ops, op->index)->stats;
}

const struct op_outer *ops_outer(const struct ops *ops, const struct op *op)
{
    return &find_stats(ops, op->index)->outer;
}

const struct op_stack_stats *ops_stack_stats(const struct ops *ops, size_t i)
{
    return i < ops->model->stats.by_stack.n ? &ops->model->stats.by_stack.v[i] : NULL;
}

void ops_stats_clear(struct ops *ops)
{
    struct op_stats_table *stats = &ops->model->stats;
    memset(stats->rows, 0, ((size_t)stats->n_ops + 1) * sizeof *stats->rows);
    stats->counted.n = 0;
    stats->top = stats->n_ops;
    stats->by_stack.n = 0;
    stats->fake_tensor = 0;
    hash_index_clear(&stats->index);
}

bool stats_init(struct op_stats_table *stats, uint32_t n_ops)
{
    stats->rows = calloc((size_t)n_ops + 1, sizeof *stats->rows);
    stats->n_ops = stats->top = n_ops;
    return stats->rows;
}

void stats_release(struct op_stats_table *stats)
{
    free(stats->rows);
    vec_release(&stats->counted);
    hash_index_release(&stats->index);
    vec_release(&stats->by_stack);
}

/* Returns the counts of that operator under the current stack, or NULL when out of memory. */
static struct op_stack_stats *stats_of_stack(struct op_stats_table *stats, uint32_t op)
{
    uint32_t hash = (uint32_t)hash_mix(op, stats->stack), i;
    for (size_t at = hash_index_start(&stats->index, hash);
         hash_index_next(&stats->index, hash, &at, &i);)
        if (stats->by_stack.v[i].op == op && stats->by_stack.v[i].stack == stats->stack)
            return &stats->by_stack.v[i];
    i = (uint32_t)stats->by_stack.n;
    if (!hash_index_reserve(&stats->index, 1) ||
        !vec_push(&stats->by_stack, (struct op_stack_stats){ .op = op, .stack = stats->stack }))
        return NULL;
    hash_index_add(&stats->index, hash, i);
    return &stats->by_stack.v[i];
}

/* --- Counting --- */

/* Returns the counts of an operator, or of none (n_ops); they are valid until the next ones. */
static struct op_stats_row *stats_of(struct ops *ops, uint32_t op)
{
    struct op_stats_table *stats = &ops->model->stats;
    if (!stats->rows[op]) {
        if (!vec_push(&stats->counted, (struct op_stats_row){ .stats = { .calls = 0 } })) {
            ops->short_of_memory = true;
            return &stats->lost;
        }
        stats->rows[op] = (uint32_t)stats->counted.n;
    }
    return &stats->counted.v[stats->rows[op] - 1];
}

static struct op_outer *top_of(struct ops *ops)
{
    return &stats_of(ops, ops->model->stats.top)->outer;
}

static void stats_fake_tensor(struct ops *ops, uint64_t n)
{
    ops->model->stats.fake_tensor += n;
    top_of(ops)->fake_tensor += n;
}

void stats_dispatch(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats *stats = &stats_of(ops, op)->stats;
    stats->dispatches += n;
    stats->by_depth[depth < OP_STATS_DEPTHS ? depth : OP_STATS_DEPTHS - 1] += n;
    top_of(ops)->within += depth ? n : 0;
    ops->model->stats.dispatches += n;
    if (depth && depth == ops->without_mode)
        stats_fake_tensor(ops, n);
}

/* Returns whether an operator's calls go through FakeTensor: its kernel in Python accesses its
 * arguments itself (_view_meta, slice_forward and nonzero of torch/_subclasses/fake_impls.py). */
static bool dispatches_by_fake_tensor(struct str op)
{
    static const char *const names[] = { "aten.view.default",    "aten._unsafe_view.default",
                                         "aten.reshape.default", "aten.slice.Tensor",
                                         "aten.select.int",      "aten.nonzero.default" };
    return STR_IS_ANY(op, names);
}

void stats_within(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n)
{
    stats_dispatch(ops, op, depth, n);
    if (ops->model->stats.muted || !dispatches_by_fake_tensor(ops_looked_up(ops, op)->name))
        return;
    stats_fake_tensor(ops, n);
}

void stats_count(struct ops *ops, uint32_t op, enum op_counter counter)
{
    if (ops->model->stats.muted)
        return;
    stats_of(ops, op)->stats.fast[counter]++;
    top_of(ops)->fast += counter == OP_COUNTER_ATTEMPT_FAST;
}

void stats_outer(struct ops *ops, uint32_t op)
{
    ops->model->stats.top = op;
    top_of(ops)->calls++;
}

void stats_hit(struct ops *ops, uint32_t op)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats_row *row = stats_of(ops, op);
    row->stats.hits++;
    row->outer.hits += !ops->depth;
}

void stats_miss(struct ops *ops, uint32_t op, enum op_bypass bypass)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats_row *row = stats_of(ops, op);
    if (bypass == OP_BYPASS_NONE) {
        row->stats.misses++;
        row->outer.misses += !ops->depth;
    } else {
        row->stats.bypasses[bypass]++;
        row->outer.bypasses += !ops->depth;
    }
}

void stats_step(struct ops *ops, uint32_t op, bool hit)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats *stats = &stats_of(ops, op)->stats;
    stats->step_hits += hit;
    stats->step_misses += !hit;
}

void stats_uncached(struct ops *ops, uint32_t op, bool computed)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats *stats = &stats_of(ops, op)->stats;
    stats->uncached += computed;
    stats->returned += !computed;
}

void stats_answered(struct ops *ops, uint32_t op, enum op_bypass bypass)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats *stats = &stats_of(ops, op)->stats;
    stats->answered++;
    if (bypass != OP_BYPASS_NONE)
        stats->bypasses[bypass]++;
}

struct stats_mark stats_begin(const struct ops *ops)
{
    return (struct stats_mark){ .env = env_counts(ops->env),
                                .exprs = sym_pool_count(ops->pool),
                                .dispatches = ops->model->stats.dispatches,
                                .symbolic_tensors = ops->symbolic_tensors,
                                .begin_ns = ops->model->stats.timing ? clock_ns() : 0 };
}

void stats_end(struct ops *ops, uint32_t op, const struct stats_mark *mark)
{
    if (ops->model->stats.muted)
        return;
    struct op_stats *stats = &stats_of(ops, op)->stats;
    struct env_counts env = env_counts(ops->env);
    uint64_t ns = ops->model->stats.timing ? clock_ns() - mark->begin_ns : 0;
    uint64_t exprs = sym_pool_count(ops->pool) - mark->exprs;
    uint64_t symbolic_tensors = ops->symbolic_tensors - mark->symbolic_tensors;
    stats->calls++;
    stats->ns += ns;
    stats->exprs += exprs;
    stats->evaluations += env.evaluations - mark->env.evaluations;
    stats->guards += env.guards - mark->env.guards;
    stats->symbolic_tensors += symbolic_tensors;
    struct op_stack_stats *stack = stats_of_stack(&ops->model->stats, op);
    if (!stack) { /* then it is counted by operator only */
        ops->short_of_memory = true;
        return;
    }
    stack->calls++;
    stack->ns += ns;
    stack->dispatches += ops->model->stats.dispatches - mark->dispatches;
    stack->guards += env.guards - mark->env.guards;
    stack->exprs += exprs;
    stack->symbolic_tensors += symbolic_tensors;
}

void ops_set_muted(struct ops *ops, bool on)
{
    ops->model->stats.muted = on;
}

struct op_totals ops_totals(const struct ops *ops)
{
    struct op_totals ret = { .fake_tensor = ops->model->stats.fake_tensor };
    for (size_t i = 0; i < ops->model->stats.counted.n; i++) {
        const struct op_stats *s = &ops->model->stats.counted.v[i].stats;
        ret.dispatches += s->dispatches;
        ret.outermost += s->by_depth[0];
        for (size_t k = 0; k < OP_COUNTERS; k++)
            ret.fast[k] += s->fast[k];
    }
    return ret;
}

/* --- Switches --- */

void ops_set_stack(struct ops *ops, uint32_t stack)
{
    ops->model->stats.stack = stack;
}

void ops_set_timing(struct ops *ops, bool on)
{
    ops->model->stats.timing = on;
}
