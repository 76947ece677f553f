#include "prove/regions/refusal.h"

#include <stdlib.h>

#include "trace/graph/graph.h"
#include "trace/graphs.h"

enum { ARGS_DEPTH = 16 }; /* lists in lists */

static bool is_dynamo(const struct graph_ref *ref)
{
    return ref->kind == GRAPH_DYNAMO || ref->kind == GRAPH_PARTIAL_DYNAMO;
}

/* Returns whether the program itself raises an error where a call was refused. Graphs that
 * AOTAutograd made of a Dynamo graph are those of the recorded sizes: at others, there are other
 * graphs, and what those refuse means nothing. */
static bool is_of_program(const struct graph_list *graphs, uint32_t attempt, uint32_t ref)
{
    if (is_dynamo(&graphs->refs[ref]))
        return true;
    for (uint32_t i = 0; i < graphs->n; i++)
        if (graphs->refs[i].attempt == attempt && is_dynamo(&graphs->refs[i]))
            return false;
    return true;
}

/* ---- What leads to the call ---- */

struct leading {
    const struct graph *graph;
    bool *needed;   /* by node: the call depends on it */
    bool is_number; /* a number other than -1, 0 and 1 is among them */
};

static void see_arguments(struct leading *a, const struct arg *args, uint32_t n, unsigned depth)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct arg *arg = &args[i];
        bool has_items = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                         arg->kind == ARG_SLICE || arg->kind == ARG_CALL;
        if (arg->kind == ARG_NODE && arg->u.node < a->graph->n_nodes)
            a->needed[arg->u.node] = true;
        else if (arg->kind == ARG_INT)
            a->is_number |= arg->u.integer < -1 || arg->u.integer > 1;
        else if (arg->kind == ARG_OPAQUE || (has_items && depth == ARGS_DEPTH))
            a->is_number = true;
        else if (has_items)
            see_arguments(a, &a->graph->args[arg->u.items.first], arg->u.items.n, depth + 1);
    }
}

/* Finds the names of the nodes of a graph whose results differ, apart from the call itself. */
static bool find_differing(const struct refusal *r, const struct replay *replay, struct intern *ret)
{
    for (size_t i = 0; i < replay->n_differences; i++) {
        const struct replay_difference *d = &replay->differences[i];
        if (d->ref == r->call->ref && d != r->call && !d->graph.n &&
            intern(ret, d->node) == INTERN_NONE)
            return false;
    }
    return true;
}

static bool find_certainty(struct refusal *r, const struct graph *graph,
                           const struct replay *replay, struct err *err)
{
    struct leading a = { .graph = graph, .needed = calloc((size_t)graph->n_nodes + 1, 1) };
    struct intern differing = INTERN_INIT;
    uint32_t at = intern_find(&r->names, r->call->node);
    bool ok = a.needed && find_differing(r, replay, &differing);
    r->is_certain = ok && at < graph->n_nodes && !r->call->graph.n;
    if (r->is_certain)
        a.needed[at] = true;
    for (uint32_t i = at + 1; i-- > 0 && r->is_certain;) {
        const struct node *node = &graph->nodes[i];
        if (!a.needed[i])
            continue;
        if (node->n_args)
            see_arguments(&a, node_args(graph, node), node->n_args, 0);
        r->is_certain = !a.is_number && intern_find(&differing, node->name) == INTERN_NONE;
    }
    intern_release(&differing);
    free(a.needed);
    return ok || err_nomem(err);
}

/* ---- The call ---- */

static bool read_graph(struct refusal *r, struct trace *trace, const struct replay *replay,
                       struct err *err)
{
    struct err why = { 0 };
    const struct graph *graph = trace_graph(trace, r->call->ref, &why);
    if (!graph)
        return !why.no_memory || err_nomem(err);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        uint32_t id = intern(&r->names, graph->nodes[i].name);
        if (id == INTERN_NONE)
            return err_nomem(err);
        if (id != i) /* of a damaged graph, whose nodes have no order */
            return true;
    }
    return find_certainty(r, graph, replay, err);
}

bool refusal_find(struct refusal *ret, struct trace *trace, const struct replay *replay,
                  uint32_t attempt, struct err *err)
{
    *ret = (struct refusal){ 0 };
    const struct graph_list *graphs = trace_graphs(trace, err);
    if (!graphs)
        return false;
    for (size_t i = 0; i < replay->n_differences && !ret->call; i++) {
        const struct replay_difference *d = &replay->differences[i];
        if (d->outcome == OUTCOME_REFUSED && !d->derived && is_of_program(graphs, attempt, d->ref))
            ret->call = d;
    }
    return !ret->call || read_graph(ret, trace, replay, err);
}

bool refusal_is_after(const struct refusal *refusal, const struct replay_guard *guard)
{
    if (!refusal->call || guard->ref == TRACE_NONE || !guard->node.n)
        return false;
    if (guard->ref != refusal->call->ref)
        return guard->ref > refusal->call->ref;
    uint32_t call = intern_find(&refusal->names, refusal->call->node),
             asked = intern_find(&refusal->names, guard->node);
    return call != INTERN_NONE && asked != INTERN_NONE && asked > call;
}

void refusal_release(struct refusal *refusal)
{
    intern_release(&refusal->names);
}
