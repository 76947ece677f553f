/* Private to this room: what padding would change. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_PADDING_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_PADDING_H

#include "profile/calls/cudagraphs/cudagraph_run.h"

/* Fills run->paddings: for each graph that is wrapped, a row for each padding that leaves
 * fewer sizes. Returns false when memory ran out. */
bool paddings_make(struct cudagraph_run *run);

#endif
