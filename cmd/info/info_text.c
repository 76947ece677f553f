#include "cmd/cmd.h"
#include "cmd/info/info_fields.h"
#include "profile/model/format.h"
#include "profile/model/human.h"

static void put_tape_sizes(const struct info *info, struct buf *text)
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

static uint64_t info_attempts(const struct info *info)
{
    uint64_t n = 0;
    for (size_t i = 0; i < info->n_tapes; i++) {
        const struct trace *trace = info->tapes[i].arg.trace;
        for (uint32_t k = 0; k < trace->n_attempts; k++)
            n += info_in_view(&info->tapes[i], trace->attempts[k].recording);
    }
    return n;
}

static void put_guard_count(const struct info *info, struct buf *text)
{
    format_plural(text, info->symbols, "symbol");
    buf_puts(text, ", ");
    format_plural(text, info->guards[GUARD_EVAL], "guard");
    if (info_attempts(info) > 0) {
        buf_puts(text, " of ");
        format_plural(text, info_attempts(info), "attempt");
    }
    buf_puts(text, " (not counted: ");
    format_count(text, info->guards[GUARD_SUPPRESSED]);
    buf_puts(text, " suppressed, ");
    format_plural(text, info->guards[GUARD_RUNTIME_ASSERT], "runtime assert");
    buf_puts(text, ")\n");
}

static int print_totals(const struct info *info)
{
    struct buf text = BUF_INIT;
    put_tape_sizes(info, &text);
    put_guard_count(info, &text);
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

/* Prints the table after its title, and releases it. */
static int print_rows(const struct info *info, const char *title, struct text_table *t)
{
    out_printf(info->out, "%s", title);
    int code = out_table(info->out, &t->table);
    table_release(&t->table);
    return code;
}

static int print_recordings(const struct info *info)
{
    struct text_table t;
    text_table_init(&t, &info_recording_fields, 0);
    for (size_t i = 0; i < info->n_tapes; i++) {
        const struct trace *trace = info->tapes[i].arg.trace;
        for (uint32_t k = 0; k < trace->n_recordings; k++)
            if (info_in_view(&info->tapes[i], k))
                text_table_row(&t, &info->tapes[i], &trace->recordings[k]);
    }
    return print_rows(info, "\n", &t);
}

static int print_compiles(const struct info *info)
{
    struct text_table t;
    text_table_init(&t, &info_attempt_fields, 0);
    for (size_t i = 0; i < info->n_tapes; i++) {
        const struct trace *trace = info->tapes[i].arg.trace;
        for (uint32_t k = 0; k < trace->n_attempts; k++)
            if (info_in_view(&info->tapes[i], trace->attempts[k].recording))
                text_table_row(&t, &info->tapes[i], &trace->attempts[k]);
    }
    return print_rows(info, table_rows(&t.table) ? "\n" : "\nno compile was recorded\n", &t);
}

/* Adds rows for the graphs of .pt2 archives and of records that name no compile. */
static int print_outside(const struct info *info)
{
    struct text_table t;
    text_table_init(&t, &info_graph_fields, 0);
    for (size_t i = 0; i < info->n_tapes; i++) {
        const struct info_tape *tape = &info->tapes[i];
        for (size_t k = 0; k < tape->graphs.n; k++)
            if (tape->graphs.v[k].ref->attempt == TRACE_NONE)
                text_table_row(&t, tape, &tape->graphs.v[k]);
    }
    return print_rows(info, table_rows(&t.table) ? "\n" : "", &t);
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
