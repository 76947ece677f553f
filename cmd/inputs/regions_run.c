#include "cmd/inputs/regions_run.h"

#include "cmd/cli/interrupt.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/inputs/inputs.h"

const char *region_status_name(enum region_status status)
{
    static const char *const NAMES[REGION_STATUSES] = { [REGION_RAN] = "ok",
                                                        [REGION_DIFFERS] = "differs",
                                                        [REGION_RUN_REFUSED] = "refused",
                                                        [REGION_RUN_FAILED] = "failed",
                                                        [REGION_NOT_RUN] = "not run" };
    return NAMES[status];
}

bool regions_runner_open(struct regions_runner *runner, struct cmd *cmd, struct trace *trace,
                         const char *backend, struct err *err)
{
    const struct backend_kind *kind = backend_find(str_of(backend));
    runner->args.backend = backend;
    if (kind && !kind->shapes_only && !str_is(STR("cpu"), backend))
        runner->args.compare = "cpu";
    runner->session = (struct session){ .cmd = cmd, .args = &runner->args, .trace = trace };
    runner->session.list = trace_graphs(trace, err);
    return runner->session.list && session_read(&runner->session, err) &&
           session_open(&runner->session, err);
}

void regions_runner_close(struct regions_runner *runner)
{
    session_release(&runner->session);
}

int regions_runner_exit_code(const struct regions_runner *runner)
{
    const uint64_t *n = runner->counts;
    return runner->stopped                                 ? EXIT_INTERRUPTED
           : n[REGION_RUN_FAILED]                          ? EXIT_ENV
           : n[REGION_DIFFERS] + n[REGION_RUN_REFUSED] > 0 ? EXIT_DIFFERS
           : n[REGION_RAN]                                 ? EXIT_DONE
                                                           : EXIT_CANNOT_TELL;
}

/* ---- The graphs of a compile at chosen sizes ---- */

static bool set_message(struct region_result *result, const struct buf *text, struct arena *arena,
                        struct err *err)
{
    result->message = arena_copy(arena, buf_str(text));
    return (!text->failed && result->message.p) || err_nomem(err);
}

static bool not_run(struct region_result *result, const char *why, struct arena *arena,
                    struct err *err)
{
    result->status = REGION_NOT_RUN;
    result->message = arena_copy(arena, str_of(why));
    return result->message.p || err_nomem(err);
}

static void note_difference(const struct comparison *c, struct region_result *result,
                            struct buf *text)
{
    double most = -1;
    const struct compared *worst = NULL;
    for (size_t i = 0; i < c->outputs.n; i++) {
        const struct compared *one = &c->outputs.v[i];
        bool bad = one->match == MATCH_DIFFERS || one->match == MATCH_FOLLOWS ||
                   one->match == MATCH_MISSING;
        if (one->difference.comparable && one->difference.max_absolute > result->max_absolute)
            result->max_absolute = one->difference.max_absolute;
        if (bad && (!worst || one->difference.max_absolute > most)) {
            worst = one;
            most = one->difference.comparable ? one->difference.max_absolute : most;
        }
    }
    if (worst && worst->difference.comparable)
        buf_printf(text, "by %.3g in %.*s", worst->difference.max_absolute, STR_ARG(worst->name));
    else if (worst)
        buf_printf(text, "in the shape of %.*s", STR_ARG(worst->name));
}

/* Adds what became of one graph. `why` gets what is to be said of it. */
static void add_graph(const struct graph_run *g, struct region_result *result, struct buf *why)
{
    enum run_outcome outcome = graph_run_outcome(g);
    result->status = g->too_large || g->unsupported ? REGION_NOT_RUN
                     : outcome == RUN_DIFFERS       ? REGION_DIFFERS
                     : outcome == RUN_REFUSED       ? REGION_RUN_REFUSED
                     : outcome == RUN_FAILED        ? REGION_RUN_FAILED
                                                    : REGION_RAN;
    result->compared |= g->compares && !err_is_set(&g->err);
    if (!err_is_set(&g->err)) {
        result->graphs++;
        result->calls += g->calls;
        result->peak = g->peak > result->peak ? g->peak : result->peak;
        note_difference(&g->comparison, result, why);
    }
    if (g->refusal.n)
        buf_put(why, buf_str(&g->refusal));
    else if (err_is_set(&g->err))
        buf_puts(why, g->err.text);
    if (result->status != REGION_RAN)
        buf_printf(why, " (%.*s)", STR_ARG(buf_str(&g->name)));
}

