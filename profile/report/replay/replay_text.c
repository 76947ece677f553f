#include <stdlib.h>

#include "profile/model/format.h"
#include "profile/report/replay/replay_fields.h"

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = { "none", "match", "mismatch", "refused", "unsupported" };
    return names[outcome];
}

const char *guard_status_name(enum guard_status status)
{
    static const char *const names[] = { "pending",   "applied",  "reproduced", "missing",
                                         "invisible", "no graph", "extra" };
    return names[status];
}

void replay_graph_name(const struct replay_report *report, uint32_t ref, struct buf *out)
{
    selector_print_graph(report->trace, report->list, ref, out);
}

/* Returns how many attempts the graphs of the totals are from. */
static uint64_t count_attempts(const struct replay_report *report)
{
    const struct replay *replay = report->replay;
    bool *seen = calloc(report->trace->n_attempts + (size_t)1, sizeof *seen);
    uint64_t n = 0;
    for (size_t i = 0; seen && i < replay->n_graphs; i++) {
        uint32_t attempt = report->list->refs[replay->graphs[i].ref].attempt;
        if (!replay->graphs[i].counted || attempt == TRACE_NONE)
            continue;
        n += !seen[attempt];
        seen[attempt] = true;
    }
    free(seen);
    return n;
}

enum call_level { LEVEL_DYNAMO, LEVEL_JOINT, LEVEL_ATEN, LEVEL_OTHER, CALL_LEVELS };

static enum call_level call_level_of(enum graph_kind kind)
{
    switch (kind) {
    case GRAPH_DYNAMO: return LEVEL_DYNAMO;
    case GRAPH_JOINT: return LEVEL_JOINT;
    case GRAPH_FORWARD:
    case GRAPH_BACKWARD:
    case GRAPH_INFERENCE: return LEVEL_ATEN;
    default: return LEVEL_OTHER;
    }
}

/* Prints " (8 Dynamo, 40 joint, 41 ATen)", if the calls are of several levels. */
static void write_levels(const struct replay_report *report, struct buf *out)
{
    static const char *const NAMES[] = { "Dynamo", "joint", "ATen", "other" };
    const struct replay *replay = report->replay;
    uint64_t calls[CALL_LEVELS] = { 0 };
    const char *before = " (";
    for (size_t i = 0; i < replay->n_graphs; i++)
        if (replay->graphs[i].counted)
            calls[call_level_of(report->list->refs[replay->graphs[i].ref].kind)] +=
                replay->graphs[i].counts.calls;
    for (int i = 0; i < CALL_LEVELS; i++) {
        if (calls[i] == 0 || calls[i] == replay->totals.calls)
            continue;
        buf_puts(out, before);
        format_count(out, calls[i]);
        buf_printf(out, " %s", NAMES[i]);
        before = ", ";
    }
    buf_puts(out, *before == ',' ? ")" : "");
}

/* Prints "6 graphs of 3 attempts, 938 calls (289 Dynamo, 649 ATen)". */
static void write_totals(const struct replay_report *report, struct buf *out)
{
    const struct replay_counts *t = &report->replay->totals;
    uint64_t attempts = count_attempts(report);
    format_plural(out, t->graphs, "graph");
    if (attempts > 0) {
        buf_puts(out, " of ");
        format_plural(out, attempts, "attempt");
    }
    buf_puts(out, ", ");
    format_plural(out, t->calls, "call");
    write_levels(report, out);
}

static void write_matches(const struct replay_report *report, struct buf *out)
{
    const struct replay *replay = report->replay;
    const struct replay_counts *t = &replay->totals;
    if (t->graphs == 0) {
        buf_puts(out, "no graphs");
        return;
    }
    write_totals(report, out);
    buf_puts(out, ": ");
    if (replay_all_match(replay)) {
        buf_puts(out, "all match");
        return;
    }
    buf_printf(out, "%llu match, %llu mismatch, %llu refused, %llu unsupported; %llu adopted",
               (unsigned long long)t->match, (unsigned long long)t->mismatch,
               (unsigned long long)t->refused, (unsigned long long)t->unsupported,
               (unsigned long long)t->adopted);
}

