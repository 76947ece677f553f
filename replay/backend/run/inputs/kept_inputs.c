#include "replay/backend/run/inputs/kept_inputs.h"

#include "replay/backend/call/backend.h"

static void free_input(struct kept_inputs *kept, struct kept_input *input)
{
    if (!input->memory.p)
        return;
    kept->bytes -= input->memory.bytes;
    kept->backend->kind->release(kept->backend, &input->memory);
    input->memory = (struct memory){ 0 };
}

void kept_inputs_release(struct kept_inputs *kept)
{
    for (size_t i = 0; i < kept->by_node.n; i++)
        free_input(kept, &kept->by_node.v[i]);
    vec_release(&kept->by_node);
    *kept = (struct kept_inputs){ .backend = NULL };
}

void kept_inputs_of(struct kept_inputs *kept, struct backend *backend, uint32_t graph)
{
    if (kept->backend == backend && kept->graph == graph)
        return;
    kept_inputs_release(kept);
    kept->backend = backend;
    kept->graph = graph;
}

struct memory kept_inputs_take(struct kept_inputs *kept, node_id node, struct input_need need,
                               uint64_t seed)
{
    if (node >= kept->by_node.n)
        return (struct memory){ .p = NULL };
    struct kept_input *input = &kept->by_node.v[node];
    if (input->need.kind != need.kind || input->need.number != need.number || input->seed != seed)
        free_input(kept, input);
    const struct memory ret = input->memory;
    kept->bytes -= ret.bytes;
    input->memory = (struct memory){ 0 };
    return ret;
}

void kept_inputs_put(struct kept_inputs *kept, node_id node, struct kept_input input)
{
    while (kept->by_node.n <= node)
        if (!vec_push(&kept->by_node, (struct kept_input){ .seed = 0 })) {
            kept->backend->kind->release(kept->backend, &input.memory);
            return;
        }
    free_input(kept, &kept->by_node.v[node]);
    kept->by_node.v[node] = input;
    kept->bytes += input.memory.bytes;
}
