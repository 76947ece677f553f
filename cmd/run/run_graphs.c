/* Chooses the graphs, runs each, and prints the whole. */
#include "cmd/cli/interrupt.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/run/run_session.h"
#include "cmd/symbols/source_symbol.h"
#include "replay/ops/layers.h"
#include "trace/events/symbols.h"

bool session_runs(const struct session *s, const struct selector *selector, uint32_t ref)
{
    const struct graph_ref *g = &s->list->refs[ref];
    if (selector->kind.n)
        return selector_has_graph(s->trace, s->list, selector, ref);
    return selector_has_recording(s->trace, selector, s->trace->records[g->record].recording) &&
           selector_has_attempt(s->trace, selector, g->attempt) && is_run_by_default(g);
}

/* Returns whether a selected graph has the symbol. Unbacked symbols of programs have no record, so
 * the graphs themselves are searched for them. */
static bool is_graph_symbol(struct session *s, const struct selector *selector,
                            const struct symbol_table *table, struct str name)
{
    struct err ignored = { 0 };
    for (uint32_t i = 0; i < table->n_symbols; i++)
        if (str_eq(table->symbols[i].name, name))
            return true;
    for (uint32_t i = 0; i < s->list->n; i++) {
        if (!session_runs(s, selector, i))
            continue;
        const struct graph *graph = trace_graph(s->trace, i, &ignored);
        if (graph && graph_has_symbol(graph, name))
            return true;
    }
    return false;
}

/* Puts symbols in the places of sources, and refuses a symbol of the option that no graph has.
 * Returns the exit code. */
static int check_symbols(struct session *s, const struct selector *selector,
                         const struct symbol_table *table, struct size_grid *grid,
                         const char *option)
{
    struct err err = { 0 };
    for (size_t i = 0; i < grid->n_symbols; i++) {
        if (!source_symbol_find(s->trace, selector, &grid->symbols[i], &err))
            return err_at(&err, "%s", option), out_error(s->cmd->out, &err);
        for (size_t k = 0; k < i; k++)
            if (str_eq(grid->symbols[k], grid->symbols[i]))
                return out_usage(s->cmd->out, "%s: %.*s is given twice", option,
                                 STR_ARG(grid->symbols[i]));
    }
    for (size_t i = 0; i < grid->n_symbols; i++)
        if (!is_graph_symbol(s, selector, table, grid->symbols[i]))
            return out_usage(s->cmd->out,
                             "%s: no graph has a symbol %.*s; symtape show --symbols lists them",
                             option, STR_ARG(grid->symbols[i]));
    return EXIT_DONE;
}

/* --outputs writes those of one graph. */
static int more_than_one(const struct session *s, const struct selector *selector, uint32_t n)
{
    enum { NAMES_SHOWN = 8 };
    struct buf names = BUF_INIT;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < s->list->n && shown < NAMES_SHOWN; i++) {
        if (!session_runs(s, selector, i))
            continue;
        buf_puts(&names, shown++ ? ", " : "");
        selector_print_graph(s->trace, s->list, i, &names);
    }
    int code = out_usage(s->cmd->out, "--outputs: %u graphs are meant; name one of %.*s%s", n,
                         STR_ARG(buf_str(&names)), n > shown ? " ..." : "");
    buf_release(&names);
    return code;
}

