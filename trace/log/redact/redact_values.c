/* Replaces texts that are known to be secret (values of environment variables, arguments, passwords
 * in the log, names of users) everywhere: within words, in other case, escaped.
 *
 * All are searched for at once with the algorithm of Wu and Manber: a table of blocks of two
 * bytes gives the distance to the next place at which one may begin. */
#include <stdio.h>

#include "trace/base/text/json_write.h"
#include "trace/log/redact/redact_parts.h"

enum {
    BLOCK = 2,
    TABLE = 1 << 12,
    LEAST_VALUE = 6,  /* bytes; shorter ones would occur by chance */
    STRONG_VALUE = 8, /* values from this length on are replaced within words if they do not look
                         like a word */
    LONG_VALUE = 16,  /* values from this length on are replaced within words in any case */
    LEAST_PART = 4,   /* bytes of a name that is replaced within words */
    MOST_VALUES = 1000,
    MOST_BYTES = 8 << 10,
};

struct redact_finder {
    uint32_t
        heads[TABLE]; /* index + 1 of the pattern whose window ends with the block; 0 means none */
    uint8_t skips[TABLE]; /* counted from the window's end */
    size_t window;        /* length in bytes of the shortest pattern */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t block_at(const char *p)
{
    unsigned a = (unsigned char)p[0] | 0x20, b = (unsigned char)p[1] | 0x20;
    return (a * 61 + b) % TABLE;
}

/* --- what is a secret --- */

static bool is_harmless_name(struct str name)
{
    static const char *const names[] = {
#define VARIABLE(text) #text,
#include "trace/log/redact/redact_harmless.def"

    };
    static const char *const prefixes[] = {
#define VARIABLES(text) #text "_",
#include "trace/log/redact/redact_harmless.def"

    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(name, str_of(prefixes[i])))
            return true;
    return STR_IS_ANY(name, names) || str_find(name, STR("VERSION")) < name.n;
}

/* Returns whether a text consists of words that are common in logs and of numbers: "cuda:0",
 * "float32", "2.13.0+cpu". */
static bool is_made_of_common_words(const struct redact *redact, struct str value)
{
    size_t letters = 0;
    for (size_t i = 0; i < value.n;) {
        size_t from = i;
        while (i < value.n && is_letter(value.p[i]))
            i++;
        struct str word = str_between(value, from, i);
        bool abbreviation = word.n <= 2 && value.n < STRONG_VALUE;
        if (word.n > 0 && !abbreviation && !redact_is_common(redact, word))
            return false;
        letters += word.n;
        while (i < value.n && !is_letter(value.p[i]))
            i++;
    }
    return letters > 0;
}

struct character_kinds {
    bool lower, upper, digit, other;
};

static struct character_kinds kinds_of(struct str value)
{
    struct character_kinds ret = { 0 };
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        ret.lower |= (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
        ret.upper |= c >= 'A' && c <= 'Z';
        ret.digit |= is_digit(c);
        ret.other |= !is_word_char(c) || c == '_';
    }
    return ret;
}

static bool is_secret(const struct redact *redact, struct str name, struct str value)
{
    struct character_kinds kinds = kinds_of(value);
    return value.n >= LEAST_VALUE && value.n <= MOST_BYTES && (kinds.lower || kinds.upper) &&
           str_find(value, STR(REDACT_VALUE)) == value.n && !is_harmless_name(name) &&
           !is_made_of_common_words(redact, value);
}

static enum redact_reach value_reach(struct str value)
{
    struct character_kinds kinds = kinds_of(value);
    int n = kinds.lower + kinds.upper + kinds.digit + kinds.other;
    bool strong = value.n >= LONG_VALUE || (value.n >= STRONG_VALUE && n > 1);
    return strong ? REDACT_ANYWHERE : REDACT_PART;
}

/* --- the patterns --- */

static void add_pattern(struct redact *redact, struct str text, struct str replacement,
                        enum redact_reach reach)
{
    struct redact_pattern pattern = { .text = arena_copy(&redact->arena, text),
                                      .replacement = replacement,
                                      .reach = reach };
    redact->stale = true;
    if (text.n < LEAST_PART) /* cut where memory ran out */
        return;
    if (!pattern.text.p || !vec_push(&redact->patterns, pattern))
        redact->failed = true;
}

/* Prints a text as Python's repr() writes it between quotes, without the quotes. */
static void put_repr(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '\\' || c == '\'')
            buf_printf(out, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            buf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if (c < ' ' || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_putc(out, (char)c);
    }
}

/* As put_repr() with the other quotes: repr() prefers quotes that do not occur in the text, and
 * then escapes none. */
static void put_repr_in_double_quotes(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            buf_putc(out, '\'');
        else
            put_repr(str_between(text, i, i + 1), out);
}

static void put_json(struct str text, struct buf *out)
{
    struct buf quoted = BUF_INIT;
    json_quote(&quoted, text);
    buf_put(out, str_between(buf_str(&quoted), 1, quoted.n ? quoted.n - 1 : 0));
    out->failed |= quoted.failed;
    buf_release(&quoted);
}

/* Adds a pattern for each way in which the value may be written. */
static void add_forms(struct redact *redact, struct str value, struct str replacement)
{
    void (*const forms[])(struct str, struct buf *) = { put_repr, put_repr_in_double_quotes,
                                                        put_json };
    enum redact_reach reach = value_reach(value);
    struct buf text = BUF_INIT, twice = BUF_INIT;
    add_pattern(redact, value, replacement, reach);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        buf_clear(&text);
        forms[i](value, &text);
        if (str_eq(buf_str(&text), value))
            continue;
        add_pattern(redact, buf_str(&text), replacement, reach);
        buf_clear(&twice);
        put_json(buf_str(&text), &twice); /* a repr() within JSON within a text */
        add_pattern(redact, buf_str(&twice), replacement, reach);
    }
    redact->failed |= text.failed || twice.failed;
    buf_release(&text);
    buf_release(&twice);
}

