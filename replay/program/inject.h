/* Faults for tests and demonstrations: an engine that is wrong on purpose.
 *
 *     flip-equality:N   from the N-th equality on that is evaluated (1: all of them) the answer is
 *                       the other one, as inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY of
 *                       torch.fx.experimental._config does
 *     OP=size           the operator's results have a last size that is one too many
 *     OP=dtype          they are float64, float32 where they were
 *     OP=strides        they have the strides of the reversed order
 *     OP=refuse         it raises
 *
 * A rule goes wrong where a size of the result is symbolic, so that the bug is one of dynamic
 * shapes; of several results the first is wrong.
 *
 * Never on unless asked for. */
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
    struct str op; /* "aten.relu.default", "aten.relu", "torch.relu"; borrowed from the text */
    uint64_t from; /* of INJECT_FLIP_EQUALITY */
};

/* ERR_USAGE. */
bool injection_parse(struct injection *injection, struct str text, struct err *err);

/* Does it mean the call of that target ("torch.ops.aten.relu.default", "torch.relu")? */
bool injection_hits(const struct injection *injection, struct str target);
/* What becomes of the call's result; OP_REFUSED for INJECT_REFUSE. */
enum op_outcome injection_apply(const struct injection *injection, struct ops *ops,
                                struct value *result);

#endif
