/* Chooses the fastest of the plans that a library offers for a problem.
 *
 * If the problem has enough work, the plans are timed with events when the problem occurs for the
 * first time. The choice is stored on disk beside the cubins, by the library's version, the device
 * and the problem, so that later runs use the same plan and measure nothing. Of plans that are
 * equally fast, the first in the library's order is chosen. $SYMTAPE_CUDA_PLANS "all": always
 * measures; "first": always uses the library's first plan. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H

#include "replay/backend/cuda/runtime/cuda.h"

struct plan_problem {
    const struct cuda_library *library;
    const void *key; /* all properties that the choice depends on, compared by its bytes */
    size_t bytes;
};

/* Returns whether that many floating point operations are worth a measurement. */
bool plan_choice_matters(uint64_t flops);

/* Returns the id of the plan that was chosen before; 0: none. */
uint64_t plan_choice_recall(struct cuda *cuda, const struct plan_problem *problem);

struct plan_trial {
    const uint64_t *ids; /* not 0 */
    uint32_t n;
    /* Runs a plan on the backend's stream; its results are never read. False: it does not run. */
    bool (*run)(void *user, uint32_t i);
    void *user;
};
/* Measures, stores the choice and returns its number; a failure of the device is detected later. */
uint32_t plan_choice_make(struct cuda *cuda, const struct plan_problem *problem,
                          const struct plan_trial *trial);

#endif
