#include "replay/attempt/aot_inputs.h"

static const struct meta *meta_of(const struct graph *graph, node_id node)
{
    uint32_t meta = graph->nodes[node].meta;
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

static bool is_input(const struct node *node)
{
    return node->op == NODE_PLACEHOLDER && !str_starts(node->name, STR("tangents_"));
}

static bool fits(const struct meta *from, const struct meta *to)
{
    return from && to && from->kind == to->kind && from->kind != META_OTHER &&
           from->dtype == to->dtype && from->n_sizes == to->n_sizes &&
           from->has_strides == to->has_strides && str_eq(from->device, to->device);
}

bool aot_inputs_set(struct aot_inputs *inputs, const struct graph *dynamo, const struct graph *aot)
{
    inputs->dynamo = NULL;
    inputs->nodes.n = inputs->ordinals.n = 0;
    if (!dynamo)
        return true;
    for (node_id i = 0; i < dynamo->n_nodes; i++)
        if (is_input(&dynamo->nodes[i]) && !vec_push(&inputs->nodes, i))
            return false;
    uint32_t n = 0;
    for (node_id i = 0; i < aot->n_nodes; i++) {
        uint32_t ordinal = is_input(&aot->nodes[i]) ? n++ : UINT32_MAX;
        if (ordinal < inputs->nodes.n &&
            !fits(meta_of(dynamo, inputs->nodes.v[ordinal]), meta_of(aot, i)))
            return true;
        if (!vec_push(&inputs->ordinals, ordinal))
            return false;
    }
    if (n >= inputs->nodes.n)
        inputs->dynamo = dynamo;
    return true;
}

node_id aot_inputs_find(const struct aot_inputs *inputs, node_id node)
{
    uint32_t ordinal = node < inputs->ordinals.n ? inputs->ordinals.v[node] : UINT32_MAX;
    return inputs->dynamo && ordinal < inputs->nodes.n ? inputs->nodes.v[ordinal] : NODE_NONE;
}

void aot_inputs_release(struct aot_inputs *inputs)
{
    vec_release(&inputs->nodes);
    vec_release(&inputs->ordinals);
}
