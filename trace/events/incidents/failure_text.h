/* Parses the messages of exceptions that ended a compile.
 *
 * They are meant for people and change between versions; a part that is not found is "". All parts
 * point into the text that was given. Sources: torch/_dynamo/exc.py (format_graph_break_message),
 * torch/_dynamo/utils.py (get_fake_value), torch/fx/experimental/symbolic_shapes.py
 * (_make_data_dependent_error, produce_guards_verbose). */
#ifndef SYMTAPE_TRACE_EVENTS_INCIDENTS_FAILURE_TEXT_H
#define SYMTAPE_TRACE_EVENTS_INCIDENTS_FAILURE_TEXT_H

#include "trace/base/str.h"

enum { FAILURE_HINTS = 4 };

struct failure_text {
    struct str summary;              /* the first line: "Failed to trace builtin operator" */
    struct str explanation;          /* "Dynamo does not know how to ..." */
    struct str hints[FAILURE_HINTS]; /* that say what to change; those of every message are left
                                        out */
    size_t n_hints;
    /* A call that failed on fake tensors: "view", "audio.normalize"; and what it raised. */
    struct str call;
    struct str exception, message; /* "ValueError", "Cannot view a tensor ..." */
};
struct failure_text failure_text_parse(struct str text);

/* A violated constraint: one of the items "  - You marked ..." and "  - Not all values of ..." of
 * ConstraintViolationError. */
struct violation_text {
    struct str name;   /* the Dim's: "length"; the source if it has none */
    struct str source; /* "L['x'].size()[1]" */
    struct str range;  /* "8 <= length <= 64"; "" for a Dim without bounds and for mark_dynamic */
    struct str value;  /* the constant that the size became: "24"; "" */
    struct str guard;  /* "L['x'].size()[1] % 4 == 0"; "" */
    struct str equal;  /* what it was found to be equal to: "2*L['y'].size()[0]"; "" */
};
/* Reads the next item of a message and removes it from *text; false at the end. */
bool violation_text_next(struct str *text, struct violation_text *ret);

#endif
