/* replay --backend: runs graphs, compares what comes out, says where the time went. */
#include <string.h>

#include "cmd/replay_run.h"
#include "replay/backend/compare_values.h"
#include "replay/backend/safetensors.h"
#include "replay/backend/weights.h"
#include "trace/base/output.h"
#include "trace/events/symbols.h"
#include "trace/pt2/signature.h"

struct session {
    struct cmd *cmd;
    const struct replay_args *args;
    struct trace *trace;
    const struct replay_lists *lists;
    const struct custom_rules *rules;
    struct backend *backend;
    struct safetensors *inputs, *against;
    struct weights *weights; /* of the graph that is being run */
    const struct graph *graph;
    struct buf name; /* of that graph, for notes */
    bool told;       /* violations of --force are not told twice */
    struct arena arena;
    bool differs;
};

static const char *prefix(const char *given, const char *otherwise)
{
    return given ? given : otherwise;
}

/* ---- Inputs ---- */

/* A user's input by its number among them, a parameter or buffer by its name in the archive. */
static bool give_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                       struct err *err)
{
    struct session *s = user;
    const struct graph_signature *signature = s->graph->signature;
    uint32_t number = i;
    char name[512];
    (void)node;
    if (signature && i < signature->n_inputs) {
        const struct input_spec *spec = &signature->inputs[i];
        bool of_user = spec->kind == INPUT_USER || spec->kind == INPUT_CONSTANT;
        if (!of_user)
            return !s->weights || weights_find(s->weights, spec->target, ret, err);
        number = 0;
        for (uint32_t j = 0; j < i; j++)
            number += signature->inputs[j].kind == INPUT_USER ||
                      signature->inputs[j].kind == INPUT_CONSTANT;
    }
    if (!s->inputs)
        return true;
    snprintf(name, sizeof name, "%s%u", prefix(s->args->input_prefix, "in."), number);
    safetensors_find(s->inputs, str_of(name), ret);
    return true;
}

static bool gather_sizes(struct session *s, struct run_options *options, struct err *err)
{
    struct run_size *sizes = arena_array(&s->arena, struct run_size, s->lists->n_sets + 1);
    if (!sizes)
        return err_nomem(err);
    for (size_t i = 0; i < s->lists->n_sets; i++) {
        const struct input_set *set = &s->lists->sets[i];
        sizes[i].symbol = set->symbol;
        if (!str_to_i64(set->value, &sizes[i].value) || sizes[i].value < 0)
            return err_set(err, ERR_USAGE, "--set %.*s: a size is a whole number, not negative",
                           STR_ARG(set->symbol));
    }
    options->sizes = sizes;
    options->n_sizes = s->lists->n_sets;
    return true;
}

/* With --force: told, and nothing else. */
static void tell_violation(void *user, struct str text)
{
    struct session *s = user;
    if (!s->told)
        return;
    out_note(s->cmd->out, "%.*s: %.*s; run all the same", STR_ARG(buf_str(&s->name)), STR_ARG(text));
}

/* ---- Outputs ---- */

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

static void print_difference(struct session *s, const char *name, const struct difference *d,
                             struct tolerance t)
{
    struct out *out = s->cmd->out;
    if (!d->comparable) {
        out_printf(out, "  %s: another dtype or shape\n", name);
    } else if (d->bad) {
        out_printf(out,
                   "  %s: %llu of %llu elements differ; first %llu: expected %.9g, got %.9g; max "
                   "absolute %.3g, relative %.3g, %llu ULPs; tolerance %.3g + %.3g |x|\n",
                   name, (unsigned long long)d->bad, (unsigned long long)d->elements,
                   (unsigned long long)d->first_bad, d->expected, d->got, d->max_absolute,
                   d->max_relative, (unsigned long long)d->max_ulps, t.absolute, t.relative);
    } else {
        out_printf(out, "  %s: %llu elements agree; max absolute %.3g, %llu ULPs\n", name,
                   (unsigned long long)d->elements, d->max_absolute,
                   (unsigned long long)d->max_ulps);
    }
}

