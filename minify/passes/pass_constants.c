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
    struct product {
        int64_t value;
        uint32_t a, b;         /* the factors, in `c` */
    } products[MAX_CONSTANTS]; /* in ascending order */
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

static void insert_product(struct renumbering *r, struct product product)
{
    uint32_t at = r->n_products++;
    for (; at > 0 && r->products[at - 1].value > product.value; at--)
        r->products[at] = r->products[at - 1];
    r->products[at] = product;
}

static void add_product(struct renumbering *r, int64_t value)
{
    if (value <= LEAST || value > UINT32_MAX || r->n_products == MAX_CONSTANTS ||
        is_known(r, value))
        return;
    for (uint32_t a = 0; a < r->c.n; a++)
        for (uint32_t b = a; b < r->c.n; b++)
            if (value % r->c.value[a] == 0 && value / r->c.value[a] == r->c.value[b]) {
                insert_product(r, (struct product){ value, a, b });
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

static int64_t new_product(const struct renumbering *r, const struct product *product)
{
    return r->to[product->a] * r->to[product->b];
}

/* One replacement is made after the other, in ascending order of the old numbers: since no number
 * grows, none becomes one that is still to be replaced. */
static void replace_numbers(struct edits *edits, const struct renumbering *r, uint32_t n_products)
{
    uint32_t p = 0;
    edits_propose(edits);
    for (uint32_t i = 0; i <= r->c.n; i++) {
        for (; p < n_products && (i == r->c.n || r->products[p].value < r->c.value[i]); p++)
            replace_number(edits, r->products[p].value, new_product(r, &r->products[p]));
        if (i < r->c.n)
            replace_number(edits, r->c.value[i], r->to[i]);
    }
}

/* Proposes the sizes alone, and if a product changes with them, as 48 in view(4, 48) of
 * [4, 4, 12], the sizes and their products. */
static void propose_renumbering(struct edits *edits, const struct renumbering *r)
{
    bool follows = false;
    for (uint32_t i = 0; i < r->n_products; i++)
        follows |= new_product(r, &r->products[i]) != r->products[i].value;
    replace_numbers(edits, r, 0);
    if (follows)
        replace_numbers(edits, r, r->n_products);
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

/* Returns how many sizes are less than a number. */
static uint32_t count_below(const struct constants *c, int64_t value)
{
    uint32_t n = 0;
    while (n < c->n && c->value[n] < value)
        n++;
    return n;
}

/* Goes from the largest size down by value, since the list becomes shorter when two sizes become
 * the same. */
bool pass_constants(struct search *search)
{
    struct renumbering r;
    int64_t last = INT64_MAX;
    if (!equal_all(search) || !scale_all(search))
        return false;
    for (;;) {
        begin_renumbering(&r, search_best(search)->graph);
        uint32_t n = count_below(&r.c, last);
        if (n == 0)
            return true;
        last = r.c.value[n - 1];
        struct edits edits = { .failed = false };
        propose_smaller(&edits, &r, n - 1);
        if (!edits_try_each(search, &edits, NULL))
            return false;
    }
}

void propose_constants(const struct candidate *best, struct edits *edits)
{
    struct renumbering r;
    begin_renumbering(&r, best->graph);
    for (uint32_t i = 0; i < r.c.n; i++)
        propose_smaller(edits, &r, i);
}
