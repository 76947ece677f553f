#include "trace/base/text/printable.h"

#include <stdio.h>

size_t utf8_sequence(struct str text, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *p = (const unsigned char *)text.p;
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xC2 ? 0
               : p[0] < 0xE0 ? 2
               : p[0] < 0xF0 ? 3
               : p[0] < 0xF5 ? 4
                             : 0;
    uint32_t value = n > 1 ? p[0] & (0x7Fu >> n) : p[0];
    if (n == 0 || n > text.n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    *code = value;
    return value >= least[n] && value <= 0x10FFFF ? n : 0;
}

bool printable_code(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
#define RANGE(first, last) { first, last },
#include "trace/base/text/printable.def"
#undef RANGE
    };
    if (code < 0x80)
        return code >= 0x20 && code != 0x7F;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code >= ranges[i].first; i++)
        if (code <= ranges[i].last)
            return false;
    return true;
}

/* Examines eight bytes at a time; text is mostly ASCII. A byte stops it when it is above 0x7E or
 * below a space; also a line feed, which the slower code handles. */
static size_t ascii_run(struct str text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    size_t n = 0;
    for (; n + 8 <= text.n; n += 8) {
        uint64_t word;
        memcpy(&word, text.p + n, 8);
        uint64_t del = word ^ ones * 0x7F;
        if ((word | (word - ones * 0x20) | (del - ones)) & tops)
            break;
    }
    return n;
}

size_t printable_run(struct str text)
{
    size_t n = 0;
    for (;;) {
        uint32_t code;
        n += ascii_run(str_from(text, n));
        if (n == text.n)
            return n;
        size_t sequence = utf8_sequence(str_from(text, n), &code);
        if (sequence == 0 || (!printable_code(code) && text.p[n] != '\n' && text.p[n] != '\t'))
            return n;
        n += sequence;
    }
}

size_t printable_next(struct str text, char escape[PRINTABLE_ESCAPE])
{
    uint32_t code;
    size_t n = utf8_sequence(text, &code);
    escape[0] = '\0';
    if (n == 0 || (n == 1 && !printable_code(code)))
        snprintf(escape, PRINTABLE_ESCAPE, "\\x%02x", (unsigned)(unsigned char)text.p[0]);
    else if (!printable_code(code))
        snprintf(escape, PRINTABLE_ESCAPE, code > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)code);
    return n ? n : 1;
}

void printable_put(struct buf *out, struct str text)
{
    while (text.n > 0 && !out->failed) {
        char escape[PRINTABLE_ESCAPE];
        size_t run = printable_run(text);
        buf_put(out, str_first(text, run));
        text = str_from(text, run);
        if (text.n == 0)
            return;
        text = str_from(text, printable_next(text, escape));
        buf_puts(out, escape);
    }
}

size_t printable_space(struct str text)
{
    size_t n = 0;
    while (n < text.n && memchr(" \t\r\n", text.p[n], 4))
        n++;
    return n;
}

void printable_line(struct buf *out, struct str text)
{
    for (text = str_trim(text); text.n > 0 && !out->failed;) {
        size_t n = 0;
        while (n < text.n && printable_space(str_from(text, n)) == 0)
            n++;
        printable_put(out, str_first(text, n));
        text = str_from(text, n);
        text = str_from(text, printable_space(text));
        if (text.n > 0)
            buf_putc(out, ' ');
    }
}

/* Returns how many bytes at the end of a text may be the start of an incomplete character. */
static size_t unfinished_bytes(struct str text)
{
    for (size_t n = 1; n <= 3 && n <= text.n; n++) {
        unsigned char c = (unsigned char)text.p[text.n - n];
        if (c >= 0xC2 && c < 0xF5)
            return n < (c < 0xE0 ? 2u : c < 0xF0 ? 3u : 4u) ? n : 0;
        if (c < 0x80 || c >= 0xC0)
            return 0;
    }
    return 0;
}

void printable_piece(struct printable_rest *rest, struct buf *out, struct str piece)
{
    bool end = piece.n == 0;
    /* The character that was begun, byte by byte; it may turn out to be invalid. */
    while (rest->n > 0 && (end || piece.n > 0)) {
        if (!end) {
            rest->bytes[rest->n++] = piece.p[0];
            piece = str_from(piece, 1);
        }
        struct str begun = { rest->bytes, rest->n };
        size_t keep = end ? 0 : unfinished_bytes(begun);
        printable_put(out, str_first(begun, begun.n - keep));
        memmove(rest->bytes, rest->bytes + begun.n - keep, keep);
        rest->n = keep;
    }
    if (piece.n == 0)
        return;
    size_t keep = unfinished_bytes(piece);
    printable_put(out, str_first(piece, piece.n - keep));
    memcpy(rest->bytes, piece.p + (piece.n - keep), keep);
    rest->n = keep;
}
