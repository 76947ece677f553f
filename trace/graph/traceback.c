#include "trace/graph/traceback.h"

bool text_next_line(struct str *text, struct str *line)
{
    if (text->n == 0)
        return false;
    size_t end = str_find_char(*text, '\n');
    *line = str_first(*text, end);
    *text = str_from(*text, end + 1);
    return true;
}

/* Parses `File "model.py", line 34, in forward`; the function is missing where Python has none. */
static bool parse_frame(struct str line, struct traceback_frame *ret)
{
    static const struct str OPEN = { "File \"", 6 }, MIDDLE = { "\", line ", 8 };
    line = str_trim(line);
    if (!str_starts(line, OPEN))
        return false;
    line = str_from(line, OPEN.n);
    size_t middle = str_find(line, MIDDLE);
    if (middle == line.n)
        return false;
    struct str file = str_first(line, middle);
    line = str_from(line, middle + MIDDLE.n);
    size_t comma = str_find_char(line, ',');
    uint64_t number;
    if (!str_to_u64(str_first(line, comma), &number) || number > UINT32_MAX)
        return false;
    line = str_from(line, comma);
    *ret = (struct traceback_frame){
        .file = file,
        .function = str_starts(line, STR(", in ")) ? str_from(line, 5) : STR(""),
        .code = STR(""),
        .line = (uint32_t)number,
    };
    return true;
}

static size_t indent(struct str line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

bool traceback_next(struct str *text, struct traceback_frame *ret)
{
    struct str line;
    while (text_next_line(text, &line)) {
        if (!parse_frame(line, ret))
            continue;
        struct str rest = *text, code, unused;
        struct traceback_frame next;
        if (text_next_line(&rest, &code) && indent(code) > indent(line) &&
            !parse_frame(code, &next)) {
            ret->code = str_trim(code);
            text_next_line(text, &unused);
        }
        return true;
    }
    return false;
}

static bool opens_user_traceback(struct str line)
{
    line = str_trim(line);
    return str_starts(line, STR("User code traceback:")) || str_starts(line, STR("User stack")) ||
           str_starts(line, STR("User Stack")) || str_starts(line, STR("from user code:"));
}

struct str traceback_of_user(struct str text)
{
    struct str found = STR(""), line;
    bool inside = false;
    while (text_next_line(&text, &line)) {
        if (opens_user_traceback(line)) {
            inside = true;
            found = str_first(text, 0);
        } else if (inside && line.n > 0 && line.p[0] != ' ') {
            inside = false;
        } else if (inside) {
            found.n = (size_t)(line.p + line.n - found.p);
        }
    }
    return found;
}

bool traceback_last(struct str text, struct traceback_frame *ret)
{
    bool found = false;
    while (traceback_next(&text, ret))
        found = true;
    return found;
}
