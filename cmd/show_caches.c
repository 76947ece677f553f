#include "trace/caches.h"

#include "cmd/human.h"
#include "cmd/show.h"

static void release(void *items)
{
    caches_free(items);
}

static bool load(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct cache_list *list = caches_read(show->trace, NULL, err);
    *ret = list;
    *ret_n = list ? list->n : 0;
    return list;
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct cache_event *event = &((const struct cache_list *)items)->events[i];
    return (struct show_place){ .record = event->record, .attempt = event->attempt };
}

static void row(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct cache_event *event = &((const struct cache_list *)items)->events[i];
    char text[HUMAN_SIZE];
    bool known = event->kind != CACHE_OTHER && event->kind != CACHE_TRITON &&
                 event->state != CACHE_UNKNOWN;
    show_cell_compile(show, place(show, items, i), table);
    table_text(table, str_of(cache_kind_name(event->kind)));
    table_text(table, str_of(cache_state_name(event->state)));
    table_text(table, str_of(event->taken_ns < 0 ? "-" : human_ns(text, (uint64_t)event->taken_ns)));
    table_text(table, known ? STR("") : event->name);
    table_text(table, event->key.n ? event->key : STR("-"));
    table_text(table, event->reason.n ? event->reason : event->detail);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    const struct cache_event *event = &((const struct cache_list *)items)->events[i];
    struct json_writer *w = &show->w;
    json_put_cstr(w, "cache", cache_kind_name(event->kind));
    json_put_cstr(w, "result", cache_state_name(event->state));
    json_put_str(w, "name", event->name);
    json_put_str(w, "key", event->key);
    json_put_str(w, "reason", event->reason);
    json_put_str(w, "detail", event->detail);
    if (event->taken_ns < 0)
        json_put_null(w, "ns");
    else
        json_put_i64(w, "ns", event->taken_ns);
}

static const struct column columns[] = {
    { "compile", COLUMN_LEFT }, { "cache", COLUMN_LEFT }, { "state", COLUMN_LEFT },
    { "took", COLUMN_RIGHT },   { "name", COLUMN_WIDE },  { "key", COLUMN_WIDE },
    { "why", COLUMN_WIDE },
};

const struct show_view show_caches = {
    .key = "caches",
    .none = "no cache was looked up",
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .load = load,
    .release = release,
    .place = place,
    .row = row,
    .json = json,
};
