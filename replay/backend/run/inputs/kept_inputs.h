/* Random inputs whose sizes are numbers, such as weights, that stay in a backend's memory after a
 * run, for runs of the same graph with other values of its symbols: making them anew for each would
 * take longer than the run.
 *
 * run_options.kept names the owner, which calls kept_inputs_of() before run_new(). A run takes
 * memory out of it, and run_free() puts back what no call wrote. Values depend on the graph, the
 * node, the seed and what operators need of them, so those that are kept have the bits that would
 * be made. The memory belongs to this struct between runs; the backend must outlive it. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_KEPT_INPUTS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_KEPT_INPUTS_H

#include "replay/backend/call/storages.h"
#include "replay/backend/run/inputs/input_needs.h"

/* The input of one node. */
struct kept_input {
    struct memory memory; /* p NULL: none */
    struct input_need need;
    uint64_t seed;
};

struct kept_inputs {
    struct backend *backend;
    uint32_t graph; /* a number that the owner gives the graph */
    uint64_t bytes; /* of all of them */
    vec_of(struct kept_input)
    by_node;
};

/* Frees what belongs to another backend or graph. */
void kept_inputs_of(struct kept_inputs *kept, struct backend *backend, uint32_t graph);
void kept_inputs_release(struct kept_inputs *kept);

/* Takes the memory of a node's input out of it. .p NULL: there is none with such values. */
struct memory kept_inputs_take(struct kept_inputs *kept, node_id node, struct input_need need,
                               uint64_t seed);
/* Takes the memory over; it is freed if there is no memory to note it. */
void kept_inputs_put(struct kept_inputs *kept, node_id node, struct kept_input input);

#endif
