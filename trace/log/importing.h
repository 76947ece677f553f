/* Declarations that the files of the importer share. */
#ifndef SYMTAPE_TRACE_LOG_IMPORTING_H
#define SYMTAPE_TRACE_LOG_IMPORTING_H

#include "trace/base/md5.h"
#include "trace/log/envelope.h"
#include "trace/log/import.h"
#include "trace/log/import_piece.h"
#include "trace/log/log_split.h"
#include "trace/log/redact/redact.h"
#include "trace/tape/spaces.h"
#include "trace/tape/tape_write.h"

struct importer {
    const struct import_options *options;
    struct import_result *result;
    struct tape_writer *tape;
    struct envelope_reader envelope;
    struct md5 md5;
    struct redact redact;            /* used when options->redact */
    bool redacting;                  /* `redact` is initialized */
    struct intern names;             /* names of the recordings so far, which are unique */
    struct tape_recording recording; /* the current one */
    struct arena arena;              /* texts of the current recording */
    int64_t rank;                    /* of the current recording; -1 while unknown */
    struct spaces spaces;            /* of the current recording */
    vec_of(uint64_t)
    pids;              /* of the current recording's records */
    uint64_t lines;    /* number of lines of the current recording so far */
    bool unterminated; /* its last line has no line end */
    vec_of(struct import_side)
    sides;
    struct buf payload, header, context, scratch;
};

/* A side file of a deep recording (trace/log/deep/deep_file.h) whose log is not imported yet. */
struct import_side {
    const char *path;
    struct str log; /* base name of its log; "" when the side file does not have it */
    uint64_t pid;
    bool used;
};

/* Prepares one side file; its text is not kept. Returns false when memory ran out: an unreadable
 * file is reported as damage when it is imported. */
bool import_side_add(struct importer *in, const char *path, struct err *err);
/* Appends to the current recording the records of the side files that belong to its log. */
bool import_sides_of_log(struct importer *in, struct err *err);
/* Imports the side files for which no log was found, each as a recording. */
bool import_sides_left(struct importer *in, struct err *err);

/* Imports one log that is already open; adds its recording and completes it. */
bool import_log(struct importer *in, struct source *source, struct err *err);
/* The two halves of import_log(): all records, then the recording's name and last row. */
bool import_log_begin(struct importer *in, struct source *source, struct err *err);
bool import_log_end(struct importer *in, struct err *err);
/* Appends records from a text in TORCH_TRACE's format to the current recording. */
bool import_text(struct importer *in, struct str text, struct err *err);
/* Imports one .pt2 archive, which is read from its path. */
bool import_pt2(struct importer *in, const struct source *source, struct err *err);
struct str import_archive_name(const struct importer *in);
/* Imports one tape, which must be redacted. */
bool import_tape(struct importer *in, const struct source *source, struct err *err);

/* Learns the secret names in a log; input that cannot be read twice is skipped. */
bool import_learn(struct importer *in, const char *path, struct err *err);
bool import_learn_log(struct importer *in, struct source *source, struct err *err);
bool import_learn_tape(struct importer *in, const char *path, struct err *err);
bool import_learn_side(struct importer *in, const char *path, struct err *err);
/* Rewrites a piece. When the checksum in its header was right, it becomes that of the new
 * payload. The piece's bytes are then in `storage`. */
bool import_redact(struct importer *in, struct log_piece *piece, struct buf *storage,
                   struct err *err);
bool import_digest(struct importer *in, struct str text, char hex[MD5_HEX], struct err *err);

/* Counts a damaged place; fails with ERR_INPUT when the options require strictness. */
bool importing_damage(struct importer *in, uint64_t line, uint64_t offset, const char *what,
                      struct err *err);
/* Starts a recording that will be named when it is complete. */
bool importing_begin(struct importer *in, uint32_t kind, const char *source, struct err *err);
/* Names the recording `wanted`, with "#2" and so on appended when that name is taken, and writes
 * its last row. */
bool importing_end(struct importer *in, struct str wanted, struct err *err);
bool importing_stopped(const struct importer *in);

#endif
