/* Writing a tape: tables grow in memory, blocks leave as they fill.
 *
 *     struct tape_writer *tape = tape_create(sink, &err);
 *     uint32_t recording = tape_add_recording(tape, &row, &err);
 *     tape_add_record(tape, &record, &err) ...
 *     tape_update_recording(tape, &row, &err);      now complete
 *     tape_finish(tape, &err);
 *     tape_free(tape);
 *
 * Memory: the tables (strings, stacks, hashes of payloads) and one block a lane. After a failure
 * the writer stays failed and writes nothing more; what the sink got up to then is a readable tape.
 */
#ifndef SYMTAPE_TRACE_TAPE_TAPE_WRITE_H
#define SYMTAPE_TRACE_TAPE_TAPE_WRITE_H

#include "trace/tape/tape.h"

/* Receives the tape's bytes. */
struct tape_sink {
    bool (*write)(void *user, struct str bytes, struct err *err);
    void *user;
};

struct tape_writer;

struct tape_writer *tape_create(struct tape_sink sink, struct err *err);
void tape_free(struct tape_writer *tape);

/* Returns the tape's stack table, for readers of headers. */
struct stack_table *tape_writer_stacks(struct tape_writer *tape);

/* Adds a recording and sets row->index to its index. */
bool tape_add_recording(struct tape_writer *tape, struct tape_recording *row, struct err *err);
bool tape_update_recording(struct tape_writer *tape, const struct tape_recording *row,
                           struct err *err);
/* Adds a record; the lane says where the payload goes. */
bool tape_add_record(struct tape_writer *tape, const struct tape_record *record,
                     enum tape_lane lane, struct err *err);
/* Writes everything that is buffered, so that a tape of a process which is killed afterwards can
 * be read. */
bool tape_flush(struct tape_writer *tape, struct err *err);
/* Flushes, and writes the index and the seek table. */
bool tape_finish(struct tape_writer *tape, struct err *err);
uint64_t tape_written(const struct tape_writer *tape);

#endif
