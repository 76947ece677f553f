#include "trace/events/incidents/recompile_guard.h"

static const struct {
    enum recompile_kind kind;
    const char *pattern;
} FORMS[] = {
#define FORM(kind, pattern) { RECOMPILE_##kind, pattern },
#include "trace/events/incidents/recompile_forms.def"
#undef FORM
};

/* Returns the end of a quoted string that begins at `at`, or text.n. */
static size_t end_of_quotes(struct str text, size_t at)
{
    char quote = text.p[at++];
    while (at < text.n && text.p[at] != quote)
        at += text.p[at] == '\\' ? 2 : 1;
    return at < text.n ? at : text.n;
}

/* Returns whether a text is a source: names, attributes, subscripts and calls; no operator stands
 * outside of its brackets. */
static bool is_source(struct str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\'' || c == '"') {
            i = end_of_quotes(text, i);
        } else if (c == '[' || c == '(') {
            depth++;
        } else if (c == ']' || c == ')') {
            if (--depth < 0)
                return false;
        } else if (depth == 0 && !is_word_char(c) && c != '.' && (unsigned char)c < 0x80) {
            return false;
        }
    }
    return depth == 0 && text.n > 0 && !is_digit(text.p[0]);
}

static bool keep_part(struct recompile_guard *g, char letter, struct str part)
{
    switch (letter) {
    case 's': g->source = part; return is_source(part);
    case 'o': g->other = part; return is_source(part);
    case 'i': g->index = part; return part.n > 0 && str_digits(part) == part.n;
    case 'e': g->expected = part; return true;
    case 'a': g->actual = part; return true;
    default: return true;
    }
}

/* Returns how much of a pattern is literal text. */
static size_t literal_length(const char *pattern)
{
    return strcspn(pattern, "%");
}

/* Matches a text with a pattern. Each part is the shortest text up to the first place where the
 * literal behind it stands; there is no second try. */
static bool match_form(const char *pattern, struct str text, struct recompile_guard *g)
{
    size_t n = literal_length(pattern);
    if (!str_starts(text, (struct str){ pattern, n }))
        return false;
    text = str_from(text, n);
    pattern += n;
    while (*pattern) {
        char letter = pattern[1];
        pattern += 2;
        n = literal_length(pattern);
        size_t at = n ? str_find(text, (struct str){ pattern, n }) : text.n;
        if ((n > 0 && at == text.n) || !keep_part(g, letter, str_first(text, at)))
            return false;
        text = str_from(text, at + n);
        pattern += n;
    }
    return text.n == 0;
}

struct recompile_guard recompile_guard_parse(struct str text)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        struct str none = STR("");
        struct recompile_guard g = { FORMS[i].kind, text, none, none, none, none, none };
        if (match_form(FORMS[i].pattern, text, &g))
            return g;
    }
    return (struct recompile_guard){ .kind = RECOMPILE_EXPRESSION, .text = text };
}

/* ---- Sources ---- */

void source_local(struct buf *out, struct str source)
{
    size_t n = str_word(source);
    struct str name = str_first(source, n);
    bool scoped = n < source.n && source.p[n] == '[' && (str_is(name, "G") || str_is(name, "L"));
    if (n == 0 || scoped || str_starts(name, STR("___"))) {
        buf_put(out, source);
        return;
    }
    buf_printf(out, "L['%.*s']", STR_ARG(name));
    buf_put(out, str_from(source, n));
}

/* Reads "['NAME']" at the front of *text, where NAME is a Python name or a number. */
static bool take_key(struct str *text, struct str *name)
{
    if (text->n < 5 || text->p[0] != '[' || (text->p[1] != '\'' && text->p[1] != '"'))
        return false;
    struct str rest = str_from(*text, 2);
    size_t n = str_word(rest);
    if (n == 0 || n + 2 > rest.n || rest.p[n] != text->p[1] || rest.p[n + 1] != ']')
        return false;
    *name = str_first(rest, n);
    *text = str_from(rest, n + 2);
    return true;
}

/* Appends the name of a member: ".drop", or "[0]" of a torch.nn.Sequential. */
static void put_member(struct buf *out, struct str name)
{
    buf_printf(out, is_digit(name.p[0]) ? "[%.*s]" : ".%.*s", STR_ARG(name));
}

void source_spoken(struct buf *out, struct str source)
{
    static const struct str MEMBERS[] = {
        { ".__dict__['_modules']", 21 },
        { ".__dict__['_parameters']", 24 },
        { ".__dict__['_buffers']", 21 },
        { "._modules", 9 },
        { "._parameters", 12 },
        { "._buffers", 9 },
        { ".__dict__", 9 },
    };
    struct str name, rest = str_from(source, 1);
    if (source.n > 0 && (source.p[0] == 'L' || source.p[0] == 'G') && take_key(&rest, &name)) {
        buf_put(out, name);
        source = rest;
    }
    while (source.n > 0) {
        size_t i = 0;
        for (; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
            rest = str_from(source, MEMBERS[i].n);
            if (str_starts(source, MEMBERS[i]) && take_key(&rest, &name))
                break;
        }
        if (i < sizeof MEMBERS / sizeof *MEMBERS) {
            put_member(out, name);
            source = rest;
        } else {
            buf_putc(out, source.p[0]);
            source = str_from(source, 1);
        }
    }
}

static const struct str CLOSURE = { ".__closure__[", 13 }, CELL = { "].cell_contents", 15 };

/* Splits a source at the last cell of a closure: "s.hook" and "['n']". */
static bool split_captured(struct str source, struct str *closure, struct str *rest)
{
    bool found = false;
    *rest = source;
    for (size_t at; (at = str_find(*rest, CLOSURE)) < rest->n;) {
        struct str cell = str_from(*rest, at + CLOSURE.n);
        size_t digits = str_digits(cell);
        if (digits == 0 || !str_starts(str_from(cell, digits), CELL))
            break;
        *closure = str_first(source, (size_t)(rest->p - source.p) + at);
        *rest = str_from(cell, digits + CELL.n);
        found = true;
    }
    return found;
}

struct str source_closure(struct str source)
{
    struct str closure, rest;
    return split_captured(source, &closure, &rest) ? closure : STR("");
}

void source_described(struct buf *out, struct str source)
{
    struct str closure, rest;
    if (!split_captured(source, &closure, &rest)) {
        source_spoken(out, source);
        return;
    }
    if (rest.n > 0) {
        buf_put(out, str_from(rest, rest.p[0] == '.' ? 1 : 0));
        buf_puts(out, " of ");
    }
    buf_puts(out, "a variable that ");
    bool nested = source_closure(closure).n > 0;
    buf_puts(out, nested ? "a captured function" : "");
    if (!nested)
        source_spoken(out, closure);
    buf_puts(out, " captures");
}
