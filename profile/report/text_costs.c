/* Text report: what operators cost, really and in the replay, and how calls multiply. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

/* In milliseconds: what an operator of the ATen graphs took to compile in 2023 (systems.md B7). */
enum { RULE_OF_THUMB_MS = 20 };

static uint64_t aten_calls(const uint64_t *calls)
{
    return calls[GRAPH_FORWARD] + calls[GRAPH_BACKWARD] + calls[GRAPH_INFERENCE];
}

/* ---- Levels ---- */

static void put_level(const struct text_report *r, struct table *table, const char *name,
                      uint64_t count, uint64_t base)
{
    if (count == 0)
        return;
    table_text(table, str_of(name));
    table_count(table, count);
    if (base > 0)
        buf_printf(&table->text, "%.2f", (double)count / (double)base);
    else
        buf_putc(&table->text, '-');
    table_cell(table);
    table_ns(table, r->p->compile_ns > 0 ? r->p->compile_ns / (int64_t)count : -1);
}

void text_levels(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "level", COLUMN_LEFT },
        { "count", COLUMN_RIGHT },
        { "of Dynamo's", COLUMN_RIGHT },
        { "compile time each", COLUMN_RIGHT },
    };
    const struct profile_costs *costs = &r->p->costs;
    uint64_t dynamo = r->p->operators.kept[GRAPH_DYNAMO], aten = aten_calls(r->p->operators.kept);
    struct table table = TABLE(COLUMNS);
    struct buf text = BUF_INIT;
    if (aten == 0)
        return;
    text_title(r, "Levels: from Dynamo's calls to dispatches (calls of attempts that were kept)");
    put_level(r, &table, "calls that Dynamo captured", dynamo, dynamo);
    put_level(r, &table, "ATen calls", aten, dynamo);
    put_level(r, &table, "dispatches of FakeTensorMode", costs->by_mode[DEEP_FAKE_TENSOR_MODE],
              dynamo);
    put_level(r, &table, "dispatches of the proxy mode", costs->by_mode[DEEP_PROXY_MODE], dynamo);
    put_level(r, &table, "dispatches in one replay", costs->dispatches, dynamo);
    text_finish(r, &table, 0);
    if (r->p->compile_ns > 0) {
        format_ns(&text, r->p->compile_ns / (int64_t)aten);
        buf_printf(&text, " for each ATen call; the rule of thumb of 2023 was %d ms.",
                   RULE_OF_THUMB_MS);
    }
    text_paragraph(r, &text);
}

/* ---- Operators ---- */

static void put_deep_costs(const struct text_report *r, struct table *table, uint32_t n)
{
    const struct profile_costs *costs = &r->p->costs;
    for (uint32_t i = 0; i < n; i++) {
        const struct operator_cost *c = &costs->operators[i];
        table_ns(table, c->self_ns > 0 ? c->self_ns : -1);
        format_share(&table->text, c->self_ns, costs->self_ns);
        table_cell(table);
        for (int k = 0; k < DEEP_OTHER_MODE; k++)
            table_count(table, c->by_mode[k]);
        table_count(table, operator_cost_depth(c));
        table_count(table, c->hits);
        table_count(table, c->misses);
        table_count(table, c->bypasses);
        table_count(table, c->guards);
        table_count(table, c->exprs);
        table_text(table, profile_name(r->p, c->op));
    }
}

static void put_replayed_costs(const struct text_report *r, struct table *table, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct operator_cost *c = &r->p->costs.operators[i];
        table_count(table, c->dispatches);
        table_count(table, operator_cost_depth(c));
        table_count(table, c->calls);
        table_count(table, c->guards);
        table_count(table, c->exprs);
        table_count(table, c->evaluations);
        table_count(table, c->symbolic_tensors);
        table_text(table, profile_name(r->p, c->op));
    }
}

