/* The alternatives to paste, as Python with comments: no line of it may be folded as text is. */
#include <stdlib.h>

#include "profile/calls/dynamic/dynamic_report.h"
#include "profile/model/format.h"

enum { INDENT = 4, MOST_NAMES = 4 };

struct paste_writer {
    const struct dynamic_run *run;
    size_t width; /* 0: any */
    struct buf comment;
    struct buf *out;
};

static const struct cache_code *cache_code_of(const struct paste_writer *w, uint32_t code)
{
    return &w->run->cache.codes.v[w->run->table.codes.v[code].code];
}

/* Ends the comment that was written to w->comment: each line of it has a "#". */
static void end_comment(struct paste_writer *w)
{
    size_t margin = INDENT + 2;
    struct buf lines = BUF_INIT;
    format_wrapped(&lines, buf_str(&w->comment), w->width > margin ? w->width - margin : 0, 0, 0);
    for (struct str rest = buf_str(&lines); rest.n;) {
        size_t end = str_find_char(rest, '\n');
        format_spaces(w->out, INDENT);
        buf_puts(w->out, "# ");
        buf_put(w->out, str_first(rest, end));
        buf_puts(w->out, "\n");
        rest = str_from(rest, end + 1);
    }
    w->out->failed |= lines.failed || w->comment.failed;
    buf_release(&lines);
    buf_clear(&w->comment);
}

/* "scale (demo/sequence.py:13)" */
static void put_function(struct paste_writer *w, uint32_t code)
{
    const struct cache_code *row = cache_code_of(w, code);
    format_text(&w->comment, row->function, 0);
    buf_puts(&w->comment, " (");
    format_place(&w->comment, row->file, row->line);
    buf_puts(&w->comment, ")");
}

/* "x and y are its arguments", of the lines of a function. */
static void put_arguments(struct paste_writer *w, const struct paste_way *way, uint32_t from)
{
    const struct paste *paste = &w->run->paste;
    struct str names[MOST_NAMES];
    uint32_t n = 0;
    for (uint32_t i = from; i < way->first_line + way->n_lines; i++) {
        const struct paste_line *line = &paste->lines.v[i];
        struct str name = paste->items.v[line->first_item];
        if (line->code != paste->lines.v[from].code)
            break;
        name = str_first(name, str_find_char(name, '.'));
        name = str_first(name, str_find_char(name, '['));
        uint32_t k = 0;
        while (k < n && !str_eq(names[k], name))
            k++;
        if (k == MOST_NAMES)
            return;
        names[k] = name;
        n += k == n;
    }
    buf_puts(&w->comment, "; ");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&w->comment, "%s%.*s",
                   i == 0      ? ""
                   : i + 1 < n ? ", "
                               : " and ",
                   STR_ARG(names[i]));
    buf_puts(&w->comment, n > 1 ? " are its arguments" : " is its argument");
}

/* The functions that a setting for all of them reaches beside those that need it. */
static void put_reached(struct paste_writer *w)
{
    const struct dynamic_run *run = w->run;
    uint32_t n = 0;
    for (size_t i = 0; i < run->rows.n; i++) {
        const struct input_row *row = &run->rows.v[i];
        if (!row->reached || row->proposed)
            continue;
        n++;
        if (n > MOST_NAMES)
            continue;
        buf_puts(&w->comment, n == 1 ? "it makes dynamic, too: " : ", ");
        put_input_name(run, row, &w->comment);
        buf_puts(&w->comment, " of ");
        put_function(w, row->code);
    }
    if (n > MOST_NAMES)
        buf_printf(&w->comment, " and %u more", n - MOST_NAMES);
    if (n)
        end_comment(w);
}

/* What a way costs, and where its statements belong. */
static void put_title(struct paste_writer *w, const struct paste_way *way)
{
    bool one = way->kind == PASTE_SPEC;
    bool first = way == w->run->paste.ways.v;
    buf_puts(&w->comment, first ? "" : one || way->has_numbers ? "or, " : "or ");
    if (one) {
        buf_puts(&w->comment, "for ");
        put_function(w, way->code);
        buf_puts(&w->comment, " alone, ");
    }
    buf_puts(&w->comment, way->has_numbers ? "with numbers, " : "");
    put_estimate(w->run, &way->counts, &w->comment);
    end_comment(w);
    if (way->kind == PASTE_SOURCES) {
        buf_puts(&w->comment, "before the first call; for all functions");
        end_comment(w);
        put_reached(w);
    } else if (one) {
        buf_puts(&w->comment,
                 "its sizes are unbacked: calls with size 1, or that broadcast, can fail");
        end_comment(w);
    } else if (way->kind == PASTE_DYNAMIC) {
        buf_puts(&w->comment, "without marks, for all functions; all sizes are symbols from the "
                              "first call on, so kernels can be slower");
        end_comment(w);
    }
}

static void put_statements(struct paste_writer *w, const struct paste_way *way)
{
    const struct paste *paste = &w->run->paste;
    for (uint32_t i = way->first_line; i < way->first_line + way->n_lines; i++) {
        const struct paste_line *line = &paste->lines.v[i];
        if (way->kind == PASTE_MARK && (i == way->first_line || line->code != line[-1].code)) {
            buf_puts(&w->comment, "where ");
            put_function(w, line->code);
            buf_puts(&w->comment, " is called, before the call");
            put_arguments(w, way, i);
            end_comment(w);
        }
        paste_line_put(paste, line, INDENT, w->width, w->out);
        buf_puts(w->out, "\n");
    }
    if (way->kind == PASTE_SPEC) {
        buf_puts(&w->comment, "torch.compile(");
        format_text(&w->comment, cache_code_of(w, way->code)->function, 0);
        buf_puts(&w->comment, ", shapes_spec=shapes_spec)");
        end_comment(w);
    }
}

void dynamic_paste_text(const struct dynamic_run *run, const struct report_options *options,
                        struct buf *out)
{
    struct paste_writer w = { .run = run, .width = options->width, .out = out };
    for (size_t i = 0; i < run->paste.ways.n; i++) {
        if (i == 0)
            buf_printf(out, "\nTo paste%s\n",
                       run->given || run->paste.ways.v->kind == PASTE_DYNAMIC ? ""
                       : run->minimal ? "; no fewer marks spare as much"
                                      : "; not all sets of marks were tried");
        put_title(&w, &run->paste.ways.v[i]);
        put_statements(&w, &run->paste.ways.v[i]);
    }
    buf_release(&w.comment);
}
