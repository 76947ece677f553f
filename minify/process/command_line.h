/* A command line as one string: split into words as a shell would.
 *
 * Quotes ('...', "..."), backslashes, comments are none, and ~/ in front of a word is the home
 * folder. Nothing else is expanded and nothing but a single command can be said: an operator or
 * expansion outside quotes is refused, with the advice to write sh -c '...'. */
#ifndef SYMTAPE_MINIFY_PROCESS_COMMAND_LINE_H
#define SYMTAPE_MINIFY_PROCESS_COMMAND_LINE_H

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

struct command_line {
    vec_of(const char *)
    words;              /* NULL-terminated */
    struct arena arena; /* holds them */
};

/* False with ERR_USAGE: no word, an open quote, more than one simple command. */
bool command_line_split(struct command_line *line, struct str text, const char *home,
                        struct err *err);
void command_line_release(struct command_line *line);

#endif
