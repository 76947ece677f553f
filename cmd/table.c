#include "cmd/table.h"

#include "cmd/cmd.h"
#include "cmd/human.h"

enum { GAP = 2, NARROWEST = 12 };

struct table table_of(const struct column *columns, size_t n_columns)
{
    return (struct table){ .columns = columns, .n_columns = n_columns };
}

void table_release(struct table *table)
{
    buf_release(&table->text);
    vec_release(&table->ends);
}

/* Length of the UTF-8 sequence at the start of `text`; 0 when it is not one, or a control. */
static size_t printable(struct str text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7F;
    size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    uint32_t code = p[0] & (0x7Fu >> n);
    static const uint32_t least[] = { 0, 0, 0xA0, 0x800, 0x10000 }; /* C1 controls end at 0x9F */
    if (p[0] < 0xC2 || p[0] > 0xF4 || n > text.n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3Fu);
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return code >= least[n] && code <= 0x10FFFF && !surrogate ? n : 0;
}

static void put_escaped(struct buf *out, struct str text)
{
    while (text.n) {
        size_t n = printable(text);
        if (n)
            buf_put(out, str_first(text, n));
        else if (text.p[0] == '\n')
            buf_puts(out, "\\n");
        else if (text.p[0] == '\t')
            buf_puts(out, "\\t");
        else
            buf_printf(out, "\\x%02x", (unsigned char)text.p[0]);
        text = str_from(text, n ? n : 1);
    }
}

void table_text(struct table *table, struct str text)
{
    put_escaped(&table->text, text);
    if (!vec_push(&table->ends, table->text.n))
        table->failed = true;
}

void table_printf(struct table *table, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    if (text.failed)
        table->failed = true;
    table_text(table, buf_str(&text));
    buf_release(&text);
}

void table_u64(struct table *table, uint64_t value)
{
    char text[HUMAN_SIZE];
    table_text(table, str_of(human_count(text, value)));
}

size_t table_rows(const struct table *table)
{
    return table->ends.n / table->n_columns;
}

static struct str cell(const struct table *table, size_t row, size_t column)
{
    size_t i = row * table->n_columns + column;
    size_t from = i ? table->ends.v[i - 1] : 0;
    return (struct str){ table->text.p + from, table->ends.v[i] - from };
}

/* Columns of the terminal: one for each code point. */
static size_t width_of(struct str text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.n; i++)
        width += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return width;
}

/* The first `width` code points. */
static struct str cut(struct str text, size_t width)
{
    size_t i = 0;
    while (i < text.n && (width || ((unsigned char)text.p[i] & 0xC0) == 0x80))
        width -= ((unsigned char)text.p[i++] & 0xC0) != 0x80;
    return str_first(text, i);
}

static void measure(const struct table *table, size_t *widths)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        widths[c] = strlen(table->columns[c].header);
        for (size_t r = 0; r < table_rows(table); r++) {
            size_t width = width_of(cell(table, r, c));
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
}

/* The widest of the wide columns that can still give way; n_columns when none can. */
static size_t widest(const struct table *table, const size_t *widths)
{
    size_t found = table->n_columns;
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].kind == COLUMN_WIDE && widths[c] > NARROWEST &&
            (found == table->n_columns || widths[c] > widths[found]))
            found = c;
    return found;
}

/* Takes what is too much from the wide columns, always from the widest. */
static void shrink(const struct table *table, size_t *widths, size_t limit)
{
    size_t total = GAP * (table->n_columns - 1), c;
    for (c = 0; c < table->n_columns; c++) {
        if (table->columns[c].kind == COLUMN_WIDE && widths[c] > limit && limit > NARROWEST)
            widths[c] = limit;
        total += widths[c];
    }
    while (total > limit && (c = widest(table, widths)) < table->n_columns) {
        widths[c]--;
        total--;
    }
}

static void put_cell(struct out *out, struct str text, size_t width, enum column_kind kind, bool last)
{
    size_t have = width_of(text);
    if (have > width) {
        out_raw(out, cut(text, width > 3 ? width - 3 : width));
        out_raw(out, width > 3 ? STR("...") : STR(""));
        have = width;
    } else if (kind == COLUMN_RIGHT) {
        out_printf(out, "%*s", (int)(width - have), "");
        out_raw(out, text);
    } else {
        out_raw(out, text);
        if (!last)
            out_printf(out, "%*s", (int)(width - have), "");
    }
    if (!last)
        out_printf(out, "%*s", GAP, "");
}

int table_print(const struct table *table, struct out *out)
{
    struct err err = { 0 };
    size_t *widths = calloc(table->n_columns, sizeof *widths);
    if (table->failed || table->text.failed || !widths) {
        free(widths);
        err_nomem(&err);
        return out_error(out, &err);
    }
    measure(table, widths);
    if (out->width)
        shrink(table, widths, out->width);
    for (size_t r = 0; table_rows(table) && r <= table_rows(table); r++) {
        out_printf(out, "%s", r == 0 ? out_style(out, STYLE_BOLD) : "");
        for (size_t c = 0; c < table->n_columns; c++) {
            struct str text = r ? cell(table, r - 1, c) : str_of(table->columns[c].header);
            put_cell(out, text, widths[c], table->columns[c].kind, c + 1 == table->n_columns);
        }
        out_printf(out, "%s\n", r == 0 ? out_style(out, STYLE_NONE) : "");
    }
    free(widths);
    return EXIT_DONE;
}

void table_print_block(const struct table *table, size_t row, struct out *out)
{
    size_t width = 0;
    if (table->failed || table->text.failed)
        return;
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t n = strlen(table->columns[c].header);
        width = n > width ? n : width;
    }
    for (size_t c = 0; c < table->n_columns; c++) {
        struct str text = cell(table, row, c);
        out_printf(out, "%s%-*s%s  ", out_style(out, STYLE_BOLD), (int)width,
                   table->columns[c].header, out_style(out, STYLE_NONE));
        out_raw(out, text);
        out_printf(out, "\n");
    }
}
