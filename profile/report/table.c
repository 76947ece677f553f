#include "profile/report/table.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/format.h"
#include "trace/base/text/markdown.h"

enum {
    GAP = 2,
    READABLE = 20, /* spare columns are left out before a wide one becomes narrower than this */
    NARROW = 12,   /* texts are cut to this width before names are cut */
    NARROWEST = 8  /* no column that is cut becomes narrower than this */
};

void table_release(struct table *table)
{
    buf_release(&table->text);
    vec_release(&table->ends);
}

void table_cell(struct table *table)
{
    if (!vec_push(&table->ends, table->text.n))
        table->text.failed = true;
}

void table_text(struct table *table, struct str text)
{
    size_t before = table->text.n;
    format_text(&table->text, text, 0);
    if (table->text.n == before)
        buf_putc(&table->text, '-');
    table_cell(table);
}

void table_printf(struct table *table, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    table->text.failed |= text.failed;
    table_text(table, buf_str(&text));
    buf_release(&text);
}

void table_u64(struct table *table, uint64_t value)
{
    format_count(&table->text, value);
    table_cell(table);
}

void table_count(struct table *table, uint64_t count)
{
    if (count > 0)
        table_u64(table, count);
    else
        table_text(table, STR("-"));
}

void table_ns(struct table *table, int64_t ns)
{
    if (ns < 0)
        buf_putc(&table->text, '-');
    else
        format_ns(&table->text, ns);
    table_cell(table);
}

void table_place(struct table *table, struct str file, uint32_t line)
{
    format_place(&table->text, file, line);
    table_cell(table);
}

size_t table_rows(const struct table *table)
{
    return table->ends.n / table->n_columns;
}

struct str table_cell_text(const struct table *table, size_t row, size_t column)
{
    size_t i = row * table->n_columns + column;
    size_t from = i ? table->ends.v[i - 1] : 0;
    return (struct str){ table->text.p + from, table->ends.v[i] - from };
}

void table_transpose(const struct table *table, struct table *ret)
{
    ret->text.failed |= table->text.failed;
    for (size_t c = 0; c < table->n_columns; c++) {
        table_text(ret, str_of(table->columns[c].header));
        for (size_t r = 0; r < table_rows(table) && !table->text.failed; r++) {
            buf_put(&ret->text, table_cell_text(table, r, c));
            table_cell(ret);
        }
    }
}

/* ---- Headers: folded at their blanks where a row is too wide; the last line stands lowest ---- */

/* Returns the first line of a header that is folded to a width. A word that is longer stays whole.
 */
static struct str header_first_line(struct str header, size_t width)
{
    size_t n = str_find_char(header, ' ');
    while (n < header.n) {
        size_t next = n + 1 + str_find_char(str_from(header, n + 1), ' ');
        if (next > width)
            break;
        n = next;
    }
    return str_first(header, n);
}

static size_t count_header_lines(struct str header, size_t width)
{
    size_t n = 0;
    for (; header.n > 0; n++)
        header = str_from(header, header_first_line(header, width).n + 1);
    return n;
}

/* Returns the line of a folded header that has `below` lines below it; "" if there is none. */
static struct str header_line(struct str header, size_t width, size_t below)
{
    size_t lines = count_header_lines(header, width);
    for (size_t i = below + 1; i < lines; i++)
        header = str_from(header, header_first_line(header, width).n + 1);
    return lines > below ? header_first_line(header, width) : STR("");
}

static size_t longest_word(struct str header)
{
    size_t longest = 0;
    while (header.n > 0) {
        size_t n = str_find_char(header, ' ');
        longest = n > longest ? n : longest;
        header = str_from(header, n + 1);
    }
    return longest;
}

/* ---- Fitting: a width for each column; 0 for one that is left out ---- */

static bool is_text(const struct column *column)
{
    return column->kind == COLUMN_WIDE || column->kind == COLUMN_PATH;
}

static bool is_name(const struct column *column)
{
    return column->kind == COLUMN_LEFT;
}

/* Returns the width of the widest cell of a column, its header not included. */
static size_t cells_width(const struct table *table, size_t column)
{
    size_t ret = 0;
    for (size_t r = 0; r < table_rows(table); r++) {
        size_t width = format_columns(table_cell_text(table, r, column));
        ret = width > ret ? width : ret;
    }
    return ret;
}

static bool is_empty_column(const struct table *table, size_t column)
{
    for (size_t r = 0; r < table_rows(table); r++)
        if (!str_is(table_cell_text(table, r, column), "-"))
            return false;
    return true;
}

