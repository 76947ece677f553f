#include "trace/graph/graph_read.h"

/* Finds the first ":LINE in " in `text` and sets *at to its offset, *ret to the line and *after
 * to the offset of what follows. */
static bool find_line_number(struct str text, size_t *at, uint32_t *ret, size_t *after)
{
    for (size_t i = 0; i < text.n; i++) {
        i += str_find_char(str_from(text, i), ':');
        size_t digits = i + 1 + str_digits(str_from(text, i + 1));
        uint64_t line;
        struct str number = str_first(str_from(text, i + 1), digits - i - 1);
        if (i < text.n && str_starts(str_from(text, digits), STR(" in ")) &&
            str_to_u64(number, &line) && line <= UINT32_MAX) {
            *at = i;
            *ret = (uint32_t)line;
            *after = digits + 4;
            return true;
        }
    }
    return false;
}

/* Parses "PATH:LINE in FUNCTION, code: TEXT" (_ParsedStackTrace.get_summary_str in
 * torch/fx/graph.py). */
static bool parse_user_line(struct str text, struct location *ret)
{
    size_t colon, function;
    uint32_t line;
    if (!find_line_number(text, &colon, &line, &function))
        return false;
    struct str rest = str_from(text, function);
    size_t code = str_find(rest, STR(", code:")); /* no text follows where the source is unknown */
    if (code == rest.n)
        return false;
    ret->file = str_first(text, colon);
    ret->line = line;
    ret->function = str_first(rest, code);
    ret->code = str_from(rest, code + 7);
    ret->code = str_from(ret->code, str_starts(ret->code, STR(" ")));
    return true;
}

bool location_parse(struct str comment, struct location *ret)
{
    static const char *const none = "No stacktrace found for following nodes";
    *ret = (struct location){ .file = STR(""),
                              .function = STR(""),
                              .code = STR(""),
                              .annotation = STR(""),
                              .caller = LOCATION_NONE };
    size_t file = str_find(comment, STR("File: "));
    if (file < comment.n && (file == 0 || comment.p[file - 1] == ' ') &&
        parse_user_line(str_from(comment, file + 6), ret)) {
        ret->annotation = str_trim(str_first(comment, file));
        return true;
    }
    comment = str_trim(comment);
    if (!str_ends(comment, str_of(none)))
        return false;
    comment.n -= strlen(none);
    ret->annotation = str_trim(comment);
    return true;
}
