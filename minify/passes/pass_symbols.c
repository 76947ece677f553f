/* Replaces symbols by numbers, two symbols by one, and compound sizes by symbols. If all symbols
 * can be numbers, the failure is no bug of dynamic shapes, and the result has no symbols. */
#include "minify/passes/pass_edits.h"

void propose_statics(const struct candidate *best, struct edits *edits)
{
    for (uint32_t i = 0; i < best->n_symbols; i++)
        if (best->symbols[i].backed && best->symbols[i].has_hint) {
            edits_propose(edits);
            edits_add(edits, EDIT_STATIC, i, 0, 0);
        }
}

bool pass_statics(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_statics(search_best(search), &edits);
    return edits_sweep(search, &edits);
}

enum { MERGE_TARGETS = 4 };

static void propose_merges_of(const struct candidate *best, uint32_t a, struct edits *edits)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < a && n < MERGE_TARGETS; b++) {
        if (best->symbols[a].backed != best->symbols[b].backed ||
            best->symbols[a].is_float != best->symbols[b].is_float)
            continue;
        edits_propose(edits);
        edits_add(edits, EDIT_MERGE, a, b, 0);
        n++;
    }
}

void propose_merges(const struct candidate *best, struct edits *edits)
{
    for (uint32_t a = 1; a < best->n_symbols; a++)
        propose_merges_of(best, a, edits);
}

bool pass_merge(struct search *search)
{
    for (uint32_t a = search_best(search)->n_symbols; a-- > 1;) {
        struct edits edits = { .failed = false };
        if (a >= search_best(search)->n_symbols)
            continue;
        propose_merges_of(search_best(search), a, &edits);
        if (!edits_try_each(search, &edits, NULL))
            return false;
    }
    return true;
}

static bool is_compound(const struct graph *graph, expr_id id)
{
    const struct expr *expr = expr_at(&graph->pool->exprs, id);
    return expr->kind == EXPR_OP || expr->kind == EXPR_CALL;
}

void propose_fresh(const struct candidate *best, struct edits *edits)
{
    uint32_t position = 0;
    for (node_id id = 0; id < best->graph->n_nodes; id++) {
        const struct node *node = &best->graph->nodes[id];
        const struct meta *meta = node_meta(best->graph, node);
        if (node->op != NODE_PLACEHOLDER)
            continue;
        for (uint32_t d = 0; meta && meta->kind != META_OTHER && d < meta->n_sizes; d++)
            if (is_compound(best->graph, meta->sizes[d])) {
                edits_propose(edits);
                edits_add(edits, EDIT_FRESH, position, d, 0);
            }
        position++;
    }
}

bool pass_fresh(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX) {
        struct edits edits = { .failed = false };
        propose_fresh(search_best(search), &edits);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}

void propose_ranges(const struct candidate *best, struct edits *edits)
{
    for (uint32_t i = 0; i < best->n_symbols; i++)
        if (best->symbols[i].max != INT64_MAX || best->symbols[i].min > 2) {
            edits_propose(edits);
            edits_add(edits, EDIT_WIDEN, i, 0, 0);
        }
}

bool pass_ranges(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_ranges(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
