#include "tests/minify/optimum/exhaustive.h"

#include <stdlib.h>
#include <string.h>

#include "minify/candidate/candidate_data.h"
#include "minify/edit/edit.h"
#include "minify/oracle/oracle_ops.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct state {
    struct candidate *candidate;
    struct cand_hash hash;
};

struct states {
    vec_of(struct state)
    list;
    struct hash_index index;
    bool failed;
};

static void states_release(struct states *states)
{
    for (size_t i = 0; i < states->list.n; i++)
        candidate_free(states->list.v[i].candidate);
    vec_release(&states->list);
    hash_index_release(&states->index);
}

static bool is_known(const struct states *states, struct cand_hash hash)
{
    uint32_t row;
    for (size_t at = hash_index_start(&states->index, (uint32_t)hash.low);
         hash_index_next(&states->index, (uint32_t)hash.low, &at, &row);)
        if (states->list.v[row].hash.low == hash.low && states->list.v[row].hash.high == hash.high)
            return true;
    return false;
}

/* Takes a candidate, unless it is known. */
static void add_state(struct states *states, struct candidate *candidate)
{
    const struct state state = { candidate, candidate_hash(candidate) };
    if (is_known(states, state.hash)) {
        candidate_free(candidate);
        return;
    }
    uint32_t row = (uint32_t)states->list.n;
    if (!hash_index_reserve(&states->index, 1) || !vec_push(&states->list, state)) {
        candidate_free(candidate);
        states->failed = true;
        return;
    }
    hash_index_add(&states->index, (uint32_t)state.hash.low, row);
}

struct exploring {
    const struct planted *planted;
    struct states states;
    struct candidate *from; /* held */
};

/* Operators that are gone do not return. */
static bool has_ops(const struct planted *planted, const struct candidate *candidate)
{
    const struct graph *graph = candidate->graph;
    for (int i = 0; i < PLANTED_OPS && planted->ops[i]; i++) {
        struct str op = str_of(planted->ops[i]);
        bool any = false;
        for (node_id id = 0; id < graph->n_nodes && !any; id++)
            any = node_is_call(&graph->nodes[id]) &&
                  str_find(graph->nodes[id].target, op) < graph->nodes[id].target.n;
        if (!any)
            return false;
    }
    return true;
}

static void try_edit(struct exploring *e, enum edit_kind kind, uint32_t a, uint32_t b)
{
    struct err why = { 0 };
    const struct edit edit = { kind, a, b, 0 };
    struct candidate *less = candidate_apply(e->from, &edit, 1, &why);
    if (!less)
        e->states.failed |= why.kind == ERR_ENV;
    else if (has_ops(e->planted, less))
        add_state(&e->states, less);
    else
        candidate_free(less);
}

/* Marks what a value was computed from. */
static void mark_origin(void *user, node_id id)
{
    ((bool *)user)[id] = true;
}

static void find_origins(const struct graph *graph, node_id of, bool *origin)
{
    memset(origin, 0, graph->n_nodes * sizeof *origin);
    node_references(graph, &graph->nodes[of], mark_origin, origin);
    for (node_id id = of; id-- > 0;)
        if (origin[id])
            node_references(graph, &graph->nodes[id], mark_origin, origin);
}

static void try_calls(struct exploring *e)
{
    const struct graph *graph = e->from->graph;
    uint32_t outputs = graph->nodes[graph->n_nodes - 1].n_args;
    bool *origin = calloc(graph->n_nodes, sizeof *origin);
    e->states.failed |= !origin;
    for (node_id id = 0; id < graph->n_nodes && origin; id++) {
        if (!node_is_call(&graph->nodes[id]))
            continue;
        find_origins(graph, id, origin);
        try_edit(e, EDIT_CUT, id, 1);
        for (node_id by = 0; by < id; by++)
            if (graph->nodes[by].meta == graph->nodes[id].meta)
                try_edit(e, EDIT_BYPASS, id, by);
            else if (origin[by])
                try_edit(e, EDIT_SUBSTITUTE, id, by);
    }
    free(origin);
    for (uint32_t i = 0; i < outputs && outputs > 1; i++)
        try_edit(e, EDIT_REMOVE_OUTPUT, i, 0);
}

static void try_sizes(struct exploring *e)
{
    for (uint32_t i = 0; i < e->from->n_guards; i++)
        try_edit(e, EDIT_REMOVE_GUARD, i, 0);
    for (uint32_t i = 0; i < e->from->n_symbols; i++) {
        try_edit(e, EDIT_STATIC, i, 0);
        for (uint32_t j = 0; j < i; j++)
            try_edit(e, EDIT_MERGE, i, j);
    }
}

