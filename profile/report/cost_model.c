/* Section: the cost model (--cost-model). */
#include "profile/model/format.h"
#include "profile/report/section.h"

static void cell_time(const void *context, const void *at, struct buf *out)
{
    int64_t ns = *(const int64_t *)at;
    (void)context;
    buf_puts(out, ns < 0 ? "-" : "");
    format_ns(out, ns < 0 ? -ns : ns);
}

GETTER(get_basis, struct cost_row, datum_name(row->measured ? "measured" : "estimated"))
GETTER(get_unit_basis, struct cost_row, datum_name(row->fitted ? "fitted" : "shipped"))
GETTER(get_mean, struct cost_row,
       datum_integer(row->count && row->ns > 0 ? row->ns / (int64_t)row->count : 0))
GETTER(get_unit, struct cost_row, datum_integer((int64_t)(row->unit.ns + 0.5)))
GETTER(get_low, struct cost_row, datum_integer((int64_t)(row->unit.low_ns + 0.5)))
GETTER(get_high, struct cost_row, datum_integer((int64_t)(row->unit.high_ns + 0.5)))
#define COST_TERM(id, json)           \
    GETTER(get_##id, struct cost_row, \
           datum_integer((int64_t)(row->unit.term_ns[COST_TERM_##id] + 0.5)))
#include "profile/model/cost_model/cost_terms.def"
#undef COST_TERM

static const struct field ROW[] = {
    { "kind", MEMBER(struct cost_row, name), TEXT(3, "kind", TEXT, 0) },
    { "count", MEMBER(struct cost_row, count), TEXT(4, "count", COUNT, 0) },
    { "ns", MEMBER(struct cost_row, ns) },
    { NULL, CELL(cell_time, struct cost_row, ns), TEXT(1, "time", NS, 0) },
    { "estimated_ns", MEMBER(struct cost_row, estimated_ns) },
    { "share", MEMBER(struct cost_row, share), TEXT(2, "share", SHARE, 0) },
    { "basis", .get = get_basis, TEXT(8, "basis", WORD, 0) },
    { NULL, .get = get_mean, TEXT(5, "a unit", SPENT, 0) },
    { "unit_ns", .get = get_unit },
    { "unit_low_ns", .get = get_low },
    { "unit_high_ns", .get = get_high },
#define COST_TERM(id, json) { json, .get = get_##id },
#include "profile/model/cost_model/cost_terms.def"
#undef COST_TERM
    { "unit_basis", .get = get_unit_basis },
    { "samples", MEMBER(struct cost_row, unit.n) },
};
static const struct fields ROW_FIELDS = FIELDS_OF(ROW);

static const struct field PART[] = {
    { "part", MEMBER(struct cost_part, name), TEXT(4, "part", TEXT, 0) },
    { "ns", MEMBER(struct cost_part, ns) },
    { NULL, CELL(cell_time, struct cost_part, ns), TEXT(2, "phases", NS, 0) },
    { "explained_ns", MEMBER(struct cost_part, explained_ns) },
    { NULL, CELL(cell_time, struct cost_part, explained_ns), TEXT(3, "explained", NS, 0) },
    { "unexplained_ns", MEMBER(struct cost_part, unexplained_ns) },
    { NULL, CELL(cell_time, struct cost_part, unexplained_ns), TEXT(1, "unexplained", NS, 0) },
    { "estimated_ns", MEMBER(struct cost_part, estimated_ns) },
};
static const struct fields PART_FIELDS = FIELDS_OF(PART);

static const struct profile_line *line_of(const struct profile *p, const struct cost_line *row)
{
    return &p->lines.lines[row->line];
}
GETTER_IN(get_file, struct profile, struct cost_line,
          datum_string(profile_name(in, line_of(in, row)->file)))
GETTER_IN(get_number, struct profile, struct cost_line, datum_count(line_of(in, row)->line))
GETTER_IN(get_code, struct profile, struct cost_line, datum_string(line_of(in, row)->code))
GETTER_IN(get_place, struct profile, struct cost_line,
          datum_place(profile_name(in, line_of(in, row)->file), line_of(in, row)->line,
                      line_of(in, row)->code))

static const struct field LINE[] = {
    { "file", .get = get_file },
    { "line", .get = get_number },
    { NULL, .get = get_place, TEXT(4, "line", PATH, 0) },
    { "code", .get = get_code, TEXT(5, "code", TEXT, 0) },
    { "ns", MEMBER(struct cost_line, ns) },
    { NULL, CELL(cell_time, struct cost_line, ns), TEXT(2, "time", NS, 0) },
    { "expected_ns", MEMBER(struct cost_line, expected_ns) },
    { NULL, CELL(cell_time, struct cost_line, expected_ns), TEXT(3, "expected", NS, 0) },
    { "unexplained_ns", MEMBER(struct cost_line, unexplained_ns) },
    { NULL, CELL(cell_time, struct cost_line, unexplained_ns), TEXT(1, "unexplained", NS, 0) },
};
static const struct fields LINE_FIELDS = FIELDS_OF(LINE);

GETTER(get_inside_mean, struct cost_inside,
       datum_integer(row->count ? row->ns / (int64_t)row->count : 0))

static const struct field INSIDE[] = {
    { "kind", MEMBER(struct cost_inside, name), TEXT(3, "work", TEXT, 0) },
    { "count", MEMBER(struct cost_inside, count), TEXT(4, "count", COUNT, 0) },
    { "ns", MEMBER(struct cost_inside, ns), TEXT(1, "time", NS, 0) },
    { "share", MEMBER(struct cost_inside, share), TEXT(2, "share", SHARE, 0) },
    { NULL, .get = get_inside_mean, TEXT(5, "a unit", SPENT, 0) },
};
static const struct fields INSIDE_FIELDS = FIELDS_OF(INSIDE);

GETTER(get_instruction_mean, struct cost_instruction,
       datum_integer(row->count ? row->ns / (int64_t)row->count : 0))

static const struct field INSTRUCTION[] = {
    { "instruction", MEMBER(struct cost_instruction, name), TEXT(3, "instruction", TEXT, 0) },
    { "count", MEMBER(struct cost_instruction, count), TEXT(4, "count", COUNT, 0) },
    { "ns", MEMBER(struct cost_instruction, ns), TEXT(1, "time", NS, 0) },
    { "share", MEMBER(struct cost_instruction, share), TEXT(2, "share", SHARE, 0) },
    { NULL, .get = get_instruction_mean, TEXT(5, "a unit", SPENT, 0) },
};
static const struct fields INSTRUCTION_FIELDS = FIELDS_OF(INSTRUCTION);

GETTER(get_operator_mean, struct cost_operator,
       datum_integer(row->count ? row->ns / (int64_t)row->count : 0))

static const struct field OPERATOR[] = {
    { "operator", MEMBER(struct cost_operator, name), TEXT(3, "operator", TEXT, 0) },
    { "kind", MEMBER(struct cost_operator, kind), TEXT(6, "kind", TEXT, 0) },
    { "count", MEMBER(struct cost_operator, count), TEXT(4, "count", COUNT, 0) },
    { "ns", MEMBER(struct cost_operator, ns), TEXT(1, "time", NS, 0) },
    { "share", MEMBER(struct cost_operator, share), TEXT(2, "share", SHARE, 0) },
    { NULL, .get = get_operator_mean, TEXT(5, "a unit", SPENT, 0) },
};
static const struct fields OPERATOR_FIELDS = FIELDS_OF(OPERATOR);

static void write_basis(const struct report *r, const struct cost_model *m)
{
    struct buf text = BUF_INIT;
    buf_puts(&text, "The rows above and what is unexplained, ");
    buf_puts(&text, m->unexplained_ns < 0 ? "-" : "");
    format_ns(&text, m->unexplained_ns < 0 ? -m->unexplained_ns : m->unexplained_ns);
    buf_printf(&text, " (%.1f %%), are the ", m->unexplained_share * 100);
    format_ns(&text, m->wall_ns);
    buf_puts(&text, " of compiling. ");
    if (m->fitted)
        buf_puts(&text, "The time of a unit is fitted on the deep recordings among these tapes, or "
                        "shipped with symtape where they have no such work. ");
    else if (m->release) {
        struct cost_error error = cost_error_shipped(m->release);
        buf_printf(&text,
                   "No tape is a deep recording: estimated times are counts of the replay by what "
                   "a unit cost with PyTorch %d.%d on another machine, the others those of the "
                   "log's phases. ",
                   m->release / 100, m->release % 100);
        if (error.recordings)
            buf_printf(
                &text,
                "Of %u recordings on that machine that were not used for the units, such a sum "
                "differed from the time by %.0f %% in the median. ",
                (unsigned)error.recordings, error.share * 100);
    }
    text_paragraph(r, &text);
}

WANTED(is_shown, struct cost_row, row->ns != 0)

static void text_cost_model(struct report *r)
{
    const struct cost_model *m = &r->p->cost_model;
    const struct rows parts = ROWS(m->parts, m->n_parts), inside = ROWS(m->inside, m->n_inside);
    const struct rows instructions = ROWS(m->instructions, m->n_instructions);
    const struct rows operators = ROWS(m->operators, m->n_operators);
    const struct rows lines = ROWS(m->lines, m->n_lines);
    struct rows rows = ROWS(m->rows, m->n_rows);
    rows.wanted = is_shown;
    text_rows(r, "What the time of compiling consists of", &ROW_FIELDS, 0, &rows, 0);
    write_basis(r, m);
    text_rows(r, "Where what is unexplained lies", &PART_FIELDS, 0, &parts, 0);
    if (m->n_lines)
        text_rows(r, "Lines of the program whose time in Dynamo and AOTAutograd is unexplained",
                  &LINE_FIELDS, 0, &lines, r->options->limit);
    if (m->n_operators)
        text_rows(r, "Dispatches by operator, in deep recordings", &OPERATOR_FIELDS, 0, &operators,
                  r->options->limit);
    if (m->n_inside)
        text_rows(r, "What the rows of deep recordings contain", &INSIDE_FIELDS, 0, &inside, 0);
    if (m->n_instructions)
        text_rows(r, "Dynamo by instruction of Python's bytecode, in deep recordings",
                  &INSTRUCTION_FIELDS, 0, &instructions, r->options->limit);
}

static void json_cost_model(struct report *r)
{
    const struct cost_model *m = &r->p->cost_model;
    const struct rows rows = ROWS(m->rows, m->n_rows), parts = ROWS(m->parts, m->n_parts);
    const struct rows inside = ROWS(m->inside, m->n_inside);
    const struct rows instructions = ROWS(m->instructions, m->n_instructions);
    const struct rows operators = ROWS(m->operators, m->n_operators);
    const struct rows lines = ROWS(m->lines, m->n_lines);
    if (!r->p->options.cost_model)
        return;
    json_open_object(&r->w, "cost_model");
    json_put_i64(&r->w, "wall_ns", m->wall_ns);
    json_put_i64(&r->w, "unexplained_ns", m->unexplained_ns);
    json_put_bool(&r->w, "fitted", m->fitted);
    json_put_i64(&r->w, "release", m->release);
    const struct cost_error error = cost_error_shipped(m->release);
    if (error.recordings)
        json_put_double(&r->w, "release_error", error.share);
    else
        json_put_null(&r->w, "release_error");
    fields_json_rows(&r->w, "rows", &ROW_FIELDS, r->p, &rows, 0);
    fields_json_rows(&r->w, "parts", &PART_FIELDS, r->p, &parts, 0);
    fields_json_rows(&r->w, "lines", &LINE_FIELDS, r->p, &lines, 0);
    fields_json_rows(&r->w, "operators", &OPERATOR_FIELDS, r->p, &operators, 0);
    fields_json_rows(&r->w, "inside", &INSIDE_FIELDS, r->p, &inside, 0);
    fields_json_rows(&r->w, "instructions", &INSTRUCTION_FIELDS, r->p, &instructions, 0);
    json_close(&r->w);
}

const struct section section_cost_model = { .text = text_cost_model, .json = json_cost_model };
