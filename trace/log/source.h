/* The bytes of an input: a file or standard input, decompressed; its content determines its kind.
 *
 *     struct source *in = source_open("bert.log.zst", err);
 *     while (source_read(in, buffer, sizeof buffer, &n, err) && n > 0) ...
 *     source_close(in);
 *
 * zstd: any number of frames in a row, skippable ones skipped, windows to 2^27 bytes (zstd
 * --long=27). gzip: any number of members in a row. Everything else is handed out unchanged: an
 * uncompressed log, but also a tape and a zip, which have readers of their own (check source->kind
 * first).
 *
 * Memory does not grow with the input: an uncompressed file is read into the caller's buffer (make
 * it SOURCE_READ_SIZE), compressed data through a fixed buffer and the frame's window (128 MiB at
 * most).
 *
 * A file that grows while it is read is read up to the size that it has when its first end is
 * reached, so that a busy writer cannot prolong the reading forever. */
#ifndef SYMTAPE_TRACE_LOG_SOURCE_H
#define SYMTAPE_TRACE_LOG_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

enum { SOURCE_READ_SIZE = 1 << 20, SOURCE_MAX_WINDOW_LOG = 27 };

enum source_kind {
    SOURCE_EMPTY, /* no bytes */
    SOURCE_LOG,   /* plain text that begins with a header line of TORCH_TRACE */
    SOURCE_ZSTD,
    SOURCE_GZIP,
    SOURCE_TAPE,  /* a skippable zstd frame whose content begins with "symtape" and a NUL */
    SOURCE_ZIP,   /* .pt2 archives */
    SOURCE_OTHER, /* anything else, also a log whose beginning is lost */
};

/* The number of bytes that source_kind_of() needs to decide, if the input is that long. */
enum { SOURCE_KIND_BYTES = 64 };

enum source_kind source_kind_of(struct str first_bytes);
/* Returns the name of a kind for messages: "gzip data", "zip archive" ... */
const char *source_kind_name(enum source_kind kind);

struct source_state;

/* An observer of what is read, which allows memory in proportion to it. It is called as the file
 * is read, and before each zstd frame, before memory for the frame's window is allocated. */
struct source_meter {
    /* Notifies of bytes that were read, counted before decompression. */
    void (*stored)(struct source_meter *meter, uint64_t bytes);
    void (*window)(struct source_meter *meter, uint64_t bytes);
    /* Returns the memory that may be allocated for all bytes reported so far; UINT64_MAX means
     * no limit. */
    uint64_t (*allowed)(const struct source_meter *meter);
};

struct source {
    const char *path;      /* as given; "standard input" for "-"; owned by the source */
    enum source_kind kind; /* of the file itself, before decompression */
    bool once;             /* a pipe or a terminal, which cannot be read again */
    uint64_t offset;       /* offset of the next byte that source_read() hands out */
    uint64_t file_bytes;   /* bytes read from the file so far, before decompression */

    /* NULL, or why compressed data could not be read to its end ("zstd: ends inside a frame")
     * and the offset in the file. It is set when source_read() fails for that reason. */
    const char *damage;
    uint64_t damage_offset;

    struct source_state *state; /* private */
};

/* Opens `path`, or standard input for "-", and reads its first bytes. Returns NULL on failure:
 * it does not exist, is a folder, ... The error's text names the path. */
struct source *source_open(const char *path, struct err *err);
/* As source_open(), but input that would block (a pipe, a terminal, a FIFO without a writer)
 * checks `stop` meanwhile and ends once it is set: source_read() then fails with
 * ERR_INTERRUPTED, and this function returns a source of the bytes read until then. */
struct source *source_open_until(const char *path, const volatile sig_atomic_t *stop,
                                 struct err *err);
/* Opens a copy of bytes in memory; `name` stands where a path would. */
struct source *source_of_bytes(const char *name, struct str bytes, struct err *err);
/* Opens the bytes that `read` hands out: up to `size` bytes a call, 0 at the end, false with err
 * set. It is taken for an uncompressed log, whatever it begins with. */
typedef bool source_reader(void *user, void *buffer, size_t size, size_t *ret_n, struct err *err);
struct source *source_of_reader(const char *name, source_reader *read, void *user, struct err *err);
void source_close(struct source *source); /* NULL is allowed */
/* Sets the observer of reading (borrowed; NULL: none). It is notified at once of what was read
 * so far. */
void source_set_meter(struct source *source, struct source_meter *meter);
/* Sets the observer for a first pass over an input that is read again later: `meter` is notified
 * of windows only. */
void source_set_window_meter(struct source *source, struct source_meter *meter);

/* Reads up to `size` bytes; true with *ret_n == 0 is the end. Everything that could be decoded is
 * handed out before a failure is returned, and every later call returns the failure again:
 *   source->damage set    ERR_INPUT: truncated or damaged; the bytes before it are probably
 *                         right (a wrong checksum is found after its bytes), and a caller
 *                         that tolerates damage may treat this as the end;
 *   source->damage NULL   ERR_INPUT for a frame whose window is too large, ERR_ENV for I/O and
 *                         memory, ERR_INTERRUPTED when a signal (installed without SA_RESTART)
 *                         interrupted the read, or `stop` was set.
 * The text names the path and, for compressed data, the offset in the file. */
bool source_read(struct source *source, void *buffer, size_t size, size_t *ret_n, struct err *err);

#endif
