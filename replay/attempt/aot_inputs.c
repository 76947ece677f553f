#include "replay/attempt/aot_inputs.h"

#include "replay/program/traced.h"

static const struct meta *meta_of(const struct graph *graph, node_id node)
{
    uint32_t meta = graph->nodes[node].meta;
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

static bool is_input(const struct node *node)
{
    return node->op == NODE_PLACEHOLDER && !is_tangent(node);
}

static bool fits(const struct meta *from, const struct meta *to)
{
    return from && to && from->kind == to->kind && from->kind != META_OTHER &&
           from->dtype == to->dtype && from->n_sizes == to->n_sizes &&
           from->has_strides == to->has_strides && str_eq(from->device, to->device);
}

bool aot_index(struct str descriptor, struct str before, uint64_t *ret)
{
    struct str rest = str_from(descriptor, before.n);
    return str_starts(descriptor, before) &&
           str_to_u64(str_first(rest, str_find_char(rest, ')')), ret);
}

/* Finds the origin of each input: by its descriptor, or, in graphs of releases that print none, by
 * its ordinal. AOTAutograd leaves out inputs that are the same tensor as another, so that their
 * indices are missing between others; where it gets parts of Dynamo's graph (DDPOptimizer of
 * torch/_dynamo/backends/distributed.py), indices are missing at the end only. Returns whether the
 * inputs correspond. */
static bool find_inputs(struct aot_inputs *inputs, const struct graph *dynamo,
                        const struct graph *aot)
{
    uint64_t n = 0, index = 0, expected = 0;
    bool has_gap = false;
    for (node_id i = 0; i < aot->n_nodes; i++) {
        if (!is_input(&aot->nodes[i]))
            continue;
        index = n++;
        if (aot->nodes[i].descriptor.n &&
            !aot_index(aot->nodes[i].descriptor, STR("PlainAOTInput(idx="), &index))
            continue;
        has_gap |= index > expected;
        expected = index + 1;
        if (index >= inputs->inputs.n)
            continue;
        if (!fits(meta_of(dynamo, inputs->inputs.v[index]), meta_of(aot, i)))
            return false;
        inputs->origins.v[i] = inputs->inputs.v[index];
    }
    return n >= inputs->inputs.n || has_gap;
}

/* Finds the output of each tangent by its descriptor, or in the order of the outputs. */
static void find_outputs(struct aot_inputs *inputs, const struct graph *dynamo,
                         const struct graph *aot)
{
    const struct node *output = dynamo->n_nodes ? &dynamo->nodes[dynamo->n_nodes - 1] : NULL;
    if (!output || output->op != NODE_OUTPUT)
        return;
    const struct arg *args = node_args(dynamo, output);
    uint64_t next = 0;
    for (node_id i = 0; i < aot->n_nodes; i++) {
        const struct node *node = &aot->nodes[i];
        if (!is_tangent(node))
            continue;
        uint64_t at = next, end = output->n_args;
        if (node->descriptor.n) {
            if (!aot_index(node->descriptor, STR("TangentAOTInput(output=PlainAOTOutput(idx="),
                           &at))
                continue;
            end = at < end ? at + 1 : end;
        }
        while (at < end && !(args[at].kind == ARG_NODE && args[at].u.node < dynamo->n_nodes &&
                             fits(meta_of(dynamo, args[at].u.node), meta_of(aot, i))))
            at++;
        if (at < end)
            inputs->origins.v[i] = args[at].u.node;
        next = at + 1;
    }
}

bool aot_inputs_set(struct aot_inputs *inputs, const struct graph *dynamo, const struct graph *aot)
{
    inputs->dynamo = NULL;
    inputs->inputs.n = inputs->origins.n = inputs->metas.n = 0;
    inputs->lookups = 0;
    if (!dynamo)
        return true;
    for (node_id i = 0; i < dynamo->n_nodes; i++)
        if (is_input(&dynamo->nodes[i]) && !vec_push(&inputs->inputs, i))
            return false;
    for (node_id i = 0; i < aot->n_nodes; i++)
        if (!vec_push(&inputs->origins, NODE_NONE))
            return false;
    if (!find_inputs(inputs, dynamo, aot))
        return true;
    find_outputs(inputs, dynamo, aot);
    inputs->dynamo = dynamo;
    return true;
}

node_id aot_inputs_find(const struct aot_inputs *inputs, node_id node)
{
    return inputs->dynamo && node < inputs->origins.n ? inputs->origins.v[node] : NODE_NONE;
}

const node_id *aot_inputs_origins(const struct aot_inputs *inputs)
{
    return inputs->dynamo ? inputs->origins.v : NULL;
}

const struct expected *aot_inputs_meta(struct aot_inputs *inputs, struct ops *ops, node_id node,
                                       sym_resolver *symbol, void *user, struct arena *arena)
{
    uint32_t meta = inputs->dynamo->nodes[node].meta;
    if (meta == META_NONE)
        return expected_read(ops, inputs->dynamo, meta, symbol, user, arena);
    while (inputs->metas.n <= meta)
        if (!vec_push(&inputs->metas, NULL))
            return NULL;
    const struct expected **known = &inputs->metas.v[meta];
    if (!*known)
        *known = expected_read(ops, inputs->dynamo, meta, symbol, user, arena);
    return *known;
}

enum { MAX_LOOKUPS = 64 }; /* each reads the graph's inputs */

/* A symbol of a size in Dynamo's graph that is not in the size which the joint graph prints. */
struct lost_symbol {
    struct sym_pool *pool;
    const struct program *program;
    sym_id printed;
    bool is_input; /* and an input of the joint graph is still printed as that symbol */
};

static void look_for_input(void *user, sym_id symbol)
{
    struct lost_symbol *lost = user;
    const struct program *p = lost->program;
    if (sym_has(lost->pool, lost->printed, symbol))
        return;
    for (uint32_t i = 0; i < p->n_steps && !lost->is_input; i++)
        lost->is_input = p->steps[i].kind == STEP_INPUT &&
                         p->steps[i].expected->kind == EXPECT_NUMBER &&
                         p->steps[i].expected->number == symbol;
}

bool aot_inputs_differ(struct aot_inputs *inputs, struct sym_pool *pool,
                       const struct program *program, const struct expected *before,
                       const struct expected *printed, bool *ok)
{
    struct lost_symbol lost = { .pool = pool, .program = program };
    if (before->kind != EXPECT_TENSOR || printed->kind != EXPECT_TENSOR ||
        before->ndim != printed->ndim)
        return false;
    for (uint32_t d = 0; d < before->ndim && *ok && !lost.is_input; d++) {
        lost.printed = printed->size[d];
        if (before->size[d] != lost.printed && inputs->lookups++ < MAX_LOOKUPS)
            *ok = sym_free_symbols(pool, before->size[d], look_for_input, &lost);
    }
    return lost.is_input;
}

void aot_inputs_release(struct aot_inputs *inputs)
{
    vec_release(&inputs->metas);
    vec_release(&inputs->inputs);
    vec_release(&inputs->origins);
}