static struct str numbered_replacement(struct redact *redact)
{
    char text[32];
    int n = snprintf(text, sizeof text, REDACT_VALUE "%u", ++redact->n_values);
    struct str ret = arena_copy(&redact->arena, (struct str){ text, (size_t)n });
    redact->failed |= !ret.p;
    return ret.p ? ret : STR(REDACT_VALUE);
}

static void add_secret(struct redact *redact, struct str name, struct str value)
{
    if (redact->values.texts.n >= MOST_VALUES || !is_secret(redact, name, value) ||
        intern_find(&redact->values, value) != INTERN_NONE)
        return;
    if (intern(&redact->values, value) == INTERN_NONE) {
        redact->failed = true;
        return;
    }
    struct str replacement = numbered_replacement(redact);
    add_forms(redact, value, replacement);
    struct buf seen =
        BUF_INIT; /* the value after the other rules were applied, which precede the search */
    if (redact_rules(redact, value, &seen) && is_secret(redact, name, buf_str(&seen)))
        add_forms(redact, buf_str(&seen), replacement);
    redact->failed |= seen.failed;
    buf_release(&seen);
}

/* Adds user and password of a URL: ann:hunter2 of postgres://ann:hunter2@db.example.org/x */
static void add_of_url(struct redact *redact, struct str name, struct str value)
{
    size_t at = str_find(value, STR("://"));
    struct str rest = str_from(value, at + 3);
    struct str user = str_first(rest, str_find_char(rest, '@'));
    size_t colon = str_find_char(user, ':');
    if (at < value.n && user.n < rest.n && colon < user.n)
        add_secret(redact, name, str_from(user, colon + 1));
}

void redact_value(struct redact *redact, struct str name, struct str value)
{
    size_t line = str_find_char(value, '\n');
    add_secret(redact, name, value);
    add_of_url(redact, name, value);
    for (struct str rest = value; line < value.n && rest.n > 0;) { /* a key has several lines */
        struct str one = str_trim(str_first(rest, str_find_char(rest, '\n')));
        if (value_reach(one) == REDACT_ANYWHERE)
            add_secret(redact, name, one);
        rest = str_from(rest, str_find_char(rest, '\n') + 1);
    }
}

