#include "cmd/query/query_report.h"

#include <unistd.h>

#include "profile/report/table.h"
#include "trace/base/arena.h"
#include "trace/base/text/csv.h"
#include "trace/base/text/printable.h"

enum { PIECE = 1 << 16 };

/* Reads the next row. *more is false at the end, and at the limit if there are further rows:
 * *cut. The time of the query ends there: a reader of what is printed may take longer. */
static bool next_row(const struct query_report *report, uint64_t n, bool *more, bool *cut,
                     struct err *err)
{
    if (!query_step(report->query, more, err))
        return false;
    *cut = *more && report->limit && n == report->limit;
    *more = *more && !*cut;
    if (!*more)
        (void)alarm(0);
    return true;
}

static void put_hex(struct str bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.n; i++)
        buf_printf(out, "%02x", (unsigned char)bytes.p[i]);
}

/* Appends a number, or the bytes of a blob in hexadecimal digits. */
static void put_plain(const struct query_cell *cell, struct buf *out)
{
    if (cell->kind == QUERY_INTEGER)
        buf_i64(out, cell->integer);
    else if (cell->kind == QUERY_REAL)
        json_number(out, cell->real);
    else if (cell->kind == QUERY_BLOB)
        put_hex(cell->text, out);
}

/* ---- Text ---- */

struct text_report {
    struct table table;
    struct column *columns;
    struct arena arena;
};

static bool name_columns(struct text_report *text, const struct query *query, struct err *err)
{
    struct buf name = BUF_INIT;
    size_t n = (size_t)query->n_columns;
    text->columns = arena_array(&text->arena, struct column, n);
    text->table = (struct table){ .columns = text->columns, .n_columns = n };
    bool ok = text->columns;
    for (size_t i = 0; ok && i < n; i++) {
        buf_clear(&name);
        printable_line(&name, query_column(query, (int)i));
        text->columns[i].header = name.failed ? NULL : arena_copy(&text->arena, buf_str(&name)).p;
        ok = text->columns[i].header;
    }
    buf_release(&name);
    return ok || err_nomem(err);
}

static void put_text_row(struct text_report *text, const struct query *query)
{
    for (int i = 0; i < query->n_columns; i++) {
        struct query_cell cell = query_cell(query, i);
        bool number = cell.kind == QUERY_INTEGER || cell.kind == QUERY_REAL;
        if (number)
            text->columns[i].kind = COLUMN_RIGHT;
        else if (cell.kind != QUERY_NULL)
            text->columns[i].kind = COLUMN_WIDE;
        if (cell.kind == QUERY_TEXT || cell.kind == QUERY_NULL) {
            table_text(&text->table, cell.text);
        } else {
            put_plain(&cell, &text->table.text);
            table_cell(&text->table);
        }
    }
}

static int print_text(struct out *out, const struct query_report *report, struct err *err)
{
    struct text_report text = { 0 };
    bool more = true, cut = false;
    uint64_t n = 0;
    bool ok = name_columns(&text, report->query, err);
    while (ok && (ok = next_row(report, n, &more, &cut, err)) && more) {
        put_text_row(&text, report->query);
        ok = !text.table.text.failed || err_nomem(err);
        n++;
    }
    int code = ok ? out_table(out, &text.table) : out_error(out, err);
    if (ok && n == 0)
        out_note(out, "no rows");
    if (ok && cut)
        out_text(out, STR("... and more; -n 0 prints all\n"));
    table_release(&text.table);
    arena_release(&text.arena);
    return code;
}

/* ---- JSON ---- */

static void put_json_cell(struct json_writer *w, const struct query_cell *cell)
{
    struct buf hex = BUF_INIT;
    switch (cell->kind) {
    case QUERY_NULL: json_put_null(w, NULL); break;
    case QUERY_INTEGER: json_put_i64(w, NULL, cell->integer); break;
    case QUERY_REAL: json_put_double(w, NULL, cell->real); break;
    case QUERY_TEXT: json_put_str(w, NULL, cell->text); break;
    case QUERY_BLOB:
        put_hex(cell->text, &hex);
        json_put_str(w, NULL, buf_str(&hex));
        w->out->failed = w->out->failed || hex.failed;
        break;
    }
    buf_release(&hex);
}

static void begin_json(const struct query_report *report, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "schema", SCHEMA_QUERY);
    json_put_cstr(w, "query", report->name);
    json_open_array(w, "columns");
    for (int i = 0; i < report->query->n_columns; i++)
        json_put_str(w, NULL, query_column(report->query, i));
    json_close(w);
    json_open_array(w, "rows");
}

static void put_json_row(const struct query *query, struct json_writer *w)
{
    json_open_array(w, NULL);
    for (int i = 0; i < query->n_columns; i++) {
        struct query_cell cell = query_cell(query, i);
        put_json_cell(w, &cell);
    }
    json_close(w);
}

static void end_json(struct json_writer *w, bool cut)
{
    json_close(w);
    json_put_bool(w, "more", cut);
    json_close(w);
    buf_putc(w->out, '\n');
}

/* ---- CSV (RFC 4180) ---- */

/* An empty text is told from NULL. */
static void put_csv_text(struct str text, struct buf *out)
{
    if (text.n == 0)
        buf_puts(out, "\"\"");
    else
        csv_quote(text, out);
}

static void begin_csv(const struct query *query, struct buf *out)
{
    for (int i = 0; i < query->n_columns; i++) {
        buf_puts(out, i > 0 ? "," : "");
        put_csv_text(query_column(query, i), out);
    }
    buf_putc(out, '\n');
}

static void put_csv_row(const struct query *query, struct buf *out)
{
    for (int i = 0; i < query->n_columns; i++) {
        struct query_cell cell = query_cell(query, i);
        buf_puts(out, i > 0 ? "," : "");
        if (cell.kind == QUERY_TEXT)
            put_csv_text(cell.text, out);
        else
            put_plain(&cell, out);
    }
    buf_putc(out, '\n');
}

/* ---- For programs ---- */

static int flush(struct out *out, struct buf *text, size_t most)
{
    if (text->n < most && !text->failed)
        return EXIT_DONE;
    int code = out_buf(out, text);
    buf_clear(text);
    return code;
}

static int print_stream(struct out *out, const struct query_report *report, struct err *err)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    bool json = report->format == QUERY_JSON, more = true, cut = false, ok = true;
    int code = EXIT_DONE;
    if (json)
        begin_json(report, &w);
    else
        begin_csv(report->query, &text);
    for (uint64_t n = 0; code == EXIT_DONE && (ok = next_row(report, n, &more, &cut, err)) && more;
         n++) {
        if (json)
            put_json_row(report->query, &w);
        else
            put_csv_row(report->query, &text);
        code = flush(out, &text, PIECE);
    }
    if (ok && json)
        end_json(&w, cut);
    if (code == EXIT_DONE)
        code = ok ? flush(out, &text, 0) : out_error(out, err);
    buf_release(&text);
    return code;
}

int query_print(struct out *out, const struct query_report *report, struct err *err)
{
    out->exact = report->format != QUERY_TABLE;
    return report->format == QUERY_TABLE ? print_text(out, report, err)
                                         : print_stream(out, report, err);
}
