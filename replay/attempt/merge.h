/* Merges the results of all attempts into one replay. Only for this room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_MERGE_H
#define SYMTAPE_REPLAY_ATTEMPT_MERGE_H

#include "replay/attempt/attempt.h"

/* Merges in the order of `results`, on whichever threads they were made. NULL: out of memory. */
struct replay *replay_merge(const struct graph_list *list, const struct attempt_result *results,
                            size_t n, struct err *err);

#endif
