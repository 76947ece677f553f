/* The results of all attempts as one report. Inside the room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_MERGE_H
#define SYMTAPE_REPLAY_ATTEMPT_MERGE_H

#include "replay/attempt/attempt.h"

/* In the order of results, whatever thread made them. NULL: out of memory. */
struct replay *replay_merge(const struct graph_list *list, const struct attempt_result *results,
                            size_t n, struct err *err);

#endif
