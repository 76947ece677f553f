#include <inttypes.h>

#include "cmd/cli/search_signals.h"
#include "cmd/minify/minify.h"
#include "profile/model/format.h"
#include "profile/report/fields.h"

enum { GRAPH_SHOWN_LINES = 40 };

static void put_status(struct minify_job *job, const struct minify_progress *progress,
                       void (*put)(struct out *out, const char *fmt, ...))
{
    char left[64] = "";
    double rate = progress->seconds > 0 ? (double)progress->calls / progress->seconds : 0;
    if (progress->left)
        snprintf(left, sizeof left, ", at most %" PRIu64 " more in this step", progress->left);
    put(job->cmd->out,
        "%s: %" PRIu64 " of %" PRIu64 " calls, %" PRIu64 " symbols left; %" PRIu64
        " checks in %.0f s (%.3g/s)%s",
        progress->pass, progress->now.part[SIZE_CALLS], progress->before.part[SIZE_CALLS],
        progress->now.part[SIZE_SYMBOLS], progress->calls, progress->seconds, rate, left);
}

void minify_show_progress(void *user, const struct minify_progress *progress)
{
    struct minify_job *job = user;
    if (search_status_requests() > job->status_asked) {
        job->status_asked = search_status_requests();
        out_progress_end(job->cmd->out);
        put_status(job, progress, out_note);
    }
    put_status(job, progress, out_progress);
}

const char *minify_verdict(const struct minify_result *result)
{
    switch (result->end) {
    case MINIFY_DONE: return "reduced";
    case MINIFY_NOT_REPRODUCED: return "not_reproduced";
    default: return "interrupted";
    }
}

/* ---- JSON ---- */

GETTER(get_verdict, enum verdict, datum_name(verdict_name(*row)))
GETTER(get_pass_name, struct pass_stats, datum_name(row->pass->name))

static const struct field FAILURE[] = {
    { "verdict", GET(get_verdict, struct answer, verdict) },
    { "kind", MEMBER(struct answer, signature.kind) },
    { "message", MEMBER(struct answer, signature.message) },
    { "operator", MEMBER(struct answer, signature.op) },
    { "frame", MEMBER(struct answer, signature.frame) },
    { "text", MEMBER(struct answer, text) },
};
static const struct fields FAILURE_FIELDS = FIELDS_OF(FAILURE);

static const struct field PASS[] = {
    { "name", .get = get_pass_name },
    { "runs", MEMBER(struct pass_stats, runs) },
    { "calls", MEMBER(struct pass_stats, calls) },
    { "hits", MEMBER(struct pass_stats, hits) },
    { "accepted", MEMBER(struct pass_stats, accepted) },
    { "seconds", MEMBER(struct pass_stats, seconds) },
};
static const struct fields PASS_FIELDS = FIELDS_OF(PASS);

static const struct field STEP[] = {
    { "calls", MEMBER(struct minify_step, calls) },
    { "seconds", MEMBER(struct minify_step, seconds) },
    { "size", MEMBER(struct minify_step, size) },
};
static const struct fields STEP_FIELDS = FIELDS_OF(STEP);

static const struct field WHY[] = {
    { "part", MEMBER(struct why, element) },
    { "taken", MEMBER(struct why, taken) },
    { "result", MEMBER(struct why, result) },
};
static const struct fields WHY_FIELDS = FIELDS_OF(WHY);

static void put_size_counts(const struct minify_job *job, struct json_writer *w)
{
    const struct candidate *best = job->result.best;
    json_put_u64(w, "calls_before", graph_counts(job->whole->graph).calls);
    json_put_u64(w, "calls_after", graph_counts(best->graph).calls);
    json_put_u64(w, "symbols_before", job->whole->n_symbols);
    json_put_u64(w, "symbols_after", best->n_symbols);
    json_put_u64(w, "guards_before", job->whole->n_guards);
    json_put_u64(w, "guards_after", best->n_guards);
}

