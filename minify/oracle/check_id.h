/* Identifies the files of an oracle for the journal: another script is another oracle. */
#ifndef SYMTAPE_MINIFY_ORACLE_CHECK_ID_H
#define SYMTAPE_MINIFY_ORACLE_CHECK_ID_H

#include "minify/oracle/oracle_check.h"
#include "minify/process/command_line.h"
#include "minify/program/program_setup.h"

/* Appends "check " and a hash of the words, of the options, and of the contents of files that words
 * name (the first word also by PATH). */
void check_id(const struct check_options *options, const struct command_line *command,
              struct buf *out);

/* Appends a hash of the contents of the files that programs import (--import). */
void imports_id(const struct program_setup *setup, struct buf *out);

#endif
