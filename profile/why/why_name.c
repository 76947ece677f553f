#include "profile/why/why_name.h"

#include "trace/base/buf.h"

static bool all_digits(struct str text)
{
    return text.n > 0 && str_digits(text) == text.n;
}

/* Reads "'x']" or "\"x\"]" and sets *used to its length; returns false for another text. */
static bool read_key(struct str text, struct str *key, size_t *used)
{
    if (text.n < 3 || (text.p[0] != '\'' && text.p[0] != '"'))
        return false;
    size_t end = str_find_char(str_from(text, 1), text.p[0]);
    *key = str_first(str_from(text, 1), end);
    *used = end + 3;
    return *used <= text.n && text.p[end + 2] == ']';
}

static void put_attribute(struct buf *out, struct str key)
{
    if (all_digits(key))
        buf_printf(out, "[%.*s]", STR_ARG(key));
    else
        buf_printf(out, ".%.*s", STR_ARG(key));
}

/* Rewrites what stands at the start of `text` and returns its length; 0 when it stays. */
static size_t rewrite(struct str text, bool after_name, struct buf *out)
{
    static const char *const STORES[] = { "._modules[", "._parameters[", "._buffers[" };
    static const char *const SHAPES[] = { ".size(", ".stride(" };
    struct str key;
    size_t used;
    for (size_t i = 0; i < sizeof STORES / sizeof *STORES; i++)
        if (str_starts(text, str_of(STORES[i])) &&
            read_key(str_from(text, strlen(STORES[i])), &key, &used)) {
            put_attribute(out, key);
            return strlen(STORES[i]) + used;
        }
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct str number = str_from(text, strlen(SHAPES[i]));
        size_t sign = number.n > 0 && number.p[0] == '-';
        size_t digits = str_digits(str_from(number, sign));
        if (str_starts(text, str_of(SHAPES[i])) && digits &&
            str_starts(str_from(number, sign + digits), STR(")"))) {
            buf_printf(out, "%s)[%.*s]", SHAPES[i], (int)(sign + digits), number.p);
            return strlen(SHAPES[i]) + sign + digits + 1;
        }
    }
    if (str_starts(text, STR(".shape["))) {
        buf_puts(out, ".size()[");
        return STR(".shape[").n;
    }
    if ((str_starts(text, STR("L[")) || str_starts(text, STR("G["))) && !after_name &&
        read_key(str_from(text, 2), &key, &used) && str_is_identifier(key)) {
        buf_put(out, key);
        return 2 + used;
    }
    if (str_starts(text, STR("[")) && read_key(str_from(text, 1), &key, &used)) {
        buf_printf(out, "['%.*s']", STR_ARG(key));
        return 1 + used;
    }
    size_t digits = text.p[0] == '.' ? str_digits(str_from(text, 1)) : 0;
    if (digits && after_name && (digits + 1 == text.n || text.p[digits + 1] == '.')) {
        buf_printf(out, "[%.*s]", (int)digits, text.p + 1);
        return digits + 1;
    }
    return 0;
}

/* Returns whether the text ends with a name, or with an index: what an attribute may follow. */
static bool ends_with_name(struct str text)
{
    size_t at = text.n;
    while (at && is_word_char(text.p[at - 1]))
        at--;
    return at < text.n ? !is_digit(text.p[at]) : text.n > 0 && text.p[text.n - 1] == ']';
}

struct str why_name_plain(struct str source, struct arena *arena)
{
    struct buf out = BUF_INIT;
    for (size_t at = 0; at < source.n && !out.failed;) {
        size_t used = rewrite(str_from(source, at), ends_with_name(buf_str(&out)), &out);
        if (used == 0 && !is_space(source.p[at]))
            buf_putc(&out, source.p[at]);
        at += used ? used : 1;
    }
    struct str ret = out.failed ? (struct str){ 0 } : arena_copy(arena, buf_str(&out));
    buf_release(&out);
    return ret;
}

/* Finds the last occurrence of `what`; returns the text's length if there is none. */
static size_t find_last(struct str text, struct str what)
{
    size_t ret = text.n;
    for (size_t from = 0; from < text.n;) {
        size_t found = from + str_find(str_from(text, from), what);
        if (found >= text.n)
            break;
        ret = found;
        from = found + 1;
    }
    return ret;
}

struct why_name why_name_split(struct str plain)
{
    static const struct {
        struct str text;
        enum why_part part;
    } PARTS[] = { { { ".size()[", 8 }, WHY_SIZE }, { { ".stride()[", 10 }, WHY_STRIDE } };
    struct why_name ret = { .plain = plain, .base = plain };
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        size_t at = find_last(plain, PARTS[i].text);
        struct str rest = str_from(plain, at + PARTS[i].text.n);
        size_t end = str_find_char(rest, ']');
        if (at < plain.n && end + 1 == rest.n && str_to_i64(str_first(rest, end), &ret.dim)) {
            ret.base = str_first(plain, at);
            ret.part = PARTS[i].part;
        }
    }
    if (str_ends(plain, STR(".storage_offset()"))) {
        ret.base = str_first(plain, plain.n - STR(".storage_offset()").n);
        ret.part = WHY_OFFSET;
    } else if (str_ends(plain, STR(".size()")) && ret.part == WHY_WHOLE) {
        ret.base = str_first(plain, plain.n - STR(".size()").n);
    } else if (str_ends(plain, STR(".shape")) && ret.part == WHY_WHOLE) {
        ret.base = str_first(plain, plain.n - STR(".shape").n);
    }
    return ret;
}

bool why_is_symbol_name(struct str text)
{
    static const char *const PREFIXES[] = { "s", "u", "zf", "zuf", "j" };
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (str_starts(text, str_of(PREFIXES[i])) &&
            all_digits(str_from(text, strlen(PREFIXES[i]))))
            return true;
    return false;
}
