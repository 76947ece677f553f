#include "profile/calls/cache/cache_report.h"
#include "profile/calls/levels/levels_report.h"
#include "profile/model/format.h"
#include "trace/events/user_line.h"

static void put_seconds(double seconds, struct buf *out)
{
    format_ns(out, (int64_t)(seconds * 1e9));
}

/* A time that is not recorded, or none, is an empty cell. */
static void put_time(struct table *table, double seconds)
{
    table_ns(table, seconds > 0 ? (int64_t)(seconds * 1e9) : -1);
}

/* "f", "f at 5" of torch_dynamo_resume_in_f_at_5 */
static void put_function(const struct levels_run *run, uint32_t code, struct buf *out)
{
    struct str name = run->cache.codes.v[code].function, function;
    bool resumes = function_resumes(name, &function);
    format_text(out, function, 0);
    if (!resumes)
        return;
    size_t line = name.n;
    while (line > 0 && name.p[line - 1] >= '0' && name.p[line - 1] <= '9')
        line--;
    buf_puts(out, line < name.n ? " at " : " resumed");
    format_text(out, str_from(name, line), 0);
}

/* ---- The answer ---- */

static void put_answer(const struct levels_run *run, struct buf *out)
{
    const struct level_counts *all = &run->all;
    buf_puts(out, "With levels ");
    format_plural(out, all->levels, "compile");
    buf_puts(out, " instead of ");
    format_count(out, all->recorded);
    if (all->recorded_seconds <= 0)
        return;
    buf_puts(out, "; about ");
    put_seconds(all->seconds, out);
    buf_puts(out, " instead of ");
    put_seconds(all->recorded_seconds, out);
}

/* The function whose calls run most graphs more than with levels. */
static void put_graphs_line(const struct levels_run *run, struct buf *out)
{
    const struct call_graphs *most = NULL;
    for (size_t i = 0; i < run->graphs.n; i++) {
        const struct call_graphs *row = &run->graphs.v[i];
        if (row->recorded > row->levels &&
            (!most || row->recorded - row->levels > most->recorded - most->levels))
            most = row;
    }
    if (!most)
        return;
    buf_puts(out, "a call of ");
    put_function(run, most->code, out);
    buf_puts(out, " runs ");
    format_plural(out, most->levels, "graph");
    buf_puts(out, " instead of ");
    format_count(out, most->recorded);
}

static void put_asked(const struct levels_run *run, struct buf *out)
{
    const struct asked_guards *asked = &run->asked;
    if (!asked->again)
        return;
    buf_puts(out, asked->partial ? "at least " : "");
    format_count(out, asked->again);
    buf_puts(out, " of ");
    format_count(out, asked->asked);
    buf_puts(out, " guards were asked twice: an entry that answered before in the same call has "
                  "them, too");
}

static void put_doubts(const struct levels_run *run, struct buf *out)
{
    if (!run->n_doubtful)
        return;
    format_plural(out, run->n_doubtful, "function");
    buf_puts(out, ": the replay of automatic dynamic shapes, on which these numbers rest, makes "
                  "another number of compiles than was recorded");
}

/* Writes a line, and makes the buffer empty. */
static void put_line(struct buf *line, const struct report_options *options, struct buf *out)
{
    if (line->n)
        format_wrapped(out, buf_str(line), options->width, 0, 0);
    out->failed |= line->failed;
    buf_clear(line);
}

static void put_head(const struct levels_run *run, const struct report_options *options,
                     struct buf *out)
{
    struct buf line = BUF_INIT;
    put_answer(run, &line);
    style_mark(options->styles, out, STYLE_BOLD);
    put_line(&line, options, out);
    style_mark(options->styles, out, STYLE_NONE);
    put_graphs_line(run, &line);
    put_line(&line, options, out);
    put_asked(run, &line);
    put_line(&line, options, out);
    if (run->n_copied) {
        format_plural(&line, run->n_copied, "backward");
        buf_puts(&line,
                 " with a gradient that is not contiguous: PyTorch copies it unless the output "
                 "has its layout");
        put_line(&line, options, out);
    }
    if (run->n_untimed) {
        format_plural(&line, run->n_untimed, "compile");
        buf_puts(&line,
                 " of a backward whose time the tape does not have, so that it is not counted");
        put_line(&line, options, out);
    }
    if (run->no_frames)
        buf_puts(&line, "graphs broke, and the list has no frames inside the calls: symtape "
                        "record --calls notes them");
    put_line(&line, options, out);
    if (run->backward.recorded && !run->cache.backwards.n)
        buf_puts(&line, "the list has no backward calls, so those compiles are as recorded");
    put_line(&line, options, out);
    if (run->cache.n_contradictions)
        cache_put_contradictions(run->cache.n_contradictions, &line);
    put_line(&line, options, out);
    put_doubts(run, &line);
    put_line(&line, options, out);
    buf_release(&line);
}

