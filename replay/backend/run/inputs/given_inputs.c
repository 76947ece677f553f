#include "replay/backend/run/inputs/given_inputs.h"

#include <stdio.h>

#include "trace/pt2/signature.h"

static bool is_users(const struct input_spec *spec)
{
    return spec->kind == INPUT_USER || spec->kind == INPUT_CONSTANT;
}

static uint32_t count_user_inputs(const struct graph *graph)
{
    uint32_t n = 0;
    const struct graph_signature *signature = graph->signature;
    for (uint32_t i = 0; signature && i < signature->n_inputs; i++)
        n += is_users(&signature->inputs[i]);
    for (node_id id = 0; !signature && id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_PLACEHOLDER;
    return n;
}

/* Returns what the user calls an input: a leaf of an argument's pytree, or the placeholder. */
static struct str name_of(const struct graph_signature *signature, uint32_t i,
                          const struct node *node)
{
    bool named = signature && i < signature->n_inputs && signature->inputs[i].source.n;
    return named ? signature->inputs[i].source : node->name;
}

/* Checks that the file's tensor has the dtype and rank of the graph's input. */
static bool check_given(const struct given_inputs *given, uint32_t i, const struct node *node,
                        const char *name, const struct array *array, struct err *err)
{
    struct str input = name_of(given->graph->signature, i, node);
    const struct meta *meta =
        node->meta == META_NONE ? NULL : &given->graph->pool->metas[node->meta];
    if (!meta || meta->kind != META_TENSOR)
        return true;
    if (!array)
        return err_set(err, ERR_INPUT, "%s: no %s, for input %.*s", given->path, name,
                       STR_ARG(input));
    if (array->dtype != meta->dtype)
        return err_set(err, ERR_INPUT, "%s: %s is %s, and input %.*s is %s", given->path, name,
                       dtype_short_name(array->dtype), STR_ARG(input),
                       dtype_short_name(meta->dtype));
    return array->ndim == meta->n_sizes ||
           err_set(err, ERR_INPUT, "%s: %s has %u dimensions, and input %.*s has %u", given->path,
                   name, array->ndim, STR_ARG(input), meta->n_sizes);
}

bool given_input(const struct given_inputs *given, uint32_t i, const struct node *node,
                 struct array *ret, struct err *err)
{
    const struct graph_signature *signature = given->graph->signature;
    uint32_t number = i;
    char name[512];
    if (signature && i < signature->n_inputs) {
        if (!is_users(&signature->inputs[i]))
            return !given->weights ||
                   weights_find(given->weights, signature->inputs[i].target, ret, err);
        number = 0;
        for (uint32_t j = 0; j < i; j++)
            number += is_users(&signature->inputs[j]);
    }
    if (given->schedule && !graph_schedule_input(given->schedule, given->stage, node, ret, err))
        return false;
    if (!given->file)
        return true;
    snprintf(name, sizeof name, "%s%u", given->prefix, number);
    bool found = safetensors_find(given->file, str_of(name), ret);
    return check_given(given, i, node, name, found ? ret : NULL, err);
}

bool given_inputs_check(const struct given_inputs *given, struct err *err)
{
    struct str prefix = str_of(given->prefix);
    uint32_t n = count_user_inputs(given->graph);
    for (size_t i = 0; given->file && i < safetensors_count(given->file); i++) {
        struct str name = safetensors_name(given->file, i);
        uint64_t number;
        if (str_starts(name, prefix) && str_to_u64(str_from(name, prefix.n), &number) &&
            number >= n)
            return err_set(err, ERR_INPUT, "%s: %.*s: the graph takes %u inputs", given->path,
                           STR_ARG(name), n);
    }
    return true;
}

uint32_t given_inputs_missing(const struct given_inputs *given)
{
    const struct graph_signature *signature = given->graph->signature;
    struct err ignored = { 0 };
    uint32_t n = 0;
    for (uint32_t i = 0; signature && i < signature->n_inputs; i++) {
        struct array found = { 0 };
        const struct input_spec *spec = &signature->inputs[i];
        if (spec->kind == INPUT_PARAMETER || spec->kind == INPUT_BUFFER ||
            spec->kind == INPUT_TENSOR_CONSTANT)
            n += !given->weights || !weights_find(given->weights, spec->target, &found, &ignored) ||
                 !found.p;
    }
    return n;
}
