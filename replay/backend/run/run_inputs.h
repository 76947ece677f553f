/* Values that a run starts from: inputs that were given or are random, constants. What no call
 * wrote stays where it is from one run to the next. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_INPUTS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_INPUTS_H

#include "replay/backend/run/run.h"

bool run_input(struct run *run, const struct step *step, uint32_t number, struct value *ret,
               struct err *err);
/* A constant's values are in no log: random. */
bool run_constant(struct run *run, const struct step *step, struct value *ret, struct err *err);
/* After a run: all memory is given back but that of inputs as they were. */
void run_keep_inputs(struct run *run);
void run_drop_inputs(struct run *run); /* what was kept and not asked for again */

#endif
