/* Which level each look-up of a call belongs to.
 *
 * A call of a compiled function looks up the function, then the frames inside it: functions whose
 * inlining a graph break stopped, and resume functions. Look-ups that only graph breaks at values
 * of tensors (data_breaks.def) divide form a group: Dynamo would trace it as one. Those between two
 * such breaks form a segment, which is one graph: a function that is called, the prefix of the
 * function that called it, and what follows when it returns. The segments of a group are its
 * levels, from 1. Any other graph break runs Python code, and begins a new group. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_CALL_LEVELS_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_CALL_LEVELS_H

#include "profile/calls/cache/cache_run.h"

struct look_level {
    uint32_t group;   /* its first look-up, in cache_run.lookups; CALL_NONE: no entry runs, so that
                         the look-up is in no group */
    uint32_t segment; /* its first look-up */
    uint32_t level;   /* from 1 */
};

struct call_levels {
    vec_of(struct look_level)
    looks;                    /* by look-up */
    uint32_t n_compiles;      /* that end in a graph break, on the tape */
    uint32_t n_data, n_other; /* graph breaks between look-ups: at values of tensors, others */
};

/* Returns false with err set when memory ran out or the tape could not be read. */
bool call_levels_make(struct call_levels *ret, struct trace *trace, uint32_t recording,
                      const struct call_log *log, const struct cache_run *run, struct err *err);
void call_levels_release(struct call_levels *levels);

/* Returns the compile whose guards an entry has: that of another entry if it is assumed. */
static inline struct str entry_compile(const struct cache_entry *entry)
{
    return entry->assumed_from.n ? entry->assumed_from : entry->compile;
}

#endif
