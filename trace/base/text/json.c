#include "trace/base/text/json.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/arena.h"

struct json_parser {
    struct json *doc;
    const char *p, *end;
    struct err *err;
    uint32_t depth;
    json_id open[JSON_MAX_DEPTH]; /* containers that are not closed yet */
};

static bool fail_parse(struct json_parser *in, const char *what)
{
    return err_set(in->err, ERR_INPUT, "offset %zu: %s", (size_t)(in->p - in->doc->text.p), what);
}

static void skip_json_space(struct json_parser *in)
{
    while (in->p < in->end && (*in->p == ' ' || *in->p == '\n' || *in->p == '\t' || *in->p == '\r'))
        in->p++;
}

static bool add_json_node(struct json_parser *in, enum json_kind kind, const char *from, size_t len,
                          bool escaped)
{
    struct json_node node = {
        .kind = (uint8_t)kind,
        .escaped = escaped,
        .off = (uint32_t)(from - in->doc->text.p),
        .len = (uint32_t)len,
        .after = (json_id)in->doc->nodes.n + 1,
    };
    return vec_push(&in->doc->nodes, node) || err_nomem(in->err);
}

/* Examines eight bytes at a time: the high bit of a byte is set where it is below 0x20, '"' or
 * '\\'. (Haszero of Anderson's Bit Twiddling Hacks; bytes above 0x7F are masked out, so none is
 * missed, and false hits occur only after a true hit; the caller uses the first one only.) */
static uint64_t special_bytes(uint64_t w)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
    uint64_t control = (w - ones * 0x20) & ~w;
    return (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | control) & highs;
}

static const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        if (special_bytes(w))
            break;
        p += 8;
    }
    while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static bool check_escape(struct json_parser *in)
{
    in->p++;
    if (in->p == in->end || !memchr("\"\\/bfnrtu", *in->p, 9))
        return fail_parse(in, "bad escape in a string");
    if (*in->p++ != 'u')
        return true;
    for (int i = 0; i < 4; i++, in->p++)
        if (in->p == in->end || !is_hex_digit(*in->p))
            return fail_parse(in, "bad \\u escape in a string");
    return true;
}

static bool parse_string(struct json_parser *in)
{
    const char *from = ++in->p;
    bool escaped = false;
    for (;;) {
        in->p = skip_plain(in->p, in->end);
        if (in->p == in->end)
            return fail_parse(in, "unterminated string");
        if (*in->p == '"')
            return add_json_node(in, JSON_STRING, from, (size_t)(in->p++ - from), escaped);
        if (*in->p != '\\')
            return fail_parse(in, "control character in a string");
        escaped = true;
        if (!check_escape(in))
            return false;
    }
}

static size_t skip_json_digits(struct json_parser *in)
{
    const char *from = in->p;
    while (in->p < in->end && *in->p >= '0' && *in->p <= '9')
        in->p++;
    return (size_t)(in->p - from);
}

static bool take_literal(struct json_parser *in, struct str word)
{
    if ((size_t)(in->end - in->p) < word.n || memcmp(in->p, word.p, word.n) != 0)
        return false;
    in->p += word.n;
    return true;
}

static bool parse_number(struct json_parser *in)
{
    const char *from = in->p;
    if (*in->p == '-')
        in->p++;
    if (!take_literal(in, STR("Infinity"))) {
        bool zero = in->p < in->end && *in->p == '0';
        size_t digits = skip_json_digits(in);
        if (digits == 0 || (zero && digits > 1))
            return fail_parse(in, "bad number");
        if (in->p < in->end && *in->p == '.' && (in->p++, skip_json_digits(in) == 0))
            return fail_parse(in, "bad number");
        if (in->p < in->end && (*in->p | 32) == 'e') {
            in->p++;
            if (in->p < in->end && (*in->p == '+' || *in->p == '-'))
                in->p++;
            if (skip_json_digits(in) == 0)
                return fail_parse(in, "bad number");
        }
    }
    return add_json_node(in, JSON_NUMBER, from, (size_t)(in->p - from), false);
}

static bool parse_ref(struct json_parser *in)
{
    const char *from = ++in->p;
    if (skip_json_digits(in) == 0)
        return fail_parse(in, "bad reference");
    return add_json_node(in, JSON_REF, from, (size_t)(in->p - from), false);
}

static bool parse_word(struct json_parser *in)
{
    static const struct {
        struct str word;
        enum json_kind kind;
    } words[] = {
        { { "null", 4 }, JSON_NULL },       { { "true", 4 }, JSON_TRUE },
        { { "false", 5 }, JSON_FALSE },     { { "NaN", 3 }, JSON_NUMBER },
        { { "Infinity", 8 }, JSON_NUMBER },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take_literal(in, words[i].word))
            return add_json_node(in, words[i].kind, in->p - words[i].word.n, words[i].word.n,
                                 false);
    return fail_parse(in, "expected a value");
}

