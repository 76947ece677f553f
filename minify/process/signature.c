#include "minify/process/signature.h"

static bool is_line_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

enum token { TOKEN_TEXT, TOKEN_NUMBER, TOKEN_BLANK, TOKEN_PATH, TOKEN_END };

/* Returns whether a word is a symbol as ShapeEnv names them: s27, u0, zf3, zuf1, ps0. */
static bool is_shape_symbol(struct str word)
{
    static const char *const prefixes[] = { "s", "u", "zf", "zuf", "ps" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str rest = str_from(word, strlen(prefixes[i]));
        bool digits = str_starts(word, str_of(prefixes[i])) && rest.n > 0;
        for (size_t k = 0; k < rest.n; k++)
            digits = digits && is_digit(rest.p[k]);
        if (digits)
            return true;
    }
    return false;
}

/* Removes the number, symbol or other word at the start; returns whether it is a number or a
 * symbol. */
static bool take_signature_word(struct str *rest, struct str *word)
{
    size_t n = 1;
    bool number = is_digit(rest->p[0]);
    while (n < rest->n &&
           (is_word_char(rest->p[n]) ||
            (number && rest->p[n] == '.' && n + 1 < rest->n && is_digit(rest->p[n + 1]))))
        n++;
    *word = str_first(*rest, n);
    *rest = str_from(*rest, n);
    return number || is_shape_symbol(*word);
}

static bool starts_symbol_word(struct str rest)
{
    return rest.n && is_word_char(rest.p[0]);
}

/* Returns whether a word before `rest` is a function of sympy, or infinity, as sizes have them. */
static bool is_sympy_function(struct str word, struct str rest)
{
    static const char *const names[] = {
#define SYM_KIND(name, class_, order, key, subkey, precedence, facts) class_,
#include "replay/shape/expr/sym.def"
#undef SYM_KIND
        "CeilDiv",
        "Eq",
        "Ne",
    };
    return str_is(word, "int_oo") || (str_starts(rest, STR("(")) && STR_IS_ANY(word, names));
}

/* Returns the length of the run of numbers and symbols with their operators and brackets at the
 * start, or 0: "[s43, s53, 32]", "32*s43 + 1", "u1 > 8". A run ends with a number, a symbol or its
 * own closing bracket. */
static size_t run_length(struct str text)
{
    struct str rest = text, word;
    size_t end = 0, depth = 0;
    bool any = false;
    while (rest.n) {
        char c = rest.p[0];
        if (starts_symbol_word(rest)) {
            bool number = take_signature_word(&rest, &word);
            if (!number && !is_sympy_function(word, rest))
                break;
            any |= number;
            end = number && depth == 0 ? text.n - rest.n : end;
            continue;
        }
        if (c == '(' || c == '[') {
            depth++;
        } else if (c == ')' || c == ']') {
            if (depth == 0)
                break;
            depth--;
            end = depth == 0 && any ? text.n - rest.n + 1 : end;
        } else if (!strchr("+-*/%<>=!,& ", c) || (!any && depth == 0 && c != '-')) {
            break;
        }
        rest = str_from(rest, 1);
    }
    return end;
}

/* Returns the length of the folders of a path at the start: of "/home/user/a.py" only the part
 * after the last '/' is kept. */
static size_t path_length(struct str text)
{
    size_t n = 0, slash = 0;
    while (n < text.n && !is_line_blank(text.p[n]) && text.p[n] != '\n' && text.p[n] != '"' &&
           text.p[n] != '\'' && text.p[n] != ':' && text.p[n] != ')' && text.p[n] != ',') {
        slash = text.p[n] == '/' ? n + 1 : slash;
        n++;
    }
    return slash > 1 ? slash : 0;
}

/* Returns the length of a source of Dynamo at the start, which names an input: "L['x']",
 * "G['model'].weight", or 0. Which inputs there are, and their names, change. */
static size_t source_length(struct str text)
{
    if (text.n < 5 || !strchr("LG", text.p[0]) || text.p[1] != '[' || !strchr("'\"", text.p[2]))
        return 0;
    size_t n = 3 + str_find_char(str_from(text, 3), text.p[2]);
    if (n + 1 >= text.n || text.p[n + 1] != ']')
        return 0;
    n += 2;
    while (n + 1 < text.n && text.p[n] == '.' && is_word_char(text.p[n + 1]))
        do
            n++;
        while (n < text.n && is_word_char(text.p[n]));
    return n;
}

