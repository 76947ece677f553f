/* Guards that a call asks more than once: those of an entry inside a call that an entry before it
 * in the group has, too, on a value that is still the same. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_ASKED_TWICE_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_ASKED_TWICE_H

#include "profile/calls/levels/call_levels.h"

struct asked_guards {
    uint64_t asked; /* guards of the entries that answer */
    uint64_t again; /* of these, those that an entry before it in the group has */
    bool partial;   /* some calls were left out, since there were too many guards to compare */
};

/* Counts over all calls. Calls that the same entries answer ask the same guards. Returns false when
 * memory ran out. */
bool asked_guards_count(struct asked_guards *ret, const struct call_log *log,
                        const struct cache_run *run, const struct call_levels *levels);

#endif