static void compare_output(struct session *s, const char *name, const struct array *got)
{
    struct array expected;
    if (!safetensors_find(s->against, str_of(name), &expected)) {
        out_printf(s->cmd->out, "  %s: not in the file\n", name);
        s->differs = true;
        return;
    }
    struct tolerance t = tolerance_of(got->dtype);
    struct difference d = compare_arrays(&expected, got, t);
    s->differs |= !d.comparable || d.bad;
    print_difference(s, name, &d, t);
}

static bool write_outputs(struct session *s, const struct str *names, const struct array *arrays,
                          size_t n, struct err *err)
{
    struct buf file = BUF_INIT;
    struct output *to = NULL;
    bool ok = safetensors_print(names, arrays, n, &file, err);
    ok = ok && (to = output_open(s->args->outputs, OUTPUT_REPLACE, err)) != NULL;
    ok = ok && output_write(to, buf_str(&file), err);
    if (ok)
        ok = output_commit(to, err);
    else
        output_abort(to);
    buf_release(&file);
    return ok;
}

static bool look_at_outputs(struct session *s, struct run *run, struct err *err)
{
    struct str *names = arena_array(&s->arena, struct str, (size_t)run->n_outputs + 1);
    struct array *arrays = arena_array(&s->arena, struct array, (size_t)run->n_outputs + 1);
    size_t n = 0;
    if (!s->against && !s->args->outputs)
        return true;
    if (!names || !arrays)
        return err_nomem(err);
    for (uint32_t i = 0; i < run->n_outputs; i++) {
        uint32_t number;
        char name[512];
        if (!user_output(run->graph, i, &number) || run->outputs[i].kind != VALUE_TENSOR)
            continue;
        if (!run_array(run, run->outputs[i].u.tensor, &s->arena, &arrays[n], err))
            return false;
        snprintf(name, sizeof name, "%s%u", prefix(s->args->against_prefix, "out."), number);
        if (s->against)
            compare_output(s, name, &arrays[n]);
        names[n] = arena_copy(&s->arena, str_of(name));
        if (!names[n++].p)
            return err_nomem(err);
    }
    return !s->args->outputs || write_outputs(s, names, arrays, n, err);
}

/* ---- One graph ---- */

static bool run_graph(struct session *s, const struct graph_list *list, uint32_t ref,
                      struct err *err)
{
    const struct graph_ref *g = &list->refs[ref];
    struct run_options options = { .backend = s->backend,
                                   .rules = s->rules,
                                   .input = give_input,
                                   .violated = s->args->force ? tell_violation : NULL,
                                   .user = s };
    s->graph = trace_graph(s->trace, ref, err);
    if (!s->graph || !gather_sizes(s, &options, err) ||
        !replay_recorded(s->trace, g->record, g->attempt, &s->arena, &options, err))
        return false;
    s->weights = weights_open(s->trace, s->trace->records[g->record].recording, err);
    if (err_is_set(err))
        return false;
    buf_clear(&s->name);
    selector_print_graph(s->trace, list, ref, &s->name);
    s->told = true;
    struct run *run = run_new(s->graph, &options, err);
    bool ok = run && run_execute(run, err);
    if (ok) {
        out_text(s->cmd->out, buf_str(&s->name));
        out_printf(s->cmd->out, ": %u calls on %s, peak %zu bytes\n", run->calls,
                   s->backend->kind->name, run->exec.storages.peak);
        ok = look_at_outputs(s, run, err);
    } else {
        err_at(err, "%.*s", STR_ARG(buf_str(&s->name)));
    }
    run_free(run);
    weights_close(s->weights);
    return ok;
}

