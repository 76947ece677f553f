#include "profile/report/replay/replay_report.h"

#include "profile/model/format.h"
#include "profile/report/table.h"
#include "trace/events/user_line.h"

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = { "none", "match", "mismatch", "refused", "unsupported" };
    return names[outcome];
}

const char *guard_fate_name(enum guard_fate fate)
{
    static const char *const names[] = { "pending",   "applied",  "reproduced", "missing",
                                         "invisible", "no graph", "extra" };
    return names[fate];
}

void replay_graph_name(const struct replay_report *report, uint32_t ref, struct buf *out)
{
    selector_print_graph(report->trace, report->list, ref, out);
}

static void write_headline(const struct replay *replay, struct buf *out)
{
    const struct replay_counts *t = &replay->totals;
    if (t->graphs == 0) {
        buf_puts(out, "no graphs\n");
        return;
    }
    buf_printf(out, "%llu graph%s, %llu call%s: ", (unsigned long long)t->graphs,
               t->graphs == 1 ? "" : "s", (unsigned long long)t->calls, t->calls == 1 ? "" : "s");
    if (replay_all_match(replay)) {
        buf_puts(out, "all match\n");
        return;
    }
    buf_printf(out, "%llu match, %llu mismatch, %llu refused, %llu unsupported; %llu adopted\n",
               (unsigned long long)t->match, (unsigned long long)t->mismatch,
               (unsigned long long)t->refused, (unsigned long long)t->unsupported,
               (unsigned long long)t->adopted);
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

static void write_guard_counts(const struct replay *replay, struct buf *out)
{
    const struct replay_guard_counts *n = &replay->guard_counts;
    if (n->recorded == 0 && n->extra == 0)
        return;
    buf_printf(out, "kernel guards: %llu reproduced, %llu missing, %llu extra, %llu invisible",
               (unsigned long long)n->reproduced, (unsigned long long)n->missing,
               (unsigned long long)n->extra, (unsigned long long)n->invisible);
    if (n->no_graph)
        buf_printf(out, ", %llu in attempts without a graph", (unsigned long long)n->no_graph);
    buf_printf(out, "\nother guards: %llu torch function, %llu dynamo, %llu backend, %llu user\n",
               (unsigned long long)n->torch_function, (unsigned long long)n->dynamo,
               (unsigned long long)n->backend, (unsigned long long)n->user);
}

static void put_graph_cell(const struct replay_report *report, uint32_t ref, struct table *table)
{
    if (ref != TRACE_NONE)
        replay_graph_name(report, ref, &table->text);
    table_cell(table);
}

static void write_graphs(const struct replay_report *report, const struct table_layout *layout,
                         struct buf *out)
{
    static const struct column columns[] = {
        { "graph", COLUMN_LEFT },     { "calls", COLUMN_RIGHT },   { "match", COLUMN_RIGHT },
        { "mismatch", COLUMN_RIGHT }, { "refused", COLUMN_RIGHT }, { "unsupported", COLUMN_RIGHT },
        { "adopted", COLUMN_RIGHT },  { "error", COLUMN_WIDE },
    };
    struct table table = TABLE(columns);
    for (size_t i = 0; i < report->replay->n_graphs; i++) {
        const struct replay_graph *graph = &report->replay->graphs[i];
        put_graph_cell(report, graph->ref, &table);
        table_u64(&table, graph->counts.calls);
        table_u64(&table, graph->counts.match);
        table_count(&table, graph->counts.mismatch);
        table_count(&table, graph->counts.refused);
        table_count(&table, graph->counts.unsupported);
        table_count(&table, graph->counts.adopted);
        table_text(&table, graph->error);
    }
    table_print(&table, layout, out);
    table_release(&table);
}

static void write_unsupported(const struct replay_report *report, const struct table_layout *layout,
                              uint32_t shown, struct buf *out)
{
    static const struct column columns[] = { { "calls", COLUMN_RIGHT },
                                             { "unsupported", COLUMN_LEFT } };
    struct table table = TABLE(columns);
    for (uint32_t i = 0; i < shown; i++) {
        table_count(&table, report->replay->unsupported[i].calls);
        table_text(&table, report->replay->unsupported[i].op);
    }
    if (shown)
        buf_putc(out, '\n');
    table_print(&table, layout, out);
    table_release(&table);
}

/* Those that start a chain of differences come first to mind; what follows from them is counted. */
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
    if (d->of && d->location < d->of->n_locations) {
        const struct location *place = &d->of->locations[d->location];
        buf_printf(out, "  %.*s:%u in %.*s: %.*s\n", STR_ARG(place->file), place->line,
                   STR_ARG(place->function), STR_ARG(place->code));
    }
}

