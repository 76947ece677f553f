/* Inside the tape's reader: the rows of each table lane, decoded. */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_ROWS_H
#define SYMTAPE_TRACE_TAPE_TAPE_ROWS_H

#include "trace/tape/tape_read.h"

/* The head of a block: which lane, which rows. False when the letter is not known. */
bool tape_block_head(struct bytes *in, enum tape_lane *lane, uint64_t *first, uint64_t *count);

/* Adds the rows of one block. `in` must outlive the tape. False with err set: ERR_INPUT when the
 * block breaks off (what came before it is kept), or memory. */
bool tape_read_rows(struct tape *tape, enum tape_lane lane, uint64_t first, uint64_t count,
                    struct bytes *in, struct err *err);

#endif
