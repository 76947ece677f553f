/* Replaces one use of a value by something that the value was computed from, and the value, where
 * it is used elsewhere, by an input: of add(v, v), only one of the two arguments may be needed, or
 * of the same value in two calls. The other passes replace all uses of a value alike. */
#include <stdlib.h>
#include <string.h>

#include "minify/passes/pass_edits.h"

enum { CALLS_MAX = 16 }; /* larger graphs have too many such replacements */
/* Few are accepted. */
static const double accepted = 0.3;

/* A value, and the use that is looked at. */
struct value_use {
    struct edits *edits;
    node_id value, user;
    uint32_t number; /* of the reference in the user */
    const bool *ancestor;
};

static void mark_ancestor(void *user, node_id id)
{
    bool *ancestor = user;
    ancestor[id] = true;
}

/* Proposes to replace a use of the value by each call that the value was computed from, the nearest
 * first. */
static void see_reference(void *user, node_id id)
{
    struct value_use *u = user;
    for (node_id by = u->value; id == u->value && by-- > 0;) {
        if (!u->ancestor[by])
            continue;
        edits_propose(u->edits);
        edits_add(u->edits, EDIT_REFERENCE, u->user, by, u->number);
        edits_add(u->edits, EDIT_CUT, u->value, 0, 0);
    }
    u->number++;
}

/* Finds the calls that a value was computed from. */
static void find_ancestors(const struct graph *graph, node_id of, bool *ancestor)
{
    memset(ancestor, 0, graph->n_nodes * sizeof *ancestor);
    node_references(graph, &graph->nodes[of], mark_ancestor, ancestor);
    for (node_id id = of; id-- > 0;) {
        if (ancestor[id])
            node_references(graph, &graph->nodes[id], mark_ancestor, ancestor);
        ancestor[id] &= node_is_call(&graph->nodes[id]) && node_is_value(graph, &graph->nodes[id]);
    }
}

static void propose_references(const struct graph *graph, const uint32_t *uses, bool *ancestor,
                               struct edits *edits)
{
    for (node_id id = graph->n_nodes; id-- > 0;) {
        if (uses[id] < 2 || !node_is_call(&graph->nodes[id]) ||
            !node_is_value(graph, &graph->nodes[id]))
            continue;
        find_ancestors(graph, id, ancestor);
        for (node_id by = id + 1; by + 1 < graph->n_nodes; by++) {
            struct value_use u = { edits, id, by, 0, ancestor };
            node_references(graph, &graph->nodes[by], see_reference, &u);
        }
    }
}

bool pass_reference(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX &&
           candidate_size(search_best(search)).part[SIZE_CALLS] <= CALLS_MAX) {
        const struct graph *graph = search_best(search)->graph;
        struct edits edits = { .failed = false };
        uint32_t *uses = count_node_uses(graph);
        bool *ancestor = calloc((size_t)graph->n_nodes + 1, sizeof *ancestor);
        if (uses && ancestor)
            propose_references(graph, uses, ancestor, &edits);
        else
            edits.failed = true;
        free(uses);
        free(ancestor);
        search_expect(search, accepted);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}
