#include "profile/diagnosis/settings/cache_reasons.h"

static const struct cache_reason REASONS[] = {
#define REASON(part, because, remedy, text) { part, because, REMEDY_##remedy, text },
#include "profile/diagnosis/settings/cache_reasons.def"
#undef REASON
};

const struct cache_reason *cache_reason_of(struct str message)
{
    const struct cache_reason *r = REASONS;
    while (!str_contains(message, str_of(r->part))) /* the last row's part is "" */
        r++;
    return r;
}

bool cache_reason_is_off(const struct cache_reason *reason)
{
    return reason == REASONS;
}
