#include "profile/report/incident_fields.h"

#include "profile/model/format.h"

#define IN_REPORT(at, title, unit, spare) IN_TABLE(INCIDENT_REPORT, at, title, unit, spare)
#define IN_VIEW(at, title, unit, spare)   IN_TABLE(INCIDENT_VIEW, at, title, unit, spare)

/* ---- Restarts ---- */

static void cell_restart(const void *context, const void *at, struct buf *out)
{
    const struct restart *restart = at;
    (void)context;
    buf_put(out, restart->meaning);
    buf_puts(out, restart->meaning.n > 0 ? ": " : "");
    format_text(out, restart->summary, 0);
}

static const struct field RESTART[] = {
    { "reason", MEMBER(struct restart, reason) },
    { "summary", MEMBER(struct restart, summary), IN_VIEW(3, "reason", TEXT, 0) },
    { "meaning", MEMBER(struct restart, meaning), IN_VIEW(8, "meaning", TEXT, 0) },
    { "ns", GET(get_known_i64, struct restart, ns), IN_REPORT(1, "thrown away", NS, 0),
      IN_VIEW(2, "time", NS, 0) },
    { "records", MEMBER(struct restart, n_records), IN_REPORT(4, "records", COUNT, 4),
      IN_VIEW(4, "records", NUMBER, 4) },
    { "graphs", MEMBER(struct restart, n_graphs), IN_REPORT(5, "graphs", COUNT, 2),
      IN_VIEW(5, "graphs", NUMBER, 2) },
    { "symbols", MEMBER(struct restart, n_symbols), IN_REPORT(6, "symbols", COUNT, 3),
      IN_VIEW(6, "symbols", NUMBER, 3) },
    { "guards", MEMBER(struct restart, n_guards), IN_REPORT(7, "guards", COUNT, 1),
      IN_VIEW(7, "guards", NUMBER, 1) },
    { NULL, .cell = cell_restart, IN_REPORT(8, "reason", TEXT, 0) },
};
const struct fields restart_fields = FIELDS_OF(RESTART);

/* ---- Recompiles ---- */

GETTER(get_reason_place, struct recompile_reason, datum_place(row->file, row->line, STR("")))

static const struct field REASON[] = {
    { "compile", MEMBER(struct recompile_reason, compile), IN_REPORT(3, "guard of", WORD, 0),
      IN_VIEW(4, "guard of", WORD, 0) },
    { "guard", MEMBER(struct recompile_reason, guard), IN_REPORT(5, "guard that failed", TEXT, 0),
      IN_VIEW(5, "guard that failed", TEXT, 0) },
    { "line", .get = get_reason_place, IN_REPORT(4, "used at", PATH, 0),
      IN_VIEW(6, "used at", PATH, 0) },
};
static const struct fields REASONS = FIELDS_OF(REASON);

REACH(first_reason, struct recompile, row->n_reasons > 0 ? row->reasons : NULL)

static void json_reasons(const void *context, const void *at, struct json_writer *w,
                         const char *key)
{
    const struct recompile *recompile = at;
    struct rows rows = ROWS(recompile->reasons, recompile->n_reasons);
    fields_json_rows(w, key, &REASONS, context, &rows, 0);
}

static const struct field RECOMPILE[] = {
    { "ns", GET(get_known_i64, struct recompile, ns), IN_REPORT(1, "time", NS, 0),
      IN_VIEW(2, "time", NS, 0) },
    { NULL, MEMBER(struct recompile, n_reasons), IN_VIEW(3, "reasons", NUMBER, 1) },
    { "reasons", .json = json_reasons, .group = &REASONS, .reach = first_reason },
};
const struct fields recompile_fields = FIELDS_OF(RECOMPILE);

/* ---- Graph breaks ---- */

GETTER(get_break_place, struct graph_break, datum_place(row->file, row->line, row->code))

static struct datum get_depth(const void *context, const void *at)
{
    int depth = *(const int *)at;
    (void)context;
    return depth < 0 ? datum_null() : datum_integer(depth);
}

GETTER(get_outcome, bool, datum_name(*row ? "given up" : "split"))
GETTER(get_help, struct graph_break,
       datum_string(row->skipped ? STR("frame not compiled") : row->hint))

static void cell_break(const void *context, const void *at, struct buf *out)
{
    const struct graph_break *graph_break = at;
    (void)context;
    format_text(out, graph_break->summary, 0);
    buf_puts(out, graph_break->code.n > 0 ? ": " : "");
    format_text(out, graph_break->code, 0);
}

