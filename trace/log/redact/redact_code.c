/* Finds comments in lines of the user's code, which graphs, guards and tracebacks quote. */
#include "trace/log/redact/redact_parts.h"

/* Returns where the comment of a line of code begins, or the line's length. A string that began
 * on an earlier line is not recognized. */
static size_t comment_of(struct str line)
{
    char quote = '\0';
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (c == '\\' && quote)
            i++;
        else if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '#')
            return i;
    }
    return line.n;
}

struct str redact_code(struct str line)
{
    struct str code = str_first(line, comment_of(line));
    while (code.n < line.n && code.n > 0 &&
           (code.p[code.n - 1] == ' ' || code.p[code.n - 1] == '\t'))
        code.n--;
    return code;
}

/* Returns whether a text is "demo/x.py:3 in forward", which ends a guard's line. */
static bool is_place(struct str s)
{
    size_t in = str_find(s, STR(" in ")), colon = in;
    while (colon > 0 && is_digit(s.p[colon - 1]))
        colon--;
    return in < s.n && colon > 0 && colon < in && s.p[colon - 1] == ':';
}

/* Returns the offset of PLACE's '#' in a guard's line, EXPRESSION # CODE # PLACE. */
static size_t place_offset(struct str line)
{
    size_t at = line.n;
    while (at > 0 && line.p[at - 1] != '#')
        at--;
    return at > 0 && is_place(str_from(line, at)) ? at - 1 : line.n;
}

/* In longer lines of code only the text around the '#' is examined, since a line may have any
 * length. */
enum { MOST_CODE = 1000 };

static size_t line_begin(struct str in, size_t at)
{
    size_t from = at > MOST_CODE ? at - MOST_CODE : 0;
    const char *end = at > from ? memrchr(in.p + from, '\n', at - from) : NULL;
    return end ? (size_t)(end - in.p) + 1 : from;
}

static struct str code_line_at(struct str in, size_t begin)
{
    struct str line = str_first(str_from(in, begin), 2 * (size_t)MOST_CODE);
    return str_first(line, str_find_char(line, '\n'));
}

size_t redact_comment(struct str in, size_t at)
{
    size_t begin = line_begin(in, at), hash = at;
    struct str line = code_line_at(in, begin);
    struct str before = str_first(line, at - begin);
    size_t end = begin + line.n;
    /* "# File: x.py:3 in f, code: CODE" */
    size_t code = str_find(before, STR(", code: "));
    if (code < before.n)
        return comment_of(str_from(line, code + 8)) == before.n - code - 8 ? end : 0;
    /* "    CODE" below "  File "x.py", line 3, in f" */
    if (str_starts(before, STR("    ")) && begin > 1) {
        size_t above = line_begin(in, begin - 1);
        struct str head = str_trim(str_between(in, above, begin));
        if (str_starts(head, STR("File \"")))
            return comment_of(line) == before.n ? end : 0;
    }
    while (hash > begin && in.p[hash - 1] != '#')
        hash--;
    size_t place = place_offset(line);
    return hash > begin && before.n < place && place < line.n ? begin + place : 0;
}

size_t redact_place(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str rest = str_from(edit->in, at + 2), path;
    struct buf hash = BUF_INIT;
    rest = code_line_at(rest, 0);
    size_t in = str_find(rest, STR(" in ")), colon = in;
    while (colon > 0 && is_digit(rest.p[colon - 1]))
        colon--;
    if (in == rest.n || colon < 2 || colon == in || rest.p[colon - 1] != ':')
        return 0;
    path = str_first(rest, colon - 1);
    size_t folder = path.n - str_basename(path).n;
    if (folder == 0 || path.p[0] == '/' || str_find_char(path, '#') < path.n ||
        !redact_cut_folder(redact, str_first(path, folder), &hash))
        folder = 0;
    if (folder > 0) {
        struct buf *out = edit_replace(edit, at + 2, at + 2 + folder);
        buf_puts(out, REDACT_VALUE "/");
        buf_put(out, buf_str(&hash));
    }
    redact->failed |= hash.failed;
    buf_release(&hash);
    return folder > 0 ? at + 2 + folder : 0;
}
