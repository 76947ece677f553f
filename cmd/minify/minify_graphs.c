/* --torch-oracle of a tape, or of a compile, that has several graphs of Dynamo: PyTorch is asked
 * about one after the other, and the first that fails alone is reduced. */
#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/minify/minify.h"

static bool add_graph(struct minify_job *job, struct trace *trace, const struct selector *selector,
                      const struct graph_list *list, uint32_t ref)
{
    struct buf text = BUF_INIT;
    buf_put(&text, selector->tape);
    if (trace->n_recordings == 1)
        buf_putc(&text, ':');
    selector_print_graph(trace, list, ref, &text);
    buf_putc(&text, '\0');
    struct str name = text.failed ? (struct str){ 0 } : arena_copy(&job->texts, buf_str(&text));
    buf_release(&text);
    return name.p && vec_push(&job->graphs, name.p);
}

static bool list_graphs(struct minify_job *job, struct trace *trace,
                        const struct selector *selector, struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        const struct graph_ref *ref = &list->refs[i];
        bool wanted =
            ref->kind == GRAPH_DYNAMO && ref->attempt != TRACE_NONE &&
            selector_has_recording(trace, selector, trace->records[ref->record].recording) &&
            selector_has_attempt(trace, selector, ref->attempt);
        ok = !wanted || add_graph(job, trace, selector, list, i) || err_nomem(err);
    }
    return ok;
}

/* Returns false if the operand is no tape, or names a graph. */
static bool names_compiles(const char *operand, struct selector *ret)
{
    struct err ignored = { 0 };
    struct str text = str_of(operand);
    return !str_ends(text, STR(".fx")) && !str_ends(text, STR(".pt2")) && !str_is(text, "-") &&
           selector_parse(ret, text, &ignored) && !ret->kind.n;
}

bool minify_list_graphs(struct minify_job *job, struct err *err)
{
    const struct trace_options how = { .meter = &job->cmd->out->limit->meter };
    struct selector selector;
    if (!job->args->torch || job->args->cost || !names_compiles(job->operand, &selector))
        return true;
    char *path = strndup(selector.tape.p, selector.tape.n);
    if (!path)
        return err_nomem(err);
    struct trace *trace = trace_open(path, &how, err);
    free(path);
    if (!trace) {
        *err = (struct err){ 0 }; /* it may be FX text; reading it reports what is wrong */
        return true;
    }
    bool ok = list_graphs(job, trace, &selector, err);
    trace_close(trace);
    if (ok && job->graphs.n)
        job->operand = job->graphs.v[0];
    return ok && (!job->program || minify_name_files(job, err));
}

/* Replaces the graph that is asked about. */
static bool take_graph(struct minify_job *job, size_t i, struct err *err)
{
    job->operand = job->graphs.v[i];
    job->gradients = false;
    return minify_read_again(job, err);
}

bool minify_first_graph(struct minify_job *job, struct err *err)
{
    return job->graphs.n < 2 || job->operand == job->graphs.v[0] || take_graph(job, 0, err);
}

static bool ask_again(struct minify_job *job, struct err *err)
{
    return oracle_torch_again(job->torch_oracle, job->whole, &job->torch, err);
}

bool minify_drop_gradients(struct minify_job *job, struct err *err)
{
    bool had = job->gradients;
    job->gradients = false;
    return !had || minify_read_again(job, err);
}

/* Returns whether PyTorch's answer with gradients says something about the failure. Eager mode
 * fails with them, too, where an operator's own backward is wrong. That is the failure if it is the
 * one on the tape, or if the user named the question, which it answers. PyTorch may not be able to
 * tell whether the backward pass fails. */
static bool is_answer(const struct minify_job *job)
{
    const struct torch_first *torch = &job->torch;
    if (torch->eager.n)
        return torch->verdict == VERDICT_INTERESTING &&
               (!job->is_picked || minify_is_failure_of_tape(job, torch->error));
    return torch->verdict == VERDICT_INTERESTING || torch->verdict == VERDICT_BORING;
}

/* Goes back to the graph without gradients and to the answer about it. The oracle compares later
 * answers with its last one, and so it is asked again. */
static bool forget_gradients(struct minify_job *job, const struct torch_first *first,
                             struct err *err)
{
    bool ok = minify_drop_gradients(job, err) && ask_again(job, err);
    job->torch = *first;
    return ok;
}

