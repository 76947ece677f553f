#include "profile/advice/patch/program_lines.h"

#include "profile/calls/values/python_scan.h"

enum { CONTEXT = 3 };

bool program_lines_read(struct program_lines *lines, struct str text)
{
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_first(text, end), ended = str_first(str_from(text, end), 1);
        if (ended.n && str_ends(line, STR("\r"))) {
            line.n--;
            ended = (struct str){ line.p + line.n, 2 };
        }
        if (!vec_push(&lines->v, (struct program_line){ .text = line, .ended = ended }))
            return false;
        text = str_from(text, end + 1);
    }
    return true;
}

bool program_lines_change(struct program_lines *lines, size_t line, struct str with)
{
    lines->v.v[line].with = arena_copy(&lines->arena, with);
    lines->v.v[line].changed = lines->v.v[line].with.p != NULL;
    return lines->v.v[line].changed;
}

bool program_lines_insert(struct program_lines *lines, size_t after, struct str text)
{
    struct program_line *line = &lines->v.v[after];
    struct buf all = BUF_INIT;
    buf_put(&all, line->after);
    buf_put(&all, text);
    buf_put(&all, line->ended.n ? line->ended : STR("\n"));
    struct str kept = all.failed ? (struct str){ 0 } : arena_copy(&lines->arena, buf_str(&all));
    buf_release(&all);
    if (kept.p)
        line->after = kept;
    return kept.p != NULL;
}

void program_lines_release(struct program_lines *lines)
{
    vec_release(&lines->v);
    arena_release(&lines->arena);
}

/* ---- Statements ---- */

/* Where a walk over the lines of a program is. */
struct line_walk {
    unsigned depth; /* number of open brackets */
    char quote;     /* of the triple quotes that are open; 0 */
    bool continues; /* the line ends with a backslash */
};

static bool is_triple(struct str text)
{
    return text.n >= 3 && text.p[0] == text.p[1] && text.p[0] == text.p[2];
}

/* Returns the length of a string of one line at the start of a text. */
static size_t string_length(struct str text)
{
    size_t n = 1;
    while (n < text.n && text.p[n] != text.p[0])
        n += text.p[n] == '\\' ? 2 : 1;
    return n < text.n ? n + 1 : text.n;
}

static void walk_line(struct line_walk *walk, struct str line)
{
    size_t n;
    for (struct str rest = line; rest.n; rest = str_from(rest, n)) {
        char c = rest.p[0];
        bool quotes = c == '\'' || c == '"';
        n = 1;
        if (walk->quote) {
            bool closes = c == walk->quote && is_triple(rest);
            n = closes ? 3 : c == '\\' ? 2 : 1;
            walk->quote = closes ? 0 : walk->quote;
        } else if (c == '#') {
            break;
        } else if (quotes && is_triple(rest)) {
            walk->quote = c;
            n = 3;
        } else if (quotes) {
            n = string_length(rest);
        } else if (python_is_bracket(c, true)) {
            walk->depth++;
        } else if (python_is_bracket(c, false) && walk->depth) {
            walk->depth--;
        }
    }
    walk->continues = str_ends(line, STR("\\"));
}

bool program_lines_begin_statement(const struct program_lines *lines, size_t line)
{
    struct line_walk walk = { 0 };
    for (size_t i = 0; i < line; i++)
        walk_line(&walk, lines->v.v[i].text);
    return !walk.depth && !walk.quote && !walk.continues;
}

/* ---- The diff ---- */

static bool is_touched(const struct program_line *line)
{
    return line->changed || line->after.n;
}

static size_t inserted(const struct program_line *line)
{
    size_t n = 0;
    for (size_t i = 0; i < line->after.n; i++)
        n += line->after.p[i] == '\n';
    return n;
}

static void put_line(char sign, struct str text, struct str ended, struct buf *out)
{
    buf_putc(out, sign);
    buf_put(out, text);
    buf_put(out, ended.n ? ended : STR("\n\\ No newline at end of file\n"));
}

/* A last line without an end gets one if something follows it. */
static void put_hunk_line(const struct program_line *line, struct buf *out)
{
    struct str ended = line->after.n && !line->ended.n ? STR("\n") : line->ended;
    bool again = line->changed || ended.n != line->ended.n;
    put_line(again ? '-' : ' ', line->text, line->ended, out);
    if (again)
        put_line('+', line->changed ? line->with : line->text, ended, out);
    for (struct str rest = line->after; rest.n;) {
        size_t end = str_find_char(rest, '\n');
        buf_putc(out, '+');
        buf_put(out, str_first(rest, end + 1));
        rest = str_from(rest, end + 1);
    }
}

/* Returns the first line of the hunk that begins with a touched line, which belongs to the context
 * if lines are only inserted behind it. patch(1) wants as much context on both sides. */
static size_t before_hunk(const struct program_lines *lines, size_t touched)
{
    const struct program_line *line = &lines->v.v[touched];
    size_t change = line->changed || !line->ended.n ? touched : touched + 1;
    return change > CONTEXT ? change - CONTEXT : 0;
}

/* Returns the end of the hunk that begins with a touched line: no line is touched within twice the
 * context behind it. */
static size_t hunk_end(const struct program_lines *lines, size_t touched)
{
    size_t last = touched;
    for (size_t i = touched; i < lines->v.n && i <= last + 2 * CONTEXT; i++)
        if (is_touched(&lines->v.v[i]))
            last = i;
    return last + 1 + CONTEXT < lines->v.n ? last + 1 + CONTEXT : lines->v.n;
}

void program_lines_diff(const struct program_lines *lines, struct str path, struct buf *out)
{
    size_t end = 0, more = 0; /* more: lines that hunks before added */
    for (size_t i = 0; i < lines->v.n; i++) {
        if (i < end || !is_touched(&lines->v.v[i]))
            continue;
        size_t first = before_hunk(lines, i), added = 0;
        if (!end)
            buf_printf(out, "--- %.*s\n+++ %.*s\n", STR_ARG(path), STR_ARG(path));
        first = first < end ? end : first;
        end = hunk_end(lines, i);
        for (size_t k = first; k < end; k++)
            added += inserted(&lines->v.v[k]);
        buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", first + 1, end - first, first + 1 + more,
                   end - first + added);
        for (size_t k = first; k < end; k++)
            put_hunk_line(&lines->v.v[k], out);
        more += added;
    }
}
