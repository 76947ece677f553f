#include "profile/calls/ranks/ranks_report.h"
#include "profile/model/format.h"

static void put_name(const struct rank_times *times, uint32_t process, struct buf *out)
{
    format_text(out, times->processes.v[process].name, 0);
}

/* ---- Who was last ---- */

/* Returns whether a process kept the others waiting longer than another one. */
static bool is_later(const struct rank_process *a, const struct rank_process *b)
{
    if (a->n_held != b->n_held)
        return a->n_held > b->n_held;
    return a->late_ns != b->late_ns ? a->late_ns > b->late_ns : a->n_last > b->n_last;
}

/* Returns the process that the others waited for longest; RANK_NONE if none was last. */
static uint32_t find_latest(const struct rank_times *times)
{
    uint32_t ret = RANK_NONE;
    for (uint32_t i = 0; i < times->processes.n; i++)
        if (times->processes.v[i].n_last &&
            (ret == RANK_NONE || is_later(&times->processes.v[i], &times->processes.v[ret])))
            ret = i;
    return ret;
}

static void put_answer(const struct rank_times *times, struct buf *out)
{
    if (times->in_turn) {
        format_plural(out, times->processes.n, "recording");
        buf_puts(out, ", made one after another\n");
        return;
    }
    uint32_t latest = find_latest(times);
    if (latest == RANK_NONE) {
        format_plural(out, times->processes.n, "recording");
        buf_puts(out, times->n_shared ? ": which one was last is not known\n"
                                      : ": no compile is on more than one\n");
        return;
    }
    const struct rank_process *p = &times->processes.v[latest];
    put_name(times, latest, out);
    buf_puts(out, " was the last in ");
    format_count(out, p->n_last);
    buf_puts(out, " of ");
    format_plural(out, times->n_shared, "compile");
    if (p->n_held) {
        buf_puts(out, ", and did not end ");
        format_count(out, p->n_held);
        buf_puts(out, " of them");
    }
    if (p->late_ns > 0) {
        buf_puts(out, "; the others were ready ");
        format_ns(out, p->late_ns);
        buf_puts(out, " earlier in all");
    }
    buf_puts(out, "\n");
}

/* "; 3 were compiled although ...": what one folder of caches would have spared. */
static void put_wasted(uint32_t count, int64_t ns, const char *although, struct buf *out)
{
    if (!count)
        return;
    buf_puts(out, "; ");
    format_count(out, count);
    buf_puts(out, count == 1 ? " was" : " were");
    buf_printf(out, " compiled although %s (", although);
    format_ns(out, ns);
    buf_puts(out, ")");
}

static void put_graphs(const struct rank_times *times, struct buf *out)
{
    if (!times->n_taken && !times->n_compiled)
        return;
    format_plural(out, times->n_compiled, "graph");
    buf_puts(out, " compiled, ");
    format_count(out, times->n_taken);
    buf_puts(out, " from the cache");
    if (times->n_taken_from) {
        buf_puts(out, " (");
        format_count(out, times->n_taken_from);
        buf_puts(out, " that another one had compiled)");
    }
    put_wasted(times->n_apart, times->apart_ns, "the cache of another one had the graph", out);
    put_wasted(times->n_repeated, times->repeated_ns, "another one compiled the same graph", out);
    buf_puts(out, "\n");
    if (times->n_apart || times->n_repeated)
        buf_puts(out, "to change: one folder of caches for all, and one that compiles first\n");
}

/* A collective of the compiler that did not end, and a process that never came to it. */
static void put_waiting(const struct rank_times *times, const struct rank_compile *c,
                        struct buf *out)
{
    bool alone = !times->in_turn && !c->shared;
    put_name(times, c->process, out);
    buf_puts(out, " waits in a compiler collective of ");
    format_text(out, c->compile, 0);
    buf_puts(out, alone ? ", a compile that no other one has\n" : "\n");
}

