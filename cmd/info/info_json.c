#include "cmd/cmd.h"
#include "cmd/info/info_fields.h"

static void put_json_row(const struct fields *fields, const struct info_tape *tape,
                         const void *item, struct json_writer *w)
{
    json_open_object(w, NULL);
    fields_json(fields, tape, item, w);
    json_close(w);
}

static void recordings_json(const struct info_tape *tape, struct json_writer *w)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        if (info_in_view(tape, i))
            put_json_row(&info_recording_fields, tape, &trace->recordings[i], w);
}

static void compiles_json(const struct info_tape *tape, struct json_writer *w)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_attempts; i++)
        if (info_in_view(tape, trace->attempts[i].recording))
            put_json_row(&info_attempt_fields, tape, &trace->attempts[i], w);
}

static void counts_json(const struct info *info, struct json_writer *w)
{
    json_put_u64(w, "records", info->records);
    json_put_u64(w, "payloads", info->payloads);
    json_put_u64(w, "damaged", info->damaged);
    json_put_u64(w, "bytes", info->bytes);
    json_put_u64(w, "tape_bytes", info->tape_bytes);
    json_put_u64(w, "symbols", info->symbols);
    json_open_object(w, "guards");
    for (int kind = 0; kind < GUARD_KINDS; kind++)
        json_put_u64(w, guard_kind_name((enum guard_kind)kind), info->guards[kind]);
    json_close(w);
    json_open_object(w, "events");
    for (size_t i = 0; i < info->event_counts.n; i++) {
        json_put_key(w, intern_text(&info->event_names, info->events[i]));
        json_put_u64(w, NULL, info->event_counts.v[info->events[i]]);
    }
    json_close(w);
}

int info_print_json(const struct info *info)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_INFO);
    counts_json(info, &w);
    json_open_array(&w, "recordings");
    for (size_t i = 0; i < info->n_tapes; i++)
        recordings_json(&info->tapes[i], &w);
    json_close(&w);
    json_open_array(&w, "compiles");
    for (size_t i = 0; i < info->n_tapes; i++)
        compiles_json(&info->tapes[i], &w);
    json_close(&w);
    json_open_array(&w, "graphs_outside_compiles");
    for (size_t i = 0; i < info->n_tapes; i++)
        for (size_t g = 0; g < info->tapes[i].graphs.n; g++)
            if (info->tapes[i].graphs.v[g].ref->attempt == TRACE_NONE)
                put_json_row(&info_graph_fields, &info->tapes[i], &info->tapes[i].graphs.v[g], &w);
    json_close(&w);
    json_close(&w);
    buf_putc(&text, '\n');
    int code = out_buf(info->out, &text);
    buf_release(&text);
    return code;
}
