#include "profile/report/fold.h"

#include "profile/model/format.h"

enum {
    DEEPER = 2,    /* columns by which the rest of a line is indented */
    NARROWEST = 20 /* a narrower terminal folds the lines by itself */
};

/* Text that is being folded, and the styles whose places move with it. */
struct folding {
    struct buf *out;
    const char *start; /* of the whole text */
    struct style_mark *marks;
    size_t n_marks, mark; /* the mark to move next */
};

/* Appends a piece of the text, and moves the marks in front of it and within it. */
static void put_piece(struct folding *f, struct str piece)
{
    size_t from = (size_t)(piece.p - f->start);
    for (; f->mark < f->n_marks && f->marks[f->mark].at < from + piece.n; f->mark++) {
        size_t at = f->marks[f->mark].at;
        f->marks[f->mark].at = f->out->n + (at > from ? at - from : 0);
        f->marks[f->mark].text = f->out;
    }
    buf_put(f->out, piece);
}

static bool is_separator(char c)
{
    return c == '/' || c == ',' || c == '.' || c == '_' || c == ':' || c == ')' || c == ']';
}

/* Returns the bytes of a text to print in a line of `width` columns: all, those before a blank, or
 * as much of a word as fits. */
static size_t fitting(struct str text, size_t width)
{
    size_t most = format_first(text, width), n = most;
    if (most == text.n)
        return most;
    while (n > 0 && text.p[n] != ' ')
        n--;
    while (n > 0 && text.p[n - 1] == ' ')
        n--;
    if (n > 0)
        return n;
    for (n = most; n > most / 2; n--)
        if (is_separator(text.p[n - 1]))
            return n;
    return most;
}

static void fold_line(struct folding *f, struct str line, size_t width)
{
    size_t indent = 0;
    while (indent < line.n && line.p[indent] == ' ')
        indent++;
    indent = indent + DEEPER > width / 2 ? DEEPER : indent + DEEPER;
    size_t n = fitting(line, width);
    put_piece(f, str_first(line, n));
    for (line = str_from(line, n); line.n > 0; line = str_from(line, n)) {
        while (line.n > 0 && line.p[0] == ' ')
            line = str_from(line, 1);
        if (line.n == 0)
            break;
        buf_putc(f->out, '\n');
        format_spaces(f->out, indent);
        n = fitting(line, width - indent);
        put_piece(f, str_first(line, n));
    }
}

void fold_text(struct buf *out, struct str text, size_t width, struct styles *marks)
{
    struct folding f = {
        .out = out, .start = text.p, .marks = marks->marks.v, .n_marks = marks->marks.n
    };
    while (text.n > 0) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        if (width >= NARROWEST)
            fold_line(&f, line, width);
        else
            put_piece(&f, line);
        text = str_from(text, line.n);
        put_piece(&f, str_first(text, 1));
        text = str_from(text, 1);
    }
    for (; f.mark < f.n_marks; f.mark++) {
        f.marks[f.mark].at = out->n;
        f.marks[f.mark].text = out;
    }
}
