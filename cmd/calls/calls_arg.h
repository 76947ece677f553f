/* The calls of a program: a file that --calls names, or what the tape has of them. */
#ifndef SYMTAPE_CMD_CALLS_CALLS_ARG_H
#define SYMTAPE_CMD_CALLS_CALLS_ARG_H

#include "cmd/cli/tape_arg.h"
#include "profile/calls/values/call_log.h"

/* Returns the recording that the operand names, or the first log. */
uint32_t calls_recording(const struct tape_arg *tape);
/* Reads the calls of `path`, "-" for standard input, or, where it is NULL, those that
 * `symtape record --calls` noted. Returns false with err set; a list without calls is an error. */
bool calls_arg_read(struct out *out, const char *path, const struct tape_arg *tape,
                    struct call_log *log, struct err *err);

#endif
