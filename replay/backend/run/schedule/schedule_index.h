/* Indexes of the graphs of a schedule (replay/backend/run/graph_schedule.h): which values the calls
 * of the split graph take, and the outputs of a graph by their numbers and by their names. They are
 * made once, since graphs may have many calls, arguments and outputs. All memory is that of the
 * arena that is given. Private to graph_schedule.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_SCHEDULE_SCHEDULE_INDEX_H
#define SYMTAPE_REPLAY_BACKEND_RUN_SCHEDULE_SCHEDULE_INDEX_H

#include "trace/base/arena.h"
#include "trace/graph/graph.h"

/* Reads the number that follows `prefix` in a descriptor: "PlainAOTInput(idx=2)". */
bool descriptor_number(struct str descriptor, struct str prefix, uint32_t *ret);

/* Where the value of a node of the split graph comes from: output `output` of part `part`, or, if
 * that is UINT32_MAX, input `input` of the split graph, or NODE_NONE. */
struct schedule_source {
    uint32_t part, output;
    node_id input;
    bool item; /* `output` was read from the graph */
};

/* Argument `argument` of the call of part `user` is output `output` of part `part`. */
struct schedule_use {
    uint32_t part, output, user, argument;
};

/* The inputs and the calls of an outer graph. */
struct schedule_calls {
    const struct graph *outer;       /* NULL: none was given */
    node_id *inputs, *calls;         /* in their order */
    uint32_t n_inputs, n_calls;      /* n_calls: parts */
    struct schedule_source *sources; /* by node */
    struct schedule_use *uses;       /* by part, output, user in descending order, and argument */
    size_t n_uses;
};
/* outer: NULL for no calls. False: out of memory. */
bool schedule_calls_init(struct schedule_calls *c, const struct graph *outer, struct arena *arena);
/* Returns the source of an argument of a part's call; input NODE_NONE: none. */
struct schedule_source schedule_calls_source(const struct schedule_calls *c, uint32_t part,
                                             uint32_t argument);
/* Returns the first use of an output and sets *n to how many there are. */
const struct schedule_use *schedule_calls_uses(const struct schedule_calls *c, uint32_t part,
                                               uint32_t output, size_t *n);

/* An output of a graph. */
struct schedule_output {
    uint32_t number, place;
    node_id node; /* NODE_NONE: it is no node */
};
struct schedule_outputs {
    struct schedule_output *by_number;
    struct str *names; /* sorted */
    uint32_t n, n_names;
};
/* The number of an output is that of its descriptor, prefix + number + ")"; outputs with other
 * descriptors have none. If the graph has no descriptors, it is the place. graph: NULL for no
 * outputs. False: out of memory. */
bool schedule_outputs_init(struct schedule_outputs *o, const struct graph *graph, struct str prefix,
                           struct arena *arena);
/* Returns the node of the first output of that number, or NODE_NONE. */
node_id schedule_outputs_find(const struct schedule_outputs *o, uint32_t number);
bool schedule_outputs_have(const struct schedule_outputs *o, struct str name);

#endif
