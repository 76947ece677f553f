/* Chooses the fastest of the plans that a library offers for a problem, and remembers it.
 *
 * A call whose problem is new gets a plan at once: one that was chosen before for its class, or
 * else the first that the library's heuristic offers. If the problem has enough work, its plans are
 * timed with events between runs (the backend's `refine`, which `run --profile` asks for in
 * replay/backend/measure/timing.c), and the fastest one replaces it. The
 * recipe of the chosen plan is stored on disk beside the cubins, by the library's version, the
 * device and the problem, so that later runs make the same plan, measure nothing and ask no
 * heuristic. It is stored for the classes of the problem, too: a problem of another size that is in
 * one of these classes gets the same recipe, if the library supports it there. Of plans that are
 * equally fast, the first in the library's order is chosen. A plan that takes long to make, which a
 * library may compile at each size, is not stored for classes. $SYMTAPE_CUDA_PLANS "all": measures
 * each problem, whatever its work and its classes; "first": always uses the library's first
 * plan. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PLAN_CHOICE_H

#include "replay/backend/cuda/libraries/key_table.h"
#include "replay/backend/cuda/runtime/cuda.h"

enum { PLAN_CLASSES = 3, PLAN_RECIPE_BYTES = 512 };

/* All that a library needs to make a plan again, without pointers; unused bytes are 0. */
struct plan_recipe {
    unsigned char bytes[PLAN_RECIPE_BYTES];
    bool measured; /* the fastest of several */
    /* Of a class: a plan that takes long to make is faster, so that each problem's plans are
     * timed. */
    bool provisional;
};

/* The recipes that this process made or read, which a library's state owns. */
struct plan_recipes {
    struct key_table keys;
    vec_of(struct plan_recipe)
    recipes;
};
void plan_recipes_release(struct plan_recipes *recipes);

struct plan_problem {
    const struct cuda_library *library;
    struct plan_recipes *recipes;
    const void *key; /* all properties that the choice depends on, compared by its bytes */
    size_t bytes;
    /* Keys of as many bytes, in which sizes are replaced by their ranges; the first one that has a
     * recipe counts. The problem's choice is stored for the first n_own of them; the others are
     * near. */
    const void *classes[PLAN_CLASSES];
    uint32_t n_classes, n_own;
    bool matters; /* plan_choice_matters() */
    bool timed;   /* plans of such problems are timed, also where they do not matter */
    /* What plan_choice_recall() found cannot be used: plan_choice_save() replaces the classes'
     * recipes by one that was measured. */
    bool replaces;
};

/* The logarithm of a size, for the key of a class. */
int64_t plan_size_range(int64_t size);

/* False: plans are never timed. */
bool plan_choice_allowed(void);
/* Returns whether that many floating point operations are worth a measurement. */
bool plan_choice_matters(uint64_t flops);

/* Finds the recipe of the problem, which was chosen before, or else that of one of its classes,
 * preferably one that was measured. One of a class that is near counts as not measured. */
bool plan_choice_recall(struct cuda *cuda, const struct plan_problem *problem,
                        struct plan_recipe *ret);
/* Stores the choice for the problem if it was measured, and that for its classes where they have
 * none that was. */
void plan_choice_save(struct cuda *cuda, const struct plan_problem *problem,
                      const struct plan_recipe *recipe, const struct plan_recipe *class_recipe);

struct plan_trial {
    uint32_t n;
    /* Runs a plan on the backend's stream; its results are never read. False: it does not run. */
    bool (*run)(void *user, uint32_t i);
    void *user;
};
/* Measures the times of all, in ms; INFINITY: it does not run. A failure of the device is detected
 * later. False: they could not be measured, and the first one is as good. */
bool plan_choice_time(struct cuda *cuda, const struct plan_trial *trial, float *ret);
/* Returns the number of the fastest of n > 0 plans, if no earlier one is about as fast. */
uint32_t plan_choice_fastest(const float *ms, uint32_t n);

#endif
