#include "trace/events/metrics.h"

#include "trace/base/text/decimal.h"
#include "trace/base/vec.h"

struct metrics_reader {
    struct metrics_list list; /* first, because it is what the caller sees and frees */
    vec_of(struct metrics)
    metrics;
    struct arena arena;
};

enum unit { COUNT, BYTES, NANOSECONDS, MICROSECONDS, SECONDS };

static const struct {
    const char *name;
    enum unit unit;
} METRICS[METRIC_COUNT] = {
#define METRIC(id, name, unit) [METRIC_##id] = { name, unit },
#include "trace/events/metrics.def"
#undef METRIC
};

/* Returns the power of ten that converts the unit to that of the stored value. */
static int unit_scale(enum unit unit)
{
    switch (unit) {
    case MICROSECONDS: return 3;
    case SECONDS: return 9;
    default: return 0;
    }
}

const char *metric_name(enum metric metric)
{
    return METRICS[metric].name;
}

static bool keep_field(struct metrics_reader *r, const struct json *doc, json_id fields,
                       const char *key, struct str *ret)
{
    *ret = json_decoded(doc, json_get(doc, fields, str_of(key)), &r->arena);
    return ret->p != NULL;
}

static bool keep_restarts(struct metrics_reader *r, const struct json *doc, json_id reasons,
                          struct metrics *m)
{
    size_t n = json_kind_of(doc, reasons) == JSON_ARRAY ? json_count(doc, reasons) : 0;
    if (n == 0)
        return true;
    struct str *texts = arena_array(&r->arena, struct str, n);
    if (!texts)
        return false;
    size_t i = 0;
    for (json_id id = json_first(doc, reasons); id != JSON_NONE; id = json_next(doc, id)) {
        texts[i] = json_decoded(doc, id, &r->arena);
        if (!texts[i++].p)
            return false;
    }
    m->restart_reasons = texts;
    m->n_restart_reasons = (uint32_t)n;
    return true;
}

static uint32_t line_field(const struct json *doc, json_id fields, const char *key)
{
    uint64_t line = 0;
    json_u64(doc, json_get(doc, fields, str_of(key)), &line);
    return line <= UINT32_MAX ? (uint32_t)line : 0;
}

static void read_metric_values(const struct json *doc, json_id fields, struct metrics *m)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        m->values[i] = METRIC_ABSENT;
        json_id id = json_get(doc, fields, str_of(METRICS[i].name));
        if (json_kind_of(doc, id) == JSON_NUMBER)
            decimal_scaled(json_text(doc, id), unit_scale(METRICS[i].unit), &m->values[i]);
    }
}

static bool keep_metrics(struct metrics_reader *r, const struct json *doc, json_id fields,
                         struct metrics *m)
{
    read_metric_values(doc, fields, m);
    m->line = line_field(doc, fields, "co_firstlineno");
    m->fail_line = line_field(doc, fields, "fail_user_frame_lineno");
    return keep_field(r, doc, fields, "co_name", &m->function) &&
           keep_field(r, doc, fields, "co_filename", &m->file) &&
           keep_field(r, doc, fields, "fail_type", &m->fail_type) &&
           keep_field(r, doc, fields, "fail_reason", &m->fail_reason) &&
           keep_field(r, doc, fields, "fail_user_frame_filename", &m->fail_file) &&
           keep_field(r, doc, fields, "recompile_reason", &m->recompile_reason) &&
           keep_field(r, doc, fields, "cudagraph_skip_reason", &m->cudagraph_skip_reason) &&
           keep_restarts(r, doc, json_get(doc, fields, STR("restart_reasons")), m) &&
           vec_push(&r->metrics, *m);
}

static bool is_metrics(enum event event)
{
    return event == EVENT_COMPILATION_METRICS || event == EVENT_BWD_COMPILATION_METRICS ||
           event == EVENT_COMPILATION_METRICS_RUNTIME ||
           event == EVENT_BWD_COMPILATION_METRICS_RUNTIME;
}

static bool read_metrics_record(struct metrics_reader *r, struct trace *trace, uint32_t record,
                                struct json *doc, struct err *err)
{
    enum event event = trace->records[record].event;
    struct err unreadable = { 0 };
    if (!record_json(trace, record, doc, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    struct metrics m = {
        .record = record,
        .attempt = trace->records[record].attempt,
        .backward = event == EVENT_BWD_COMPILATION_METRICS ||
                    event == EVENT_BWD_COMPILATION_METRICS_RUNTIME,
        .runtime = event == EVENT_COMPILATION_METRICS_RUNTIME ||
                   event == EVENT_BWD_COMPILATION_METRICS_RUNTIME,
    };
    return keep_metrics(r, doc, JSON_ROOT, &m) || err_nomem(err);
}

struct metrics_list *metrics_read(struct trace *trace, struct err *err)
{
    struct metrics_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_nomem(err);
        return NULL;
    }
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_records; i++)
        if (is_metrics(trace->records[i].event))
            ok = read_metrics_record(r, trace, i, &doc, err);
    json_release(&doc);
    r->list.metrics = r->metrics.v;
    r->list.n = (uint32_t)r->metrics.n;
    if (ok)
        return &r->list;
    metrics_free(&r->list);
    return NULL;
}

void metrics_free(struct metrics_list *list)
{
    struct metrics_reader *r = (struct metrics_reader *)list;
    if (!r)
        return;
    vec_release(&r->metrics);
    arena_release(&r->arena);
    free(r);
}
