/* What a --check command is, for the journal: another script is another oracle. */
#ifndef SYMTAPE_MINIFY_CHECK_ID_H
#define SYMTAPE_MINIFY_CHECK_ID_H

#include "minify/command_line.h"
#include "minify/oracle_check.h"

/* Appended to out: "check " and a hash of the words, of the options, and of what those words hold
 * that name a file (the first also by PATH). */
void check_id(const struct check_options *options, const struct command_line *command,
              struct buf *out);

#endif