static void put_collectives(const struct rank_times *times, const struct report_options *options,
                            struct buf *out)
{
    uint32_t n = 0;
    for (size_t i = 0; i < times->processes.n; i++) {
        const struct rank_process *p = &times->processes.v[i];
        if (p->collective_ns <= 0)
            continue;
        if (options->limit && n++ == options->limit)
            break;
        put_name(times, (uint32_t)i, out);
        buf_puts(out, " waited ");
        format_ns(out, p->collective_ns);
        buf_puts(out, " for others in compiler collectives\n");
    }
    n = 0;
    for (size_t i = 0; i < times->compiles.n; i++)
        if (times->compiles.v[i].waiting && (!options->limit || n++ < options->limit))
            put_waiting(times, &times->compiles.v[i], out);
}

/* ---- Compiles ---- */

static int64_t between(int64_t from, int64_t to)
{
    int64_t ns;
    bool known = from != RANK_TIME_NONE && to != RANK_TIME_NONE;
    return known && !__builtin_sub_overflow(to, from, &ns) && ns >= 0 ? ns : -1;
}

static void put_answers(const struct rank_times *times, const struct rank_compile *c,
                        struct buf *out)
{
    if (c->n_compiled) {
        format_count(out, c->n_compiled);
        buf_puts(out, " compiled");
        if (c->had != RANK_NONE) {
            buf_puts(out, " that ");
            put_name(times, c->had, out);
            buf_puts(out, " had");
        }
    }
    if (!c->n_taken)
        return;
    buf_puts(out, c->n_compiled ? ", " : "");
    format_count(out, c->n_taken);
    buf_puts(out, " from ");
    if (c->from == RANK_NONE)
        buf_puts(out, "the cache");
    else
        put_name(times, c->from, out);
}

static void put_compile(const struct rank_times *times, const struct rank_compile *c, int64_t zero,
                        struct table *table)
{
    table_ns(table, between(zero, c->begin_ns));
    if (c->begin_ns != RANK_TIME_NONE && c->end_ns == RANK_TIME_NONE)
        table_text(table, STR("no end"));
    else
        table_ns(table, between(c->begin_ns, c->end_ns));
    put_name(times, c->process, &table->text);
    table_cell(table);
    format_text(&table->text, c->compile, 0);
    buf_puts(&table->text, c->backward ? " backward" : "");
    table_cell(table);
    table_ns(table, c->ahead_ns > 0 ? c->ahead_ns : -1);
    if (c->last != RANK_NONE && c->last != c->process)
        put_name(times, c->last, &table->text);
    table_cell(table);
    table_ns(table, c->waited_ns > 0 ? c->waited_ns : -1);
    put_answers(times, c, &table->text);
    table_cell(table);
    format_text(&table->text, c->function, 0);
    buf_puts(&table->text, c->function.n ? " " : "");
    if (c->file.n)
        format_place(&table->text, c->file, c->line);
    table_cell(table);
}

static int64_t first_begin(const struct rank_times *times)
{
    for (size_t i = 0; i < times->compiles.n; i++)
        if (times->compiles.v[i].begin_ns != RANK_TIME_NONE)
            return times->compiles.v[i].begin_ns;
    return RANK_TIME_NONE;
}

static void put_compiles(const struct rank_times *times, const struct report_options *options,
                         struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "begin", COLUMN_RIGHT, 0 },      { "took", COLUMN_RIGHT, 0 },
        { "rank", COLUMN_LEFT, 0 },        { "compile", COLUMN_MARKUP, 0 },
        { "ahead", COLUMN_RIGHT, 0 },      { "last", COLUMN_LEFT, 1 },
        { "collective", COLUMN_RIGHT, 3 }, { "graphs", COLUMN_LEFT, 2 },
        { "function", COLUMN_PATH, 4 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)times->compiles.n, shown = report_shown(options, n);
    int64_t zero = first_begin(times);
    for (uint32_t i = 0; i < shown; i++)
        put_compile(times, &times->compiles.v[i], zero, &table);
    if (n)
        buf_puts(out, times->in_turn
                          ? "\nCompiles by begin\n"
                          : "\nCompiles by begin; ahead: ready before the last one was\n");
    report_table(&table, options, 0, n, out);
}

void ranks_text(const struct rank_times *times, const struct report_options *options,
                struct buf *out)
{
    style_mark(options->styles, out, STYLE_BOLD);
    put_answer(times, out);
    style_mark(options->styles, out, STYLE_NONE);
    put_graphs(times, out);
    put_collectives(times, options, out);
    put_compiles(times, options, out);
}
