#include "cmd/cli/event_text.h"
#include "cmd/cli/nearest.h"
#include "cmd/show/show.h"
#include "profile/model/human.h"

static struct str event_of(const struct trace *trace, uint32_t record)
{
    const struct record *r = &trace->records[record];
    return r->event == EVENT_RAW ? STR("raw") : trace_string(trace, r->name);
}

/* ERR_USAGE when no record is of the event asked for. */
static bool check_name(const struct show *show, struct err *err)
{
    struct str name = str_of(show->args->events);
    struct nearest search = nearest_of(name);
    for (uint32_t i = 0; i < show->trace->n_records; i++) {
        struct str event = event_of(show->trace, i);
        if (name.n == 0 || str_eq(event, name))
            return true;
        nearest_offer(&search, event);
    }
    if (search.best.n)
        return err_set(err, ERR_USAGE, "no event \"%.*s\"; did you mean \"%.*s\"?", STR_ARG(name),
                       STR_ARG(search.best));
    return err_set(err, ERR_USAGE, "no event \"%.*s\"; symtape info lists those there are",
                   STR_ARG(name));
}

static bool load(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    *ret = NULL;
    *ret_n = show->trace->n_records;
    return show->trace->n_records == 0 || check_name(show, err);
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)items;
    return (struct show_place){ .record = i, .attempt = show->trace->records[i].attempt };
}

static bool wanted(const struct show *show, const void *items, uint32_t i)
{
    (void)items;
    struct str name = str_of(show->args->events);
    return name.n == 0 || str_eq(event_of(show->trace, i), name);
}

/* The metadata, or for a raw record its bytes. */
static void cell_meta(struct show *show, uint32_t record, struct table *table)
{
    const struct record *r = &show->trace->records[record];
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    if (r->event == EVENT_RAW || !record_meta_json(show->trace, record, STACK_SHORT, &text, &err))
        buf_put(&text, r->meta);
    if (text.failed || err.kind == ERR_ENV)
        table->text.failed = true;
    table_text(table, buf_str(&text));
    buf_release(&text);
}

static void row(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct record *record = &show->trace->records[i];
    char size[HUMAN_SIZE];
    struct buf time = BUF_INIT;
    record_time(record, &time);
    if (time.failed)
        table->text.failed = true;
    table_printf(table, "%llu", (unsigned long long)record->line);
    table_text(table, record->event == EVENT_RAW ? STR("-") : buf_str(&time));
    show_cell_compile(show, place(show, items, i), table);
    table_text(table, event_of(show->trace, i));
    table_text(table, record->payload == TRACE_NONE
                          ? STR("-")
                          : str_of(human_bytes(size, trace_payload_size(show->trace, i))));
    cell_meta(show, i, table);
    buf_release(&time);
}

static const struct {
    enum record_flag flag;
    const char *name;
} FLAGS[] = {
    { RECORD_BAD_CHECKSUM, "bad_checksum" }, { RECORD_NO_PAYLOAD, "no_payload" },
    { RECORD_ODD_LAYOUT, "odd_layout" },     { RECORD_UNANNOUNCED, "unannounced_payload" },
    { RECORD_LOST_META, "lost_metadata" },
};

static void header_json(struct show *show, const struct record *record)
{
    struct json_writer *w = &show->w;
    struct buf time = BUF_INIT;
    record_time(record, &time);
    json_put_str(w, "time", buf_str(&time));
    json_put_u64(w, "month", record->month_day / 100);
    json_put_u64(w, "day", record->month_day % 100);
    json_put_u64(w, "pid", record->pid);
    json_open_object(w, "logged_by");
    json_put_str(w, "file", trace_string(show->trace, record->path));
    json_put_u64(w, "line", record->path_line);
    json_close(w);
    if (time.failed)
        show->text.failed = true;
    buf_release(&time);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    (void)items;
    const struct record *record = &show->trace->records[i];
    struct json_writer *w = &show->w;
    struct buf meta = BUF_INIT;
    struct err err = { 0 };
    json_put_u64(w, "offset", record->offset);
    json_put_str(w, "event", event_of(show->trace, i));
    if (record->event != EVENT_RAW)
        header_json(show, record);
    json_open_array(w, "flags");
    for (size_t f = 0; f < sizeof FLAGS / sizeof FLAGS[0]; f++)
        if (record->flags & FLAGS[f].flag)
            json_put_cstr(w, NULL, FLAGS[f].name);
    json_close(w);
    if (record->payload != TRACE_NONE)
        json_put_u64(w, "payload_bytes", trace_payload_size(show->trace, i));
    if (record->event == EVENT_RAW)
        json_put_str(w, "text", record->meta);
    else if (record_meta_json(show->trace, i, show->args->stack ? STACK_WHOLE : STACK_INNERMOST,
                              &meta, &err))
        json_put_raw(w, "meta", buf_str(&meta));
    else
        json_put_null(w, "meta");
    if (meta.failed)
        show->text.failed = true;
    buf_release(&meta);
}

static const struct column columns[] = {
    { "log line", COLUMN_RIGHT }, { "time", COLUMN_LEFT },     { "compile", COLUMN_LEFT },
    { "event", COLUMN_LEFT },     { "payload", COLUMN_RIGHT }, { "metadata", COLUMN_WIDE },
};

const struct show_view show_events = {
    .key = "events",
    .none = "no events",
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .load = load,
    .place = place,
    .wanted = wanted,
    .row = row,
    .json = json,
};