int session_check_graphs(struct session *s, const struct selector *selector)
{
    struct err err = { 0 };
    struct out *out = s->cmd->out;
    uint32_t n = 0;
    const struct symbol_table *table = trace_symbols(s->trace, &err);
    s->list = table ? trace_graphs(s->trace, &err) : NULL;
    if (!s->list)
        return out_error(out, &err);
    for (uint32_t i = 0; i < s->list->n; i++)
        n += session_runs(s, selector, i);
    s->totals.graphs = n;
    if (n == 0)
        return out_usage(out,
                         "%s: no graph to run (forward, backward, inference, exported, or one that "
                         "is named); symtape show --graphs lists what there is",
                         s->cmd->operands[0]);
    int code = check_symbols(s, selector, table, &s->grid,
                             s->args->sizes.text ? "--sizes" : s->args->sizes.file);
    if (code == EXIT_DONE)
        code = check_symbols(s, selector, table, &s->warm,
                             s->args->warm.text ? "--warm" : s->args->warm.file);
    if (code == EXIT_DONE)
        code = check_symbols(s, selector, table, &s->pad, "--pad");
    if (code != EXIT_DONE)
        return code;
    if (n > 1 && s->args->outputs)
        return more_than_one(s, selector, n);
    if (s->grid.n > 1 && s->args->outputs)
        return out_usage(out, "--outputs: one file, and %zu sizes; name one", s->grid.n);
    return EXIT_DONE;
}

/* ---- Runs ---- */

int graph_run_report(struct graph_run *g, bool ok)
{
    struct session *s = g->session;
    int code = EXIT_DONE;
    graph_run_count(g);
    if (!ok) {
        err_at(&g->err, "%.*s", STR_ARG(buf_str(&g->name)));
        if (s->job)
            err_at(&g->err, "rank %u", s->rank);
        code = out_error(s->cmd->out, &g->err);
        code = g->err.kind == ERR_USAGE && !g->misused ? EXIT_DIFFERS : code;
        code = g->unsupported && s->args->bisect_codes ? EXIT_CANNOT_TELL : code;
    }
    if (ok && g->timing)
        profile_graph_print(g);
    else if (s->args->json)
        graph_run_json(g);
    else if (ok)
        graph_run_print(g);
    return code;
}

/* Runs the graph at the only point of the sizes. */
static int run_once(struct session *s, uint32_t ref)
{
    struct graph_run g;
    bool ok = graph_run_execute(&g, s, ref, 0);
    int code = graph_run_report(&g, ok);
    graph_run_release(&g);
    return code;
}

/* Profiles all sizes on the same open backend, so that only the first size includes what is done
 * once. */
static int profile_sizes(struct session *s, uint32_t ref)
{
    int code = session_warms(s) ? warm_graph(s, ref) : EXIT_DONE;
    for (size_t i = 0; i < s->grid.n && !session_stopped(s); i++) {
        int one = profile_graph_run(s, ref, i);
        code = one != EXIT_DONE ? one : code;
    }
    return code;
}

static bool sweeps(const struct session *s)
{
    return s->grid.n > 1 && !s->args->profile && !s->args->pad;
}

static int run_each(struct session *s, const struct selector *selector)
{
    int code = EXIT_DONE;
    uint32_t done = 0;
    for (uint32_t i = 0; i < s->list->n; i++) {
        if (!session_runs(s, selector, i))
            continue;
        if (session_stopped(s))
            return EXIT_INTERRUPTED;
        if (s->totals.graphs > 1 && !sweeps(s))
            out_progress(s->cmd->out, "%u of %u graphs", done, s->totals.graphs);
        int one = s->args->profile ? profile_sizes(s, i)
                  : s->args->pad   ? pad_graph(s, i)
                  : sweeps(s)      ? run_sweep(s, i)
                                   : run_once(s, i);
        code = one != EXIT_DONE ? one : code;
        done++;
    }
    out_progress_end(s->cmd->out);
    if (session_stopped(s))
        return EXIT_INTERRUPTED;
    return code != EXIT_DONE ? code : s->totals.outcomes[RUN_DIFFERS] ? EXIT_DIFFERS : EXIT_DONE;
}

/* A signal ends the process if there is a single run. If there are several, the finished ones are
 * reported. */
static int run_selected(struct session *s, const struct selector *selector)
{
    struct interrupt saved;
    bool several = s->totals.graphs > 1 || s->grid.n > 1 || s->warm.n > 1;
    if (several)
        s->stop = interrupt_begin(&saved);
    int code = run_each(s, selector);
    if (several)
        interrupt_end(&saved);
    return code;
}

