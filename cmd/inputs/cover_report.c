/* The answers of --cover as text and JSON. */
#include "cmd/inputs/inputs.h"
#include "profile/model/format.h"
#include "profile/report/table.h"

/* ---- Text ---- */

void inputs_put_values(const struct conditions *conditions, const struct decide_value *values,
                       uint32_t n, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(out, i ? ", " : "");
        inputs_put_symbol(conditions, values[i].symbol, out);
        buf_printf(out, "=%lld", (long long)values[i].value);
    }
}

static void put_sizes(const struct cover_report *report, const struct decide_answer *answer,
                      struct buf *out)
{
    inputs_put_values(report->conditions, answer->values, answer->n_values, out);
}

static void put_row(const struct cover_report *report, const struct cover_row *row,
                    struct table *table)
{
    const struct trace *trace = report->run->tape.trace;
    uint32_t recording = report->conditions->recording;
    struct frame frame = condition_frame(trace, recording, row->condition);
    table_text(table, str_of(decide_verdict_name(row->answer.verdict)));
    if (row->answer.verdict == DECIDE_REFUTED)
        put_sizes(report, &row->answer, &table->text);
    table_cell(table);
    table_text(table, str_of(condition_kind_name(row->condition->kind)));
    format_text(&table->text, row->condition->text, 0);
    table_cell(table);
    table_place(table, frame.file, frame.line);
    table_text(table, frame.code);
}

/* Prints the rows of a verdict. */
static void print_rows(const struct cover_report *report, enum decide_verdict verdict,
                       const char *title)
{
    static const struct column COLUMNS[] = {
        { "verdict", COLUMN_LEFT, 4 },   { "sizes", COLUMN_LEFT, 0 },
        { "kind", COLUMN_LEFT, 3 },      { "condition", COLUMN_WIDE, 0 },
        { "user line", COLUMN_PATH, 1 }, { "code", COLUMN_WIDE, 2 },
    };
    const struct cover *cover = report->cover;
    struct inputs_run *run = report->run;
    struct table table = TABLE(COLUMNS);
    uint32_t shown = 0, n = (uint32_t)cover->n[verdict];
    if (!n)
        return;
    buf_printf(&run->text, "\n  %s\n", title);
    for (size_t i = 0; i < cover->rows.n && shown < report_shown(&run->how, n); i++)
        if (cover->rows.v[i].answer.verdict == verdict) {
            put_row(report, &cover->rows.v[i], &table);
            shown++;
        }
    report_table(&table, &run->how, 2, n, &run->text);
}

static void print_first(const struct cover_report *report)
{
    struct buf *out = &report->run->text;
    const struct cover_row *row = report->cover->first;
    buf_puts(out, report->cover->first_is_smallest ? "  * the smallest sizes that violate one: "
                                                   : "  * sizes that violate one: ");
    put_sizes(report, &row->answer, out);
    buf_puts(out, "; ");
    format_text(out, row->condition->text, 0);
    buf_puts(out, row->answer.raises ? " divides by zero" : " is false");
    size_t before = out->n;
    buf_puts(out, ", at ");
    size_t start = out->n;
    inputs_put_line(report->run, report->conditions, row->condition, out);
    if (out->n == start)
        out->n = before;
    buf_putc(out, '\n');
}

