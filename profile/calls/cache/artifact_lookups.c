#include "profile/calls/cache/artifact_lookups.h"

#include "profile/calls/cache/key_components.h"
#include "trace/base/intern.h"

/* The most names of components that are listed. */
enum { MOST_NAMES = 4 };

struct lookup_reader {
    struct trace *trace;
    struct artifact_lookups *ret;
    struct json doc;
    struct intern texts;
    struct buf text, names;
    vec_of(uint32_t)
    last; /* by text of "series name": the hash in the last look-up, or INTERN_NONE */
    struct err *err;
};

/* Returns a text's number; INTERN_NONE when memory ran out. */
static uint32_t number_text(struct lookup_reader *in, struct str series, struct str text)
{
    buf_clear(&in->names);
    buf_counted(&in->names, series);
    buf_put(&in->names, text);
    uint32_t ret = in->names.failed ? INTERN_NONE : intern(&in->texts, buf_str(&in->names));
    while (ret != INTERN_NONE && in->last.n <= ret)
        if (!vec_push(&in->last, INTERN_NONE))
            return INTERN_NONE;
    return ret;
}

/* Lists the components that the last look-up of the series did not have, and remembers all. */
static bool compare(struct lookup_reader *in, struct str series, json_id components,
                    struct artifact_lookup *row)
{
    struct buf names = BUF_INIT;
    struct key_component part;
    unsigned differ = 0;
    uint32_t seen = number_text(in, series, STR(""));
    bool ok = seen != INTERN_NONE, first = ok && in->last.v[seen] == INTERN_NONE;
    for (json_id c = json_first(&in->doc, components); ok && c != JSON_NONE;
         c = json_next(&in->doc, c)) {
        if (!key_component_read(&in->doc, c, &in->text, &part))
            continue;
        uint32_t id = number_text(in, series, part.name), now = intern(&in->texts, part.hash);
        ok = id != INTERN_NONE && now != INTERN_NONE;
        if (ok && !first && in->last.v[id] != now && differ++ < MOST_NAMES)
            buf_printf(&names, "%s%.*s", names.n ? ", " : "", STR_ARG(part.name));
        if (ok)
            in->last.v[id] = now;
    }
    if (differ > MOST_NAMES)
        buf_printf(&names, " and %u more", differ - MOST_NAMES);
    if (ok)
        in->last.v[seen] = 0;
    row->differs = names.failed ? (struct str){ 0 } : arena_copy(&in->ret->arena, buf_str(&names));
    ok = ok && row->differs.p;
    buf_release(&names);
    return ok || err_nomem(in->err);
}

static bool read_components(struct lookup_reader *in, const struct cache_event *event,
                            struct artifact_lookup *row)
{
    struct str payload;
    struct err why = { 0 };
    if (in->trace->records[event->record].payload == TRACE_NONE)
        return true;
    if (!trace_payload(in->trace, event->record, &payload, in->err))
        return false;
    if (!json_parse(&in->doc, payload, &why))
        return why.kind == ERR_INPUT || (*in->err = why, false);
    json_id components = json_get(&in->doc, JSON_ROOT, STR("components"));
    struct buf series = BUF_INIT;
    row->backward = key_is_of_backward(&in->doc, components, &in->text);
    struct str frame = str_first(row->compile, str_find_char(row->compile, '/'));
    buf_printf(&series, "%d %d %.*s", (int)row->kind, row->backward, STR_ARG(frame));
    bool ok = series.failed ? err_nomem(in->err) : compare(in, buf_str(&series), components, row);
    ok = ok && (!in->text.failed || err_nomem(in->err));
    buf_release(&series);
    return ok;
}

static bool add_lookup(struct lookup_reader *in, const struct cache_event *event)
{
    struct arena *arena = &in->ret->arena;
    struct artifact_lookup row = {
        .compile = in->trace->attempts[event->attempt].compile,
        .kind = event->kind,
        .state = event->state,
        .key = arena_copy(arena, event->key),
        .detail = arena_copy(arena, event->reason.n ? event->reason : event->detail),
        .differs = STR(""),
        .seconds = event->taken_ns < 0 ? -1 : (double)event->taken_ns / 1e9,
    };
    return row.key.p && row.detail.p ? read_components(in, event, &row) &&
                                           (vec_push(&in->ret->rows, row) || err_nomem(in->err))
                                     : err_nomem(in->err);
}

bool artifact_lookups_read(struct artifact_lookups *ret, struct trace *trace, uint32_t recording,
                           struct err *err)
{
    struct lookup_reader in = { .trace = trace, .ret = ret, .err = err };
    struct cache_list *list = caches_read(trace, NULL, err);
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        const struct cache_event *event = &list->events[i];
        if ((event->kind == CACHE_FX_GRAPH || event->kind == CACHE_AOTAUTOGRAD) &&
            event->state <= CACHE_BYPASS && event->attempt != TRACE_NONE &&
            trace->attempts[event->attempt].recording == recording)
            ok = add_lookup(&in, event);
    }
    caches_free(list);
    json_release(&in.doc);
    intern_release(&in.texts);
    buf_release(&in.text);
    buf_release(&in.names);
    vec_release(&in.last);
    return ok;
}

void artifact_lookups_release(struct artifact_lookups *lookups)
{
    vec_release(&lookups->rows);
    arena_release(&lookups->arena);
}
