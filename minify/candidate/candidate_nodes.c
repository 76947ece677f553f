/* Functions on single nodes for edits. */
#include "minify/candidate/candidate_data.h"

static void argument_references(const struct graph *graph, const struct arg *arg,
                                void (*fn)(void *user, node_id id), void *user)
{
    switch (arg->kind) {
    case ARG_NODE: fn(user, arg->u.node); break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
    case ARG_SLICE:
    case ARG_CALL:
        for (uint32_t i = 0; i < arg->u.items.n; i++)
            argument_references(graph, &graph->args[arg->u.items.first + i], fn, user);
        break;
    default: break;
    }
}

void node_references(const struct graph *graph, const struct node *node,
                     void (*fn)(void *user, node_id id), void *user)
{
    for (uint32_t i = 0; i < node->n_args; i++)
        argument_references(graph, &graph->args[node->first_arg + i], fn, user);
}

bool node_writes(const struct graph *graph, const struct node *node)
{
    if (node->op != NODE_CALL_FUNCTION && node->op != NODE_CALL_METHOD)
        return false;
    if (node->form == FORM_SETITEM || node->form == FORM_INPLACE)
        return true;
    struct str name = target_base_name(node->target);
    bool by_name = name.n > 1 && name.p[name.n - 1] == '_' && name.p[name.n - 2] != '_';
    if (by_name || str_is(node->target, "operator.setitem"))
        return node->n_args > 0;
    for (uint32_t i = 0; i < node->n_args; i++)
        if (str_is(graph->args[node->first_arg + i].key, "out"))
            return true;
    return false;
}

bool graph_writes(const struct graph *graph)
{
    bool ret = false;
    for (uint32_t i = 0; i < graph->n_nodes && !ret; i++)
        ret = node_writes(graph, &graph->nodes[i]);
    return ret;
}

bool node_is_getitem(const struct graph *graph, const struct node *node)
{
    const struct arg *args = node_args(graph, node);
    return node->op == NODE_CALL_FUNCTION && str_is(node->target, "operator.getitem") &&
           node->n_args == 2 && args[0].kind == ARG_NODE && args[1].kind == ARG_INT;
}

bool node_is_value(const struct graph *graph, const struct node *node)
{
    const struct meta *meta = node_meta(graph, node);
    return meta && (meta->kind == META_TENSOR || meta->kind == META_SYM);
}
