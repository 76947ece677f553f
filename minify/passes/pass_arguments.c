/* Removes or simplifies arguments, one at a time, after trying to remove all optional ones
 * together. */
#include "minify/edit/shape_edit.h"
#include "minify/passes/pass_edits.h"

static bool may_change(const struct arg *arg, enum argument_change change)
{
    switch (change) {
    case ARGUMENT_DROP: return arg->kind != ARG_NODE && (arg->kind != ARG_NONE || arg->key.n);
    case ARGUMENT_ZERO:
        return arg->kind == ARG_INT || arg->kind == ARG_FLOAT || arg->kind == ARG_BOOL;
    case ARGUMENT_ONE:
    case ARGUMENT_TWO: return arg->kind == ARG_INT || arg->kind == ARG_FLOAT;
    case ARGUMENT_SHORTER:
        return (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) && arg->u.items.n > 1;
    default: return false;
    }
}

static void propose_of(const struct graph *graph, node_id id, uint32_t b, struct edits *edits)
{
    const struct arg *arg = &graph->args[graph->nodes[id].first_arg + b];
    bool last = b + 1 == graph->nodes[id].n_args;
    for (int change = 0; change < ARGUMENT_CHANGES; change++)
        if ((change != ARGUMENT_DROP || arg->key.n || last) &&
            may_change(arg, (enum argument_change)change)) {
            edits_propose(edits);
            edits_add(edits, EDIT_ARGUMENT, id, b, change);
        }
}

static bool has_arguments(const struct graph *graph, node_id id)
{
    return is_whole_call(graph, id);
}

void propose_arguments(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id < best->graph->n_nodes; id++)
        for (uint32_t b = 0; has_arguments(best->graph, id) && b < best->graph->nodes[id].n_args;
             b++)
            propose_of(best->graph, id, b, edits);
}

/* Removes all optional arguments of each call, from the last to the first, so that the numbers of
 * earlier ones stay. */
static bool drop_all(struct search *search)
{
    const struct graph *graph = search_best(search)->graph;
    struct edits edits = { .failed = false };
    for (node_id id = 0; id < graph->n_nodes; id++)
        for (uint32_t b = has_arguments(graph, id) ? graph->nodes[id].n_args : 0; b-- > 0;)
            if (graph->args[graph->nodes[id].first_arg + b].key.n)
                edits_add(&edits, EDIT_ARGUMENT, id, b, ARGUMENT_DROP);
    return edits_sweep(search, &edits);
}

bool pass_arguments(struct search *search)
{
    if (!drop_all(search))
        return false;
    for (node_id id = 0; id < search_best(search)->graph->n_nodes; id++)
        for (uint32_t b = search_best(search)->graph->nodes[id].n_args; b-- > 0;) {
            const struct graph *graph = search_best(search)->graph;
            struct edits edits = { .failed = false };
            if (!has_arguments(graph, id) || b >= graph->nodes[id].n_args)
                continue;
            propose_of(graph, id, b, &edits);
            if (!edits_try_each(search, &edits, NULL))
                return false;
        }
    return true;
}