static void put_oracle_counts(const struct minify_job *job, struct json_writer *w)
{
    const struct minify_result *result = &job->result;
    json_put_u64(w, "oracle_calls", result->calls);
    json_put_u64(w, "cache_hits", result->hits);
    json_put_u64(w, "resumed", result->resumed);
    json_put_u64(w, "unneeded", result->unneeded);
    json_put_u64(w, "boring", result->boring);
    json_put_u64(w, "other", result->other);
    json_put_u64(w, "unresolved", result->unresolved);
    json_put_u64(w, "timed_out", result->timed_out);
    json_put_double(w, "timeout", result->timeout);
    json_open_object(w, "rate");
    json_put_u64(w, "failed", result->rate_hits);
    json_put_u64(w, "asked", result->rate_asked);
    json_put_u64(w, "clean", result->clean);
    json_close(w);
}

static void put_verified(const struct minify_job *job, struct json_writer *w)
{
    static const char *const seen[] = { [REPRO_SHOWN] = "shown",
                                        [REPRO_NOT_SHOWN] = "not_shown",
                                        [REPRO_CANNOT] = "cannot",
                                        [REPRO_NO_TORCH] = "no_torch" };
    if (!job->is_verified) {
        json_put_null(w, "repro");
        return;
    }
    json_open_object(w, "repro");
    json_put_cstr(w, "path", job->args->repro);
    json_put_cstr(w, "seen", seen[job->verified.seen]);
    json_put_cstr(w, "torch", job->verified.version);
    json_close(w);
}

static void put_bisected(const struct minify_job *job, struct json_writer *w)
{
    const struct torch_bisected *b = &job->bisected;
    if (!job->has_bisected) {
        json_put_null(w, "compiler");
        return;
    }
    json_open_object(w, "compiler");
    json_put_bool(w, "found", b->found);
    json_put_str_or_null(w, "backend", b->backend);
    json_put_str_or_null(w, "subsystem", b->subsystem);
    json_put_u64(w, "number", b->number);
    json_put_str_or_null(w, "detail", b->detail);
    json_put_str_or_null(w, "graph", b->graph);
    json_put_str_or_null(w, "operator", b->op);
    json_put_str_or_null(w, "kernel", b->kernel);
    json_put_str_or_null(w, "nodes", b->nodes);
    json_put_bool(w, "fused", b->fused);
    json_put_str_or_null(w, "why", b->why);
    json_close(w);
}

static void put_seconds(struct json_writer *w, const char *key, double seconds)
{
    if (seconds < 0)
        json_put_null(w, key);
    else
        json_put_double(w, key, seconds);
}

static void put_compile_times(const struct minify_job *job, struct json_writer *w)
{
    if (!job->compiled.known) {
        json_put_null(w, "compiled");
        return;
    }
    json_open_object(w, "compiled");
    put_seconds(w, "seconds_before", job->compiled.before);
    put_seconds(w, "seconds_after", job->compiled.after);
    json_put_str(w, "torch", job->torch.version);
    json_close(w);
}

static void put_minify_json(const struct minify_job *job, struct buf *out)
{
    const struct minify_result *result = &job->result;
    const struct rows pass_rows = ROWS(result->passes, result->n_passes);
    const struct rows steps = ROWS(result->steps, result->n_steps);
    const struct rows whys = ROWS(job->whys.list.v, job->has_whys ? (uint32_t)job->whys.list.n : 0);
    struct json_writer w = json_writer_of(out);
    struct buf fx = BUF_INIT;
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_MINIFY);
    put_size_counts(job, &w);
    put_oracle_counts(job, &w);
    json_put_double(&w, "seconds", result->seconds);
    json_put_bool(&w, "minimal", result->minimal);
    json_put_cstr(&w, "verdict", minify_verdict(result));
    json_put_cstr(&w, "end", minify_end_name(result->end));
    json_put_str(&w, "oracle", job->oracle->name);
    json_open_object(&w, "failure");
    fields_json(&FAILURE_FIELDS, NULL, &result->first, &w);
    json_close(&w);
    json_put_cstr(&w, "wrong_graph", job->wrong_graph);
    json_put_cstr(&w, "tape", job->saved ? job->tape : NULL);
    json_open_object(&w, "journal");
    json_put_cstr(&w, "path", job->journal);
    json_put_u64(&w, "found", result->found);
    json_put_u64(&w, "damaged", result->found_damaged);
    json_close(&w);
    put_verified(job, &w);
    put_bisected(job, &w);
    put_compile_times(job, &w);
    fields_json_rows(&w, "why", &WHY_FIELDS, NULL, &whys, 0);
    json_put_bool(&w, "why_complete", job->has_whys && !job->whys.is_short);
    if (!candidate_print_fx(job->result.best, &fx))
        out->failed = true;
    json_put_str(&w, "fx", buf_str(&fx));
    fields_json_rows(&w, "passes", &PASS_FIELDS, NULL, &pass_rows, 0);
    fields_json_rows(&w, "steps", &STEP_FIELDS, NULL, &steps, 0);
    json_close(&w);
    buf_putc(out, '\n');
    buf_release(&fx);
}

