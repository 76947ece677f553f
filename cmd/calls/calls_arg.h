/* What the commands about a program's calls share: the calls as an argument (those of --calls FILE,
 * or those on the tape), how many rows are printed, and printing. */
#ifndef SYMTAPE_CMD_CALLS_CALLS_ARG_H
#define SYMTAPE_CMD_CALLS_CALLS_ARG_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/calls/values/call_log.h"
#include "profile/report/report.h"

#define OPT_CALLS(type, field)                                                          \
    OPT_STRING('c', "calls", "FILE", type, field,                                       \
               "the calls of the program, one JSON object a line; - is standard input " \
               "(default: those on the tape, which symtape record --calls notes)")
#define OPT_ROWS(type, field)                  \
    OPT_NUMBER('n', "limit", "N", type, field, \
               "print at most N rows of each list (default 40, 0: all)")

/* Returns how a command's text is written; `rows` is the value of OPT_ROWS. */
struct report_options calls_report_options(const struct cmd *cmd, struct opt_number rows);

/* Prints a report folded to the terminal, then what is for other programs as it is (either can be
 * empty), and releases both. Returns the exit status. */
int calls_print(struct cmd *cmd, struct buf *report, struct buf *exact);

/* Opens the tapes of a command that takes one or two of them, and runs the function for that many.
 * Returns the exit code. */
int calls_run(struct cmd *cmd, bool strict, int (*one)(struct cmd *cmd, struct tape_arg *tape),
              int (*two)(struct cmd *cmd, struct tape_arg *tapes));

/* Returns the recording that the operand names, or the first log. */
uint32_t calls_arg_recording(const struct tape_arg *tape);

/* Reads the calls of a file ("-": standard input). Returns false with err set. */
bool calls_arg_read(struct out *out, const char *path, struct call_log *log, struct err *err);
/* Reads the calls that `symtape record --calls` noted. A recording without calls is no error: the
 * log stays empty. A note says how many could not be read. */
bool calls_arg_recorded(struct out *out, struct trace *trace, uint32_t recording,
                        struct call_log *log, struct err *err);
/* Sets the error that says how to get calls, and returns false. */
bool calls_arg_missing(const struct trace *trace, struct err *err);
/* Reads the calls of a file, or, where path is NULL, those of a recording, in which a lack of calls
 * is that error. */
bool calls_arg_required(struct out *out, const char *path, const struct tape_arg *tape,
                        struct call_log *log, struct err *err);

#endif
