#include <inttypes.h>

#include "cmd/cmd.h"
#include "cmd/human.h"
#include "cmd/info.h"
#include "cmd/place.h"
#include "cmd/table.h"

static void print_totals(const struct info *info)
{
    char records[HUMAN_SIZE], payloads[HUMAN_SIZE], bytes[HUMAN_SIZE], tape[HUMAN_SIZE];
    struct out *out = info->out;
    out_printf(out, "%s records, %s payloads, %s of log", human_count(records, info->records),
               human_count(payloads, info->payloads), human_bytes(bytes, info->bytes));
    if (info->tape_bytes)
        out_printf(out, " in %s of tape (1/%.0f)", human_bytes(tape, info->tape_bytes),
                   (double)info->bytes / (double)info->tape_bytes);
    out_printf(out, "\n%" PRIu64 " symbols, %" PRIu64 " guards (%" PRIu64 " suppressed, %" PRIu64
                    " runtime asserts)\n", info->symbols, info->guards[GUARD_EVAL],
               info->guards[GUARD_SUPPRESSED], info->guards[GUARD_RUNTIME_ASSERT]);
    if (info->damaged)
        out_printf(out, "%s%" PRIu64 " damaged %s%s\n", out_style(out, STYLE_RED), info->damaged,
                   info->damaged == 1 ? "place" : "places", out_style(out, STYLE_NONE));
}

static void recording_rows(const struct info_tape *tape, struct table *table)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        const struct recording *recording = &trace->recordings[i];
        if (!info_in_view(tape, i))
            continue;
        table_text(table, trace->path);
        table_text(table, recording->name);
        if (recording->rank < 0)
            table_text(table, STR("-"));
        else
            table_u64(table, (uint64_t)recording->rank);
        table_printf(table, "%" PRIu64, recording->pid);
        table_text(table, recording->torch_version.n ? recording->torch_version : STR("-"));
        table_u64(table, recording->n_records);
        table_u64(table, recording->payloads);
        table_u64(table, recording->damaged);
        table_text(table, recording->complete ? STR("yes") : STR("no"));
    }
}

static int print_recordings(const struct info *info)
{
    static const struct column columns[] = {
        { "tape", COLUMN_WIDE },     { "recording", COLUMN_WIDE }, { "rank", COLUMN_RIGHT },
        { "pid", COLUMN_RIGHT },     { "torch", COLUMN_LEFT },     { "records", COLUMN_RIGHT },
        { "payloads", COLUMN_RIGHT }, { "damaged", COLUMN_RIGHT }, { "whole", COLUMN_LEFT },
    };
    struct table table = table_of(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < info->n_tapes; i++)
        recording_rows(&info->tapes[i], &table);
    out_printf(info->out, "\n");
    int code = table_print(&table, info->out);
    table_release(&table);
    return code;
}

static void compile_rows(const struct info_tape *tape, struct table *table)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        const struct attempt *attempt = &trace->attempts[i];
        if (!info_in_view(tape, attempt->recording))
            continue;
        table_text(table, trace->recordings[attempt->recording].name);
        table_text(table, attempt->compile);
        table_u64(table, attempt->number);
        table_text(table, str_of(attempt_status_name(attempt->status)));
        table_u64(table, attempt->n_records);
        table_u64(table, tape->sums[i].symbols);
        table_u64(table, tape->sums[i].guards);
        table_u64(table, tape->sums[i].graphs);
        table_u64(table, tape->sums[i].calls);
    }
}

static int print_compiles(const struct info *info)
{
    static const struct column columns[] = {
        { "recording", COLUMN_WIDE }, { "compile", COLUMN_LEFT },  { "attempt", COLUMN_RIGHT },
        { "status", COLUMN_LEFT },    { "records", COLUMN_RIGHT }, { "symbols", COLUMN_RIGHT },
        { "guards", COLUMN_RIGHT },   { "graphs", COLUMN_RIGHT },  { "calls", COLUMN_RIGHT },
    };
    struct table table = table_of(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < info->n_tapes; i++)
        compile_rows(&info->tapes[i], &table);
    out_printf(info->out, "%s", table_rows(&table) ? "\n" : "\nno compile was recorded\n");
    int code = table_print(&table, info->out);
    table_release(&table);
    return code;
}

/* The graphs of .pt2 archives, and of records that name no compile. */
static void outside_rows(const struct info_tape *tape, struct table *table)
{
    const struct trace *trace = tape->arg.trace;
    for (size_t i = 0; i < tape->graphs.n; i++) {
        const struct graph_row *row = &tape->graphs.v[i];
        if (row->ref->attempt != TRACE_NONE)
            continue;
        table_text(table, trace->recordings[trace->records[row->ref->record].recording].name);
        table_text(table, row->ref->name);
        table_u64(table, row->counts.inputs);
        table_u64(table, row->counts.nodes);
        table_u64(table, row->counts.calls);
        table_u64(table, row->counts.outputs);
    }
}

static int print_outside(const struct info *info)
{
    static const struct column columns[] = {
        { "recording", COLUMN_WIDE }, { "graph outside compiles", COLUMN_WIDE },
        { "inputs", COLUMN_RIGHT },   { "nodes", COLUMN_RIGHT },
        { "calls", COLUMN_RIGHT },    { "outputs", COLUMN_RIGHT },
    };
    struct table table = table_of(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < info->n_tapes; i++)
        outside_rows(&info->tapes[i], &table);
    out_printf(info->out, "%s", table_rows(&table) ? "\n" : "");
    int code = table_print(&table, info->out);
    table_release(&table);
    return code;
}

static int print_events(const struct info *info)
{
    static const struct column columns[] = { { "count", COLUMN_RIGHT }, { "event", COLUMN_WIDE } };
    struct table table = table_of(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < info->event_counts.n; i++) {
        table_u64(&table, info->event_counts.v[info->events[i]]);
        table_text(&table, intern_text(&info->event_names, info->events[i]));
    }
    out_printf(info->out, "\n");
    int code = table_print(&table, info->out);
    table_release(&table);
    return code;
}

int info_print_text(const struct info *info)
{
    print_totals(info);
    int code = print_recordings(info);
    if (code == EXIT_DONE)
        code = print_compiles(info);
    if (code == EXIT_DONE)
        code = print_outside(info);
    return code == EXIT_DONE ? print_events(info) : code;
}
