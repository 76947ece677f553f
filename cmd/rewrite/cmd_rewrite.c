#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cli/fx_arg.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/rewrite/rewrite.h"
#include "minify/candidate/candidate_tape.h"
#include "trace/base/file/output.h"

/* The most elements of all values of a graph for which `--check auto` runs it. */
enum { CHEAP_ELEMENTS = 1 << 24 };

static const struct opt options[] = {
    OPT_FLAG(0, "masks", struct rewrite_args, masks,
             "rewrite boolean masks as where(), so that no size depends on them"),
    OPT_STRING('o', "output", "NEW", struct rewrite_args, output,
               "write a tape of the rewritten graphs"),
    OPT_OVERWRITE(struct rewrite_args, overwrite),
    OPT_CHOICE(0, "check", "auto|always|never", struct rewrite_args, check,
               "run both graphs on the CPU with masks that are all true, all false and mixed, and "
               "compare the results; auto (the default) does so for small graphs"),
    OPT_NUMBER('n', "limit", "N", struct rewrite_args, limit,
               "print at most N rows (default 40, 0: all)"),
    OPT_JSON(struct rewrite_args, json),
    OPT_STRICT(struct rewrite_args, strict),
    OPT_END,
};

/* ---- The graphs ---- */

/* With a kind: the graphs of that name. Otherwise: those of the last attempts. */
static bool is_rewritten_graph(const struct rewrite_job *job, const struct graph_ref *ref)
{
    const struct trace *trace = job->tape.trace;
    const struct selector *selector = &job->tape.selector;
    if (!selector_has_recording(trace, selector, trace->records[ref->record].recording) ||
        !selector_has_attempt(trace, selector, ref->attempt) ||
        (selector->index >= 0 && (uint64_t)selector->index != ref->index))
        return false;
    if (selector->kind.n)
        return str_eq(selector->kind, str_of(graph_kind_name(ref->kind))) ||
               str_eq(selector->kind, ref->name);
    if (!ref->is_event && ref->kind != GRAPH_EXPORTED)
        return false;
    return selector->attempt >= 0 || ref->attempt == TRACE_NONE ||
           trace->attempts[ref->attempt].next == TRACE_NONE;
}

/* A graph of Dynamo is differentiated unless AOTAutograd made a graph for inference of it. */
static bool is_differentiated(const struct rewrite_job *job, const struct graph_ref *ref)
{
    switch (ref->kind) {
    case GRAPH_JOINT:
    case GRAPH_FORWARD:
    case GRAPH_BACKWARD:
    case GRAPH_INFERENCE:
    case GRAPH_POST_GRAD: return false;
    default: return ref->attempt == TRACE_NONE || !job->infers[ref->attempt];
    }
}

/* ---- Places on the new tape ---- */

static bool read_compile(struct str name, uint32_t *frame, uint32_t *compile)
{
    uint64_t numbers[2] = { 0, 0 };
    int at = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '/' && at == 0 && i > 0 && i + 1 < name.n)
            at = 1;
        else if (!is_digit(name.p[i]) || numbers[at] > 1000000)
            return false;
        else
            numbers[at] = numbers[at] * 10 + (uint64_t)(name.p[i] - '0');
    }
    *frame = (uint32_t)numbers[0];
    *compile = (uint32_t)numbers[1];
    return at == 1;
}

/* Compiles keep their ids, except those of further recordings and after torch._dynamo.reset(),
 * which get frames of their own. */
static bool choose_places(struct rewrite_job *job, struct err *err)
{
    const struct trace *trace = job->tape.trace;
    job->places = calloc((size_t)trace->n_attempts + 1, sizeof *job->places);
    job->placed = calloc((size_t)trace->n_attempts + 1, sizeof *job->placed);
    job->infers = calloc((size_t)trace->n_attempts + 1, sizeof *job->infers);
    if (!job->places || !job->placed || !job->infers)
        return err_nomem(err);
    for (uint32_t i = 0; i < job->list->n; i++)
        if (job->list->refs[i].kind == GRAPH_INFERENCE && job->list->refs[i].attempt != TRACE_NONE)
            job->infers[job->list->refs[i].attempt] = true;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        struct log_place *place = &job->places[i];
        const struct attempt *attempt = &trace->attempts[i];
        place->attempt = attempt->number;
        job->placed[i] = attempt->recording == trace->attempts[0].recording &&
                         read_compile(attempt->compile, &place->frame, &place->compile);
        if (job->placed[i] && place->frame >= job->next_frame)
            job->next_frame = place->frame + 1;
    }
    return true;
}

