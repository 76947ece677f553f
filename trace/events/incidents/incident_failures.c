#include "trace/events/incidents/incident_reading.h"
#include "trace/events/incidents/incident_text.h"
#include "trace/events/user_line.h"

/* Sets the user's frame, from the metrics where they name it, otherwise from a traceback in `text`.
 * The metrics name the innermost frame that was traced, which may be a module of PyTorch
 * (fail_user_frame_filename: torch/_dynamo/convert_frame.py). */
static void locate_failure(struct failure *failure, struct str text)
{
    struct traceback_frame frame;
    if (!traceback_program_frame(traceback_of_user(text), &frame))
        return;
    if (failure->file.n == 0 ||
        (torch_is_own_file(failure->file) && !torch_is_own_file(frame.file))) {
        failure->file = frame.file;
        failure->line = frame.line;
    }
    if (failure->line == frame.line && str_eq(failure->file, frame.file))
        failure->code = frame.code;
}

/* Returns the text of an attempt's dynamo_error artifact, in the arena; "" without one. */
static bool error_text(struct incident_reader *r, uint32_t attempt, struct str *ret,
                       struct err *err)
{
    *ret = STR("");
    uint32_t record = attempt == TRACE_NONE ? TRACE_NONE : r->attempts[attempt].error;
    struct err unreadable = { 0 };
    if (record == TRACE_NONE)
        return true;
    return trace_payload_copy(r->trace, record, &r->arena, ret, &unreadable) ||
           incident_pass_over(&unreadable, err);
}

/* Sets the cause and the user's traceback from the texts of a failure, of which one may be "". */
static bool explain_failure(struct incident_reader *r, struct failure *failure, struct str text)
{
    struct str type, message;
    struct buf cause = BUF_INIT;
    failure->cause = STR("");
    failure->traceback = traceback_of_user(failure->reason);
    if (failure->traceback.n == 0)
        failure->traceback = traceback_of_user(text);
    if (!exception_cause(text, &type, &message) &&
        !exception_cause(failure->reason, &type, &message))
        return true;
    buf_printf(&cause, "%.*s: ", STR_ARG(type));
    buf_put(&cause, text_summary(message));
    failure->cause = cause.failed ? (struct str){ 0 } : arena_copy(&r->arena, buf_str(&cause));
    buf_release(&cause);
    return failure->cause.p != NULL;
}

static bool keep_failure(struct incident_reader *r, struct str text, struct str *ret)
{
    *ret = arena_copy(&r->arena, text);
    return ret->p != NULL;
}

/* Metrics that name no compile are those of torch.export, which logs them after the compile that it
 * traces (_dynamo_graph_capture_for_export and dynamo_graph_capture_for_export of
 * torch/_dynamo/functional_export.py): the last one that began before them, if it has no others. */
static uint32_t exported_attempt(const struct incident_reader *r, const struct metrics *m)
{
    const struct trace *trace = r->trace;
    uint32_t low = 0, high = trace->n_attempts; /* the first attempt after the metrics */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->attempts[middle].records[0] < m->record)
            low = middle + 1;
        else
            high = middle;
    }
    const struct attempt *attempt = low ? &trace->attempts[low - 1] : NULL;
    bool is_its = attempt && attempt->recording == trace->records[m->record].recording &&
                  attempt->status == ATTEMPT_UNFINISHED && !r->attempts[low - 1].metrics &&
                  !r->attempts[low - 1].exported;
    return is_its ? low - 1 : TRACE_NONE;
}

static bool add_from_metrics(struct incident_reader *r, const struct metrics *m, struct err *err)
{
    struct failure failure = { .record = m->record, .attempt = m->attempt, .code = STR("") };
    struct str text;
    if (m->attempt == TRACE_NONE) {
        failure.attempt = exported_attempt(r, m);
        failure.exported = failure.attempt != TRACE_NONE;
        if (failure.exported)
            r->attempts[failure.attempt].exported = true;
    }
    if (!error_text(r, failure.attempt, &text, err))
        return false;
    failure.text = text;
    if (!keep_failure(r, m->fail_type, &failure.type) ||
        !keep_failure(r, m->fail_reason, &failure.reason) ||
        !keep_failure(r, m->fail_file, &failure.file))
        return err_nomem(err);
    failure.line = m->fail_line;
    failure.summary = text_summary(failure.reason);
    locate_failure(&failure, failure.reason);
    locate_failure(&failure, text);
    if (!explain_failure(r, &failure, text))
        return err_nomem(err);
    uint32_t graph_break =
        failure.attempt == TRACE_NONE ? TRACE_NONE : r->attempts[failure.attempt].graph_break;
    if (graph_break != TRACE_NONE) {
        const struct graph_break *g = &r->breaks.v[graph_break];
        failure.is_break = g->skipped;
        if (failure.code.n == 0 && failure.line == g->line && str_eq(failure.file, g->file))
            failure.code = g->code;
    }
    return vec_push(&r->failures, failure) || err_nomem(err);
}

/* Adds the failure of a process that died with its error, and so has no metrics. */
static bool add_from_error(struct incident_reader *r, uint32_t attempt, struct err *err)
{
    struct failure failure = {
        .record = r->attempts[attempt].error,
        .attempt = attempt,
        .type = STR(""),
        .file = STR(""),
        .code = STR(""),
    };
    if (!error_text(r, attempt, &failure.reason, err))
        return false;
    failure.text = failure.reason;
    struct str message = failure.reason;
    exception_parse(failure.reason, &failure.type, &message);
    failure.summary = text_summary(message);
    locate_failure(&failure, failure.reason);
    return (explain_failure(r, &failure, STR("")) && vec_push(&r->failures, failure)) ||
           err_nomem(err);
}

static int by_failure_record(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;
    return (x->record > y->record) - (x->record < y->record);
}

bool incident_find_failures(struct incident_reader *r, struct err *err)
{
    for (uint32_t i = 0; i < r->metrics->n; i++) {
        const struct metrics *m = &r->metrics->metrics[i];
        if (m->fail_type.n > 0 && !add_from_metrics(r, m, err))
            return false;
    }
    for (uint32_t i = 0; i < r->trace->n_attempts; i++)
        if (r->attempts[i].error != TRACE_NONE && !r->attempts[i].metrics &&
            !r->attempts[i].exported && !add_from_error(r, i, err))
            return false;
    if (r->failures.n > 0)
        qsort(r->failures.v, r->failures.n, sizeof *r->failures.v, by_failure_record);
    return true;
}
