#include "trace/base/text/csv.h"

static const struct str BYTE_ORDER_MARK = { "\xef\xbb\xbf", 3 };

struct csv csv_of(struct str text)
{
    return (struct csv){ .text = text,
                         .next = str_starts(text, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.n : 0,
                         .line = 1 };
}

void csv_release(struct csv *in)
{
    vec_release(&in->cells);
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Returns the length of the end of a line at an offset: 2 for CRLF, 0 if there is none. */
static size_t line_end_at(const struct csv *in, size_t at)
{
    if (at >= in->text.n || !is_line_end(in->text.p[at]))
        return 0;
    return in->text.p[at] == '\r' && at + 1 < in->text.n && in->text.p[at + 1] == '\n' ? 2 : 1;
}

/* Passes lines of white space only. */
static void skip_blank_lines(struct csv *in)
{
    size_t at = in->next;
    while (at < in->text.n && is_space(in->text.p[at])) {
        size_t end = line_end_at(in, at);
        at += end ? end : 1;
        if (end) {
            in->next = at;
            in->line++;
        }
    }
    if (at >= in->text.n)
        in->next = at;
}

/* Reads a cell whose opening quote is at in->next - 1, up to its closing quote. */
static bool read_quoted(struct csv *in, struct csv_cell *cell, struct err *err)
{
    uint64_t opened = in->line;
    size_t begin = in->next, at = begin;
    while (at < in->text.n) {
        bool quote = in->text.p[at] == '"';
        if (quote && (at + 1 == in->text.n || in->text.p[at + 1] != '"'))
            break;
        size_t end = line_end_at(in, at);
        in->line += end > 0;
        at += quote ? 2 : end ? end : 1;
    }
    if (at >= in->text.n)
        return err_set(err, ERR_INPUT, "line %llu: a quote is not closed",
                       (unsigned long long)opened);
    *cell = (struct csv_cell){ { in->text.p + begin, at - begin }, true };
    in->next = at + 1;
    if (in->next < in->text.n && in->text.p[in->next] != ',' && !line_end_at(in, in->next))
        return err_set(err, ERR_INPUT, "line %llu: text after a closing quote",
                       (unsigned long long)in->line);
    return true;
}

static void read_plain(struct csv *in, struct csv_cell *cell)
{
    size_t begin = in->next, at = begin;
    while (at < in->text.n && in->text.p[at] != ',' && !is_line_end(in->text.p[at]))
        at++;
    *cell = (struct csv_cell){ { in->text.p + begin, at - begin }, false };
    in->next = at;
}

static bool read_cell(struct csv *in, struct err *err)
{
    struct csv_cell cell;
    if (in->next < in->text.n && in->text.p[in->next] == '"') {
        in->next++;
        if (!read_quoted(in, &cell, err))
            return false;
    } else {
        read_plain(in, &cell);
    }
    if (in->cells.n == CSV_MAX_CELLS)
        return err_set(err, ERR_INPUT, "line %llu: more than %d cells",
                       (unsigned long long)in->record_line, CSV_MAX_CELLS);
    return vec_push(&in->cells, cell) || err_nomem(err);
}

bool csv_next(struct csv *in, struct err *err)
{
    skip_blank_lines(in);
    in->cells.n = 0;
    if (in->next >= in->text.n)
        return false;
    in->record_line = in->line;
    in->begin = in->next;
    while (read_cell(in, err)) {
        size_t end = line_end_at(in, in->next);
        if (end || in->next == in->text.n) {
            in->end = in->next;
            in->next += end;
            in->line += end > 0;
            return true;
        }
        in->next++; /* the comma */
    }
    return false;
}

void csv_decode(const struct csv_cell *cell, struct buf *out)
{
    struct str rest = cell->text;
    for (size_t at; cell->quoted && (at = str_find_char(rest, '"')) < rest.n;) {
        buf_put(out, str_first(rest, at + 1));
        rest = str_from(rest, at + 2);
    }
    buf_put(out, rest);
}

void csv_quote(struct str text, struct buf *out)
{
    bool quote = text.n > 0 && (is_space(text.p[0]) || is_space(text.p[text.n - 1]));
    for (size_t i = 0; i < text.n && !quote; i++)
        quote = text.p[i] == '"' || text.p[i] == ',' || is_line_end(text.p[i]);
    if (!quote) {
        buf_put(out, text);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, text.p[i]);
    }
    buf_putc(out, '"');
}
