/* Which of the plans that a library offers for a problem is the fastest here.
 *
 * Where there is enough to do that it matters, each is run a few times the first time that the
 * problem comes, between events; the choice is kept on disk beside the cubins, by the library's
 * version, the device and the problem, so that later runs take the same plan and time nothing.
 * Plans that are as fast as one another go by the library's own order. $SYMTAPE_CUDA_PLANS "all":
 * whatever there is to do; "first": never, the library's first plan will do. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H

#include "replay/backend/cuda/runtime/cuda.h"

struct plan_problem {
    const struct library *library;
    const void *key; /* all that it depends on, compared by its bytes */
    size_t bytes;
};

/* Is it worth it, for so many floating point operations? */
bool plan_choice_matters(uint64_t flops);

/* The id of the plan that was chosen before; 0: none was. */
uint64_t plan_choice_recall(struct cuda *cuda, const struct plan_problem *problem);

struct plan_trial {
    const uint64_t *ids; /* not 0 */
    uint32_t n;
    /* Onto the backend's stream; what it writes is never read. False: it does not run. */
    bool (*run)(void *user, uint32_t i);
    void *user;
};
/* The number of the fastest, which is kept; a failure of the device is found later. */
uint32_t plan_choice_make(struct cuda *cuda, const struct plan_problem *problem,
                          const struct plan_trial *trial);

#endif
