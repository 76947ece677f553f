/* Tables: call_forms, calls. A few bytes of a tape can stand for many calls, so that what equal
 * calls share is written once. */
#include "profile/tables/rows.h"
#include "trace/events/calls.h"

struct call_rows {
    struct rows *rows;
    bool forms;            /* which table is written */
    uint32_t recording;    /* of the profile */
    int64_t n, n_forms;    /* written so far, in all recordings */
    struct intern numbers; /* rows of the tape of this recording, in the order of first use */
    int64_t first_form;    /* that of its first row */
    struct json doc;
    struct arena arena;
};

static void row_member(struct call_rows *in, enum export_column column, struct str key)
{
    json_id id = json_get(&in->doc, JSON_ROOT, key);
    struct str text = json_decoded(&in->doc, id, &in->arena);
    if (json_kind_of(&in->doc, id) == JSON_STRING)
        row_text(in->rows, column, text);
}

/* Writes what calls of a row share: its text without the number of a call. */
static bool put_form(struct call_rows *in, struct str rest, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_putc(&text, '{');
    buf_put(&text, str_trim(str_starts(rest, STR(",")) ? str_from(rest, 1) : rest));
    bool ok = (!text.failed || err_nomem(err)) && json_parse(&in->doc, buf_str(&text), err);
    if (ok) {
        row_integer(in->rows, COLUMN_call_forms_id, in->n_forms);
        row_id(in->rows, COLUMN_call_forms_recording_id, in->recording);
        row_member(in, COLUMN_call_forms_function, STR("function"));
        row_member(in, COLUMN_call_forms_code, STR("code"));
        row_member(in, COLUMN_call_forms_outcome, STR("outcome"));
        row_member(in, COLUMN_call_forms_answered, STR("answered"));
        row_member(in, COLUMN_call_forms_compile, STR("compile"));
        row_text(in->rows, COLUMN_call_forms_json, buf_str(&text));
        ok = row_put(in->rows);
    }
    arena_reset(&in->arena);
    buf_release(&text);
    return ok;
}

static bool put_call(struct call_rows *in, const struct recorded_call *call, int64_t form)
{
    row_integer(in->rows, COLUMN_calls_id, in->n++);
    row_id(in->rows, COLUMN_calls_recording_id, in->recording);
    row_count(in->rows, COLUMN_calls_number, call->number);
    row_count(in->rows, COLUMN_calls_parent, call->parent);
    row_count(in->rows, COLUMN_calls_backward_of, call->backward_of);
    row_integer(in->rows, COLUMN_calls_call_form_id, form);
    return row_put(in->rows);
}

static bool take_call(void *data, const struct recorded_call *call, struct err *err)
{
    struct call_rows *in = data;
    size_t before = in->numbers.texts.n;
    uint32_t number = intern(&in->numbers, BUILD_KEY(call->row));
    if (number == INTERN_NONE)
        return err_nomem(err);
    if (!in->forms)
        return put_call(in, call, in->first_form + number);
    if (number < before)
        return true;
    bool ok = put_form(in, call->rest, err);
    in->n_forms++;
    return ok;
}

/* Returns by recording of the trace whether calls of it were recorded; NULL when memory ran out. */
static bool *find_recorded(const struct trace *trace)
{
    bool *ret = calloc((size_t)trace->n_recordings + 1, sizeof *ret);
    for (uint32_t i = 0; ret && i < trace->n_records; i++)
        if (trace->records[i].event == EVENT_SYMTAPE_CALLS)
            ret[trace->records[i].recording] = true;
    return ret;
}

static bool put_recording(struct call_rows *in, uint32_t recording)
{
    struct recorded_calls calls = { .take = take_call, .data = in };
    bool ok = recorded_calls_read(in->rows->trace, recording, &calls, in->rows->err);
    recorded_calls_release(&calls);
    in->first_form += (int64_t)in->numbers.texts.n;
    intern_release(&in->numbers);
    in->numbers = INTERN_INIT;
    return ok;
}

/* Calls belong to no compile, so that there are none where one was selected. */
static bool put_calls(struct rows *rows, bool forms)
{
    const struct profile *profile = rows->profile;
    struct call_rows in = { .rows = rows, .forms = forms };
    bool *recorded = find_recorded(rows->trace);
    bool ok = recorded || err_nomem(rows->err);
    for (uint32_t i = 0; ok && profile->options.compile.n == 0 && i < profile->n_recordings; i++) {
        uint32_t recording = profile->recordings[i].recording;
        in.recording = i;
        ok = !recorded[recording] || put_recording(&in, recording);
    }
    free(recorded);
    json_release(&in.doc);
    arena_release(&in.arena);
    return ok;
}

bool rows_of_call_forms(struct rows *rows)
{
    return put_calls(rows, true);
}

bool rows_of_calls(struct rows *rows)
{
    return put_calls(rows, false);
}
