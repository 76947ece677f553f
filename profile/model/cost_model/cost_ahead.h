/* What it is estimated to take to compile a Dynamo graph, before that is done: Dynamo, AOTAutograd
 * without gradients, and the guards, by the cost model with the units that symtape ships. What the
 * first compile of a process takes once is not part of it.
 *
 *     struct cost_ahead ahead;
 *     if (cost_ahead_make(&ahead, tape, 213, &err)) look(ahead.ns);
 *     cost_ahead_release(&ahead); */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H

#include "profile/model/cost_model/cost_model.h"
#include "trace/base/arena.h"
#include "trace/base/str.h"
#include "trace/base/vec.h"

struct trace;

/* The length of the guards that calls of an operator add, beyond what each has for nothing. */
struct cost_ahead_guards {
    struct str op; /* "aten.add.Tensor"; "" of no call */
    uint64_t long_characters;
};

struct cost_ahead {
    int64_t ns;
    struct cost_shares shares; /* whose sum it is */
    int release;               /* whose units these are: 213 is PyTorch 2.13 */
    vec_of(struct cost_ahead_guards)
    guards;
    struct arena arena;
};

/* `trace` has the graph alone, and is compiled with `release`. Returns false when out of memory, or
 * when the trace cannot be read. */
bool cost_ahead_make(struct cost_ahead *ret, struct trace *trace, int release, struct err *err);
void cost_ahead_release(struct cost_ahead *ahead); /* accepts a zeroed one */

#endif
