#include "trace/pt2/zip.h"

#include <ctype.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    LOCAL_SIGNATURE = 0x04034b50,
    ENTRY_SIGNATURE = 0x02014b50,
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR_SIGNATURE = 0x07064b50,

    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,

    EXTRA_ZIP64 = 1,

    FLAG_ENCRYPTED = 1 << 0,
    FLAG_DESCRIPTOR = 1 << 3, /* sizes and checksum follow the data; the local header has none */
    FLAG_PATCH = 1 << 5,
    FLAG_STRONG_ENCRYPTION = 1 << 6,
    FLAG_MASKED = 1 << 13,
    FLAGS_REFUSED = FLAG_ENCRYPTED | FLAG_PATCH | FLAG_STRONG_ENCRYPTION | FLAG_MASKED,

    RATIO_FROM = 64 << 10, /* uncompressed bytes from which limits.ratio is checked */
    INFLATE_STEP = 1 << 20,
    READ_STEP = 1 << 20,
};

#define IN_ZIP64_32 UINT32_C(0xFFFFFFFF)
#define IN_ZIP64_16 UINT32_C(0xFFFF)

/* The end of the central directory, with the values of ZIP64. */
struct directory {
    uint64_t offset, size, entries;
    uint64_t limit; /* offset of its end records: nothing of the archive is after this */
};

/* The fields that a directory entry and a local header share. */
struct zip_header {
    uint32_t flags, method, crc, name_n, extra_n;
    uint64_t packed, size;
};

static uint32_t u16_at(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8;
}

static uint32_t u32_at(const char *p)
{
    return u16_at(p) | u16_at(p + 2) << 16;
}

