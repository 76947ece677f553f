#include "profile/page/page_frame.h"

#include "profile/page/page_parts.h"
#include "trace/base/sha256.h"
#include "trace/base/text/printable.h"

struct str page_asset_text(const char *name)
{
    for (const struct page_asset *a = page_assets; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return str_of(a->text);
    return STR("");
}

void page_put_hash(struct buf *out, struct str text)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char digest[SHA256_BYTES + 1] = { 0 };
    sha256(text, digest);
    buf_puts(out, "'sha256-");
    for (unsigned i = 0; i < SHA256_BYTES; i += 3) {
        unsigned third = i + 2 < SHA256_BYTES ? digest[i + 2] : 0;
        uint32_t bits = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 | third;
        for (unsigned k = 0; k < 4; k++)
            buf_putc(out, i + k > SHA256_BYTES ? '=' : DIGITS[bits >> (18 - 6 * k) & 63]);
    }
    buf_putc(out, '\'');
}

static const char *escape_of(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void page_put_text(struct buf *out, struct str text)
{
    struct buf shown = BUF_INIT;
    printable_put(&shown, text);
    for (size_t i = 0; i < shown.n; i++) {
        const char *escape = escape_of(shown.p[i]);
        if (escape)
            buf_puts(out, escape);
        else
            buf_putc(out, shown.p[i]);
    }
    out->failed |= shown.failed;
    buf_release(&shown);
}
