/* Constraints on an attempt's inputs (mark_dynamic, ranges, Dims) at its end: what PyTorch would
 * raise, in its words. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CONSTRAINTS_H
#define SYMTAPE_REPLAY_ATTEMPT_CONSTRAINTS_H

#include "replay/attempt/guard_log.h"
#include "replay/attempt/replay_state.h"

/* Where guards were asked in the recording, for the user's stack that texts quote. */
struct constraint_places {
    const struct trace *trace;
    uint32_t recording;
    const struct guard_log *log;
};

/* Appends the text of ConstraintViolationError: nothing where all hold or there are none. With Dims
 * the inputs end as torch.export's do, and fixes are suggested. It asks guards, so it comes last.
 * False: out of memory. */
bool constraints_check(struct replay_state *state, const struct inputs *inputs,
                       struct constraint_places places, struct buf *ret);

#endif