/* ---- Text ---- */

static void put_count(const char *what, uint64_t before, uint64_t after, struct buf *out)
{
    buf_printf(out, "%s ", what);
    format_count(out, before);
    buf_puts(out, " -> ");
    format_count(out, after);
}

static void put_minify_summary(const struct minify_job *job, struct buf *out)
{
    const struct minify_result *result = &job->result;
    const struct candidate *best = result->best;
    put_count("calls", graph_counts(job->whole->graph).calls, graph_counts(best->graph).calls, out);
    put_count(", symbols", job->whole->n_symbols, best->n_symbols, out);
    put_count(", guards", job->whole->n_guards, best->n_guards, out);
    buf_printf(out, "; %" PRIu64 " checks", result->calls);
    if (result->hits) {
        buf_puts(out, " (");
        format_plural(out, result->hits, "answer");
        buf_puts(out, result->hits == 1 ? " was known)" : " were known)");
    }
    buf_printf(out, ", %.3g s\n", result->seconds);
}

static const char *end_text(const struct minify_result *result)
{
    switch (result->end) {
    case MINIFY_DONE:
        return result->minimal
                   ? "minimal: removing any single remaining part makes the failure disappear"
               : result->unresolved
                   ? "not proved minimal: the oracle could not decide about some candidates"
                   : "not proved minimal";
    case MINIFY_DEADLINE: return "ended early by --deadline; --resume continues";
    case MINIFY_MAX_CALLS: return "ended early by --max-calls; --resume continues";
    case MINIFY_UNRESOLVED: return "ended early: the oracle can no longer decide";
    default: return "ended early; --resume continues";
    }
}

static void put_timed_out(const struct minify_result *result, struct buf *out)
{
    if (result->timed_out == 0)
        return;
    format_plural(out, result->timed_out, "check");
    buf_printf(out, " did not end within %.3g s; --timeout gives more time\n", result->timeout);
}

static void put_rate(const struct minify_result *result, struct buf *out)
{
    if (result->rate_hits < result->rate_asked)
        buf_printf(out,
                   "flaky: when it was run again, it failed %" PRIu32 " of %" PRIu32 " times%s\n",
                   result->rate_hits, result->rate_asked,
                   result->clean > 1 ? "" : "; --repeat 20 takes that into account");
}

static void put_smallest_graph(const struct candidate *best, struct buf *out)
{
    struct buf fx = BUF_INIT;
    if (!candidate_print_fx(best, &fx))
        out->failed = true;
    struct str rest = buf_str(&fx);
    buf_putc(out, '\n');
    for (int i = 0; rest.n && i < GRAPH_SHOWN_LINES; i++) {
        struct str line = str_first(rest, str_find_char(rest, '\n'));
        buf_put(out, line);
        buf_putc(out, '\n');
        rest = str_from(rest, line.n + 1);
    }
    if (rest.n)
        buf_puts(out, "    ...\n");
    buf_release(&fx);
}

static void put_why_text(const struct minify_job *job, struct buf *out)
{
    enum { WHYS_SHOWN = 12 };
    if (!job->has_whys)
        return;
    if (job->whys.list.n)
        buf_printf(out, "\nwhy %s is needed\n",
                   job->whys.is_short ? "each of the first parts" : "each part");
    for (size_t i = 0; i < job->whys.list.n && i < WHYS_SHOWN; i++) {
        const struct why *why = &job->whys.list.v[i];
        buf_printf(out, "  %.*s, %.*s: %.*s\n", STR_ARG(why->element), STR_ARG(why->taken),
                   STR_ARG(why->result));
    }
    if (job->whys.list.n > WHYS_SHOWN)
        buf_printf(out, "  ... and %zu more\n", job->whys.list.n - WHYS_SHOWN);
}

