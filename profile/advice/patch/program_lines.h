/* The lines of a program, changes to them, and the unified diff that these are. */
#ifndef SYMTAPE_PROFILE_ADVICE_PATCH_PROGRAM_LINES_H
#define SYMTAPE_PROFILE_ADVICE_PATCH_PROGRAM_LINES_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/vec.h"

struct program_line {
    struct str text;  /* without its end */
    struct str ended; /* "\n", "\r\n", or "" at the end of the program */
    struct str with;  /* what it becomes, if `changed` */
    bool changed;
    struct str after; /* lines to insert behind it, each with its end; "" */
};

struct program_lines {
    vec_of(struct program_line)
    v;
    struct arena arena; /* holds what is new */
};

/* Returns false when memory ran out. The text is borrowed. */
bool program_lines_read(struct program_lines *lines, struct str text);
bool program_lines_change(struct program_lines *lines, size_t line, struct str with);
/* Inserts a line behind another one, and behind those that were inserted there. */
bool program_lines_insert(struct program_lines *lines, size_t after, struct str text);
/* Returns whether a statement can begin at a line: no bracket or string is open before it, and no
 * backslash continues the line before. */
bool program_lines_begin_statement(const struct program_lines *lines, size_t line);
void program_lines_release(struct program_lines *lines);

/* Appends the unified diff; nothing if no line was changed. */
void program_lines_diff(const struct program_lines *lines, struct str path, struct buf *out);

#endif
