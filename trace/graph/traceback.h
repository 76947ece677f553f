/* Tracebacks as Python prints them, inside the texts of errors and graph breaks:
 *
 *     User code traceback:
 *       File "model.py", line 34, in forward
 *         if i == 5: x = s.hook(x, *more)
 *       File "model.py", line 129, in hook
 *         print("step", x.shape[1])
 */
#ifndef SYMTAPE_TRACE_GRAPH_TRACEBACK_H
#define SYMTAPE_TRACE_GRAPH_TRACEBACK_H

#include "trace/base/str.h"

struct traceback_frame {
    struct str file, function, code; /* code is "" when the source was not found */
    uint32_t line;
};

/* Reads the next frame from the front of *text and skips lines that are none. Returns false at
 * the end. Only lines with the same indentation are one traceback; see traceback_section() for
 * where one ends. */
bool traceback_next(struct str *text, struct traceback_frame *ret);

/* Returns the user's traceback inside a text: what follows "User code traceback:", "User
 * stack:", "User Stack (most recent call last):" or "from user code:", up to the next line that
 * is neither indented nor empty. It is "" when there is none, and the last one when there are
 * several. */
struct str traceback_of_user(struct str text);

/* Returns the innermost frame of a traceback in *ret; false when it has none. */
bool traceback_last(struct str text, struct traceback_frame *ret);

/* Reads one line from the front, without its newline. Returns false at the end. */
bool text_next_line(struct str *text, struct str *line);

#endif
