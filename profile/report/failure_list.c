#include "profile/report/failure_list.h"

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
    list->incidents = incidents_read(trace, NULL, err);
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

void failure_list_print(const struct failure_list *list, struct buf *out)
{
    if (!list || list->v.n == 0)
        return;
    const struct failure *first = list->v.v[0];
    buf_puts(out, "; ");
    format_text(out,
                first->attempt == TRACE_NONE ? STR("a compile")
                                             : list->trace->attempts[first->attempt].compile,
                0);
    buf_puts(out, " failed in PyTorch");
    if (first->type.n > 0)
        buf_puts(out, ": ");
    format_text(out, first->type, 0);
    if (first->file.n > 0) {
        buf_puts(out, ", ");
        format_place(out, first->file, first->line);
    }
    if (list->v.n > 1)
        buf_printf(out, " (and %zu more)", list->v.n - 1);
}

void failure_list_json(const struct failure_list *list, struct json_writer *w)
{
    json_open_array(w, "failures");
    for (size_t i = 0; list && i < list->v.n; i++) {
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
    json_close(w);
}
