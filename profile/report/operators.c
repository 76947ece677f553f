/* Sections: operators, and how calls multiply from level to level. */
#include "profile/model/format.h"
#include "profile/report/section.h"

static const struct field OPERATOR[] = {
    { "level", GET(get_level, struct profile_operator_row, level) },
    { "op", GET(get_profile_name, struct profile_operator_row, op), TEXT(3, "operator", TEXT, 0) },
    { "calls", MEMBER(struct profile_operator_row, calls), TEXT(1, "calls", COUNT, 0) },
    { "kept", MEMBER(struct profile_operator_row, kept), TEXT(2, "kept", COUNT, 0) },
};
static const struct fields OPERATOR_FIELDS = FIELDS_OF(OPERATOR);

/* ---- Text: a table for each level ---- */

/* Appends "2 graphs, 17 calls". */
static void put_graphs_and_calls(struct buf *out, uint64_t graphs, uint64_t calls)
{
    format_plural(out, graphs, "graph");
    buf_puts(out, ", ");
    format_plural(out, calls, "call");
}

static void put_level(const struct report *r, enum graph_kind level)
{
    const struct profile_operators *all = &r->p->operators;
    struct text_table t;
    uint32_t n = 0;
    if (all->graphs[level] == 0)
        return;
    text_table_init(&t, &OPERATOR_FIELDS, 0);
    for (uint32_t i = 0; i < all->n_rows; i++)
        if (all->rows[i].level == level && (r->options->limit == 0 || n++ < r->options->limit))
            text_table_row(&t, r->p, &all->rows[i]);
    buf_printf(r->out, "  %s: ", graph_kind_name(level));
    put_graphs_and_calls(r->out, all->graphs[level], all->calls[level]);
    if (all->kept_graphs[level] < all->graphs[level]) {
        buf_puts(r->out, "; kept: ");
        put_graphs_and_calls(r->out, all->kept_graphs[level], all->kept[level]);
    }
    buf_putc(r->out, '\n');
    text_finish(r, &t.table, 0);
}

static void text_operators(struct report *r)
{
    if (r->p->operators.n_rows == 0)
        return;
    text_title(r, "Operators by level (kept: in attempts that were not thrown away)");
    for (int i = 0; i < GRAPH_KINDS; i++)
        put_level(r, (enum graph_kind)i);
}

/* ---- JSON ---- */

static void json_operators(struct report *r)
{
    const struct profile_operators *all = &r->p->operators;
    struct rows rows = ROWS(all->rows, all->n_rows);
    fields_json_rows(&r->w, "operators", &OPERATOR_FIELDS, r->p, &rows, r->options->limit);
    json_open_array(&r->w, "levels");
    for (int i = 0; i < GRAPH_KINDS; i++) {
        if (all->graphs[i] == 0)
            continue;
        json_open_object(&r->w, NULL);
        json_put_cstr(&r->w, "level", graph_kind_name((enum graph_kind)i));
        json_put_u64(&r->w, "graphs", all->graphs[i]);
        json_put_u64(&r->w, "kept_graphs", all->kept_graphs[i]);
        json_put_u64(&r->w, "calls", all->calls[i]);
        json_put_u64(&r->w, "kept", all->kept[i]);
        json_close(&r->w);
    }
    json_close(&r->w);
    json_put_u64(&r->w, "unreadable_graphs", all->unreadable);
}

const struct section section_operators = { .text = text_operators, .json = json_operators };

/* ---- Levels ---- */

/* A rule of thumb from 2023: the compile time of an operator of the ATen graphs, in
 * milliseconds. */
enum { RULE_OF_THUMB_MS = 20 };

struct level {
    const char *name;
    uint64_t count, dynamo; /* dynamo: the calls that Dynamo captured in the same attempts */
};

GETTER(get_ratio, struct level,
       datum_number(row->dynamo > 0 ? (double)row->count / (double)row->dynamo : 0))
GETTER_IN(get_time_each, struct profile, struct level,
          in->compile_ns > 0 ? datum_integer(in->compile_ns / (int64_t)row->count) : datum_null())

static const struct field LEVEL[] = {
    { NULL, MEMBER(struct level, name), TEXT(1, "level", WORD, 0) },
    { NULL, MEMBER(struct level, count), TEXT(2, "count", COUNT, 0) },
    { NULL, .get = get_ratio, TEXT(3, "of Dynamo's", RATIO, 0) },
    { NULL, .get = get_time_each, TEXT(4, "compile time each", NS, 0) },
};
static const struct fields LEVEL_FIELDS = FIELDS_OF(LEVEL);

WANTED(is_there, struct level, row->count > 0)

/* Returns symtape's estimate of one of PyTorch's counters, which symtape replay prints, too. */
static uint64_t counted_in_replay(const struct profile_costs *costs, struct str label)
{
    for (uint32_t i = 0; i < costs->n_counters; i++)
        if (str_eq(costs->counters[i].label, label))
            return costs->counters[i].replayed;
    return 0;
}

static void text_levels(struct report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    uint64_t dynamo = r->p->operators.kept[GRAPH_DYNAMO],
             aten = profile_aten_calls(r->p->operators.kept),
             all = r->p->operators.calls[GRAPH_DYNAMO];
    const struct level levels[] = {
        { "calls that Dynamo captured, kept attempts", dynamo, dynamo },
        { "ATen calls, kept attempts", aten, dynamo },
        { "dispatches of FakeTensorMode, all attempts", costs->by_mode[DEEP_FAKE_TENSOR_MODE],
          all },
        { "dispatches of the proxy mode, all attempts", costs->by_mode[DEEP_PROXY_MODE], all },
        { "dispatches of FakeTensorMode, all attempts, estimated",
          counted_in_replay(costs, STR("FakeTensorMode.__torch_dispatch__")), all },
        { "dispatches of the proxy mode, all attempts, estimated",
          counted_in_replay(costs, STR("ProxyTorchDispatchMode.__torch_dispatch__")), all },
        { "dispatches in one walk of each graph, all attempts", costs->dispatches, all },
    };
    struct rows rows = ROWS(levels, sizeof levels / sizeof *levels);
    struct buf text = BUF_INIT;
    rows.wanted = is_there;
    if (aten == 0)
        return;
    text_rows(r, "Levels: from Dynamo's calls to dispatches", &LEVEL_FIELDS, 0, &rows, 0);
    if (r->p->compile_ns > 0) {
        format_ns(&text, r->p->compile_ns / (int64_t)aten);
        buf_printf(&text, " for each ATen call; the rule of thumb of 2023 was %d ms.",
                   RULE_OF_THUMB_MS);
    }
    text_paragraph(r, &text);
}

const struct section section_levels = { .text = text_levels };
