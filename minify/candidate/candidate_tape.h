/* Packs a candidate as a tape, as `symtape import` would pack its log (candidate_print_log). Equal
 * candidates give equal bytes. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_TAPE_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_TAPE_H

#include "minify/candidate/candidate.h"

/* Appends the bytes of the tape to `tape`. */
bool candidate_tape(const struct candidate *candidate, struct buf *tape, struct err *err);

/* Appends the tape of a log (candidate_log.h), whose recording gets that name. */
bool log_tape(const char *name, struct str log, struct buf *tape, struct err *err);

/* Writes a file atomically (trace/base/file/output.h). */
bool file_write(const char *path, struct str bytes, struct err *err);

#endif
