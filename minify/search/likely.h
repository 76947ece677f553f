/* Estimates which call is likely to cause a failure: most bugs belong to an operator, whichever of
 * its calls it is, and an operator that a graph calls often causes fewer failures than one that it
 * calls once. Private to the room. */
#ifndef SYMTAPE_MINIFY_SEARCH_LIKELY_H
#define SYMTAPE_MINIFY_SEARCH_LIKELY_H

#include "trace/graph/graph.h"

/* Weighs n calls in their order; the weight of call i is added to weight[place[i]]. Each operator
 * adds weight at its first call, less if it has many calls, and so does each call. Returns false
 * when memory ran out. */
bool likely_weigh(const struct graph *graph, const node_id *calls, const uint32_t *place,
                  uint32_t n, float *weight);

#endif
