#include "trace/events/caches.h"

#include "cmd/show/show.h"
#include "profile/report/incident_json.h"

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
    bool known =
        event->kind != CACHE_OTHER && event->kind != CACHE_TRITON && event->state != CACHE_UNKNOWN;
    show_cell_compile(show, place(show, items, i), table);
    table_text(table, str_of(cache_kind_name(event->kind)));
    table_text(table, str_of(cache_state_name(event->state)));
    table_ns(table, event->taken_ns);
    table_text(table, known ? STR("") : event->name);
    table_text(table, event->key);
    table_text(table, event->reason.n ? event->reason : event->detail);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    json_put_cache(&show->w, &((const struct cache_list *)items)->events[i]);
}

static const struct column columns[] = {
    { "compile", COLUMN_LEFT }, { "cache", COLUMN_LEFT },   { "result", COLUMN_LEFT },
    { "time", COLUMN_RIGHT },   { "name", COLUMN_WIDE, 2 }, { "key", COLUMN_WIDE, 1 },
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