static void measure_columns(const struct table *table, bool leave_out, size_t *widths)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t header = strlen(table->columns[c].header), cells = cells_width(table, c);
        widths[c] = cells > header ? cells : header;
        if (leave_out && is_empty_column(table, c))
            widths[c] = 0;
    }
}

/* Returns the width of a row whose wide columns have at most `most` columns. */
static size_t width_of_row(const struct table *table, const size_t *widths, size_t most)
{
    size_t total = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t width = is_text(&table->columns[c]) && widths[c] > most ? most : widths[c];
        total += width > 0 ? width + GAP : 0;
    }
    return total > 0 ? total - GAP : 0;
}

/* Returns the column to leave out next, or n_columns if all others must stay. */
static size_t most_spare(const struct table *table, const size_t *widths)
{
    size_t found = table->n_columns;
    unsigned char spare = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        if (widths[c] > 0 && table->columns[c].spare > spare) {
            spare = table->columns[c].spare;
            found = c;
        }
    return found;
}

/* Returns the widest of the columns that can become narrower, or n_columns if none can. */
static size_t widest_column(const struct table *table, const size_t *widths, size_t least,
                            bool (*can)(const struct column *))
{
    size_t found = table->n_columns;
    for (size_t c = 0; c < table->n_columns; c++)
        if (can(&table->columns[c]) && widths[c] > least &&
            (found == table->n_columns || widths[c] > widths[found]))
            found = c;
    return found;
}

/* Cuts columns, the widest first, until a row fits or each has `least` columns at most. */
static void cut_columns(const struct table *table, size_t *widths, size_t limit, size_t least,
                        bool (*can)(const struct column *))
{
    size_t c;
    for (c = 0; c < table->n_columns; c++)
        if (can(&table->columns[c]) && widths[c] > limit && limit > least)
            widths[c] = limit;
    size_t total = width_of_row(table, widths, SIZE_MAX);
    while (total > limit && (c = widest_column(table, widths, least, can)) < table->n_columns) {
        widths[c]--;
        total--;
    }
}

/* Folds headers that are wider than the cells below them, from the left, until a row fits whose
 * wide columns are as narrow as they can be. */
static void fold_headers(const struct table *table, size_t *widths, size_t limit)
{
    size_t total = width_of_row(table, widths, NARROW);
    for (size_t c = 0; c < table->n_columns && total > limit; c++) {
        size_t word = longest_word(str_of(table->columns[c].header));
        size_t cells = widths[c] > 0 ? cells_width(table, c) : 0;
        size_t least = cells > word ? cells : word;
        size_t excess = total - limit, spared = widths[c] > least ? widths[c] - least : 0;
        if (is_text(&table->columns[c]) || widths[c] == 0)
            continue;
        widths[c] -= spared < excess ? spared : excess;
        total -= spared < excess ? spared : excess;
    }
}

static void fit(const struct table *table, size_t *widths, size_t limit)
{
    size_t c;
    while (width_of_row(table, widths, READABLE) > limit &&
           (c = most_spare(table, widths)) < table->n_columns)
        widths[c] = 0;
    fold_headers(table, widths, limit);
    cut_columns(table, widths, limit, NARROW, is_text);
    cut_columns(table, widths, limit, NARROW, is_name);
    cut_columns(table, widths, limit, NARROWEST, is_text);
    cut_columns(table, widths, limit, NARROWEST, is_name);
}

/* ---- Printing ---- */

/* Prints the beginning of a text, of a path the end, of a name both. */
static void put_cut(struct buf *out, struct str text, size_t width, enum column_kind kind)
{
    static const char DOTS[] = "...";
    size_t dots = width > strlen(DOTS) ? strlen(DOTS) : 0, left = width - dots;
    size_t end = kind == COLUMN_PATH ? left : kind == COLUMN_LEFT ? left / 2 : 0;
    buf_put(out, str_first(text, format_first(text, left - end)));
    buf_put(out, str_first(str_of(DOTS), dots));
    buf_put(out, str_from(text, text.n - format_last(text, end)));
}

/* Returns the text of a column in a line: in `row`, or in the line of the header that has `below`
 * lines below it. */
static struct str line_text(const struct table *table, size_t row, size_t below, size_t c,
                            size_t width)
{
    struct str header = str_of(table->columns[c].header);
    if (row > 0)
        return table_cell_text(table, row - 1, c);
    return width < header.n && !is_text(&table->columns[c])
               ? header_line(header, width, below)
               : str_first(header, below ? 0 : header.n);
}

