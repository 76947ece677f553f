/* The passes before have left a graph that begins and ends with calls that matter. Keeps only these
 * two, or, if they need a path between them, only what the last one was computed from: then no
 * output keeps other calls. */
#include "minify/passes/pass_edits.h"

/* How often each is accepted, about. */
static const double two_suffice = 0.4, one_output_suffices = 0.95;

/* Proposes to replace all calls between two by inputs. */
static void propose_ends(const struct graph *graph, node_id first, node_id last,
                         struct edits *edits)
{
    for (node_id id = first + 1; id < last; id++)
        if (is_whole_call(graph, id))
            edits_add(edits, EDIT_CUT, id, 1, 0);
}

static bool is_only_output(const struct graph *graph, node_id id)
{
    const struct arg *outputs = node_args(graph, &graph->nodes[graph->n_nodes - 1]);
    return graph_n_outputs(graph) == 1 && outputs->kind == ARG_NODE && outputs->u.node == id;
}

bool pass_ends(struct search *search)
{
    const struct graph *graph = search_best(search)->graph;
    struct edits edits = { .failed = false };
    node_id first, last;
    bool accepted;
    find_ends(graph, &first, &last);
    if (first == last)
        return true;
    propose_ends(graph, first, last, &edits);
    if (edits.list.n)
        search_expect(search, two_suffice);
    if (!edits_try(search, &edits, &accepted))
        return false;
    if (accepted || is_only_output(graph, last))
        return true;
    edits_add(&edits, EDIT_KEEP_PREFIX, last, 1, 0);
    search_expect(search, one_output_suffices);
    return edits_try(search, &edits, NULL);
}