void text_costs(const struct text_report *r)
{
    static const struct column DEEP[] = {
        { "self time", COLUMN_RIGHT },     { "share", COLUMN_RIGHT, 3 },
        { "dispatches", COLUMN_RIGHT },    { "FakeTensor", COLUMN_RIGHT, 7 },
        { "proxy", COLUMN_RIGHT, 6 },      { "deepest", COLUMN_RIGHT, 2 },
        { "cache hits", COLUMN_RIGHT, 8 }, { "misses", COLUMN_RIGHT, 5 },
        { "bypassed", COLUMN_RIGHT, 9 },   { "guards", COLUMN_RIGHT, 1 },
        { "exprs", COLUMN_RIGHT, 4 },      { "operator", COLUMN_WIDE },
    };
    static const struct column REPLAYED[] = {
        { "dispatches", COLUMN_RIGHT },
        { "deepest", COLUMN_RIGHT, 2 },
        { "calls", COLUMN_RIGHT, 4 },
        { "guards", COLUMN_RIGHT },
        { "exprs", COLUMN_RIGHT },
        { "evaluations", COLUMN_RIGHT, 3 },
        { "symbolic tensors", COLUMN_RIGHT, 1 },
        { "operator", COLUMN_WIDE },
    };
    const struct profile_costs *costs = &r->p->costs;
    uint32_t n = text_shown(r, costs->n_operators);
    if (n == 0)
        return;
    if (costs->self_ns > 0) {
        struct table table = TABLE(DEEP);
        text_title(r, costs->replayed
                          ? "Costs of operators, as recorded (guards and exprs: of one replay)"
                          : "Costs of operators, as recorded");
        put_deep_costs(r, &table, n);
        text_finish(r, &table, costs->n_operators);
    } else {
        struct table table = TABLE(REPLAYED);
        text_title(r, "Costs of operators in one replay of the graphs (record --deep has the real "
                      "ones)");
        put_replayed_costs(r, &table, n);
        text_finish(r, &table, costs->n_operators);
    }
}

/* ---- Allocations ---- */

static int64_t allocations(const struct profile *p, uint32_t i)
{
    const struct line_cost *cost = &p->lines.lines[i].cost;
    return (int64_t)(cost->symbolic_tensors + cost->real_allocations);
}

void text_allocations(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "symbolic tensors", COLUMN_RIGHT },
        { "allocations", COLUMN_RIGHT },
        { "line", COLUMN_PATH },
        { "code", COLUMN_WIDE },
    };
    const struct profile_lines *lines = &r->p->lines;
    struct table table = TABLE(COLUMNS);
    uint32_t *order = text_slowest_first(r, lines->n_lines, allocations), rows = 0;
    for (uint32_t i = 0; order && i < lines->n_lines; i++) {
        const struct profile_line *line = &lines->lines[order[i]];
        if (allocations(r->p, order[i]) == 0)
            break;
        if (r->options->limit > 0 && rows++ >= r->options->limit)
            continue;
        table_count(&table, line->cost.symbolic_tensors);
        table_count(&table, line->cost.real_allocations);
        table_place(&table, profile_name(r->p, line->file), line->line);
        table_text(&table, line->code);
    }
    if (table_rows(&table) > 0)
        text_title(r, r->p->costs.self_ns > 0
                          ? "Tensors made by line (symbolic: in a replay; allocations: as recorded)"
                          : "Tensors with symbolic sizes made by line, in one replay");
    text_finish(r, &table, 0);
    free(order);
}

/* ---- Counters ---- */

static void cell_ratio(struct table *table, uint64_t value, uint64_t base)
{
    if (value > 0 && base > 0)
        buf_printf(&table->text, "%.2f", (double)value / (double)base);
    else
        buf_putc(&table->text, '-');
    table_cell(table);
}

void text_counters(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "PyTorch", COLUMN_RIGHT }, { "recorded", COLUMN_RIGHT, 1 }, { "replay", COLUMN_RIGHT },
        { "ratio", COLUMN_RIGHT },   { "counter", COLUMN_WIDE },
    };
    const struct profile_costs *costs = &r->p->costs;
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < costs->n_counters; i++) {
        const struct cost_counter *c = &costs->counters[i];
        table_count(&table, c->pytorch);
        table_count(&table, c->recorded);
        table_count(&table, c->replayed);
        cell_ratio(&table, c->replayed, c->pytorch);
        table_text(&table, c->label);
    }
    if (table_rows(&table) > 0)
        text_title(r, "PyTorch's counters (replay: estimated for the graphs that were recorded)");
    text_finish(r, &table, 0);
}
