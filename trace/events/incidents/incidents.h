/* What went wrong or was done twice, as recorded: restarts, recompiles, graph breaks, failures.
 *
 *     struct incidents *incidents = incidents_read(trace, NULL, &err);
 *     for (uint32_t i = 0; i < incidents->n_breaks; i++) ...
 *     incidents_free(incidents);
 *
 * Texts are PyTorch's own, whole; `summary` is their one line for a table. Strings live as long as
 * the incidents. Counts that rest on a rule rather than on a record say so here. */
#ifndef SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENTS_H
#define SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENTS_H

#include "trace/events/chromium.h"
#include "trace/open.h"

/* An attempt that was discarded. No record says so: it is known because a later attempt of the
 * same compile exists (torch/_dynamo/convert_frame.py, the attempts of compile_frame). */
struct restart {
    uint32_t attempt;   /* the attempt that was discarded */
    uint32_t next;      /* the attempt that replaced it */
    struct str reason;  /* restart_reasons[] of the compile's metrics; "" when none was recorded */
    struct str summary; /* "TensorifyScalarRestartAnalysis", or the reason's first line */
    struct str meaning; /* description of that exception; "" for an unknown one */
    int64_t ns; /* duration of its compile_attempt_N phase, or the time to the next attempt's first
                   record */
    uint32_t n_records, n_graphs, n_symbols,
        n_guards; /* number of things that were discarded with it */
};

/* A compile of a frame that had been compiled before, and the guards that did not hold. */
struct recompile_reason {
    struct str compile; /* the compile whose guard failed: "0/0"; "" when not recorded */
    struct str guard;   /* "tensor 'x' size mismatch at index 1. expected 24, actual 30" */
    struct str file;    /* the user line in its stack or comment; "" when not recorded */
    uint32_t line;
    struct str code; /* of that line; "" */
    struct str text; /* the whole reason, with PyTorch's hints and the user's stack */
};
struct recompile {
    uint32_t record, attempt;               /* the attempt of the compile that became necessary */
    const struct recompile_reason *reasons; /* the newest compile first, as PyTorch tried them */
    uint32_t n_reasons;
    int64_t ns; /* time of all attempts of that compile; -1 when it never ended */
};

struct graph_break {
    uint32_t record, attempt;
    struct str reason;      /* the whole text, up to the tracebacks */
    struct str summary;     /* "Failed to trace builtin operator" */
    struct str explanation; /* "Dynamo does not know how to ..."; "" in old versions */
    struct str hint;        /* the first one; "" */
    struct str file, code;  /* the user line that broke the graph; code may be "" */
    uint32_t line;
    struct str function; /* of that line; "" when there was no traceback */
    int depth; /* number of calls between the compiled frame (0) and that line; -1 when not known */
    bool skipped; /* Dynamo gave up on the whole frame and ran it eagerly */
    /* Derived: a compile that starts later, inside the broken frame (its dynamo_start stack
     * extends the broken frame's callers), was caused by this break. The innermost, latest break
     * is taken. */
    const uint32_t *caused; /* last attempts of these compiles */
    uint32_t n_caused;
    uint32_t n_graphs; /* number of Dynamo's graphs of those, and of the broken frame's own last
                          attempt */
};

struct failure {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    struct str type;          /* "UserError" */
    struct str reason, summary;
    struct str cause; /* the exception that led to it: "ValueError: Cannot view ..."; "" if it is
                         not recorded */
    struct str traceback; /* the user's part of the traceback, for traceback_next(); "" */
    struct str text;      /* the exception as PyTorch logged it, with its whole traceback; "" */
    struct str file;      /* the user's frame; "" when not recorded */
    uint32_t line;
    struct str code; /* "" when not found */
    bool is_break; /* Dynamo gave up on the frame after a graph break, and the program continued */
    bool exported; /* torch.export(strict=True) or aot_compile() traced the compile, and no backend
                      failed */
};

struct incidents {
    const struct restart *restarts;
    uint32_t n_restarts;
    const struct recompile *recompiles;
    uint32_t n_recompiles;
    const struct graph_break *breaks;
    uint32_t n_breaks;
    const struct failure *failures;
    uint32_t n_failures;
};

/* Reads the incidents. `events` may be NULL (they are read then). The caller frees the result,
 * which is NULL with err set when memory ran out or the tape could not be read. */
struct incidents *incidents_read(struct trace *trace, const struct chromium_list *events,
                                 struct err *err);
/* Reads the failures and graph breaks only, in which `caused` and `n_graphs` are not set. */
struct incidents *incidents_read_failures(struct trace *trace, struct err *err);
void incidents_free(struct incidents *incidents); /* NULL is allowed */

#endif
