/* Subgraphs of higher-order operators, run. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_SUBGRAPH_H
#define SYMTAPE_REPLAY_BACKEND_RUN_SUBGRAPH_H

#include "replay/backend/run.h"

/* One step of any program of the run's tree that is neither input nor output (run.c). */
bool run_inner_step(struct run *run, struct program *p, const struct step *step, struct err *err);

/* For ops_set_subgraph(); user is the run. What went wrong is in run->inner. */
enum op_outcome run_subgraph(void *user, struct str graph, const struct value *args, uint32_t n,
                             struct value *ret);

/* cond and while_loop, whose rules look at every branch once: here the values decide. */
bool run_chooses(const struct step *step);
bool run_choice(struct run *run, const struct step *step, struct value *ret, struct err *err);

#endif
