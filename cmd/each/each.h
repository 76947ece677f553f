/* Declarations that the files of `symtape each` and `symtape merge` share. */
#ifndef SYMTAPE_CMD_EACH_EACH_H
#define SYMTAPE_CMD_EACH_EACH_H

#include "cmd/cmd.h"

/* Returns the worse of two exit codes of tapes: the exit code of many. */
int each_worse(int a, int b);

/* Joins files of JSON lines that `symtape each` wrote: those of all tapes in the order of their
 * names. A line that is in several files is written once. Returns the exit code, that of the worst
 * tape; errors are printed. */
int merge_lines(struct cmd *cmd, const char *output, bool overwrite);

#endif
