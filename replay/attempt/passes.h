/* What PyTorch counted while it made the recorded graphs (torch.utils._stats.simple_call_counter):
 * it runs each program more often than it prints it. Estimated by walking the graphs once more in
 * PyTorch's order, with what is dispatched around the calls (replay/ops/model/dispatch_model.h).
 * What the operator cache leaves to be done within the calls is that of the first walks, since the
 * cache answers more often once all guards are known.
 *
 * Dynamo runs each call once while it traces. AOTAutograd wraps the inputs for functionalization
 * and runs Dynamo's graph twice: for its metadata, and under make_fx, where every dispatch goes by
 * ProxyTorchDispatchMode first; then comes the part of the joint graph that hangs on the tangents.
 * What was never printed is not there: attempts that ended before a graph was logged, calls that
 * no result depends on, decompositions that a backend asks for. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_PASSES_H
#define SYMTAPE_REPLAY_ATTEMPT_PASSES_H

#include "replay/ops/model/stats.h"
#include "trace/graphs.h"

enum pass {
#define PASS(id, name, function) PASS_##id,
#include "replay/attempt/passes.def"
#undef PASS
    PASSES
};

/* Under the names of simple_call_counter: FakeTensorMode.__torch_dispatch__, FakeTensor..., and
 * ProxyTorchDispatchMode...; then those of the fast path. Counters only. */
struct pass_counts {
    uint64_t fake_mode, fake_tensor, proxy, fast[OP_COUNTERS];
};

/* One operator's part in it: calls that no other operator made. */
struct pass_operator {
    enum pass pass;
    struct str op;
    struct op_outer counts;
};

const char *pass_name(enum pass pass);
const char *pass_function(enum pass pass);

/* --- Inside the room --- */

struct pass_operators {
    vec_of(struct pass_operator)
    rows;
};

struct walker;
struct replay_state;
struct inputs;
struct program;

struct pass_run {
    struct walker *walker; /* its callbacks are taken over */
    const struct replay_state *state;
    const struct inputs *inputs;
    struct program *const *programs; /* in the order of their records; NULL: of no pass */
    const enum graph_kind *kinds;
    size_t n;
    struct pass_counts *counts;       /* PASSES; added to */
    struct pass_operators *operators; /* likewise */
    /* Inside. */
    struct program *dynamo; /* the graph of the compile that is at work */
    bool gradients;         /* AOTAutograd traces it with its gradients */
};

/* The last thing that is done with an attempt: clears its counters and its cache. False: the
 * walker's err. */
bool passes_run(struct pass_run *run);

#endif
