/* Reads a ZIP archive in memory or in a file.
 *
 *     struct zip zip = { 0 };
 *     if (!zip_open(&zip, bytes, NULL, &err))
 *         return false;
 *     const struct zip_member *m = zip_find(&zip, STR("model/models/model.json"));
 *     struct buf scratch = BUF_INIT;
 *     struct str text;
 *     if (m && zip_read(&zip, m, &scratch, &text, &err)) use(text);
 *     buf_release(&scratch);
 *     zip_close(&zip);
 *
 * It is our own because weights are named by their offset in the file (member->data), which
 * libzip does not report. Layout: PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3 (ZIP64). Members are
 * stored or deflated; encryption, several disks and other methods are refused.
 *
 * zip_open() checks every header: the central directory and each local header must agree, members
 * must precede the directory and not overlap one another, names must be unique, relative and
 * without
 * "..", sizes must fit the file. Data descriptors are not read, because the directory has the same
 * values. Nothing is decompressed or checksummed until zip_read(). */
#ifndef SYMTAPE_TRACE_PT2_ZIP_H
#define SYMTAPE_TRACE_PT2_ZIP_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/file/file.h"
#include "trace/base/str.h"

/* Limits that the caller sets for an archive from an untrusted source. */
struct zip_limits {
    uint32_t members;      /* in the archive */
    uint32_t ratio;        /* uncompressed to compressed bytes of a deflated member; not checked
                              for members below 64 KiB */
    uint64_t member_bytes; /* largest uncompressed size of a member that zip_read() accepts; a
                              stored one may be larger if it is not read */
};

/* Deflate itself cannot exceed 1032 to 1; JSON of a compiler stays below 50 to 1. */
#define ZIP_LIMITS_DEFAULT \
    ((struct zip_limits){ .members = 1u << 20, .ratio = 300, .member_bytes = UINT64_C(1) << 31 })

enum zip_method { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

struct zip_member {
    struct str name; /* points into the archive, or into the zip's copy of the directory */
    enum zip_method method;
    uint32_t crc;    /* CRC-32 of the uncompressed bytes */
    uint64_t header; /* offset of its local header in the archive */
    uint64_t data;   /* offset of its (compressed) bytes in the archive */
    uint64_t packed; /* length of the compressed bytes */
    uint64_t size;   /* length of the uncompressed bytes; equal to packed when stored */
};

struct zip {
    struct str bytes;        /* borrowed: must outlive the zip */
    const struct file *file; /* also borrowed; NULL: the archive is in memory, in bytes */
    uint64_t size;           /* of the archive */
    struct zip_limits limits;
    struct zip_member *members; /* in the directory's order */
    uint32_t n_members;
    const struct zip_member **by_name; /* private */
    struct buf directory;              /* private: the directory of an archive in a file */
};

/* Returns whether bytes begin like an archive with members, or like an empty one. */
bool zip_looks_like(struct str bytes);

/* Opens an archive. `limits` may be NULL for ZIP_LIMITS_DEFAULT. On failure (ERR_INPUT: "member
 * NAME: offset N: what") there is nothing to close. */
bool zip_open(struct zip *zip, struct str bytes, const struct zip_limits *limits, struct err *err);
/* Opens an archive in a file. Its parts are read when they are needed; ERR_ENV where the file
 * was truncated in the meantime. */
bool zip_open_file(struct zip *zip, const struct file *file, const struct zip_limits *limits,
                   struct err *err);
void zip_close(struct zip *zip);

/* Makes an archive from a list of its members, without its bytes: for zip_find(), not for
 * zip_read(). The list is copied; the names are borrowed and not checked. It fails when memory
 * ran out. */
bool zip_of_members(struct zip *zip, const struct zip_member *members, uint32_t n, struct err *err);

/* Returns the member of that name; NULL when there is none. */
const struct zip_member *zip_find(const struct zip *zip, struct str name);

/* Reads the uncompressed bytes of a member and checks its size and CRC-32. *ret points into
 * `scratch` (cleared first), or into an archive in memory when the member is stored. */
bool zip_read(const struct zip *zip, const struct zip_member *member, struct buf *scratch,
              struct str *ret, struct err *err);

/* Prepends "member NAME" to a set error, with control characters as '?'. Returns false. */
bool zip_err_at(const struct zip_member *member, struct err *err);

#endif
