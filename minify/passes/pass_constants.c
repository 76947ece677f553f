/* Makes sizes that are numbers small. A number is replaced everywhere at once, since the sizes of a
 * weight and of its input must agree. */
#include "minify/passes/pass_edits.h"

enum { MAX_CONSTANTS = 64, LEAST = 2 };

struct constants {
    int64_t value[MAX_CONSTANTS]; /* in ascending order */
    uint32_t n;
};

static void add_constant(struct constants *c, int64_t value)
{
    uint32_t at = 0;
    while (at < c->n && c->value[at] < value)
        at++;
    if (value <= LEAST || value > UINT32_MAX || c->n == MAX_CONSTANTS ||
        (at < c->n && c->value[at] == value))
        return;
    for (uint32_t i = c->n++; i > at; i--)
        c->value[i] = c->value[i - 1];
    c->value[at] = value;
}

static void find_constants(struct constants *c, const struct graph *graph)
{
    c->n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = node_meta(graph, &graph->nodes[id]);
        if (graph->nodes[id].op != NODE_PLACEHOLDER || !meta || meta->kind != META_TENSOR)
            continue;
        for (uint32_t d = 0; d < meta->n_sizes; d++) {
            const struct expr *expr = expr_at(&graph->pool->exprs, meta->sizes[d]);
            if (expr->kind == EXPR_INT && expr->fits)
                add_constant(c, expr->value);
        }
    }
}

static int64_t divisor_of_constants(const struct constants *c)
{
    int64_t ret = 0;
    for (uint32_t i = 0; i < c->n; i++)
        for (int64_t a = c->value[i]; a;) {
            int64_t rest = ret % a;
            ret = a;
            a = rest;
        }
    return ret;
}

/* Divides all sizes by a common factor, so that divisibility is preserved: 64, 192 and 256 become
 * 2, 6 and 8. */
static bool scale_all(struct search *search)
{
    struct edits edits = { .failed = false };
    struct constants c;
    find_constants(&c, search_best(search)->graph);
    int64_t divisor = divisor_of_constants(&c);
    for (uint32_t i = 0; i < c.n && divisor > LEAST; i++)
        edits_add(&edits, EDIT_SIZE_CONSTANT, NODE_NONE, (uint32_t)c.value[i],
                  c.value[i] / divisor * LEAST);
    return edits_try(search, &edits, NULL);
}

/* Replaces all sizes by the same number. */
static bool equal_all(struct search *search)
{
    struct edits edits = { .failed = false };
    struct constants c;
    find_constants(&c, search_best(search)->graph);
    for (uint32_t i = 0; i < c.n && c.n > 1; i++)
        edits_add(&edits, EDIT_SIZE_CONSTANT, NODE_NONE, (uint32_t)c.value[i], LEAST);
    return edits_try(search, &edits, NULL);
}

static void propose_smaller(struct edits *edits, int64_t value)
{
    for (int64_t to = LEAST; to <= 4 && to < value; to++) {
        edits_propose(edits);
        edits_add(edits, EDIT_SIZE_CONSTANT, NODE_NONE, (uint32_t)value, to);
    }
}

bool pass_constants(struct search *search)
{
    struct constants c;
    if (!equal_all(search) || !scale_all(search))
        return false;
    find_constants(&c, search_best(search)->graph);
    for (uint32_t i = c.n; i-- > 0;) {
        struct edits edits = { .failed = false };
        propose_smaller(&edits, c.value[i]);
        if (!edits_try_each(search, &edits, NULL))
            return false;
    }
    return true;
}

void propose_constants(const struct candidate *best, struct edits *edits)
{
    struct constants c;
    find_constants(&c, best->graph);
    for (uint32_t i = 0; i < c.n; i++)
        propose_smaller(edits, c.value[i]);
}
