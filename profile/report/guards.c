/* Sections: guards by line and class, by expression and by symbol. */
#include "profile/model/format.h"
#include "profile/report/section.h"

/* ---- Fields ---- */

GETTER(get_class, enum guard_class, datum_name(guard_class_name(*row)))

static void cell_asked_by(const void *context, const void *at, struct buf *out)
{
    const struct guard_row *row = at;
    (void)context;
    if (row->kind != GUARD_EVAL)
        buf_printf(out, "%s: ", guard_kind_name(row->kind));
    buf_puts(out, guard_class_name(row->asked_by));
}

GETTER_IN(get_place, void, struct guard_row,
          datum_place(profile_name(in, row->file), row->line, row->code))

static const struct field GUARD[] = {
    { "expr", MEMBER(struct guard_row, expr), TEXT(5, "guard", TEXT, 0) },
    { "class", GET(get_class, struct guard_row, asked_by) },
    { NULL, .cell = cell_asked_by, TEXT(3, "asked by", WORD, 0) },
    { "count", MEMBER(struct guard_row, count), TEXT(1, "count", COUNT, 0) },
    { "kept", MEMBER(struct guard_row, kept), TEXT(2, "kept", COUNT, 0) },
    { "line", .get = get_place, TEXT(4, "user line", PATH, 0) },
};
static const struct fields GUARD_FIELDS = FIELDS_OF(GUARD);

static const struct field COUNTS[] = {
    { "guards", MEMBER(struct profile_guards, by_kind[GUARD_EVAL]) },
    { "suppressed", MEMBER(struct profile_guards, by_kind[GUARD_SUPPRESSED]) },
    { "runtime_asserts", MEMBER(struct profile_guards, by_kind[GUARD_RUNTIME_ASSERT]) },
    { "kept", MEMBER(struct profile_guards, kept) },
    { "duplicates", MEMBER(struct profile_guards, duplicates) },
    { "longest", MEMBER(struct profile_guards, longest) },
};
static const struct fields COUNTS_FIELDS = FIELDS_OF(COUNTS);

static const struct field EXPR[] = {
    { "expr", MEMBER(struct guard_expr, expr) },
    { "count", MEMBER(struct guard_expr, count) },
    { "kept", MEMBER(struct guard_expr, kept) },
    { "lines", MEMBER(struct guard_expr, n_lines) },
};
static const struct fields EXPR_FIELDS = FIELDS_OF(EXPR);

static const struct field SYMBOL[] = {
    { "symbol", MEMBER(struct guard_symbol, symbol), TEXT(2, "symbol", TEXT, 0) },
    { "guards", MEMBER(struct guard_symbol, guards), TEXT(1, "guards", COUNT, 0) },
};
static const struct fields SYMBOL_FIELDS = FIELDS_OF(SYMBOL);

/* ---- Guards ---- */

static void put_guard_counts(const struct report *r)
{
    const struct profile_guards *guards = &r->p->guards;
    struct buf text = BUF_INIT;
    const char *before = ": ";
    format_plural(&text, guards->by_kind[GUARD_EVAL], "guard");
    for (int i = 0; i < GUARD_CLASSES; i++) {
        if (guards->by_class[i] == 0)
            continue;
        buf_puts(&text, before);
        format_count(&text, guards->by_class[i]);
        buf_printf(&text, " asked by %s", guard_class_name((enum guard_class)i));
        before = ", ";
    }
    buf_puts(&text, "; ");
    format_count(&text, guards->duplicates);
    buf_puts(&text, " repeat one that their attempt had before. Besides, ");
    format_count(&text, guards->by_kind[GUARD_SUPPRESSED]);
    buf_puts(&text, " were suppressed and ");
    format_count(&text, guards->by_kind[GUARD_RUNTIME_ASSERT]);
    buf_puts(&text, " deferred to run time as asserts.");
    text_paragraph(r, &text);
}

static void text_guards(struct report *r)
{
    const struct profile_guards *guards = &r->p->guards;
    struct rows rows = ROWS(guards->rows, guards->n_rows);
    struct text_table t;
    if (guards->n_rows == 0)
        return;
    text_title(r, "Guards (asked by: whose code needed to know)");
    put_guard_counts(r);
    text_table_init(&t, &GUARD_FIELDS, 0);
    text_finish(r, &t.table, text_table_rows(&t, r->p, &rows, r->options->limit));
}

WANTED(is_guard, struct guard_row, row->kind == GUARD_EVAL)
WANTED(is_suppressed, struct guard_row, row->kind == GUARD_SUPPRESSED)
WANTED(is_assert, struct guard_row, row->kind == GUARD_RUNTIME_ASSERT)

static void json_guards(struct report *r)
{
    static const struct {
        const char *key;
        bool (*wanted)(const void *context, const void *item);
    } KINDS[] = { { "guards", is_guard },
                  { "suppressed_guards", is_suppressed },
                  { "runtime_asserts", is_assert } };
    const struct profile_guards *guards = &r->p->guards;
    struct rows rows = ROWS(guards->rows, guards->n_rows);
    struct rows exprs = ROWS(guards->exprs, guards->n_exprs);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        rows.wanted = KINDS[i].wanted;
        fields_json_rows(&r->w, KINDS[i].key, &GUARD_FIELDS, r->p, &rows, r->options->limit);
    }
    json_open_object(&r->w, "guard_counts");
    fields_json(&COUNTS_FIELDS, r->p, guards, &r->w);
    json_open_object(&r->w, "by_class");
    for (int i = 0; i < GUARD_CLASSES; i++)
        json_put_u64(&r->w, guard_class_name((enum guard_class)i), guards->by_class[i]);
    json_close(&r->w);
    json_close(&r->w);
    fields_json_rows(&r->w, "guard_expressions", &EXPR_FIELDS, r->p, &exprs, r->options->limit);
}

const struct section section_guards = { .text = text_guards, .json = json_guards };

const struct section section_guard_symbols = {
    .key = "guard_symbols",
    .title = "Symbols by guards that name them",
    .fields = &SYMBOL_FIELDS,
    PROFILE_ROWS(guards.symbols, guards.n_symbols),
    .limited = true,
};