/* Runs the graphs up to the first that is not fine. *guard is set if a recorded condition on sizes
 * refuses them. */
static bool run_attempt(struct regions_runner *runner, const struct conditions *conditions,
                        uint32_t attempt, size_t point, struct arena *arena,
                        struct region_result *result, bool *guard, struct err *err)
{
    struct session *s = &runner->session;
    bool ok = true, any = false;
    *result = (struct region_result){ .status = REGION_RAN, .attempt = attempt };
    for (uint32_t i = 0; ok && i < s->list->n && result->status == REGION_RAN; i++) {
        const struct graph_ref *ref = &s->list->refs[i];
        bool own =
            attempt == TRACE_NONE ? ref->record == conditions->record : ref->attempt == attempt;
        if (!own || !is_run_by_default(ref) || session_stopped(s))
            continue;
        struct graph_run g;
        struct buf why = BUF_INIT;
        any = true;
        graph_run_execute(&g, s, i, point);
        *guard = g.refusal.n > 0;
        add_graph(&g, result, &why);
        ok = !g.err.no_memory && !g.refusal.failed;
        ok = ok ? result->status == REGION_RAN || set_message(result, &why, arena, err)
                : err_nomem(err);
        buf_release(&why);
        graph_run_release(&g);
    }
    if (ok && session_stopped(s) && result->status == REGION_RAN)
        return not_run(result, "interrupted", arena, err);
    return !ok || any ? ok : not_run(result, "it recorded no graph to run", arena, err);
}

/* ---- The sizes of a region in the symbols of a compile ---- */

struct sizes_in {
    struct run_size *list;
    size_t n;
    bool served; /* its static sizes, and those that share a symbol, are those of the region */
};

static bool own_sizes(const struct conditions *conditions, const struct region *region,
                      struct arena *arena, struct sizes_in *ret, struct err *err)
{
    *ret = (struct sizes_in){ arena_array(arena, struct run_size, conditions->symbols.n + 1), 0,
                              true };
    for (size_t i = 0; ret->list && i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (s->has_hint)
            ret->list[ret->n++] = (struct run_size){ s->name, region->smallest[i] };
    }
    return ret->list || err_nomem(err);
}

/* Adds a size by its symbol in the other compile. */
static bool add_size(struct inputs_scope *scope, struct str source, int64_t value,
                     struct arena *arena, struct sizes_in *ret, struct err *err)
{
    const struct conditions *other = scope->conditions;
    struct inputs_meaning meaning;
    if (!inputs_find(scope, source, &meaning, err))
        return false;
    if (meaning.symbol == UINT32_MAX) {
        ret->served &= meaning.size != UINT32_MAX && other->sizes.v[meaning.size].value == value;
        return true;
    }
    struct str name = other->symbols.v[meaning.symbol].name;
    for (size_t i = 0; i < ret->n; i++)
        if (str_eq(ret->list[i].symbol, name)) {
            ret->served &= ret->list[i].value == value;
            return true;
        }
    ret->list[ret->n].symbol = arena_copy(arena, name);
    ret->list[ret->n].value = value;
    return ret->list[ret->n++].symbol.p || err_nomem(err);
}

static bool sizes_of(struct regions_runner *runner, const struct conditions *conditions,
                     const struct region *region, uint32_t attempt, struct arena *arena,
                     struct sizes_in *ret, struct err *err)
{
    struct trace *trace = runner->session.trace;
    struct conditions other = { 0 };
    struct inputs_scope scope = { .conditions = &other };
    if (attempt == conditions->attempt)
        return own_sizes(conditions, region, arena, ret, err);
    *ret = (struct sizes_in){ arena_array(arena, struct run_size, conditions->symbols.n + 1), 0,
                              true };
    bool ok = (ret->list || err_nomem(err)) &&
              conditions_read(&other, trace, trace->attempts[attempt].records[0], attempt, err) &&
              conditions_read_sizes(&other, trace, err);
    for (size_t i = 0; ok && i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (s->has_hint && s->source.n)
            ok = add_size(&scope, s->source, region->smallest[i], arena, ret, err);
    }
    inputs_scope_release(&scope);
    conditions_release(&other);
    return ok;
}

