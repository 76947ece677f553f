/* A record for reading: its metadata as plain JSON, its name, its time. */
#ifndef SYMTAPE_CMD_CLI_EVENT_TEXT_H
#define SYMTAPE_CMD_CLI_EVENT_TEXT_H

#include "trace/open.h"

enum stack_form {
    STACK_WHOLE,     /* arrays of frames, outermost first */
    STACK_INNERMOST, /* the innermost frame's object, or null */
    STACK_SHORT,     /* the string "models/bert.py:143" */
};

/* The metadata with the tape's references to stacks written out: valid JSON whatever the log held
 * (NaN and the infinities are null). False with err set when it cannot be read. */
bool record_meta_json(const struct trace *trace, uint32_t record, enum stack_form stacks,
                      struct buf *out, struct err *err);

/* What tells records of one event apart: an artifact's, dump's or archive member's own name; the
 * event's name for all others. Points into the trace. */
struct str record_label(const struct trace *trace, uint32_t record);

/* "07:34:58.618000" */
void record_time(const struct record *record, struct buf *out);

#endif
