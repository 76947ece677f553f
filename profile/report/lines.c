/* Sections: user lines, with what was compiled, evaluated and made there. */
#include "profile/model/format.h"
#include "profile/report/section.h"

enum { USER, LIBRARY, ALLOCATIONS, SAVED }; /* the tables of text */

/* ---- Fields ---- */

GETTER_IN(get_if_deep, struct profile, void, in->costs.deep ? get_u64(in, row) : datum_null())
GETTER_IN(get_if_replayed, struct profile, void,
          in->costs.replayed ? get_u64(in, row) : datum_null())
GETTER_IN(get_self_ns, struct profile, void,
          in->costs.deep ? datum_count((uint64_t) * (const int64_t *)row) : datum_null())

static const struct field COST[] = {
    { "real_dispatches", GET(get_if_deep, struct line_cost, real_dispatches) },
    { "real_allocations", GET(get_if_deep, struct line_cost, real_allocations),
      IN_TABLE(ALLOCATIONS, 2, "allocations", COUNT, 0) },
    { "self_ns", GET(get_self_ns, struct line_cost, self_ns) },
    { "dispatches", GET(get_if_replayed, struct line_cost, dispatches) },
    { "exprs", GET(get_if_replayed, struct line_cost, exprs) },
    { "symbolic_tensors", GET(get_if_replayed, struct line_cost, symbolic_tensors),
      IN_TABLE(ALLOCATIONS, 1, "symbolic tensors", COUNT, 0) },
    { "saved_bytes", MEMBER(struct line_cost, saved_bytes), IN_TABLE(SAVED, 1, "saved", BYTES, 0) },
};
static const struct fields COST_FIELDS = FIELDS_OF(COST);

GETTER_IN(get_place, void, struct profile_line,
          datum_place(profile_name(in, row->file), row->line, row->code))
static double line_share(const struct profile *p, int64_t ns)
{
    return p->lines.total_ns > 0 ? (double)ns / (double)p->lines.total_ns : 0;
}

GETTER(get_nodes, void, datum_count(profile_line_nodes(row)))
GETTER(get_kept_aten_nodes, uint64_t,
       datum_count(row[GRAPH_FORWARD] + row[GRAPH_BACKWARD] + row[GRAPH_INFERENCE] +
                   row[GRAPH_EXPORTED]))

GETTER_IN(get_share_low, struct profile, struct profile_line,
          datum_number(line_share(in, row->low_ns)))
GETTER_IN(get_share_high, struct profile, struct profile_line,
          datum_number(line_share(in, row->high_ns)))

static void cell_line_share(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    const struct profile_line *line = at;
    if (line->ns > 0)
        format_range(out, line->ns, line->low_ns, line->high_ns, p->lines.total_ns);
}

static const struct field LINE[] = {
    { "file", GET(get_profile_name, struct profile_line, file) },
    { "line", MEMBER(struct profile_line, line) },
    { NULL, .get = get_place, TEXT(8, "line", PATH, 0), IN_TABLE(LIBRARY, 5, "line", PATH, 0),
      IN_TABLE(ALLOCATIONS, 3, "line", PATH, 0), IN_TABLE(SAVED, 2, "line", PATH, 0) },
    { "function", MEMBER(struct profile_line, function) },
    { "code", MEMBER(struct profile_line, code), TEXT(9, "code", TEXT, 0),
      IN_TABLE(LIBRARY, 6, "code", TEXT, 0), IN_TABLE(ALLOCATIONS, 4, "code", TEXT, 0),
      IN_TABLE(SAVED, 3, "code", TEXT, 0) },
    { "nodes", .get = get_nodes },
    { "nodes_by_level", JSON(json_levels, struct profile_line, nodes) },
    { "kept_nodes_by_level", JSON(json_levels, struct profile_line, kept_nodes) },
    { NULL, MEMBER(struct profile_line, kept_nodes[GRAPH_DYNAMO]),
      TEXT(6, "Dynamo nodes", COUNT, 2) },
    { NULL, GET(get_kept_aten_nodes, struct profile_line, kept_nodes),
      TEXT(7, "ATen nodes", COUNT, 1) },
    { "guards", MEMBER(struct profile_line, guards), TEXT(3, "guards", COUNT, 0),
      IN_TABLE(LIBRARY, 2, "guards", COUNT, 0) },
    { "kept_guards", MEMBER(struct profile_line, kept_guards) },
    { "symbols", MEMBER(struct profile_line, symbols), TEXT(4, "symbols", COUNT, 3),
      IN_TABLE(LIBRARY, 3, "symbols", COUNT, 1) },
    { "specializations", MEMBER(struct profile_line, specializations),
      TEXT(5, "specialized", COUNT, 4), IN_TABLE(LIBRARY, 4, "specialized", COUNT, 2) },
    { "estimated_ns", MEMBER(struct profile_line, estimated_ns) },
    { "kept_estimated_ns", MEMBER(struct profile_line, kept_estimated_ns) },
    { "ns", MEMBER(struct profile_line, ns), TEXT(1, "time", SPENT, 0) },
    { NULL, .cell = cell_line_share, TEXT(2, "share", TEXT, 0) },
    { "share_low", .get = get_share_low },
    { "share_high", .get = get_share_high },
    { NULL, PART(COST_FIELDS, struct profile_line, cost) },
};
static const struct fields LINE_FIELDS = FIELDS_OF(LINE);

