/* Declarations that the files which pack a deep recording share. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_PACKING_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_PACKING_H

#include "trace/base/md5.h"
#include "trace/base/text/json_write.h"
#include "trace/log/deep/deep_file.h"

struct deep_packer {
    struct deep_file *file;
    struct buf *out;       /* the log */
    struct buf meta, rows; /* of the current record */
    struct md5 md5;
    bool failed;   /* memory ran out, or: */
    bool too_long; /* the text became longer than a recorder's events can make it */
    size_t limit;
    /* The stacks that the rows so far refer to: number of the content -> number in the payload +
     * 1. */
    vec_of(uint32_t)
    local; /* 0: not yet */
    vec_of(uint32_t)
    shown;
};

/* Starts a record: the caller writes its metadata to pack->meta and its payload to pack->rows. */
void packing_begin(struct deep_packer *pack);
/* Writes the record to the log, with the context and the time `ns` since the start. */
void packing_end(struct deep_packer *pack, const char *event, uint64_t context, uint64_t ns);

/* Starts a row of the payload; the caller writes the row's fields. */
struct json_writer packing_row(struct deep_packer *pack);
void packing_row_end(struct deep_packer *pack, struct json_writer *row);
/* Ends the packing when the text has become too long; rows call it themselves. */
void packing_check(struct deep_packer *pack);
/* Returns the number of a stack in this payload; -1 for none. A new stack is written before the
 * row, so this must be called before packing_row(). */
int64_t packing_stack(struct deep_packer *pack, uint64_t stack);
/* Writes a text, or null when it is "". */
void packing_text(struct json_writer *row, const char *key, struct str text);
void packing_frame(struct json_writer *row, const char *key, const struct deep_file_frame *frame);

/* Each of these is defined in a file of its own: */
void pack_dispatches(struct deep_packer *pack); /* deep_rows.c */
void pack_costs(struct deep_packer *pack);
void pack_uses(struct deep_packer *pack);
void pack_memory(struct deep_packer *pack);
void pack_envs(struct deep_packer *pack);   /* deep_envs.c */
void pack_graphs(struct deep_packer *pack); /* deep_graphs.c */

#endif
