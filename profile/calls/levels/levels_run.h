/* Levels: a way to compile that PyTorch does not have, over the calls of a program. What would it
 * have compiled?
 *
 * Guards choose among artifacts, each of which is one compiled graph, on several levels. The first
 * is the forward of a called function, chosen by Dynamo's guards. Where Python needs the value of a
 * tensor, the graph breaks after Dynamo and before the backend, so that Dynamo traces what follows
 * as part of the same function: as one graph up to the next such value, inlined functions and what
 * follows them included (call_levels.h), and with the symbols of the levels before it
 * (derived_sizes.h). A value that was read is a symbol, too. Later levels add guards of their own
 * and replace no symbol of an earlier level, so that an artifact of an earlier level stays when a
 * later one is compiled again. The artifacts of a backward are chosen by its gradients: contiguous
 * or not, and their sizes where the forward has no symbols. They are compiled when they first run.
 *
 * The first level is as it was recorded, but for the guards of the backward. Later ones are those
 * of policy_run.h, with derived sizes marked. An artifact of several look-ups is made for each new
 * combination of entries. Times are sums of the tape's own compiles, so they are estimates. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_RUN_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_RUN_H

#include "profile/calls/levels/asked_twice.h"
#include "profile/calls/levels/derived_sizes.h"

/* One look-up's share of an artifact. */
struct level_part {
    uint32_t code;  /* in cache_run.codes */
    uint32_t entry; /* among those of the code object under levels */
    uint32_t look;  /* the look-up that made it, in cache_run.lookups */
    double seconds; /* of its compile */
};

struct level_artifact {
    uint32_t level;               /* from 1; of a backward, that of its forward */
    uint32_t first_part, n_parts; /* in levels_run.artifact_parts; of a backward, its forward's */
    bool has_backward;            /* of a forward: an artifact of its backward was made */
    bool backward, strided;       /* a backward; a gradient of it is not contiguous */
    uint32_t call;                /* that made it, in the log */
    uint64_t answers;             /* number of later calls that it ran for */
    double seconds;
};

/* Compiles of a level, or of the backward. */
struct level_counts {
    uint32_t recorded, levels; /* compiles as they were recorded, and with levels */
    double recorded_seconds, seconds;
};

/* The graphs of one call. */
struct call_graphs {
    uint32_t code; /* of the called function, in cache_run.codes */
    uint32_t call; /* that which runs most graphs, in the log */
    uint32_t recorded, levels;
};

/* A compile of the tape that levels do not make. */
struct spared_compile {
    uint32_t lookup; /* in cache_run.lookups */
    uint32_t with;   /* the artifact that runs instead, in levels_run.artifacts */
    bool made;       /* it is made for this call, too: what was several graphs is one */
};

struct levels_run {
    struct cache_run cache;
    struct calls_table table;
    struct call_levels levels;
    vec_of(struct level_part)
    parts;
    vec_of(uint32_t)
    artifact_parts; /* in parts */
    vec_of(struct level_artifact)
    artifacts; /* forwards, then backwards, each in the order in which they are made */
    vec_of(struct level_counts)
    counts; /* by level - 1 */
    struct level_counts backward, all;
    vec_of(struct call_graphs)
    graphs; /* of called functions, in the order of their first call */
    vec_of(struct spared_compile)
    spared;
    struct asked_guards asked;
    uint32_t n_copied;   /* backward calls with a gradient that is not contiguous */
    uint32_t n_untimed;  /* artifacts of backwards whose time the tape does not have */
    uint32_t n_doubtful; /* code objects of which the replay of automatic dynamic shapes makes
                            other compiles than were recorded */
    bool no_frames;      /* graphs broke, and no call lists the frames inside it */
};

/* Replays the calls of `log`. The result is freed with levels_run_release(), before the trace and
 * the log. Returns false with err set when memory ran out or the tape could not be read. */
bool levels_run_make(struct levels_run *run, struct trace *trace, uint32_t recording,
                     struct call_log *log, const struct cache_options *options, struct err *err);
void levels_run_release(struct levels_run *run);

#endif