static bool begin_container(struct json_parser *in, enum json_kind kind)
{
    if (in->depth == JSON_MAX_DEPTH)
        return fail_parse(in, "nested too deeply");
    in->open[in->depth++] = (json_id)in->doc->nodes.n;
    return add_json_node(in, kind, in->p++, 0, false);
}

static void close_container(struct json_parser *in)
{
    struct json_node *node = &in->doc->nodes.v[in->open[--in->depth]];
    in->p++;
    node->len = (uint32_t)(in->p - in->doc->text.p) - node->off;
    node->after = (json_id)in->doc->nodes.n;
}

static bool parse_scalar(struct json_parser *in)
{
    char c = *in->p;
    if (c == '"')
        return parse_string(in);
    if (c == '-' || (c >= '0' && c <= '9'))
        return parse_number(in);
    return c == JSON_REF_MARK ? parse_ref(in) : parse_word(in);
}

static bool parse_key(struct json_parser *in)
{
    skip_json_space(in);
    if (in->p == in->end || *in->p != '"')
        return fail_parse(in, "expected a key");
    if (!parse_string(in))
        return false;
    skip_json_space(in);
    if (in->p == in->end || *in->p != ':')
        return fail_parse(in, "expected ':'");
    in->p++;
    return true;
}

static bool in_object(const struct json_parser *in)
{
    return in->depth && in->doc->nodes.v[in->open[in->depth - 1]].kind == JSON_OBJECT;
}

/* Continues after a value: closes containers that end here; *more is whether another value
 * follows. */
