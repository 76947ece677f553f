/* Why PyTorch cannot cache a graph, in words, and what to change. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_SETTINGS_CACHE_REASONS_H
#define SYMTAPE_PROFILE_DIAGNOSIS_SETTINGS_CACHE_REASONS_H

#include "profile/diagnosis/diagnosis.h"

struct cache_reason {
    const char *part;    /* of PyTorch's message */
    const char *because; /* the sentence that follows "because" */
    enum remedy_kind remedy;
    const char *text; /* of the remedy */
};

/* Returns the reason that a message of a bypass means; never NULL. */
const struct cache_reason *cache_reason_of(struct str message);
/* Returns whether it says that the cache of FX graphs is off. */
bool cache_reason_is_off(const struct cache_reason *reason);

#endif