static struct log_place place_of(struct rewrite_job *job, const struct graph_ref *ref)
{
    if (ref->attempt == TRACE_NONE)
        return (struct log_place){ job->next_frame++, 0, 0 };
    struct log_place *place = &job->places[ref->attempt];
    if (!job->placed[ref->attempt])
        *place = (struct log_place){ job->next_frame++, 0, 0 };
    job->placed[ref->attempt] = true;
    return *place;
}

/* ---- One graph ---- */

static struct candidate *load_graph(struct rewrite_job *job, uint32_t ref, struct buf *name,
                                    struct err *err)
{
    const struct candidate_options plain = { 0 };
    struct selector selector;
    selector_print_graph(job->tape.trace, job->list, ref, name);
    if (name->failed)
        return err_nomem(err), NULL;
    struct str part = buf_str(name);
    part = str_starts(part, STR(":")) ? str_from(part, 1) : part;
    return selector_parse_part(&selector, part, err)
               ? candidate_load(job->tape.trace, &selector, &plain, err)
               : NULL;
}

static bool check_graph(struct rewrite_job *job, const struct rewrite *rewrite,
                        struct rewrite_check *check, struct err *err)
{
    const char *when = job->args->check ? job->args->check : "auto";
    bool always = strcmp(when, "always") == 0;
    *check = (struct rewrite_check){ .verdict = REWRITE_UNCHECKED };
    if (!rewrite->result || strcmp(when, "never") == 0)
        return true;
    if (!always && rewrite_check_cost(rewrite) > CHEAP_ELEMENTS) {
        snprintf(check->text, sizeof check->text, "it is large; --check always runs it");
        return true;
    }
    if (always)
        memory_limit_end(job->cmd->out->limit);
    if (rewrite_check(rewrite, check, err))
        return true;
    struct err limited = *err;
    memory_limit_explain(job->cmd->out->limit, &limited);
    if (always || !err->no_memory || limited.kind != ERR_INPUT)
        return false; /* the machine has no more memory, which is no property of the graph */
    *err = (struct err){ 0 };
    *check = (struct rewrite_check){ .verdict = REWRITE_UNCHECKED };
    snprintf(check->text, sizeof check->text,
             "it needs more memory than a graph may take unless --check always is given");
    return true;
}

static void count_graph(struct rewrite_totals *t, const struct rewrite *rewrite,
                        const struct rewrite_check *check)
{
    t->graphs++;
    t->changed += rewrite->result != NULL;
    t->calls += rewrite->n_calls;
    t->rewritten += rewrite->n_rewritten;
    t->unbacked_before += rewrite->unbacked_before;
    t->unbacked_after += rewrite->unbacked_after;
    t->checked += check->verdict != REWRITE_UNCHECKED;
    t->differing += check->verdict == REWRITE_DIFFERS;
    t->partly += check->verdict == REWRITE_EQUAL && check->text[0];
}

static bool rewrite_graph(struct rewrite_job *job, const struct graph_ref *ref,
                          const struct candidate *whole, struct str name, struct err *err)
{
    const struct rewrite_options how = { .differentiated = !ref || is_differentiated(job, ref) };
    struct rewrite rewrite;
    struct rewrite_check check;
    bool ok = rewrite_masks(whole, &how, &rewrite, err) && check_graph(job, &rewrite, &check, err);
    if (ok) {
        const struct log_place first = { 0, 0, 0 };
        const struct rewritten_graph done = { name, ref ? place_of(job, ref) : first, &rewrite,
                                              &check };
        count_graph(&job->totals, &rewrite, &check);
        rewrite_report_graph(job, &done);
        ok = !job->args->output ||
             candidate_log_add(&job->log, rewrite.result ? rewrite.result : whole, done.place) ||
             err_nomem(err);
    }
    rewrite_release(&rewrite);
    return ok;
}

static int rewrite_ref(struct rewrite_job *job, uint32_t ref)
{
    struct err err = { 0 };
    struct buf name = BUF_INIT;
    int code = EXIT_DONE;
    struct candidate *whole = load_graph(job, ref, &name, &err);
    if (!whole || !rewrite_graph(job, &job->list->refs[ref], whole, buf_str(&name), &err)) {
        err_at(&err, "rewrite: %.*s", STR_ARG(buf_str(&name)));
        code = out_error(job->cmd->out, &err);
    }
    candidate_free(whole);
    buf_release(&name);
    return code;
}

/* ---- The tape ---- */

