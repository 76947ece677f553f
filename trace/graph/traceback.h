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

/* Takes the next frame from the front of *text, passing over whatever is not one. False at the end.
 * Only lines indented alike are one traceback; see traceback_section() for where one ends. */
bool traceback_next(struct str *text, struct traceback_frame *ret);

/* The user's traceback inside a text: what follows "User code traceback:", "User stack:", "User
 * Stack (most recent call last):" or "from user code:", up to the next line that is neither
 * indented nor empty. "" when there is none; the last one when there are several. */
struct str traceback_of_user(struct str text);

/* The innermost frame of a traceback; false when it has none. */
bool traceback_last(struct str text, struct traceback_frame *ret);

/* Takes one line from the front, without its newline. False at the end. */
bool text_next_line(struct str *text, struct str *line);

#endif
