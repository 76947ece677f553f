/* A run of levels while it is made. Private to this room. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_BUILDER_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_BUILDER_H

#include "profile/calls/levels/backward_guards.h"
#include "profile/calls/levels/levels_run.h"

struct policy_answered;

struct levels_builder {
    struct levels_run *run;
    struct trace *trace;
    struct call_log *log;
    uint32_t *table_codes; /* by code of cache_run: in calls_table.codes, or NO_ENTRY */
    struct derived_sizes derived;
    struct backward_guards backward_guards;
    struct policy_answered *answered; /* by look-up */
    bool *by_policy;                  /* by code of cache_run: `answered` has its look-ups */
    struct intern part_keys, artifact_keys;
    struct buf key;
    uint32_t *artifact_of; /* by look-up, or CALL_NONE */
    uint32_t *graphs_of;   /* by code of cache_run: in run->graphs, or CALL_NONE */
};

/* Adds an artifact if b->key is new, or counts a call that the artifact of that key runs for.
 * Returns false when memory ran out. */
bool levels_use_artifact(struct levels_builder *b, struct level_artifact artifact,
                         struct level_counts *counts, uint32_t *ret);

/* Chooses the artifacts of the backward calls by their gradients. Returns false with err set when
 * memory ran out or the tape could not be read. */
bool levels_run_backwards(struct levels_builder *b, uint32_t recording, struct err *err);

#endif
