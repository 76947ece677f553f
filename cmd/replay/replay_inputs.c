/* replay --backend: where inputs and sizes come from. */
#include "cmd/replay/replay_run.h"
#include "cmd/replay/replay_session.h"
#include "replay/backend/values/weights.h"
#include "trace/pt2/signature.h"

static bool is_users(const struct input_spec *spec)
{
    return spec->kind == INPUT_USER || spec->kind == INPUT_CONSTANT;
}

static uint32_t count_inputs(const struct graph *graph)
{
    uint32_t n = 0;
    const struct graph_signature *signature = graph->signature;
    for (uint32_t i = 0; signature && i < signature->n_inputs; i++)
        n += is_users(&signature->inputs[i]);
    for (node_id id = 0; !signature && id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_PLACEHOLDER;
    return n;
}

/* A tensor of the file stands for a tensor of that dtype and rank, and each of these has one. */
static bool check_given(const struct graph_run *g, const struct node *node, const char *name,
                        const struct array *given, struct err *err)
{
    const char *file = g->session->args->inputs;
    const struct meta *meta = node->meta == META_NONE ? NULL : &g->graph->pool->metas[node->meta];
    if (!meta || meta->kind != META_TENSOR)
        return true;
    if (!given)
        return err_set(err, ERR_INPUT, "%s: no %s, for input %.*s", file, name,
                       STR_ARG(node->name));
    if (given->dtype != meta->dtype)
        return err_set(err, ERR_INPUT, "%s: %s is %s, and input %.*s is %s", file, name,
                       dtype_short_name(given->dtype), STR_ARG(node->name),
                       dtype_short_name(meta->dtype));
    return given->ndim == meta->n_sizes ||
           err_set(err, ERR_INPUT, "%s: %s has %u dimensions, and input %.*s has %u", file, name,
                   given->ndim, STR_ARG(node->name), meta->n_sizes);
}

/* A user's input by its number among them, a parameter or buffer by its name in the archive. */
bool replay_give_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                       struct err *err)
{
    struct graph_run *g = user;
    const struct session *s = g->session;
    const struct graph_signature *signature = g->graph->signature;
    uint32_t number = i;
    char name[512];
    (void)node;
    if (signature && i < signature->n_inputs) {
        if (!is_users(&signature->inputs[i]))
            return !g->weights || weights_find(g->weights, signature->inputs[i].target, ret, err);
        number = 0;
        for (uint32_t j = 0; j < i; j++)
            number += is_users(&signature->inputs[j]);
    }
    if (!s->inputs)
        return true;
    snprintf(name, sizeof name, "%s%u", s->args->input_prefix ? s->args->input_prefix : "in.",
             number);
    bool found = safetensors_find(s->inputs, str_of(name), ret);
    return check_given(g, node, name, found ? ret : NULL, err);
}

bool replay_check_inputs(const struct graph_run *g, struct err *err)
{
    const struct session *s = g->session;
    struct str prefix = str_of(s->args->input_prefix ? s->args->input_prefix : "in.");
    uint32_t n = count_inputs(g->graph);
    for (size_t i = 0; s->inputs && i < safetensors_count(s->inputs); i++) {
        struct str name = safetensors_name(s->inputs, i);
        uint64_t number;
        if (str_starts(name, prefix) && str_to_u64(str_from(name, prefix.n), &number) &&
            number >= n)
            return err_set(err, ERR_INPUT, "%s: %.*s: the graph takes %u inputs", s->args->inputs,
                           STR_ARG(name), n);
    }
    return true;
}

void replay_note_weights(const struct graph_run *g)
{
    const struct graph_signature *signature = g->graph->signature;
    struct err ignored = { 0 };
    uint32_t n = 0;
    for (uint32_t i = 0; signature && i < signature->n_inputs; i++) {
        struct array found = { 0 };
        const struct input_spec *spec = &signature->inputs[i];
        if (spec->kind != INPUT_PARAMETER && spec->kind != INPUT_BUFFER &&
            spec->kind != INPUT_TENSOR_CONSTANT)
            continue;
        n += !g->weights || !weights_find(g->weights, spec->target, &found, &ignored) || !found.p;
    }
    if (n)
        out_note(g->session->cmd->out,
                 "%.*s: %u weights are not at hand: random numbers stand for them",
                 STR_ARG(buf_str(&g->name)), n);
}

static bool gather_sizes(struct graph_run *g, size_t point, struct run_options *options,
                         struct err *err)
{
    const struct size_grid *grid = &g->session->grid;
    struct run_size *sizes = arena_array(&g->arena, struct run_size, grid->n_symbols + 1);
    if (!sizes)
        return err_nomem(err);
    for (size_t i = 0; i < grid->n_symbols; i++) {
        int64_t value = size_grid_row(grid, point)[i];
        if (value != GRID_ANY)
            sizes[options->n_sizes++] = (struct run_size){ grid->symbols[i], value };
    }
    options->sizes = sizes;
    return true;
}

/* Gathered once: many sizes are run under the same. */
static bool gather_recorded(struct graph_run *g, struct run_options *options, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    if (!s->has_recorded || s->recorded_ref != g->ref) {
        s->recorded = (struct run_options){ 0 };
        if (!replay_recorded(s->trace, ref->record, ref->attempt, &s->arena, &s->recorded, err))
            return false;
        s->has_recorded = true;
        s->recorded_ref = g->ref;
    }
    options->symbols = s->recorded.symbols;
    options->n_symbols = s->recorded.n_symbols;
    options->guards = s->recorded.guards;
    options->n_guards = s->recorded.n_guards;
    return true;
}

bool replay_gather_symbols(struct graph_run *g, size_t point, struct run_options *options,
                           struct err *err)
{
    return gather_recorded(g, options, err) && gather_sizes(g, point, options, err);
}
