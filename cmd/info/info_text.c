#include <inttypes.h>

#include "cmd/cli/place.h"
#include "cmd/cmd.h"
#include "cmd/info/info.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/table.h"

static void put_sizes(const struct info *info, struct buf *text)
{
    char bytes[HUMAN_SIZE];
    format_plural(text, info->records, "record");
    buf_puts(text, ", ");
    format_plural(text, info->payloads, "payload");
    buf_printf(text, ", %s of log", human_bytes(bytes, info->bytes));
    if (info->tape_bytes)
        buf_printf(text, " in %s of tape (1/%.0f)", human_bytes(bytes, info->tape_bytes),
                   (double)info->bytes / (double)info->tape_bytes);
    buf_putc(text, '\n');
}

static void put_guards(const struct info *info, struct buf *text)
{
    format_plural(text, info->symbols, "symbol");
    buf_puts(text, ", ");
    format_plural(text, info->guards[GUARD_EVAL], "guard");
    buf_puts(text, " (not counted: ");
    format_count(text, info->guards[GUARD_SUPPRESSED]);
    buf_puts(text, " suppressed, ");
    format_plural(text, info->guards[GUARD_RUNTIME_ASSERT], "runtime assert");
    buf_puts(text, ")\n");
}

static int print_totals(const struct info *info)
{
    struct buf text = BUF_INIT;
    put_sizes(info, &text);
    put_guards(info, &text);
    if (info->damaged) {
        style_mark(out_styles(info->out), &text, STYLE_RED);
        format_plural(&text, info->damaged, "damaged place");
        style_mark(out_styles(info->out), &text, STYLE_NONE);
        buf_putc(&text, '\n');
    }
    int code = out_buf(info->out, &text);
    buf_release(&text);
    return code;
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
        table_text(table, recording->torch_version);
        table_u64(table, recording->n_records);
        table_u64(table, recording->payloads);
        table_u64(table, recording->damaged);
        table_text(table, recording->complete ? STR("yes") : STR("no"));
    }
}

static int print_recordings(const struct info *info)
{
    static const struct column columns[] = {
        { "tape", COLUMN_PATH },         { "recording", COLUMN_PATH }, { "rank", COLUMN_RIGHT },
        { "pid", COLUMN_RIGHT, 2 },      { "torch", COLUMN_LEFT },     { "records", COLUMN_RIGHT },
        { "payloads", COLUMN_RIGHT, 1 }, { "damaged", COLUMN_RIGHT },  { "whole", COLUMN_LEFT },
    };
    struct table table = TABLE(columns);
    for (size_t i = 0; i < info->n_tapes; i++)
        recording_rows(&info->tapes[i], &table);
    out_printf(info->out, "\n");
    int code = out_table(info->out, &table);
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
        { "recording", COLUMN_PATH },   { "compile", COLUMN_LEFT },
        { "attempt", COLUMN_RIGHT },    { "status", COLUMN_LEFT },
        { "records", COLUMN_RIGHT, 1 }, { "symbols", COLUMN_RIGHT, 2 },
        { "guards", COLUMN_RIGHT },     { "graphs", COLUMN_RIGHT },
        { "calls", COLUMN_RIGHT },
    };
    struct table table = TABLE(columns);
    for (size_t i = 0; i < info->n_tapes; i++)
        compile_rows(&info->tapes[i], &table);
    out_printf(info->out, "%s", table_rows(&table) ? "\n" : "\nno compile was recorded\n");
    int code = out_table(info->out, &table);
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
    struct table table = TABLE(columns);
    for (size_t i = 0; i < info->n_tapes; i++)
        outside_rows(&info->tapes[i], &table);
    out_printf(info->out, "%s", table_rows(&table) ? "\n" : "");
    int code = out_table(info->out, &table);
    table_release(&table);
    return code;
}

static int print_events(const struct info *info)
{
    static const struct column columns[] = { { "count", COLUMN_RIGHT }, { "event", COLUMN_WIDE } };
    struct table table = TABLE(columns);
    for (size_t i = 0; i < info->event_counts.n; i++) {
        table_u64(&table, info->event_counts.v[info->events[i]]);
        table_text(&table, intern_text(&info->event_names, info->events[i]));
    }
    out_printf(info->out, "\n");
    int code = out_table(info->out, &table);
    table_release(&table);
    return code;
}

int info_print_text(const struct info *info)
{
    int code = print_totals(info);
    if (code == EXIT_DONE)
        code = print_recordings(info);
    if (code == EXIT_DONE)
        code = print_compiles(info);
    if (code == EXIT_DONE)
        code = print_outside(info);
    return code == EXIT_DONE ? print_events(info) : code;
}
