#include "replay/passes.h"

#include <stdlib.h>

#include "replay/inputs.h"
#include "replay/ops/above.h"
#include "replay/seed.h"
#include "replay/walk.h"

/* lift_fresh of the states' constants: six each time that PhiloxStateTracker is entered or left,
 * one for the tokens of effects (handle_effect_tokens_fn). */
enum { RNG_RESETS = 2, RNG_CONSTANTS = 6, EFFECT_TOKENS = 1 };
/* Each call with a SymFloat is run on tensors: both converted, then the call. */
enum { TENSORIFY_DISPATCHES = 3 };

/* copy_ of a changed input at a graph's end (apply_in_graph_mutations) asks both for their device.
 */
enum { COPY_DEVICES = 2 };
/* What is kept of a call in place is unpacked by four detaches; two have no use and are not
 * printed. */
enum { UNPRINTED_DETACHES = 2 };

static const struct {
    const char *name, *function;
} rows[] = {
#define PASS(id, name, function) { name, function },
#include "replay/passes.def"
#undef PASS
};

const char *pass_name(enum pass pass)
{
    return rows[pass].name;
}

const char *pass_function(enum pass pass)
{
    return rows[pass].function;
}

static bool is_tangent(const struct program *p, const struct step *step)
{
    return str_starts(p->graph->nodes[step->node].name, STR("tangents_"));
}

static uint64_t tensor_inputs(const struct program *p, bool tangents)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_steps; i++)
        n += p->steps[i].kind == STEP_INPUT && p->steps[i].expected->kind == EXPECT_TENSOR &&
             (tangents || !is_tangent(p, &p->steps[i]));
    return n;
}

bool first_backward(const struct program *p, uint32_t *ret)
{
    bool *hangs = calloc((size_t)p->n_steps + 1, sizeof *hangs);
    *ret = p->n_steps;
    for (uint32_t i = 0; hangs && i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        bool is = step->kind == STEP_INPUT && is_tangent(p, step);
        for (uint32_t k = 0; k < step->n_patches && !is; k++) {
            node_id from = p->patches[step->first_patch + k].from;
            is = from < p->n_steps && hangs[from];
        }
        hangs[step->node] = is;
        if (is && step->kind != STEP_INPUT && step->kind != STEP_OUTPUT && *ret == p->n_steps)
            *ret = i;
    }
    free(hangs);
    return hangs != NULL;
}

/* Inputs that the graph changes at its end. */
static uint64_t changed_inputs(const struct program *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        if (step->kind == STEP_OPERATOR && str_is(op_name(step->op), "aten.copy_.default") &&
            step->n_patches && p->patches[step->first_patch].at == &step->args[0] &&
            p->patches[step->first_patch].from < p->n_steps)
            n += p->steps[p->patches[step->first_patch].from].kind == STEP_INPUT;
    }
    return n;
}

static bool has_tensor(struct value value)
{
    bool group = value.kind == VALUE_TUPLE || value.kind == VALUE_LIST;
    return value.kind == VALUE_TENSOR ||
           (group && value.n && value.u.items[0].kind == VALUE_TENSOR);
}

/* Does a call make sizes that depend on data? They are other symbols in each pass, and the cache
 * has not seen what follows. */
static bool makes_sizes(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->notes[p->steps[i].node].fresh && has_tensor(p->first[p->steps[i].node]))
            return true;
    return false;
}

static void add_outside(struct pass_counts *to, uint64_t n)
{
    to->fake_mode += n;
    to->proxy += n;
}

static void mark_leaf(void *user, const struct program *program, const struct step *step,
                      struct value value)
{
    const struct pass_run *run = user;
    if (seed_requires_grad(run->seed, program->graph->nodes[step->node].name))
        ops_above_leaf(run->walker->ops, value);
}

struct pass_walk {
    struct program *program;
    enum above_mode mode;
    uint32_t from;                       /* the first step that counts */
    const struct op_totals *begin, *end; /* of its first walk; NULL: as it is by now */
    bool proxied;
};

/* What was done within calls, by either walk. */
static void add_within(struct pass_counts *to, const struct op_totals *begin,
                       const struct op_totals *end)
{
    to->fake_mode += end->dispatches - end->outermost - (begin->dispatches - begin->outermost);
    to->fake_tensor += end->fake_tensor - begin->fake_tensor;
    for (size_t i = 0; i < OP_COUNTERS; i++)
        to->fast[i] += end->fast[i] - begin->fast[i];
}

/* Walks a program and adds what it counted. */
static bool walk_pass(const struct pass_run *run, const struct pass_walk *walk,
                      struct pass_counts *to)
{
    struct ops *ops = run->walker->ops;
    const struct op_totals nothing = { 0 };
    ops_reset(ops);
    ops_stats_clear(ops);
    ops_set_above(ops, walk->mode);
    run->walker->counts_from = walk->from;
    bool ok = walk_again(run->walker, walk->program);
    ops_set_muted(ops, false);
    struct op_totals totals = ops_totals(ops);
    const struct above *above = ops_above(ops);
    uint64_t outside = totals.outermost + above->devices + above->detaches;
    to->fake_mode += outside;
    to->proxy += walk->proxied ? outside : 0;
    add_within(to, walk->begin ? walk->begin : &nothing, walk->begin ? walk->end : &totals);
    return ok && (!above->failed || !err_nomem(&run->walker->err));
}

