#include "trace/graph/graph_read.h"

/* The number of times that lex_opaque() may read the bytes of a line, on average. */
enum { OPAQUE_EFFORT = 8 };

enum { NAME = 1, DIGIT = 2 };

/* Any byte of a character beyond ASCII may belong to a name, because Python allows letters of
 * all scripts. */
#define NAME_16 \
    NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME, NAME
#define DIGITS (NAME | DIGIT)

static const uint8_t classes[256] = {
    ['0'] = DIGITS,   ['1'] = DIGITS,   ['2'] = DIGITS,   ['3'] = DIGITS,   ['4'] = DIGITS,
    ['5'] = DIGITS,   ['6'] = DIGITS,   ['7'] = DIGITS,   ['8'] = DIGITS,   ['9'] = DIGITS,
    ['A'] = NAME,     ['B'] = NAME,     ['C'] = NAME,     ['D'] = NAME,     ['E'] = NAME,
    ['F'] = NAME,     ['G'] = NAME,     ['H'] = NAME,     ['I'] = NAME,     ['J'] = NAME,
    ['K'] = NAME,     ['L'] = NAME,     ['M'] = NAME,     ['N'] = NAME,     ['O'] = NAME,
    ['P'] = NAME,     ['Q'] = NAME,     ['R'] = NAME,     ['S'] = NAME,     ['T'] = NAME,
    ['U'] = NAME,     ['V'] = NAME,     ['W'] = NAME,     ['X'] = NAME,     ['Y'] = NAME,
    ['Z'] = NAME,     ['_'] = NAME,     ['a'] = NAME,     ['b'] = NAME,     ['c'] = NAME,
    ['d'] = NAME,     ['e'] = NAME,     ['f'] = NAME,     ['g'] = NAME,     ['h'] = NAME,
    ['i'] = NAME,     ['j'] = NAME,     ['k'] = NAME,     ['l'] = NAME,     ['m'] = NAME,
    ['n'] = NAME,     ['o'] = NAME,     ['p'] = NAME,     ['q'] = NAME,     ['r'] = NAME,
    ['s'] = NAME,     ['t'] = NAME,     ['u'] = NAME,     ['v'] = NAME,     ['w'] = NAME,
    ['x'] = NAME,     ['y'] = NAME,     ['z'] = NAME,     [0x80] = NAME_16, [0x90] = NAME_16,
    [0xA0] = NAME_16, [0xB0] = NAME_16, [0xC0] = NAME_16, [0xD0] = NAME_16, [0xE0] = NAME_16,
    [0xF0] = NAME_16,
};

static bool is_class(char c, int class_)
{
    return classes[(unsigned char)c] & class_;
}

bool lex_next_line(struct graph_reader *in)
{
    if (in->next == in->end)
        return false;
    in->p = in->next;
    const char *newline = memchr(in->p, '\n', (size_t)(in->end - in->p));
    in->eol = newline ? newline : in->end;
    in->next = newline ? newline + 1 : in->end;
    while (in->eol > in->p && in->eol[-1] == '\r')
        in->eol--;
    in->line++;
    in->n_arguments = 0;
    in->effort = OPAQUE_EFFORT * (size_t)(in->eol - in->p);
    return true;
}

void lex_skip_indent(struct graph_reader *in)
{
    while (*in->p == ' ' || *in->p == '\t')
        in->p++;
}

bool lex_take(struct graph_reader *in, struct str literal)
{
    if (!str_starts(lex_rest(in), literal))
        return false;
    in->p += literal.n;
    return true;
}

struct str lex_name(struct graph_reader *in)
{
    const char *from = in->p;
    if (is_class(*from, NAME) && !is_class(*from, DIGIT)) {
        const char *p = from + 1;
        while (is_class(*p, NAME))
            p++;
        in->p = p;
    }
    return (struct str){ from, (size_t)(in->p - from) };
}

bool lex_at_end(struct graph_reader *in)
{
    lex_skip_indent(in);
    return in->p == in->eol || *in->p == '#';
}

/* ---- strings ---- */

static int hex_digits(const char *p, const char *end, int n, uint32_t *ret)
{
    uint32_t value = 0;
    if (end - p < n)
        return 0;
    for (int i = 0; i < n; i++) {
        char c = p[i];
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return 0;
    }
    *ret = value;
    return n;
}

/* Writes UTF-8; lone surrogates take three bytes each. */
static size_t encode_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | c);
    return n;
}

/* Decodes one escape, after its backslash, and returns its length. An escape that Python's
 * repr() does not write is copied unchanged. */
static size_t unescape(const char *p, const char *end, char *out, size_t *n_out)
{
    static const char letters[] = "nrt\\'\"", meant[] = "\n\r\t\\'\"";
    const char *letter = *p ? strchr(letters, *p) : NULL;
    if (letter) {
        out[(*n_out)++] = meant[letter - letters];
        return 1;
    }
    uint32_t c = 0;
    int width = *p == 'x' ? 2 : *p == 'u' ? 4 : *p == 'U' ? 8 : 0;
    if (width && hex_digits(p + 1, end, width, &c) && c <= 0x10FFFF) {
        *n_out += encode_utf8(c, out + *n_out);
        return (size_t)width + 1;
    }
    out[(*n_out)++] = '\\';
    return 0;
}

