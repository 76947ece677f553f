#include "trace/base/text/python_string.h"

#include "trace/base/text/printable.h"

static void put_escape(struct buf *out, uint32_t c)
{
    if (c > 0xFFFF)
        buf_printf(out, "\\U%08x", (unsigned)c);
    else if (c < 0x20 || c == 0x7F || c > 0xFF)
        buf_printf(out, "\\u%04x", (unsigned)c);
    else
        buf_printf(out, "\\x%02x", (unsigned)c);
}

size_t python_put_character(struct buf *out, struct str text)
{
    uint32_t c;
    size_t n = utf8_sequence(text, &c);
    if (!n)
        buf_puts(out, "\xEF\xBF\xBD");
    else if (!printable_code(c))
        put_escape(out, c);
    else
        buf_put(out, str_first(text, n));
    return n ? n : 1;
}

void python_put_string(struct buf *out, struct str text)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    buf_putc(out, '"');
    while (text.n) {
        const char *escape = *text.p ? strchr(plain, *text.p) : NULL;
        if (escape)
            buf_printf(out, "\\%c", letters[escape - plain]);
        text = str_from(text, escape ? 1 : python_put_character(out, text));
    }
    buf_putc(out, '"');
}

void python_put_quoted(struct buf *out, struct str text, char quote)
{
    buf_putc(out, quote);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '\r')
            buf_puts(out, "\\r");
        else if (c == '\t')
            buf_puts(out, "\\t");
        else if ((unsigned char)c < 0x20 || c == 0x7F)
            buf_printf(out, "\\x%02x", (unsigned)c);
        else if (c == quote || c == '\\')
            buf_printf(out, "\\%c", c);
        else
            buf_putc(out, c);
    }
    buf_putc(out, quote);
}

void python_put_repr(struct buf *out, struct str text)
{
    bool single = str_find_char(text, '\'') < text.n, twofold = str_find_char(text, '"') < text.n;
    python_put_quoted(out, text, single && !twofold ? '"' : '\'');
}
