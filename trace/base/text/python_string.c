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
