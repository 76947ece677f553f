/* Programs of graphs that anybody may have written. Whatever is accepted prints to Python whose
 * tokens are those that symtape writes: no character that ends a line or a literal for some reader
 * outside of an escape, every literal and bracket closed on its terms, every word a name, a keyword
 * or a number, and a comment only where a line begins. */
#include "tests/fuzz/fuzz.h"

#include "minify/program/python_text.h"
#include "minify/repro/repro.h"

enum { MAX_TEXT = 1 << 14, MAX_BRACKETS = 200 };

struct tokens {
    struct str rest;
    char open[MAX_BRACKETS];
    int depth;
    bool line_start; /* nothing but blanks was there since the line began */
};

static bool is_control(const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0];
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F ||
           (n > 1 && c == 0xC2 && (unsigned char)p[1] < 0xA0) ||
           (n > 2 && c == 0xE2 && (unsigned char)p[1] == 0x80 &&
            ((unsigned char)p[2] & 0xFE) == 0xA8) ||
           (n > 1 && c == 0xED && (unsigned char)p[1] >= 0xA0);
}

static void take_string(struct tokens *t)
{
    size_t n = 1;
    while (n < t->rest.n && t->rest.p[n] != '"') {
        FUZZ_CHECK(t->rest.p[n] != '\n' && t->rest.p[n] != '\t');
        n += t->rest.p[n] == '\\' ? 2 : 1;
    }
    FUZZ_CHECK(n < t->rest.n);
    t->rest = str_from(t->rest, n + 1);
}

/* A number, or a name; r"..." is one word with its literal behind it. */
static void take_word(struct tokens *t)
{
    size_t n = 0;
    bool number = is_digit(t->rest.p[0]);
    while (n < t->rest.n &&
           (is_word_char(t->rest.p[n]) || (number && t->rest.p[n] == '.') ||
            (number && strchr("+-", t->rest.p[n]) && strchr("eE", t->rest.p[n - 1]))))
        n++;
    struct str word = str_first(t->rest, n);
    if (number) {
        struct buf text = BUF_INIT;
        FUZZ_CHECK(python_put_number(&text, word));
        buf_release(&text);
    } else {
        FUZZ_CHECK(python_is_name(word) || python_is_keyword(word));
        FUZZ_CHECK(!str_is(word, "exec") && !str_is(word, "eval") && !str_is(word, "os") &&
                   !str_is(word, "builtins") && !str_is(word, "lambda") && !str_is(word, "open") &&
                   !str_is(word, "__import__") && !str_is(word, "__class__"));
    }
    t->rest = str_from(t->rest, n);
}

static void take_bracket(struct tokens *t)
{
    static const char opening[] = "([{", closing[] = ")]}";
    const char *at = strchr(opening, t->rest.p[0]);
    if (at) {
        FUZZ_CHECK(t->depth < MAX_BRACKETS);
        t->open[t->depth++] = closing[at - opening];
    } else {
        FUZZ_CHECK(t->depth > 0 && t->open[--t->depth] == t->rest.p[0]);
    }
    t->rest = str_from(t->rest, 1);
}

static void take_token(struct tokens *t)
{
    char c = t->rest.p[0];
    bool start = t->line_start;
    t->line_start = c == '\n' || (start && c == ' ');
    if (c == '"') {
        take_string(t);
    } else if (is_word_char(c)) {
        take_word(t);
    } else if (strchr("()[]{}", c)) {
        take_bracket(t);
    } else if (c == '#') {
        FUZZ_CHECK(start && t->depth == 0);
        t->rest = str_from(t->rest, str_find_char(t->rest, '\n'));
    } else {
        FUZZ_CHECK(strchr(" \n.,:=+-*/%<>!&|^~@", c) && c);
        t->rest = str_from(t->rest, 1);
    }
}

static void check_tokens(struct str text)
{
    struct tokens t = { .rest = text, .line_start = true };
    for (size_t i = 0; i < text.n; i++)
        FUZZ_CHECK(!is_control(text.p + i, text.n - i));
    while (t.rest.n)
        take_token(&t);
    FUZZ_CHECK(t.depth == 0);
}

static void print(const struct candidate *candidate, const struct repro_what *what)
{
    struct repro_notes notes;
    struct buf out = BUF_INIT;
    FUZZ_CHECK(repro_print(candidate, what, &notes, &out));
    FUZZ_CHECK(!notes.refused || notes.cannot[0]);
    check_tokens(buf_str(&out));
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str text = { (const char *)data, n < MAX_TEXT ? n : MAX_TEXT };
    struct candidate *candidate = candidate_read_fx(text, NULL, &err);
    if (!candidate) {
        FUZZ_CHECK(err.kind == ERR_INPUT);
        return 0;
    }
    /* The text once more as an error: titles, regular expressions, types. */
    const struct repro_what whats[] = {
        { .check = REPRO_NOTHING, .cpu = true },
        { .check = REPRO_RAISES, .message = text, .title = str_from(text, n / 2) },
        { .check = REPRO_GUARD, .expr = str_from(text, n / 3), .backend = str_first(text, 9) },
        { .check = REPRO_WRONG, .route = REPRO_EXPORT, .exception = text },
    };
    print(candidate, &whats[text.n % 4]);
    print(candidate, &whats[0]);
    candidate_free(candidate);
    return 0;
}
