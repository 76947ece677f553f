/* A growing array of bytes for writing.
 *
 * A failed allocation makes the buffer `failed` and later calls do nothing, so that writing code
 * stays a straight list of fields and the caller checks once, at the end. */
#ifndef SYMTAPE_TRACE_BASE_BUF_H
#define SYMTAPE_TRACE_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

struct buf {
    char *p;
    size_t n, cap;
    bool failed;
};

#define BUF_INIT ((struct buf){ 0 })

void buf_release(struct buf *buf);
static inline void buf_clear(struct buf *buf)
{
    buf->n = 0;
}

static inline struct str buf_str(const struct buf *buf)
{
    return (struct str){ buf->p, buf->n };
}

/* Reserves memory for `extra` more bytes, which the caller writes to buf->p + buf->n before
 * adding to buf->n. */
bool buf_reserve(struct buf *buf, size_t extra);

void buf_put(struct buf *buf, struct str text);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) ERR_PRINTF(2, 3);
void buf_vprintf(struct buf *buf, const char *fmt, va_list args) ERR_PRINTF(2, 0);
void buf_u64(struct buf *buf, uint64_t value); /* decimal digits */
void buf_i64(struct buf *buf, int64_t value);

/* Little-endian fixed width and LEB128 variable width; zigzag for signed values. */
void buf_le32(struct buf *buf, uint32_t value);
void buf_le64(struct buf *buf, uint64_t value);
void buf_varint(struct buf *buf, uint64_t value);
void buf_zigzag(struct buf *buf, int64_t value);
/* The length of a text as LEB128, then its bytes: what bytes_varint() and bytes_take() read. */
static inline void buf_counted(struct buf *buf, struct str text)
{
    buf_varint(buf, text.n);
    buf_put(buf, text);
}

/* A reader of bytes. Reading past the end makes it `failed`; everything read from then on is 0
 * or empty, so decoding code is a straight list of fields, too. */
struct bytes {
    const unsigned char *p, *end;
    bool failed;
};

static inline struct bytes bytes_of(struct str s)
{
    return (struct bytes){ (const unsigned char *)s.p, (const unsigned char *)s.p + s.n, false };
}

static inline size_t bytes_left(const struct bytes *in)
{
    return (size_t)(in->end - in->p);
}

uint8_t bytes_u8(struct bytes *in);
uint32_t bytes_le32(struct bytes *in);
uint64_t bytes_le64(struct bytes *in);
uint64_t bytes_varint(struct bytes *in);
int64_t bytes_zigzag(struct bytes *in);
/* Reads a varint; fails if it is above `limit`. */
uint64_t bytes_varint_max(struct bytes *in, uint64_t limit);
struct str bytes_take(struct bytes *in, uint64_t n);

#endif
