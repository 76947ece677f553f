/* Aligns two traces: finds which compile, attempt, graph, node and event of one corresponds to
 * which of the other. trace/align/outline.h makes the outlines.
 *
 *     struct align *align = align_outlines(a, b, &err);
 *     for (size_t i = 0; i < align->attempts.n; i++) {
 *         const struct align_attempt *pair = &align->attempts.v[i];
 *         if (pair->a == ALIGN_NONE)
 *             ...                                            b's attempt is new
 *         for (uint32_t e = 0; e < pair->n_events; e++)
 *             if (align->events.v[pair->first_event + e].a == ALIGN_NONE) ...
 *     }
 *     align_free(align);
 *
 * The result does not depend on compile ids, the order of compiles, names of symbols and nodes,
 * line numbers or the folders of files. Pairs are found
 *
 *   recordings  by name, then in their order
 *   compiles    within those: by function and file, then by the contents of their graphs and
 * events; of other functions only if half of their contents is the same (it was renamed) attempts
 * the last ones, then the others by why they were discarded graphs      by name, then kind, then
 * "inference" with "forward" nodes       by operator, constant arguments, meta and line, in order
 * (trace/align/sequence.h); between those that match, by fewer of these: the pair is `changed` then
 *   events      by kind, text and line, in order; then the rest at any place
 *
 * A user line is the same if its file, function and code are. Files are the same if they have the
 * longest tail of their path in common, or else the most lines. A line whose code is on one side
 * only was edited: nodes and events on it match if everything else is equal.
 *
 * Pairs are in an order that agrees with both sides as far as possible; what only a has precedes
 * what only b has. An element without a partner is in a pair with ALIGN_NONE, and its parts are in
 * no pair. Outlines are borrowed and must outlive the align. */
#ifndef SYMTAPE_TRACE_ALIGN_ALIGN_H
#define SYMTAPE_TRACE_ALIGN_ALIGN_H

#include "trace/align/outline.h"

#define ALIGN_NONE UINT32_MAX

/* The differences within a pair. */
enum align_change {
    ALIGN_META = 1 << 0,   /* of a node: dtype, sizes, strides, device */
    ALIGN_ARGS = 1 << 1,   /* of a node: constant arguments */
    ALIGN_INPUTS = 1 << 2, /* of a node: uses a result that is another one's partner */
    ALIGN_LINE = 1 << 3, /* of a node or event: it belongs to another line, and both lines exist on
                            both sides */
    ALIGN_DETAIL = 1 << 4, /* of an event: its detail; of a graph: its kind */
    ALIGN_CLASS = 1 << 5,  /* of a guard: its asker's class */
    ALIGN_COUNT = 1 << 7,  /* of an event: its count */
    ALIGN_MOVED =
        1 << 6, /* equal, but at another place in the order, which alone is no difference */
};
#define ALIGN_DIFFERS \
    (ALIGN_META | ALIGN_ARGS | ALIGN_INPUTS | ALIGN_LINE | ALIGN_DETAIL | ALIGN_CLASS | ALIGN_COUNT)

/* Indices into the arrays of the two outlines. Those of nodes refer to the whole outline, too. */
struct align_pair {
    uint32_t a, b;
    uint32_t change; /* enum align_change */
};

struct align_compile {
    uint32_t a, b;
    uint32_t first_attempt, n_attempts; /* in align->attempts */
};

struct align_attempt {
    uint32_t a, b;
    uint32_t compile; /* in align->compiles */
    uint32_t first_graph, n_graphs, first_event, n_events;
};

struct align_graph {
    uint32_t a, b, change;
    uint32_t attempt; /* in align->attempts */
    uint32_t first_node, n_nodes;
    uint32_t n_differences; /* number of nodes that are on one side only, or changed */
};

struct align {
    const struct outline *a, *b;
    vec_of(struct align_pair)
    recordings;
    vec_of(struct align_compile)
    compiles;
    vec_of(struct align_attempt)
    attempts;
    vec_of(struct align_graph)
    graphs;
    vec_of(struct align_pair)
    nodes, events;
    /* Numbers of lines, the same on both sides: equal numbers are one line. */
    const uint32_t *line_a, *line_b;
    uint32_t n_lines;
    struct align_build *build; /* private */
};

/* Aligns two outlines. Returns NULL with err set when memory ran out. */
struct align *align_outlines(const struct outline *a, const struct outline *b, struct err *err);
void align_free(struct align *align); /* NULL is allowed */

#endif
