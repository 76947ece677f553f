/* Splits a command line into words as a shell would.
 *
 * It reads quotes ('...', "...") and backslashes, and ~/ before a word is the home folder; there
 * are no comments. Nothing else is expanded, and the line is a single command: an operator or
 * expansion outside quotes is refused, with the advice to write sh -c '...'. */
#ifndef SYMTAPE_MINIFY_PROCESS_COMMAND_LINE_H
#define SYMTAPE_MINIFY_PROCESS_COMMAND_LINE_H

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

struct command_line {
    vec_of(const char *)
    words;              /* NULL-terminated */
    struct arena arena; /* owns the words */
};

/* Returns false with ERR_USAGE for no word, an open quote, or more than one simple command. */
bool command_line_split(struct command_line *line, struct str text, const char *home,
                        struct err *err);
void command_line_release(struct command_line *line);

#endif