/* Without a selector of one: what AOTAutograd made, and programs. */
static bool is_meant(const struct session *s, const struct selector *selector,
                     const struct graph_ref *g)
{
    if (!selector_has_recording(s->trace, selector, s->trace->records[g->record].recording) ||
        !selector_has_attempt(s->trace, selector, g->attempt))
        return false;
    if (selector->index >= 0 && (uint64_t)selector->index != g->index)
        return false;
    if (selector->kind.n)
        return str_eq(selector->kind, str_of(graph_kind_name(g->kind))) ||
               str_eq(selector->kind, g->name);
    return g->kind == GRAPH_EXPORTED ||
           (g->is_event && (g->kind == GRAPH_FORWARD || g->kind == GRAPH_BACKWARD ||
                            g->kind == GRAPH_INFERENCE));
}

/* A symbol of --set that no graph at hand has; "": there is none. */
static struct str unknown_symbol(struct session *s, const struct symbol_table *table)
{
    for (size_t i = 0; i < s->lists->n_sets; i++) {
        struct str name = s->lists->sets[i].symbol;
        uint32_t k = 0;
        while (k < table->n_symbols && !str_eq(table->symbols[k].name, name))
            k++;
        if (k == table->n_symbols && !str_starts(name, STR("u")))
            return name;
    }
    return STR("");
}

static int run_all(struct session *s, const struct selector *selector)
{
    struct err err = { 0 };
    const struct graph_list *list = trace_graphs(s->trace, &err);
    uint32_t n = 0;
    int code = EXIT_DONE;
    if (!list)
        return out_error(s->cmd->out, &err);
    for (uint32_t i = 0; i < list->n; i++)
        n += is_meant(s, selector, &list->refs[i]);
    if (n == 0)
        return out_usage(s->cmd->out, "no graph to run: forward, backward, inference or exported");
    const struct symbol_table *table = trace_symbols(s->trace, &err);
    if (!table)
        return out_error(s->cmd->out, &err);
    struct str unknown = unknown_symbol(s, table);
    if (unknown.n)
        return out_usage(s->cmd->out, "--set: no graph has a symbol %.*s", STR_ARG(unknown));
    if (n > 1 && s->args->outputs)
        return out_usage(s->cmd->out, "--outputs: %u graphs are meant; name one", n);
    for (uint32_t i = 0; i < list->n; i++) {
        if (!is_meant(s, selector, &list->refs[i]))
            continue;
        if (!run_graph(s, list, i, &err)) {
            int one = out_error(s->cmd->out, &err);
            code = err.kind == ERR_USAGE ? EXIT_DIFFERS : one;
            err = (struct err){ 0 };
        }
    }
    return code != EXIT_DONE ? code : s->differs ? EXIT_DIFFERS : EXIT_DONE;
}

static int unknown_backend(struct out *out, const char *name)
{
    struct buf known = BUF_INIT;
    for (size_t i = 0; backend_kinds[i]; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", backend_kinds[i]->name);
    int code = out_usage(out, "--backend: there is no %s; there is %.*s", name,
                         STR_ARG(buf_str(&known)));
    buf_release(&known);
    return code;
}

int replay_backend(struct cmd *cmd, struct trace *trace, const struct selector *selector,
                   const struct replay_lists *lists, const struct custom_rules *rules)
{
    const struct replay_args *args = cmd->args;
    struct err err = { 0 };
    struct session s = { .cmd = cmd, .args = args, .trace = trace, .lists = lists, .rules = rules };
    const struct backend_kind *kind = backend_find(str_of(args->backend));
    if (!kind)
        return unknown_backend(cmd->out, args->backend);
    if (kind->shapes_only && (args->against || args->outputs))
        return out_usage(cmd->out, "--backend %s computes nothing to compare or write", kind->name);
    bool ok = (s.backend = kind->open(&err)) != NULL;
    ok = ok && (!args->inputs || (s.inputs = safetensors_open(args->inputs, &err)));
    ok = ok && (!args->against || (s.against = safetensors_open(args->against, &err)));
    int code = ok ? run_all(&s, selector) : out_error(cmd->out, &err);
    safetensors_close(s.inputs);
    safetensors_close(s.against);
    if (s.backend)
        kind->close(s.backend);
    buf_release(&s.name);
    arena_release(&s.arena);
    return code;
}
