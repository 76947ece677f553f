/* What it is estimated to take to compile a Dynamo graph, before that is done: Dynamo, AOTAutograd
 * without gradients, and the guards, by the cost model with the units that symtape ships. What the
 * first compile of a process takes once is not part of it.
 *
 *     struct cost_ahead ahead;
 *     if (cost_ahead_make(&ahead, tape, 213, nodes, &err)) look(ahead.ns);
 *
 * Where sizes become long expressions, nearly all of the time is sympy's, and grows with the nodes
 * of what is evaluated and guarded on. The terms of the cost model for the length of guards
 * (COST_TERM_LONG) are fitted on recordings with few long ones: here the nodes stand
 * for them, and each takes what it does with PyTorch 2.13, whatever the release. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H

#include "profile/model/cost_model/cost_model.h"
#include "trace/base/err.h"

struct trace;

/* The nodes of expressions, as sympy counts them: of those that reach _maybe_evaluate_static_worker
 * (env_counts.evaluated_nodes), in one pass over the graph, and of the guards. */
struct cost_ahead_nodes {
    uint64_t evaluated, guards;
};

struct cost_ahead {
    int64_t ns;
    struct cost_shares shares;       /* without what grows with the length of expressions */
    int64_t evaluated_ns, guards_ns; /* what does: ns is the sum of these and the shares */
    int release;                     /* whose units these are: 213 is PyTorch 2.13 */
};

/* `trace` has the graph alone, and is compiled with `release`. Returns false when out of memory, or
 * when the trace cannot be read. */
bool cost_ahead_make(struct cost_ahead *ret, struct trace *trace, int release,
                     struct cost_ahead_nodes nodes, struct err *err);

#endif