static enum token take_token(struct str *rest, struct str *word, bool boundary)
{
    size_t n = 0;
    if (!rest->n || rest->p[0] == '\n')
        return TOKEN_END;
    while (n < rest->n && is_line_blank(rest->p[n]))
        n++;
    if (n) {
        *rest = str_from(*rest, n);
        return TOKEN_BLANK;
    }
    if (rest->p[0] == '/' && boundary && (n = path_length(*rest))) {
        *rest = str_from(*rest, n);
        return TOKEN_PATH;
    }
    if ((n = source_length(str_first(*rest, str_find_char(*rest, '\n'))))) {
        *rest = str_from(*rest, n);
        return TOKEN_NUMBER;
    }
    if ((n = run_length(str_first(*rest, str_find_char(*rest, '\n'))))) {
        *rest = str_from(*rest, n);
        return TOKEN_NUMBER;
    }
    if (starts_symbol_word(*rest)) {
        take_signature_word(rest, word);
        return TOKEN_TEXT;
    }
    *word = str_first(*rest, 1);
    *rest = str_from(*rest, 1);
    return TOKEN_TEXT;
}

static void put_regex_text(struct str word, struct buf *out)
{
    for (size_t i = 0; i < word.n; i++) {
        if (strchr(".^$*+?{}[]\\|()\"", word.p[i]))
            buf_putc(out, '\\');
        buf_putc(out, word.p[i]);
    }
}

/* Appends a regular expression for a word that may be printed by repr(), as Dynamo and backends
 * print an exception's text: control characters and backslashes are escaped, and so is a single
 * quote if the text has both kinds of quotes. */
static void put_regex_of_repr(struct str word, bool escaped_quotes, struct buf *out)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];
        if ((unsigned char)c < ' ' || c == 0x7f)
            buf_puts(out, ".*");
        else if (c == '\\')
            buf_puts(out, "\\\\+");
        else if (c == '\'' && escaped_quotes)
            buf_puts(out, "\\\\?'");
        else
            put_regex_text(str_from(str_first(word, i + 1), i), out);
    }
}

static bool has_char(struct str text, char c)
{
    return str_find_char(text, c) < text.n;
}

static void put_blank_regex(struct str blank, struct buf *out)
{
    if (has_char(blank, '\t') || has_char(blank, '\r'))
        buf_puts(out, ".*");
    else
        buf_puts(out, blank.n > 1 ? " +" : " ");
}

static void walk_message(struct str message, bool regex, struct buf *out)
{
    struct str rest = message, word = STR("");
    bool boundary = true, escaped_quotes = has_char(message, '"') && has_char(message, '\'');
    while (rest.n && (is_line_blank(rest.p[0]) || rest.p[0] == '\n'))
        rest = str_from(rest, 1);
    for (struct str from = rest; true; from = rest) {
        enum token token = take_token(&rest, &word, boundary);
        if (token == TOKEN_END)
            break;
        boundary = token == TOKEN_BLANK ||
                   (token == TOKEN_TEXT && word.n == 1 && strchr("\"'(=", word.p[0]));
        switch (token) {
        case TOKEN_NUMBER: buf_puts(out, regex ? ".*" : "N"); break;
        case TOKEN_BLANK:
            if (!rest.n || rest.p[0] == '\n')
                break;
            if (regex)
                put_blank_regex(str_first(from, from.n - rest.n), out);
            else
                buf_putc(out, ' ');
            break;
        case TOKEN_PATH:
            if (regex)
                buf_puts(out, "\\S*?");
            break;
        case TOKEN_TEXT:
            if (regex)
                put_regex_of_repr(word, escaped_quotes, out);
            else
                buf_put(out, word);
            break;
        case TOKEN_END: break;
        }
    }
}

void signature_normalise(struct str message, struct buf *out)
{
    walk_message(message, false, out);
}

void signature_regex(struct str message, struct buf *out)
{
    walk_message(message, true, out);
}

void signature_expr_regex(struct str expr, struct buf *out)
{
    struct str rest = expr, word;
    while (rest.n) {
        if (!starts_symbol_word(rest)) {
            put_regex_text(str_first(rest, 1), out);
            rest = str_from(rest, 1);
        } else if (take_signature_word(&rest, &word) && is_shape_symbol(word)) {
            buf_puts(out, "\\w+");
        } else {
            put_regex_text(word, out);
        }
    }
}
