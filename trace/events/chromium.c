#include "trace/events/chromium.h"

#include "trace/base/intern.h"
#include "trace/base/text/decimal.h"

struct chromium_reader {
    struct chromium_list list; /* first, because it is what the caller sees and frees */
    vec_of(struct chromium_event)
    events;
    struct intern strings;
};

/* Converts microseconds with a fraction to nanoseconds. */
static bool microseconds(const struct json *doc, json_id id, int64_t *ret)
{
    return json_kind_of(doc, id) == JSON_NUMBER && decimal_scaled(json_text(doc, id), 3, ret);
}

/* Decodes and keeps the string under `id`; any other value gives "". */
static bool keep_string(struct chromium_reader *r, const struct json *doc, json_id id,
                        struct str *ret)
{
    *ret = STR("");
    if (json_kind_of(doc, id) != JSON_STRING)
        return true;
    struct buf decoded = BUF_INIT;
    json_decode(doc, id, &decoded);
    uint32_t string = decoded.failed ? INTERN_NONE : intern(&r->strings, buf_str(&decoded));
    buf_release(&decoded);
    if (string == INTERN_NONE)
        return false;
    *ret = intern_text(&r->strings, string);
    return true;
}

/* Reads the id of an asynchronous event, which is a string or a number. */
static bool keep_id(struct chromium_reader *r, const struct json *doc, json_id id, struct str *ret)
{
    if (json_kind_of(doc, id) != JSON_NUMBER)
        return keep_string(r, doc, id, ret);
    uint32_t string = intern(&r->strings, json_text(doc, id));
    if (string == INTERN_NONE)
        return false;
    *ret = intern_text(&r->strings, string);
    return true;
}

static bool keep_arguments(struct chromium_reader *r, const struct json *doc, json_id args,
                           struct chromium_event *event)
{
    json_id detail = json_get(doc, args, STR("fn_name"));
    if (detail == JSON_NONE)
        detail = json_get(doc, args, STR("kernel_name"));
    json_id backward = json_get(doc, args, STR("is_backward"));
    event->backward = json_kind_of(doc, backward) == JSON_TRUE;
    return keep_string(r, doc, json_get(doc, args, STR("compile_id")), &event->compile) &&
           keep_string(r, doc, detail, &event->detail);
}

static bool keep_chromium_event(struct chromium_reader *r, const struct json *doc,
                                struct chromium_event *event)
{
    struct str phase = json_str(doc, json_get(doc, JSON_ROOT, STR("ph")));
    event->phase = phase.n > 0 ? phase.p[0] : 0;
    event->timed = microseconds(doc, json_get(doc, JSON_ROOT, STR("ts")), &event->time_ns);
    microseconds(doc, json_get(doc, JSON_ROOT, STR("dur")), &event->duration_ns);
    if (event->duration_ns < 0)
        event->duration_ns = 0;
    json_u64(doc, json_get(doc, JSON_ROOT, STR("pid")), &event->pid);
    json_u64(doc, json_get(doc, JSON_ROOT, STR("tid")), &event->tid);
    return keep_string(r, doc, json_get(doc, JSON_ROOT, STR("name")), &event->name) &&
           keep_string(r, doc, json_get(doc, JSON_ROOT, STR("cat")), &event->category) &&
           keep_id(r, doc, json_get(doc, JSON_ROOT, STR("id")), &event->id) &&
           keep_arguments(r, doc, json_get(doc, JSON_ROOT, STR("args")), event) &&
           vec_push(&r->events, *event);
}

/* Reads one record. An unreadable payload is counted and is no error, because the other records
 * are still valid. */
static bool read_chromium_record(struct chromium_reader *r, struct trace *trace, uint32_t record,
                                 struct json *doc, struct err *err)
{
    struct str payload;
    struct err unreadable = { 0 };
    if (!trace_payload(trace, record, &payload, &unreadable) ||
        !json_parse(doc, payload, &unreadable) || json_kind_of(doc, JSON_ROOT) != JSON_OBJECT) {
        r->list.n_unreadable++;
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    }
    struct chromium_event event = {
        .record = record,
        .attempt = trace->records[record].attempt,
    };
    return keep_chromium_event(r, doc, &event) || err_nomem(err);
}

struct chromium_list *chromium_read(struct trace *trace, struct err *err)
{
    struct chromium_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_nomem(err);
        return NULL;
    }
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_records; i++)
        if (trace->records[i].event == EVENT_CHROMIUM_EVENT)
            ok = read_chromium_record(r, trace, i, &doc, err);
    json_release(&doc);
    r->list.events = r->events.v;
    r->list.n = (uint32_t)r->events.n;
    if (ok)
        return &r->list;
    chromium_free(&r->list);
    return NULL;
}

void chromium_free(struct chromium_list *list)
{
    struct chromium_reader *r = (struct chromium_reader *)list;
    if (!r)
        return;
    vec_release(&r->events);
    intern_release(&r->strings);
    free(r);
}
