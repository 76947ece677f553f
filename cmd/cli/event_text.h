/* Prints a record for people: its metadata as plain JSON, its name, its time. */
#ifndef SYMTAPE_CMD_CLI_EVENT_TEXT_H
#define SYMTAPE_CMD_CLI_EVENT_TEXT_H

#include "trace/open.h"

enum stack_form {
    STACK_WHOLE,     /* arrays of frames, outermost first */
    STACK_INNERMOST, /* the innermost frame's object, or null */
    STACK_SHORT,     /* the string "models/bert.py:143" */
};

/* Prints the metadata, with the tape's references to stacks written out, as JSON that is valid
 * whatever the log held (NaN and the infinities become null). Returns false with err set when the
 * metadata cannot be read. */
bool record_meta_json(const struct trace *trace, uint32_t record, enum stack_form stacks,
                      struct buf *out, struct err *err);

/* Returns the name that distinguishes records of one event: the name of an artifact, dump or
 * archive member; for all others, the event's name. It points into the trace. */
struct str record_label(const struct trace *trace, uint32_t record);

/* Prints the time as "07:34:58.618000". */
void record_time(const struct record *record, struct buf *out);

#endif
