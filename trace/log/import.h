/* Importing: logs, folders of logs, .pt2 archives and standard input become a tape.
 *
 * Every byte of a log is kept: records as their parts, everything else as raw bytes, so that
 * trace/log/export.h can write the log back. Payloads are checked against their checksums.
 * Damaged input is refused only when `strict` is set; otherwise damaged places are counted and
 * the first ones are reported. Memory: the tape's tables and the largest record. */
#ifndef SYMTAPE_TRACE_LOG_IMPORT_H
#define SYMTAPE_TRACE_LOG_IMPORT_H

#include <signal.h>
#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

struct redact_known;
struct source_meter;

struct import_options {
    bool overwrite;                    /* replace an existing output */
    bool strict;                       /* damage anywhere is ERR_INPUT and leaves no output */
    bool redact;                       /* see trace/log/redact/redact.h */
    const struct redact_known *known;  /* NULL, or secrets to redact in addition to those that are
                                        * found */
    const volatile sig_atomic_t *stop; /* NULL, or set to end early: what was read is kept */
    void (*progress)(void *user, uint64_t log_bytes); /* NULL, or called from time to time */
    void *user;
    struct source_meter *meter; /* NULL, or notified of what is read (trace/log/source.h) */
};

/* One damaged place in the input. */
struct import_damage {
    char *source; /* owned by the result */
    uint64_t line, offset;
    char what[160];
};

enum { IMPORT_DAMAGE_KEPT = 20 };

struct import_result {
    uint64_t recordings, records, payloads;
    uint64_t damaged;     /* number of damaged places */
    uint64_t log_bytes;   /* length of the logs, uncompressed */
    uint64_t input_bytes; /* length of the input files */
    uint64_t tape_bytes;
    bool interrupted; /* `stop` was set */
    struct import_damage damage[IMPORT_DAMAGE_KEPT];
    size_t n_damage;
};

/* Imports `paths` to `output`, which is a path, or "-" for standard output. On failure the
 * result is filled in as far as the import got; the caller releases it in any case. `options`
 * may be NULL. */
bool import_paths(const char *const *paths, size_t n, const char *output,
                  const struct import_options *options, struct import_result *ret, struct err *err);
/* The same, to memory: imports a path, or a source that is open already (then `path` is not
 * used). */
struct source;
bool import_to_memory(const char *path, struct source *open, const struct import_options *options,
                      struct buf *tape, struct import_result *ret, struct err *err);
void import_result_release(struct import_result *result);

#endif
