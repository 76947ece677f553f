/* Launches brought together by what they compute. Private to timing*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_GROUPS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_GROUPS_H

#include "replay/backend/measure/timing.h"

/* A log's, kept. */
struct launches {
    struct backend_launch *launches;
    uint32_t *nodes;
    size_t n;
};
bool launches_copy(struct launches *ret, const struct backend_log *log, struct arena *arena,
                   struct err *err);

/* Fills in groups, and times of nodes. */
bool timing_group(struct timing *t, struct timed_node *nodes, const struct launches *all,
                  const struct ops *ops, struct err *err);

#endif
