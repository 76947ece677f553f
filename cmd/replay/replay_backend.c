/* replay --backend: runs graphs for real, compares what comes out. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/text_file.h"
#include "cmd/replay/replay_session.h"
#include "trace/events/symbols.h"

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
           (g->is_event &&
            (g->kind == GRAPH_FORWARD || g->kind == GRAPH_BACKWARD || g->kind == GRAPH_INFERENCE));
}

static bool is_printed(const struct graph *graph, struct str name)
{
    for (size_t i = 0; graph && i < graph->pool->exprs.exprs.n; i++) {
        const struct expr *e = &graph->pool->exprs.exprs.v[i];
        if (e->kind == EXPR_SYMBOL && str_eq(e->text, name))
            return true;
    }
    return false;
}

/* Unbacked symbols of programs have no record: there the graphs that are meant are looked through.
 */
static bool is_symbol(struct session *s, const struct selector *selector,
                      const struct symbol_table *table, struct str name)
{
    struct err ignored = { 0 };
    for (uint32_t i = 0; i < table->n_symbols; i++)
        if (str_eq(table->symbols[i].name, name))
            return true;
    for (uint32_t i = 0; i < s->list->n; i++)
        if (is_meant(s, selector, &s->list->refs[i]) &&
            is_printed(trace_graph(s->trace, i, &ignored), name))
            return true;
    return false;
}

/* A symbol of --set or --sizes that nothing has; "": there is none. */
static struct str unknown_symbol(struct session *s, const struct selector *selector,
                                 const struct symbol_table *table)
{
    for (size_t i = 0; i < s->grid.n_symbols; i++)
        if (!is_symbol(s, selector, table, s->grid.symbols[i]))
            return s->grid.symbols[i];
    return STR("");
}

/* The graph at the one point of the grid. */
static int run_once(struct session *s, uint32_t ref)
{
    struct graph_run g;
    int code = EXIT_DONE;
    bool ok = replay_run_graph(s, ref, 0, &g);
    if (!ok) {
        err_at(&g.err, "%.*s", STR_ARG(buf_str(&g.name)));
        code = out_error(s->cmd->out, &g.err);
        code = g.err.kind == ERR_USAGE && !g.misused ? EXIT_DIFFERS : code;
        code = g.unsupported && s->args->bisect_codes ? EXIT_CANNOT_TELL : code;
    }
    s->differs |= g.comparison.differs;
    if (s->args->json)
        replay_json_graph(&s->writer, &g);
    else if (ok)
        replay_print_graph(&g);
    replay_release_graph(&g);
    return code;
}

/* All sizes in one session: the first run of each but the first is that of a program at work. */
static int profile_sizes(struct session *s, uint32_t ref)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < s->grid.n; i++) {
        int one = replay_profile_graph(s, ref, i);
        code = one != EXIT_DONE ? one : code;
    }
    return code;
}

static int run_graphs(struct session *s, const struct selector *selector)
{
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < s->list->n; i++) {
        if (!is_meant(s, selector, &s->list->refs[i]))
            continue;
        int one = s->args->profile ? profile_sizes(s, i)
                  : s->grid.n > 1  ? replay_sweep(s, i)
                                   : run_once(s, i);
        code = one != EXIT_DONE ? one : code;
        if (one == EXIT_INTERRUPTED)
            break;
    }
    return code != EXIT_DONE ? code : s->differs ? EXIT_DIFFERS : EXIT_DONE;
}

static int run_all(struct session *s, const struct selector *selector)
{
    struct err err = { 0 };
    struct out *out = s->cmd->out;
    uint32_t n = 0;
    const struct symbol_table *table = trace_symbols(s->trace, &err);
    s->list = table ? trace_graphs(s->trace, &err) : NULL;
    if (!s->list)
        return out_error(out, &err);
    for (uint32_t i = 0; i < s->list->n; i++)
        n += is_meant(s, selector, &s->list->refs[i]);
    if (n == 0)
        return out_usage(out,
                         "%s: no graph to run (forward, backward, inference, exported, or one that "
                         "is named); symtape show --graphs lists what there is",
                         s->cmd->operands[0]);
    struct str unknown = unknown_symbol(s, selector, table);
    if (unknown.n)
        return out_usage(out, "%s: no graph has a symbol %.*s; symtape show --symbols lists them",
                         s->args->sizes && !s->args->set ? s->args->sizes
                         : s->args->sizes                ? "--set, --sizes"
                                                         : "--set",
                         STR_ARG(unknown));
    if (n > 1 && s->args->outputs)
        return out_usage(out, "--outputs: %u graphs are meant; name one", n);
    if (s->grid.n > 1 && s->args->outputs)
        return out_usage(out, "--outputs: one file, and %zu sizes; name one", s->grid.n);
    return run_graphs(s, selector);
}

