#include "profile/calls/cache/cache_report.h"
#include "trace/base/text/json_write.h"

static struct str compile_or_none(const struct cache_run *run, uint32_t entry)
{
    return entry == CALL_NONE ? STR("") : run->entries.v[entry].compile;
}

static void put_check(const struct cache_run *run, const struct entry_check_row *check,
                      struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "entry", run->entries.v[check->entry].compile);
    if (check->verdict == GUARDS_UNDECIDED)
        json_put_null(w, "pass");
    else
        json_put_bool(w, "pass", check->verdict == GUARDS_PASS);
    json_put_str_or_null(w, "guard", check->reason);
    json_put_str_or_null(w, "source", check->source);
    json_close(w);
}

static void put_lookup(const struct cache_run *run, const struct lookup_row *row,
                       struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str_or_null(w, "code",
                         row->code == CALL_NONE ? STR("") : run->codes.v[row->code].name);
    json_put_cstr(w, "outcome", lookup_outcome_name(row->outcome));
    json_put_str_or_null(w, "answered", compile_or_none(run, row->answered));
    json_put_str_or_null(w, "compile", row->compile);
    json_put_cstr(w, "why", row->why);
    json_put_cstr(w, "limit", row->limit);
    json_open_array(w, "checks");
    for (uint32_t i = 0; i < row->n_checks; i++)
        put_check(run, lookup_check(run, row, i), w);
    json_close(w);
    json_close(w);
}

/* The call inside which a call was made. */
static void put_parent(const struct program_call *call, struct json_writer *w)
{
    if (call->parent < 0)
        json_put_null(w, "parent");
    else
        json_put_i64(w, "parent", call->parent);
}

/* Writes a call with its look-up and those inside it; returns the number of look-ups. */
static size_t put_call(const struct cache_run *run, const struct call_log *log, size_t first,
                       struct json_writer *w)
{
    const struct lookup_row *row = &run->lookups.v[first];
    const struct program_call *call = &log->calls.v[row->call];
    size_t n = 1;
    json_open_object(w, NULL);
    json_put_u64(w, "call", call->number);
    put_parent(call, w);
    json_put_str(w, "function", call->function);
    json_open_array(w, "lookups");
    put_lookup(run, row, w);
    for (; first + n < run->lookups.n && log->calls.v[run->lookups.v[first + n].call].inside; n++)
        put_lookup(run, &run->lookups.v[first + n], w);
    json_close(w);
    if (row->outcome == LOOKUP_HIT)
        json_put_double(w, "saved_seconds", run->entries.v[row->answered].seconds);
    else
        json_put_null(w, "saved_seconds");
    json_close(w);
    return n;
}

static void put_backward(const struct cache_run *run, const struct call_log *log,
                         const struct backward_row *row, struct json_writer *w)
{
    const struct program_call *call = &log->calls.v[row->call];
    json_open_object(w, NULL);
    json_put_u64(w, "call", call->number);
    put_parent(call, w);
    json_put_i64(w, "backward_of", call->backward_of);
    json_put_cstr(w, "outcome", lookup_outcome_name(row->outcome));
    json_put_str_or_null(w, "entry", compile_or_none(run, row->entry));
    json_put_double(w, "seconds", row->seconds);
    json_close(w);
}

static void put_totals(const struct lookup_totals *totals, struct json_writer *w)
{
    json_put_u64(w, "hits", totals->hits);
    json_put_u64(w, "compiles", totals->compiles);
    json_put_u64(w, "eager", totals->eager);
    json_put_u64(w, "unknown", totals->unknown);
    json_put_double(w, "compile_seconds", totals->compile_seconds);
}

