/* Prints places: user lines, stacks, attempts. */
#ifndef SYMTAPE_CMD_CLI_PLACE_H
#define SYMTAPE_CMD_CLI_PLACE_H

#include "trace/base/text/json_write.h"
#include "trace/open.h"

/* Writes {"file": "...", "line": 143, "function": "...", "code": "..."} for the innermost frame, or
 * null. */
void place_json(const struct trace *trace, uint32_t recording, stack_id stack,
                struct json_writer *w, const char *key);
/* Writes an array of such objects, outermost first. */
void place_stack_json(const struct trace *trace, uint32_t recording, stack_id stack,
                      struct json_writer *w, const char *key);
/* Prints one frame per line as Python does, outermost first, each line after `indent`. */
void place_stack(const struct trace *trace, uint32_t recording, stack_id stack, const char *indent,
                 struct buf *out);

/* Appends the name of an attempt, "0/1_0", or "@rank1:0/1_0" on a tape of several recordings. */
void place_attempt(const struct trace *trace, uint32_t attempt, struct buf *out);
/* Writes the members "recording", "compile" and "attempt" of a record; compile is null for
 * TRACE_NONE. */
void place_attempt_json(const struct trace *trace, uint32_t record, uint32_t attempt,
                        struct json_writer *w);

#endif