/* If a recorded guard alone adds the guard, no part of the graph is responsible for it. */
static void put_asked_at(const struct minify_job *job, struct buf *out)
{
    const struct candidate *best = job->result.best;
    struct str place = buf_str(&job->asked_at);
    if (graph_counts(best->graph).calls || best->n_guards == 0)
        return;
    buf_puts(out, "no operator adds it: the user's code, or a library's, branches on it");
    if (place.n)
        buf_printf(out, ", at %.*s", STR_ARG(place));
    buf_putc(out, '\n');
}

static void put_failing(const struct minify_job *job, struct buf *out)
{
    const struct minify_args *args = job->args;
    struct str text = job->result.first.text;
    if (args->guard)
        buf_printf(out, "failure: the guard %s is added\n", args->guard);
    if (args->guard)
        put_asked_at(job, out);
    else if (args->specializes)
        buf_printf(out, "failure: %s becomes a number\n", args->specializes);
    else if (text.n && !str_is(text, "exit 0")) /* only its first line, since messages of PyTorch
                                                 * are long */
        buf_printf(out, "failure: %.*s\n", STR_ARG(str_first(text, str_find_char(text, '\n'))));
}

static void put_minify_text(const struct minify_job *job, struct buf *out)
{
    const struct minify_result *result = &job->result;
    put_minify_summary(job, out);
    buf_printf(out, "%s\n", end_text(result));
    put_timed_out(result, out);
    put_rate(result, out);
    put_failing(job, out);
    if (job->compiled.known)
        minify_put_compiled(job, out);
    if (job->has_bisected) {
        buf_puts(out, job->bisected.found ? "what fails in PyTorch: "
                                          : "what fails in PyTorch was not found: ");
        minify_put_bisected(job, out);
        buf_putc(out, '\n');
    }
    if (result->minimal && result->best->n_symbols == 0 && job->whole->n_symbols > 0)
        buf_puts(out, "not a dynamic-shape bug: it also fails when every size is a number\n");
    put_smallest_graph(job->result.best, out);
    put_why_text(job, out);
}

/* The program alone does not show a failure that only the user's command can detect. */
static void note_runs(const struct minify_job *job)
{
    const struct repro_verified *seen = &job->verified;
    const char *file = job->args->repro;
    struct out *out = job->cmd->out;
    if (job->is_verified && seen->seen == REPRO_SHOWN)
        out_note(out, "%s: the result as a program; PyTorch %s raises an error: %s", file,
                 seen->version, seen->last);
    else if (job->is_verified && seen->seen == REPRO_NOT_SHOWN)
        out_note(out, "%s: the result as a program; PyTorch %s runs it without an error", file,
                 seen->version);
    else
        out_note(out, "%s: the result as a program", file);
}