static const struct field BREAK[] = {
    { "reason", MEMBER(struct graph_break, reason) },
    { "summary", MEMBER(struct graph_break, summary), IN_VIEW(6, "why", TEXT, 0) },
    { "explanation", MEMBER(struct graph_break, explanation) },
    { "hint", MEMBER(struct graph_break, hint) },
    { "line", .get = get_break_place, IN_REPORT(7, "user line", PATH, 0),
      IN_VIEW(4, "user line", PATH, 0) },
    { NULL, MEMBER(struct graph_break, code), IN_VIEW(5, "code", TEXT, 3) },
    { "function", MEMBER(struct graph_break, function) },
    { "depth", GET(get_depth, struct graph_break, depth), IN_REPORT(2, "depth", DIGITS, 4),
      IN_VIEW(2, "depth", DIGITS, 1) },
    { "skipped", MEMBER(struct graph_break, skipped) },
    { "graphs", MEMBER(struct graph_break, n_graphs), IN_REPORT(4, "graphs", COUNT, 3),
      IN_VIEW(3, "graphs", NUMBER, 2) },
    { NULL, MEMBER(struct graph_break, n_caused), IN_REPORT(3, "more compiles", COUNT, 2) },
    { NULL, GET(get_outcome, struct graph_break, skipped), IN_REPORT(6, "function", WORD, 0) },
    { NULL, .cell = cell_break, IN_REPORT(8, "why", TEXT, 0) },
    { NULL, .get = get_help, IN_VIEW(7, "what helps", TEXT, 4) },
};
const struct fields break_fields = FIELDS_OF(BREAK);

void json_break_caused(struct json_writer *w, const char *key, const struct trace *trace,
                       const struct graph_break *graph_break)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < graph_break->n_caused; i++)
        json_put_str(w, NULL, trace->attempts[graph_break->caused[i]].compile);
    json_close(w);
}

/* ---- Failures ---- */

GETTER(get_failure_place, struct failure, datum_place(row->file, row->line, row->code))

static const struct field FAILURE[] = {
    { "type", MEMBER(struct failure, type), IN_REPORT(2, "error", WORD, 0),
      IN_VIEW(2, "type", WORD, 0) },
    { "reason", MEMBER(struct failure, reason) },
    { "summary", MEMBER(struct failure, summary), IN_REPORT(4, "message", TEXT, 0),
      IN_VIEW(5, "message", TEXT, 0) },
    { "line", .get = get_failure_place, IN_REPORT(3, "user line", PATH, 0),
      IN_VIEW(3, "user line", PATH, 0) },
    { NULL, MEMBER(struct failure, code), IN_VIEW(4, "code", TEXT, 1) },
    { "cause", MEMBER(struct failure, cause), IN_VIEW(6, "cause", TEXT, 2) },
    { "graph_break", MEMBER(struct failure, is_break) },
};
const struct fields failure_fields = FIELDS_OF(FAILURE);

/* ---- Caches ---- */

GETTER(get_cache, enum cache_kind, datum_name(cache_kind_name(*row)))
GETTER(get_result, enum cache_state, datum_name(cache_state_name(*row)))

/* Returns the name if it says more than the cache and the result do. */
static struct datum get_odd_name(const void *context, const void *at)
{
    const struct cache_event *event = at;
    bool known =
        event->kind != CACHE_OTHER && event->kind != CACHE_TRITON && event->state != CACHE_UNKNOWN;
    (void)context;
    return datum_string(known ? STR("") : event->name);
}

GETTER(get_why, struct cache_event, datum_string(row->reason.n > 0 ? row->reason : row->detail))
GETTER(get_why_or_key, struct cache_event,
       datum_string(row->reason.n > 0 ? row->reason
                    : row->key.n > 0  ? row->key
                                      : row->name))

static const struct field CACHE[] = {
    { "cache", GET(get_cache, struct cache_event, kind), IN_REPORT(1, "cache", WORD, 0),
      IN_VIEW(2, "cache", WORD, 0) },
    { "result", GET(get_result, struct cache_event, state), IN_REPORT(2, "result", WORD, 0),
      IN_VIEW(3, "result", WORD, 0) },
    { "name", MEMBER(struct cache_event, name) },
    { NULL, .get = get_odd_name, IN_VIEW(5, "name", TEXT, 2) },
    { "key", MEMBER(struct cache_event, key), IN_VIEW(6, "key", TEXT, 1) },
    { "reason", MEMBER(struct cache_event, reason) },
    { "detail", MEMBER(struct cache_event, detail) },
    { NULL, .get = get_why, IN_VIEW(7, "why", TEXT, 0) },
    { NULL, .get = get_why_or_key, IN_REPORT(5, "why, or key", TEXT, 0) },
    { "ns", GET(get_known_i64, struct cache_event, taken_ns), IN_REPORT(4, "time", NS, 0),
      IN_VIEW(4, "time", NS, 0) },
};
const struct fields cache_fields = FIELDS_OF(CACHE);
