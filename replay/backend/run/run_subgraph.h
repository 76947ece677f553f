/* Runs subgraphs of higher-order operators. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_SUBGRAPH_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_SUBGRAPH_H

#include "replay/backend/run/run.h"

/* The callbacks of the interpreter that the graph and its subgraphs share; in->user is the run
 * (run.c). */
bool run_call_step(struct interpreter *in, struct program *p, const struct step *step, bool ready,
                   struct value *ret);
bool run_other_step(struct interpreter *in, struct program *p, const struct step *step,
                    struct value *ret);
bool run_missing(struct interpreter *in, struct program *p, const struct step *step,
                 struct value *ret);

/* For ops_set_subgraph(); user is the run. run->inner has the error. */
enum op_outcome run_subgraph(void *user, struct str graph, const struct value *args, uint32_t n,
                             struct value *ret);

/* Returns whether the step is a cond or while_loop: their rules evaluate every branch once, a run
 * chooses by the values. */
bool run_chooses(const struct step *step);
bool run_choice(struct run *run, const struct step *step, struct value *ret, struct err *err);

#endif
