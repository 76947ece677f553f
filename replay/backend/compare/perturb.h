/* Changes a value on purpose, as a wrong kernel would, to test the comparison. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_PERTURB_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_PERTURB_H

#include "replay/backend/run/run.h"

/* Each element x of the tensor becomes x + by * (1 + |x|); integers and bool change by one. */
bool run_perturb(struct run *run, struct tensor x, double by, struct err *err);

#endif
