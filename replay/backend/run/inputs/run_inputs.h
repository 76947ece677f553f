/* The values that a run starts from: constants, and inputs that are given or random. Those that no
 * call wrote stay in memory from one run to the next. Private to ../run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_RUN_INPUTS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_RUN_INPUTS_H

#include "replay/backend/run/run.h"

/* Finds what the graph's operators need of random values (input_needs.h). */
bool run_find_needs(struct run *run, struct err *err);
bool run_input(struct run *run, const struct step *step, uint32_t number, struct value *ret,
               struct err *err);
/* Logs contain no values of constants: they are random. */
bool run_constant(struct run *run, const struct step *step, struct value *ret, struct err *err);
/* After a run: frees all memory except that of inputs that were not changed. */
void run_keep_inputs(struct run *run);
/* After a capture: returns whether the inputs that its calls change still have the memory that they
 * got; set_() and resize_() exchange it. */
bool run_stored_stay(struct run *run);
/* Before a launch of a captured run: writes the values of the inputs that its calls change. */
bool run_write_stored(struct run *run, struct err *err);
void run_drop_stored(struct run *run); /* frees the host's copies of these values */
/* At the end of the last run: gives unchanged weights to the options' kept inputs. */
void run_give_inputs(struct run *run);
void run_drop_inputs(struct run *run); /* frees memory that was kept and not used again */

#endif