static int unknown_backend(struct out *out, const char *name)
{
    struct buf known = BUF_INIT;
    for (size_t i = 0; backend_kinds[i]; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", backend_kinds[i]->name);
    int code =
        out_usage(out, "--backend: there is no %s; there is %.*s", name, STR_ARG(buf_str(&known)));
    buf_release(&known);
    return code;
}

/* ---- Options ---- */

static bool read_save(struct session *s, struct err *err)
{
    struct str rest = str_of(s->args->save ? s->args->save : "");
    if (s->args->save && !s->args->outputs)
        return err_set(err, ERR_USAGE, "--save goes with --outputs FILE, where it is written");
    while (rest.n) {
        size_t comma = str_find_char(rest, ',');
        struct str name = str_trim(str_first(rest, comma));
        rest = str_from(rest, comma + 1);
        if (str_is(name, "all"))
            s->save_all = true;
        else if (str_is(name, "inputs"))
            s->save_inputs = true;
        else if (s->n_save == sizeof s->save / sizeof *s->save)
            return err_set(err, ERR_USAGE, "--save takes at most %zu nodes, or inputs, or all",
                           s->n_save);
        else if (name.n)
            s->save[s->n_save++] = name;
    }
    return true;
}

/* Said before anything is run; what else cannot be written is found when it is. */
static bool can_be_file(const char *outputs, struct err *err)
{
    struct stat there;
    return !outputs || stat(outputs, &there) != 0 || !S_ISDIR(there.st_mode) ||
           err_set(err, ERR_USAGE, "--outputs: %s is a folder", outputs);
}

static bool read_number(const char *option, struct str text, double *ret, struct err *err)
{
    char copy[64], *end = copy;
    snprintf(copy, sizeof copy, "%.*s", STR_ARG(str_first(text, sizeof copy - 1)));
    *ret = strtod(copy, &end);
    return (*copy && !*end) ||
           err_set(err, ERR_USAGE, "%s: \"%.*s\" is no number", option, STR_ARG(text));
}

static bool read_perturb(struct session *s, struct err *err)
{
    struct str text = str_of(s->args->perturb ? s->args->perturb : "");
    size_t equals = str_find_char(text, '=');
    if (!text.n)
        return true;
    s->perturb.node = str_first(text, equals);
    if (equals == text.n || !s->perturb.node.n)
        return err_set(err, ERR_USAGE, "--perturb: NODE=EPS, as in mul_7=1e-3");
    return read_number("--perturb", str_from(text, equals + 1), &s->perturb.by, err);
}

static bool read_options(struct session *s, struct err *err)
{
    const struct replay_args *args = s->args;
    struct buf sizes = BUF_INIT;
    s->seed = args->seed.given ? args->seed.value : 0;
    bool ok =
        read_save(s, err) && can_be_file(args->outputs, err) && read_perturb(s, err) &&
        (!args->tolerance ||
         read_number("--tolerance", str_of(args->tolerance), &s->factor, err)) &&
        (!args->sizes || text_file_read(args->sizes, &s->cmd->out->limit->meter, &sizes, err));
    if (ok && args->tolerance && !(s->factor > 0))
        ok = err_set(err, ERR_USAGE, "--tolerance: a factor above 0");
    if (ok && args->profile && (args->against || args->outputs || args->save || args->perturb))
        ok = err_set(err, ERR_USAGE,
                     "--profile only tells times: not with --against, --outputs, "
                     "--save or --perturb");
    if (ok && args->profile && s->kind->shapes_only)
        ok = err_set(err, ERR_USAGE, "--profile: backend %s takes no time", s->kind->name);
    if (ok && args->runs.given && !args->profile)
        ok = err_set(err, ERR_USAGE, "--runs: with --profile");
    if (ok && args->nodes && !args->against)
        ok = err_set(err, ERR_USAGE, "--nodes: with --against, what to compare them with");
    if (ok && args->sizes && !sizes.n)
        ok = err_set(err, ERR_INPUT, "%s: no sizes in it", args->sizes);
    if (ok && !size_grid_read(&s->grid, str_of(args->set ? args->set : ""), buf_str(&sizes), err))
        ok = err->kind == ERR_INPUT && err_at(err, "%s", args->sizes);
    buf_release(&sizes);
    return ok;
}

static void note_without(struct out *out, const struct backend *backend)
{
    if (err_is_set(&backend->without))
        out_note(out, "%s", backend->without.text);
}

/* --against NAME is a backend where there is one of that name, else a file. */
static bool open_all(struct session *s, struct err *err)
{
    const struct replay_args *args = s->args;
    if (args->against)
        s->reference_kind = backend_find(str_of(args->against));
    if (s->kind->shapes_only && (args->against || args->outputs))
        return err_set(err, ERR_USAGE, "--backend %s computes nothing to compare or write",
                       s->kind->name);
    if (s->reference_kind && s->reference_kind->shapes_only)
        return err_set(err, ERR_USAGE, "--against %s: it computes nothing", args->against);
    if (args->tf32 && !s->kind->has_tf32)
        return err_set(err, ERR_USAGE, "--tf32: backend %s has none", s->kind->name);
    if (!(s->backend = s->kind->open(err)))
        return false;
    note_without(s->cmd->out, s->backend);
    s->backend->threads = (unsigned)(args->jobs.value < 1024 ? args->jobs.value : 1024);
    s->backend->tf32 = args->tf32;
    s->reference = s->reference_kind == s->kind && !args->tf32 ? s->backend : NULL;
    if (s->reference_kind && !s->reference && !(s->reference = s->reference_kind->open(err)))
        return false;
    if (s->reference && s->reference->kind != s->kind)
        note_without(s->cmd->out, s->reference);
    if (s->reference)
        s->reference->threads = s->backend->threads;
    if (args->inputs && !(s->inputs = safetensors_open(args->inputs, err)))
        return false;
    return !args->against || s->reference_kind ||
           (s->against = safetensors_open(args->against, err)) != NULL;
}

static void close_all(struct session *s)
{
    safetensors_close(s->inputs);
    safetensors_close(s->against);
    if (s->backend)
        s->kind->close(s->backend);
    if (s->reference && s->reference != s->backend)
        s->reference_kind->close(s->reference);
    size_grid_release(&s->grid);
    buf_release(&s->json);
    arena_release(&s->arena);
}

static void json_begin(struct session *s)
{
    s->writer = json_writer_of(&s->json);
    json_open_object(&s->writer, NULL);
    json_put_cstr(&s->writer, "schema", "symtape.replay/1");
    json_put_cstr(&s->writer, "backend", s->kind->name);
    json_put_cstr(&s->writer, "against", s->args->against);
    if (s->args->tf32)
        json_put_bool(&s->writer, "tf32", true);
    json_open_array(&s->writer, s->grid.n > 1 && !s->args->profile ? "sweeps" : "graphs");
}

static int json_end(struct session *s, int code)
{
    json_close(&s->writer);
    json_put_bool(&s->writer, "differs", s->differs);
    json_close(&s->writer);
    buf_putc(&s->json, '\n');
    int written = out_buf(s->cmd->out, &s->json);
    return written != EXIT_DONE ? written : code;
}

int replay_backend(struct cmd *cmd, struct trace *trace, const struct selector *selector,
                   const struct custom_rules *rules)
{
    struct err err = { 0 };
    struct session s = { .cmd = cmd, .args = cmd->args, .trace = trace, .rules = rules };
    s.kind = backend_find(str_of(s.args->backend));
    if (!s.kind)
        return unknown_backend(cmd->out, s.args->backend);
    bool ok = read_options(&s, &err) && open_all(&s, &err);
    if (ok && s.args->json)
        json_begin(&s);
    int code = ok ? run_all(&s, selector) : out_error(cmd->out, &err);
    if (ok && s.args->json && code != EXIT_USAGE)
        code = json_end(&s, code);
    close_all(&s);
    return code;
}
