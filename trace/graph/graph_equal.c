#include "trace/graph/graph.h"

struct pair {
    const struct graph *a, *b;
};

static bool equal_metas(struct pair g, uint32_t x, uint32_t y)
{
    if (x == META_NONE || y == META_NONE)
        return x == y;
    const struct meta *a = &g.a->pool->metas[x], *b = &g.b->pool->metas[y];
    if (str_eq(a->text, b->text))
        return true;
    if (a->kind == META_OTHER || a->kind != b->kind || a->dtype != b->dtype ||
        a->has_strides != b->has_strides || a->n_sizes != b->n_sizes ||
        !str_eq(a->wrapper, b->wrapper) || !str_eq(a->placement, b->placement) ||
        !str_eq(a->device, b->device))
        return false;
    const struct expr_pool *ap = &g.a->pool->exprs, *bp = &g.b->pool->exprs;
    for (uint32_t i = 0; i < a->n_sizes; i++)
        if (!expr_equal(ap, a->sizes[i], bp, b->sizes[i]) ||
            (a->has_strides && !expr_equal(ap, a->strides[i], bp, b->strides[i])))
            return false;
    return true;
}

/* Compares two user lines without their callers, which are not printed. */
static bool equal_locations(struct pair g, uint32_t x, uint32_t y)
{
    if (x == LOCATION_NONE || y == LOCATION_NONE)
        return x == y;
    const struct location *a = &g.a->locations[x], *b = &g.b->locations[y];
    return a->line == b->line && str_eq(a->file, b->file) && str_eq(a->code, b->code) &&
           str_eq(a->function, b->function) && str_eq(a->annotation, b->annotation);
}

static bool arg_equal(struct pair g, const struct arg *a, const struct arg *b);

static bool args_equal(struct pair g, uint32_t x, uint32_t y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!arg_equal(g, &g.a->args[x + i], &g.b->args[y + i]))
            return false;
    return true;
}

/* Compares bits, so that nan equals nan. */
static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool arg_equal(struct pair g, const struct arg *a, const struct arg *b)
{
    if (a->kind != b->kind || !str_eq(a->key, b->key))
        return false;
    switch (a->kind) {
    case ARG_NONE:
    case ARG_ELLIPSIS: return true;
    case ARG_NODE: return a->u.node == b->u.node;
    case ARG_BOOL:
    case ARG_DTYPE: return a->u.integer == b->u.integer;
    case ARG_INT: return a->u.integer == b->u.integer && str_eq(a->text, b->text);
    case ARG_FLOAT: return same_number(a->u.number, b->u.number);
    case ARG_STRING:
    case ARG_COMPLEX:
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT:
    case ARG_DEVICE:
    case ARG_TARGET:
    case ARG_GRAPH:
    case ARG_OPAQUE: return str_eq(a->text, b->text);
    case ARG_CALL:
        if (!str_eq(a->text, b->text))
            return false;
        break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
    case ARG_SLICE: break;
    }
    return a->u.items.n == b->u.items.n &&
           args_equal(g, a->u.items.first, b->u.items.first, a->u.items.n);
}

static bool deletions_equal(struct pair g, const struct node *a, const struct node *b)
{
    if (a->n_deleted != b->n_deleted)
        return false;
    for (uint32_t i = 0; i < a->n_deleted; i++)
        if (g.a->deleted[a->first_deleted + i] != g.b->deleted[b->first_deleted + i])
            return false;
    return true;
}

static bool node_equal(struct pair g, const struct node *a, const struct node *b)
{
    return a->op == b->op && a->form == b->form && str_eq(a->name, b->name) &&
           str_eq(a->target, b->target) && str_eq(a->descriptor, b->descriptor) &&
           a->n_args == b->n_args && equal_metas(g, a->meta, b->meta) &&
           equal_locations(g, a->location, b->location) &&
           args_equal(g, a->first_arg, b->first_arg, a->n_args) && deletions_equal(g, a, b);
}

static node_id first_difference(struct pair g)
{
    uint32_t n = g.a->n_nodes < g.b->n_nodes ? g.a->n_nodes : g.b->n_nodes;
    for (uint32_t i = 0; i < n; i++)
        if (!node_equal(g, &g.a->nodes[i], &g.b->nodes[i]))
            return i;
    return g.a->n_nodes == g.b->n_nodes ? NODE_NONE : n;
}

static uint32_t output_count(const struct graph *graph)
{
    for (uint32_t i = graph->n_nodes; i > 0; i--)
        if (graph->nodes[i - 1].op == NODE_OUTPUT)
            return graph->nodes[i - 1].n_args;
    return 0;
}

static bool frames_equal(struct pair g)
{
    if (!str_eq(g.a->name, g.b->name) || g.a->returns_tuple != g.b->returns_tuple ||
        g.a->n_children != g.b->n_children || !g.a->output_descriptors != !g.b->output_descriptors)
        return false;
    for (uint32_t i = 0; g.a->output_descriptors && i < output_count(g.a); i++)
        if (!str_eq(g.a->output_descriptors[i], g.b->output_descriptors[i]))
            return false;
    return true;
}

bool graph_equal(const struct graph *a, const struct graph *b, node_id *node)
{
    node_id different = first_difference((struct pair){ a, b });
    if (node)
        *node = different;
    if (different != NODE_NONE || !frames_equal((struct pair){ a, b }))
        return false;
    for (uint32_t i = 0; i < a->n_children; i++)
        if (!graph_equal(a->children[i], b->children[i], NULL))
            return false;
    return true;
}
