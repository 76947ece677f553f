#include "replay/backend/run/saved_values.h"

static bool add_number(struct run *run, struct str name, struct value value, struct value_file *to,
                       struct err *err)
{
    int64_t number;
    if (!sym_to_i64(ops_pool(run->ops), value.u.sym, &number))
        return true;
    return value_file_add(
        to, name, &(struct array){ .dtype = DTYPE_I64, .p = &number, .bytes = sizeof number }, err);
}

static bool add_output(struct run *run, struct str name, struct value value, struct value_file *to,
                       struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array array;
    if (value.kind == VALUE_INT)
        return add_number(run, name, value, to, err);
    if (value.kind != VALUE_TENSOR)
        return true;
    bool ok = run_array(run, value.u.tensor, &arena, &array, err) &&
              value_file_add(to, name, &array, err);
    arena_release(&arena);
    return ok;
}

bool saved_values_add(struct run *run, struct value_file *to, struct err *err)
{
    const struct graph *graph = run->graph;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        if (node->op != NODE_OUTPUT)
            continue;
        const struct arg *args = node_args(graph, node);
        for (uint32_t i = 0; i < node->n_args && i < run->n_outputs; i++)
            if (args[i].kind == ARG_NODE &&
                !add_output(run, graph->nodes[args[i].u.node].name, run->outputs[i], to, err))
                return false;
    }
    return true;
}

void saved_values_find(const struct value_file *saved, const struct graph *graph,
                       const struct node *node, struct array *ret)
{
    struct array found;
    if (node->meta == META_NONE || !value_file_find(saved, node->name, &found))
        return;
    const struct meta *meta = &graph->pool->metas[node->meta];
    bool number = meta->kind == META_SYM && found.ndim == 0 && found.dtype == DTYPE_I64;
    bool tensor =
        meta->kind == META_TENSOR && found.dtype == meta->dtype && found.ndim == meta->n_sizes;
    if (number || tensor)
        *ret = found;
}
