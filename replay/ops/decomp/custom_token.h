/* The tokens of custom rules: names, numbers, strings, signs, and the ends of lines outside of
 * brackets. custom_token.c finds them and custom.c makes trees of them; nothing else includes
 * this. */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_TOKEN_H
#define SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_TOKEN_H

#include "replay/ops/decomp/custom_tree.h"

enum token {
    TOKEN_END,     /* the end of the text */
    TOKEN_NEWLINE, /* the end of a statement */
    TOKEN_NAME,
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_STRING,
    TOKEN_SIGN
};

/* A parser of one text: its position, the current token, and the names that the rule has so far. */
struct parser {
    struct custom_rules *rules;
    struct str text, file;
    size_t at, line_start;
    uint32_t line;
    bool bare;         /* no schema precedes the statements */
    unsigned brackets; /* open brackets; a line ends only outside of them */
    unsigned depth;
    struct str names[CUSTOM_MAX_NAMES];
    uint32_t n_names;
    enum token token;
    struct str value; /* the text of the token */
    uint32_t token_line, token_column;
    struct err *err;
    bool failed;
};

#define NO_TREE UINT32_MAX

/* Both record the first failure of a text, with its position, and return NO_TREE. After a
 * failure, parsing does nothing. */
uint32_t token_fail_at(struct parser *p, uint32_t line, uint32_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t token_no_memory(struct parser *p);
#define FAIL(p, ...) token_fail_at(p, (p)->token_line, (p)->token_column, __VA_ARGS__)

void token_advance(struct parser *p);
bool token_at_sign(const struct parser *p, const char *sign);
bool token_at_name(const struct parser *p, const char *name);
bool token_take(struct parser *p, const char *sign); /* returns false if the sign is not next */
bool token_expect(struct parser *p, const char *sign);

static inline bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

#endif
