/* Where something is likely to be, before it is asked: most bugs are an operator's, whichever of
 * its calls it is, and what a graph calls all the time has been seen to work more often than what
 * it calls once. Private to the room. */
#ifndef SYMTAPE_MINIFY_SEARCH_LIKELY_H
#define SYMTAPE_MINIFY_SEARCH_LIKELY_H

#include "trace/graph/graph.h"

/* n calls in the order in which they are met; call i counts for place[i] of weight. Adds to a place
 * for each operator that is met there first, less where it is met often, and for each call. False:
 * out of memory. */
bool likely_weigh(const struct graph *graph, const node_id *calls, const uint32_t *place,
                  uint32_t n, float *weight);

#endif
