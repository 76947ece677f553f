#include "replay/ops/cache.h"

struct op_cache {
    uint32_t n;
};

struct op_cache *op_cache_new(void)
{
    return calloc(1, sizeof(struct op_cache));
}

void op_cache_free(struct op_cache *cache)
{
    free(cache);
}

void op_cache_clear(struct op_cache *cache)
{
    cache->n = 0;
}