static void note_repro(const struct minify_job *job)
{
    struct buf text = BUF_INIT;
    if (job->repro.check == REPRO_RUNS) {
        note_runs(job);
        return;
    }
    if (job->is_verified)
        repro_verified_print(&job->verified, &text);
    out_note(job->cmd->out, "%s: the result as a program%s%.*s", job->args->repro,
             text.n ? ", " : "", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* Returns why there is no graph that does not fail. */
static const char *why_not_good(const struct minify_job *job)
{
    if (job->result.end != MINIFY_DONE)
        return "the search was not finished";
    if (!job->has_whys || job->whys.is_short)
        return "a limit was reached before the oracle was asked about each part";
    return "all graphs with one part less still fail, or the oracle could not decide";
}

static void note_files(const struct minify_job *job)
{
    struct out *out = job->cmd->out;
    const struct minify_args *args = job->args;
    if (!minify_has_result(job)) {
        out_note(out, "%s: not written, since the whole graph was not checked yet", job->tape);
        return;
    }
    if (job->saved)
        out_note(out, "%s: the result as a tape", job->tape);
    if (args->fx)
        out_note(out, "%s: the result as FX text", args->fx);
    if (args->repro)
        note_repro(job);
    if (job->has_good)
        out_note(out, "%s: the nearest graph that does not fail", args->good);
    else if (args->good)
        out_note(out, "%s: not written: %s", args->good, why_not_good(job));
    if (args->issue)
        out_note(out, "%s: a bug report", args->issue);
    if (job->asides)
        out_note(out, "%s: %u candidates that fail differently, perhaps because of another bug",
                 job->aside, (unsigned)job->asides);
}

/* Prints what the oracle found instead, if its answer has no text of its own. */
static void put_not_failing(const struct minify_job *job, struct buf *out)
{
    const struct minify_args *args = job->args;
    struct str text = job->result.first.text;
    if (args->guard)
        buf_printf(out, "the guard %s is not added", args->guard);
    else if (args->specializes)
        buf_printf(out, "%s does not become a number", args->specializes);
    else if (args->cost)
        buf_printf(out, "its cost is not %s, but", args->cost);
    else if (args->has_ops)
        buf_printf(out, "it does not have all of the calls of --has-ops, which have the names that "
                        "symtape show --graph prints, as in aten.add.Tensor");
    else if (args->mismatch)
        buf_puts(out, "the two backends agree within the tolerance");
    else if (args->check)
        buf_printf(out, "--check printed: %.*s", STR_ARG(text));
    else if (args->torch)
        buf_printf(out, "PyTorch %.*s does not fail", STR_ARG(job->torch.version));
    else if (args->error)
        buf_puts(out, "symtape replay shows no failure that matches --error");
    else
        buf_puts(out, "symtape replay agrees with the recording; --check, --torch-oracle, "
                      "--guard, --specializes and --cost define other failures");
    if (text.n && !args->check)
        buf_printf(out, "%s %.*s", args->cost ? "" : ":", STR_ARG(str_first(text, 300)));
}

/* Notes options that may help if a command does not report a failure. */
static void note_other_ways(const struct minify_job *job)
{
    const struct answer *first = &job->result.first;
    struct out *out = job->cmd->out;
    if (str_starts(first->text, STR(NO_END_WITHIN)))
        out_note(out, "--timeout gives it more time");
    else if (str_starts(first->text, STR("killed by")))
        out_note(out, "if being killed is the failure, use --crash-is interesting");
    else if (first->verdict != VERDICT_UNRESOLVED && job->options.repeat == 1)
        out_note(out, "if it fails only sometimes, --repeat 20 runs it 20 times");
}

static void note_not_reproduced(const struct minify_job *job)
{
    const struct answer *first = &job->result.first;
    struct out *out = job->cmd->out;
    const char *operand = job->operand;
    struct buf text = BUF_INIT;
    if (job->wrong_graph) {
        out_note(out, "%s: does not fail with random inputs, and is not reduced", job->wrong_graph);
        return;
    }
    put_not_failing(job, &text);
    if (first->verdict == VERDICT_UNRESOLVED)
        out_note(out, "%s: cannot tell whether it fails: %.*s%s", operand, STR_ARG(first->text),
                 job->torch.no_device ? "; --cpu puts all tensors on the CPU" : "");
    else if (first->verdict == VERDICT_OTHER)
        out_note(out, "%s: fails, but differently: %.*s", operand, STR_ARG(first->text));
    else
        out_note(out, "%s: does not fail: %.*s", operand, STR_ARG(buf_str(&text)));
    if (job->args->check)
        note_other_ways(job);
    if (job->args->anonymize)
        out_note(out, "names and strings were replaced before the check (--anonymize)");
    buf_release(&text);
}

int minify_report(struct minify_job *job)
{
    struct buf text = BUF_INIT;
    bool failed = job->result.end == MINIFY_NOT_REPRODUCED;
    int code = EXIT_DONE;
    if (failed)
        note_not_reproduced(job);
    if (job->args->json)
        put_minify_json(job, &text);
    else if (!failed && strcmp(job->tape, "-") != 0)
        put_minify_text(job, &text);
    code = out_buf(job->cmd->out, &text);
    buf_release(&text);
    if (!failed)
        note_files(job);
    return code;
}