/* Prints how many of the recorded guards the replay asked itself. */
static void write_guards(const struct replay_guard_counts *n, struct buf *out)
{
    if (n->recorded == 0)
        return;
    buf_puts(out, "; ");
    format_plural(out, n->recorded, "guard");
    buf_printf(out, ": %llu computed, %llu from the record", (unsigned long long)n->computed,
               (unsigned long long)(n->recorded - n->computed));
}

/* Prints what the replay found, and the failures that the recording ends in, if any. */
static void write_headline(const struct replay_report *report, struct buf *out)
{
    write_matches(report, out);
    write_guards(&report->replay->guard_counts, out);
    failure_list_print(report->failures, out);
    buf_putc(out, '\n');
}

static void write_others(const struct replay *replay, struct buf *out)
{
    const struct replay_counts *t = &replay->others;
    if (t->graphs)
        buf_printf(out,
                   "other graphs: %llu, %llu calls: %llu match, %llu mismatch, "
                   "%llu refused, %llu unsupported\n",
                   (unsigned long long)t->graphs, (unsigned long long)t->calls,
                   (unsigned long long)t->match, (unsigned long long)t->mismatch,
                   (unsigned long long)t->refused, (unsigned long long)t->unsupported);
}

static void write_contradiction_counts(const struct replay *replay, struct buf *out)
{
    uint64_t counts[CONTRADICTION_KINDS] = { 0 };
    const char *between = "";
    if (replay->n_contradictions == 0)
        return;
    buf_puts(out, "records that others contradict: ");
    for (size_t i = 0; i < replay->n_contradictions; i++)
        counts[replay->contradictions[i].kind]++;
    for (unsigned k = 0; k < CONTRADICTION_KINDS; k++) {
        if (!counts[k])
            continue;
        buf_printf(out, "%s%llu %s", between, (unsigned long long)counts[k],
                   contradiction_name((enum contradiction_kind)k));
        between = ", ";
    }
    buf_putc(out, '\n');
}

static void write_guard_counts(const struct replay *replay, struct buf *out)
{
    const struct replay_guard_counts *n = &replay->guard_counts;
    if (n->recorded == 0 && n->extra == 0)
        return;
    buf_printf(out, "kernel guards: %llu reproduced, %llu missing, %llu extra, %llu invisible",
               (unsigned long long)n->reproduced, (unsigned long long)n->missing,
               (unsigned long long)n->extra, (unsigned long long)n->invisible);
    if (n->no_graph)
        buf_printf(out, ", %llu of calls without a graph", (unsigned long long)n->no_graph);
    buf_printf(out, "\nother guards: %llu torch function, %llu dynamo, %llu backend, %llu user\n",
               (unsigned long long)n->torch_function, (unsigned long long)n->dynamo,
               (unsigned long long)n->backend, (unsigned long long)n->user);
}

static void write_rows(const struct fields *fields, const struct replay_report *report,
                       struct rows rows, uint32_t limit, const struct report_options *how,
                       struct buf *out)
{
    struct text_table t;
    text_table_init(&t, fields, 0);
    text_table_rows(&t, report, &rows, limit);
    report_table(&t.table, how, 0, 0, out);
}

static const struct field UNSUPPORTED[] = {
    { NULL, MEMBER(struct replay_unsupported, calls), TEXT(1, "calls", COUNT, 0) },
    { NULL, MEMBER(struct replay_unsupported, op), TEXT(2, "unsupported", WORD, 0) },
};
static const struct fields UNSUPPORTED_FIELDS = FIELDS_OF(UNSUPPORTED);