/* ---- User lines, and those inside PyTorch ---- */

static void put_coverage(const struct report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    struct buf text = BUF_INIT;
    if (lines->total_ns > 0) {
        buf_puts(&text, "Shares are of the ");
        format_ns(&text, lines->total_ns);
        buf_puts(&text, lines->basis == LINES_MEASURED ? " in dispatches of all modes on user lines"
                                                       : " that the estimate covers");
    }
    if (lines->total_ns > 0 && lines->basis == LINES_ESTIMATED) {
        buf_puts(&text, "; ");
        format_ns(&text, lines->unattributed_ns);
        buf_puts(&text, " belong to no line");
        if (lines->unplaced_ns > 0) {
            buf_puts(&text, ", or, ");
            format_ns(&text, lines->unplaced_ns);
            buf_puts(&text, " of it, to one that is not known since the graph was not recorded");
        }
    }
    if (lines->total_ns > 0)
        buf_puts(&text, ". ");
    if (r->p->n_restarts > 0)
        buf_puts(&text, "Nodes are those of the graphs that were kept.");
    text_paragraph(r, &text);
}

static void text_lines(struct report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    struct rows rows = ROWS(lines->lines, lines->n_lines);
    struct rows library = ROWS(lines->library_lines, lines->n_library_lines);
    text_rows(r,
              lines->total_ns == 0             ? "User lines"
              : lines->basis == LINES_MEASURED ? "User lines (time in dispatches, measured)"
                                               : "User lines (time is estimated)",
              &LINE_FIELDS, USER, &rows, r->options->limit);
    if (lines->n_lines > 0)
        put_coverage(r);
    text_rows(r, "Inside PyTorch, below those lines", &LINE_FIELDS, LIBRARY, &library,
              r->options->limit);
}

static void json_lines(struct report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    struct rows rows = ROWS(lines->lines, lines->n_lines);
    struct rows library = ROWS(lines->library_lines, lines->n_library_lines);
    fields_json_rows(&r->w, "lines", &LINE_FIELDS, r->p, &rows, r->options->limit);
    fields_json_rows(&r->w, "library_lines", &LINE_FIELDS, r->p, &library, r->options->limit);
    json_put_i64(&r->w, "estimated_ns", lines->estimated_ns);
    json_put_i64(&r->w, "unattributed_ns", lines->unattributed_ns);
    json_put_str(&r->w, "lines_basis",
                 lines->basis == LINES_MEASURED ? STR("measured") : STR("estimated"));
    json_put_i64(&r->w, "lines_total_ns", lines->total_ns);
}

const struct section section_lines = { .text = text_lines, .json = json_lines };

/* ---- The same lines by allocated and saved memory ---- */

static int64_t allocations(const struct profile *p, uint32_t i)
{
    const struct line_cost *cost = &p->lines.lines[i].cost;
    return (int64_t)(cost->symbolic_tensors + cost->real_allocations);
}

WANTED_IN(allocates, struct profile, void,
          allocations(in, (uint32_t)((const struct profile_line *)row - in->lines.lines)) != 0)

static int64_t line_saved_ns(const struct profile *p, uint32_t i)
{
    uint64_t bytes = p->lines.lines[i].cost.saved_bytes;
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

WANTED(saves, struct profile_line, row->cost.saved_bytes > 0)

static void put_ordered(const struct report *r, const char *title, unsigned table,
                        int64_t (*order)(const struct profile *profile, uint32_t i),
                        bool (*wanted)(const void *context, const void *item))
{
    const struct profile_lines *lines = &r->p->lines;
    struct rows rows = ROWS(lines->lines, lines->n_lines);
    uint32_t *indices = text_order(r, lines->n_lines, order);
    rows.order = indices;
    rows.wanted = wanted;
    if (indices)
        text_rows(r, title, &LINE_FIELDS, table, &rows, r->options->limit);
    free(indices);
}

static void text_allocations(struct report *r)
{
    put_ordered(r,
                r->p->costs.self_ns > 0
                    ? "Tensors made by line (symbolic: in a replay; allocations: as recorded)"
                    : "Tensors with symbolic sizes made by line, in one replay",
                ALLOCATIONS, allocations, allocates);
}

static void text_saved(struct report *r)
{
    if (r->p->n_graph_memory > 0)
        put_ordered(r, "Saved for backward by user line (estimated)", SAVED, line_saved_ns, saves);
}

const struct section section_allocations = { .text = text_allocations };
const struct section section_saved = { .text = text_saved };
