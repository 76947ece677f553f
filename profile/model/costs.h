/* What a profile knows of costs beyond the log: what PyTorch really did, where the run was recorded
 * with --deep (symtape-deep(5)), and what our own replay of the recorded graphs counts. Part of the
 * profile (profile/model/profile.h).
 *
 * "Real" is PyTorch's: measured, of all attempts, within the time that was recorded. "Replayed" is
 * ours: the same in each run, of what was printed as a graph. The two are not expected to be equal:
 * PyTorch runs each program several times (replay/attempt/passes.h). */
#ifndef SYMTAPE_PROFILE_MODEL_COSTS_H
#define SYMTAPE_PROFILE_MODEL_COSTS_H

#include "replay/replay.h"
#include "trace/events/deep.h"

enum { PROFILE_MODES = DEEP_OTHER_MODE + 1, PROFILE_DEPTHS = OP_STATS_DEPTHS };

struct operator_cost {
    uint32_t op; /* in profile->names: "aten.mm.default" */
    /* Real: dispatches by mode, those of FakeTensorMode by how many others they were inside of (the
     * last element: deeper still), and what came of them. */
    uint64_t by_mode[PROFILE_MODES], by_depth[PROFILE_DEPTHS];
    uint64_t hits, misses, bypasses, fast, slow, raised;
    int64_t ns, self_ns; /* with and without the dispatches inside; inclusive ones overlap */
    /* Replayed. What calls asked for within them counts with the outermost, dispatches do not. */
    uint64_t calls, dispatches, replayed_by_depth[PROFILE_DEPTHS];
    uint64_t guards, exprs, evaluations, symbolic_tensors;
};

/* Of a user line, beside what struct profile_line has of it. */
struct line_cost {
    uint64_t real_dispatches, real_allocations; /* the latter: dispatches of empty() and its like */
    int64_t self_ns;
    uint64_t dispatches, exprs, symbolic_tensors; /* replayed */
    uint64_t saved_bytes; /* saved for backward, estimated: profile/model/graph_memory.h */
};

/* A counter that PyTorch keeps too (torch.utils._stats.simple_call_counter). */
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

/* Python used a size as a number, or asked something of one (deep). Constants are left out. */
struct size_use {
    bool question; /* as a bool: it becomes a guard at most; a number makes a symbol static */
    struct str use, expr, source; /* source: "" unless expr is a symbol */
    struct str asker_file, asker_function;
    uint32_t asker_line;
    struct str file, code; /* the user line; "" */
    uint32_t line;
    uint64_t count;
};

/* A phase's memory, over all its calls (deep). */
struct phase_memory {
    struct str phase;
    uint64_t calls;
    int64_t host_growth; /* resident bytes at its ends less those at its beginnings */
    uint64_t host_peak;  /* highest of the process until its end: phases before it count in */
    bool has_device;
    int64_t device_growth;
    uint64_t device_peak;
};

struct profile_costs {
    bool deep, replayed;
    const struct operator_cost *operators; /* as PROFILE_BY_* says; by cost */
    uint32_t n_operators;
    uint64_t by_mode[PROFILE_MODES];
    int64_t self_ns;
    uint64_t dispatches; /* replayed */
    const struct cost_counter *counters;
    uint32_t n_counters;
    const struct cost_spot *spots; /* by self_ns */
    uint32_t n_spots;
    const struct size_use *uses; /* as numbers, then questions; each by count */
    uint32_t n_uses;
    const struct phase_memory *memory; /* by growth of the host */
    uint32_t n_memory;
    uint64_t host_peak, device_peak;             /* of all phases; 0: not told */
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

/* Deepest dispatch inside others, real or else replayed: 0 for an operator that is never inside
 * another. PROFILE_DEPTHS - 1 stands for that or more. */
unsigned operator_cost_depth(const struct operator_cost *cost);

/* Whether the operator makes a tensor without values: aten.empty_strided and similar ones. */
bool operator_allocates(struct str op);

#endif
