/* Computes the call tree of phases with times. Private to the profile room. */
#ifndef SYMTAPE_PROFILE_MODEL_PHASES_PHASE_TREE_H
#define SYMTAPE_PROFILE_MODEL_PHASES_PHASE_TREE_H

#include "profile/model/build.h"

/* Fills b->nodes (parents before children, siblings not linked) and b->by_compile (not sorted) from
 * b->spans. */
bool phase_tree_build(struct profile_build *b, struct err *err);

#endif
