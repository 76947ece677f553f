#include "profile/report/incident_json.h"

void json_put_known(struct json_writer *w, const char *key, int64_t value)
{
    if (value < 0)
        json_put_null(w, key);
    else
        json_put_i64(w, key, value);
}

void json_put_line(struct json_writer *w, const char *key, struct str file, uint32_t line,
                   struct str code)
{
    if (file.n == 0) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    json_put_str(w, "file", file);
    json_put_u64(w, "line", line);
    json_put_str(w, "code", code);
    json_close(w);
}

void json_put_restart(struct json_writer *w, const struct restart *restart)
{
    json_put_str(w, "reason", restart->reason);
    json_put_str(w, "summary", restart->summary);
    json_put_str(w, "meaning", restart->meaning);
    json_put_known(w, "ns", restart->ns);
    json_put_u64(w, "records", restart->n_records);
    json_put_u64(w, "graphs", restart->n_graphs);
    json_put_u64(w, "symbols", restart->n_symbols);
    json_put_u64(w, "guards", restart->n_guards);
}

void json_put_recompile(struct json_writer *w, const struct recompile *recompile)
{
    json_put_known(w, "ns", recompile->ns);
    json_open_array(w, "reasons");
    for (uint32_t i = 0; i < recompile->n_reasons; i++) {
        const struct recompile_reason *reason = &recompile->reasons[i];
        json_open_object(w, NULL);
        json_put_str(w, "compile", reason->compile);
        json_put_str(w, "guard", reason->guard);
        json_put_line(w, "line", reason->file, reason->line, STR(""));
        json_close(w);
    }
    json_close(w);
}

void json_put_break(struct json_writer *w, const struct trace *trace,
                    const struct graph_break *graph_break)
{
    json_put_str(w, "reason", graph_break->reason);
    json_put_str(w, "summary", graph_break->summary);
    json_put_str(w, "explanation", graph_break->explanation);
    json_put_str(w, "hint", graph_break->hint);
    json_put_line(w, "line", graph_break->file, graph_break->line, graph_break->code);
    json_put_str(w, "function", graph_break->function);
    json_put_known(w, "depth", graph_break->depth);
    json_put_bool(w, "skipped", graph_break->skipped);
    json_put_u64(w, "graphs", graph_break->n_graphs);
    json_open_array(w, "caused");
    for (uint32_t i = 0; i < graph_break->n_caused; i++)
        json_put_str(w, NULL, trace->attempts[graph_break->caused[i]].compile);
    json_close(w);
}

void json_put_failure(struct json_writer *w, const struct failure *failure)
{
    json_put_str(w, "type", failure->type);
    json_put_str(w, "reason", failure->reason);
    json_put_str(w, "summary", failure->summary);
    json_put_line(w, "line", failure->file, failure->line, failure->code);
    json_put_bool(w, "graph_break", failure->is_break);
}

void json_put_cache(struct json_writer *w, const struct cache_event *event)
{
    json_put_cstr(w, "cache", cache_kind_name(event->kind));
    json_put_cstr(w, "result", cache_state_name(event->state));
    json_put_str(w, "name", event->name);
    json_put_str(w, "key", event->key);
    json_put_str(w, "reason", event->reason);
    json_put_str(w, "detail", event->detail);
    json_put_known(w, "ns", event->taken_ns);
}
