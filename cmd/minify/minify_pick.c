/* What is reduced and which oracle is asked if the user names only a tape: the last compile that
 * failed, its graph, and the failure as the tape has it. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/minify/minify.h"
#include "minify/process/signature.h"
#include "profile/report/failure_list.h"
#include "trace/graph/traceback.h"

const char *minify_keep(struct minify_job *job, struct buf *text)
{
    buf_putc(text, '\0');
    struct str ret = text->failed ? (struct str){ 0 } : arena_copy(&job->texts, buf_str(text));
    buf_release(text);
    return ret.p;
}

bool minify_names_oracle(const struct minify_args *args)
{
    return args->check || args->torch || args->error || args->guard || args->specializes ||
           args->cost || args->has_ops || args->mismatch;
}

/* ---- The graph ---- */

/* Returns how well a graph shows a failure; 0: not at all. The graph of a compile that failed while
 * Dynamo traced is the partial one. */
static int fitness(enum graph_kind kind)
{
    switch (kind) {
    case GRAPH_PARTIAL_DYNAMO: return 3;
    case GRAPH_DYNAMO: return 2;
    case GRAPH_PARTIAL_AOT:
    case GRAPH_JOINT:
    case GRAPH_FORWARD:
    case GRAPH_INFERENCE: return 1;
    default: return 0;
    }
}

static bool find_graph(const struct graph_list *list, uint32_t attempt, uint32_t *ret)
{
    int best = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        int fits = list->refs[i].attempt == attempt ? fitness(list->refs[i].kind) : 0;
        if (fits > best) {
            best = fits;
            *ret = i;
        }
    }
    return best > 0;
}

/* ---- Files ---- */

/* Names a file beside the tape, as minified.py is beside minified.tape. */
bool minify_name_beside(struct minify_job *job, const char *ending, const char **ret,
                        struct err *err)
{
    struct str tape = str_of(job->chosen.output ? job->chosen.output : MINIFY_TAPE);
    struct buf text = BUF_INIT;
    if (*ret)
        return true;
    if (str_is(tape, "-"))
        tape = STR(MINIFY_TAPE);
    buf_put(&text, str_ends(tape, STR(".tape")) ? str_first(tape, tape.n - 5) : tape);
    buf_puts(&text, ending);
    *ret = minify_keep(job, &text);
    return *ret || err_nomem(err);
}

bool minify_name_files(struct minify_job *job, struct err *err)
{
    return minify_name_beside(job, ".repro.py", &job->chosen.repro, err) &&
           minify_name_beside(job, ".issue.md", &job->chosen.issue, err) &&
           minify_name_beside(job, ".good.py", &job->chosen.good, err);
}

/* ---- The pick ---- */

static void note_picked(struct minify_job *job, const struct failure_list *failures)
{
    struct buf text = BUF_INIT;
    failure_list_note(failures, failures->v.n - 1, &text);
    out_note(job->cmd->out, "%.*s", STR_ARG(buf_str(&text)));
    if (failures->v.n > 1)
        out_note(job->cmd->out,
                 "%zu compiles of this tape failed; the last one is reduced (symtape show "
                 "--failures lists them)",
                 failures->v.n);
    buf_release(&text);
}

static void put_graph_name(const struct minify_job *job, struct trace *trace,
                           const struct graph_list *list, uint32_t ref, struct buf *out)
{
    buf_puts(out, job->operand);
    bool bare = trace->n_recordings == 1 && list->refs[ref].attempt != TRACE_NONE;
    buf_puts(out, bare ? ":" : "");
    selector_print_graph(trace, list, ref, out);
}

/* Dynamo refuses a compile of its own accord: no graph fails. */
static bool is_recompile_limit(const struct failure *failure)
{
    return str_find(failure->reason, STR("recompile_limit")) < failure->reason.n;
}

static bool fail_without_graph(const struct minify_job *job, const struct failure *failure,
                               struct err *err)
{
    if (is_recompile_limit(failure))
        return err_set(err, ERR_USAGE,
                       "%s: no graph fails: the function was compiled too often; symtape diagnose "
                       "says what changed from call to call, and minify --guard finds the calls "
                       "that add a guard",
                       job->operand);
    return err_set(err, ERR_USAGE,
                   "%s: the compile that failed has no graph: PyTorch logs a graph only after "
                   "tracing succeeded; symtape minify -- python PROGRAM records the partial "
                   "graph, too",
                   job->operand);
}

