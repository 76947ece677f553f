#include "profile/model/build.h"
#include "profile/page/page_parts.h"
#include "trace/base/number.h"
#include "trace/events/calls.h"

/* Calls that follow each other and have one form are one row: a tape can have a million calls. */
enum { CALL_RUNS = 3000, ARGUMENT_TEXT = 200 };

struct call_run {
    uint32_t recording, form; /* form: in call_reader.forms */
    uint64_t first, n;        /* numbers of calls */
};

struct call_reader {
    struct intern forms; /* texts of JSON objects, in the order of first use */
    vec_of(uint32_t)
    form_of; /* by the order of first use of the tape's rows */
    struct intern rows;
    vec_of(struct call_run)
    runs;
    uint32_t recording; /* of the profile */
    uint64_t n_calls, n_skipped, runs_left_out;
    struct json doc;
    struct arena arena;
    struct buf text, arguments;
};

/* ---- Forms ---- */

static struct str text_member(struct call_reader *r, json_id object, const char *key)
{
    json_id id = json_get(&r->doc, object, str_of(key));
    return json_kind_of(&r->doc, id) == JSON_STRING ? json_decoded(&r->doc, id, &r->arena)
                                                    : STR("");
}

/* Appends "x [4, 8]" of a tensor, "k = 3" of a number. */
static void put_argument(struct call_reader *r, json_id argument)
{
    json_id size = json_get(&r->doc, argument, STR("size"));
    json_id value = json_get(&r->doc, argument, STR("value"));
    if (size == JSON_NONE && value == JSON_NONE)
        return;
    buf_puts(&r->arguments, r->arguments.n ? ", " : "");
    buf_put(&r->arguments, text_member(r, argument, "source"));
    buf_puts(&r->arguments, size != JSON_NONE ? " " : " = ");
    buf_put(&r->arguments, json_text(&r->doc, size != JSON_NONE ? size : value));
}

static void put_arguments(struct call_reader *r)
{
    json_id args = json_get(&r->doc, JSON_ROOT, STR("args"));
    buf_clear(&r->arguments);
    for (json_id a = json_first(&r->doc, args); a != JSON_NONE && r->arguments.n < ARGUMENT_TEXT;
         a = json_next(&r->doc, a))
        put_argument(r, a);
}

/* Returns the part in front of the last colon, or all. */
static struct str before_colon(struct str text)
{
    size_t n = text.n;
    while (n > 0 && text.p[n - 1] != ':')
        n--;
    return str_first(text, n > 0 ? n - 1 : text.n);
}

/* Writes "line" of "FILE:LINE:NAME". */
static void put_code_place(struct str code, struct json_writer *w)
{
    struct str place = before_colon(code), file = before_colon(place);
    int64_t line;
    if (file.n == place.n || !str_to_i64(str_from(place, file.n + 1), &line)) {
        json_put_null(w, "line");
        return;
    }
    json_open_object(w, "line");
    json_put_str(w, "file", file);
    json_put_i64(w, "line", line);
    json_put_str(w, "code", STR(""));
    json_close(w);
}

/* Parses what calls of a row share; what is no JSON is an object without members. */
static bool parse_row(struct call_reader *r, struct str rest, struct err *err)
{
    struct err why = { 0 };
    buf_clear(&r->text);
    buf_putc(&r->text, '{');
    buf_put(&r->text, str_trim(str_starts(rest, STR(",")) ? str_from(rest, 1) : rest));
    if (r->text.failed)
        return err_nomem(err);
    if (json_parse(&r->doc, buf_str(&r->text), &why))
        return true;
    return why.kind == ERR_ENV ? err_copy(err, &why) : json_parse(&r->doc, STR("{}"), err);
}

