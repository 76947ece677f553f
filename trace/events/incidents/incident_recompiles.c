#include "trace/events/incidents/incident_reading.h"
#include "trace/events/incidents/incident_text.h"

static struct recompile_reason recompile_reason_text(struct str text)
{
    struct recompile_text parsed = recompile_text_parse(text);
    return (struct recompile_reason){
        .compile = parsed.compile,
        .guard = parsed.guard,
        .file = parsed.file,
        .line = parsed.line,
        .code = parsed.code,
        .text = text,
    };
}

/* Reads a JSON list of strings; any other text is one reason. */
static bool read_reasons(struct incident_reader *r, struct str payload, struct recompile *ret)
{
    struct err not_json = { 0 };
    bool list =
        json_parse(&r->doc, payload, &not_json) && json_kind_of(&r->doc, JSON_ROOT) == JSON_ARRAY;
    if (not_json.kind == ERR_ENV)
        return false;
    size_t n = list ? json_count(&r->doc, JSON_ROOT) : 1;
    struct recompile_reason *reasons = arena_array(&r->arena, struct recompile_reason, n + 1);
    if (!reasons)
        return false;
    ret->reasons = reasons;
    if (!list)
        reasons[ret->n_reasons++] = recompile_reason_text(payload);
    for (json_id id = list ? json_first(&r->doc, JSON_ROOT) : JSON_NONE; id != JSON_NONE;
         id = json_next(&r->doc, id)) {
        struct str text =
            json_decoded(&r->doc, id, &r->arena); /* or a part of the payload's copy */
        if (!text.p)
            return false;
        reasons[ret->n_reasons++] = recompile_reason_text(text);
    }
    return true;
}

/* Names the compiles of a recompile's reasons. A guard's text has PyTorch's id only; compiles
 * after torch._dynamo.reset() have the same ids with a suffix. */
static bool name_compiles(struct incident_reader *r, struct recompile *recompile)
{
    struct str name = STR("");
    if (recompile->attempt != TRACE_NONE)
        name = r->trace->attempts[recompile->attempt].compile;
    struct str resets = str_from(name, str_find_char(name, '.'));
    struct recompile_reason *reasons = (struct recompile_reason *)recompile->reasons;
    for (size_t i = 0; i < recompile->n_reasons && resets.n; i++) {
        size_t n = reasons[i].compile.n;
        char *text = n ? arena_alloc(&r->arena, n + resets.n, 1) : NULL;
        if (!n)
            continue;
        if (!text)
            return false;
        memcpy(text, reasons[i].compile.p, n);
        memcpy(text + n, resets.p, resets.n);
        reasons[i].compile = (struct str){ text, n + resets.n };
    }
    return true;
}

bool incident_read_recompile(struct incident_reader *r, uint32_t record, struct err *err)
{
    struct str payload;
    struct err unreadable = { 0 };
    if (!trace_payload_copy(r->trace, record, &r->arena, &payload, &unreadable))
        return incident_pass_over(&unreadable, err);
    struct recompile recompile = {
        .record = record,
        .attempt = r->trace->records[record].attempt,
        .ns = -1,
    };
    uint32_t last = r->attempts[recompile.attempt].last;
    const struct metrics *metrics = r->attempts[last].metrics;
    if (metrics && metrics->values[METRIC_ENTIRE_FRAME_COMPILE] != METRIC_ABSENT)
        recompile.ns = metrics->values[METRIC_ENTIRE_FRAME_COMPILE];
    return (read_reasons(r, payload, &recompile) && name_compiles(r, &recompile) &&
            vec_push(&r->recompiles, recompile)) ||
           err_nomem(err);
}
