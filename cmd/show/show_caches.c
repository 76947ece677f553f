#include "trace/events/caches.h"

#include "cmd/show/show.h"
#include "profile/report/incident_fields.h"

static void release_caches(void *items)
{
    caches_free(items);
}

static bool load_caches(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct cache_list *list = caches_read(show->trace, NULL, err);
    *ret = list;
    *ret_n = list ? list->n : 0;
    return list;
}

static struct show_place place_cache(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct cache_event *event = &((const struct cache_list *)items)->events[i];
    return (struct show_place){ .record = event->record, .attempt = event->attempt };
}

static const void *cache_item(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct cache_list *)items)->events[i];
}

static const struct field CACHE[] = {
    { NULL, .cell = show_cell_compile, IN_TABLE(INCIDENT_VIEW, 1, "compile", WORD, 0) },
    { NULL, .group = &cache_fields },
};
static const struct fields CACHE_FIELDS = FIELDS_OF(CACHE);

const struct show_view show_caches = {
    .key = "caches",
    .none = "no cache was looked up",
    .fields = &CACHE_FIELDS,
    .table = INCIDENT_VIEW,
    .load = load_caches,
    .release = release_caches,
    .place = place_cache,
    .item = cache_item,
};