static bool write_tape(struct rewrite_job *job, struct err *err)
{
    struct buf tape = BUF_INIT;
    struct output *output = NULL;
    bool ok = log_tape("rewritten.log", buf_str(&job->log_text), &tape, err);
    if (ok)
        output =
            output_open(job->args->output, job->args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    ok = output && output_write(output, buf_str(&tape), err);
    if (output && !ok)
        output_abort(output);
    ok = ok && output_commit(output, err);
    buf_release(&tape);
    return ok;
}

static int finish(struct rewrite_job *job)
{
    struct err err = { 0 };
    bool writes = job->args->output && !job->totals.differing;
    if (writes && !write_tape(job, &err)) {
        err_at(&err, "rewrite");
        return out_error(job->cmd->out, &err);
    }
    int code = rewrite_report_end(job, writes);
    return code == EXIT_DONE && job->totals.differing ? EXIT_DIFFERS : code;
}

static int rewrite_graphs(struct rewrite_job *job)
{
    struct err err = { 0 };
    uint32_t n = 0, done = 0;
    int code = EXIT_DONE;
    job->list = trace_graphs(job->tape.trace, &err);
    if (!job->list || !choose_places(job, &err))
        return out_error(job->cmd->out, &err);
    for (uint32_t i = 0; i < job->list->n; i++)
        n += is_rewritten_graph(job, &job->list->refs[i]);
    if (!n)
        return out_usage(job->cmd->out,
                         "rewrite: %s: no such graph is recorded; symtape show --graphs lists "
                         "those that are",
                         job->cmd->operands[0]);
    for (uint32_t i = 0; i < job->list->n && code == EXIT_DONE; i++) {
        if (!is_rewritten_graph(job, &job->list->refs[i]))
            continue;
        out_progress(job->cmd->out, "%u of %u graphs", (unsigned)done++, (unsigned)n);
        code = rewrite_ref(job, i);
    }
    out_progress_end(job->cmd->out);
    return code == EXIT_DONE ? finish(job) : code;
}

static int rewrite_fx(struct rewrite_job *job, const struct candidate *whole)
{
    struct err err = { 0 };
    if (rewrite_graph(job, NULL, whole, str_of(job->cmd->operands[0]), &err))
        return finish(job);
    err_at(&err, "rewrite: %s", job->cmd->operands[0]);
    return out_error(job->cmd->out, &err);
}

static int rewrite_operand(struct rewrite_job *job)
{
    const struct candidate_options plain = { 0 };
    struct err err = { 0 };
    const char *operand = job->cmd->operands[0];
    if (!candidate_log_begin(&job->log, &job->log_text)) {
        err_nomem(&err);
        return out_error(job->cmd->out, &err);
    }
    rewrite_report_begin(job);
    struct candidate *fx = fx_arg_read(operand, &plain, &job->cmd->out->limit->meter, &err);
    if (fx || err_is_set(&err)) {
        int code = fx ? rewrite_fx(job, fx) : out_error(job->cmd->out, &err);
        candidate_free(fx);
        return code;
    }
    int code =
        tape_arg_open(&job->tape, job->cmd->out, operand, job->args->strict ? TAPE_ARG_STRICT : 0);
    return code == EXIT_DONE ? rewrite_graphs(job) : code;
}

static int run_rewrite(struct cmd *cmd)
{
    struct rewrite_job job = { .cmd = cmd, .args = cmd->args };
    if (!job.args->masks)
        return out_usage(cmd->out, "rewrite: name what to rewrite: --masks");
    if (job.args->output && strcmp(job.args->output, "-") == 0)
        return out_usage(cmd->out, "rewrite: -o takes the name of a file");
    int code = rewrite_operand(&job);
    candidate_log_end(&job.log);
    buf_release(&job.log_text);
    buf_release(&job.notes);
    buf_release(&job.json);
    table_release(&job.table);
    free(job.places);
    free(job.placed);
    free(job.infers);
    tape_arg_close(&job.tape);
    return code;
}

const struct command command_rewrite = {
    .synopsis = "--masks [-o NEW] [options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]\n"
                "--masks [-o NEW] [options] GRAPH.fx",
    .description =
        "Rewrites graphs so that fewer sizes depend on values: writes and reductions of x[mask], "
        "and calls that compute each row of it by itself, become where() over all rows. It lists "
        "each call with a mask, and why those are kept that stay. Both graphs are run on the CPU "
        "and compared.",
    .examples = "  symtape rewrite --masks moe.tape\n"
                "  symtape rewrite --masks -o new.tape moe.tape:0/0:dynamo\n"
                "  symtape replay new.tape\n",
    .options = options,
    .args_size = sizeof(struct rewrite_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_rewrite,
};
