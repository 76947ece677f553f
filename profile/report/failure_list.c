#include "profile/report/failure_list.h"

#include "profile/diagnosis/failures/failure_wording.h"
#include "profile/model/format.h"

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

bool failure_list_read(struct failure_list *list, struct trace *trace,
                       const struct selector *selector, struct err *err)
{
    *list = (struct failure_list){ .trace = trace };
    if (!has_unsuccessful_attempt(trace))
        return true;
    list->incidents = incidents_read_failures(trace, err);
    for (uint32_t i = 0; list->incidents && i < list->incidents->n_failures; i++) {
        const struct failure *failure = &list->incidents->failures[i];
        if (!failure->is_break && is_selected(trace, selector, failure) &&
            !vec_push(&list->v, failure))
            return err_nomem(err);
    }
    return list->incidents != NULL;
}

void failure_list_release(struct failure_list *list)
{
    vec_release(&list->v);
    incidents_free(list->incidents);
    list->incidents = NULL;
}

/* Appends "0/0 failed in PyTorch: UserError". */
static void put_failed_compile(const struct failure_list *list, const struct failure *failure,
                               struct buf *out)
{
    format_text(out,
                failure->attempt == TRACE_NONE ? STR("a compile")
                                               : list->trace->attempts[failure->attempt].compile,
                0);
    buf_puts(out, " failed in PyTorch");
    if (failure->type.n > 0)
        buf_puts(out, ": ");
    format_text(out, failure->type, 0);
}

static void put_failed_line(const struct failure *failure, struct buf *out)
{
    if (failure->file.n > 0) {
        buf_puts(out, ", ");
        format_place(out, failure->file, failure->line);
    }
}

void failure_list_print(const struct failure_list *list, struct buf *out)
{
    if (!list || list->v.n == 0)
        return;
    buf_puts(out, "; ");
    put_failed_compile(list, list->v.v[0], out);
    put_failed_line(list->v.v[0], out);
    if (list->v.n > 1)
        buf_printf(out, " (and %zu more)", list->v.n - 1);
}

void failure_list_note(const struct failure_list *list, size_t i, struct buf *out)
{
    enum { LONGEST = 240 }; /* columns of a cause */
    struct failure_wording words;
    failure_word(list->v.v[i], &words);
    struct str cause = buf_str(&words.cause);
    put_failed_compile(list, list->v.v[i], out);
    if (cause.n > 0)
        buf_puts(out, ": ");
    format_text(out, cause, LONGEST);
    put_failed_line(list->v.v[i], out);
    out->failed |= words.cause.failed;
    failure_wording_release(&words);
}

static void put_failures(const struct failure_list *list, struct json_writer *w)
{
    for (size_t i = 0; i < list->v.n; i++) {
        const struct failure *failure = list->v.v[i];
        uint32_t recording = list->trace->records[failure->record].recording;
        json_open_object(w, NULL);
        json_put_str(w, "recording", list->trace->recordings[recording].name);
        if (failure->attempt != TRACE_NONE) {
            json_put_str(w, "compile", list->trace->attempts[failure->attempt].compile);
            json_put_u64(w, "attempt", list->trace->attempts[failure->attempt].number);
        }
        json_put_str(w, "type", failure->type);
        json_put_str(w, "summary", failure->summary);
        json_put_str(w, "file", failure->file);
        json_put_u64(w, "line", failure->line);
        json_close(w);
    }
}

void failure_list_json(const struct failure_list *list, struct json_writer *w)
{
    json_open_array(w, "failures");
    for (; list; list = list->next)
        put_failures(list, w);
    json_close(w);
}
