/* Identifies a --check command for the journal: another script is another oracle. */
#ifndef SYMTAPE_MINIFY_ORACLE_CHECK_ID_H
#define SYMTAPE_MINIFY_ORACLE_CHECK_ID_H

#include "minify/oracle/oracle_check.h"
#include "minify/process/command_line.h"

/* Appends "check " and a hash of the words, of the options, and of the contents of files that words
 * name (the first word also by PATH). */
void check_id(const struct check_options *options, const struct command_line *command,
              struct buf *out);

#endif
