#include "profile/model/format.h"

#include "profile/model/human.h"
#include "trace/base/text/printable.h"

void format_ns(struct buf *out, int64_t ns)
{
    char text[HUMAN_SIZE];
    buf_puts(out, human_ns(text, ns));
}

void format_us(struct buf *out, double us)
{
    format_ns(out, (int64_t)(us * 1e3 + 0.5));
}

void format_count(struct buf *out, uint64_t count)
{
    char text[HUMAN_SIZE];
    buf_puts(out, human_count(text, count));
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

void format_range(struct buf *out, int64_t part, int64_t low, int64_t high, int64_t whole)
{
    double scale = whole > 0 ? 100.0 / (double)whole : 0;
    double from = (double)low * scale, to = (double)high * scale;
    if (whole <= 0 || to - from <= RANGE_POINTS)
        format_share(out, part, whole);
    else
        buf_printf(out, "%.0f to %.0f %%", from, to);
}

void format_rate(struct buf *out, double per_us, const char *unit)
{
    static const char *const prefixes[] = { "M", "G", "T", "P" };
    size_t i = 0;
    while (per_us >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes)
        per_us /= 1000, i++;
    buf_printf(out, "%.3g %s%s", per_us, prefixes[i], unit);
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

/* Appends the printable form of the first character of `text` and returns how many bytes it had. */
static size_t put_one(struct buf *out, struct str text, size_t *columns)
{
    size_t n = printable_space(text);
    if (n > 0) {
        buf_putc(out, ' ');
        *columns += 1;
        return n;
    }
    char escape[PRINTABLE_ESCAPE];
    n = printable_next(text, escape);
    if (escape[0])
        buf_puts(out, escape);
    else
        buf_put(out, str_first(text, n));
    *columns += escape[0] ? strlen(escape) : 1;
    return n;
}

void format_text(struct buf *out, struct str text, size_t columns)
{
    if (columns == 0) {
        printable_line(out, text);
        return;
    }
    text = str_trim(text);
    size_t cut = out->n, used = 0;
    while (text.n > 0 && !out->failed) {
        text = str_from(text, put_one(out, text, &used));
        if (used + 3 <= columns)
            cut = out->n;
        if (used > columns) {
            out->n = cut;
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

size_t format_first(struct str text, size_t columns)
{
    size_t i = 0;
    while (i < text.n && (columns > 0 || ((unsigned char)text.p[i] & 0xC0) == 0x80))
        columns -= ((unsigned char)text.p[i++] & 0xC0) != 0x80;
    return i;
}

size_t format_last(struct str text, size_t columns)
{
    size_t all = format_columns(text);
    return all <= columns ? text.n : text.n - format_first(text, all - columns);
}

void format_spaces(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_putc(out, ' ');
}

/* Returns the next word; if it is longer than a line, the part that fits into a line. */
static struct str take_wrapped_word(struct str *text, size_t width, size_t indent)
{
    struct str word = str_first(*text, str_find_char(*text, ' '));
    if (width > indent)
        word.n = format_first(word, width - indent);
    *text = str_trim(str_from(*text, word.n));
    return word;
}

void format_wrapped(struct buf *out, struct str text, size_t width, size_t at, size_t indent)
{
    bool first = true; /* the first word of a line */
    for (text = str_trim(text); text.n > 0; first = false) {
        struct str word = take_wrapped_word(&text, width, indent);
        size_t columns = format_columns(word);
        if (!first && width > 0 && at + 1 + columns > width) {
            buf_putc(out, '\n');
            format_spaces(out, indent);
            at = indent;
            first = true;
        }
        if (!first)
            buf_putc(out, ' ');
        buf_put(out, word);
        at += columns + !first;
    }
    buf_putc(out, '\n');
}
