/* What the dispatches and parts of the cost model contain (cost_inside.def): pytree, no_dispatch(),
 * devices, and ShapeEnv by method and by the size of the expression. Only deep recordings have it;
 * its time lies inside that of the cost model's rows. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_INSIDE_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_build;
struct err;

struct cost_inside {
    const char *name;
    uint64_t count;
    int64_t ns;
    double share; /* of the compiles' time */
};

/* Sets cost_model.inside: the kinds that occur, by time. Returns false with err set when memory ran
 * out or a tape is damaged. */
bool find_inside(struct profile_build *b, struct err *err);

#endif
