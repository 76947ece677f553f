#include "trace/record/record_deep.h"

#include <stdlib.h>

#include "trace/base/intern.h"
#include "trace/events/metrics.h"

struct counter_reader {
    struct trace *trace;
    struct record_deep *deep;
    struct json doc;
    struct intern told; /* of not_wrapped: each is listed once */
    bool *has_side;     /* by recording */
    bool failed;
};

void record_deep_release(struct record_deep *deep)
{
    buf_release(&deep->not_wrapped);
    buf_release(&deep->not_recorded);
}

static void add_to_list(struct buf *list, struct str text)
{
    buf_puts(list, list->n ? ", " : "");
    buf_put(list, text);
}

static void add_not_wrapped(struct counter_reader *r, json_id item)
{
    struct buf text = BUF_INIT;
    json_decode(&r->doc, json_get(&r->doc, item, STR("what")), &text);
    buf_puts(&text, " (");
    json_decode(&r->doc, json_get(&r->doc, item, STR("why")), &text);
    buf_putc(&text, ')');
    size_t known = r->told.texts.n;
    uint32_t id = text.failed ? INTERN_NONE : intern(&r->told, buf_str(&text));
    r->failed |= id == INTERN_NONE;
    if (id == known)
        add_to_list(&r->deep->not_wrapped, buf_str(&text));
    buf_release(&text);
}

static void read_process_record(struct counter_reader *r, uint32_t record)
{
    r->deep->processes++;
    r->has_side[r->trace->records[record].recording] = true;
    json_id list = json_get(&r->doc, JSON_ROOT, STR("not_wrapped"));
    if (json_kind_of(&r->doc, list) == JSON_ARRAY)
        for (json_id item = json_first(&r->doc, list); item != JSON_NONE;
             item = json_next(&r->doc, item))
            add_not_wrapped(r, item);
}

static uint64_t counter_number(const struct counter_reader *r, const char *key)
{
    uint64_t value = 0;
    json_u64(&r->doc, json_get(&r->doc, JSON_ROOT, str_of(key)), &value);
    return value;
}

static void read_record_metadata(struct counter_reader *r, uint32_t record, enum event event)
{
    switch (event) {
    case EVENT_SYMTAPE_DEEP:
        read_process_record(r, record);
        r->deep->lost += counter_number(r, "lost");
        r->deep->overhead_ns += counter_number(r, "overhead_ns");
        break;
    case EVENT_SYMTAPE_DISPATCHES: r->deep->dispatches += counter_number(r, "dispatches"); break;
    case EVENT_SYMTAPE_SHAPE_ENV: r->deep->env_calls += counter_number(r, "calls"); break;
    case EVENT_SYMTAPE_TOTALS:
        r->deep->disagreements +=
            json_kind_of(&r->doc, json_get(&r->doc, JSON_ROOT, STR("agree"))) == JSON_FALSE;
        break;
    default: break;
    }
}

static bool read_deep_records(struct counter_reader *r, struct err *err)
{
    const struct trace *trace = r->trace;
    for (uint32_t i = 0; i < trace->n_records; i++) {
        enum event event = trace->records[i].event;
        struct err why = { 0 };
        r->deep->partial_graphs +=
            event == EVENT_SYMTAPE_PARTIAL_DYNAMO_GRAPH || event == EVENT_SYMTAPE_PARTIAL_AOT_GRAPH;
        if (event < EVENT_SYMTAPE_DEEP || event > EVENT_SYMTAPE_TOTALS)
            continue;
        if (record_json(trace, i, &r->doc, &why))
            read_record_metadata(r, i, event);
        else if (why.kind != ERR_INPUT)
            return *err = why, false;
    }
    return !r->failed || err_nomem(err);
}

static bool sum_compiling(struct trace *trace, struct record_deep *deep, struct err *err)
{
    struct metrics_list *list = metrics_read(trace, err);
    if (!list)
        return false;
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t ns = list->metrics[i].values[METRIC_ENTIRE_FRAME_COMPILE];
        int64_t whole = list->metrics[i].values[METRIC_DURATION];
        ns = ns != METRIC_ABSENT ? ns : whole;
        deep->compile_ns += ns > 0 ? (uint64_t)ns : 0;
    }
    metrics_free(list);
    return true;
}

static void find_not_recorded(struct counter_reader *r)
{
    const struct trace *trace = r->trace;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        uint32_t recording = trace->attempts[i].recording;
        if (r->has_side[recording])
            continue;
        add_to_list(&r->deep->not_recorded, trace->recordings[recording].name);
        r->has_side[recording] = true; /* each is reported once */
    }
}

bool record_deep_read(struct trace *trace, struct record_deep *ret, struct err *err)
{
    struct counter_reader r = { .trace = trace,
                                .deep = ret,
                                .has_side = calloc((size_t)trace->n_recordings + 1, sizeof(bool)) };
    *ret = (struct record_deep){ 0 };
    bool ok = (r.has_side || err_nomem(err)) && read_deep_records(&r, err) &&
              sum_compiling(trace, ret, err);
    if (ok)
        find_not_recorded(&r);
    json_release(&r.doc);
    intern_release(&r.told);
    free(r.has_side);
    return ok && ((!ret->not_wrapped.failed && !ret->not_recorded.failed) || err_nomem(err));
}