/* Returns the form of a row, INTERN_NONE with err set. */
static uint32_t form_of_row(struct call_reader *r, struct str rest, struct err *err)
{
    if (!parse_row(r, rest, err))
        return INTERN_NONE;
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    struct str compile = text_member(r, JSON_ROOT, "compile");
    put_arguments(r);
    json_open_object(&w, NULL);
    json_put_str(&w, "function", text_member(r, JSON_ROOT, "function"));
    json_put_str_or_null(&w, "outcome", text_member(r, JSON_ROOT, "outcome"));
    json_put_str_or_null(&w, "compile",
                         compile.n ? compile : text_member(r, JSON_ROOT, "answered"));
    json_put_str(&w, "arguments", buf_str(&r->arguments));
    put_code_place(text_member(r, JSON_ROOT, "code"), &w);
    json_close(&w);
    bool failed = out.failed || r->arguments.failed;
    uint32_t form = failed ? INTERN_NONE : intern(&r->forms, buf_str(&out));
    if (form == INTERN_NONE)
        err_nomem(err);
    buf_release(&out);
    arena_reset(&r->arena);
    return form;
}

/* ---- Runs ---- */

static bool add_call(struct call_reader *r, uint64_t number, uint32_t form)
{
    struct call_run *last = r->runs.n ? &r->runs.v[r->runs.n - 1] : NULL;
    r->n_calls++;
    if (last && last->recording == r->recording && last->form == form &&
        last->first + last->n == number && r->runs_left_out == 0) {
        last->n++;
        return true;
    }
    if (r->runs.n >= CALL_RUNS) {
        r->runs_left_out++;
        return true;
    }
    return vec_push(&r->runs, ((struct call_run){ r->recording, form, number, 1 }));
}

static bool take_call(void *data, const struct recorded_call *call, struct err *err)
{
    struct call_reader *r = data;
    uint32_t known = intern(&r->rows, BUILD_KEY(call->row));
    if (known == INTERN_NONE)
        return err_nomem(err);
    if (known == r->form_of.n) {
        uint32_t form = form_of_row(r, call->rest, err);
        if (form == INTERN_NONE)
            return false;
        if (!vec_push(&r->form_of, form))
            return err_nomem(err);
    }
    return add_call(r, call->number, r->form_of.v[known]) || err_nomem(err);
}

/* ---- All ---- */

static bool read_recording(struct call_reader *r, const struct profile *profile, uint32_t recording,
                           struct err *err)
{
    const struct profile_recording *of = &profile->recordings[recording];
    struct recorded_calls calls = { .take = take_call, .data = r };
    r->recording = recording;
    bool ok = recorded_calls_read(profile->traces[of->input], of->recording, &calls, err);
    r->n_skipped += calls.skipped;
    recorded_calls_release(&calls);
    intern_release(&r->rows);
    r->rows = INTERN_INIT;
    r->form_of.n = 0;
    return ok;
}

static void runs_json(const struct call_reader *r, struct json_writer *w)
{
    json_open_array(w, "forms");
    for (uint32_t i = 0; i < r->forms.texts.n; i++)
        json_put_raw(w, NULL, intern_text(&r->forms, i));
    json_close(w);
    json_open_array(w, "runs");
    for (size_t i = 0; i < r->runs.n; i++) {
        const struct call_run *run = &r->runs.v[i];
        json_open_array(w, NULL);
        json_put_u64(w, NULL, run->recording);
        json_put_u64(w, NULL, run->first);
        json_put_u64(w, NULL, run->n);
        json_put_u64(w, NULL, run->form);
        json_close(w);
    }
    json_close(w);
}

/* Calls belong to no compile, so that there are none where one was selected. */
bool page_calls_json(const struct profile *profile, struct json_writer *w, struct err *err)
{
    struct call_reader r = { .n_calls = 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && profile->options.compile.n == 0 && i < profile->n_recordings; i++)
        ok = read_recording(&r, profile, i, err);
    json_open_object(w, "calls");
    runs_json(&r, w);
    json_put_u64(w, "n", r.n_calls);
    json_put_u64(w, "skipped", r.n_skipped);
    json_put_u64(w, "runs_left_out", r.runs_left_out);
    json_close(w);
    intern_release(&r.forms);
    vec_release(&r.form_of);
    vec_release(&r.runs);
    json_release(&r.doc);
    arena_release(&r.arena);
    buf_release(&r.text);
    buf_release(&r.arguments);
    return ok;
}
