#include "profile/model/cost_model/cost_ahead.h"

#include "profile/model/profile.h"

/* What expressions take, in ns, and the shares of the terms, with PyTorch 2.13: least squares of
 * the relative errors over 16 graphs of 14 models (README.md). An evaluation goes over its
 * expression in Dynamo and again in AOTAutograd (simplify(), xreplace(), bound_sympy()); a guard is
 * evaluated without axioms, printed, and searched for common subexpressions
 * (ShapeEnv.produce_guards_verbose, PyExprCSEPass of torch/_dynamo/guards.py); a new expression is
 * made and simplified once. */
#define EVALUATED_NODE_NS 430000
#define GUARD_NODE_NS     220000
#define EXPR_NS           670000

/* A tensor that is an argument needs no source of a module's attribute, and no log describes it. */
static const double OF_TERM[COST_TERMS] = {
    [COST_TERM_ONCE] = 1,    [COST_TERM_ONCE_JOINT] = 1, [COST_TERM_UNIT] = 1,
    [COST_TERM_SIZE] = 0.55, [COST_TERM_INPUT] = 0.26,   [COST_TERM_JOINT] = 1
};

static int64_t exprs_ns(uint64_t n, int64_t each)
{
    const uint64_t most = UINT64_C(1) << 36; /* so that sums do not overflow */
    return (int64_t)(n < most ? n : most) * each;
}

/* Takes the share of each term, and returns what they sum up to. */
static int64_t take_terms(struct cost_shares *shares)
{
    double sum = shares->dispatch_ns;
    for (unsigned term = 0; term < COST_TERMS; term++) {
        shares->term_ns[term] *= OF_TERM[term];
        sum += shares->term_ns[term];
    }
    return cost_whole_ns(sum);
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
        .evaluated_ns = exprs_ns(nodes.evaluated, EVALUATED_NODE_NS),
        .guards_ns = exprs_ns(nodes.guards, GUARD_NODE_NS),
        .exprs_ns = exprs_ns(nodes.exprs, EXPR_NS),
        .release = profile->cost_model.release,
    };
    ret->ns = take_terms(&ret->shares) + ret->evaluated_ns + ret->guards_ns + ret->exprs_ns;
    profile_free(profile);
    return true;
}