static void write_differences(const struct replay_report *report, const struct report_options *how,
                              struct buf *out)
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

/* Where the record says that it was asked: PyTorch's function, and the user line. */
static void put_asker(const struct trace *trace, const struct guard *guard, struct table *table)
{
    if (!guard) {
        table_text(table, STR(""));
        table_text(table, STR(""));
        return;
    }
    uint32_t recording = trace->records[guard->record].recording;
    struct frame asker = stack_frame(trace, recording, guard->asker);
    struct frame line =
        stack_frame(trace, recording, user_line(trace, recording, guard->user_stack));
    table_printf(table, "%.*s:%u %.*s", STR_ARG(str_basename(asker.file)), asker.line,
                 STR_ARG(asker.function));
    table_place(table, line.file, line.line);
}

static void write_guards(const struct replay_report *report, const struct table_layout *layout,
                         struct buf *out)
{
    static const struct column columns[] = {
        { "compile", COLUMN_LEFT }, { "asked by", COLUMN_LEFT },    { "outcome", COLUMN_LEFT },
        { "guard", COLUMN_WIDE },   { "node", COLUMN_LEFT },        { "operator", COLUMN_LEFT },
        { "graph", COLUMN_LEFT },   { "recorded in", COLUMN_LEFT }, { "user line", COLUMN_PATH },
    };
    struct table table = TABLE(columns);
    size_t n = report->replay->n_guards;
    size_t shown = report->max_guards && n > report->max_guards ? report->max_guards : n;
    for (size_t i = 0; i < shown; i++) {
        const struct replay_guard *row = &report->replay->guards[i];
        if (row->attempt != TRACE_NONE)
            table_printf(&table, "%.*s_%u", STR_ARG(report->trace->attempts[row->attempt].compile),
                         report->trace->attempts[row->attempt].number);
        else
            table_text(&table, STR(""));
        table_text(&table, str_of(row->guard ? guard_class_name(row->guard->asked_by) : "kernel"));
        table_printf(&table, "%s%s", guard_fate_name(row->fate),
                     row->guard && row->guard->kind == GUARD_RUNTIME_ASSERT ? " assert" : "");
        table_text(&table, row->expr);
        table_text(&table, row->node);
        table_text(&table, row->rule);
        put_graph_cell(report, row->ref, &table);
        put_asker(report->trace, row->guard, &table);
    }
    buf_putc(out, '\n');
    table_print(&table, layout, out);
    table_release(&table);
    if (shown < n)
        buf_printf(out, "\n%zu more guards\n", n - shown);
}

static int by_calls(const void *a, const void *b)
{
    const struct replay_operator *const *x = a, *const *y = b;
    if ((*x)->stats.calls != (*y)->stats.calls)
        return (*x)->stats.calls < (*y)->stats.calls ? 1 : -1;
    return str_cmp((*x)->op, (*y)->op);
}

static void put_fast(const uint64_t fast[OP_COUNTERS], struct table *table)
{
    const char *comma = "";
    for (int i = 0; i < OP_COUNTERS; i++)
        if (fast[i]) {
            buf_printf(&table->text, "%s%s %llu", comma, op_counter_name((enum op_counter)i),
                       (unsigned long long)fast[i]);
            comma = ", ";
        }
    table_cell(table);
}

static void put_bypasses(const struct op_stats *stats, struct table *table)
{
    const char *comma = "";
    for (int i = 0; i < OP_BYPASSES; i++)
        if (stats->bypasses[i]) {
            buf_printf(&table->text, "%s%s %llu", comma, op_bypass_reason((enum op_bypass)i),
                       (unsigned long long)stats->bypasses[i]);
            comma = ", ";
        }
    table_cell(table);
}

static void put_top_stack(const struct replay_operator *row, struct table *table)
{
    const struct replay_stack *stack = row->n_stacks ? &row->stacks[0] : NULL;
    if (stack && stack->of && stack->location < stack->of->n_locations) {
        const struct location *place = &stack->of->locations[stack->location];
        table_place(table, place->file, place->line);
    } else {
        table_text(table, STR(""));
    }
}

