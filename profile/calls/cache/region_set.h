/* A set of regions: functions that were compiled with isolate_recompiles, or -1 for all others. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_REGION_SET_H
#define SYMTAPE_PROFILE_CALLS_CACHE_REGION_SET_H

#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct region_set {
    vec_of(int64_t)
    regions;
    struct hash_index index;
};

/* Adds a region that the set does not have. Returns false when memory ran out. */
bool region_set_add(struct region_set *set, int64_t region);
bool region_set_has(const struct region_set *set, int64_t region);
void region_set_release(struct region_set *set);

#endif
