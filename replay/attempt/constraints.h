/* Checks the constraints on an attempt's inputs (mark_dynamic, ranges, Dims) at its end, with the
 * texts of PyTorch's exceptions. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CONSTRAINTS_H
#define SYMTAPE_REPLAY_ATTEMPT_CONSTRAINTS_H

#include "replay/attempt/guard_log.h"
#include "replay/attempt/replay_state.h"

/* The origins of recorded guards, for the user's stack that texts quote. */
struct constraint_places {
    const struct trace *trace;
    uint32_t recording;
    const struct guard_log *log;
    bool exported; /* torch.export does not know the user's stack, unlike Dynamo */
};

/* Appends the text of ConstraintViolationError, or nothing when all constraints are satisfied or
 * there are none. With Dims it does what torch.export does at its end, and suggests fixes. It
 * comes last, because it adds guards. False: out of memory. */
bool constraints_check(struct replay_state *state, const struct inputs *inputs,
                       struct constraint_places places, struct buf *ret);

#endif
