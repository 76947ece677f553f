/* The guards that a compiled function checks at each call, as recorded: the payload of
 * dynamo_cpp_guards_str (torch/_dynamo/guards.py), a tree printed as text.
 *
 *     | +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor(...), ...
 *     | | +- EQUALS_MATCH: L['n'] == 2      # return x * n  # train.py:64 in f
 *     +- LAMBDA_GUARD: L['y'].size()[0] == L['x'].size()[1]  # duck sizing added this equality ...
 *
 * Texts point into the payload. */
#ifndef SYMTAPE_TRACE_EVENTS_GUARD_TREE_H
#define SYMTAPE_TRACE_EVENTS_GUARD_TREE_H

#include "trace/open.h"

struct tree_guard {
    uint32_t depth;     /* number of branches before it; 0 is the outermost level */
    struct str kind;    /* "LAMBDA_GUARD"; "GuardManager" for a line that only names a source */
    struct str source;  /* of a GuardManager: "L['n']"; else "" */
    struct str text;    /* all that follows the kind */
    struct str code;    /* "L['n'] == 2" */
    struct str comment; /* "return x * n  # train.py:64 in f", or why PyTorch added it; "" */
};

/* Reads the next line of a tree and advances *text past it; returns false at the end. Lines that
 * are not a guard are skipped. */
bool guard_tree_next(struct str *text, struct tree_guard *ret);

/* Copies the tree of an attempt, or "" if it has none (a compile that failed or was restarted)
 * or one that is damaged.
 * Returns false with err set when memory ran out or the tape could not be read. */
bool guard_tree_read(struct trace *trace, uint32_t attempt, struct arena *arena, struct str *ret,
                     struct err *err);

/* The part of a comment that is a place: "return x * n  # train.py:64 in f". */
struct tree_place {
    struct str code, file, function; /* "" where they are not recorded */
    uint32_t line;
};
struct tree_place guard_tree_place(struct str comment);

#endif
