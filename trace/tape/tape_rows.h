/* Decodes the rows of each table lane. Private to the reader of tapes. */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_ROWS_H
#define SYMTAPE_TRACE_TAPE_TAPE_ROWS_H

#include "trace/tape/tape_read.h"

/* Reads the head of a block: its lane and its rows. Returns false for an unknown letter. */
bool tape_block_head(struct bytes *in, enum tape_lane *lane, uint64_t *first, uint64_t *count);

/* Adds the rows of one block. `in` must outlive the tape. It fails with ERR_INPUT when the block
 * is truncated (the rows before that are kept), or when memory ran out. */
bool tape_read_rows(struct tape *tape, enum tape_lane lane, uint64_t first, uint64_t count,
                    struct bytes *in, struct err *err);

#endif
