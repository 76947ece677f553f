/* Costs that the log does not contain: the dispatches of PyTorch, if the run was recorded with
 * --deep (symtape-deep(5)), and those that our replay of the recorded graphs counts. Part of the
 * profile (profile/model/profile.h).
 *
 * "Real" counts and times are PyTorch's, measured in all attempts while the recorder ran.
 * "Replayed" counts are ours, the same in each run, for the graphs that were logged. The two are
 * not expected to be equal: PyTorch runs each program several times
 * (replay/attempt/dispatch_passes.h). */
#ifndef SYMTAPE_PROFILE_MODEL_COSTS_H
#define SYMTAPE_PROFILE_MODEL_COSTS_H

#include "replay/replay.h"
#include "trace/events/deep/deep.h"

enum { PROFILE_MODES = DEEP_OTHER_MODE + 1, PROFILE_DEPTHS = OP_STATS_DEPTHS };

struct operator_cost {
    uint32_t op; /* in profile->names: "aten.mm.default" */
    /* Real: dispatches by mode; those of FakeTensorMode by the number of dispatches around them
     * (the last element also counts deeper ones); and the results of the cache. */
    uint64_t by_mode[PROFILE_MODES], by_depth[PROFILE_DEPTHS];
    uint64_t hits, misses, bypasses, fast, slow, raised;
    int64_t ns, self_ns; /* with and without nested dispatches; inclusive times overlap */
    /* Replayed. Guards and expressions of nested calls count with the outermost call, dispatches
     * with their own operator. */
    uint64_t calls, dispatches, replayed_by_depth[PROFILE_DEPTHS];
    uint64_t guards, exprs, evaluations, symbolic_tensors;
};

/* Costs of a user line in addition to struct profile_line. */
struct line_cost {
    uint64_t real_dispatches,
        real_allocations; /* allocations: dispatches of empty() and similar operators */
    int64_t self_ns;
    uint64_t dispatches, exprs, symbolic_tensors; /* replayed */
    uint64_t saved_bytes; /* saved for backward, estimated: profile/model/graph_memory.h */
};

/* A counter that PyTorch also keeps (torch.utils._stats.simple_call_counter). */
struct cost_counter {
    struct str label;           /* "FakeTensorMode.__torch_dispatch__", "attempt fast" */
    bool is_real;               /* pytorch and recorded are known */
    uint64_t pytorch, recorded; /* the counts of PyTorch, and of the recorder */
    uint64_t replayed;          /* the replay's estimate for the recorded graphs */
};

/* Work around operators: pytree, devices, no_dispatch (deep). */
struct cost_spot {
    struct str cost, caller; /* "tree_flatten", "torch._subclasses.fake_tensor" */
    uint64_t count;
    int64_t ns, self_ns;
};

/* A place where Python used a size as a number or evaluated a condition on one (deep). Constants
 * are left out. */
struct size_use {
    bool question; /* a condition: it becomes a guard at most; a number makes a symbol static */
    struct str use, expr, source; /* source: "" unless expr is a symbol */
    struct str asker_file, asker_function;
    uint32_t asker_line;
    struct str file, code; /* the user line; "" */
    uint32_t line;
    uint64_t count;
};

/* The memory of a phase, over all its calls (deep). */
struct phase_memory {
    struct str phase;
    uint64_t calls;
    int64_t host_growth; /* resident bytes at its ends minus those at its beginnings */
    uint64_t host_peak;  /* the peak of the process until its end, so earlier phases count in */
    bool has_device;
    int64_t device_growth;
    uint64_t device_peak;
};

struct profile_costs {
    bool deep, replayed;
    const struct operator_cost *operators; /* sorted as PROFILE_BY_* says, by default by cost */
    uint32_t n_operators;
    uint64_t by_mode[PROFILE_MODES];
    int64_t self_ns;
    uint64_t dispatches; /* replayed */
    const struct cost_counter *counters;
    uint32_t n_counters;
    const struct cost_spot *spots; /* by self_ns */
    uint32_t n_spots;
    bool spots_exclusive; /* their self_ns is without all that they called, in all processes */
    const struct size_use *uses; /* uses as numbers, then conditions; each by count */
    uint32_t n_uses;
    const struct phase_memory *memory; /* by growth of the host */
    uint32_t n_memory;
    uint64_t host_peak, device_peak;             /* of all phases; 0: not known */
    const struct deep_process *const *processes; /* recorded deeply */
    uint32_t n_processes;
};

static inline uint64_t operator_cost_real(const struct operator_cost *cost)
{
    uint64_t sum = 0;
    for (int i = 0; i < PROFILE_MODES; i++)
        sum += cost->by_mode[i];
    return sum;
}

/* Returns the depth of the deepest dispatch inside others, real or else replayed: 0 for an operator
 * that is never nested. PROFILE_DEPTHS - 1 stands for that depth or more. */
unsigned operator_cost_depth(const struct operator_cost *cost);

#endif
