#include "replay/attempt/merge.h"
#include "replay/ops/model/stats.h"

#include <stdlib.h>

struct merger {
    struct replay *replay;
    const struct graph_list *list;
    vec_of(struct replay_graph)
    graphs;
    vec_of(struct replay_difference)
    differences;
    vec_of(struct replay_guard)
    guards;
    vec_of(struct replay_trail)
    trails;
    vec_of(struct replay_call)
    calls;
    vec_of(struct replay_violation)
    violations;
    vec_of(struct replay_branch)
    branches;
    vec_of(struct contradiction)
    contradictions;
    struct intern unsupported_names, operator_names, stack_names;
    vec_of(struct replay_unsupported)
    unsupported;
    vec_of(struct replay_operator)
    operators;
    vec_of(struct replay_stack)
    stacks; /* by id in stack_names */
    vec_of(uint32_t)
    stack_owner; /* the operator of each */
    bool failed;
    vec_of(struct replay_digest)
    digests;
    vec_of(struct pass_operator)
    pass_operators;
    struct intern pass_operator_names; /* pass and name */
};

static void fail_if(struct merger *m, bool failed)
{
    m->failed |= failed;
}

static struct str copy_to_replay(struct merger *m, struct str text)
{
    struct str ret = arena_copy(&m->replay->arena, text);
    fail_if(m, !ret.p);
    return ret;
}

static void add_counts(struct replay_counts *to, const struct replay_counts *from)
{
    to->graphs += from->graphs;
    to->calls += from->calls;
    to->match += from->match;
    to->mismatch += from->mismatch;
    to->refused += from->refused;
    to->unsupported += from->unsupported;
    to->adopted += from->adopted;
    to->ns += from->ns;
}

static void merge_graphs(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->graphs.n; i++) {
        struct replay_graph row = r->graphs.v[i];
        row.error = copy_to_replay(m, row.error);
        add_counts(row.counted ? &m->replay->totals : &m->replay->others, &row.counts);
        fail_if(m, !vec_push(&m->graphs, row));
    }
}

static void merge_differences(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->differences.n; i++) {
        struct replay_difference row = r->differences.v[i];
        row.op = copy_to_replay(m, row.op);
        row.rule = copy_to_replay(m, row.rule);
        row.replayed = copy_to_replay(m, row.replayed);
        fail_if(m, !vec_push(&m->differences, row));
    }
}

static void merge_guards(struct merger *m, const struct attempt_result *r)
{
    uint64_t *to = (uint64_t *)&m->replay->guard_counts;
    const uint64_t *from = (const uint64_t *)&r->guard_counts;
    for (size_t i = 0; i < sizeof r->guard_counts / sizeof *from; i++)
        to[i] += from[i];
    for (size_t i = 0; i < r->guards.n; i++) {
        struct replay_guard row = r->guards.v[i];
        row.expr = copy_to_replay(m, row.expr);
        row.rule = copy_to_replay(m, row.rule);
        fail_if(m, !vec_push(&m->guards, row));
    }
}

static void merge_costs(struct merger *m, const struct attempt_result *r)
{
    uint64_t *to = (uint64_t *)&m->replay->costs;
    const uint64_t *from = (const uint64_t *)&r->costs;
    for (size_t i = 0; i < sizeof r->costs / sizeof *from; i++)
        to[i] += from[i];
    if (r->expression_bytes > m->replay->expression_bytes)
        m->replay->expression_bytes = r->expression_bytes;
    to = (uint64_t *)m->replay->passes;
    from = (const uint64_t *)r->passes;
    for (size_t i = 0; i < PASSES * (sizeof *r->passes / sizeof(uint64_t)); i++)
        to[i] += from[i];
    for (size_t i = 0; i < r->digests.n; i++)
        fail_if(m, !vec_push(&m->digests, r->digests.v[i]));
    struct replay_violation violation = { r->load->attempt, copy_to_replay(m, r->violation) };
    if (r->violation.n)
        fail_if(m, !vec_push(&m->violations, violation));
    struct replay_branch branch = { r->load->attempt, r->branch };
    if (r->branch)
        fail_if(m, !vec_push(&m->branches, branch));
    for (size_t i = 0; i < r->trails.n; i++) {
        struct replay_trail row = r->trails.v[i];
        row.text = copy_to_replay(m, row.text);
        fail_if(m, !vec_push(&m->trails, row));
    }
}

static void merge_calls(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->calls.n; i++) {
        struct replay_call row = r->calls.v[i];
        row.text = copy_to_replay(m, row.text);
        fail_if(m, !vec_push(&m->calls, row));
    }
}

static bool is_blamed(const struct attempt_result *r, const struct contradiction *c)
{
    for (size_t i = 0; i < r->differences.n; i++)
        if (r->differences.v[i].ref == c->ref &&
            r->differences.v[i].outcome != OUTCOME_UNSUPPORTED &&
            str_eq(r->differences.v[i].node, c->name))
            return true;
    return false;
}

