#include "cmd/info/info_fields.h"

#include "profile/model/format.h"

/* ---- Recordings ---- */

GETTER(get_kind, enum recording_kind, datum_name(*row == RECORDING_PT2 ? "pt2" : "log"))
GETTER_IN(get_tape, struct info_tape, void, datum_string(in->arg.trace->path))

static const struct field RECORDING[] = {
    { "name", MEMBER(struct recording, name), TEXT(2, "recording", PATH, 0) },
    { "rank", GET(get_known_i64, struct recording, rank), TEXT(3, "rank", DIGITS, 0) },
    { "pid", MEMBER(struct recording, pid), TEXT(4, "pid", DIGITS, 3) },
    { "tape", .get = get_tape, TEXT(1, "tape", PATH, 0) },
    { "kind", GET(get_kind, struct recording, kind) },
    { "source", MEMBER(struct recording, source) },
    { "torch_version", MEMBER(struct recording, torch_version), TEXT(5, "torch", WORD, 0) },
    { "records", MEMBER(struct recording, n_records), TEXT(6, "records", NUMBER, 1) },
    { "payloads", MEMBER(struct recording, payloads), TEXT(7, "payloads", NUMBER, 2) },
    { "damaged", MEMBER(struct recording, damaged), TEXT(8, "damaged", NUMBER, 0) },
    { "bytes", MEMBER(struct recording, bytes) },
    { "complete", MEMBER(struct recording, complete), TEXT(9, "whole", WORD, 0) },
};
const struct fields info_recording_fields = FIELDS_OF(RECORDING);

/* ---- Graphs ---- */

GETTER(get_unreadable, bool, *row ? datum_bool(true) : datum_absent())
GETTER(get_subgraphs, struct graph_counts, datum_count(row->graphs > 0 ? row->graphs - 1 : 0))
REACH(reach_counts, struct graph_row, row->unreadable ? NULL : &row->counts)

static struct datum get_graph_recording(const void *context, const void *at)
{
    const struct trace *trace = ((const struct info_tape *)context)->arg.trace;
    const struct graph_ref *ref = at;
    return datum_string(trace->recordings[trace->records[ref->record].recording].name);
}

static const struct field COUNTS[] = {
    { "inputs", MEMBER(struct graph_counts, inputs), TEXT(3, "inputs", NUMBER, 0) },
    { "nodes", MEMBER(struct graph_counts, nodes), TEXT(4, "nodes", NUMBER, 0) },
    { "calls", MEMBER(struct graph_counts, calls), TEXT(5, "calls", NUMBER, 0) },
    { "outputs", MEMBER(struct graph_counts, outputs), TEXT(6, "outputs", NUMBER, 0) },
    { "opaque", MEMBER(struct graph_counts, opaque) },
    { "subgraphs", .get = get_subgraphs },
};
static const struct fields COUNTS_FIELDS = FIELDS_OF(COUNTS);

static const struct field REF[] = {
    { NULL, .get = get_graph_recording, TEXT(1, "recording", TEXT, 0) },
    { "kind", MEMBER(struct graph_ref, name), TEXT(2, "graph outside compiles", TEXT, 0) },
    { "index", MEMBER(struct graph_ref, index) },
};
static const struct fields REF_FIELDS = FIELDS_OF(REF);

static const struct field GRAPH[] = {
    { NULL, BEHIND(REF_FIELDS, struct graph_row, ref) },
    { "unreadable", GET(get_unreadable, struct graph_row, unreadable) },
    { NULL, .group = &COUNTS_FIELDS, .reach = reach_counts },
};
const struct fields info_graph_fields = FIELDS_OF(GRAPH);

/* ---- Compiles ---- */

static uint32_t attempt_index(const struct info_tape *tape, const struct attempt *attempt)
{
    return (uint32_t)(attempt - tape->arg.trace->attempts);
}

/* Prints the graphs of an attempt: those of events, or the others. */
static void put_graphs(const struct info_tape *tape, uint32_t attempt, bool of_events,
                       struct json_writer *w, const char *key)
{
    json_open_array(w, key);
    for (size_t i = 0; i < tape->graphs.n; i++) {
        const struct graph_row *row = &tape->graphs.v[i];
        if (row->ref->attempt != attempt || row->ref->is_event != of_events)
            continue;
        json_open_object(w, NULL);
        fields_json(&info_graph_fields, tape, row, w);
        json_close(w);
    }
    json_close(w);
}

static void json_graphs(const void *context, const void *at, struct json_writer *w, const char *key)
{
    put_graphs(context, attempt_index(context, at), true, w, key);
}

static void json_other_graphs(const void *context, const void *at, struct json_writer *w,
                              const char *key)
{
    put_graphs(context, attempt_index(context, at), false, w, key);
}

static const struct field SUMS[] = {
    { "symbols", MEMBER(struct attempt_sums, symbols), TEXT(6, "symbols", NUMBER, 4) },
    { "guards", MEMBER(struct attempt_sums, guards), TEXT(7, "guards", NUMBER, 0) },
    { NULL, MEMBER(struct attempt_sums, graphs), TEXT(8, "graphs", NUMBER, 2) },
    { NULL, MEMBER(struct attempt_sums, calls), TEXT(9, "calls", NUMBER, 1) },
};
static const struct fields SUMS_FIELDS = FIELDS_OF(SUMS);

GETTER(get_status, enum attempt_status, datum_name(attempt_status_name(*row)))
GETTER_IN(get_recording, struct info_tape, uint32_t,
          datum_string(in->arg.trace->recordings[*row].name))
REACH_IN(reach_sums, struct info_tape, struct attempt, &in->sums[attempt_index(in, row)])

static const struct field ATTEMPT[] = {
    { "recording", GET(get_recording, struct attempt, recording), TEXT(1, "recording", PATH, 0) },
    { "id", MEMBER(struct attempt, compile), TEXT(2, "compile", WORD, 0) },
    { "attempt", MEMBER(struct attempt, number), TEXT(3, "attempt", NUMBER, 0) },
    { "status", GET(get_status, struct attempt, status), TEXT(4, "status", WORD, 0) },
    { "records", MEMBER(struct attempt, n_records), TEXT(5, "records", NUMBER, 3) },
    { NULL, .group = &SUMS_FIELDS, .reach = reach_sums },
    { "graphs", .json = json_graphs },
    { "other_graphs", .json = json_other_graphs },
};
const struct fields info_attempt_fields = FIELDS_OF(ATTEMPT);
