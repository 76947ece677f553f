/* Removes dimensions. Ranks depend on each other: tensors that are added have the same rank, so a
 * dimension is removed from all inputs of a rank together before it is removed from one alone. */
#include "minify/passes/pass_edits.h"

static uint32_t meta_rank(const struct graph *graph, node_id id)
{
    const struct meta *meta = node_meta(graph, &graph->nodes[id]);
    bool input = graph->nodes[id].op == NODE_PLACEHOLDER;
    return input && meta && meta->kind == META_TENSOR ? meta->n_sizes : 0;
}

static uint32_t max_rank(const struct graph *graph)
{
    uint32_t ret = 0;
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (meta_rank(graph, id) > ret)
            ret = meta_rank(graph, id);
    return ret;
}

/* Proposes to remove dimension d, from the front, of all inputs of that rank. */
static void propose_of_rank(const struct graph *graph, uint32_t rank, uint32_t d,
                            struct edits *edits)
{
    uint32_t position = 0;
    bool any = false;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        if (meta_rank(graph, id) == rank) {
            if (!any)
                edits_propose(edits);
            any = true;
            edits_add(edits, EDIT_DROP_DIM, position, d, 0);
        }
        position++;
    }
}

static void propose_alone(const struct graph *graph, struct edits *edits)
{
    uint32_t position = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        for (uint32_t d = 0; d < meta_rank(graph, id); d++) {
            edits_propose(edits);
            edits_add(edits, EDIT_DROP_DIM, position, d, 0);
        }
        position++;
    }
}

static bool is_constant_size(const struct graph *graph, node_id id, uint32_t d)
{
    const struct meta *meta = node_meta(graph, &graph->nodes[id]);
    return expr_at(&graph->pool->exprs, meta->sizes[d])->kind == EXPR_INT;
}

/* Proposes to remove all dimensions in one step, or those that are numbers: down to scalars if no
 * size is a symbol. It goes from the last dimension to the first, so that positions stay. */
static void propose_all(const struct graph *graph, bool symbols, struct edits *edits)
{
    uint32_t position = 0;
    size_t before = edits->list.n;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        for (uint32_t d = meta_rank(graph, id); d-- > 0;) {
            if (!symbols && !is_constant_size(graph, id, d))
                continue;
            if (edits->list.n == before)
                edits_propose(edits);
            edits_add(edits, EDIT_DROP_DIM, position, d, 0);
        }
        position++;
    }
}

void propose_ranks(const struct candidate *best, struct edits *edits)
{
    if (max_rank(best->graph) > 1) {
        propose_all(best->graph, false, edits);
        propose_all(best->graph, true, edits);
    }
    for (uint32_t rank = max_rank(best->graph); rank > 0; rank--)
        for (uint32_t d = 0; d < rank; d++)
            propose_of_rank(best->graph, rank, d, edits);
    propose_alone(best->graph, edits);
}

bool pass_rank(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX) {
        struct edits edits = { .failed = false };
        propose_ranks(search_best(search), &edits);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}
