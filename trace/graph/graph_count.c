#include "trace/base/buf.h"
#include "trace/graph/graph.h"

static void count_tree(const struct graph *graph, struct graph_counts *counts)
{
    counts->graphs++;
    counts->opaque += graph->n_opaque;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        counts->nodes += graph->nodes[i].op != NODE_ALIAS;
        counts->calls += node_is_call(&graph->nodes[i]);
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        count_tree(graph->children[i], counts);
}

struct graph_counts graph_counts(const struct graph *graph)
{
    struct graph_counts counts = { 0 };
    count_tree(graph, &counts);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        counts.inputs += node->op == NODE_PLACEHOLDER;
        if (node->op == NODE_OUTPUT)
            counts.outputs = node->n_args;
    }
    return counts;
}

uint32_t meta_symbolic_sizes(const struct graph *graph, const struct meta *meta)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < meta->n_sizes; i++)
        n += expr_at(&graph->pool->exprs, meta->sizes[i])->kind != EXPR_INT;
    return n;
}

void node_op_name(const struct node *node, struct buf *out)
{
    struct str target = node->target;
    if (node->op == NODE_CALL_METHOD)
        buf_puts(out, "Tensor.");
    else if (node->op == NODE_CALL_MODULE)
        buf_puts(out, "module ");
    else if (str_starts(target, STR("torch.ops.")))
        target = str_from(target, 10);
    buf_put(out, target);
}

struct str target_base_name(struct str target)
{
    size_t last = target.n, before = target.n;
    for (size_t i = 0; i < target.n; i++)
        if (target.p[i] == '.') {
            before = last;
            last = i;
        }
    if (str_starts(target, STR("torch.ops.")) && before < target.n)
        return (struct str){ target.p + before + 1, last - before - 1 };
    return str_from(target, last < target.n ? last + 1 : 0);
}

const struct graph *graph_child(const struct graph *graph, struct str name)
{
    for (uint32_t i = 0; i < graph->n_children; i++)
        if (str_eq(graph->children[i]->name, name))
            return graph->children[i];
    return NULL;
}

bool graph_has_symbol(const struct graph *graph, struct str symbol)
{
    const struct expr_pool *exprs = &graph->pool->exprs;
    for (size_t i = 0; i < exprs->exprs.n; i++)
        if (exprs->exprs.v[i].kind == EXPR_SYMBOL && str_eq(exprs->exprs.v[i].text, symbol))
            return true;
    return false;
}
