/* The compiles of several ranks or workers on one time axis: who was ready when, who waited for
 * whom, and who compiled what others took from the cache.
 *
 * A compile lasts as long as PyTorch's phase of it (entire_frame_compile; entire_backward_compile
 * of a backward that was compiled when it first ran), whose times are those of the rank's own
 * clock. A rank that is ready with a compile before others are waits for them at its next
 * collective, in the program or in the compiler (compiler_collective,
 * torch/_dynamo/output_graph.py: ranks tell each other their sizes); only the latter wait is
 * recorded. */
#ifndef SYMTAPE_PROFILE_CALLS_RANKS_RANK_TIMES_H
#define SYMTAPE_PROFILE_CALLS_RANKS_RANK_TIMES_H

#include "profile/calls/warm/start_graphs.h"

#define RANK_NONE      UINT32_MAX
#define RANK_TIME_NONE INT64_MIN

/* One process: a recording of one of the traces. */
struct rank_process {
    uint32_t trace, recording;
    struct str name;       /* "rank0"; if several have one name, with the file: "warm.log@rank0" */
    uint32_t n_last;       /* compiles of which it is rank_compile.last */
    uint32_t n_held;       /* of those, compiles that it has not ended */
    uint32_t n_open;       /* compiles that several ranks have and that it has not ended */
    int64_t late_ns;       /* by how much after the rank before it, in all */
    int64_t collective_ns; /* that it waited for others in compiler collectives */
};

struct rank_compile {
    uint32_t process;
    uint32_t group; /* compiles of all ranks with this id and direction */
    struct str compile;
    bool backward;
    int64_t begin_ns, end_ns;  /* since the epoch; end: RANK_TIME_NONE if it did not end */
    struct str function, file; /* "" if they are not recorded */
    uint32_t line;
    uint32_t n_taken, n_compiled; /* graphs that the caches had, and others */
    uint32_t from;                /* the process that had compiled what it took; RANK_NONE */
    uint32_t had;        /* the process whose cache had what this one compiled; RANK_NONE */
    bool shared;         /* several processes have it */
    uint32_t last;       /* of a shared one the process that ended last; if some have not ended, the
                            only one of these that does not wait; else RANK_NONE */
    int64_t ahead_ns;    /* by which this one ended earlier; -1 */
    uint32_t waited_for; /* in compiler collectives, for the process that came last */
    int64_t waited_ns;
    bool waiting; /* a compiler collective has not ended */
};

struct rank_times {
    struct arena arena;
    struct start_texts texts;
    struct start *starts; /* of each trace */
    uint32_t n_starts;
    vec_of(struct rank_process)
    processes;
    vec_of(struct rank_compile)
    compiles;          /* by begin */
    bool in_turn;      /* the processes ran one after another, so that none waited for others */
    uint32_t n_shared; /* groups that several processes have */
    uint32_t n_compiled, n_taken; /* graphs */
    uint32_t n_taken_from;        /* graphs that another process had compiled */
    uint32_t n_repeated;          /* graphs compiled although another process compiled them */
    int64_t repeated_ns;
    uint32_t n_apart; /* graphs compiled although the cache of another process had them */
    int64_t apart_ns;
};

/* Reads all recordings of the traces. The result is freed with rank_times_release(), before the
 * traces, also after a failure. Returns false with err set when memory ran out or a tape could not
 * be read. */
bool rank_times_make(struct rank_times *ret, struct trace *const *traces, uint32_t n_traces,
                     struct err *err);
void rank_times_release(struct rank_times *times);

#endif
