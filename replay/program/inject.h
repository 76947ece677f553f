/* Faults for tests and demonstrations: the engine makes a chosen mistake.
 *
 *     flip-equality:N   from the N-th evaluated equality on (1: all of them) the result is
 *                       negated, as inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY of
 *                       torch.fx.experimental._config does
 *     OP=size           the last size of the operator's results is one too large
 *     OP=dtype          the results are float64, or float32 if they were float64
 *     OP=strides        the results have the strides of the reversed order
 *     OP=refuse         the operator raises
 *
 * A fault affects only results with a symbolic size, so that the bug is one of dynamic shapes, and
 * only the first of several results.
 *
 * No fault is injected unless it is requested. */
#ifndef SYMTAPE_REPLAY_PROGRAM_INJECT_H
#define SYMTAPE_REPLAY_PROGRAM_INJECT_H

#include "replay/ops/dispatch/ops.h"

enum injection_kind {
    INJECT_NOTHING,
    INJECT_FLIP_EQUALITY,
    INJECT_SIZE,
    INJECT_DTYPE,
    INJECT_STRIDES,
    INJECT_REFUSE
};

struct injection {
    enum injection_kind kind;
    struct str op; /* "aten.relu.default", "aten.relu" or "torch.relu"; borrowed from the text */
    uint64_t from; /* the N of INJECT_FLIP_EQUALITY */
};

/* Parses a fault. Failures are of kind ERR_USAGE. */
bool injection_parse(struct injection *injection, struct str text, struct err *err);

/* Returns whether the fault affects calls of the target ("torch.ops.aten.relu.default"). */
bool injection_hits(const struct injection *injection, struct str target);
/* Changes the call's result and returns its outcome: OP_REFUSED for INJECT_REFUSE. */
enum op_outcome injection_apply(const struct injection *injection, struct ops *ops,
                                struct value *result);

#endif