static void write_operators(const struct replay_report *report, const struct table_layout *layout,
                            uint32_t limit, struct buf *out)
{
    static const struct column columns[] = {
        { "operator", COLUMN_LEFT },     { "calls", COLUMN_RIGHT },
        { "dispatches", COLUMN_RIGHT },  { "hit", COLUMN_RIGHT },
        { "miss", COLUMN_RIGHT },        { "guards", COLUMN_RIGHT },
        { "evaluations", COLUMN_RIGHT }, { "exprs", COLUMN_RIGHT },
        { "fast path", COLUMN_WIDE },    { "bypassed", COLUMN_WIDE },
        { "most from", COLUMN_PATH },
    };
    const struct replay *replay = report->replay;
    struct table table = TABLE(columns);
    const struct replay_operator **rows = malloc((replay->n_operators + 1) * sizeof *rows);
    out->failed |= !rows;
    for (size_t i = 0; rows && i < replay->n_operators; i++)
        rows[i] = &replay->operators[i];
    if (rows)
        qsort(rows, replay->n_operators, sizeof *rows, by_calls);
    for (size_t i = 0; rows && i < replay->n_operators && (!limit || i < limit); i++) {
        const struct op_stats *stats = &rows[i]->stats;
        table_text(&table, rows[i]->op);
        table_u64(&table, stats->calls);
        table_count(&table, stats->dispatches);
        table_count(&table, stats->hits);
        table_count(&table, stats->misses);
        table_count(&table, stats->guards);
        table_count(&table, stats->evaluations);
        table_count(&table, stats->exprs);
        put_fast(stats->fast, &table);
        put_bypasses(stats, &table);
        put_top_stack(rows[i], &table);
    }
    free(rows);
    buf_putc(out, '\n');
    table_print(&table, layout, out);
    table_release(&table);
}

static void put_pass(const char *name, const struct pass_counts *counts, const char *function,
                     struct table *table)
{
    table_text(table, str_of(name));
    table_u64(table, counts->fake_mode);
    table_count(table, counts->fake_tensor);
    table_count(table, counts->proxy);
    put_fast(counts->fast, table);
    table_text(table, str_of(function));
}

static void write_passes(const struct replay_report *report, const struct table_layout *layout,
                         struct buf *out)
{
    static const struct column columns[] = {
        { "pass", COLUMN_LEFT },        { "FakeTensorMode", COLUMN_RIGHT },
        { "FakeTensor", COLUMN_RIGHT }, { "Proxy", COLUMN_RIGHT },
        { "fast path", COLUMN_WIDE },   { "PyTorch's function", COLUMN_WIDE, .spare = 1 },
    };
    struct table table = TABLE(columns);
    struct pass_counts all = { 0 };
    for (unsigned i = 0; i < PASSES; i++) {
        const struct pass_counts *p = &report->replay->passes[i];
        all.fake_mode += p->fake_mode;
        all.fake_tensor += p->fake_tensor;
        all.proxy += p->proxy;
        for (unsigned k = 0; k < OP_COUNTERS; k++)
            all.fast[k] += p->fast[k];
        put_pass(pass_name((enum pass)i), p, pass_function((enum pass)i), &table);
    }
    put_pass("all", &all, "", &table);
    buf_puts(out, "\nDispatches that PyTorch makes, estimated\n");
    table_print(&table, layout, out);
    table_release(&table);
}

static void write_violations(const struct replay_report *report, struct buf *out)
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
    const struct table_layout layout = { .width = how->width, .styles = how->styles };
    const struct replay *replay = report->replay;
    write_headline(replay, out);
    write_others(replay, out);
    write_guard_counts(replay, out);
    if (replay->n_graphs)
        buf_putc(out, '\n');
    write_graphs(report, &layout, out);
    write_unsupported(report, &layout, report_shown(how, (uint32_t)replay->n_unsupported), out);
    write_differences(report, how, out);
    write_violations(report, out);
    if (report->operators)
        write_operators(report, &layout, how->limit, out);
    if (report->operators)
        write_passes(report, &layout, out);
    if (report->guards)
        write_guards(report, &layout, out);
}
