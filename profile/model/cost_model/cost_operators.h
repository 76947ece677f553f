/* The time of dispatches by operator and by how they were handled, of deep recordings; and what
 * operators cost beside others (cost_operators.def). */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_OPERATORS_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

struct profile_build;
struct err;

/* Dispatches of one operator, without those nested in them. */
struct cost_operator {
    struct str name;  /* "aten.add.Tensor" */
    const char *kind; /* of cost_kinds.def */
    uint64_t count;
    int64_t ns;
    double share; /* of the compiles' time */
};

/* Returns how much longer a dispatch of an operator on a path (enum dispatch_path) takes than those
 * of all operators on it, in recordings of a release of PyTorch or the nearest that was measured:
 * 1 where it is about as long, or is not known; and if `release` is 0. */
double cost_operator_factor(int release, struct str op, unsigned path);

/* Sets cost_model.operators: those that occur, by time. Returns false with err set when memory ran
 * out. */
bool find_operators(struct profile_build *b, struct err *err);

#endif