static void put_entry(const struct cache_run *run, const struct cache_entry *entry,
                      struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "compile", entry->compile);
    json_put_str(w, "code", run->codes.v[entry->code].name);
    if (entry->region < 0)
        json_put_null(w, "region");
    else
        json_put_i64(w, "region", entry->region);
    json_put_str_or_null(w, "assumed_from", entry->assumed_from);
    json_put_u64(w, "hits", entry->hits);
    json_put_double(w, "seconds", entry->seconds);
    json_put_u64(w, "guards", entry->guards.leaves.n);
    json_put_u64(w, "undecidable", entry->guards.n_undecidable);
    json_close(w);
}

static void put_artifact(const struct artifact_lookup *row, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "compile", row->compile);
    json_put_cstr(w, "cache", cache_kind_name(row->kind));
    json_put_bool(w, "backward", row->backward);
    json_put_cstr(w, "outcome", cache_state_name(row->state));
    json_put_str_or_null(w, "key", row->key);
    json_put_str_or_null(w, "detail", row->detail);
    json_put_str_or_null(w, "differs", row->differs);
    if (row->seconds < 0)
        json_put_null(w, "seconds");
    else
        json_put_double(w, "seconds", row->seconds);
    json_close(w);
}

void cache_json_guessed(const struct cache_run *run, struct json_writer *w)
{
    json_open_array(w, "guessed");
    for (size_t i = 0; i < run->guessed.n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "function", run->guessed.v[i].function);
        json_put_str(w, "code", run->codes.v[run->guessed.v[i].code].name);
        json_close(w);
    }
    json_close(w);
}

void cache_json(const struct cache_run *run, const struct call_log *log, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_CACHE);
    json_open_object(&w, "totals");
    json_put_u64(&w, "calls", run->calls.lookups);
    put_totals(&run->calls, &w);
    json_open_object(&w, "inside");
    json_put_u64(&w, "lookups", run->inside.lookups);
    put_totals(&run->inside, &w);
    json_close(&w);
    json_open_object(&w, "backward");
    json_put_u64(&w, "calls", run->backward.lookups);
    put_totals(&run->backward, &w);
    json_close(&w);
    json_put_u64(&w, "contradictions", run->n_contradictions);
    json_put_u64(&w, "assumed", run->calls.assumed + run->inside.assumed);
    json_put_u64(&w, "unused", run->n_unused);
    json_put_double(&w, "saved_seconds", run->saved_seconds);
    json_close(&w);
    json_open_array(&w, "unlisted");
    for (size_t i = 0; i < run->unlisted.texts.n; i++)
        json_put_str(&w, NULL, run->unlisted.texts.v[i]);
    json_close(&w);
    cache_json_guessed(run, &w);
    json_open_object(&w, "limits");
    json_put_u64(&w, "recompile_limit", run->limits.recompile);
    json_put_u64(&w, "accumulated_recompile_limit", run->limits.accumulated);
    json_close(&w);
    json_open_array(&w, "calls");
    for (size_t i = 0; i < run->lookups.n;)
        i += put_call(run, log, i, &w);
    json_close(&w);
    json_open_array(&w, "backwards");
    for (size_t i = 0; i < run->backwards.n; i++)
        put_backward(run, log, &run->backwards.v[i], &w);
    json_close(&w);
    json_open_array(&w, "entries");
    for (size_t i = 0; i < run->entries.n; i++)
        put_entry(run, &run->entries.v[i], &w);
    json_close(&w);
    json_open_array(&w, "artifacts");
    for (size_t i = 0; i < run->artifacts.rows.n; i++)
        put_artifact(&run->artifacts.rows.v[i], &w);
    json_close(&w);
    json_open_array(&w, "order");
    for (size_t i = 0; i < run->codes.n; i++) {
        json_open_object(&w, NULL);
        json_put_str(&w, "code", run->codes.v[i].name);
        json_open_array(&w, "entries");
        for (size_t k = 0; k < run->codes.v[i].order.n; k++)
            json_put_str(&w, NULL, run->entries.v[run->codes.v[i].order.v[k]].compile);
        json_close(&w);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
