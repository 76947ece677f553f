/* What it is estimated to take to compile a Dynamo graph, before that is done: Dynamo, AOTAutograd
 * without gradients, and the guards, by the cost model with the units that symtape ships. What the
 * first compile of a process takes once is not part of it.
 *
 *     struct cost_ahead ahead;
 *     if (cost_ahead_make(&ahead, tape, 213, nodes, &err)) look(ahead.ns);
 *
 * The units are of recorded compiles of models. A graph by itself, whose inputs are no attributes
 * of modules, and which is not recorded, takes a share of some terms. What expressions take is
 * sympy's: it grows with the number of distinct ones, and where they are long, with the nodes of
 * what is evaluated and guarded on. These stand for the terms of guards (COST_TERM_GUARD,
 * COST_TERM_LONG, COST_TERM_CHARACTER), and each takes what it does with PyTorch 2.13, whatever the
 * release. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_AHEAD_H

#include "profile/model/cost_model/cost_model.h"
#include "trace/base/err.h"

struct trace;

/* The nodes of expressions, as sympy counts them: of those that reach _maybe_evaluate_static_worker
 * (env_counts.evaluated_nodes), in one pass over the graph, and of the guards; and the number of
 * distinct expressions. */
struct cost_ahead_nodes {
    uint64_t evaluated, guards, exprs;
};

struct cost_ahead {
    int64_t ns;
    struct cost_shares shares; /* without what expressions take */
    /* What these take: ns is the sum of them and the shares. */
    int64_t evaluated_ns, guards_ns, exprs_ns;
    int release; /* whose units these are: 213 is PyTorch 2.13 */
};

/* `trace` has the graph alone, and is compiled with `release`. Returns false when out of memory, or
 * when the trace cannot be read. */
bool cost_ahead_make(struct cost_ahead *ret, struct trace *trace, int release,
                     struct cost_ahead_nodes nodes, struct err *err);

#endif
