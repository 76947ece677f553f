/* The compiles of all ranks in one order: a *step* is what several ranks compiled at the same
 * point.
 *
 * Compiles are the same if they are of the same function and of the same turn among the rank's
 * compiles of it, whatever their ids are: a function that one rank alone compiles moves the ids of
 * all frames behind it. */
#ifndef SYMTAPE_PROFILE_RANKS_STEPS_H
#define SYMTAPE_PROFILE_RANKS_STEPS_H

#include "profile/ranks/job.h"

/* Sets job_compile.step and .again and the arrays of steps in the job. Returns false with err set
 * when memory ran out. */
bool steps_make(struct job *job, struct err *err);

/* Returns the compiles of a step, by rank, and their number in *n. */
static inline const uint32_t *step_compiles(const struct job *job, uint32_t step, uint32_t *n)
{
    *n = job->first_of_step.v[step + 1] - job->first_of_step.v[step];
    return job->by_step.v + job->first_of_step.v[step];
}

/* Returns the name of a place's file without its folders: ranks may have different ones. */
struct str place_file(const struct job *job, uint32_t place);

#endif