/* ---- The report ---- */

void session_json_begin(struct session *s)
{
    s->writer = json_writer_of(&s->json);
    json_open_object(&s->writer, NULL);
    json_put_cstr(&s->writer, "schema", SCHEMA_RUN);
    json_put_cstr(&s->writer, "backend", s->pair.tested_kind->name);
    json_put_cstr(&s->writer, "against", s->args->compare);
    json_put_bool(&s->writer, "tf32", s->args->tf32);
    json_open_array(&s->writer, "graphs");
    if (!sweeps(s))
        return;
    json_close(&s->writer);
    json_open_array(&s->writer, "sweeps");
}

int session_json_end(struct session *s)
{
    json_close(&s->writer);
    if (!sweeps(s)) {
        json_open_array(&s->writer, "sweeps");
        json_close(&s->writer);
    }
    warmed_json(s);
    if (s->job)
        run_ranks_json(s);
    json_put_bool(&s->writer, "differs", s->totals.outcomes[RUN_DIFFERS] > 0);
    failure_list_json(s->failures, &s->writer);
    json_close(&s->writer);
    buf_putc(&s->json, '\n');
    return out_buf(s->cmd->out, &s->json);
}

int session_text_end(struct session *s)
{
    struct buf headline = BUF_INIT;
    if (s->job)
        run_ranks_headline(s, &headline);
    run_print_headline(s, &headline);
    out_text(s->cmd->out, buf_str(&headline));
    s->text.failed |= headline.failed;
    buf_release(&headline);
    return out_buf(s->cmd->out, &s->text);
}

static int run_session(struct session *s, const struct selector *selector)
{
    struct err err = { 0 };
    if (!session_read(s, &err) || !session_open(s, &err))
        return out_error(s->cmd->out, &err);
    int code = session_check_graphs(s, selector);
    if (code != EXIT_DONE)
        return code;
    if (s->args->json)
        session_json_begin(s);
    code = run_selected(s, selector);
    if (code == EXIT_USAGE && (s->args->json || !s->text.n))
        return code;
    int printed = s->args->json ? session_json_end(s) : session_text_end(s);
    return printed != EXIT_DONE ? printed : code;
}

/* Recordings of several ranks run one after the other; says what runs them together. */
static void note_ranks(const struct cmd *cmd, const struct tape_arg *tape)
{
    const struct trace *trace = tape->trace;
    uint32_t n = 0;
    int64_t last = -1;
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        int64_t rank = trace->recordings[i].rank;
        if (!selector_has_recording(trace, &tape->selector, i) || rank < 0)
            continue;
        n += rank != last;
        last = rank;
    }
    if (n > 1)
        out_note(cmd->out,
                 "these are %u ranks, and each runs by itself; --ranks %u runs them as one job, "
                 "which meets in its collectives",
                 n, n);
}

int run_graphs(struct cmd *cmd, const struct run_args *args)
{
    struct err err = { 0 };
    struct tape_arg tape = { 0 };
    struct custom_rules *rules = NULL;
    struct op_catalog *operators = NULL;
    int code =
        rules_arg_read(&rules, args->rules, &cmd->out->limit->meter, &err) &&
                (operators = op_catalog_new(rules, &err)) != NULL
            ? tape_arg_open(&tape, cmd->out, cmd->operands[0], args->strict ? TAPE_ARG_STRICT : 0)
            : out_error(cmd->out, &err);
    if (code == EXIT_DONE) {
        struct session s = { .cmd = cmd,
                             .args = args,
                             .trace = tape.trace,
                             .failures = &tape.failures,
                             .operators = operators };
        memory_limit_end(cmd->out->limit);
        note_ranks(cmd, &tape);
        code = run_session(&s, &tape.selector);
        session_release(&s);
    }
    tape_arg_close(&tape);
    op_catalog_free(operators);
    custom_rules_free(rules);
    return args->bisect_codes ? exit_code_for_bisect(code) : code;
}
