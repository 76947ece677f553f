/* Writes small ZIP archives, honest or not, for the tests of those who read them. */
#ifndef SYMTAPE_TESTS_TRACE_PT2_ZIP_MAKE_H
#define SYMTAPE_TESTS_TRACE_PT2_ZIP_MAKE_H

#include <zlib.h>

#include "tests/harness.h"

struct zip_make {
    struct buf bytes; /* local headers and data, then the directory */
    struct buf directory;
    uint64_t n;
    bool zip64;      /* sizes, offsets and the end of the directory in their ZIP64 places */
    bool descriptor; /* sizes behind the data, as PyTorch's writer does it */
    size_t end;      /* offset of the end record, once finished */
};

static inline void make_u16(struct buf *out, unsigned v)
{
    buf_putc(out, (char)v);
    buf_putc(out, (char)(v >> 8));
}

static inline uint32_t make_crc(struct str text)
{
    return (uint32_t)crc32_z(0, (const Bytef *)(text.p ? text.p : ""), text.n);
}

static inline void make_deflate(struct str text, struct buf *out)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(buf_reserve(out, deflateBound(&z, (uLong)text.n)));
    z.next_in = (Bytef *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (Bytef *)out->p;
    z.avail_out = (uInt)out->cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n = z.total_out;
    deflateEnd(&z);
}

/* What a local header and a directory entry share, from the version needed to the lengths. */
static inline void make_common(struct zip_make *make, struct buf *out, unsigned method,
                               uint32_t crc, size_t packed, size_t size, struct str name,
                               unsigned extra)
{
    make_u16(out, 45);
    make_u16(out, make->descriptor ? 8 : 0);
    make_u16(out, method);
    buf_le32(out, 0);
    buf_le32(out, crc);
    buf_le32(out, make->zip64 ? 0xFFFFFFFF : (uint32_t)packed);
    buf_le32(out, make->zip64 ? 0xFFFFFFFF : (uint32_t)size);
    make_u16(out, (unsigned)name.n);
    make_u16(out, extra);
}

static inline void make_entry(struct zip_make *make, struct str name, unsigned method, uint32_t crc,
                              size_t packed, size_t size, size_t header)
{
    struct buf *dir = &make->directory;
    buf_le32(dir, 0x02014b50);
    make_u16(dir, 45);
    make_common(make, dir, method, crc, packed, size, name, make->zip64 ? 28 : 0);
    make_u16(dir, 0); /* comment */
    make_u16(dir, 0); /* disk */
    make_u16(dir, 0);
    buf_le32(dir, 0);
    buf_le32(dir, make->zip64 ? 0xFFFFFFFF : (uint32_t)header);
    buf_put(dir, name);
    if (make->zip64) {
        make_u16(dir, 1);
        make_u16(dir, 24);
        buf_le64(dir, size);
        buf_le64(dir, packed);
        buf_le64(dir, header);
    }
    make->n++;
}

/* Local header and data; returns the header's offset. */
static inline size_t make_local(struct zip_make *make, struct str name, unsigned method,
                                uint32_t crc, struct str packed, size_t size)
{
    struct buf *out = &make->bytes;
    size_t header = out->n;
    bool later = make->descriptor;
    buf_le32(out, 0x04034b50);
    make_common(make, out, method, later ? 0 : crc, later ? 0 : packed.n, later ? 0 : size, name,
                make->zip64 ? 20 : 0);
    buf_put(out, name);
    if (make->zip64) {
        make_u16(out, 1);
        make_u16(out, 16);
        buf_le64(out, later ? 0 : size);
        buf_le64(out, later ? 0 : packed.n);
    }
    buf_put(out, packed);
    if (later) {
        buf_le32(out, 0x08074b50);
        buf_le32(out, crc);
        buf_le32(out, (uint32_t)packed.n);
        buf_le32(out, (uint32_t)size);
    }
    return header;
}

static inline void make_member(struct zip_make *make, struct str name, struct str text,
                               bool deflated)
{
    struct buf packed = BUF_INIT;
    if (deflated)
        make_deflate(text, &packed);
    else
        buf_put(&packed, text);
    unsigned method = deflated ? 8 : 0;
    size_t header = make_local(make, name, method, make_crc(text), buf_str(&packed), text.n);
    make_entry(make, name, method, make_crc(text), packed.n, text.n, header);
    buf_release(&packed);
}

static inline void make_end64(struct zip_make *make, size_t directory)
{
    struct buf *out = &make->bytes;
    size_t end64 = out->n;
    buf_le32(out, 0x06064b50);
    buf_le64(out, 44);
    make_u16(out, 45);
    make_u16(out, 45);
    buf_le64(out, 0); /* disks */
    buf_le64(out, make->n);
    buf_le64(out, make->n);
    buf_le64(out, make->directory.n);
    buf_le64(out, directory);
    buf_le32(out, 0x07064b50);
    buf_le32(out, 0);
    buf_le64(out, end64);
    buf_le32(out, 1);
}

/* The archive; make_release() frees it. */
static inline struct str make_finish(struct zip_make *make, const char *comment)
{
    struct buf *out = &make->bytes;
    size_t directory = out->n;
    buf_put(out, buf_str(&make->directory));
    if (make->zip64)
        make_end64(make, directory);
    make->end = out->n;
    unsigned n = make->zip64 ? 0xFFFF : (unsigned)make->n;
    buf_le32(out, 0x06054b50);
    buf_le32(out, 0); /* disks */
    make_u16(out, n);
    make_u16(out, n);
    buf_le32(out, make->zip64 ? 0xFFFFFFFF : (uint32_t)make->directory.n);
    buf_le32(out, make->zip64 ? 0xFFFFFFFF : (uint32_t)directory);
    make_u16(out, (unsigned)strlen(comment));
    buf_puts(out, comment);
    assert_false(out->failed);
    return buf_str(out);
}

static inline void make_release(struct zip_make *make)
{
    buf_release(&make->bytes);
    buf_release(&make->directory);
    *make = (struct zip_make){ 0 };
}

#endif
