#include "profile/calls/cache/region_set.h"

static uint32_t region_hash(int64_t region)
{
    return (uint32_t)((uint64_t)region * 0x9e3779b97f4a7c15u >> 32);
}

bool region_set_has(const struct region_set *set, int64_t region)
{
    uint32_t row, hash = region_hash(region);
    for (size_t at = hash_index_start(&set->index, hash);
         hash_index_next(&set->index, hash, &at, &row);)
        if (set->regions.v[row] == region)
            return true;
    return false;
}

bool region_set_add(struct region_set *set, int64_t region)
{
    if (!hash_index_reserve(&set->index, 1) || !vec_push(&set->regions, region))
        return false;
    hash_index_add(&set->index, region_hash(region), (uint32_t)set->regions.n - 1);
    return true;
}

void region_set_release(struct region_set *set)
{
    vec_release(&set->regions);
    hash_index_release(&set->index);
}