/* ---- Tables ---- */

static void put_counts(const struct level_counts *counts, struct table *table)
{
    table_u64(table, counts->recorded);
    table_u64(table, counts->levels);
    put_time(table, counts->recorded_seconds);
    put_time(table, counts->seconds);
}

static void put_levels(const struct levels_run *run, const struct report_options *options,
                       struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "level", COLUMN_MARKUP, 0 },      { "compiles", COLUMN_RIGHT, 0 },
        { "with levels", COLUMN_RIGHT, 0 }, { "time", COLUMN_RIGHT, 1 },
        { "estimate", COLUMN_RIGHT, 2 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->counts.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        if (i)
            table_printf(&table, "%u: after %u value%s", i + 1, i, i == 1 ? "" : "s");
        else
            table_text(&table, STR("1: the function"));
        put_counts(&run->counts.v[i], &table);
    }
    if (run->backward.recorded || run->backward.levels) {
        table_text(&table, STR("backward"));
        put_counts(&run->backward, &table);
        n++;
    }
    buf_puts(out, "\nCompiles by level; the estimate is the time with levels\n");
    report_table(&table, options, 0, n, out);
}

static void put_parts(const struct levels_run *run, const struct level_artifact *artifact,
                      struct buf *out)
{
    if (artifact->backward)
        buf_puts(out, artifact->strided ? "backward, strided gradient: " : "backward: ");
    for (uint32_t i = 0; i < artifact->n_parts; i++) {
        uint32_t part = run->artifact_parts.v[artifact->first_part + i];
        buf_puts(out, i ? " + " : "");
        put_function(run, run->parts.v[part].code, out);
    }
}

static void put_artifacts(const struct levels_run *run, const struct call_log *log,
                          const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "artifact", COLUMN_RIGHT, 0 }, { "level", COLUMN_RIGHT, 0 },
        { "call", COLUMN_RIGHT, 0 },     { "answers", COLUMN_RIGHT, 0 },
        { "estimate", COLUMN_RIGHT, 1 }, { "graph of", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->artifacts.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct level_artifact *artifact = &run->artifacts.v[i];
        table_u64(&table, i);
        table_u64(&table, artifact->level);
        table_u64(&table, log->calls.v[artifact->call].number);
        table_u64(&table, artifact->answers);
        put_time(&table, artifact->seconds);
        put_parts(run, artifact, &table.text);
        table_cell(&table);
    }
    if (n)
        buf_puts(out,
                 "\nArtifacts, forwards before backwards, each with the call that compiles it\n");
    report_table(&table, options, 0, n, out);
}

static void put_spared(const struct levels_run *run, const struct call_log *log,
                       const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "call", COLUMN_RIGHT, 0 },    { "compile", COLUMN_MARKUP, 0 },
        { "time", COLUMN_RIGHT, 1 },    { "artifact", COLUMN_LEFT, 0 },
        { "function", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->spared.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct spared_compile *spared = &run->spared.v[i];
        const struct lookup_row *row = &run->cache.lookups.v[spared->lookup];
        table_u64(&table, log->calls.v[row->call].number);
        table_text(&table, row->compile);
        put_time(&table, row->seconds);
        table_printf(&table, "%s %u", spared->made ? "part of" : "in place:", spared->with);
        put_function(run, row->code, &table.text);
        table_cell(&table);
    }
    if (n)
        buf_puts(out, "\nCompiles that levels do not make, and the artifact instead\n");
    report_table(&table, options, 0, n, out);
}

void levels_text(const struct levels_run *run, const struct call_log *log,
                 const struct report_options *options, struct buf *out)
{
    put_head(run, options, out);
    put_levels(run, options, out);
    put_artifacts(run, log, options, out);
    put_spared(run, log, options, out);
}
