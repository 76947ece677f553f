/* Inputs of a graph that are given: the user's inputs, by their number, from a .safetensors file;
 * parameters and buffers of an exported program, by their name, from its archive; what other graphs
 * of the compile computed (graph_schedule.h). The other inputs stay random
 * (replay/backend/run/run.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_GIVEN_INPUTS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_GIVEN_INPUTS_H

#include "replay/backend/run/graph_schedule.h"
#include "replay/backend/values/safetensors.h"
#include "replay/backend/values/weights.h"
#include "trace/graph/graph.h"

/* All members are borrowed. */
struct given_inputs {
    const struct graph *graph;
    const struct safetensors *file;  /* NULL: no file */
    const char *path, *prefix;       /* of the file; input 0 is "in.0" if the prefix is "in." */
    struct weights *weights;         /* NULL: the archive is not available */
    struct graph_schedule *schedule; /* the graph is stage `stage` of it; NULL */
    uint32_t stage;
};

/* For run_options.input: sets *ret to the values of input i. ERR_INPUT: the file has no values for
 * a tensor, or values of another dtype or rank than the graph's. */
bool given_input(const struct given_inputs *given, uint32_t i, const struct node *node,
                 struct array *ret, struct err *err);
/* ERR_INPUT: the file contains an input whose number is too large for the graph. */
bool given_inputs_check(const struct given_inputs *given, struct err *err);
/* Returns the number of parameters, buffers and constants of an exported program whose values are
 * not available. */
uint32_t given_inputs_missing(const struct given_inputs *given);

#endif
