#include "cmd/cli/recorded_failures.h"

#include "profile/model/format.h"
#include "trace/events/failure_text.h"
#include "trace/events/incidents.h"

enum { FAILURES_SHOWN = 3, LONGEST = 240 /* bytes of a message */ };

static bool has_unsuccessful_attempt(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->n_attempts; i++)
        if (trace->attempts[i].status == ATTEMPT_FAILED ||
            trace->attempts[i].status == ATTEMPT_UNFINISHED)
            return true;
    return false;
}

static bool is_selected(const struct trace *trace, const struct selector *selector,
                        const struct failure *failure)
{
    if (failure->attempt != TRACE_NONE)
        return selector_has_attempt(trace, selector, failure->attempt);
    return selector->compile.n == 0 &&
           selector_has_recording(trace, selector, trace->records[failure->record].recording);
}

/* Appends the telling part of a message: what a call raised, the item of a violated constraint,
 * else the first line. */
static void put_telling(const struct failure *failure, struct buf *out)
{
    struct failure_text text = failure_text_parse(failure->reason);
    size_t item = str_find(failure->reason, STR("\n  - "));
    size_t guard = str_find(text.summary, STR("Could not "));
    struct str telling = text.summary;
    if (guard < telling.n) {
        telling = str_from(telling, guard);
        telling = str_first(telling, str_find(telling, STR(".  (Size-like")));
    } else if (text.message.n > 0) {
        buf_printf(out, "%.*s: ", STR_ARG(text.call));
        telling = text.message;
    } else if (text.explanation.n > 0) {
        telling = text.explanation;
    } else if (item < failure->reason.n) {
        telling = str_from(failure->reason, item + 5);
        telling = str_first(telling, str_find_char(telling, '\n'));
    }
    buf_put(out, str_first(telling, LONGEST));
    if (telling.n > LONGEST)
        buf_puts(out, " ...");
}

static void note_failure(const struct trace *trace, const struct failure *failure, struct out *out)
{
    struct buf text = BUF_INIT;
    if (failure->attempt != TRACE_NONE)
        buf_printf(&text, "%.*s ", STR_ARG(trace->attempts[failure->attempt].compile));
    else
        buf_puts(&text, "a compile ");
    buf_puts(&text, "failed in PyTorch: ");
    if (failure->type.n > 0)
        buf_printf(&text, "%.*s: ", STR_ARG(failure->type));
    put_telling(failure, &text);
    if (failure->file.n > 0) {
        buf_puts(&text, ", ");
        format_place(&text, failure->file, failure->line);
    }
    if (!text.failed)
        out_note(out, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

bool note_recorded_failures(struct trace *trace, const struct selector *selector, struct out *out,
                            struct err *err)
{
    uint32_t n = 0;
    if (!has_unsuccessful_attempt(trace))
        return true;
    struct incidents *incidents = incidents_read(trace, NULL, err);
    for (uint32_t i = 0; incidents && i < incidents->n_failures; i++)
        if (!incidents->failures[i].is_break &&
            is_selected(trace, selector, &incidents->failures[i]) && n++ < FAILURES_SHOWN)
            note_failure(trace, &incidents->failures[i], out);
    if (n > FAILURES_SHOWN)
        out_note(out, "... and %u more", n - FAILURES_SHOWN);
    incidents_free(incidents);
    return incidents != NULL;
}
