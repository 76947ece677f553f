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

/* What the sizes become, and the arguments that are the product of two of them. */
struct renumbering {
    struct constants c;
    int64_t to[MAX_CONSTANTS];
    struct {
        int64_t value;
        uint32_t a, b; /* the factors, in `c` */
    } products[MAX_CONSTANTS];
    uint32_t n_products;
};

static bool is_known(const struct renumbering *r, int64_t value)
{
    for (uint32_t i = 0; i < r->c.n; i++)
        if (r->c.value[i] == value)
            return true;
    for (uint32_t i = 0; i < r->n_products; i++)
        if (r->products[i].value == value)
            return true;
    return false;
}

static void add_product(struct renumbering *r, int64_t value)
{
    if (value <= LEAST || value > UINT32_MAX || r->n_products == MAX_CONSTANTS ||
        is_known(r, value))
        return;
    for (uint32_t a = 0; a < r->c.n; a++)
        for (uint32_t b = a; b < r->c.n; b++)
            if (value % r->c.value[a] == 0 && value / r->c.value[a] == r->c.value[b]) {
                r->products[r->n_products].value = value;
                r->products[r->n_products].a = a;
                r->products[r->n_products++].b = b;
                return;
            }
}

static void begin_renumbering(struct renumbering *r, const struct graph *graph)
{
    r->n_products = 0;
    find_constants(&r->c, graph);
    for (uint32_t i = 0; i < r->c.n; i++)
        r->to[i] = r->c.value[i];
    for (uint32_t i = 0; i < graph->n_args; i++)
        if (graph->args[i].kind == ARG_INT)
            add_product(r, graph->args[i].u.integer);
}

static void replace_number(struct edits *edits, int64_t from, int64_t to)
{
    if (from != to)
        edits_add(edits, EDIT_SIZE_CONSTANT, NODE_NONE, (uint32_t)from, to);
}

/* Proposes the sizes alone, and if a product changes with them, as 48 in view(4, 48) of
 * [4, 4, 12], the sizes and their products. Products come last, as they may become a number that is
 * a size, which is replaced before. */
static void propose_renumbering(struct edits *edits, const struct renumbering *r)
{
    bool follows = false;
    edits_propose(edits);
    for (uint32_t i = 0; i < r->c.n; i++)
        replace_number(edits, r->c.value[i], r->to[i]);
    for (uint32_t i = 0; i < r->n_products; i++)
        follows |= r->to[r->products[i].a] * r->to[r->products[i].b] != r->products[i].value;
    if (!follows)
        return;
    edits_propose(edits);
    for (uint32_t i = 0; i < r->c.n; i++)
        replace_number(edits, r->c.value[i], r->to[i]);
    for (uint32_t i = 0; i < r->n_products; i++)
        replace_number(edits, r->products[i].value,
                       r->to[r->products[i].a] * r->to[r->products[i].b]);
}

static bool try_renumbering(struct search *search, const struct renumbering *r)
{
    struct edits edits = { .failed = false };
    propose_renumbering(&edits, r);
    return edits_try_each(search, &edits, NULL);
}

/* Divides all sizes by a common factor, so that divisibility is preserved: 64, 192 and 256 become
 * 2, 6 and 8. */
static bool scale_all(struct search *search)
{
    struct renumbering r;
    begin_renumbering(&r, search_best(search)->graph);
    int64_t divisor = divisor_of_constants(&r.c);
    for (uint32_t i = 0; i < r.c.n; i++)
        r.to[i] = r.c.value[i] / divisor * LEAST;
    return divisor <= LEAST || try_renumbering(search, &r);
}

/* Replaces all sizes by the same number. */
static bool equal_all(struct search *search)
{
    struct renumbering r;
    begin_renumbering(&r, search_best(search)->graph);
    for (uint32_t i = 0; i < r.c.n; i++)
        r.to[i] = LEAST;
    return r.c.n <= 1 || try_renumbering(search, &r);
}

static void propose_smaller(struct edits *edits, struct renumbering *r, uint32_t i)
{
    for (int64_t to = LEAST; to <= 4 && to < r->c.value[i]; to++) {
        r->to[i] = to;
        propose_renumbering(edits, r);
    }
    r->to[i] = r->c.value[i];
}

bool pass_constants(struct search *search)
{
    struct renumbering r;
    struct edits edits;
    if (!equal_all(search) || !scale_all(search))
        return false;
    find_constants(&r.c, search_best(search)->graph);
    for (uint32_t i = r.c.n; i-- > 0;) {
        begin_renumbering(&r, search_best(search)->graph);
        if (i >= r.c.n)
            continue;
        edits = (struct edits){ .failed = false };
        propose_smaller(&edits, &r, i);
        if (!edits_try_each(search, &edits, NULL))
            return false;
    }
    return true;
}

void propose_constants(const struct candidate *best, struct edits *edits)
{
    struct renumbering r;
    begin_renumbering(&r, best->graph);
    for (uint32_t i = 0; i < r.c.n; i++)
        propose_smaller(edits, &r, i);
}