void cover_report_text(const struct cover_report *report)
{
    const struct cover *cover = report->cover;
    struct buf *out = &report->run->text;
    if (report->run->n_answered)
        buf_putc(out, '\n');
    inputs_put_name(report->run, report->conditions, out);
    if (cover->empty) {
        buf_puts(out, ": proved: no sizes of the range satisfy --assume\n");
        return;
    }
    buf_printf(out, ": %s: %zu of %zu conditions on these sizes always hold",
               decide_verdict_name(cover->verdict), cover->n[DECIDE_PROVED], cover->rows.n);
    if (cover->n[DECIDE_UNDECIDED])
        buf_printf(out, ", %zu undecided", cover->n[DECIDE_UNDECIDED]);
    buf_putc(out, '\n');
    if (cover->n_by_z3)
        buf_printf(out, "  * decided by Z3: %zu\n", cover->n_by_z3);
    if (cover->first)
        print_first(report);
    if (inputs_failed(report->run, report->conditions))
        buf_puts(out, "  * the compile failed, so that nothing serves these sizes\n");
    for (size_t i = 0; i < report->n_missing; i++) {
        buf_puts(out, "  * ");
        format_text(out, report->missing[i], 0);
        buf_puts(out, " is no symbol of this compile\n");
    }
    if (cover->n_data_dependent)
        buf_printf(out, "  * not examined, because they depend on data: %zu\n",
                   cover->n_data_dependent);
    if (cover->n_unrelated)
        buf_printf(out, "  * not examined, because no size of them varies: %zu\n",
                   cover->n_unrelated);
    print_rows(report, DECIDE_REFUTED, "Violated by some sizes of the range");
    print_rows(report, DECIDE_UNDECIDED, "Undecided");
    print_rows(report, DECIDE_PROVED, "Always hold in this range, and can be dropped for it");
}

/* ---- JSON ---- */

void inputs_json_values(const struct conditions *conditions, const struct decide_value *values,
                        uint32_t n, struct json_writer *w, const char *key)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++) {
        const struct condition_symbol *s = conditions_symbol(conditions, values[i].symbol);
        json_open_object(w, NULL);
        if (s && s->made)
            json_put_null(w, "symbol");
        else
            json_put_str(w, "symbol", sym_name(conditions->pool, values[i].symbol));
        json_put_str_or_null(w, "source", s ? s->source : (struct str){ 0 });
        json_put_i64(w, "value", values[i].value);
        json_close(w);
    }
    json_close(w);
}

static void json_values(const struct cover_report *report, const struct decide_answer *answer,
                        struct json_writer *w, const char *key)
{
    if (answer->verdict == DECIDE_REFUTED)
        inputs_json_values(report->conditions, answer->values, answer->n_values, w, key);
    else
        json_put_null(w, key);
}

static void json_row(const struct cover_report *report, const struct cover_row *row,
                     struct json_writer *w)
{
    const struct trace *trace = report->run->tape.trace;
    uint32_t recording = report->conditions->recording;
    json_open_object(w, NULL);
    json_put_cstr(w, "kind", condition_kind_name(row->condition->kind));
    json_put_str(w, "expr", row->condition->text);
    json_put_cstr(w, "verdict", decide_verdict_name(row->answer.verdict));
    json_put_cstr(w, "method",
                  row->condition->expr == SYM_NONE ? NULL : decide_method_name(row->answer.method));
    json_put_bool(w, "can_be_dropped", row->answer.verdict == DECIDE_PROVED);
    json_values(report, &row->answer, w, "counterexample");
    json_put_bool(w, "smallest", row->answer.smallest);
    json_put_bool(w, "raises", row->answer.raises);
    json_put_bool(w, "not_exact", row->answer.no_values);
    json_put_u64(w, "points", row->answer.points);
    json_put_u64(w, "log_line", trace->records[row->condition->record].line);
    inputs_json_line(trace, recording, row->condition, w);
    json_close(w);
}

void cover_report_json(const struct cover_report *report)
{
    struct json_writer *w = &report->run->writer;
    const struct cover *cover = report->cover;
    json_open_object(w, NULL);
    inputs_json_name(report->run, report->conditions, w);
    json_put_cstr(w, "verdict", decide_verdict_name(cover->verdict));
    json_put_bool(w, "empty", cover->empty);
    json_open_array(w, "missing");
    for (size_t i = 0; i < report->n_missing; i++)
        json_put_str(w, NULL, report->missing[i]);
    json_close(w);
    json_put_u64(w, "unrelated", cover->n_unrelated);
    json_put_u64(w, "of_data", cover->n_data_dependent);
    if (cover->first)
        json_values(report, &cover->first->answer, w, "counterexample");
    else
        json_put_null(w, "counterexample");
    json_open_array(w, "conditions");
    for (size_t i = 0; i < cover->rows.n; i++)
        json_row(report, &cover->rows.v[i], w);
    json_close(w);
    json_close(w);
}