static bool pick_graph(struct minify_job *job, struct trace *trace,
                       const struct failure_list *failures, struct err *err)
{
    const struct failure *failure = failures->v.v[failures->v.n - 1];
    const struct graph_list *list = trace_graphs(trace, err);
    struct buf operand = BUF_INIT, said = BUF_INIT, at = BUF_INIT;
    uint32_t ref;
    if (!list)
        return false;
    note_picked(job, failures);
    if (!find_graph(list, failure->attempt, &ref))
        return fail_without_graph(job, failure, err);
    put_graph_name(job, trace, list, ref, &operand);
    buf_put(&said, failure->cause.n ? failure->cause : failure->reason);
    job->operand = minify_keep(job, &operand);
    if (failure->file.n)
        buf_printf(&at, "%.*s:%" PRIu32 ": %.*s", STR_ARG(failure->file), failure->line,
                   STR_ARG(failure->code));
    const char *text = minify_keep(job, &said), *place = minify_keep(job, &at);
    job->exception = arena_copy(&job->texts, failure->type);
    if (!job->operand || !text || !place || !job->exception.p)
        return err_nomem(err);
    job->outside = failure->exported;
    job->failed_at = str_of(place);
    job->failed = str_of(text);
    job->traced = list->refs[ref].kind != GRAPH_PARTIAL_DYNAMO;
    job->is_picked = true;
    return minify_choose_backend(job, failure, err) && minify_name_files(job, err);
}

/* Reads the type of the exception that ended the tracing of a partial graph, "" if none did, and
 * the sizes that its symbols had, as --sizes takes them. */
static bool read_raised(const struct trace *trace, uint32_t record, struct buf *ret,
                        struct buf *sizes, struct err *err)
{
    struct json doc = { 0 };
    bool ok = record_json(trace, record, &doc, err);
    if (ok && str_is(json_str(&doc, json_get(&doc, JSON_ROOT, STR("why"))), "raised")) {
        json_decode(&doc, json_get(&doc, JSON_ROOT, STR("error")), ret);
        json_decode(&doc, json_get(&doc, JSON_ROOT, STR("sizes")), sizes);
    }
    json_release(&doc);
    return ok;
}

/* Picks the last graph whose tracing raised outside of a compile, as torch.export traces. Of its
 * exception, a deep recording has the type alone. */
static bool pick_outside(struct minify_job *job, struct trace *trace, struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    struct buf operand = BUF_INIT, type = BUF_INIT, sizes = BUF_INIT;
    uint32_t i = list ? list->n : 0;
    bool ok = list != NULL;
    while (ok && i-- > 0 && type.n == 0)
        if (list->refs[i].kind == GRAPH_PARTIAL_AOT && list->refs[i].attempt == TRACE_NONE)
            ok = read_raised(trace, list->refs[i].record, &type, &sizes, err);
    if (!ok || type.n == 0) {
        buf_release(&type);
        buf_release(&sizes);
        return ok;
    }
    bool has_sizes = sizes.n > 0;
    put_graph_name(job, trace, list, i + 1, &operand);
    const char *text = minify_keep(job, &type), *name = minify_keep(job, &operand),
               *at = minify_keep(job, &sizes);
    if (!text || !name || !at)
        return err_nomem(err);
    if (has_sizes && !job->chosen.sizes.text && !job->chosen.sizes.file)
        job->chosen.sizes.text = at;
    job->operand = name;
    job->exception = job->failed_type = str_of(text);
    job->outside = job->is_picked = true;
    out_note(job->cmd->out, "tracing a graph outside of torch.compile raised: %s", text);
    return minify_name_files(job, err);
}

static bool pick_of_trace(struct minify_job *job, struct trace *trace, struct err *err)
{
    struct failure_list failures = { 0 };
    const struct selector all = SELECTOR_ALL;
    bool ok = failure_list_read(&failures, trace, &all, err);
    if (ok && failures.v.n == 0)
        ok = pick_outside(job, trace, err);
    else if (ok && failures.v.v[failures.v.n - 1]->attempt != TRACE_NONE)
        ok = pick_graph(job, trace, &failures, err);
    failure_list_release(&failures);
    return ok;
}