/* Prints a difference that starts a chain; the differences that follow from it are counted. */
static void write_difference(const struct replay_report *report, const struct replay_difference *d,
                             struct buf *out)
{
    buf_putc(out, '\n');
    replay_graph_name(report, d->ref, out);
    buf_printf(out, "%s%.*s: %.*s = %.*s", d->graph.n ? " " : "", STR_ARG(d->graph),
               STR_ARG(d->node), STR_ARG(d->op));
    if (!str_eq(d->op, d->rule))
        buf_printf(out, " of %.*s", STR_ARG(d->rule));
    buf_putc(out, '\n');
    if (d->outcome == OUTCOME_MISMATCH)
        buf_printf(out, "  recorded  %.*s\n  replayed  %.*s\n", STR_ARG(d->recorded),
                   STR_ARG(d->replayed));
    else
        buf_printf(out, "  recorded  %.*s\n  refused   %.*s\n", STR_ARG(d->recorded),
                   STR_ARG(d->replayed));
    if (d->location_graph && d->location < d->location_graph->n_locations) {
        const struct location *place = &d->location_graph->locations[d->location];
        buf_printf(out, "  %.*s:%u in %.*s: %.*s\n", STR_ARG(place->file), place->line,
                   STR_ARG(place->function), STR_ARG(place->code));
    }
}

static void put_text_differences(const struct replay_report *report,
                                 const struct report_options *how, struct buf *out)
{
    const struct replay *replay = report->replay;
    uint32_t n = 0, derived = 0;
    for (size_t i = 0; i < replay->n_differences; i++) {
        const struct replay_difference *d = &replay->differences[i];
        if (d->outcome == OUTCOME_UNSUPPORTED)
            continue;
        derived += d->derived;
        if (d->derived || (how->limit && n++ >= how->limit))
            continue;
        write_difference(report, d, out);
    }
    if (how->limit && n > how->limit)
        buf_printf(out, "\n%u more differences\n", n - how->limit);
    if (derived)
        buf_printf(out, "\n%u differences follow from others\n", derived);
}

static void write_contradiction(const struct replay_report *report, const struct contradiction *c,
                                struct buf *out)
{
    const struct trace *trace = report->trace;
    const struct attempt *a = &trace->attempts[c->attempt];
    buf_putc(out, '\n');
    if (c->ref != TRACE_NONE)
        replay_graph_name(report, c->ref, out);
    else
        buf_printf(out, "%.*s_%u", STR_ARG(a->compile), a->number);
    buf_printf(out, ": %s %.*s, line %llu of the log\n  recorded  %.*s\n  expected  %.*s",
               contradiction_name(c->kind), STR_ARG(c->name),
               (unsigned long long)trace->records[c->record].line, STR_ARG(c->recorded),
               STR_ARG(c->expected));
    if (c->beside != TRACE_NONE)
        buf_printf(out, ", as line %llu says", (unsigned long long)trace->records[c->beside].line);
    buf_putc(out, '\n');
}

static void put_text_contradictions(const struct replay_report *report,
                                    const struct report_options *how, struct buf *out)
{
    const struct replay *replay = report->replay;
    uint32_t n = report_shown(how, (uint32_t)replay->n_contradictions);
    for (uint32_t i = 0; i < n; i++)
        write_contradiction(report, &replay->contradictions[i], out);
    if (n < replay->n_contradictions)
        buf_printf(out, "\n%zu more contradictions\n", replay->n_contradictions - n);
}

static void put_text_guards(const struct replay_report *report, const struct report_options *how,
                            struct buf *out)
{
    const struct replay *replay = report->replay;
    uint32_t n = (uint32_t)replay->n_guards;
    buf_putc(out, '\n');
    write_rows(&replay_guard_fields, report, ROWS(replay->guards, n), report->max_guards, how, out);
    if (report->max_guards && n > report->max_guards)
        buf_printf(out, "\n%u more guards\n", n - report->max_guards);
}