/* Notes a candidate that fails if it is the smallest. */
static void note_smallest(const struct planted *planted, struct oracle *ops,
                          const struct candidate *candidate, struct exhaustive *ret)
{
    struct cand_size size = candidate_size(candidate);
    const uint64_t now[] = { size.part[SIZE_CALLS], size.part[SIZE_GUARDS],
                             size.part[SIZE_SYMBOLS] };
    const uint64_t best[] = { ret->calls, ret->guards, ret->symbols };
    int more = 0;
    for (int part = 0; part < 3 && more == 0; part++)
        more = now[part] < best[part] ? -1 : now[part] > best[part];
    if (more >= 0 || !planted_holds(planted, ops, candidate))
        return;
    ret->calls = now[0];
    ret->guards = now[1];
    ret->symbols = now[2];
}

/* Looks at all that edits of guards and symbols make of a candidate. */
static void explore_sizes(struct exploring *calls, struct oracle *ops, struct candidate *from,
                          struct exhaustive *ret)
{
    struct exploring e = { .planted = calls->planted };
    add_state(&e.states, candidate_hold(from));
    for (size_t i = 0; i < e.states.list.n && !e.states.failed; i++) {
        e.from = candidate_hold(e.states.list.v[i].candidate);
        note_smallest(e.planted, ops, e.from, ret);
        try_sizes(&e);
        candidate_free(e.from);
    }
    ret->candidates += e.states.list.n;
    calls->states.failed |= e.states.failed;
    states_release(&e.states);
}

static bool is_least(const struct exhaustive *ret, const struct planted_least *least)
{
    return ret->calls <= least->calls && ret->guards <= least->guards &&
           ret->symbols <= least->symbols;
}

/* The order in which states are looked at: those of few calls first. */
struct queues {
    struct queue {
        vec_of(uint32_t)
        rows;
        size_t at;
    } of_calls[PLANTED_CALLS_MAX + 1];
    size_t n; /* states that are in one */
};

static void fill_queues(struct queues *queues, struct states *states)
{
    for (; queues->n < states->list.n; queues->n++) {
        struct cand_size size = candidate_size(states->list.v[queues->n].candidate);
        states->failed |=
            !vec_push(&queues->of_calls[size.part[SIZE_CALLS]].rows, (uint32_t)queues->n);
    }
}

static bool take_next(struct queues *queues, uint32_t *row)
{
    for (unsigned calls = 0; calls <= PLANTED_CALLS_MAX; calls++) {
        struct queue *queue = &queues->of_calls[calls];
        if (queue->at < queue->rows.n) {
            *row = queue->rows.v[queue->at++];
            return true;
        }
    }
    return false;
}

/* Looks at all states, until there are `most` or one is as small as any can be. */
static void explore_calls(struct exploring *e, struct oracle *ops, size_t most,
                          struct exhaustive *ret)
{
    const struct planted_least least = planted_least(e->planted);
    struct queues queues = { .n = 0 };
    uint32_t row;
    for (fill_queues(&queues, &e->states); !e->states.failed && take_next(&queues, &row);
         fill_queues(&queues, &e->states)) {
        e->from = candidate_hold(e->states.list.v[row].candidate);
        note_smallest(e->planted, ops, e->from, ret);
        if (candidate_size(e->from).part[SIZE_CALLS] == ret->calls &&
            planted_holds(e->planted, ops, e->from))
            explore_sizes(e, ops, e->from, ret);
        try_calls(e);
        candidate_free(e->from);
        ret->whole = is_least(ret, &least);
        if (ret->whole || e->states.list.n >= most)
            break;
    }
    ret->whole |= e->states.list.n < most;
    for (unsigned calls = 0; calls <= PLANTED_CALLS_MAX; calls++)
        vec_release(&queues.of_calls[calls].rows);
}

bool exhaustive_run(const struct planted *planted, size_t most, struct exhaustive *ret)
{
    struct err err = { 0 };
    struct exploring e = { .planted = planted };
    struct oracle *ops = oracle_ops(str_of(planted->what), &err);
    *ret = (struct exhaustive){ .calls = UINT64_MAX };
    if (!ops)
        return false;
    add_state(&e.states, candidate_hold(planted->whole));
    explore_calls(&e, ops, most, ret);
    ret->candidates += e.states.list.n;
    bool good = !e.states.failed;
    states_release(&e.states);
    ops->free(ops);
    return good;
}
