/* A failure that is caused by a size often needs only one dimension, or those that the error names:
 * this pass keeps these and removes all others in one step, with the recorded numbers for sizes if
 * the failure needs no symbol, which a smaller number may hide. Removing symbols and dimensions one
 * by one takes many questions, so this pass comes first when few calls are left. */
#include <stdlib.h>

#include "minify/passes/pass_edits.h"

enum { MOST_CALLS = 4, LEAST = 2 };

static bool is_integer_size(const struct cand_symbol *symbol)
{
    return symbol->backed && symbol->has_hint && !symbol->is_float;
}

static uint32_t n_whole_calls(const struct graph *graph)
{
    uint32_t n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++)
        n += is_whole_call(graph, id);
    return n;
}

/* Returns the meta of a tensor input, or NULL. */
static const struct meta *input_meta(const struct graph *graph, node_id id)
{
    const struct meta *meta = node_meta(graph, &graph->nodes[id]);
    bool tensor = graph->nodes[id].op == NODE_PLACEHOLDER && meta && meta->kind == META_TENSOR;
    return tensor ? meta : NULL;
}

static bool depends_on_symbol(const struct graph *graph, expr_id size, struct str symbol)
{
    const struct expr *expr = expr_at(&graph->pool->exprs, size);
    return expr->kind == EXPR_SYMBOL && str_eq(expr->text, symbol);
}

static uint32_t count_dimensions(const struct graph *graph, struct str symbol)
{
    uint32_t n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = input_meta(graph, id);
        for (uint32_t d = 0; meta && d < meta->n_sizes; d++)
            n += depends_on_symbol(graph, meta->sizes[d], symbol);
    }
    return n;
}

static bool has_wide_tensor(const struct graph *graph)
{
    bool wide = false;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = input_meta(graph, id);
        wide |= meta && meta->n_sizes > 1;
    }
    return wide;
}

static bool names_symbol(struct str text, struct str symbol)
{
    for (size_t at = 0; at + symbol.n <= text.n; at++) {
        size_t end = at + symbol.n;
        if (str_starts(str_from(text, at), symbol) && (at == 0 || !is_word_char(text.p[at - 1])) &&
            (end == text.n || !is_word_char(text.p[end])))
            return true;
    }
    return false;
}

/* Chooses the symbols that stay: those in the error, or else the most frequent one. Returns their
 * number. */
static uint32_t choose_kept_symbols(const struct candidate *best, struct str failure, bool *kept)
{
    uint32_t n = 0, most = 0, which = 0;
    for (uint32_t i = 0; i < best->n_symbols; i++) {
        uint32_t count = is_integer_size(&best->symbols[i])
                             ? count_dimensions(best->graph, best->symbols[i].name)
                             : 0;
        kept[i] = count && names_symbol(failure, best->symbols[i].name);
        n += kept[i];
        if (count > most) {
            most = count;
            which = i;
        }
    }
    if (n || most == 0)
        return n;
    kept[which] = true;
    return 1;
}

static bool is_kept_size(const struct candidate *best, expr_id size, const bool *kept)
{
    bool ret = false;
    for (uint32_t i = 0; i < best->n_symbols; i++)
        ret |= kept[i] && depends_on_symbol(best->graph, size, best->symbols[i].name);
    return ret;
}

/* Proposes to remove the other dimensions, from the last to the first, so that positions stay. */
static void drop_others(struct edits *edits, const struct candidate *best, const bool *kept)
{
    const struct graph *graph = best->graph;
    uint32_t position = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = input_meta(graph, id);
        for (uint32_t d = meta ? meta->n_sizes : 0; d-- > 0;)
            if (!is_kept_size(best, meta->sizes[d], kept))
                edits_add(edits, EDIT_DROP_DIM, position, d, 0);
        position += graph->nodes[id].op == NODE_PLACEHOLDER;
    }
}

static void make_static(struct edits *edits, const struct candidate *best)
{
    for (uint32_t i = 0; i < best->n_symbols; i++)
        if (is_integer_size(&best->symbols[i]))
            edits_add(edits, EDIT_STATIC, i, 0, 0);
}

/* Proposes to change symbols: sizes of several symbols may have to be equal, or different, so one
 * alone is made small. */
static void change_symbols(struct edits *edits, const struct candidate *best, const bool *kept,
                           bool alone)
{
    for (uint32_t i = 0; i < best->n_symbols; i++) {
        const struct cand_symbol *symbol = &best->symbols[i];
        int64_t least = symbol->min > LEAST ? symbol->min : LEAST;
        if (is_integer_size(symbol) && !kept[i])
            edits_add(edits, EDIT_STATIC, i, 0, 0);
        else if (kept[i] && alone && symbol->hint > least)
            edits_add(edits, EDIT_HINT, i, 0, least);
    }
}

bool pass_dimension(struct search *search)
{
    const struct candidate *best = search_best(search);
    struct edits edits = { .failed = false };
    if (best->n_symbols == 0 || n_whole_calls(best->graph) > MOST_CALLS ||
        !has_wide_tensor(best->graph))
        return true;
    bool *kept = calloc(best->n_symbols, sizeof *kept);
    uint32_t n = kept ? choose_kept_symbols(best, search_failure(search), kept) : 0;
    if (n) {
        edits_propose(&edits);
        make_static(&edits, best);
        drop_others(&edits, best, kept);
        edits_propose(&edits);
        change_symbols(&edits, best, kept, n == 1);
        drop_others(&edits, best, kept);
    }
    edits.failed |= !kept;
    free(kept);
    return edits_try_each(search, &edits, NULL);
}
