#include "profile/text_table.h"

#include "profile/format.h"

void text_table_cell(struct text_table *table)
{
    if (!vec_push(&table->ends, table->text.n))
        table->text.failed = true;
}

size_t text_table_rows(const struct text_table *table)
{
    return table->ends.n / table->n_columns;
}

static struct str cell(const struct text_table *table, size_t index)
{
    size_t start = index > 0 ? table->ends.v[index - 1] : 0;
    return (struct str){ table->text.p + start, table->ends.v[index] - start };
}

static size_t column_width(const struct text_table *table, size_t column)
{
    size_t width = strlen(table->columns[column].header);
    for (size_t i = column; i < table->ends.n; i += table->n_columns) {
        size_t columns = format_columns(cell(table, i));
        width = columns > width ? columns : width;
    }
    return width;
}

static void pad(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_putc(out, ' ');
}

/* The last column is not padded, and cut to what is left of the line. */
static void print_cell(const struct text_table *table, size_t column, struct str text, size_t width,
                       size_t left, struct buf *out)
{
    size_t columns = format_columns(text);
    size_t fill = width > columns ? width - columns : 0;
    if (table->columns[column].right)
        pad(out, fill);
    if (column + 1 == table->n_columns && left > 0)
        format_text(out, text, left);
    else
        buf_put(out, text);
    if (column + 1 < table->n_columns) {
        if (!table->columns[column].right)
            pad(out, fill);
        pad(out, 2);
    }
}

static void print_rows(const struct text_table *table, const size_t *widths, unsigned width,
                       unsigned indent, bool color, struct buf *out)
{
    enum { LEAST = 20 }; /* columns that the last one keeps on a narrow terminal */
    size_t before = indent, n = table->n_columns;
    for (size_t i = 0; i + 1 < n; i++)
        before += widths[i] + 2;
    size_t left = width == 0 ? 0 : width > before + LEAST ? width - before : LEAST;
    pad(out, indent);
    buf_puts(out, color ? "\033[2m" : "");
    for (size_t i = 0; i < n; i++)
        print_cell(table, i, str_of(table->columns[i].header), widths[i], left, out);
    buf_puts(out, color ? "\033[0m\n" : "\n");
    for (size_t i = 0; i < table->ends.n; i++) {
        if (i % n == 0)
            pad(out, indent);
        print_cell(table, i % n, cell(table, i), widths[i % n], left, out);
        if (i % n == n - 1)
            buf_putc(out, '\n');
    }
}

void text_table_print(struct text_table *table, unsigned width, unsigned indent, bool color,
                      struct buf *out)
{
    if (table->text.failed)
        out->failed = true;
    if (out->failed || text_table_rows(table) == 0)
        return;
    size_t *widths = calloc(table->n_columns, sizeof *widths);
    if (!widths) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < table->n_columns; i++)
        widths[i] = column_width(table, i);
    print_rows(table, widths, width, indent, color, out);
    free(widths);
}

void text_table_release(struct text_table *table)
{
    buf_release(&table->text);
    vec_release(&table->ends);
}
