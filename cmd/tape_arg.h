/* A TAPE operand: the selector that it is, and the trace behind it. */
#ifndef SYMTAPE_CMD_TAPE_ARG_H
#define SYMTAPE_CMD_TAPE_ARG_H

#include "cmd/out.h"
#include "trace/selector.h"
#include "trace/trace.h"

struct tape_arg {
    struct selector selector; /* points into the operand */
    struct trace *trace;
};

enum tape_arg_flag {
    TAPE_ARG_STRICT = 1 << 0, /* any damage is an error */
    TAPE_ARG_WHOLE = 1 << 1,  /* a selector that names more than a recording is refused */
    TAPE_ARG_RAW = 1 << 2,    /* bytes that are no record are good enough */
};

/* Opens it, and checks that the recording, compile and attempt named exist. Damage is summarised on
 * the notes stream. `flags` are of enum tape_arg_flag. Returns the exit code; errors are printed. */
int tape_arg_open(struct tape_arg *arg, struct out *out, const char *operand, unsigned flags);
void tape_arg_close(struct tape_arg *arg); /* also after a failed open */

#endif
