/* Runs one graph at one point of the sizes: checks its memory, runs it, and keeps the results. */
#include <string.h>

#include "cmd/cli/nearest.h"
#include "cmd/run/run_recorded.h"
#include "cmd/run/run_session.h"
#include "replay/backend/compare/perturb.h"
#include "replay/backend/measure/memory_needs.h"
#include "replay/backend/values/samples.h"

const char *run_outcome_name(enum run_outcome outcome)
{
    static const char *const names[] = { "agrees", "differs", "refused", "failed" };
    return names[outcome];
}

/* ---- The values of the tested run ---- */

static bool is_saved(const struct saved_nodes *save, const struct node *node)
{
    if (save->all || (save->inputs && node->op == NODE_PLACEHOLDER))
        return true;
    for (size_t i = 0; i < save->n; i++)
        if (str_eq(save->names[i], node->name))
            return true;
    return false;
}

static bool save_node(struct graph_run *g, struct run *run, struct str name, struct tensor x,
                      struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array a;
    bool ok = run_array(run, x, &arena, &a, err) &&
              samples_add(g->saved, name, &a, g->session->args->samples.value, &arena, err);
    arena_release(&arena);
    return ok;
}

static bool save_or_perturb_node(void *user, struct run *run, const struct step *step,
                                 const struct value *value, struct err *err)
{
    struct graph_run *g = user;
    const struct session *s = g->session;
    const struct node *node = &g->graph->nodes[step->node];
    if (value->kind != VALUE_TENSOR)
        return true;
    if (s->perturb.node.n && str_eq(s->perturb.node, node->name) &&
        !run_perturb(run, value->u.tensor, s->perturb.epsilon, err))
        return false;
    return !g->saved || !is_saved(&s->save, node) ||
           save_node(g, run, node->name, value->u.tensor, err);
}

static bool save_output(void *user, struct str name, const struct array *values, struct err *err)
{
    struct graph_run *g = user;
    return value_file_add(g->saved, name, values, err);
}

static bool keep_figures(void *user, struct run *run, struct err *err)
{
    struct graph_run *g = user;
    g->calls = run->calls;
    g->peak = run->exec.storages.peak;
    g->symbols = arena_array(&g->arena, struct run_size, run->n_symbols + 1);
    if (!g->symbols)
        return err_nomem(err);
    for (size_t i = 0; i < run->n_symbols; i++)
        g->symbols[g->n_symbols++] =
            (struct run_size){ arena_copy(&g->arena, run->symbols[i].symbol),
                               run->symbols[i].value };
    return !run->exec.storages.noting || peak_of(&run->exec.storages, &g->arena, &g->holders, err);
}

/* ---- Inputs, symbols and sizes ---- */

static bool read_given_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                             struct err *err)
{
    const struct graph_run *g = user;
    return given_input(&g->inputs, i, node, ret, err);
}

