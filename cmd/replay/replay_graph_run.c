/* replay --backend: one graph, on one backend or two, and what it leaves. */
#include <string.h>

#include "cmd/replay/replay_session.h"
#include "replay/backend/compare/perturb.h"
#include "replay/backend/measure/memory_needs.h"
#include "replay/backend/values/samples.h"
#include "replay/backend/values/weights.h"
#include "trace/pt2/signature.h"

/* Is output i one that the user gets? Its number among those. */
static bool user_output(const struct graph *graph, uint32_t i, uint32_t *number)
{
    const struct graph_signature *signature = graph->signature;
    *number = i;
    if (!signature)
        return true;
    *number = 0;
    for (uint32_t j = 0; j < i && j < signature->n_outputs; j++)
        *number += signature->outputs[j].kind == OUTPUT_USER;
    return i < signature->n_outputs && signature->outputs[i].kind == OUTPUT_USER;
}

/* ---- As each node has its value ---- */

static bool is_saved(const struct session *s, const struct node *of, struct str node)
{
    if (s->save_all || (s->save_inputs && of->op == NODE_PLACEHOLDER))
        return true;
    for (size_t i = 0; i < s->n_save; i++)
        if (str_eq(s->save[i], node))
            return true;
    return false;
}

static bool save(struct graph_run *g, struct run *run, struct str name, struct tensor x,
                 struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array a;
    bool ok = run_array(run, x, &arena, &a, err) &&
              samples_add(g->saved, name, &a, g->session->args->samples.value, &arena, err);
    arena_release(&arena);
    return ok;
}

static bool look_at_node(void *user, struct run *run, const struct step *step,
                         const struct value *value, struct err *err)
{
    struct graph_run *g = user;
    struct str name = g->graph->nodes[step->node].name;
    bool tensor = value->kind == VALUE_TENSOR;
    if (tensor && g->session->perturb.node.n && str_eq(g->session->perturb.node, name) &&
        !run_perturb(run, value->u.tensor, g->session->perturb.by, err))
        return false;
    if (tensor && g->saved && is_saved(g->session, &g->graph->nodes[step->node], name) &&
        !save(g, run, name, value->u.tensor, err))
        return false;
    return !g->compares || comparison_check(&g->comparison, run, step, value, err);
}

/* ---- Outputs ---- */

/* Of the reference: kept. Of the tested run: compared, and written where that is asked for. */
static bool look_at_output(struct graph_run *g, struct run *run, uint32_t i, bool reference,
                           struct err *err)
{
    const char *prefix = g->session->args->against_prefix;
    struct arena arena = ARENA_INIT;
    struct array a;
    uint32_t number;
    char name[512];
    if (!user_output(g->graph, i, &number) || run->outputs[i].kind != VALUE_TENSOR ||
        (!reference && !g->compares && !g->saved))
        return true;
    snprintf(name, sizeof name, "%s%u", prefix ? prefix : "out.", number);
    bool ok = run_array(run, run->outputs[i].u.tensor, &arena, &a, err);
    if (reference)
        ok = ok && comparison_expect_output(&g->comparison, str_of(name), &a, err);
    if (!reference && g->compares)
        ok = ok && comparison_check_output(&g->comparison, run, i, str_of(name), &a, err);
    if (!reference && g->saved)
        ok = ok && value_file_add(g->saved, str_of(name), &a, err);
    arena_release(&arena);
    return ok;
}

static bool look_at_outputs(struct graph_run *g, struct run *run, bool reference, struct err *err)
{
    for (uint32_t i = 0; i < run->n_outputs; i++)
        if (!look_at_output(g, run, i, reference, err))
            return false;
    return true;
}

/* ---- Runs ---- */

/* With --force: told of one run, and nothing else. */
static void tell_violation(void *user, struct str text)
{
    struct graph_run *g = user;
    if (!g->tells)
        return;
    out_note(g->session->cmd->out, "%.*s: %.*s; running anyway (--force)",
             STR_ARG(buf_str(&g->name)), STR_ARG(text));
}

bool replay_fits(struct graph_run *g, struct backend *backend, struct run_options options,
                 struct err *err)
{
    struct err why = { 0 };
    options.backend = backend;
    if (!backend || run_fits(g->graph, &options, &why))
        return true;
    if (why.kind != ERR_ENV || !g->session->args->force) {
        *err = why;
        return false;
    }
    if (g->session->grid.n == 1)
        out_note(g->session->cmd->out, "%.*s: %s; running anyway (--force)",
                 STR_ARG(buf_str(&g->name)), why.text);
    return true;
}

static bool run_reference(struct graph_run *g, struct run_options options, struct err *err)
{
    options.backend = g->session->reference;
    options.node = comparison_expect;
    options.node_user = &g->comparison;
    struct run *run = run_new(g->graph, &options, err);
    bool ok = run && run_execute(run, err) && look_at_outputs(g, run, true, err) &&
              value_file_seal(g->comparison.values, err);
    run_free(run);
    if (ok || g->session->reference_kind == g->session->kind)
        return ok;
    return err_at(err, "on %s", g->session->reference_kind->name);
}