void redact_name_within_words(struct redact *redact, struct str name, struct str replacement)
{
    if (name.n >= LEAST_PART && redact->found.n < MOST_VALUES)
        add_pattern(redact, name, replacement, REDACT_PART);
}

/* --- finding them --- */

static void prepare_values(struct redact *redact)
{
    struct redact_finder *finder = redact->finder;
    if (!finder && !(finder = redact->finder = malloc(sizeof *finder))) {
        redact->failed = true;
        return;
    }
    finder->window = SIZE_MAX;
    for (size_t i = 0; i < redact->patterns.n; i++)
        if (redact->patterns.v[i].text.n < finder->window)
            finder->window = redact->patterns.v[i].text.n;
    size_t last = finder->window - BLOCK;
    memset(finder->heads, 0, sizeof finder->heads);
    memset(finder->skips, last < UINT8_MAX ? (int)last + 1 : UINT8_MAX, sizeof finder->skips);
    for (size_t i = 0; i < redact->patterns.n; i++) {
        struct redact_pattern *pattern = &redact->patterns.v[i];
        for (size_t k = 0; k <= last; k++) {
            size_t block = block_at(pattern->text.p + k), skip = last - k;
            if (skip < finder->skips[block])
                finder->skips[block] = (uint8_t)skip;
        }
        uint32_t *head = &finder->heads[block_at(pattern->text.p + last)];
        pattern->next = *head;
        *head = (uint32_t)i + 1;
    }
    redact->stale = false;
}

static bool stands_at(const struct redact_pattern *pattern, struct str in, size_t at)
{
    struct str text = pattern->text;
    if (text.n > in.n - at)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (lower(in.p[at + i]) != lower(text.p[i]))
            return false;
    char before = at > 0 ? in.p[at - 1] : '\0', after = char_at(in, at + text.n);
    return pattern->reach == REDACT_ANYWHERE || (!is_letter(before) && !is_letter(after));
}

/* Returns whether the text belongs to an operator's name, which is not replaced:
 * torch.ops.aten.add.Tensor. */
static bool is_in_torch(struct str in, size_t at)
{
    size_t from = at;
    while (from > 0 && (is_word_char(in.p[from - 1]) || in.p[from - 1] == '.'))
        from--;
    static const char *const namespaces[] = { "torch.", "aten.", "prims.", "higher_order." };
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        if (from < at && str_starts(str_from(in, from), str_of(namespaces[i])))
            return true;
    return false;
}

static const struct redact_pattern *longest_at(const struct redact *redact, struct str in,
                                               size_t at, uint32_t head)
{
    const struct redact_pattern *ret = NULL;
    for (uint32_t next = head; next > 0;) {
        const struct redact_pattern *pattern = &redact->patterns.v[next - 1];
        if ((!ret || pattern->text.n > ret->text.n) && stands_at(pattern, in, at))
            ret = pattern;
        next = pattern->next;
    }
    return ret && !is_in_torch(in, at) ? ret : NULL;
}

bool redact_find_values(struct redact *redact, struct str in, struct buf *out)
{
    struct text_edit edit = edit_of(in, out);
    if (redact->learning || redact->patterns.n == 0)
        return false;
    if (redact->stale)
        prepare_values(redact);
    const struct redact_finder *finder = redact->finder;
    if (!finder || redact->stale)
        return false;
    size_t last = finder->window - BLOCK;
    for (size_t end = last; end + BLOCK <= in.n;) {
        size_t block = block_at(in.p + end), skip = finder->skips[block];
        const struct redact_pattern *found =
            skip == 0 ? longest_at(redact, in, end - last, finder->heads[block]) : NULL;
        if (found) {
            size_t at = end - last;
            buf_put(edit_replace(&edit, at, at + found->text.n), found->replacement);
            end += found->text.n;
        } else {
            end += skip > 0 ? skip : 1;
        }
    }
    if (edit.changed)
        edit_finish(&edit);
    return edit.changed;
}
