#include <stdlib.h>

#include "cmd/fx_arg.h"
#include "cmd/minify.h"
#include "trace/events/guards.h"
#include "trace/events/user_line.h"

enum { HINTS_MAX = 64 };

struct hint_list {
    struct cand_hint hints[HINTS_MAX];
    uint32_t n;
};

/* "s77=31,s27=8" */
static bool read_hints(struct hint_list *list, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "");
    while (rest.n) {
        struct str item = str_trim(str_first(rest, str_find_char(rest, ',')));
        rest = str_from(rest, str_find_char(rest, ',') + 1);
        size_t equals = str_find_char(item, '=');
        if (list->n == HINTS_MAX)
            return err_set(err, ERR_USAGE, "--set takes at most %d items", HINTS_MAX);
        struct cand_hint *hint = &list->hints[list->n++];
        hint->symbol = str_trim(str_first(item, equals));
        if (!hint->symbol.n || !str_to_i64(str_trim(str_from(item, equals + 1)), &hint->hint))
            return err_set(err, ERR_USAGE, "--set: \"%.*s\" is not SYMBOL=NUMBER, as in s77=31",
                           STR_ARG(item));
    }
    return true;
}

/* A guard that no operator asks for: its record knows the line of the branch that did. */
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

static bool read_tape(struct minify_job *job, const struct candidate_options *options,
                      struct err *err)
{
    struct selector selector;
    struct trace *trace = NULL;
    const char *operand = job->cmd->operands[0];
    if (!selector_parse(&selector, str_of(operand), err))
        return false;
    char *path = strndup(selector.tape.p, selector.tape.n);
    if (path)
        trace = trace_open(path, NULL, err);
    else
        err_nomem(err);
    free(path);
    if (trace &&
        (selector_check(trace, &selector, err) || err_at(err, "%.*s", STR_ARG(selector.tape))))
        job->whole = candidate_load(trace, &selector, options, err);
    if (job->whole && job->args->guard)
        find_asked_at(job, trace, &selector);
    trace_close(trace);
    return job->whole != NULL;
}

bool minify_read_input(struct minify_job *job, struct err *err)
{
    struct hint_list hints = { .n = 0 };
    if (!read_hints(&hints, job->args->set, err))
        return false;
    const struct candidate_options options = { .hints = hints.hints, .n_hints = hints.n };
    job->whole = fx_arg_read(job->cmd->operands[0], &options, err);
    return job->whole || (!err_is_set(err) && read_tape(job, &options, err));
}
