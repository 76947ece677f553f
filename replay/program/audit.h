/* Calls that the fast path of binary operators could have answered (B3 of the systems list):
 * pointwise operators on tensors of one shape, all of them contiguous, some size symbolic. */
#ifndef SYMTAPE_REPLAY_PROGRAM_AUDIT_H
#define SYMTAPE_REPLAY_PROGRAM_AUDIT_H

#include "replay/program/program.h"

/* Whether this call, with its result, is one; it adds no guards. */
bool could_be_fast(struct ops *ops, const struct step *step, struct value result);

#endif
