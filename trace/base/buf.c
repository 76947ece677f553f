#include "trace/base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/base/vec.h"

void buf_release(struct buf *buf)
{
    free(buf->p);
    *buf = BUF_INIT;
}

bool buf_reserve(struct buf *buf, size_t extra)
{
    if (buf->failed)
        return false;
    if (buf->cap - buf->n >= extra)
        return true;
    buf->failed = !vec_grow((void **)&buf->p, &buf->cap, buf->n, extra, 1);
    return !buf->failed;
}

void buf_put(struct buf *buf, struct str text)
{
    if (text.n == 0 || !buf_reserve(buf, text.n))
        return;
    memcpy(buf->p + buf->n, text.p, text.n);
    buf->n += text.n;
}

void buf_puts(struct buf *buf, const char *text)
{
    buf_put(buf, str_of(text));
}

void buf_putc(struct buf *buf, char c)
{
    if (buf_reserve(buf, 1))
        buf->p[buf->n++] = c;
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t space = buf->failed ? 0 : buf->cap - buf->n;
    int n = vsnprintf(space ? buf->p + buf->n : NULL, space, fmt, args);
    if (n < 0)
        buf->failed = true;
    else if ((size_t)n < space)
        buf->n += (size_t)n;
    else if (buf_reserve(buf, (size_t)n + 1))
        buf->n += (size_t)vsnprintf(buf->p + buf->n, (size_t)n + 1, fmt, again);
    va_end(again);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(buf, fmt, args);
    va_end(args);
}

void buf_u64(struct buf *buf, uint64_t value)
{
    char digits[20];
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + value % 10);
    while (value /= 10);
    buf_put(buf, (struct str){ digits + n, sizeof digits - n });
}

void buf_i64(struct buf *buf, int64_t value)
{
    if (value < 0)
        buf_putc(buf, '-');
    buf_u64(buf, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_le(struct buf *buf, uint64_t value, size_t width)
{
    char raw[8];
    for (size_t i = 0; i < width; i++)
        raw[i] = (char)(value >> (8 * i));
    buf_put(buf, (struct str){ raw, width });
}

void buf_le32(struct buf *buf, uint32_t value)
{
    put_le(buf, value, 4);
}

void buf_le64(struct buf *buf, uint64_t value)
{
    put_le(buf, value, 8);
}

void buf_varint(struct buf *buf, uint64_t value)
{
    char raw[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        raw[n++] = (char)(value | 0x80);
    raw[n++] = (char)value;
    buf_put(buf, (struct str){ raw, n });
}

void buf_zigzag(struct buf *buf, int64_t value)
{
    buf_varint(buf, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static uint64_t fail_bytes(struct bytes *in)
{
    in->failed = true;
    in->p = in->end;
    return 0;
}

uint8_t bytes_u8(struct bytes *in)
{
    return in->p < in->end ? *in->p++ : (uint8_t)fail_bytes(in);
}

static uint64_t take_le(struct bytes *in, size_t width)
{
    if (bytes_left(in) < width)
        return fail_bytes(in);
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)in->p[i] << (8 * i);
    in->p += width;
    return value;
}

uint32_t bytes_le32(struct bytes *in)
{
    return (uint32_t)take_le(in, 4);
}

uint64_t bytes_le64(struct bytes *in)
{
    return take_le(in, 8);
}

uint64_t bytes_varint(struct bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; in->p < in->end && shift < 64; shift += 7) {
        unsigned char byte = *in->p++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
    return fail_bytes(in);
}

int64_t bytes_zigzag(struct bytes *in)
{
    uint64_t v = bytes_varint(in);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

uint64_t bytes_varint_max(struct bytes *in, uint64_t limit)
{
    uint64_t v = bytes_varint(in);
    return v <= limit ? v : fail_bytes(in);
}

struct str bytes_take(struct bytes *in, uint64_t n)
{
    if (n > bytes_left(in)) {
        fail_bytes(in);
        return STR("");
    }
    struct str s = { (const char *)in->p, (size_t)n };
    in->p += n;
    return s;
}
