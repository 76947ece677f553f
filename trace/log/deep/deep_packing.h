/* Inside the packing of a deep recording: what its parts share. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_PACKING_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_PACKING_H

#include "trace/base/md5.h"
#include "trace/base/text/json_write.h"
#include "trace/log/deep/deep_file.h"

struct packing {
    struct deep_file *file;
    struct buf *out;       /* the log */
    struct buf meta, rows; /* of the record that is being written */
    struct md5 md5;
    bool failed;   /* memory ran out, or: */
    bool too_long; /* the text came out longer than any that a recorder causes */
    size_t limit;
    /* Stacks that the rows so far name: number of the content -> number in the payload. */
    vec_of(uint32_t)
    local; /* + 1 */
    vec_of(uint32_t)
    shown;
};

/* Starts a record: its metadata is then written to pack->meta, its payload to pack->rows. */
void packing_begin(struct packing *pack);
/* Writes it to the log: one of the context at `ns` since the start. */
void packing_end(struct packing *pack, const char *event, uint64_t context, uint64_t ns);

/* A row of the payload: between these, write its fields. */
struct json_writer packing_row(struct packing *pack);
void packing_row_end(struct packing *pack, struct json_writer *row);
/* Ends the packing when the text has become too long; rows ask it by themselves. */
void packing_check(struct packing *pack);
/* The number of a stack in this payload, written in front of the row if it is new; -1 for none.
 * To be called before packing_row(). */
int64_t packing_stack(struct packing *pack, uint64_t stack);
/* A text or null when it is "". */
void packing_text(struct json_writer *row, const char *key, struct str text);
void packing_frame(struct json_writer *row, const char *key, const struct deep_file_frame *frame);

/* One a file: */
void pack_dispatches(struct packing *pack); /* deep_rows.c */
void pack_costs(struct packing *pack);
void pack_uses(struct packing *pack);
void pack_memory(struct packing *pack);
void pack_envs(struct packing *pack);   /* deep_envs.c */
void pack_graphs(struct packing *pack); /* deep_graphs.c */

#endif
