/* Splits the text of custom rules into tokens. Nothing beyond the text is read. */
#include "replay/ops/decomp/custom_token.h"

#include <string.h>

uint32_t token_fail_at(struct parser *p, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list args;
    if (p->failed)
        return NO_TREE;
    p->failed = true;
    va_start(args, format);
    err_setv(p->err, ERR_INPUT, format, args);
    va_end(args);
    err_at(p->err, "%.*s:%u:%u", STR_ARG(p->file), line, column);
    return NO_TREE;
}

uint32_t token_no_memory(struct parser *p)
{
    if (!p->failed)
        err_nomem(p->err);
    p->failed = true;
    return NO_TREE;
}

static char peek(const struct parser *p, size_t ahead)
{
    return p->at + ahead < p->text.n ? p->text.p[p->at + ahead] : 0;
}

static void next_line(struct parser *p)
{
    p->at++;
    p->line++;
    p->line_start = p->at;
}

/* Skips blanks and comments, and within brackets the ends of lines. */
static void skip_blanks(struct parser *p)
{
    while (p->at < p->text.n) {
        char c = p->text.p[p->at];
        if (c == '#')
            while (p->at < p->text.n && p->text.p[p->at] != '\n')
                p->at++;
        else if (c == ' ' || c == '\t' || c == '\r')
            p->at++;
        else if (c == '\n' && p->brackets)
            next_line(p);
        else
            return;
    }
}

static void take_number(struct parser *p)
{
    size_t from = p->at;
    p->token = TOKEN_INT;
    while (is_digit(peek(p, 0)))
        p->at++;
    if (peek(p, 0) == '.' && is_digit(peek(p, 1))) {
        p->token = TOKEN_FLOAT;
        for (p->at++; is_digit(peek(p, 0));)
            p->at++;
    }
    size_t sign = peek(p, 1) == '-' || peek(p, 1) == '+';
    if ((peek(p, 0) == 'e' || peek(p, 0) == 'E') && is_digit(peek(p, 1 + sign))) {
        p->token = TOKEN_FLOAT;
        for (p->at += 1 + sign; is_digit(peek(p, 0));)
            p->at++;
    }
    p->value = (struct str){ p->text.p + from, p->at - from };
}

static void take_string(struct parser *p)
{
    char quote = p->text.p[p->at++];
    size_t from = p->at;
    while (p->at < p->text.n && p->text.p[p->at] != quote && p->text.p[p->at] != '\n')
        p->at++;
    p->token = TOKEN_STRING;
    p->value = (struct str){ p->text.p + from, p->at - from };
    if (peek(p, 0) != quote)
        FAIL(p, "unterminated string");
    else
        p->at++;
}

static void take_sign(struct parser *p)
{
    static const char *const signs[] = { "...", "//", "**", "==", "!=", "<=", ">=", "<<", ">>" };
    size_t n = 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && n == 1; i++)
        if (str_starts(str_from(p->text, p->at), str_of(signs[i])))
            n = strlen(signs[i]);
    p->token = TOKEN_SIGN;
    p->value = (struct str){ p->text.p + p->at, n };
    p->at += n;
    char c = p->value.p[0];
    if (c == '(' || c == '[')
        p->brackets++;
    else if ((c == ')' || c == ']') && p->brackets)
        p->brackets--;
    else if (!strchr("+-*/%=!<>,.:)]&|^~@", c))
        FAIL(p, "'%c' is not allowed in a rule", c >= ' ' && c < 127 ? c : '?');
}

void token_advance(struct parser *p)
{
    skip_blanks(p);
    p->token_line = p->line;
    p->token_column = (uint32_t)(p->at - p->line_start) + 1;
    p->value = (struct str){ 0 };
    char c = peek(p, 0);
    if (p->failed || p->at >= p->text.n) {
        p->token = TOKEN_END;
    } else if (c == '\n') {
        p->token = TOKEN_NEWLINE;
        next_line(p);
    } else if (is_name_start(c)) {
        size_t from = p->at;
        while (is_name_start(peek(p, 0)) || is_digit(peek(p, 0)))
            p->at++;
        p->token = TOKEN_NAME;
        p->value = (struct str){ p->text.p + from, p->at - from };
    } else if (is_digit(c)) {
        take_number(p);
    } else if (c == '"' || c == '\'') {
        take_string(p);
    } else {
        take_sign(p);
    }
}

bool token_at_sign(const struct parser *p, const char *sign)
{
    return p->token == TOKEN_SIGN && str_is(p->value, sign);
}

bool token_at_name(const struct parser *p, const char *name)
{
    return p->token == TOKEN_NAME && str_is(p->value, name);
}

bool token_take(struct parser *p, const char *sign)
{
    if (!token_at_sign(p, sign))
        return false;
    token_advance(p);
    return true;
}

bool token_expect(struct parser *p, const char *sign)
{
    if (token_take(p, sign))
        return true;
    FAIL(p, "'%s' is expected", sign);
    return false;
}