static uint64_t dispatches_of(struct ops *ops, const char *name)
{
    const struct op *op = ops_find(ops, str_of(name));
    return op ? ops_stats(ops, op)->dispatches : 0;
}

static bool run_dynamo(const struct pass_run *run, size_t i, bool gradients)
{
    struct pass_walk walk = { .program = run->programs[i],
                              .mode = ABOVE_FAKE,
                              .begin = &run->first[i].before,
                              .end = &run->first[i].after };
    struct pass_counts *dynamo = &run->counts[PASS_DYNAMO];
    uint64_t floats = 0;
    run->walker->input_again = gradients ? mark_leaf : NULL;
    if (!walk_pass(run, &walk, dynamo))
        return false;
    for (size_t k = 0; k < run->inputs->list.n; k++)
        floats += run->inputs->list.v[k].kind == INPUT_SYMBOL &&
                  str_starts(run->inputs->list.v[k].symbol.name, STR("zf"));
    /* item() of a float stands in the graph, too, until the float is specialized. */
    uint64_t walked = dispatches_of(run->walker->ops, "aten._local_scalar_dense.default");
    dynamo->fake_mode -= walked < floats ? walked : floats;
    run->counts[PASS_FLOATS].fake_mode += floats;
    return true;
}

static bool run_aot(const struct pass_run *run, size_t dynamo, size_t aot)
{
    struct pass_counts *counts = run->counts;
    const struct program *p = run->programs[aot];
    const struct first_walk *first = &run->first[aot];
    bool joint = run->kinds[aot] == GRAPH_JOINT;
    uint64_t inputs = tensor_inputs(p, true), forward = tensor_inputs(p, false);
    struct pass_walk walk = { .program = run->programs[dynamo],
                              .mode = ABOVE_FUNCTIONAL,
                              .begin = &first->before,
                              .end = joint ? &first->backward : &first->after };
    counts[PASS_RNG].fake_mode += RNG_RESETS * RNG_CONSTANTS + EFFECT_TOKENS;
    counts[PASS_INPUTS].fake_mode += inputs;
    counts[PASS_METADATA].fake_mode += forward; /* prim.device, as each is wrapped */
    add_outside(&counts[PASS_TRACE], inputs);
    add_outside(&counts[joint ? PASS_BACKWARD : PASS_TRACE],
                (joint ? COPY_DEVICES : COPY_DEVICES + 1) * changed_inputs(p));
    if (!walk_pass(run, &walk, &counts[PASS_METADATA]))
        return false;
    if (!makes_sizes(run->programs[dynamo]))
        walk.begin = NULL;
    walk.proxied = true;
    if (!walk_pass(run, &walk, &counts[PASS_TRACE]))
        return false;
    counts[PASS_TENSORIFY].fake_mode +=
        TENSORIFY_DISPATCHES * ops_above(run->walker->ops)->symbolic_numbers;
    run->walker->input_again = NULL;
    if (!joint)
        return true;
    add_outside(&counts[PASS_BACKWARD],
                UNPRINTED_DETACHES * ops_above(run->walker->ops)->saved_inplace);
    walk = (struct pass_walk){ .program = run->programs[aot],
                               .mode = ABOVE_FUNCTIONAL,
                               .begin = &first->backward,
                               .end = &first->after,
                               .proxied = true };
    return first_backward(p, &walk.from) ? walk_pass(run, &walk, &counts[PASS_BACKWARD])
                                         : !err_nomem(&run->walker->err);
}

/* The joint or inference graph that AOTAutograd made of a Dynamo graph: the next one; n: none. */
static size_t aot_of(const struct pass_run *run, size_t dynamo)
{
    for (size_t i = dynamo + 1; i < run->n && run->kinds[i] != GRAPH_DYNAMO; i++)
        if (run->kinds[i] == GRAPH_JOINT || run->kinds[i] == GRAPH_INFERENCE)
            return i;
    return run->n;
}

bool passes_run(const struct pass_run *run)
{
    struct walker *w = run->walker;
    bool ok = true; /* memory; a walk that fails for less leaves its pass short */
    w->user = (void *)run;
    w->counts = true;
    ops_forget_calls(w->ops);
    for (size_t i = 0; i < run->n && ok; i++) {
        if (run->kinds[i] != GRAPH_DYNAMO)
            continue;
        size_t aot = aot_of(run, i);
        bool joint = aot < run->n && run->kinds[aot] == GRAPH_JOINT;
        ok = (run_dynamo(run, i, joint) && (aot == run->n || run_aot(run, i, aot))) ||
             w->err.kind != ERR_ENV;
        w->failed = false;
    }
    ops_set_above(w->ops, ABOVE_NOTHING);
    w->counts = false;
    w->input_again = NULL;
    return ok;
}
