#include "profile/format.h"

#include <stdio.h>

static void put_scaled(struct buf *out, double value, const char *unit)
{
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    buf_printf(out, "%.*f %s", decimals, value, unit);
}

void format_ns(struct buf *out, int64_t ns)
{
    if (ns >= INT64_C(100) * 1000000000) {
        int64_t seconds = ns / 1000000000, minutes = seconds / 60;
        if (minutes >= 60)
            buf_printf(out, "%lld h %02d min", (long long)(minutes / 60), (int)(minutes % 60));
        else
            buf_printf(out, "%lld min %02d s", (long long)minutes, (int)(seconds % 60));
    } else if (ns >= 999500000) {
        put_scaled(out, (double)ns / 1e9, "s");
    } else if (ns >= 999500) {
        put_scaled(out, (double)ns / 1e6, "ms");
    } else if (ns >= 1000) {
        put_scaled(out, (double)ns / 1e3, "us");
    } else {
        buf_printf(out, "%lld ns", (long long)ns);
    }
}

void format_count(struct buf *out, uint64_t count)
{
    char digits[24];
    size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

void format_share(struct buf *out, int64_t part, int64_t whole)
{
    if (whole <= 0) {
        buf_puts(out, "-");
        return;
    }
    double percent = 100.0 * (double)part / (double)whole;
    if (part > 0 && percent < 0.5)
        buf_puts(out, "<1 %");
    else
        buf_printf(out, "%.0f %%", percent);
}

void format_place(struct buf *out, struct str file, uint32_t line)
{
    if (file.n == 0) {
        buf_puts(out, "-");
        return;
    }
    size_t start = file.n;
    for (int slashes = 0; start > 0; start--) {
        if (file.p[start - 1] == '/' && ++slashes == 2)
            break;
    }
    format_text(out, str_from(file, start), 0);
    if (line > 0)
        buf_printf(out, ":%u", line);
}

/* Length of a valid UTF-8 sequence at the start, 0 when it is none. */
static size_t sequence(struct str text)
{
    unsigned char c = (unsigned char)text.p[0];
    size_t n = c < 0x80                ? 1
               : c >= 0xC2 && c < 0xE0 ? 2
               : c >= 0xE0 && c < 0xF0 ? 3
               : c >= 0xF0 && c < 0xF5 ? 4
                                       : 0;
    if (n > text.n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)text.p[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Appends what stands for the start of `text` and returns how much of it that was. */
static size_t put_one(struct buf *out, struct str text)
{
    size_t n = 0;
    while (n < text.n && is_space(text.p[n]))
        n++;
    if (n > 0) {
        buf_putc(out, ' ');
        return n;
    }
    unsigned char c = (unsigned char)text.p[0];
    n = sequence(text);
    if (n == 0 || c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)text.p[1] < 0xA0)) {
        buf_printf(out, "\\x%02x", c);
        return n > 1 ? n : 1;
    }
    buf_put(out, str_first(text, n));
    return n;
}

void format_text(struct buf *out, struct str text, size_t columns)
{
    text = str_trim(text);
    size_t start = out->n, cut = out->n, used = 0;
    while (text.n > 0 && !out->failed) {
        size_t before = out->n;
        text = str_from(text, put_one(out, text));
        used += format_columns((struct str){ out->p + before, out->n - before });
        if (columns > 0 && used + 3 <= columns)
            cut = out->n;
        if (columns > 0 && used > columns) {
            out->n = cut > start ? cut : start;
            buf_puts(out, "...");
            return;
        }
    }
}

void format_plural(struct buf *out, uint64_t count, const char *noun)
{
    format_count(out, count);
    buf_printf(out, " %s%s", noun, count == 1 ? "" : "s");
}

size_t format_columns(struct str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}
