/* Ties: places of maxima, orders of sorted elements and the like are not determined where elements
 * are equal, or so close that rounding decides. Backends may then choose different places. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_TIES_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_TIES_H

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/run.h"

/* Returns the node whose elements the step's result has the places of, a getitem included;
 * NODE_NONE: it has no places. */
node_id tie_source(const struct run *run, const struct step *step);
/* Returns whether the elements at the places in `got` are those at the places in `expected`, within
 * the tolerance, wherever the places differ. source: the expected elements. */
bool tie_holds(const struct run *run, const struct step *step, const struct array *source,
               struct tolerance tolerance, const struct array *expected, const struct array *got);

#endif
