/* Parses the texts that PyTorch writes about graph breaks, recompiles, restarts and errors.
 *
 * They are meant for people and change between versions; a part that is not found is "" and the
 * whole text is kept beside it. All parts point into the text that was given. Sources:
 * torch/_dynamo/symbolic_convert.py (log_graph_break), torch/_dynamo/exc.py (unimplemented,
 * format_error_msg), torch/_dynamo/guards.py (get_guard_fail_reason). */
#ifndef SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENT_TEXT_H
#define SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENT_TEXT_H

#include "trace/graph/traceback.h"

/* The payload of a dynamo_graph_break_reason artifact. */
struct break_text {
    struct str file; /* "Graph break in user code at FILE:LINE" */
    uint32_t line;
    struct str reason;      /* from there to the traceback */
    struct str summary;     /* "Failed to trace builtin operator" */
    struct str explanation; /* "Dynamo does not know how to ..." */
    struct str hint;
    struct str traceback; /* the user's; traceback_next() reads its frames */
    bool skipped;         /* the whole frame runs eagerly */
};
struct break_text break_text_parse(struct str text);

/* One of a recompile's reasons: `0/0: tensor 'x' size mismatch  # code  # file.py:86 in hook`. */
struct recompile_text {
    struct str compile; /* "0/0" */
    struct str guard;   /* the guard alone */
    struct str file;    /* file of the line where the guarded value was used; in a comment PyTorch
                           cuts it at the front */
    uint32_t line;
    struct str code;
};
struct recompile_text recompile_text_parse(struct str text);

/* Returns "TensorifyScalarRestartAnalysis" for "<class
 * 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>"; for other texts the first line that is
 * not empty. */
struct str restart_summary(struct str reason);
/* Describes a restart's exception in words; "" for an unknown one. */
struct str restart_meaning(struct str summary);

/* Returns the first line that is not empty, trimmed. */
struct str text_summary(struct str text);

/* Returns the innermost frame of a traceback that is not PyTorch's own, or the outermost one if all
 * are; false when it has none. */
bool traceback_program_frame(struct str text, struct traceback_frame *ret);

/* Returns the exception that caused a failure: the first of a chain in a printed traceback (*type
 * is "ValueError", *message its text), or the one in "got ValueError('...')" of the message.
 * Returns false when neither is there. */
bool exception_cause(struct str text, struct str *type, struct str *message);

/* Parses the exception at the end of a printed Python traceback: "UserError" and its message
 * (all lines, to the end). Returns false when there is none. */
bool exception_parse(struct str text, struct str *type, struct str *message);

#endif
