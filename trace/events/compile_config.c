#include "trace/events/compile_config.h"

struct config_reader {
    struct json doc, inner;
    struct buf text;
    struct arena *arena;
};

static enum config_flag read_flag(const struct json *doc, const char *key)
{
    json_id id = json_get(doc, JSON_ROOT, str_of(key));
    if (id == JSON_NONE)
        return CONFIG_UNKNOWN;
    switch (json_kind_of(doc, id)) {
    case JSON_TRUE: return CONFIG_ON;
    case JSON_FALSE: return CONFIG_OFF;
    default: return CONFIG_UNKNOWN;
    }
}

/* Parses the JSON text that a member holds as a string; false when there is none. */
static bool open_inner(struct config_reader *r, const char *key)
{
    struct err ignored = { 0 };
    json_id id = json_get(&r->doc, JSON_ROOT, str_of(key));
    buf_clear(&r->text);
    if (json_kind_of(&r->doc, id) != JSON_STRING)
        return false;
    json_decode(&r->doc, id, &r->text);
    return !r->text.failed && json_parse(&r->inner, buf_str(&r->text), &ignored);
}

static bool keep_pattern(struct config_reader *r, const char *key, struct str *ret)
{
    struct str text =
        json_decoded(&r->inner, json_get(&r->inner, JSON_ROOT, str_of(key)), r->arena);
    *ret = text.p ? arena_copy(r->arena, text) : text; /* the document goes */
    return ret->p != NULL;
}

static bool read_both_configs(struct config_reader *r, struct compile_config *ret)
{
    if (open_inner(r, "dynamo_config")) {
        ret->assume_static_by_default = read_flag(&r->inner, "assume_static_by_default");
        ret->automatic_dynamic_shapes = read_flag(&r->inner, "automatic_dynamic_shapes");
        ret->specialize_int = read_flag(&r->inner, "specialize_int");
        ret->specialize_float = read_flag(&r->inner, "specialize_float");
    }
    if (!r->text.failed && open_inner(r, "compiler_config"))
        return keep_pattern(r, "dynamic_sources", &ret->dynamic_sources) &&
               keep_pattern(r, "unbacked_sources", &ret->unbacked_sources);
    return !r->text.failed;
}

/* Returns the record of the compile's metrics, which belongs to its last attempt; or TRACE_NONE. */
static uint32_t find_metrics(const struct trace *trace, uint32_t attempt)
{
    uint32_t last = attempt;
    for (uint32_t next; (next = trace->attempts[last].next) != TRACE_NONE && next > last;)
        last = next;
    const struct attempt *a = &trace->attempts[last];
    for (uint32_t i = a->n_records; i-- > 0;)
        if (trace->records[a->records[i]].event == EVENT_COMPILATION_METRICS)
            return a->records[i];
    return TRACE_NONE;
}

bool compile_config_read(struct trace *trace, uint32_t attempt, struct arena *arena,
                         struct compile_config *ret, struct err *err)
{
    struct config_reader r = { .arena = arena };
    struct err unreadable = { 0 };
    uint32_t record = find_metrics(trace, attempt);
    bool ok = true;
    *ret = (struct compile_config){ .dynamic_sources = STR(""), .unbacked_sources = STR("") };
    if (record != TRACE_NONE && !record_json(trace, record, &r.doc, &unreadable))
        ok = unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    else if (record != TRACE_NONE)
        ok = read_both_configs(&r, ret) || err_nomem(err);
    json_release(&r.doc);
    json_release(&r.inner);
    buf_release(&r.text);
    return ok;
}
