#include "profile/calls/warm/warm_report.h"
#include "profile/diagnosis/settings/cache_reasons.h"
#include "trace/base/text/json_write.h"

static void put_seconds(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns < 0)
        json_put_null(w, key);
    else
        json_put_double(w, key, (double)ns / 1e9);
}

static void put_start(const struct start *start, const char *key, struct json_writer *w)
{
    json_open_object(w, key);
    json_put_u64(w, "compiles", start->n_compiles);
    put_seconds(w, "compile_seconds", start->compile_ns);
    json_put_u64(w, "graphs", start->graphs.n);
    json_open_array(w, "caches");
    for (int kind = 0; kind < CACHE_KINDS; kind++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "cache", cache_kind_name((enum cache_kind)kind));
        json_put_u64(w, "hits", start->counts[kind][CACHE_HIT]);
        json_put_u64(w, "misses", start->counts[kind][CACHE_MISS]);
        json_put_u64(w, "bypasses", start->counts[kind][CACHE_BYPASS]);
        json_put_u64(w, "off", start->counts[kind][CACHE_DISABLED]);
        put_seconds(w, "saved_seconds", start->saved_ns[kind]);
        json_close(w);
    }
    json_close(w);
    json_put_u64(w, "remote_hits", start->remote_hits);
    json_put_u64(w, "remote_misses", start->remote_misses);
    json_put_bool(w, "read_sizes", start->read_sizes);
    json_put_bool(w, "wrote_sizes", start->wrote_sizes);
    json_close(w);
}

static void put_totals(const struct warm_start *w, struct json_writer *j)
{
    json_open_object(j, "totals");
    json_put_u64(j, "again", w->counts[WARM_AGAIN]);
    json_put_u64(j, "new", w->counts[WARM_NEW]);
    json_put_u64(j, "traced", w->counts[WARM_TRACED]);
    json_put_u64(j, "taken", w->counts[WARM_TAKEN]);
    json_put_u64(j, "unasked", w->n_unasked);
    json_put_bool(j, "partial", w->partial);
    put_seconds(j, "again_seconds", w->ns[WARM_AGAIN]);
    put_seconds(j, "new_seconds", w->ns[WARM_NEW]);
    put_seconds(j, "saved_seconds", warm_start_saved_ns(w));
    json_close(j);
}

static void put_cause(const struct warm_group *group, struct json_writer *j)
{
    bool bypass = group->cause == CAUSE_BYPASS, guard = group->cause == CAUSE_GUARD;
    const struct cache_reason *reason = bypass ? cache_reason_of(group->what) : NULL;
    json_open_object(j, NULL);
    json_put_cstr(j, "outcome", warm_outcome_name(group->outcome));
    json_put_cstr(j, "cause", warm_cause_name(group->cause));
    json_put_u64(j, "graphs", group->n);
    put_seconds(j, "seconds", group->outcome == WARM_TRACED ? -1 : group->ns);
    json_put_str_or_null(j, "component", bypass || guard ? STR("") : group->what);
    json_put_str_or_null(j, "guard", guard ? group->what : STR(""));
    json_put_str_or_null(j, "message", bypass ? group->what : STR(""));
    json_put_cstr(j, "because", reason ? reason->because : NULL);
    json_put_cstr(j, "remedy", reason ? reason->text : NULL);
    json_close(j);
}

static void put_changes(const struct warm_start *w, const struct warm_row *row,
                        struct json_writer *j)
{
    json_open_array(j, "changes");
    for (uint32_t i = 0; i < row->n_changes; i++) {
        const struct key_change *change = &w->changes.v[row->first_change + i];
        json_open_object(j, NULL);
        json_put_str(j, "component", change->name);
        json_put_str_or_null(j, "before", change->before);
        json_put_str_or_null(j, "after", change->after);
        json_close(j);
    }
    json_close(j);
}

static struct str recording_of(const struct start *start, const struct start_graph *graph)
{
    return start->trace->recordings[start->trace->attempts[graph->attempt].recording].name;
}

static void put_graph(const struct warm_start *w, const struct warm_row *row, struct json_writer *j)
{
    const struct start_graph *graph = &w->warm.graphs.v[row->graph];
    const struct start_graph *cold = row->cold == WARM_NONE ? NULL : &w->cold.graphs.v[row->cold];
    json_open_object(j, NULL);
    json_put_str(j, "recording", recording_of(&w->warm, graph));
    json_put_str(j, "compile", graph->compile);
    json_put_str_or_null(j, "cold_recording", cold ? recording_of(&w->cold, cold) : STR(""));
    json_put_str_or_null(j, "cold_compile", cold ? cold->compile : STR(""));
    json_put_bool(j, "backward", graph->backward);
    json_put_str_or_null(j, "function", graph->function);
    json_put_str_or_null(j, "file", graph->file);
    json_put_u64(j, "line", graph->line);
    json_put_cstr(j, "outcome", warm_outcome_name(row->outcome));
    json_put_cstr(j, "cause", warm_cause_name(row->cause));
    json_put_cstr(j, "fx_graph", cache_state_name(graph->state));
    json_put_cstr(j, "aotautograd", graph->has_aot ? cache_state_name(graph->aot) : NULL);
    json_put_str_or_null(j, "key", intern_text(&w->texts.all, graph->key));
    json_put_str_or_null(j, "cold_key", cold ? intern_text(&w->texts.all, cold->key) : STR(""));
    json_put_str_or_null(j, "aotautograd_key",
                         graph->has_aot ? intern_text(&w->texts.all, graph->aot_key) : STR(""));
    json_put_str_or_null(j, "guard", graph->guard);
    json_put_str_or_null(j, "message", graph->reason);
    json_put_u64(j, "differ", row->n_differ);
    put_changes(w, row, j);
    put_seconds(j, "seconds", graph->ns);
    json_close(j);
}

void warm_json(const struct warm_start *w, struct buf *out)
{
    struct json_writer j = json_writer_of(out);
    json_open_object(&j, NULL);
    json_put_cstr(&j, "schema", SCHEMA_CACHE_COMPARE);
    put_totals(w, &j);
    put_start(&w->cold, "cold", &j);
    put_start(&w->warm, "warm", &j);
    json_open_array(&j, "causes");
    for (size_t i = 0; i < w->groups.n; i++)
        put_cause(&w->groups.v[i], &j);
    json_close(&j);
    json_open_array(&j, "graphs");
    for (size_t i = 0; i < w->rows.n; i++)
        put_graph(w, &w->rows.v[i], &j);
    json_close(&j);
    json_close(&j);
    buf_putc(out, '\n');
}
