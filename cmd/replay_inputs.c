/* replay --backend: where inputs and sizes come from. */
#include "cmd/replay_run.h"
#include "cmd/replay_session.h"
#include "replay/backend/weights.h"
#include "trace/pt2/signature.h"

static bool is_users(const struct input_spec *spec)
{
    return spec->kind == INPUT_USER || spec->kind == INPUT_CONSTANT;
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
    safetensors_find(s->inputs, str_of(name), ret);
    return true;
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
    options->premises = s->recorded.premises;
    options->n_premises = s->recorded.n_premises;
    return true;
}

bool replay_gather_symbols(struct graph_run *g, size_t point, struct run_options *options,
                           struct err *err)
{
    return gather_recorded(g, options, err) && gather_sizes(g, point, options, err);
}