static uint64_t u64_at(const char *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

/* Returns whether `n` bytes from `offset` on are before `limit`. */
static bool ends_by(uint64_t offset, uint64_t n, uint64_t limit)
{
    return offset <= limit && n <= limit - offset;
}

/* ---- errors -------------------------------------------------------------------------------- */

/* A name for messages: control and non-ASCII bytes become '?', long names are truncated. */
struct shown {
    char text[121];
};

static struct shown printable_name(struct str name)
{
    struct shown out = { { 0 } };
    name = str_first(name, sizeof out.text - 1);
    for (size_t i = 0; i < name.n; i++)
        out.text[i] = isprint((unsigned char)name.p[i]) ? name.p[i] : '?';
    return out;
}

static bool refuse_member(struct err *err, const struct zip_member *member, uint64_t offset,
                          const char *what)
{
    return err_set(err, ERR_INPUT, "member %s: offset %llu: %s", printable_name(member->name).text,
                   (unsigned long long)offset, what);
}

bool zip_err_at(const struct zip_member *member, struct err *err)
{
    return err_at(err, "member %s", printable_name(member->name).text);
}

static bool refuse_archive(struct err *err, uint64_t offset, const char *what)
{
    return err_set(err, ERR_INPUT, "offset %llu: %s", (unsigned long long)offset, what);
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* Returns `n` bytes before the archive's end: a part of it, or read into `room`, which is
 * cleared first. */
static bool bytes_at(const struct zip *zip, uint64_t offset, size_t n, struct buf *room,
                     const char **ret, struct err *err)
{
    if (!zip->file) {
        *ret = n ? zip->bytes.p + offset : "";
        return true;
    }
    if (!file_read_buf(zip->file, offset, n, room, err))
        return false;
    *ret = room->p;
    return true;
}

/* ---- end of central directory -------------------------------------------------------------- */

/* The last bytes of the archive: as many as its end, with a comment and a locator, may have. */
struct tail {
    struct str bytes;
    uint64_t from; /* their offset */
};

/* Returns the offset of the last record whose comment ends with the file; SIZE_MAX when there is
 * none. */
static size_t find_end(struct str tail)
{
    if (tail.n < END_SIZE)
        return SIZE_MAX;
    size_t last = tail.n - END_SIZE;
    size_t first = last > IN_ZIP64_16 ? last - IN_ZIP64_16 : 0;
    for (size_t at = last + 1; at-- > first;) {
        const char *p = tail.p + at;
        if (u32_at(p) == END_SIGNATURE && u16_at(p + 20) == tail.n - at - END_SIZE)
            return at;
    }
    return SIZE_MAX;
}

/* Returns whether a 16- or 32-bit field of the old record is saturated, or equal to the wide
 * one. */
static bool field_agrees(uint64_t narrow, uint64_t saturated, uint64_t wide)
{
    return narrow == saturated || narrow == wide;
}

/* Replaces *dir, which has the fields of the old record at `end`, if a locator precedes that. */
static bool read_end64(const struct zip *zip, struct tail tail, size_t end, struct buf *room,
                       struct directory *dir, struct err *err)
{
    if (end < LOCATOR_SIZE || u32_at(tail.bytes.p + end - LOCATOR_SIZE) != LOCATOR_SIGNATURE)
        return true;
    const char *locator = tail.bytes.p + end - LOCATOR_SIZE, *p;
    uint64_t at = u64_at(locator + 8), locator_at = tail.from + end - LOCATOR_SIZE;
    if (u32_at(locator + 4) != 0 || u32_at(locator + 16) > 1)
        return refuse_archive(err, locator_at, "archive of several disks");
    if (!ends_by(at, END64_SIZE, locator_at))
        return refuse_archive(err, locator_at,
                              "no ZIP64 end of central directory where its locator says");
    if (!bytes_at(zip, at, END64_SIZE, room, &p, err)) /* the locator is not used any more */
        return false;
    if (u32_at(p) != END64_SIGNATURE)
        return refuse_archive(err, locator_at,
                              "no ZIP64 end of central directory where its locator says");
    struct directory wide = {
        .entries = u64_at(p + 32), .size = u64_at(p + 40), .offset = u64_at(p + 48), .limit = at
    };
    if (u32_at(p + 16) != 0 || u32_at(p + 20) != 0 || u64_at(p + 24) != wide.entries)
        return refuse_archive(err, at, "archive of several disks");
    if (!field_agrees(dir->entries, IN_ZIP64_16, wide.entries) ||
        !field_agrees(dir->size, IN_ZIP64_32, wide.size) ||
        !field_agrees(dir->offset, IN_ZIP64_32, wide.offset))
        return refuse_archive(err, at, "the two ends of the central directory disagree");
    *dir = wide;
    return true;
}

static bool read_tail(const struct zip *zip, struct buf *room, struct tail *ret, struct err *err)
{
    enum { MOST = LOCATOR_SIZE + END_SIZE + 0xFFFF };
    size_t n = zip->size < MOST ? (size_t)zip->size : MOST;
    ret->from = zip->size - n;
    ret->bytes.n = n;
    return bytes_at(zip, ret->from, n, room, &ret->bytes.p, err);
}

/* Reads the end of the directory; `room` is scratch memory. */
static bool read_directory_end(const struct zip *zip, struct buf *room, struct directory *dir,
                               struct err *err)
{
    struct tail tail;
    if (!read_tail(zip, room, &tail, err))
        return false;
    size_t at = find_end(tail.bytes);
    if (at == SIZE_MAX)
        return refuse_archive(err, zip->size,
                              "no end of central directory: the ZIP archive is not complete");
    const char *p = tail.bytes.p + at;
    uint64_t end = tail.from + at;
    *dir = (struct directory){
        .entries = u16_at(p + 10), .size = u32_at(p + 12), .offset = u32_at(p + 16), .limit = end
    };
    if (u16_at(p + 4) != 0 || u16_at(p + 6) != 0 || u16_at(p + 8) != dir->entries)
        return refuse_archive(err, end, "archive of several disks");
    if (!read_end64(zip, tail, at, room, dir, err))
        return false;
    if (!ends_by(dir->offset, dir->size, dir->limit))
        return refuse_archive(err, end, "central directory lies outside the file");
    if (dir->entries > dir->size / ENTRY_SIZE)
        return refuse_archive(err, end, "central directory is too small for its entries");
    if (dir->entries > zip->limits.members)
        return err_set(err, ERR_INPUT, "offset %llu: %llu members, more than the limit of %u",
                       (unsigned long long)end, (unsigned long long)dir->entries,
                       zip->limits.members);
    return true;
}

/* ---- entries and local headers ------------------------------------------------------------- */

/* Finds the ZIP64 block of an extra field and widens `fields` from it, in order. Returns false
 * when a needed field is missing or truncated. */
static bool read_zip64_extra(struct str extra, uint64_t *fields[], size_t n)
{
    bool needed = false;
    for (size_t i = 0; i < n; i++)
        needed |= *fields[i] == IN_ZIP64_32;
    while (needed && extra.n >= 4) {
        size_t size = u16_at(extra.p + 2);
        if (size > extra.n - 4)
            return false;
        if (u16_at(extra.p) == EXTRA_ZIP64) {
            struct bytes in = bytes_of((struct str){ extra.p + 4, size });
            for (size_t i = 0; i < n; i++)
                if (*fields[i] == IN_ZIP64_32)
                    *fields[i] = bytes_le64(&in);
            return !in.failed;
        }
        extra = str_from(extra, 4 + size);
    }
    return !needed;
}

/* Reads the fields from the flags on; both headers have the same layout there for 24 bytes. */
static struct zip_header read_zip_header(const char *p)
{
    return (struct zip_header){
        .flags = u16_at(p),
        .method = u16_at(p + 2),
        .crc = u32_at(p + 8),
        .packed = u32_at(p + 12),
        .size = u32_at(p + 16),
        .name_n = u16_at(p + 20),
        .extra_n = u16_at(p + 22),
    };
}

static bool name_is_safe(struct str name)
{
    if (name.n == 0 || name.p[0] == '/' || name.p[0] == '\\' || memchr(name.p, '\0', name.n))
        return false;
    for (size_t from = 0; from <= name.n;) {
        size_t to = from;
        while (to < name.n && name.p[to] != '/' && name.p[to] != '\\')
            to++;
        if (str_is((struct str){ name.p + from, to - from }, ".."))
            return false;
        from = to + 1;
    }
    return true;
}

static bool check_member(const struct zip *zip, const struct zip_member *m, uint32_t flags,
                         uint64_t at, struct err *err)
{
    if (!name_is_safe(m->name))
        return refuse_member(err, m, at, "name is absolute, empty or contains \"..\"");
    if (flags & FLAGS_REFUSED)
        return refuse_member(err, m, at, "encrypted or patched");
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return refuse_member(err, m, at, "compressed by a method other than deflate");
    if (m->method == ZIP_STORED && m->packed != m->size)
        return refuse_member(err, m, at, "stored, but its two sizes differ");
    if (m->method == ZIP_DEFLATED && m->size >= RATIO_FROM &&
        m->size / zip->limits.ratio >= m->packed)
        return err_set(err, ERR_INPUT,
                       "member %s: offset %llu: %llu bytes from %llu, "
                       "more than the limit of %u to 1",
                       printable_name(m->name).text, (unsigned long long)at,
                       (unsigned long long)m->size, (unsigned long long)m->packed,
                       zip->limits.ratio);
    return true;
}

/* Sets m->data. A header that leaves sizes and checksum to a descriptor has 0 in their place,
 * though some writers store the right values. */
static bool check_local(const struct zip *zip, uint64_t limit, struct zip_member *m, uint32_t flags,
                        struct buf *room, struct err *err)
{
    enum { MOSTLY = 512 }; /* bytes that are read at once: a header with its name and padding */
    const char *p;
    if (!ends_by(m->header, LOCAL_SIZE, limit))
        return refuse_member(err, m, m->header, "no local header here");
    size_t n = limit - m->header < MOSTLY ? (size_t)(limit - m->header) : MOSTLY;
    if (!bytes_at(zip, m->header, n, room, &p, err))
        return false;
    if (u32_at(p) != LOCAL_SIGNATURE)
        return refuse_member(err, m, m->header, "no local header here");
    struct zip_header local = read_zip_header(p + 6);
    uint64_t behind = (uint64_t)local.name_n + local.extra_n;
    if (!ends_by(m->header + LOCAL_SIZE, behind, limit))
        return refuse_member(err, m, m->header, "local header reaches past the members");
    if (LOCAL_SIZE + behind > n &&
        !bytes_at(zip, m->header, (size_t)(LOCAL_SIZE + behind), room, &p, err))
        return false;
    struct str extra = { p + LOCAL_SIZE + local.name_n, local.extra_n };
    uint64_t *fields[] = { &local.size, &local.packed };
    if (!read_zip64_extra(extra, fields, 2))
        return refuse_member(err, m, m->header, "damaged ZIP64 sizes in the local header");
    bool later = (flags & FLAG_DESCRIPTOR) != 0;
    if (!str_eq((struct str){ p + LOCAL_SIZE, local.name_n }, m->name) ||
        local.method != (uint32_t)m->method || ((local.flags ^ flags) & FLAG_DESCRIPTOR) ||
        !(local.crc == m->crc || (later && local.crc == 0)) ||
        !(local.size == m->size || (later && local.size == 0)) ||
        !(local.packed == m->packed || (later && local.packed == 0)))
        return refuse_member(err, m, m->header, "local header and central directory disagree");
    m->data = m->header + LOCAL_SIZE + local.name_n + local.extra_n;
    if (!ends_by(m->data, m->packed, limit))
        return refuse_member(err, m, m->header, "reaches past the end of the members");
    return true;
}

/* Reads the entry at *at, which then moves after it. `entries` are the directory's bytes. */
static bool read_directory_entry(const struct zip *zip, const struct directory *dir,
                                 const char *entries, uint64_t *at, struct buf *room,
                                 struct zip_member *m, struct err *err)
{
    uint64_t end = dir->offset + dir->size;
    const char *p = entries + (*at - dir->offset);
    if (!ends_by(*at, ENTRY_SIZE, end) || u32_at(p) != ENTRY_SIGNATURE)
        return refuse_archive(err, *at, "no entry of the central directory here");
    struct zip_header h = read_zip_header(p + 8);
    uint64_t tail = (uint64_t)h.name_n + h.extra_n + u16_at(p + 32);
    if (!ends_by(*at + ENTRY_SIZE, tail, end))
        return refuse_archive(err, *at, "entry reaches past the central directory");
    uint64_t header = u32_at(p + 42);
    uint64_t *fields[] = { &h.size, &h.packed, &header };
    *m = (struct zip_member){ .name = { p + ENTRY_SIZE, h.name_n } };
    if (!read_zip64_extra((struct str){ p + ENTRY_SIZE + h.name_n, h.extra_n }, fields, 3))
        return refuse_member(err, m, *at, "damaged ZIP64 sizes");
    if (u16_at(p + 34) != 0)
        return refuse_member(err, m, *at, "on another disk");
    m->method = (enum zip_method)h.method;
    m->crc = h.crc;
    m->packed = h.packed;
    m->size = h.size;
    m->header = header;
    uint64_t entry_at = *at;
    *at += ENTRY_SIZE + tail;
    return check_member(zip, m, h.flags, entry_at, err) &&
           check_local(zip, dir->offset, m, h.flags, room, err);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int by_member_name(const void *a, const void *b)
{
    const struct zip_member *const *x = a, *const *y = b;
    return str_cmp((*x)->name, (*y)->name);
}

static int by_header(const void *a, const void *b)
{
    const struct zip_member *const *x = a, *const *y = b;
    return (*x)->header < (*y)->header ? -1 : (*x)->header > (*y)->header;
}

static bool check_overlap(struct zip *zip, struct err *err)
{
    const struct zip_member **order = zip->by_name;
    qsort(order, zip->n_members, sizeof(const struct zip_member *), by_header);
    for (uint32_t i = 1; i < zip->n_members; i++) {
        const struct zip_member *before = order[i - 1], *m = order[i];
        if (before->data + before->packed > m->header)
            return err_set(err, ERR_INPUT, "member %s: offset %llu: overlaps member %s",
                           printable_name(m->name).text, (unsigned long long)m->header,
                           printable_name(before->name).text);
    }
    return true;
}

static bool check_names(struct zip *zip, struct err *err)
{
    const struct zip_member **order = zip->by_name;
    qsort(order, zip->n_members, sizeof(const struct zip_member *), by_member_name);
    for (uint32_t i = 1; i < zip->n_members; i++)
        if (str_eq(order[i - 1]->name, order[i]->name))
            return refuse_member(err, order[i], order[i]->header, "a second member of this name");
    return true;
}

/* Allocates one member more, because calloc(0) may return NULL. */
static bool allocate_members(struct zip *zip, uint64_t n, struct err *err)
{
    zip->members = calloc((size_t)n + 1, sizeof *zip->members);
    zip->by_name = calloc((size_t)n + 1, sizeof *zip->by_name);
    return (zip->members && zip->by_name) || err_nomem(err);
}

static bool read_directory(struct zip *zip, const struct directory *dir, struct buf *room,
                           struct err *err)
{
    const char *entries;
    if (!allocate_members(zip, dir->entries, err) || /* the size of the file limits it */
        !bytes_at(zip, dir->offset, (size_t)dir->size, &zip->directory, &entries, err))
        return false;
    uint64_t at = dir->offset;
    for (; zip->n_members < dir->entries; zip->n_members++) {
        if (!read_directory_entry(zip, dir, entries, &at, room, &zip->members[zip->n_members], err))
            return false;
        zip->by_name[zip->n_members] = &zip->members[zip->n_members];
    }
    return check_overlap(zip, err) && check_names(zip, err);
}

bool zip_looks_like(struct str bytes)
{
    return bytes.n >= END_SIZE &&
           (u32_at(bytes.p) == LOCAL_SIGNATURE || u32_at(bytes.p) == END_SIGNATURE);
}

static bool open_archive(struct zip *zip, const struct zip_limits *limits, struct err *err)
{
    struct directory dir = { 0 };
    struct buf room = BUF_INIT;
    zip->limits = limits ? *limits : ZIP_LIMITS_DEFAULT;
    if (zip->limits.ratio == 0)
        zip->limits.ratio = 1;
    bool ok = read_directory_end(zip, &room, &dir, err) && read_directory(zip, &dir, &room, err);
    buf_release(&room);
    if (!ok)
        zip_close(zip);
    return ok;
}

bool zip_open(struct zip *zip, struct str bytes, const struct zip_limits *limits, struct err *err)
{
    *zip = (struct zip){ .bytes = bytes, .size = bytes.n };
    return open_archive(zip, limits, err);
}

bool zip_open_file(struct zip *zip, const struct file *file, const struct zip_limits *limits,
                   struct err *err)
{
    *zip = (struct zip){ .file = file, .size = file->size };
    return open_archive(zip, limits, err);
}

bool zip_of_members(struct zip *zip, const struct zip_member *members, uint32_t n, struct err *err)
{
    *zip = (struct zip){ .limits = ZIP_LIMITS_DEFAULT };
    if (!allocate_members(zip, n, err)) {
        zip_close(zip);
        return false;
    }
    for (; zip->n_members < n; zip->n_members++) {
        zip->members[zip->n_members] = members[zip->n_members];
        zip->by_name[zip->n_members] = &zip->members[zip->n_members];
    }
    qsort(zip->by_name, n, sizeof(const struct zip_member *), by_member_name);
    return true;
}

void zip_close(struct zip *zip)
{
    free(zip->members);
    free(zip->by_name);
    buf_release(&zip->directory);
    *zip = (struct zip){ 0 };
}

const struct zip_member *zip_find(const struct zip *zip, struct str name)
{
    const struct zip_member key = { .name = name }, *wanted = &key;
    if (zip->n_members == 0)
        return NULL;
    const struct zip_member **hit = bsearch(&wanted, zip->by_name, zip->n_members,
                                            sizeof(const struct zip_member *), by_member_name);
    return hit ? *hit : NULL;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A deflated member that is being read. */
struct inflate_input {
    const struct zip *zip;
    const struct zip_member *member;
    uint64_t at, left; /* input that zlib has not got yet */
    struct buf room;
};

/* Gives zlib its next input and memory for output. */
static bool feed(struct inflate_input *in, z_stream *z, struct buf *out, uint64_t size,
                 struct err *err)
{
    if (z->avail_in == 0) {
        const char *p;
        size_t n = in->left < READ_STEP ? (size_t)in->left : READ_STEP;
        if (!bytes_at(in->zip, in->at, n, &in->room, &p, err))
            return zip_err_at(in->member, err);
        z->next_in = (Bytef *)(uintptr_t)p;
        z->avail_in = (uInt)n;
        in->at += n;
        in->left -= n;
    }
    /* One byte more than the size shows a member that inflates to more. */
    uint64_t room = size - out->n + 1 < INFLATE_STEP ? size - out->n + 1 : INFLATE_STEP;
    if (!buf_reserve(out, (size_t)room))
        return err_nomem(err);
    z->next_out = (Bytef *)out->p + out->n;
    z->avail_out = (uInt)room;
    return true;
}

static bool inflate_all(struct inflate_input *in, z_stream *z, const struct zip_member *m,
                        struct buf *out, struct err *err)
{
    for (;;) {
        if (!feed(in, z, out, m->size, err))
            return false;
        uInt room = z->avail_out;
        int code = inflate(z, Z_NO_FLUSH);
        out->n += room - z->avail_out;
        if (out->n > m->size)
            return refuse_member(err, m, m->data, "inflates to more bytes than its entry says");
        if (code == Z_STREAM_END)
            break;
        if (code != Z_OK)
            return refuse_member(err, m, m->data, z->msg ? z->msg : "its deflated data ends early");
    }
    if (out->n != m->size || z->avail_in != 0 || in->left != 0)
        return refuse_member(err, m, m->data, "inflates to fewer bytes than its entry says");
    return true;
}

static bool read_deflated(const struct zip *zip, const struct zip_member *m, struct buf *scratch,
                          struct err *err)
{
    z_stream z = { 0 };
    struct inflate_input in = { .zip = zip, .member = m, .at = m->data, .left = m->packed };
    buf_clear(scratch);
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return err_nomem(err);
    bool ok = inflate_all(&in, &z, m, scratch, err);
    inflateEnd(&z);
    buf_release(&in.room);
    return ok;
}

bool zip_read(const struct zip *zip, const struct zip_member *member, struct buf *scratch,
              struct str *ret, struct err *err)
{
    struct str out = { NULL, (size_t)member->packed };
    if (member->size > zip->limits.member_bytes)
        return err_set(
            err, ERR_INPUT, "member %s: offset %llu: %llu bytes, more than the limit of %llu",
            printable_name(member->name).text, (unsigned long long)member->header,
            (unsigned long long)member->size, (unsigned long long)zip->limits.member_bytes);
    if (member->method == ZIP_DEFLATED) {
        if (!read_deflated(zip, member, scratch, err))
            return false;
        out = buf_str(scratch);
    } else if (!bytes_at(zip, member->data, out.n, scratch, &out.p, err)) {
        return zip_err_at(member, err);
    }
    if (crc32_z(0, (const Bytef *)(out.p ? out.p : ""), out.n) != member->crc)
        return refuse_member(err, member, member->data, "checksum (CRC-32) does not match");
    *ret = out;
    return true;
}