static void merge_contradictions(struct merger *m, const struct attempt_result *r,
                                 const struct contradictions *from)
{
    for (size_t i = 0; i < from->list.n; i++) {
        struct contradiction row = from->list.v[i];
        /* A call's list of sizes differs from its meta, and so does the replay: the meta is wrong.
         */
        if (row.kind == CONTRADICTION_SIZES && is_blamed(r, &row))
            continue;
        row.name = copy_to_replay(m, row.name);
        row.recorded = copy_to_replay(m, row.recorded);
        row.expected = copy_to_replay(m, row.expected);
        fail_if(m, !vec_push(&m->contradictions, row));
    }
}

static void merge_unsupported(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->unsupported.n; i++) {
        uint32_t id = intern(&m->unsupported_names, r->unsupported.v[i].op);
        if (id == m->unsupported.n)
            fail_if(m,
                    !vec_push(&m->unsupported, (struct replay_unsupported){
                                                   copy_to_replay(m, r->unsupported.v[i].op), 0 }));
        if (id < m->unsupported.n)
            m->unsupported.v[id].calls += r->unsupported.v[i].calls;
        else
            m->failed = true;
    }
}

/* Adds the counters; struct op_stats consists of counters only. */
static void add_op_stats(struct op_stats *to, const struct op_stats *from)
{
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *t; i++)
        t[i] += f[i];
}

static void print_stack_location(const struct replay_stack *stack, struct buf *out)
{
    if (!stack->location_graph || stack->location >= stack->location_graph->n_locations)
        return;
    const struct location *place = &stack->location_graph->locations[stack->location];
    buf_printf(out, "%.*s:%u %.*s", STR_ARG(place->file), place->line, STR_ARG(place->function));
}

static void merge_stack(struct merger *m, uint32_t operator_, const struct replay_stack *stack)
{
    struct buf key = BUF_INIT;
    buf_le32(&key, operator_);
    print_stack_location(stack, &key);
    uint32_t id = key.failed ? INTERN_NONE : intern(&m->stack_names, buf_str(&key));
    buf_release(&key);
    if (id == m->stacks.n) {
        struct replay_stack row = { .location_graph = stack->location_graph,
                                    .location = stack->location };
        fail_if(m, !vec_push(&m->stacks, row) || !vec_push(&m->stack_owner, operator_));
    }
    fail_if(m, id >= m->stacks.n);
    if (m->failed)
        return;
    m->stacks.v[id].calls += stack->calls;
    m->stacks.v[id].dispatches += stack->dispatches;
    m->stacks.v[id].guards += stack->guards;
    m->stacks.v[id].exprs += stack->exprs;
    m->stacks.v[id].symbolic_tensors += stack->symbolic_tensors;
    m->stacks.v[id].ns += stack->ns;
}

static void merge_operators(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->operators.n && !m->failed; i++) {
        const struct replay_operator *from = &r->operators.v[i];
        uint32_t id = intern(&m->operator_names, from->op);
        if (id == m->operators.n)
            fail_if(m, !vec_push(&m->operators,
                                 (struct replay_operator){ .op = copy_to_replay(m, from->op) }));
        fail_if(m, id >= m->operators.n);
        if (m->failed)
            return;
        add_op_stats(&m->operators.v[id].stats, &from->stats);
        m->operators.v[id].could_be_fast += from->could_be_fast;
        for (size_t s = 0; s < from->n_stacks; s++)
            merge_stack(m, id, &from->stacks[s]);
    }
}

static void add_paths(struct pass_paths *to, const struct pass_paths *from)
{
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *counts = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sums; i++)
        sums[i] += counts[i];
}

static void merge_pass_operators(struct merger *m, const struct attempt_result *r)
{
    for (size_t i = 0; i < r->pass_operators.rows.n && !m->failed; i++) {
        const struct pass_operator *from = &r->pass_operators.rows.v[i];
        struct buf key = BUF_INIT;
        buf_le32(&key, from->pass);
        buf_put(&key, from->op);
        uint32_t id = key.failed ? INTERN_NONE : intern(&m->pass_operator_names, buf_str(&key));
        buf_release(&key);
        struct pass_operator row = { .pass = from->pass };
        if (id == m->pass_operators.n) {
            row.op = copy_to_replay(m, from->op);
            fail_if(m, !vec_push(&m->pass_operators, row));
        }
        fail_if(m, id >= m->pass_operators.n);
        if (m->failed)
            return;
        struct op_outer *to = &m->pass_operators.v[id].counts;
        to->calls += from->counts.calls;
        to->hits += from->counts.hits;
        to->misses += from->counts.misses;
        to->bypasses += from->counts.bypasses;
        to->within += from->counts.within;
        to->fake_tensor += from->counts.fake_tensor;
        to->fast += from->counts.fast;
        add_paths(&m->pass_operators.v[id].paths, &from->paths);
    }
}

static int by_pass(const void *a, const void *b)
{
    const struct pass_operator *x = a, *y = b;
    if (x->pass != y->pass)
        return x->pass < y->pass ? -1 : 1;
    if (x->counts.within != y->counts.within)
        return x->counts.within < y->counts.within ? 1 : -1;
    return str_cmp(x->op, y->op);
}

