/* What the dispatches and parts of the cost model contain (cost_inside.def): pytree, no_dispatch(),
 * devices, and ShapeEnv by method and by the size of the expression; Dynamo's part by instruction.
 * Only deep recordings have it; its time lies inside that of the cost model's rows. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_INSIDE_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

struct profile_build;
struct err;

struct cost_inside {
    const char *name;
    uint64_t count;
    int64_t ns;
    double share; /* of the compiles' time */
};

/* What Dynamo took for an instruction of Python's bytecode (the handlers of
 * InstructionTranslatorBase, torch/_dynamo/symbolic_convert.py): without the instructions of
 * functions that it inlined, without dispatches, and without the backend. */
struct cost_instruction {
    struct str name; /* "LOAD_ATTR" */
    uint64_t count;
    int64_t ns;
    double share; /* of the compiles' time */
};

/* Sets cost_model.inside and cost_model.instructions: those that occur, by time. Returns false with
 * err set when memory ran out or a tape is damaged. */
bool find_inside(struct profile_build *b, struct err *err);

#endif