/* Prints a line of a row; row 0 is the header. Nothing follows the last text, not even blanks. */
static void put_table_line(const struct table *table, size_t row, size_t below,
                           const size_t *widths, struct buf *out)
{
    size_t gap = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        enum column_kind kind = table->columns[c].kind;
        size_t width = widths[c];
        struct str text = line_text(table, row, below, c, width);
        size_t have = format_columns(text), fill = width > have ? width - have : 0;
        if (width == 0)
            continue;
        if (have == 0) {
            gap += width + GAP;
            continue;
        }
        format_spaces(out, kind == COLUMN_RIGHT ? gap + fill : gap);
        if (have > width)
            put_cut(out, text, width, kind);
        else
            buf_put(out, text);
        gap = GAP + (kind == COLUMN_RIGHT ? 0 : fill);
    }
}

static void put_header(const struct table *table, const struct table_layout *layout,
                       const size_t *widths, struct buf *out)
{
    size_t lines = 1;
    for (size_t c = 0; c < table->n_columns; c++) {
        struct str header = str_of(table->columns[c].header);
        size_t n = widths[c] > 0 && !is_text(&table->columns[c])
                       ? count_header_lines(header, widths[c])
                       : 1;
        lines = n > lines ? n : lines;
    }
    for (size_t below = lines; below-- > 0;) {
        format_spaces(out, layout->indent);
        style_mark(layout->styles, out, STYLE_DIM);
        put_table_line(table, 0, below, widths, out);
        style_mark(layout->styles, out, STYLE_NONE);
        buf_putc(out, '\n');
    }
}

void table_print(const struct table *table, const struct table_layout *layout, struct buf *out)
{
    size_t *widths = calloc(table->n_columns, sizeof *widths);
    if (table->text.failed || !widths) {
        out->failed = true;
        free(widths);
        return;
    }
    measure_columns(table, layout->width > 0 || table->squeezed, widths);
    if (layout->width > 0)
        fit(table, widths, layout->width > layout->indent ? layout->width - layout->indent : 1);
    if (table_rows(table) > 0)
        put_header(table, layout, widths, out);
    for (size_t r = 1; r <= table_rows(table); r++) {
        format_spaces(out, layout->indent);
        put_table_line(table, r, 0, widths, out);
        buf_putc(out, '\n');
    }
    free(widths);
}

/* Returns whether a text is a number with sign and unit, which needs no markup. */
static bool is_figure(struct str text)
{
    static const char FIGURES[] = "0123456789 +-.,%()kMGTPunmshBxi";
    size_t n = 0;
    while (n < text.n && text.p[n] != '\0' && strchr(FIGURES, text.p[n]))
        n++;
    return n == text.n;
}

static void markdown_cell(struct buf *out, struct str text, enum column_kind kind)
{
    buf_puts(out, "| ");
    if (str_is(text, "-"))
        text = STR("");
    if (kind == COLUMN_MARKUP || (kind == COLUMN_RIGHT && is_figure(text)))
        buf_put(out, text);
    else if (kind == COLUMN_WIDE || kind == COLUMN_PATH)
        markdown_cell_code(out, text);
    else
        markdown_text(out, text);
    buf_putc(out, ' ');
}

void table_markdown(const struct table *table, struct buf *out)
{
    if (table_rows(table) == 0 && !table->text.failed)
        return;
    size_t *widths = calloc(table->n_columns, sizeof *widths);
    if (table->text.failed || !widths) {
        out->failed = true;
        free(widths);
        return;
    }
    measure_columns(table, table->squeezed, widths);
    for (size_t c = 0; c < table->n_columns; c++)
        if (widths[c] > 0)
            buf_printf(out, "| %s ", table->columns[c].header);
    buf_puts(out, "|\n");
    for (size_t c = 0; c < table->n_columns; c++)
        if (widths[c] > 0)
            buf_puts(out, table->columns[c].kind == COLUMN_RIGHT ? "| ---: " : "| --- ");
    buf_puts(out, "|\n");
    for (size_t r = 0; r < table_rows(table); r++) {
        for (size_t c = 0; c < table->n_columns; c++)
            if (widths[c] > 0)
                markdown_cell(out, table_cell_text(table, r, c), table->columns[c].kind);
        buf_puts(out, "|\n");
    }
    free(widths);
}

void table_print_block(const struct table *table, size_t row, struct styles *styles,
                       struct buf *out)
{
    size_t width = 0;
    out->failed |= table->text.failed;
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t n = strlen(table->columns[c].header);
        width = n > width ? n : width;
    }
    for (size_t c = 0; c < table->n_columns && !out->failed; c++) {
        style_mark(styles, out, STYLE_DIM);
        buf_printf(out, "%-*s", (int)width, table->columns[c].header);
        style_mark(styles, out, STYLE_NONE);
        buf_puts(out, "  ");
        buf_put(out, table_cell_text(table, row, c));
        buf_putc(out, '\n');
    }
}
