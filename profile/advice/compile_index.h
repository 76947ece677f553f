/* What the compiles of a profile have, each found at once: plans name many of them. */
#ifndef SYMTAPE_PROFILE_ADVICE_COMPILE_INDEX_H
#define SYMTAPE_PROFILE_ADVICE_COMPILE_INDEX_H

#include "profile/model/profile.h"

#define DISPATCHES_UNKNOWN UINT64_MAX

struct compile_facts {
    uint64_t breaks;
    uint32_t of_frame;   /* number of compiles of the same frame */
    bool refused;        /* a limit did not let it compile */
    int64_t later_ns;    /* the least that later compiles take of the same frame, with or without
                            symbols as this one; 0: there are none */
    int64_t attempts_ns; /* in its attempts, or, where no phase has them, in tracing and backend */
    int64_t retraced_ns; /* in tracing alone, without the backend, of the last attempt */
    int64_t attempts_end_ns, tracing_end_ns; /* while the index is made */
    uint64_t dispatches; /* of FakeTensorMode, all attempts; filled in when it is asked for */
};

struct compile_index {
    const struct profile *profile; /* of one recording */
    struct intern ids;             /* each compile has its place in the profile */
    struct compile_facts *facts;   /* by compile */
    uint32_t *restart_of;          /* by attempt: in profile->restarts, or PROFILE_NONE */
    uint32_t n_attempts;
};

/* Returns false with err set when memory ran out. */
bool compile_index_make(struct compile_index *index, const struct profile *profile,
                        struct err *err);
void compile_index_release(struct compile_index *index);

/* Returns what a compile takes that a later one does not: it is for what a process does once, and
 * another compile takes it if this one is not made. 0 if that is not plain. */
int64_t compile_index_once_ns(const struct compile_index *index, uint32_t compile);
/* Returns the compile of an id, or of an attempt; PROFILE_NONE if there is none. */
uint32_t compile_index_find(const struct compile_index *index, struct str id);
uint32_t compile_index_of_attempt(const struct compile_index *index, uint32_t attempt);
/* Returns the restart that an attempt ended in, or NULL. */
const struct profile_restart *compile_index_restart(const struct compile_index *index,
                                                    uint32_t attempt);

#endif
