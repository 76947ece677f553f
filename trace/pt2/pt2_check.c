/* Checks that each value of a program is of the JSON kind that its tag says
 * (torch/_export/serde/schema.py). */
#include "trace/pt2/pt2_program.h"

#include "trace/graph/python_name.h"

bool program_refuse(struct program_reader *program, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!program->failed) /* texts may be incomplete where memory ran out */
        err_setv(program->err, ERR_INPUT, fmt, args);
    va_end(args);
    program->failed = true;
    return false;
}

void program_refused_at(struct program_reader *program, const char *what, struct str name)
{
    enum { SHOWN = 80 };
    char shown[SHOWN + 1];
    size_t n = 0;
    if (program->err->kind != ERR_INPUT)
        return;
    for (; n < name.n && n < SHOWN; n++)
        shown[n] = (unsigned char)name.p[n] < ' ' || name.p[n] == 127 ? '?' : name.p[n];
    shown[n] = '\0';
    err_at(program->err, "%s%s%s", what, n ? " " : "", shown);
}

static bool want_kind(struct program_reader *program, json_id value, bool is_it, const char *what)
{
    static const char *const KINDS[] = {
        [JSON_NULL] = "nothing",     [JSON_FALSE] = "a boolean", [JSON_TRUE] = "a boolean",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "a list",
        [JSON_OBJECT] = "an object", [JSON_REF] = "a reference",
    };
    return is_it || program_refuse(program, "found %s, expected %s",
                                   KINDS[json_kind_of(program->doc, value)], what);
}

bool program_want_string(struct program_reader *program, json_id value)
{
    return want_kind(program, value, json_kind_of(program->doc, value) == JSON_STRING, "a string");
}

bool program_want_integer(struct program_reader *program, json_id value)
{
    struct str text = json_text(program->doc, value);
    bool is_integer = json_kind_of(program->doc, value) == JSON_NUMBER;
    for (size_t i = text.n && text.p[0] == '-'; i < text.n; i++)
        is_integer = is_integer && is_digit(text.p[i]);
    return want_kind(program, value, is_integer, "an integer");
}

/* Checks a number. Values that JSON has no number for are strings (EnumEncoder of serialize.py)
 * or bare words. */
bool program_want_number(struct program_reader *program, json_id value)
{
    struct str text = json_text(program->doc, value);
    enum json_kind kind = json_kind_of(program->doc, value);
    return want_kind(program, value,
                     kind == JSON_NUMBER ||
                         (kind == JSON_STRING && (str_is(text, "Infinity") || str_is(text, "NaN") ||
                                                  str_is(text, "-Infinity"))),
                     "a number");
}

bool program_want_bool(struct program_reader *program, json_id value)
{
    enum json_kind kind = json_kind_of(program->doc, value);
    return want_kind(program, value, kind == JSON_TRUE || kind == JSON_FALSE, "a boolean");
}

bool program_want_list(struct program_reader *program, json_id value)
{
    return want_kind(program, value, json_kind_of(program->doc, value) == JSON_ARRAY, "a list");
}

bool program_want_object(struct program_reader *program, json_id value)
{
    return want_kind(program, value, json_kind_of(program->doc, value) == JSON_OBJECT, "an object");
}

static struct str keep_valid_name(struct program_reader *program, json_id string,
                                  bool (*is_one)(struct str), const char *what)
{
    struct str name = program_keep(program, string);
    if (program_want_string(program, string) && !is_one(name)) {
        program_refuse(program, "not a %s in Python", what);
        program_refused_at(program, "name", name);
    }
    return name;
}

struct str program_keep_name(struct program_reader *program, json_id string)
{
    return keep_valid_name(program, string, python_is_name, "name");
}

struct str program_keep_word(struct program_reader *program, json_id string)
{
    return keep_valid_name(program, string, python_is_word, "name");
}

struct str program_keep_dotted(struct program_reader *program, json_id string)
{
    return keep_valid_name(program, string, python_is_dotted, "dotted name");
}
