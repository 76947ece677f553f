/* A TAPE operand: its selector, and the trace that it names. */
#ifndef SYMTAPE_CMD_CLI_TAPE_ARG_H
#define SYMTAPE_CMD_CLI_TAPE_ARG_H

#include "cmd/cli/out.h"
#include "profile/report/failure_list.h"
#include "trace/open.h"
#include "trace/selector.h"

struct tape_arg {
    struct selector selector; /* points into the operand */
    struct trace *trace;
    struct failure_list failures; /* empty with TAPE_ARG_FAILURES */
};

enum tape_arg_flag {
    TAPE_ARG_STRICT = 1 << 0,   /* any damage is an error */
    TAPE_ARG_WHOLE = 1 << 1,    /* a selector that names more than a recording is refused */
    TAPE_ARG_RAW = 1 << 2,      /* bytes that are no record are accepted */
    TAPE_ARG_FAILURES = 1 << 3, /* the command itself reports failures, so they are not noted */
};

/* Opens the tape, and checks that the recording, compile and attempt named exist. Damage and
 * recorded failures of compiles are summarised on the notes stream. `flags` are of enum
 * tape_arg_flag. Returns the exit code; errors are printed. */
int tape_arg_open(struct tape_arg *arg, struct out *out, const char *operand, unsigned flags);
void tape_arg_close(struct tape_arg *arg); /* also required after tape_arg_open() failed */

/* Returns whether a trace has a record: a file without one is no log, whatever its name is. */
bool tape_has_records(const struct trace *trace);

/* Returns whether a path ends as that of a Python program. If such a file is no recording,
 * tape_program_error() sets the error that says how to record it, and returns false. */
bool tape_is_program(const char *path);
bool tape_program_error(const char *path, struct err *err);
/* Parses an operand. If it cannot be parsed, the error says what may be meant: a kind alone,
 * perhaps misspelt, lacks its compile. */
bool tape_selector_parse(struct selector *selector, const char *operand, struct err *err);
/* Returns whether a graph may be of the selector's kind; otherwise false with err set, if another
 * name is near. A kind that is merely absent is reported with the graphs that there are, by
 * selector_graph(). */
bool tape_check_kind(struct trace *trace, const struct selector *selector, struct err *err);

/* Reads the programs of .pt2 archives before anything is done with a tape. Returns false with err
 * set if the tape contains only damaged programs; if others are intact, each command reports a
 * damaged one when it meets it. Replaced names are noted. tape_arg_open() calls this. */
bool tape_check_programs(struct trace *trace, struct out *out, struct err *err);

#endif