/* A user who names a tape alone learns what else is to be named. */
static bool note_nothing_failed(const struct minify_job *job, struct trace *trace, struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    if (!list)
        return false;
    if (list->n > 1)
        out_note(job->cmd->out,
                 "no compile of %s failed: name a graph, and the condition to keep "
                 "(--guard, --specializes, --cost, --torch-oracle, --check)",
                 job->operand);
    return true;
}

/* If a program ended with an error and no compile of it failed, its results may be wrong. */
static bool pick_results(struct minify_job *job, struct err *err)
{
    struct out *out = job->cmd->out;
    if (job->status == 0) {
        out_note(out,
                 "nothing failed; if results are wrong, symtape minify %s --torch-oracle "
                 "accuracy finds the graph that computes them",
                 job->operand);
        job->nothing_failed = true;
        return true;
    }
    job->chosen.torch = "accuracy";
    if (!job->chosen.backend)
        job->chosen.backend = "inductor";
    out_note(out, "no compile failed, but the program did: its graphs are compared with eager mode "
                  "(--torch-oracle accuracy)");
    return minify_note_oracle(job, err);
}

/* Returns whether the operand names a tape and no part of it. */
static bool names_whole_tape(const char *operand)
{
    struct selector selector;
    struct err ignored = { 0 };
    struct str text = str_of(operand);
    return !str_ends(text, STR(".fx")) && !str_ends(text, STR(".pt2")) && !str_is(text, "-") &&
           selector_parse(&selector, text, &ignored) && !selector.compile.n && !selector.kind.n &&
           selector.tape.n == text.n;
}

bool minify_pick(struct minify_job *job, struct err *err)
{
    struct memory_limit *limit = job->cmd->out->limit;
    const struct trace_options how = { .meter = &limit->meter };
    if (minify_names_oracle(job->args) || !names_whole_tape(job->operand))
        return true;
    struct trace *trace = trace_open(job->operand, &how, err);
    if (!trace) {
        *err = (struct err){ 0 }; /* it may be FX text; reading it reports what is wrong */
        return true;
    }
    bool ok = pick_of_trace(job, trace, err);
    if (ok && job->program && job->status != 0 && !job->is_picked && !job->args->backend)
        ok = minify_take_backend(job, trace, err);
    if (ok && !job->program && !job->is_picked)
        ok = note_nothing_failed(job, trace, err);
    trace_close(trace);
    return ok && (!job->program || job->is_picked || pick_results(job, err));
}

/* ---- What is asked ---- */

/* The graphs of a tape are known when one is read. */
static bool is_of_one_graph(const struct minify_job *job)
{
    return job->is_picked || (job->whole && job->graphs.n <= 1);
}

bool minify_note_oracle(struct minify_job *job, struct err *err)
{
    struct out *out = job->cmd->out;
    const struct minify_args *args = job->args;
    struct buf text = BUF_INIT;
    if (!args->torch) {
        out_note(out, "%s: asks symtape's own shape engine; no program is run for it",
                 job->operand);
        return true;
    }
    if (!args->launcher && !minify_choose_python(job, err))
        return false;
    buf_printf(&text, "%s: ", job->operand);
    if (args->launcher) {
        buf_printf(&text, "starts workers (%s), whose Python", args->launcher);
    } else {
        buf_puts(&text, "runs ");
        minify_put_python(job, &text);
        buf_puts(&text, ", which");
    }
    buf_printf(&text, " compiles programs made from %s (--torch-oracle %s",
               is_of_one_graph(job) ? "this graph" : "its graphs", args->torch);
    if (args->backend)
        buf_printf(&text, " --torch-backend %s", args->backend);
    if (args->import)
        buf_printf(&text, " --import %s", args->import);
    buf_putc(&text, ')');
    out_note(out, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
    if (!args->launcher)
        minify_note_release(job);
    return true;
}

/* Returns whether a message is that of the tape, without numbers and symbols. */
bool minify_is_failure_of_tape(const struct minify_job *job, struct str message)
{
    struct buf now = BUF_INIT, then = BUF_INIT;
    if (job->failed_type.n) /* all that the tape has */
        return str_starts(message, job->failed_type);
    signature_normalise(message, &now);
    bool same = false;
    for (struct str rest = job->failed, line; !same && text_next_line(&rest, &line);) {
        buf_clear(&then);
        signature_normalise(line, &then);
        same = now.n && str_find(buf_str(&then), buf_str(&now)) < then.n;
    }
    buf_release(&now);
    buf_release(&then);
    return same;
}