static struct str unescape_all(struct graph_builder *b, struct str raw)
{
    /* No escape is shorter than its value. */
    struct str copy = build_keep(b, raw);
    char *out = (char *)copy.p;
    size_t n = 0;
    if (copy.n == 0)
        return copy;
    for (const char *p = raw.p, *end = raw.p + raw.n; p < end;) {
        if (*p == '\\' && p + 1 < end) {
            p++;
            p += unescape(p, end, out, &n);
        } else {
            out[n++] = *p++;
        }
    }
    out[n] = '\0';
    return (struct str){ out, n };
}

/* Reads from the opening quote through the closing one. *ret is the text between them, as
 * written. */
static bool scan_string(struct graph_reader *in, struct str *ret, bool *escaped)
{
    char quote = *in->p;
    const char *from = ++in->p;
    *escaped = false;
    while (in->p < in->eol && *in->p != quote) {
        bool backslash = *in->p == '\\';
        *escaped = *escaped || backslash;
        in->p += backslash && in->eol - in->p > 1 ? 2 : 1;
    }
    if (in->p >= in->eol)
        return false;
    *ret = (struct str){ from, (size_t)(in->p - from) };
    in->p++;
    return true;
}

bool lex_string(struct graph_reader *in, struct str *ret)
{
    bool escaped;
    if (!scan_string(in, ret, &escaped))
        return false;
    if (escaped)
        *ret = unescape_all(in->b, *ret);
    return true;
}

/* ---- numbers ---- */

static void set_arg_integer(struct arg *arg)
{
    arg->kind = ARG_INT;
    if (!str_to_i64(arg->text, &arg->u.integer))
        arg->u.integer = arg->text.p[0] == '-' ? INT64_MIN : INT64_MAX;
}

/* Reads digits, a fraction and an exponent. Another byte or a NUL follows the text, so strtod()
 * stops at the number's end. */
static bool scan_decimal(const char **cursor, bool *is_float)
{
    const char *p = *cursor, *from = p;
    while (is_class(*p, DIGIT))
        p++;
    bool digits = p > from;
    if (*p == '.') {
        *is_float = true;
        for (p++; is_class(*p, DIGIT); p++)
            digits = true;
    }
    if (digits && *p == 'e') {
        const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
        if (!is_class(*exponent, DIGIT))
            return false;
        *is_float = true;
        for (p = exponent; is_class(*p, DIGIT);)
            p++;
    }
    *cursor = p;
    return digits;
}

static bool scan_number_word(const char **cursor)
{
    bool word = strncmp(*cursor, "inf", 3) == 0 || strncmp(*cursor, "nan", 3) == 0;
    *cursor += word ? 3 : 0;
    return word;
}

bool lex_number(struct graph_reader *in, struct arg *ret)
{
    const char *from = in->p, *p = from + (*from == '-');
    bool is_float = false;
    if (!is_class(*p, DIGIT) && *p != '.')
        is_float = scan_number_word(&p);
    if (!is_float && !scan_decimal(&p, &is_float))
        return false;
    bool imaginary = *p == 'j';
    p += imaginary;
    if (is_class(*p, NAME))
        return false;
    in->p = p;
    ret->text = (struct str){ from, (size_t)(p - from) };
    ret->kind = imaginary ? ARG_COMPLEX : ARG_FLOAT;
    if (!imaginary && is_float)
        ret->u.number = strtod(from, NULL);
    else if (!imaginary)
        set_arg_integer(ret);
    return true;
}

/* ---- anything ---- */

/* Moves to a comma, colon or closing bracket that no bracket and no <> encloses; returns false
 * when one of them or a quote stays open. */
static bool scan_opaque(struct graph_reader *in)
{
    size_t brackets = 0, angles = 0;
    struct str ignored;
    bool escaped;
    while (in->p < in->eol) {
        char c = *in->p;
        if (c == '\'' || c == '"') {
            if (!scan_string(in, &ignored, &escaped))
                return false;
            continue;
        }
        if (c == '(' || c == '[' || c == '{')
            brackets++;
        else if ((c == ')' || c == ']' || c == '}') && brackets-- == 0)
            return angles == 0;
        else if (c == '<')
            angles++;
        else if (c == '>')
            angles -= angles > 0;
        else if (brackets + angles == 0 && (c == ',' || (c == ':' && in->p[1] == ' ')))
            return true;
        in->p++;
    }
    return brackets + angles == 0;
}

bool lex_opaque(struct graph_reader *in, struct str *ret)
{
    const char *from = in->p;
    if (in->effort == 0 || !scan_opaque(in)) {
        in->effort = 0;
        return false;
    }
    size_t n = (size_t)(in->p - from);
    in->effort -= n < in->effort ? n : in->effort;
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t'))
        n--;
    *ret = (struct str){ from, n };
    return n;
}
