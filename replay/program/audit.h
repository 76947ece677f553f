/* Finds calls that the fast path of binary operators could have handled: pointwise operators on
 * contiguous tensors of one shape with a symbolic size. */
#ifndef SYMTAPE_REPLAY_PROGRAM_AUDIT_H
#define SYMTAPE_REPLAY_PROGRAM_AUDIT_H

#include "replay/program/program.h"

/* Returns whether this call, with its result, is such a call; it adds no guards. */
bool could_be_fast(struct ops *ops, const struct step *step, struct value result);

#endif
