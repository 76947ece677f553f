#include "trace/events/deep/env_calls.h"

#include "trace/graph/traceback.h"
#include "trace/tables.h"

struct env_call_reader {
    struct json doc;
    struct env_call call;
    void (*take)(void *user, const struct env_call *call);
    void *user;
};

/* Returns the characters of an expression. Constants are numbers or truth values, not texts. */
static uint32_t characters_of(const struct json *doc, json_id expr)
{
    size_t n = json_kind_of(doc, expr) == JSON_STRING ? json_text(doc, expr).n : 0;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Gives a row to take(), if it is a call. */
static void take_row(struct env_call_reader *r)
{
    json_id expr = json_get(&r->doc, JSON_ROOT, STR("orig_expr"));
    r->call.method = json_str(&r->doc, json_get(&r->doc, JSON_ROOT, STR("call")));
    r->call.characters = characters_of(&r->doc, expr);
    if (r->call.method.n && json_u64(&r->doc, json_get(&r->doc, JSON_ROOT, STR("ns")), &r->call.ns))
        r->take(r->user, &r->call);
}

static bool take_rows(struct env_call_reader *r, struct str rows, struct err *err)
{
    struct str line;
    while (text_next_line(&rows, &line)) {
        struct err why = { 0 };
        if (json_parse(&r->doc, line, &why))
            take_row(r);
        else if (why.kind != ERR_INPUT)
            return *err = why, false;
    }
    return true;
}

bool env_calls_read(struct trace *trace, void (*take)(void *user, const struct env_call *call),
                    void *user, struct err *err)
{
    struct env_call_reader r = { .take = take, .user = user };
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_records; i++) {
        const struct record *record = &trace->records[i];
        struct str rows;
        if (record->event != EVENT_SYMTAPE_SHAPE_ENV || record->payload == TRACE_NONE)
            continue;
        r.call.record = i;
        r.call.attempt = record->attempt;
        ok = trace_payload(trace, i, &rows, err) && take_rows(&r, rows, err);
    }
    json_release(&r.doc);
    trace_forget_payloads(trace);
    return ok;
}