bool session_sizes(const struct session *s, size_t point, struct arena *arena,
                   struct run_options *options, struct err *err)
{
    const struct size_grid *grid = &s->grid;
    if (s->chosen) {
        options->sizes = s->chosen;
        options->n_sizes = s->n_chosen;
        return true;
    }
    struct run_size *sizes = arena_array(arena, struct run_size, grid->n_symbols + 1);
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

/* Reads the recorded release, symbols and guards once for a graph, which may be run at many sizes.
 */
static bool gather_recorded(struct graph_run *g, struct run_options *options, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    if (!s->has_recorded || s->recorded_ref != g->ref) {
        s->recorded = (struct run_options){ 0 };
        if (!run_recorded(s->trace, ref->record, ref->attempt, &s->arena, &s->recorded, err))
            return false;
        s->has_recorded = true;
        s->recorded_ref = g->ref;
    }
    options->torch = s->recorded.torch;
    options->symbols = s->recorded.symbols;
    options->n_symbols = s->recorded.n_symbols;
    options->guards = s->recorded.guards;
    options->n_guards = s->recorded.n_guards;
    return true;
}

/* ---- Before the run ---- */

static void note_violation(void *user, struct str text)
{
    struct graph_run *g = user;
    if (session_prints_notes(g->session))
        out_note(g->session->cmd->out, "%.*s: %.*s; running anyway (--ignore-guards)",
                 STR_ARG(buf_str(&g->name)), STR_ARG(text));
}

static bool check_memory(struct graph_run *g, struct backend *backend, struct run_options options,
                         struct err *err)
{
    struct err why = { 0 };
    options.backend = backend;
    if (!backend || run_fits(g->graph, &options, &why))
        return true;
    if (why.kind != ERR_ENV || !g->session->args->ignore_guards) {
        g->too_large = why.kind == ERR_ENV && !why.no_memory;
        *err = why;
        return false;
    }
    if (session_prints_notes(g->session))
        out_note(g->session->cmd->out, "%.*s: %s; running anyway (--ignore-guards)",
                 STR_ARG(buf_str(&g->name)), why.text);
    return true;
}

static void note_weights(const struct graph_run *g)
{
    uint32_t n = given_inputs_missing(&g->inputs);
    if (n && session_prints_notes(g->session) && !g->session->pair.tested_kind->shapes_only)
        out_note(g->session->cmd->out,
                 "%.*s: %u weights are not at hand: random numbers stand for them",
                 STR_ARG(buf_str(&g->name)), n);
}

static bool check_node_option(const struct graph *graph, const char *option, struct str name,
                              struct err *err)
{
    struct nearest search = nearest_of(name);
    char hint[NEAREST_TEXT];
    for (node_id id = 0; id < graph->n_nodes; id++) {
        if (str_eq(graph->nodes[id].name, name))
            return true;
        nearest_offer(&search, graph->nodes[id].name);
    }
    return err_set(err, ERR_USAGE, "%s: no node %.*s%s", option, STR_ARG(name),
                   search.best.n ? nearest_text(&search, hint)
                                 : "; symtape show --graph prints the nodes");
}

static bool check_nodes(const struct graph_run *g, struct err *err)
{
    const struct session *s = g->session;
    for (size_t i = 0; i < s->save.n; i++)
        if (!check_node_option(g->graph, "--save-nodes", s->save.names[i], err))
            return false;
    return !s->perturb.node.n || check_node_option(g->graph, "--perturb", s->perturb.node, err);
}

static bool prepare_run(struct graph_run *g, size_t point, struct run_options *options,
                        struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    const struct run_args *args = s->args;
    selector_print_graph(s->trace, s->list, g->ref, &g->name);
    if (g->name.failed)
        return err_nomem(err);
    g->graph = trace_graph(s->trace, g->ref, err);
    s->running = g->graph;
    s->running_name = buf_str(&g->name);
    g->inputs = (struct given_inputs){ .graph = g->graph,
                                       .file = s->inputs,
                                       .path = args->inputs,
                                       .prefix = args->input_prefix ? args->input_prefix : "in." };
    if (!g->graph || (g->misused = !check_nodes(g, err)) || !given_inputs_check(&g->inputs, err) ||
        !gather_recorded(g, options, err) || !session_sizes(s, point, &g->arena, options, err))
        return false;
    g->inputs.weights = weights_open(s->trace, s->trace->records[ref->record].recording, err);
    if (err_is_set(err) || !graph_run_schedule(g, point, err))
        return false;
    note_weights(g);
    return check_memory(g, s->pair.reference, *options, err) &&
           (s->pair.tested == s->pair.reference || check_memory(g, s->pair.tested, *options, err));
}

bool graph_run_begin(struct graph_run *g, struct session *s, uint32_t ref, size_t point,
                     struct run_options *options)
{
    *g = (struct graph_run){ .session = s, .ref = ref, .compares = s->args->compare != NULL };
    *options = (struct run_options){ .operators = s->operators,
                                     .input = read_given_input,
                                     .user = g,
                                     .violated = s->args->ignore_guards ? note_violation : NULL,
                                     .refusal = &g->refusal,
                                     .device_sizes = s->args->device_sizes,
                                     .replicated = s->job ? is_replicated_input : NULL,
                                     .replicated_seed = s->seed - s->rank,
                                     .seed = s->seed };
    if ((s->args->profile || s->warming) && !s->job) {
        kept_inputs_of(&s->kept, s->pair.tested, ref);
        options->kept = &s->kept;
    }
    return prepare_run(g, point, options, &g->err);
}

/* ---- The run ---- */

/* Opens the file of --outputs. Values are collected in the folder of the final file, whose disk
 * must have enough space. */
static struct value_file *new_file(const char *outputs, struct err *err)
{
    char folder[4096];
    const char *slash = strrchr(outputs, '/');
    if (!slash || (size_t)(slash - outputs) >= sizeof folder)
        return value_file_new(strcmp(outputs, "-") == 0 ? NULL : ".", err);
    snprintf(folder, sizeof folder, "%.*s/", (int)(slash - outputs), outputs);
    return value_file_new(folder, err);
}

static bool run_backends(struct graph_run *g, const struct run_options *options, struct err *err)
{
    struct session *s = g->session;
    const struct run_args *args = s->args;
    const struct comparison_options compare = {
        .file = s->expected,
        .nodes = args->nodes,
        .factor = s->factor,
        .tf32 = args->tf32,
        .limit = args->limit.given ? (uint32_t)args->limit.value : 10,
    };
    struct compared_run run = {
        .pair = &s->pair,
        .graph = g->graph,
        .options = *options,
        .compare = g->compares ? &compare : NULL,
        .prefix = args->compare_prefix ? args->compare_prefix : "out.",
        .notes_memory = s->pair.tested_kind->shapes_only,
        .finished = keep_figures,
        .user = g,
    };
    if (args->outputs && !(g->saved = new_file(args->outputs, err)))
        return false;
    if (session_changes_or_saves(s))
        run.node = save_or_perturb_node;
    if (g->saved)
        run.output = save_output;
    bool ok = compare_runs(&run, &g->comparison, err);
    g->unsupported = run.unsupported;
    return ok && (!g->saved || (value_file_seal(g->saved, err) &&
                                value_file_write(g->saved, args->outputs, err)));
}

bool graph_run_execute(struct graph_run *g, struct session *s, uint32_t ref, size_t point)
{
    struct run_options options;
    return graph_run_begin(g, s, ref, point, &options) && run_backends(g, &options, &g->err);
}

void graph_run_release(struct graph_run *g)
{
    comparison_release(&g->comparison);
    timing_free(g->timing);
    value_file_free(g->saved);
    weights_close(g->inputs.weights);
    buf_release(&g->name);
    buf_release(&g->refusal);
    arena_release(&g->arena);
}

/* ---- Outcomes ---- */

enum run_outcome graph_run_outcome(const struct graph_run *g)
{
    if (err_is_set(&g->err))
        return g->err.kind == ERR_USAGE ? RUN_REFUSED : RUN_FAILED;
    return g->comparison.differs ? RUN_DIFFERS : RUN_AGREES;
}

void graph_run_count(const struct graph_run *g)
{
    struct run_totals *t = &g->session->totals;
    enum run_outcome outcome = graph_run_outcome(g);
    if (g->misused)
        return;
    t->outcomes[outcome]++;
    t->peak = g->peak > t->peak ? g->peak : t->peak;
    if (outcome == RUN_DIFFERS && !t->first_graph.n)
        buf_put(&t->first_graph, buf_str(&g->name));
    if (outcome == RUN_REFUSED && !t->refusal.n)
        buf_put(&t->refusal, buf_str(&g->refusal));
}
