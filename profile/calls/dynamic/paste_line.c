/* A statement to paste on one line, or broken as Python is. */
#include "profile/calls/dynamic/paste.h"
#include "profile/model/format.h"
#include "trace/base/text/python_string.h"

/* Appends items from `from` to `to` as they stand on one line. */
static void put_items(const struct paste *paste, const struct paste_line *line, uint32_t from,
                      uint32_t to, struct buf *out)
{
    struct buf joined = BUF_INIT;
    bool string = line->form == STATEMENT_STRING;
    for (uint32_t i = from; i < to; i++) {
        buf_puts(&joined, i == from ? "" : string ? "," : ", ");
        buf_put(&joined, paste->items.v[line->first_item + i]);
    }
    if (to < line->n_items)
        buf_puts(&joined, ",");
    if (string)
        python_put_string(out, buf_str(&joined));
    else
        buf_put(out, buf_str(&joined));
    out->failed |= joined.failed;
    buf_release(&joined);
}

/* Returns the item before which a line of items has to end: each line has one at least. */
static uint32_t line_end(const struct paste *paste, const struct paste_line *line, uint32_t from,
                         size_t room)
{
    size_t columns = 3; /* quotes and a comma */
    uint32_t at = from;
    while (at < line->n_items) {
        columns += format_columns(paste->items.v[line->first_item + at]) + 2;
        if (at > from && columns > room)
            break;
        at++;
    }
    return at;
}

void paste_line_put(const struct paste *paste, const struct paste_line *line, size_t indent,
                    size_t width, struct buf *out)
{
    enum { STEP = 4 };
    struct buf whole = BUF_INIT;
    buf_put(&whole, line->head);
    put_items(paste, line, 0, line->n_items, &whole);
    buf_put(&whole, line->tail);
    format_spaces(out, indent);
    if (!width || indent + format_columns(buf_str(&whole)) <= width) {
        buf_put(out, buf_str(&whole));
    } else {
        size_t room = width > indent + STEP ? width - indent - STEP : 0;
        buf_put(out, line->head);
        buf_puts(out, line->form == STATEMENT_CALL ? "" : "(");
        for (uint32_t i = 0, end; i < line->n_items; i = end) {
            end = line_end(paste, line, i, room);
            buf_puts(out, "\n");
            format_spaces(out, indent + STEP);
            put_items(paste, line, i, end, out);
        }
        buf_puts(out, line->form == STATEMENT_CALL ? "" : ")");
        buf_put(out, line->tail);
    }
    out->failed |= whole.failed;
    buf_release(&whole);
}