static int compare_stats_by_calls(const void *a, const void *b)
{
    const struct replay_operator *const *x = a, *const *y = b;
    if ((*x)->stats.calls != (*y)->stats.calls)
        return (*x)->stats.calls < (*y)->stats.calls ? 1 : -1;
    return str_cmp((*x)->op, (*y)->op);
}

static void write_operators(const struct replay_report *report, const struct report_options *how,
                            struct buf *out)
{
    const struct replay *replay = report->replay;
    const struct replay_operator **rows = malloc((replay->n_operators + 1) * sizeof *rows);
    struct text_table t;
    text_table_init(&t, &replay_operator_fields, 0);
    out->failed |= !rows;
    for (size_t i = 0; rows && i < replay->n_operators; i++)
        rows[i] = &replay->operators[i];
    if (rows)
        qsort(rows, replay->n_operators, sizeof *rows, compare_stats_by_calls);
    for (uint32_t i = 0; rows && i < report_shown(how, (uint32_t)replay->n_operators); i++)
        text_table_row(&t, report, rows[i]);
    free(rows);
    buf_puts(out, "\nOperators, in one replay of these graphs\n");
    report_table(&t.table, how, 0, 0, out);
}

static void put_text_passes(const struct replay_report *report, const struct report_options *how,
                            struct buf *out)
{
    struct text_table t;
    struct pass_counts all = { 0 };
    text_table_init(&t, &replay_pass_fields, 0);
    for (unsigned i = 0; i < PASSES; i++) {
        const struct pass_counts *p = &report->replay->passes[i];
        const struct replay_pass row = { pass_name((enum pass)i), pass_function((enum pass)i), p };
        all.fake_mode += p->fake_mode;
        all.fake_tensor += p->fake_tensor;
        all.proxy += p->proxy;
        for (unsigned k = 0; k < OP_COUNTERS; k++)
            all.fast[k] += p->fast[k];
        text_table_row(&t, NULL, &row);
    }
    text_table_row(&t, NULL, &(const struct replay_pass){ "all", "", &all });
    buf_puts(out, "\nDispatches that PyTorch makes while it compiles these graphs, estimated\n");
    report_table(&t.table, how, 0, 0, out);
}

static void put_text_violations(const struct replay_report *report, struct buf *out)
{
    const struct replay *replay = report->replay;
    for (size_t i = 0; i < replay->n_violations; i++) {
        const struct replay_violation *v = &replay->violations[i];
        buf_puts(out, "\n");
        if (v->attempt != TRACE_NONE) {
            const struct attempt *a = &report->trace->attempts[v->attempt];
            buf_printf(out, "%.*s_%u: ", STR_ARG(a->compile), a->number);
        }
        buf_put(out, v->text);
        if (!str_ends(v->text, STR("\n")))
            buf_putc(out, '\n');
    }
}

void replay_text(const struct replay_report *report, const struct report_options *how,
                 struct buf *out)
{
    const struct replay *replay = report->replay;
    write_headline(report, out);
    write_others(replay, out);
    write_guard_counts(replay, out);
    write_contradiction_counts(replay, out);
    replay_branches_text(report, replay, out);
    if (replay->n_graphs)
        buf_putc(out, '\n');
    write_rows(&replay_graph_fields, report, ROWS(replay->graphs, (uint32_t)replay->n_graphs), 0,
               how, out);
    if (replay->n_unsupported)
        buf_putc(out, '\n');
    write_rows(&UNSUPPORTED_FIELDS, report,
               ROWS(replay->unsupported, (uint32_t)replay->n_unsupported), how->limit, how, out);
    put_text_differences(report, how, out);
    put_text_contradictions(report, how, out);
    put_text_violations(report, out);
    if (report->operators)
        write_operators(report, how, out);
    if (report->operators)
        put_text_passes(report, how, out);
    if (report->guards)
        put_text_guards(report, how, out);
}
