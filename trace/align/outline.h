/* The outline of a trace: what it did, in the form in which two of them are compared.
 *
 *     struct outline *outline = outline_build(trace, NULL, &err);
 *     struct align *align = align_outlines(before, after, &err);       see trace/align/align.h
 *     outline_free(outline);
 *
 * Everything that may differ between equal runs is removed from the texts that are compared:
 *   names of symbols   a symbol is named by its source, an unbacked one by the user line that made
 *                      it and its ordinal on that line; operands of expressions whose order depends
 *                      on names are sorted again
 *   names of nodes     a node is its operator, its constant arguments and its meta; the others that
 *                      it uses are references by index
 *   numbers in texts   addresses and object ids are "#"
 *   line numbers       kept for reading; a line is compared by its function and code
 * The recorded texts are in `shown` and `name`, for reading.
 *
 * An outline is arrays of indices and numbers and one table of texts; it can be written as JSON and
 * read again (trace/align/outline_json.h), and then has no reference to a trace. Text 0 is "".
 * In place of its output node, an exported program has a node for each value that it returns: the
 * operator is "result" and the constant arguments are its path, "output['logits']".
 * Records that belong to no compile are collected in one of id "" of their recording. Of graphs
 * that PyTorch prints before and after its passes, the outline has the last one. */
#ifndef SYMTAPE_TRACE_ALIGN_OUTLINE_H
#define SYMTAPE_TRACE_ALIGN_OUTLINE_H

#include "trace/base/intern.h"
#include "trace/graphs.h"
#include "trace/open.h"

#define OUTLINE_NONE UINT32_MAX

enum outline_event_kind {
#define OUTLINE_EVENT(id, name, text, detail) OUTLINE_##id,
#include "trace/align/outline_events.def"
#undef OUTLINE_EVENT
    OUTLINE_EVENT_KINDS
};
const char *outline_event_kind_name(enum outline_event_kind kind);

/* A user line. All fields but `line` are texts. */
struct outline_line {
    uint32_t file, function, code;
    uint32_t line;
};

struct outline_event {
    uint32_t kind;                /* enum outline_event_kind */
    uint32_t asked_by;            /* enum guard_class of guards; else 0 */
    uint32_t text, shown, detail; /* texts */
    uint32_t line;                /* in lines, or OUTLINE_NONE */
    uint32_t record; /* in its trace; OUTLINE_NONE when read from JSON, or when there is none */
    int64_t ns;      /* its time (restarts, recompiles, caches, dispatches); -1: not recorded */
    uint64_t count;  /* 1 for everything but dispatches and uses of sizes */
};

/* What a node is; equal nodes share one form. All fields but `line` are texts. */
struct outline_form {
    uint32_t op;    /* "aten.mm.default", "placeholder", "get_attr", "output" */
    uint32_t args;  /* constant arguments, with % for each node */
    uint32_t meta;  /* the meta in the form that is compared */
    uint32_t shown; /* the meta as recorded */
    uint32_t line;  /* in lines, or OUTLINE_NONE */
    uint32_t is_call;
};

struct outline_node {
    uint32_t form;
    uint32_t name;              /* text; 0 when read from JSON */
    uint32_t first_ref, n_refs; /* in refs: indices of nodes of the same graph */
};

/* A graph, or the body of one of its higher-order operators. */
struct outline_graph {
    uint32_t attempt;
    uint32_t kind;  /* enum graph_kind */
    uint32_t name;  /* text: event or artifact name */
    uint32_t path;  /* text: "" or "/true_graph_0" below the graph */
    uint32_t index; /* ordinal among those of this name and path in its attempt */
    uint32_t first_node, n_nodes;
    uint32_t n_inputs, n_calls, n_outputs;
    uint32_t record; /* in its trace; OUTLINE_NONE when read from JSON */
};

struct outline_attempt {
    uint32_t compile, number;
    uint32_t status;                /* enum attempt_status */
    uint32_t first_event, n_events; /* in the recorded order */
    uint32_t first_graph, n_graphs;
};

struct outline_compile {
    uint32_t recording;
    uint32_t id;       /* text: "0/0"; "" for what belongs to no compile */
    uint32_t function; /* text: without the line in the name of a resumed function */
    uint32_t line;     /* line of the function, in lines, or OUTLINE_NONE */
    uint32_t first_attempt, n_attempts;
    int64_t ns; /* entire_frame_compile_time_s; -1: not recorded */
};

struct outline_recording {
    uint32_t name, torch_version; /* texts */
    int64_t rank;                 /* -1: not distributed */
    uint32_t is_pt2;
    uint32_t first_compile, n_compiles;
};

struct outline {
    struct intern texts;
    vec_of(struct outline_line)
    lines;
    vec_of(struct outline_recording)
    recordings;
    vec_of(struct outline_compile)
    compiles;
    vec_of(struct outline_attempt)
    attempts;
    vec_of(struct outline_event)
    events;
    vec_of(struct outline_graph)
    graphs;
    vec_of(struct outline_form)
    forms;
    vec_of(struct outline_node)
    nodes;
    vec_of(uint32_t)
    refs;
    uint32_t n_unreadable; /* number of graphs that could not be parsed */
};

struct selector;
/* Makes an outline of the part that `only` selects (NULL: all). Returns NULL with err set when
 * memory ran out or the tape could not be read. */
struct outline *outline_build(struct trace *trace, const struct selector *only, struct err *err);
void outline_free(struct outline *outline); /* NULL is allowed */

static inline struct str outline_text(const struct outline *outline, uint32_t text)
{
    return outline->texts.texts.v[text];
}

static inline const struct outline_form *outline_form_of(const struct outline *outline,
                                                         uint32_t node)
{
    return &outline->forms.v[outline->nodes.v[node].form];
}

#endif
