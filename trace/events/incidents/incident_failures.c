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

/* Returns the last attempt that began before a record, in the same recording; or TRACE_NONE. */
static uint32_t attempt_before(const struct trace *trace, uint32_t record)
{
    uint32_t low = 0, high = trace->n_attempts; /* the first attempt that began later */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->attempts[middle].records[0] < record)
            low = middle + 1;
        else
            high = middle;
    }
    bool same = low && trace->attempts[low - 1].recording == trace->records[record].recording;
    return same ? low - 1 : TRACE_NONE;
}

/* Metrics that name no compile are logged after what they are of: torch.export(strict=True)
 * (_dynamo_graph_capture_for_export and dynamo_graph_capture_for_export of
 * torch/_dynamo/functional_export.py) or aot_compile() (torch/_dynamo/aot_compile.py). Returns the
 * attempt before them, unless it has metrics: its own, or earlier ones that name no compile. */
static uint32_t attempt_of(struct incident_reader *r, const struct metrics *m)
{
    if (m->attempt != TRACE_NONE || m->backward || m->runtime)
        return m->attempt;
    uint32_t ret = attempt_before(r->trace, m->record);
    if (ret == TRACE_NONE || r->trace->attempts[ret].status != ATTEMPT_UNFINISHED ||
        r->attempts[ret].metrics || r->attempts[ret].unnamed)
        return TRACE_NONE;
    r->attempts[ret].unnamed = m;
    return ret;
}

/* Returns whether an exception is one of backends, which torch.export does not call
 * (torch/_dynamo/exc.py, torch/_inductor/exc.py). */
static bool is_of_backend(struct str type)
{
    return str_is(type, "BackendCompilerFailed") || str_is(type, "InductorError");
}

static bool add_from_metrics(struct incident_reader *r, const struct metrics *m, uint32_t attempt,
                             struct err *err)
{
    struct failure failure = { .record = m->record, .attempt = attempt, .code = STR("") };
    struct str text;
    failure.exported = attempt != m->attempt && !is_of_backend(m->fail_type);
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

/* Returns whether an attempt failed and no metrics say so. */
static bool needs_error(const struct incident_attempt *attempt)
{
    return attempt->error != TRACE_NONE && !attempt->metrics &&
           !(attempt->unnamed && attempt->unnamed->fail_type.n);
}

bool incident_find_failures(struct incident_reader *r, struct err *err)
{
    for (uint32_t i = 0; i < r->metrics->n; i++) {
        const struct metrics *m = &r->metrics->metrics[i];
        uint32_t attempt = attempt_of(r, m);
        if (m->fail_type.n > 0 && !add_from_metrics(r, m, attempt, err))
            return false;
    }
    for (uint32_t i = 0; i < r->trace->n_attempts; i++)
        if (needs_error(&r->attempts[i]) && !add_from_error(r, i, err))
            return false;
    if (r->failures.n > 0)
        qsort(r->failures.v, r->failures.n, sizeof *r->failures.v, by_failure_record);
    return true;
}