/* A question that compares results has no answer where eager mode has none. */
static bool note_dropped(struct minify_job *job, struct err *err)
{
    struct str eager = job->torch.eager;
    if (!eager.n || job->is_picked)
        return true;
    if (!minify_hide_text(job, &eager, err))
        return false;
    out_note(job->cmd->out,
             "%s: with gradients, eager mode fails without any compiler (%.*s); it is asked "
             "without them",
             job->operand, STR_ARG(str_first(eager, 300)));
    return true;
}

bool minify_ask_gradients(struct minify_job *job, struct err *err)
{
    struct out *out = job->cmd->out;
    const struct torch_first first = job->torch;
    bool again = strcmp(job->operand, "-") != 0; /* standard input is read once */
    if (job->torch.verdict != VERDICT_BORING || !again || !oracle_torch_computes(job->torch_oracle))
        return true;
    job->gradients = true;
    if (!minify_read_again(job, err))
        return false;
    if (!candidate_n_gradients(job->whole)) {
        job->gradients = false;
        return true;
    }
    out_progress(out, "running the whole graph in PyTorch, with its backward pass");
    bool ok = ask_again(job, err);
    out_progress_end(out);
    if (ok && !is_answer(job))
        return note_dropped(job, err) && forget_gradients(job, &first, err);
    if (ok && job->torch.verdict == VERDICT_INTERESTING)
        out_note(out,
                 "%s fails only if its inputs require gradients, as in the recording: "
                 "gradients are computed, too",
                 job->operand);
    return ok;
}

static void note_graphs(const struct minify_job *job, size_t boring)
{
    struct out *out = job->cmd->out;
    size_t n = job->graphs.n;
    const char *backend = job->args->backend;
    if (job->torch.verdict == VERDICT_INTERESTING)
        out_note(out, "%s is the first of %zu graphs that fails; it is reduced", job->operand, n);
    else if (boring == n)
        out_note(out, "none of the %zu graphs fails alone%s%s", n,
                 backend ? " with the backend " : "", backend ? backend : "");
    else
        out_note(out,
                 "none of the %zu graphs is known to fail alone; of %zu, PyTorch cannot tell it, "
                 "or they fail differently",
                 n, n - boring);
}

/* Asks about the graphs behind the first, until one fails; returns how many were right in *right,
 * which has counted the first. */
static bool ask_rest(struct minify_job *job, size_t *right, struct err *err)
{
    struct out *out = job->cmd->out;
    size_t n = job->graphs.n, i = 0;
    bool ok = true;
    while (ok && job->torch.verdict != VERDICT_INTERESTING && !atomic_load(job->options.stop) &&
           ++i < n) {
        out_progress(out, "running graph %zu of %zu in PyTorch", i + 1, n);
        ok = take_graph(job, i, err) && ask_again(job, err) && minify_ask_gradients(job, err);
        *right += job->torch.verdict == VERDICT_BORING;
    }
    out_progress_end(out);
    return ok;
}

bool minify_find_graph(struct minify_job *job, struct err *err)
{
    size_t n = job->graphs.n, right = job->torch.verdict == VERDICT_BORING;
    if (!ask_rest(job, &right, err))
        return false;
    if (n > 1 && !atomic_load(job->options.stop))
        note_graphs(job, right);
    job->all_right = n > 0 && right == n;
    return true;
}

bool minify_try_values(struct minify_job *job, struct err *err)
{
    static const struct {
        const char *name, *words;
    } kinds[] = {
#define VALUES(id, name, suffix, words) { name, words },
        REPRO_VALUES(VALUES)
#undef VALUES
    };
    struct out *out = job->cmd->out;
    const struct torch_first first = job->torch;
    bool ok = true;
    for (int k = 1; ok && k < REPRO_VALUES_KINDS && job->torch.verdict != VERDICT_INTERESTING &&
                    !atomic_load(job->options.stop);
         k++) {
        size_t right = 0;
        job->chosen.values = kinds[k].name;
        oracle_torch_set_values(job->torch_oracle, (enum repro_values)k);
        out_progress(out, "running the graphs with inputs that are %s", kinds[k].words);
        ok = take_graph(job, 0, err) && ask_again(job, err) && minify_ask_gradients(job, err) &&
             ask_rest(job, &right, err);
        if (ok && job->torch.verdict == VERDICT_INTERESTING)
            out_note(out, "%s fails with inputs that are %s (--values %s); it is reduced",
                     job->operand, kinds[k].words, kinds[k].name);
    }
    out_progress_end(out);
    if (ok && job->torch.verdict != VERDICT_INTERESTING) {
        job->chosen.values = NULL;
        oracle_torch_set_values(job->torch_oracle, REPRO_VALUES_NORMAL);
        job->torch = first;
    }
    return ok;
}
