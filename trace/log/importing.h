/* Inside the importer: what its parts share. */
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

struct importing {
    const struct import_options *options;
    struct import_result *result;
    struct tape_writer *tape;
    struct envelope_reader envelope;
    struct md5 md5;
    struct redact redact;            /* used when options->redact */
    bool redacting;                  /* it is there */
    struct intern names;             /* of the recordings so far: they are unique */
    struct tape_recording recording; /* the current one */
    struct arena arena;              /* its texts */
    int64_t rank;                    /* of the current recording; -1 while unknown */
    struct spaces spaces;            /* of the current recording */
    vec_of(uint64_t)
    pids;              /* of the current recording's records */
    uint64_t lines;    /* of the current recording so far */
    bool unterminated; /* its last line has no end */
    vec_of(struct import_side)
    sides;
    struct buf payload, header, context, scratch;
};

/* Side files of deep recordings (trace/log/deep/deep_file.h) that are still to go with a log. */
struct import_side {
    const char *path;
    struct str log; /* base name of its log; "" when it does not know */
    uint64_t pid;
    bool used;
};

/* Makes one ready; its text is not kept. False when memory ran out: what cannot be read is told as
 * damage when its turn comes. */
bool import_side_add(struct importing *in, const char *path, struct err *err);
/* Appends to the current recording the records of those that belong to its log. */
bool import_sides_of_log(struct importing *in, struct err *err);
/* Imports the side files for which no log was found, each as a recording. */
bool import_sides_left(struct importing *in, struct err *err);

/* Imports one log that is already open; adds its recording and completes it. */
bool import_log(struct importing *in, struct source *source, struct err *err);
/* Its two halves: all records; the recording's name and last row. */
bool import_log_begin(struct importing *in, struct source *source, struct err *err);
bool import_log_end(struct importing *in, struct err *err);
/* Records from a text of TORCH_TRACE's form, behind those of the current recording. */
bool import_text(struct importing *in, struct str text, struct err *err);
/* Imports one .pt2 archive, which is read from its path. */
bool import_pt2(struct importing *in, const struct source *source, struct err *err);
struct str import_archive_name(const struct importing *in);
/* Imports one tape, which must be redacted. */
bool import_tape(struct importing *in, const struct source *source, struct err *err);

/* Learns the secret names that a log contains; input that cannot be read twice is skipped. */
bool import_learn(struct importing *in, const char *path, struct err *err);
bool import_learn_log(struct importing *in, struct source *source, struct err *err);
bool import_learn_tape(struct importing *in, const char *path, struct err *err);
bool import_learn_side(struct importing *in, const char *path, struct err *err);
/* Rewrites a piece; the checksum in its header follows its payload where it was right. The piece's
 * bytes are then in `storage`. */
bool import_redact(struct importing *in, struct log_piece *piece, struct buf *storage,
                   struct err *err);
bool import_digest(struct importing *in, struct str text, char hex[MD5_HEX], struct err *err);

/* Counts a damaged place; fails with ERR_INPUT when the options require strictness. */
bool importing_damage(struct importing *in, uint64_t line, uint64_t offset, const char *what,
                      struct err *err);
/* Starts a recording that will be named when it is complete. */
bool importing_begin(struct importing *in, uint32_t kind, const char *source, struct err *err);
/* Names it `wanted`, with "#2" and so on behind when that is taken, and writes its last row. */
bool importing_end(struct importing *in, struct str wanted, struct err *err);
bool importing_stopped(const struct importing *in);

#endif
