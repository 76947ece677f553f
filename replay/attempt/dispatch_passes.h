/* PyTorch's counts while it made the recorded graphs (torch.utils._stats.simple_call_counter),
 * which are higher than printed graphs suggest, because it runs each program more than once. They
 * are estimated by walking the graphs again in PyTorch's order, with the dispatches around the
 * calls (replay/ops/model/dispatch_model.h). Operator-cache misses within the calls are those of
 * the first walks, since the cache has more hits once all guards are known.
 *
 * Dynamo runs each call once while it traces. AOTAutograd wraps the inputs for functionalization
 * and runs Dynamo's graph twice: for its metadata, and under make_fx, where every dispatch goes
 * through ProxyTorchDispatchMode first; then it runs the part of the joint graph that depends on
 * the tangents. What was never printed is not counted: attempts that ended before a graph was
 * logged, calls on which no result depends, decompositions that a backend requests. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_DISPATCH_PASSES_H
#define SYMTAPE_REPLAY_ATTEMPT_DISPATCH_PASSES_H

#include "replay/attempt/aot_inputs.h"
#include "replay/ops/model/stats.h"
#include "trace/graphs.h"

enum pass {
#define PASS(id, name, function) PASS_##id,
#include "replay/attempt/dispatch_passes.def"
#undef PASS
    PASSES
};

/* The names are those of simple_call_counter: FakeTensorMode.__torch_dispatch__, FakeTensor..., and
 * ProxyTorchDispatchMode...; then those of the fast path. Counters only. */
struct pass_counts {
    uint64_t fake_mode, fake_tensor, proxy, fast[OP_COUNTERS];
    uint64_t devices, detaches; /* of fake_mode: prim.device and detach from C++ */
};

/* The dispatches of one operator by what PyTorch does for them; the others are within a rule of
 * ours, which does not say what they are. */
struct pass_paths {
    uint64_t dispatches; /* of FakeTensorMode, those within its calls that have no row included */
    uint64_t proxy;      /* of ProxyTorchDispatchMode */
    uint64_t hits, misses, bypasses, uncached, returned; /* as in struct op_stats */
    uint64_t step_hits, step_misses;                     /* as there */
    uint64_t attempts, answers;                          /* of the fast path */
};

/* The counts of one operator: those of calls that no other operator made, which may be none, and of
 * all its dispatches. */
struct pass_operator {
    enum pass pass;
    struct str op;
    struct op_outer counts;
    struct pass_paths paths;
};

const char *pass_name(enum pass pass);
const char *pass_function(enum pass pass);

/* --- Only for this room --- */

struct pass_operators {
    vec_of(struct pass_operator)
    rows;
};

struct tensor_meta;
struct walker;
struct replay_state;
struct inputs;
struct program;

struct pass_output {
    enum dtype dtype;
    uint32_t ndim;
    sym_id form; /* ops_model_form() of its storage */
};

struct pass_walk;
struct pass_run {
    struct walker *walker; /* its callbacks are replaced */
    const struct replay_state *state;
    const struct inputs *inputs;
    struct program *const *programs; /* in the order of their records; NULL: not part of a pass */
    const enum graph_kind *kinds;
    size_t n;
    bool ahead; /* AOTAutograd's passes also of a Dynamo graph that no graph of it follows */
    struct pass_counts *counts;       /* of PASSES items; they are added to */
    struct pass_operators *operators; /* is added to */
    /* Private. */
    const struct pass_walk *walk; /* the current walk */
    struct program *dynamo;       /* the Dynamo graph of the current compile */
    bool gradients;               /* AOTAutograd traces it with its gradients */
    struct aot_inputs aot_inputs; /* of its joint graph */
    /* Dynamo's inputs as AOTAutograd got them, by node. */
    vec_of(const struct tensor_meta *)
    passed;
    /* The tensors among Dynamo's results in the pass for metadata, of which the tangents from
     * `next_output` on are not made yet. */
    vec_of(struct pass_output)
    outputs;
    size_t next_output;
};

/* Must be the last use of an attempt: clears its counters and its cache. False: the error is that
 * of the walker. */
bool passes_run(struct pass_run *run);

#endif