static int compare_stack_calls(const void *a, const void *b)
{
    const struct replay_stack *x = a, *y = b;
    return (x->calls < y->calls) - (x->calls > y->calls);
}

static int compare_unsupported(const void *a, const void *b)
{
    const struct replay_unsupported *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return str_cmp(x->op, y->op);
}

static int compare_operator_names(const void *a, const void *b)
{
    return str_cmp(((const struct replay_operator *)a)->op,
                   ((const struct replay_operator *)b)->op);
}

/* Compares by the log's order, regardless of the attempts. */
static int compare_graph_refs(const void *a, const void *b)
{
    const struct replay_graph *x = a, *y = b;
    return (x->ref > y->ref) - (x->ref < y->ref);
}

static void give_stacks(struct merger *m)
{
    for (size_t o = 0; o < m->operators.n && !m->failed; o++) {
        size_t n = 0;
        for (size_t i = 0; i < m->stacks.n; i++)
            n += m->stack_owner.v[i] == o;
        struct replay_stack *stacks = arena_array(&m->replay->arena, struct replay_stack, n + 1);
        fail_if(m, !stacks);
        n = 0;
        for (size_t i = 0; i < m->stacks.n && stacks; i++)
            if (m->stack_owner.v[i] == o)
                stacks[n++] = m->stacks.v[i];
        if (stacks)
            qsort(stacks, n, sizeof *stacks, compare_stack_calls);
        m->operators.v[o].stacks = stacks;
        m->operators.v[o].n_stacks = n;
    }
}

#define KEEP(m, field, type)                                                           \
    do {                                                                               \
        (m)->replay->n_##field = (m)->field.n;                                         \
        (m)->replay->field = arena_array(&(m)->replay->arena, type, (m)->field.n + 1); \
        fail_if((m), !(m)->replay->field);                                             \
        if ((m)->replay->field && (m)->field.n)                                        \
            memcpy((m)->replay->field, (m)->field.v, (m)->field.n * sizeof(type));     \
    } while (0)

static void keep_all(struct merger *m)
{
    struct replay *r = m->replay;
    give_stacks(m);
    KEEP(m, graphs, struct replay_graph);
    KEEP(m, differences, struct replay_difference);
    KEEP(m, guards, struct replay_guard);
    KEEP(m, trails, struct replay_trail);
    KEEP(m, calls, struct replay_call);
    KEEP(m, violations, struct replay_violation);
    KEEP(m, branches, struct replay_branch);
    KEEP(m, contradictions, struct contradiction);
    KEEP(m, unsupported, struct replay_unsupported);
    KEEP(m, operators, struct replay_operator);
    KEEP(m, pass_operators, struct pass_operator);
    KEEP(m, digests, struct replay_digest);
    if (m->failed)
        return;
    qsort(r->graphs, r->n_graphs, sizeof *r->graphs, compare_graph_refs);
    qsort(r->unsupported, r->n_unsupported, sizeof *r->unsupported, compare_unsupported);
    qsort(r->operators, r->n_operators, sizeof *r->operators, compare_operator_names);
    qsort(r->pass_operators, r->n_pass_operators, sizeof *r->pass_operators, by_pass);
}

static void merger_release(struct merger *m)
{
    vec_release(&m->graphs);
    vec_release(&m->differences);
    vec_release(&m->guards);
    vec_release(&m->trails);
    vec_release(&m->calls);
    vec_release(&m->violations);
    vec_release(&m->branches);
    vec_release(&m->contradictions);
    vec_release(&m->unsupported);
    vec_release(&m->operators);
    vec_release(&m->pass_operators);
    vec_release(&m->digests);
    intern_release(&m->pass_operator_names);
    vec_release(&m->stacks);
    vec_release(&m->stack_owner);
    intern_release(&m->unsupported_names);
    intern_release(&m->operator_names);
    intern_release(&m->stack_names);
}

struct replay *replay_merge(const struct graph_list *list, const struct attempt_result *results,
                            size_t n, struct err *err)
{
    struct merger m = { .list = list, .replay = calloc(1, sizeof *m.replay) };
    if (!m.replay)
        return err_nomem(err), NULL;
    for (size_t i = 0; i < n && !m.failed; i++) {
        merge_graphs(&m, &results[i]);
        merge_differences(&m, &results[i]);
        merge_guards(&m, &results[i]);
        merge_contradictions(&m, &results[i], &results[i].load->settled);
        merge_contradictions(&m, &results[i], &results[i].contradictions);
        merge_costs(&m, &results[i]);
        merge_calls(&m, &results[i]);
        merge_unsupported(&m, &results[i]);
        merge_operators(&m, &results[i]);
        merge_pass_operators(&m, &results[i]);
    }
    keep_all(&m);
    merger_release(&m);
    if (m.failed) {
        replay_free(m.replay);
        return err_nomem(err), NULL;
    }
    return m.replay;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    arena_release(&replay->arena);
    free(replay);
}
