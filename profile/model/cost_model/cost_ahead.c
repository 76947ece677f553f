#include "profile/model/cost_model/cost_ahead.h"

#include "profile/model/profile.h"

/* What a node of an expression takes, in ns, with PyTorch 2.13: least squares over tf_mixnet_l.eval
 * and two parts of it (19,576 to 281,003 nodes of guards), without what the calls take besides. An
 * evaluation goes over its expression in Dynamo and again in AOTAutograd (simplify(), xreplace(),
 * bound_sympy()); a guard is evaluated without axioms, printed, and searched for common
 * subexpressions (ShapeEnv.produce_guards_verbose, PyExprCSEPass of torch/_dynamo/guards.py). */
#define EVALUATED_NODE_NS 300000
#define GUARD_NODE_NS     390000

static int64_t nodes_ns(uint64_t nodes, int64_t each)
{
    const uint64_t most = UINT64_C(1) << 36; /* so that sums do not overflow */
    return (int64_t)(nodes < most ? nodes : most) * each;
}

bool cost_ahead_make(struct cost_ahead *ret, struct trace *trace, int release,
                     struct cost_ahead_nodes nodes, struct err *err)
{
    const struct profile_options how = { .replay = true, .cost_model = true, .ahead = release };
    struct profile *profile = profile_build(&trace, 1, &how, err);
    if (!profile)
        return false;
    *ret = (struct cost_ahead){
        .shares = profile->cost_model.estimated,
        .evaluated_ns = nodes_ns(nodes.evaluated, EVALUATED_NODE_NS),
        .guards_ns = nodes_ns(nodes.guards, GUARD_NODE_NS),
        .release = profile->cost_model.release,
    };
    int64_t longer = (int64_t)ret->shares.term_ns[COST_TERM_LONG];
    ret->shares.term_ns[COST_TERM_LONG] = 0;
    ret->ns = profile->cost_model.estimated_ns - longer + ret->evaluated_ns + ret->guards_ns;
    profile_free(profile);
    return true;
}
