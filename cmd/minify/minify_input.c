#include <stdlib.h>

#include "cmd/cli/fx_arg.h"
#include "cmd/cli/hint_list.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/minify/minify.h"
#include "trace/events/guards.h"
#include "trace/events/user_line.h"

/* The record of a guard that no operator asks for has the line of the branch that added it. */
static void find_asked_at(struct minify_job *job, struct trace *trace,
                          const struct selector *selector)
{
    const struct guard_list *guards = trace_guards(trace, &(struct err){ 0 });
    for (uint32_t i = 0; guards && i < guards->n; i++) {
        const struct guard *guard = &guards->guards[i];
        if (!selector_has_attempt(trace, selector, guard->attempt) ||
            guard->kind == GUARD_SUPPRESSED || !str_eq(guard->expr, str_of(job->args->guard)))
            continue;
        uint32_t recording = trace->records[guard->record].recording;
        struct frame frame =
            stack_frame(trace, recording, user_line(trace, recording, guard->user_stack));
        if (frame.file.n)
            buf_printf(&job->asked_at, "%.*s:%u in %.*s: %.*s", STR_ARG(frame.file),
                       (unsigned)frame.line, STR_ARG(frame.function), STR_ARG(frame.code));
        return;
    }
}

/* What a compile costs begins with Dynamo's graph: it is meant where no kind is named. */
static void prefer_dynamo_graph(struct trace *trace, struct selector *selector)
{
    const struct graph_list *list = trace_graphs(trace, &(struct err){ 0 });
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct graph_ref *ref = &list->refs[i];
        if (ref->kind == GRAPH_DYNAMO && selector_has_attempt(trace, selector, ref->attempt) &&
            selector_has_recording(trace, selector, trace->records[ref->record].recording))
            selector->kind = str_of(graph_kind_name(GRAPH_DYNAMO));
    }
}

/* Returns whether AOTAutograd traced the compile for inference: inputs may require gradients, but
 * its calls did not compute any, as under torch.no_grad(). */
static bool is_inference(struct trace *trace, const struct selector *selector)
{
    const struct graph_list *list = trace_graphs(trace, &(struct err){ 0 });
    bool inference = false, trains = false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct graph_ref *ref = &list->refs[i];
        if (ref->attempt == TRACE_NONE || !selector_has_attempt(trace, selector, ref->attempt) ||
            !selector_has_recording(trace, selector, trace->records[ref->record].recording))
            continue;
        inference |= ref->kind == GRAPH_INFERENCE;
        trains |= ref->kind == GRAPH_JOINT || ref->kind == GRAPH_BACKWARD;
    }
    return inference && !trains;
}

static bool load_graph(struct minify_job *job, struct trace *trace, const struct selector *selector,
                       const struct candidate_options *options, struct err *err)
{
    struct candidate_options how = *options;
    how.gradients = options->gradients && !is_inference(trace, selector);
    job->whole = candidate_load(trace, selector, &how, err);
    return job->whole != NULL;
}

static bool read_tape_graph(struct minify_job *job, const struct candidate_options *options,
                            struct err *err)
{
    struct memory_limit *limit = job->cmd->out->limit;
    const struct trace_options how = { .meter = &limit->meter };
    struct selector selector;
    struct trace *trace = NULL;
    const char *operand = job->operand;
    if (!tape_selector_parse(&selector, operand, err))
        return false;
    char *path = strndup(selector.tape.p, selector.tape.n);
    if (path)
        trace = trace_open(path, &how, err);
    else
        err_nomem(err);
    free(path);
    if (trace && job->args->cost && !selector.kind.n)
        prefer_dynamo_graph(trace, &selector);
    if (trace && tape_check_programs(trace, job->cmd->out, err) &&
        ((selector_check(trace, &selector, err) && tape_check_kind(trace, &selector, err)) ||
         err_at(err, "%.*s", STR_ARG(selector.tape))))
        load_graph(job, trace, &selector, options, err);
    bool asks = job->args->torch || job->is_picked;
    bool good = !trace || !asks || minify_read_settings(job, trace, &selector, err);
    if (job->whole && job->args->guard && !job->args->anonymize)
        find_asked_at(job, trace, &selector);
    trace_close(trace);
    return job->whole && good;
}

bool minify_read_input(struct minify_job *job, struct err *err)
{
    struct hint_list hints = { .n = 0 };
    struct source_meter *meter = &job->cmd->out->limit->meter;
    bool read = hint_list_read(&hints, &job->args->sizes, meter, err);
    const struct candidate_options options = { .hints = hints.hints,
                                               .n_hints = hints.n,
                                               .gradients = job->gradients };
    if (read)
        job->whole = fx_arg_read(job->operand, &options, meter, err);
    read = read && (job->whole || (!err_is_set(err) && read_tape_graph(job, &options, err)));
    hint_list_release(&hints);
    return read && minify_hide_input(job, err);
}

bool minify_read_again(struct minify_job *job, struct err *err)
{
    candidate_free(job->whole);
    job->whole = NULL;
    cand_aliases_release(&job->aliases);
    job->aliases = (struct cand_aliases){ 0 };
    return minify_read_input(job, err);
}
