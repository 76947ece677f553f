/* Floats of a restarted attempt that its Dynamo graph prints as constants.
 *
 * Dynamo reads a Python float as the item() of a tensor, whose symbol the graph's calls then get.
 * Where the first attempt needed its value, the restarted one begins with the symbol again, so that
 * its calls add the same guards, and replaces it by the value when the graph is done
 * (remove_tensorify_specialized_graphargs of torch/_dynamo/output_graph.py). So a constant is the
 * symbol that has its value, was created at the line of the call (or else in its function), and is
 * no input of the graph; of several, each belongs to one constant, in the order of their creation.
 */
#ifndef SYMTAPE_REPLAY_ATTEMPT_FLOAT_CONSTANTS_H
#define SYMTAPE_REPLAY_ATTEMPT_FLOAT_CONSTANTS_H

#include "replay/attempt/attempt.h"

struct float_constant {
    struct value *argument;
    sym_id printed;
};

struct float_constants {
    vec_of(struct float_constant)
    list;
    vec_of(sym_id)
    symbols; /* those that were found, in the order of their creation */
};

/* Puts the symbols into the arguments of the program's calls. False: out of memory. */
bool float_constants_symbolize(struct float_constants *constants, const struct attempt_load *load,
                               const struct replay_state *state, struct program *program);
/* Puts the constants back, after the walk, and adds the guards of symbols that no call needed. */
void float_constants_restore(struct float_constants *constants, struct shape_env *env);
void float_constants_release(struct float_constants *constants);

#endif
