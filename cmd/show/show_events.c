#include "cmd/cli/event_text.h"
#include "cmd/cli/nearest.h"
#include "cmd/show/show.h"
#include "profile/model/format.h"
#include "profile/model/human.h"

static struct str recorded_event_name(const struct trace *trace, uint32_t record)
{
    const struct record *r = &trace->records[record];
    return r->event == EVENT_RAW ? STR("raw") : trace_string(trace, r->name);
}

/* Fails with ERR_USAGE when no record has the requested event. */
static bool check_name(const struct show *show, struct err *err)
{
    struct str name = str_of(show->args->events);
    struct nearest search = nearest_of(name);
    for (uint32_t i = 0; i < show->trace->n_records; i++) {
        struct str event = recorded_event_name(show->trace, i);
        if (name.n == 0 || str_eq(event, name))
            return true;
        nearest_offer(&search, event);
    }
    if (search.best.n)
        return err_set(err, ERR_USAGE, "no event \"%.*s\"; did you mean \"%.*s\"?", STR_ARG(name),
                       STR_ARG(search.best));
    struct str option = show_nearest_option(name);
    if (option.n)
        return err_set(err, ERR_USAGE, "no event \"%.*s\"; did you mean --%.*s?", STR_ARG(name),
                       STR_ARG(option));
    return err_set(err, ERR_USAGE, "no event \"%.*s\"; symtape info lists the events of a tape",
                   STR_ARG(name));
}

static bool load_events(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    *ret = NULL;
    *ret_n = show->trace->n_records;
    return show->trace->n_records == 0 || check_name(show, err);
}

static struct show_place place_event(const struct show *show, const void *items, uint32_t i)
{
    (void)items;
    return (struct show_place){ .record = i, .attempt = show->trace->records[i].attempt };
}

static bool event_wanted(const struct show *show, const void *items, uint32_t i)
{
    (void)items;
    struct str name = str_of(show->args->events);
    return name.n == 0 || str_eq(recorded_event_name(show->trace, i), name);
}

static const void *event_item(struct show *show, void *items, uint32_t i)
{
    (void)items;
    return &show->trace->records[i];
}

/* ---- Fields ---- */

static const struct trace *event_trace(const void *context)
{
    return ((const struct show_row *)context)->show->trace;
}

static uint32_t index_in_attempt(const void *context, const struct record *record)
{
    return (uint32_t)(record - event_trace(context)->records);
}

static void cell_time(const void *context, const void *at, struct buf *out)
{
    const struct record *record = at;
    (void)context;
    if (record->event != EVENT_RAW)
        record_time(record, out);
}

static void json_time(const void *context, const void *at, struct json_writer *w, const char *key)
{
    struct buf time = BUF_INIT;
    cell_time(context, at, &time);
    json_put_str(w, key, buf_str(&time));
    w->out->failed |= time.failed;
    buf_release(&time);
}

GETTER(get_month, struct record, datum_count(row->month_day / 100))
GETTER(get_day, struct record, datum_count(row->month_day % 100))
GETTER_IN(get_string, void, uint32_t, datum_string(trace_string(event_trace(in), *row)))

static const struct field LOGGED_BY[] = {
    { "file", GET(get_string, struct record, path) },
    { "line", MEMBER(struct record, path_line) },
};
static const struct fields LOGGED_BY_FIELDS = FIELDS_OF(LOGGED_BY);

/* The fields before an event's own; a raw record has none of them. */
static const struct field HEADER[] = {
    { "time", .json = json_time, .cell = cell_time, TEXT(2, "time", WORD, 1) },
    { "month", .get = get_month },
    { "day", .get = get_day },
    { "pid", MEMBER(struct record, pid) },
    { "logged_by", .group = &LOGGED_BY_FIELDS },
};
static const struct fields HEADER_FIELDS = FIELDS_OF(HEADER);

static const void *reach_header(const void *context, const void *at)
{
    (void)context;
    return ((const struct record *)at)->event == EVENT_RAW ? NULL : at;
}

GETTER_IN(get_event, void, void,
          datum_string(recorded_event_name(event_trace(in), index_in_attempt(in, row))))

static const struct {
    enum record_flag flag;
    const char *name;
} FLAGS[] = {
    { RECORD_BAD_CHECKSUM, "bad_checksum" }, { RECORD_NO_PAYLOAD, "no_payload" },
    { RECORD_ODD_LAYOUT, "odd_layout" },     { RECORD_UNANNOUNCED, "unannounced_payload" },
    { RECORD_LOST_META, "lost_metadata" },
};

static void json_flags(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct record *record = at;
    (void)context;
    json_open_array(w, key);
    for (size_t f = 0; f < sizeof FLAGS / sizeof FLAGS[0]; f++)
        if (record->flags & FLAGS[f].flag)
            json_put_cstr(w, NULL, FLAGS[f].name);
    json_close(w);
}

GETTER_IN(get_payload, void, struct record,
          row->payload == TRACE_NONE
              ? datum_absent()
              : datum_count(trace_payload_size(event_trace(in), index_in_attempt(in, row))))

/* Prints the payload's size; an empty payload is printed, too. */
static void cell_payload(const void *context, const void *at, struct buf *out)
{
    char size[HUMAN_SIZE];
    struct datum payload = get_payload(context, at);
    if (payload.kind != DATUM_ABSENT)
        buf_puts(out, human_bytes(size, payload.as.count));
}

/* Adds the metadata, or the bytes of a raw record. */
static void cell_meta(const void *context, const void *at, struct buf *out)
{
    struct show *show = ((const struct show_row *)context)->show;
    const struct record *r = at;
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    if (r->event == EVENT_RAW ||
        !record_meta_json(show->trace, index_in_attempt(context, r), STACK_SHORT, &text, &err))
        buf_put(&text, r->meta);
    out->failed |= text.failed || err.kind == ERR_ENV;
    format_text(out, buf_str(&text), 0);
    buf_release(&text);
}

static void json_meta(const void *context, const void *at, struct json_writer *w, const char *key)
{
    struct show *show = ((const struct show_row *)context)->show;
    const struct record *r = at;
    struct buf meta = BUF_INIT;
    struct err err = { 0 };
    if (r->event == EVENT_RAW)
        json_put_str(w, "text", r->meta);
    else if (record_meta_json(show->trace, index_in_attempt(context, r),
                              show->args->stack ? STACK_WHOLE : STACK_INNERMOST, &meta, &err))
        json_put_raw(w, key, buf_str(&meta));
    else
        json_put_null(w, key);
    w->out->failed |= meta.failed;
    buf_release(&meta);
}

static const struct field EVENT[] = {
    { NULL, MEMBER(struct record, line), TEXT(1, "log line", DIGITS, 0) },
    SHOW_COMPILE(3),
    { "offset", MEMBER(struct record, offset) },
    { "event", .get = get_event, TEXT(4, "event", WORD, 0) },
    { NULL, .group = &HEADER_FIELDS, .reach = reach_header },
    { "flags", .json = json_flags },
    { "payload_bytes", .get = get_payload },
    { NULL, .cell = cell_payload, TEXT(5, "payload", BYTES, 2) },
    { "meta", .json = json_meta, .cell = cell_meta, TEXT(6, "metadata", TEXT, 0) },
};
static const struct fields EVENT_FIELDS = FIELDS_OF(EVENT);

const struct show_view show_events = {
    .key = "events",
    .none = "no events",
    .fields = &EVENT_FIELDS,
    .load = load_events,
    .place = place_event,
    .wanted = event_wanted,
    .item = event_item,
};
