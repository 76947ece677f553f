#include "trace/base/text/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/text/printable.h"

enum { MAX_DEPTH = 63 };

static void put_ascii(struct buf *out, char c)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *name = c ? strchr(names, c) : NULL;
    if (name)
        buf_printf(out, "\\%c", letters[name - names]);
    else if ((unsigned char)c < 0x20 || c == 0x7F)
        buf_printf(out, "\\u%04x", (unsigned)c);
    else
        buf_putc(out, c);
}

/* Prints a code point as UTF-16 does, with two units above U+FFFF. */
static void put_utf16_escape(struct buf *out, uint32_t code)
{
    if (code > 0xFFFF)
        buf_printf(out, "\\u%04x\\u%04x", 0xD800u + ((unsigned)code - 0x10000) / 0x400,
                   0xDC00u + (unsigned)code % 0x400);
    else
        buf_printf(out, "\\u%04x", (unsigned)code);
}

static size_t put_sequence(struct buf *out, struct str text)
{
    uint32_t code;
    size_t n = utf8_sequence(text, &code);
    if (n == 1)
        put_ascii(out, text.p[0]);
    else if (n == 0)
        buf_puts(out, "\xEF\xBF\xBD");
    else if (!printable_code(code))
        put_utf16_escape(out, code);
    else
        buf_put(out, str_first(text, n));
    return n ? n : 1;
}

static bool needs_no_escape(char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7F;
}

void json_quote(struct buf *out, struct str value)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < value.n;) {
        size_t plain = i;
        while (plain < value.n && needs_no_escape(value.p[plain]))
            plain++;
        buf_put(out, (struct str){ value.p + i, plain - i });
        i = plain;
        if (i < value.n)
            i += put_sequence(out, str_from(value, i));
    }
    buf_putc(out, '"');
}

void json_number(struct buf *out, double value)
{
    char text[32];
    if (!isfinite(value)) {
        buf_puts(out, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_puts(out, text);
}

static void before_value(struct json_writer *w, const char *key)
{
    uint64_t bit = UINT64_C(1) << w->depth;
    if (w->depth && (w->nonempty & bit))
        buf_putc(w->out, ',');
    w->nonempty |= bit;
    if (key) {
        json_quote(w->out, str_of(key));
        buf_putc(w->out, ':');
    }
}

void json_put_key(struct json_writer *w, struct str key)
{
    before_value(w, NULL);
    json_quote(w->out, key);
    buf_putc(w->out, ':');
    w->nonempty &= ~(UINT64_C(1) << w->depth); /* no comma precedes the value that follows ... */
}

/* ... and before_value() sets the bit again. */
static void open_written_container(struct json_writer *w, const char *key, bool object)
{
    before_value(w, key);
    if (w->depth == MAX_DEPTH) {
        w->out->failed = true;
        return;
    }
    w->depth++;
    uint64_t bit = UINT64_C(1) << w->depth;
    w->objects = object ? w->objects | bit : w->objects & ~bit;
    w->nonempty &= ~bit;
    buf_putc(w->out, object ? '{' : '[');
}

void json_open_object(struct json_writer *w, const char *key)
{
    open_written_container(w, key, true);
}

void json_open_array(struct json_writer *w, const char *key)
{
    open_written_container(w, key, false);
}

void json_close(struct json_writer *w)
{
    if (w->depth == 0)
        return;
    buf_putc(w->out, w->objects >> w->depth & 1 ? '}' : ']');
    w->depth--;
}

void json_put_str(struct json_writer *w, const char *key, struct str value)
{
    before_value(w, key);
    json_quote(w->out, value);
}

void json_put_str_or_null(struct json_writer *w, const char *key, struct str value)
{
    if (value.n)
        json_put_str(w, key, value);
    else
        json_put_null(w, key);
}

void json_put_cstr(struct json_writer *w, const char *key, const char *value)
{
    if (value)
        json_put_str(w, key, str_of(value));
    else
        json_put_null(w, key);
}

void json_put_u64(struct json_writer *w, const char *key, uint64_t value)
{
    before_value(w, key);
    buf_u64(w->out, value);
}

void json_put_i64(struct json_writer *w, const char *key, int64_t value)
{
    before_value(w, key);
    if (value < 0)
        buf_putc(w->out, '-');
    buf_u64(w->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_put_double(struct json_writer *w, const char *key, double value)
{
    before_value(w, key);
    json_number(w->out, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_put_raw(w, key, value ? STR("true") : STR("false"));
}

void json_put_null(struct json_writer *w, const char *key)
{
    json_put_raw(w, key, STR("null"));
}

void json_put_raw(struct json_writer *w, const char *key, struct str value)
{
    before_value(w, key);
    buf_put(w->out, value);
}
