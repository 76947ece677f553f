/* Groups launches by their operators. Private to timing*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_GROUPS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_GROUPS_H

#include "replay/backend/measure/timing.h"

/* A copy of a log's launches. */
struct launches {
    struct backend_launch *launches;
    uint32_t *nodes;
    size_t n;
};
bool launches_copy(struct launches *ret, const struct backend_log *log, struct arena *arena,
                   struct err *err);

/* Computes the groups and the times of nodes. */
bool timing_group(struct timing *t, struct timed_node *nodes, const struct launches *all,
                  const struct ops *ops, struct err *err);

#endif