/* ---- Regions ---- */

/* Runs a region with the graphs of a compile. *served is false if its guards say that it does not
 * serve these sizes. */
static bool run_with(struct regions_runner *runner, const struct conditions *conditions,
                     const struct region *region, size_t point, uint32_t attempt,
                     struct arena *arena, struct region_result *result, bool *served,
                     struct err *err)
{
    struct session *s = &runner->session;
    struct sizes_in sizes;
    bool guard = false;
    *served = false;
    if (!sizes_of(runner, conditions, region, attempt, arena, &sizes, err))
        return false;
    if (!sizes.served)
        return true;
    s->chosen = sizes.list;
    s->n_chosen = sizes.n;
    bool ok = run_attempt(runner, conditions, attempt, point, arena, result, &guard, err);
    *served = ok && (!guard || attempt == conditions->attempt);
    s->chosen = NULL;
    return ok;
}

/* The compile itself serves the first region; others are served by the compiles of the same
 * function whose recorded sizes lie in them. */
static bool run_region(struct regions_runner *runner, const struct conditions *conditions,
                       const struct region *region, size_t point, struct arena *arena,
                       struct region_result *result, struct err *err)
{
    bool served = false;
    *result = (struct region_result){ .attempt = TRACE_NONE };
    if (session_stopped(&runner->session))
        return not_run(result, "interrupted", arena, err);
    if (region->kind == REGION_RECORDED)
        return run_with(runner, conditions, region, point, conditions->attempt, arena, result,
                        &served, err);
    for (size_t i = 0; i < region->n_calls && !served; i++)
        if (!run_with(runner, conditions, region, point, region->calls[i], arena, result, &served,
                      err))
            return false;
    if (served)
        return true;
    *result = (struct region_result){ .attempt = TRACE_NONE };
    return not_run(result,
                   region->n_calls                  ? "its compiles serve other sizes of it"
                   : region->kind == REGION_REFUSED ? "PyTorch raises an error"
                                                    : "no compile was recorded for it",
                   arena, err);
}

/* Prints the first failure of the backend, for which the command exits with 4, beside the report.
 */
static void tell_failure(struct out *out, struct str message)
{
    struct err told = { 0 };
    err_set(&told, ERR_ENV, "%.*s", STR_ARG(message));
    out_progress_end(out);
    out_error(out, &told);
}

bool regions_run(struct regions_runner *runner, const struct conditions *conditions,
                 const struct regions *regions, struct arena *arena, struct region_result **ret,
                 struct err *err)
{
    struct out *out = runner->session.cmd->out;
    struct region_result *results = arena_array(arena, struct region_result, regions->list.n + 1);
    bool ok = results || err_nomem(err);
    if (!runner->ended)
        memory_limit_end(out->limit);
    runner->ended = true;
    struct interrupt saved;
    runner->session.stop = interrupt_begin(&saved);
    for (size_t i = 0; ok && i < regions->list.n; i++) {
        out_progress(out, "%zu of %zu regions", i, regions->list.n);
        ok = run_region(runner, conditions, &regions->list.v[i], i, arena, &results[i], err);
        runner->counts[ok ? results[i].status : REGION_NOT_RUN]++;
        if (ok && results[i].status == REGION_RUN_FAILED && runner->counts[REGION_RUN_FAILED] == 1)
            tell_failure(out, results[i].message);
    }
    out_progress_end(out);
    runner->stopped = session_stopped(&runner->session);
    runner->session.stop = NULL;
    interrupt_end(&saved);
    run_schedule_release(&runner->session.schedule);
    *ret = results;
    return ok;
}