static bool after_value(struct json_parser *in, bool *more)
{
    while (in->depth) {
        skip_json_space(in);
        char close = in_object(in) ? '}' : ']';
        if (in->p < in->end && *in->p == ',') {
            in->p++;
            *more = true;
            return !in_object(in) || parse_key(in);
        }
        if (in->p == in->end || *in->p != close)
            return fail_parse(in, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
        close_container(in);
    }
    *more = false;
    return true;
}

/* Parses a value; *whole is whether it is a scalar or a container that was closed at once. */
static bool parse_value(struct json_parser *in, bool *whole)
{
    skip_json_space(in);
    *whole = true;
    if (in->p == in->end)
        return fail_parse(in, "expected a value");
    char c = *in->p;
    if (c != '{' && c != '[')
        return parse_scalar(in);
    if (!begin_container(in, c == '{' ? JSON_OBJECT : JSON_ARRAY))
        return false;
    skip_json_space(in);
    if (in->p < in->end && *in->p == (c == '{' ? '}' : ']')) {
        close_container(in);
        return true;
    }
    *whole = false;
    return c == '[' || parse_key(in);
}

bool json_parse(struct json *doc, struct str text, struct err *err)
{
    if (!text.p)
        text = STR("");
    struct json_parser in = { .doc = doc, .p = text.p, .end = text.p + text.n, .err = err };
    doc->text = text;
    doc->nodes.n = 0;
    if (text.n >= UINT32_MAX)
        return err_set(err, ERR_INPUT, "a JSON text of more than 4 GiB");
    for (bool more = true; more;) {
        bool whole;
        if (!parse_value(&in, &whole) || (whole && !after_value(&in, &more)))
            return false;
    }
    skip_json_space(&in);
    return in.p == in.end || fail_parse(&in, "text after the value");
}

void json_release(struct json *doc)
{
    vec_release(&doc->nodes);
}

static const struct json_node *json_node_of(const struct json *doc, json_id id)
{
    return id < doc->nodes.n ? &doc->nodes.v[id] : NULL;
}

enum json_kind json_kind_of(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    return node ? (enum json_kind)node->kind : JSON_NULL;
}

static bool is_json_container(const struct json_node *node)
{
    return node && (node->kind == JSON_ARRAY || node->kind == JSON_OBJECT);
}

json_id json_first(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    return is_json_container(node) && node->after > id + 1 ? id + 1 : JSON_NONE;
}

/* A node does not have its parent, but what follows it in the text shows whether it is the last:
 * ',' or a key's ':'. */
json_id json_next(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    if (!node || node->after >= doc->nodes.n)
        return JSON_NONE;
    size_t at = node->off + node->len + (node->kind == JSON_STRING);
    for (; at < doc->text.n; at++)
        switch (doc->text.p[at]) {
        case ' ':
        case '\n':
        case '\t':
        case '\r': continue;
        case ',':
        case ':': return node->after;
        default: return JSON_NONE;
        }
    return JSON_NONE;
}

json_id json_get(const struct json *doc, json_id object, struct str key)
{
    if (json_kind_of(doc, object) != JSON_OBJECT || object == JSON_NONE)
        return JSON_NONE;
    json_id end = doc->nodes.v[object].after;
    for (json_id k = object + 1; k < end; k = doc->nodes.v[k + 1].after)
        if (str_eq(json_text(doc, k), key))
            return k + 1;
    return JSON_NONE;
}

size_t json_count(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    size_t n = 0;
    if (!is_json_container(node))
        return 0;
    for (json_id k = id + 1; k < node->after; k = doc->nodes.v[k].after)
        n++;
    return n;
}

size_t json_members(const struct json *doc, json_id object)
{
    return json_kind_of(doc, object) == JSON_OBJECT ? json_count(doc, object) / 2 : 0;
}

struct str json_text(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    return node ? (struct str){ doc->text.p + node->off, node->len } : STR("");
}

struct str json_str(const struct json *doc, json_id id)
{
    const struct json_node *node = json_node_of(doc, id);
    return node && node->kind == JSON_STRING && !node->escaped ? json_text(doc, id) : STR("");
}

bool json_is(const struct json *doc, json_id id, const char *string)
{
    return json_kind_of(doc, id) == JSON_STRING && str_is(json_text(doc, id), string);
}

bool json_i64(const struct json *doc, json_id id, int64_t *ret)
{
    return json_kind_of(doc, id) == JSON_NUMBER && str_to_i64(json_text(doc, id), ret);
}

bool json_u64(const struct json *doc, json_id id, uint64_t *ret)
{
    return json_kind_of(doc, id) == JSON_NUMBER && str_to_u64(json_text(doc, id), ret);
}

bool json_double(const struct json *doc, json_id id, double *ret)
{
    struct str text = json_text(doc, id);
    char digits[64];
    if (json_kind_of(doc, id) != JSON_NUMBER)
        return false;
    if (text.n < sizeof digits) {
        memcpy(digits, text.p, text.n);
        digits[text.n] = '\0';
        *ret = strtod(digits, NULL);
        return true;
    }
    /* A number may have any length; up to sixty digits and the exponent need no copy. */
    char *copy = malloc(text.n + 1);
    if (!copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = strtod(copy, NULL);
    free(copy);
    return true;
}

bool json_ref(const struct json *doc, json_id id, uint32_t *ret)
{
    uint64_t v;
    if (json_kind_of(doc, id) != JSON_REF || !str_to_u64(json_text(doc, id), &v) || v > UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

static unsigned hex4(const char *p)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];
        v = v * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return v;
}

static void put_utf8(struct buf *out, unsigned c)
{
    if (c < 0x80) {
        buf_putc(out, (char)c);
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xC0 | c >> 6));
        buf_putc(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        buf_putc(out, (char)(0xE0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_putc(out, (char)(0x80 | (c & 0x3F)));
    } else {
        buf_putc(out, (char)(0xF0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 0x3F)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_putc(out, (char)(0x80 | (c & 0x3F)));
    }
}

static bool has_hex4(struct str inside, size_t at)
{
    return at + 4 <= inside.n && is_hex_digit(inside.p[at]) && is_hex_digit(inside.p[at + 1]) &&
           is_hex_digit(inside.p[at + 2]) && is_hex_digit(inside.p[at + 3]);
}

/* Decodes 'u' with four digits; returns how many bytes after the backslash were read. */
static size_t unescape_unicode(struct str inside, size_t at, struct buf *out)
{
    unsigned c = hex4(inside.p + at + 1);
    bool pair = c >= 0xD800 && c < 0xDC00 && has_hex4(inside, at + 7) && inside.p[at + 5] == '\\' &&
                inside.p[at + 6] == 'u';
    unsigned low = pair ? hex4(inside.p + at + 7) : 0;
    pair = pair && low >= 0xDC00 && low < 0xE000;
    put_utf8(out, pair ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : c);
    return pair ? 11 : 5;
}

void json_unescape(struct str inside, struct buf *out)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    for (size_t i = 0; i < inside.n;) {
        size_t plain = str_find_char(str_from(inside, i), '\\');
        buf_put(out, (struct str){ inside.p + i, plain });
        i += plain + 1;
        if (i >= inside.n)
            return;
        const char *name = memchr(names, inside.p[i], sizeof names - 1);
        if (inside.p[i] == 'u' && has_hex4(inside, i + 1)) {
            i += unescape_unicode(inside, i, out);
        } else {
            buf_putc(out, name ? values[name - names] : inside.p[i]);
            i++;
        }
    }
}

void json_decode(const struct json *doc, json_id id, struct buf *out)
{
    if (json_kind_of(doc, id) == JSON_STRING)
        json_unescape(json_text(doc, id), out);
}

struct str json_decoded(const struct json *doc, json_id id, struct arena *arena)
{
    const struct json_node *node = json_node_of(doc, id);
    if (!node || node->kind != JSON_STRING || !node->escaped)
        return json_str(doc, id);
    struct buf text = BUF_INIT;
    json_decode(doc, id, &text);
    struct str copy = text.failed ? (struct str){ 0 } : arena_copy(arena, buf_str(&text));
    buf_release(&text);
    return copy;
}