/* How large the values are on the way to the outputs that a file has. */
static bool run_to_look(struct graph_run *g, struct run_options options, struct err *err)
{
    options.backend = g->session->backend;
    options.node = comparison_look;
    options.node_user = &g->comparison;
    struct run *run = run_new(g->graph, &options, err);
    bool ok = run && run_execute(run, err);
    run_free(run);
    return ok;
}

static bool keep_sizes(struct graph_run *g, const struct run *run, struct err *err)
{
    g->calls = run->calls;
    g->peak = run->exec.storages.peak;
    g->symbols = arena_array(&g->arena, struct run_size, run->n_symbols + 1);
    if (!g->symbols)
        return err_nomem(err);
    for (size_t i = 0; i < run->n_symbols; i++)
        g->symbols[g->n_symbols++] =
            (struct run_size){ arena_copy(&g->arena, run->symbols[i].symbol),
                               run->symbols[i].value };
    return true;
}

static bool run_tested(struct graph_run *g, struct run_options options, struct err *err)
{
    options.backend = g->session->backend;
    if (g->compares || g->saved || g->session->perturb.node.n) {
        options.node = look_at_node;
        options.node_user = g;
    }
    g->tells = g->session->grid.n == 1;
    if (g->tells && !g->session->kind->shapes_only)
        replay_note_weights(g);
    bool counts = g->session->kind->shapes_only;
    struct run *run = run_new(g->graph, &options, err);
    if (run)
        run->exec.storages.noting = counts;
    bool ok = run && run_execute(run, err) && keep_sizes(g, run, err) &&
              (!counts || peak_of(&run->exec.storages, &g->arena, &g->held, err)) &&
              look_at_outputs(g, run, false, err);
    g->unsupported = run && run->unsupported;
    run_free(run);
    return ok;
}

static bool knows_node(const struct graph *graph, const char *option, struct str name,
                       struct err *err)
{
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (str_eq(graph->nodes[id].name, name))
            return true;
    return err_set(err, ERR_USAGE, "%s: no node %.*s", option, STR_ARG(name));
}

static bool knows_nodes(const struct graph_run *g, struct err *err)
{
    const struct session *s = g->session;
    for (size_t i = 0; i < s->n_save; i++)
        if (!knows_node(g->graph, "--save", s->save[i], err))
            return false;
    return !s->perturb.node.n || knows_node(g->graph, "--perturb", s->perturb.node, err);
}

/* Beside the file that it becomes: there is the room that it needs. */
static struct value_file *new_file(const char *outputs, struct err *err)
{
    char folder[4096];
    const char *slash = strrchr(outputs, '/');
    if (!slash || (size_t)(slash - outputs) >= sizeof folder)
        return value_file_new(strcmp(outputs, "-") == 0 ? NULL : ".", err);
    snprintf(folder, sizeof folder, "%.*s/", (int)(slash - outputs), outputs);
    return value_file_new(folder, err);
}

static bool prepare(struct graph_run *g, size_t point, struct run_options *options, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    const struct comparison_options how = {
        .file = s->against,
        .nodes = s->args->nodes,
        .looks = s->against && s->kind->on_host,
        .factor = s->factor,
        .tf32 = s->args->tf32,
        .limit = s->args->limit.given ? (uint32_t)s->args->limit.value : 10,
    };
    g->graph = trace_graph(s->trace, g->ref, err);
    if (!g->graph || (g->misused = !knows_nodes(g, err)) || !replay_check_inputs(g, err) ||
        !replay_gather_symbols(g, point, options, err))
        return false;
    g->weights = weights_open(s->trace, s->trace->records[ref->record].recording, err);
    if (err_is_set(err))
        return false;
    if ((s->against || s->reference) &&
        !(g->compares = comparison_init(&g->comparison, g->graph->n_nodes, &how, err)))
        return false;
    return !s->args->outputs || (g->saved = new_file(s->args->outputs, err)) != NULL;
}

static bool looks_before(const struct session *s)
{
    return s->against && !s->args->nodes && !s->kind->on_host && !s->kind->shapes_only;
}

bool replay_run_graph(struct session *s, uint32_t ref, size_t point, struct graph_run *g)
{
    *g = (struct graph_run){ .session = s, .ref = ref };
    struct run_options options = { .rules = s->rules,
                                   .input = replay_give_input,
                                   .user = g,
                                   .violated = s->args->force ? tell_violation : NULL,
                                   .seed = s->seed };
    selector_print_graph(s->trace, s->list, ref, &g->name);
    if (g->name.failed)
        return err_nomem(&g->err);
    if (!prepare(g, point, &options, &g->err) || !replay_fits(g, s->reference, options, &g->err) ||
        (s->backend != s->reference && !replay_fits(g, s->backend, options, &g->err)) ||
        (s->reference && !run_reference(g, options, &g->err)) ||
        (looks_before(s) && !run_to_look(g, options, &g->err)) || !run_tested(g, options, &g->err))
        return false;
    return !g->saved || (value_file_seal(g->saved, &g->err) &&
                         value_file_write(g->saved, s->args->outputs, &g->err));
}

void replay_release_graph(struct graph_run *g)
{
    comparison_release(&g->comparison);
    value_file_free(g->saved);
    weights_close(g->weights);
    buf_release(&g->name);
    arena_release(&g->arena);
}
