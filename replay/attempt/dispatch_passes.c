#include "replay/attempt/dispatch_passes.h"

#include <stdlib.h>

#include "replay/attempt/inputs.h"
#include "replay/attempt/replay_state.h"
#include "replay/ops/dispatch/ablations.h"
#include "replay/ops/layers.h"
#include "replay/ops/model/dispatch_model.h"
#include "replay/ops/model/recall.h"
#include "replay/ops/model/stats.h"
#include "replay/program/traced.h"
#include "replay/program/walk.h"

/* lift_fresh of the constants of random states: six each time that PhiloxStateTracker is entered or
 * left, and one for the tokens of effects (handle_effect_tokens_fn). */
enum { RNG_RESETS = 2, RNG_CONSTANTS = 6, EFFECT_TOKENS = 1 };
/* Each call with a SymFloat is run on tensors: two conversions, then the call. */
enum { TENSORIFY_DISPATCHES = 3 };

/* copy_ of a changed input at a graph's end (apply_in_graph_mutations) gets the device of both. */
enum { COPY_DEVICES = 2 };
/* The result of an in-place call that is saved for backward is unpacked by four detaches; two of
 * them are unused and are not printed. */
enum { UNPRINTED_DETACHES = 2 };

/* Each tangent is a view of its output (view_avoid_dupes_with_primals), which is computed by two
 * dispatches more, and is detached (coerce_tangent_and_suggest_memory_format). */
enum { TANGENT_DISPATCHES = 4 };

static const struct {
    const char *name, *function;
} rows[] = {
#define PASS(id, name, function) { name, function },
#include "replay/attempt/dispatch_passes.def"
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

static uint64_t tensor_inputs(const struct program *p, bool tangents)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_steps; i++)
        n += p->steps[i].kind == STEP_INPUT && p->steps[i].expected->kind == EXPECT_TENSOR &&
             (tangents || !is_tangent(&p->graph->nodes[i]));
    return n;
}

/* Finds the first step that depends on a tangent; n_steps when none does. False: out of memory. */
static bool first_backward(const struct program *p, uint32_t *ret)
{
    bool *hangs = calloc((size_t)p->n_steps + 1, sizeof *hangs);
    *ret = p->n_steps;
    for (uint32_t i = 0; hangs && i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        bool is = is_tangent(&p->graph->nodes[i]);
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

/* Counts the inputs that the graph changes at its end. */
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

/* Returns whether an ablation leaves a pass out: those that are not needed for a graph cannot be
 * part of the roofline. */
static bool is_left_out(const struct pass_run *run, enum pass pass)
{
    return ops_is_ablated(run->walker->ops, ABLATION_ROOFLINE) && pass != PASS_DYNAMO &&
           pass != PASS_TRACE && pass != PASS_BACKWARD;
}

static void add_around(struct pass_run *run, enum pass pass, uint64_t n)
{
    run->counts[pass].fake_mode += is_left_out(run, pass) ? 0 : n;
}

/* Adds prim.device around a pass, which passes the proxy mode, too, if there is one. */
static void add_devices(struct pass_run *run, enum pass pass, uint64_t n, bool proxied)
{
    const struct ops *ops = run->walker->ops;
    if (ops_is_ablated(ops, ABLATION_DEVICE_PROPERTY) || ops_is_ablated(ops, ABLATION_ROOFLINE))
        return;
    run->counts[pass].fake_mode += n;
    run->counts[pass].proxy += proxied ? n : 0;
    run->counts[pass].devices += n;
}

/* Adds dispatches that come from outside of a pass's calls. */
static void add_outside(struct pass_run *run, enum pass pass, uint64_t n)
{
    if (ops_is_ablated(run->walker->ops, ABLATION_ROOFLINE))
        return;
    run->counts[pass].fake_mode += n;
    run->counts[pass].proxy += n;
}

/* --- Inputs --- */

/* input: a node of Dynamo's graph. */
static void mark_leaf(const struct pass_run *run, const struct program *dynamo, node_id input,
                      struct value value)
{
    if (replay_state_requires_grad(run->state, dynamo->graph->nodes[input].name))
        ops_model_leaf(run->walker->ops, value, run->gradients);
}

/* Returns an input as AOTAutograd creates it anew. */
static struct value created_anew(const struct pass_run *run, struct value value)
{
    struct ops *ops = run->walker->ops;
    if (value.kind != VALUE_TENSOR || !value.u.tensor.meta->stride)
        return value;
    struct tensor settled = ops_model_settle(ops, value.u.tensor);
    struct tensor y = ops_new_tensor(ops, settled.meta);
    y.data = settled.data;
    return y.meta ? value_tensor(y) : value;
}

static struct value leaf_input(void *user, const struct program *program, const struct step *step,
                               struct value value)
{
    const struct pass_run *run = user;
    ops_model_input(run->walker->ops, value);
    mark_leaf(run, program, step->node, value);
    return value;
}

/* Notes an input of Dynamo's graph as AOTAutograd gets it. */
static void note_passed(struct pass_run *run, node_id node, struct value value)
{
    while (run->passed.n <= node)
        if (!vec_push(&run->passed, NULL)) {
            err_nomem(&run->walker->err);
            return;
        }
    run->passed.v[node] = value.kind == VALUE_TENSOR ? value.u.tensor.meta : NULL;
}

/* Returns an input of Dynamo's graph as AOTAutograd runs it. */
static struct value traced_input(void *user, const struct program *program, const struct step *step,
                                 struct value value)
{
    struct pass_run *run = user;
    value = created_anew(run, value);
    if (program == program->root)
        note_passed(run, step->node, value);
    ops_model_input(run->walker->ops, value);
    mark_leaf(run, program, step->node, value);
    return value;
}

/* A tangent is a view of its output (view_avoid_dupes_with_primals of
 * torch/_functorch/_aot_autograd/collect_metadata_analysis.py), in whose storage it stays. */
static void take_output_form(struct pass_run *run, struct value tangent)
{
    if (tangent.kind != VALUE_TENSOR)
        return;
    struct tensor x = tangent.u.tensor;
    for (size_t i = run->next_output; i < run->outputs.n; i++) {
        const struct pass_output *output = &run->outputs.v[i];
        if (output->dtype != x.meta->dtype || output->ndim != x.meta->ndim)
            continue;
        ops_model_set_form(run->walker->ops, x.storage, output->form);
        run->next_output = i + 1;
        return;
    }
}

/* Returns an input of a joint graph. Its graph prints what the sizes of one of Dynamo's inputs have
 * become since AOTAutograd got it. */
static struct value joint_input(void *user, const struct program *program, const struct step *step,
                                struct value value)
{
    struct pass_run *run = user;
    bool tangent = is_tangent(&program->graph->nodes[step->node]) || program != program->root;
    node_id origin = tangent ? NODE_NONE : aot_inputs_find(&run->aot_inputs, step->node);
    const struct tensor_meta *meta =
        origin != NODE_NONE && origin < run->passed.n ? run->passed.v[origin] : NULL;
    if (meta && value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim == meta->ndim)
        value = value_tensor(ops_new_tensor(run->walker->ops, meta));
    else
        value = created_anew(run, value);
    ops_model_input(run->walker->ops, value);
    if (tangent && program == program->root)
        take_output_form(run, value);
    if (origin != NODE_NONE)
        mark_leaf(run, run->dynamo, origin, value);
    return value;
}

/* --- Walks --- */

typedef struct value give_input(void *user, const struct program *program, const struct step *step,
                                struct value value);

struct pass_walk {
    enum pass pass;
    struct program *program;
    enum model_mode mode;
    give_input *input;
    uint32_t from; /* the first step that counts */
    bool proxied;
};

/* Dynamo's graph gets its asserts of sizes when it is done (insert_deferred_runtime_asserts of
 * torch/fx/passes/runtime_assert.py). */
static bool is_inserted(const struct step *step)
{
    return step->kind == STEP_OPERATOR && str_is(op_name(step->op), "aten._assert_scalar.default");
}

/* Returns whether a step asks for a tensor's size, which dispatches nothing. */
static bool asks_size(const struct step *step)
{
    return step->kind == STEP_OPERATOR && str_starts(op_name(step->op), STR("aten.sym_"));
}

/* Returns whether the graph asks a tensor for the sizes that a step takes. */
static bool takes_sizes(const struct program *p, const struct step *step)
{
    for (uint32_t k = 0; k < step->n_patches; k++) {
        node_id from = p->patches[step->first_patch + k].from;
        if (from < p->n_steps && p->steps[from].kind == STEP_METHOD &&
            str_is(p->steps[from].target, "size"))
            return true;
    }
    return false;
}

static bool is_counted(void *user, const struct program *program, const struct step *step)
{
    const struct pass_run *run = user;
    const struct pass_walk *walk = run->walk;
    bool dynamo = walk->pass == PASS_DYNAMO;
    ops_model_at(run->walker->ops, dynamo ? program->number : UINT32_MAX,
                 program->first_node + step->node, !takes_sizes(program, step));
    return step - program->steps >= walk->from && !(dynamo && is_inserted(step)) &&
           !asks_size(step);
}

static struct value settled_result(void *user, struct value value)
{
    const struct pass_run *run = user;
    if (value.kind == VALUE_TENSOR && value.u.tensor.meta->stride)
        value.u.tensor = ops_model_settle(run->walker->ops, value.u.tensor);
    return value;
}

static struct pass_paths paths_of(const struct op_stats *s, bool proxied)
{
    struct pass_paths ret = { .dispatches = s->dispatches,
                              .proxy = proxied ? s->by_depth[0] : 0,
                              .hits = s->hits,
                              .misses = s->misses,
                              .step_hits = s->step_hits,
                              .step_misses = s->step_misses,
                              .uncached = s->uncached,
                              .returned = s->returned,
                              .attempts = s->fast[OP_COUNTER_ATTEMPT_FAST],
                              .answers = s->fast[OP_COUNTER_FAST_CONTIGUOUS] +
                                         s->fast[OP_COUNTER_FAST_CHANNELS_LAST] };
    for (unsigned i = OP_BYPASS_NONE + 1; i < OP_BYPASSES; i++)
        ret.bypasses += s->bypasses[i];
    return ret;
}

static bool add_pass_operators(struct pass_run *run, const struct pass_walk *walk)
{
    struct ops *ops = run->walker->ops;
    for (size_t i = 0; i < ops_count(ops); i++) {
        const struct op *op = ops_looked_up(ops, i);
        if (!op)
            continue;
        struct pass_operator row = { walk->pass, op_name(op), *ops_outer(ops, op),
                                     paths_of(ops_stats(ops, op), walk->proxied) };
        if ((row.counts.calls || row.paths.dispatches) && !vec_push(&run->operators->rows, row))
            return err_nomem(&run->walker->err);
    }
    return true;
}

static bool note_output(struct pass_run *run, struct value value)
{
    if (value.kind != VALUE_TENSOR)
        return true;
    struct tensor x = value.u.tensor;
    sym_id form = ops_model_form(run->walker->ops, x.storage);
    return vec_push(&run->outputs, (struct pass_output){ x.meta->dtype, x.meta->ndim, form });
}

static bool note_outputs(struct pass_run *run, struct value result)
{
    run->outputs.n = run->next_output = 0;
    bool ok = note_output(run, result);
    if (result.kind == VALUE_TUPLE || result.kind == VALUE_LIST)
        for (uint32_t i = 0; i < result.n && ok; i++)
            ok = note_output(run, result.u.items[i]);
    return ok;
}

/* Walks a program and adds its counters. */
static bool walk_pass(struct pass_run *run, const struct pass_walk *walk)
{
    struct pass_counts left_out = { 0 };
    struct pass_counts *to = is_left_out(run, walk->pass) ? &left_out : &run->counts[walk->pass];
    struct ops *ops = run->walker->ops;
    ops_reset(ops);
    ops_stats_clear(ops);
    ops_set_model_mode(ops, walk->mode);
    ops_leave_backward(ops, walk->mode == MODEL_FUNCTIONAL);
    if (!walk->from)
        ops_model_next_pass(ops);
    run->walk = walk;
    run->walker->counted = is_counted;
    run->walker->result_again = walk->pass == PASS_DYNAMO ? settled_result : NULL;
    run->walker->input_again = walk->input;
    struct value result = value_none();
    bool ok = walk_again(run->walker, walk->program, &result);
    if (ok && walk->pass == PASS_METADATA && !note_outputs(run, result))
        ok = err_nomem(&run->walker->err);
    run->walker->input_again = NULL;
    run->walker->result_again = NULL;
    run->walker->counted = NULL;
    run->walk = NULL;
    ops_set_muted(ops, false);
    struct op_totals totals = ops_totals(ops);
    const struct dispatch_model *dispatch = ops_model(ops);
    uint64_t outside = totals.outermost + dispatch->devices + dispatch->detaches;
    to->fake_mode += totals.dispatches + dispatch->devices + dispatch->detaches;
    to->proxy += walk->proxied ? outside : 0;
    to->fake_tensor += totals.fake_tensor;
    to->devices += dispatch->devices;
    to->detaches += dispatch->detaches;
    for (size_t i = 0; i < OP_COUNTERS; i++)
        to->fast[i] += totals.fast[i];
    if (to != &left_out && !add_pass_operators(run, walk))
        return false;
    return ok && (!dispatch->failed || err_nomem(&run->walker->err));
}

static bool run_dynamo(struct pass_run *run, size_t i)
{
    struct pass_walk walk = { PASS_DYNAMO, run->programs[i], MODEL_FAKE, leaf_input, 0, false };
    struct pass_counts *dynamo = &run->counts[PASS_DYNAMO];
    uint64_t floats = 0;
    if (!walk_pass(run, &walk))
        return false;
    for (size_t k = 0; k < run->inputs->list.n; k++)
        floats += run->inputs->list.v[k].kind == INPUT_SYMBOL &&
                  str_starts(run->inputs->list.v[k].symbol.name, STR("zf"));
    /* item() of a float is in the graph, too, until the float is specialized. */
    const struct ops *ops = run->walker->ops;
    const struct op *item = ops_find(ops, STR("aten._local_scalar_dense.default"));
    uint64_t walked = item ? ops_stats(ops, item)->dispatches : 0;
    dynamo->fake_mode -= walked < floats ? walked : floats;
    add_around(run, PASS_FLOATS, floats);
    return true;
}

static bool run_aot(struct pass_run *run, size_t aot)
{
    const struct program *p = run->programs[aot];
    bool joint = run->kinds[aot] == GRAPH_JOINT;
    uint64_t inputs = tensor_inputs(p, true), forward = tensor_inputs(p, false);
    struct pass_walk walk = {
        PASS_METADATA, run->dynamo, MODEL_FUNCTIONAL, traced_input, 0, false
    };
    uint64_t changed = changed_inputs(p);
    add_around(run, PASS_RNG, RNG_RESETS * RNG_CONSTANTS + EFFECT_TOKENS);
    add_around(run, PASS_INPUTS, inputs);
    add_devices(run, PASS_METADATA, forward, false); /* as each result is wrapped */
    add_around(run, PASS_METADATA, TANGENT_DISPATCHES * (inputs - forward));
    add_devices(run, PASS_METADATA, inputs - forward, false);
    add_devices(run, PASS_TRACE, inputs, true);
    add_devices(run, joint ? PASS_BACKWARD : PASS_TRACE, COPY_DEVICES * changed, true);
    add_outside(run, PASS_TRACE, joint ? 0 : changed);
    if (!walk_pass(run, &walk))
        return false;
    walk.pass = PASS_TRACE;
    walk.proxied = true;
    if (!walk_pass(run, &walk))
        return false;
    add_around(run, PASS_TENSORIFY,
               TENSORIFY_DISPATCHES * ops_model(run->walker->ops)->symbolic_numbers);
    if (!joint)
        return true;
    add_outside(run, PASS_BACKWARD,
                UNPRINTED_DETACHES * ops_model(run->walker->ops)->saved_inplace);
    walk = (struct pass_walk){ PASS_BACKWARD, run->programs[aot], MODEL_FUNCTIONAL, joint_input, 0,
                               true };
    if (!aot_inputs_set(&run->aot_inputs, run->dynamo->graph, p->graph) ||
        !first_backward(p, &walk.from))
        return err_nomem(&run->walker->err);
    return walk_pass(run, &walk);
}

/* Returns the joint or inference graph that AOTAutograd made of a Dynamo graph: the next one; or,
 * if there is none, n, or ahead of AOTAutograd the Dynamo graph, which has the same inputs. */
static size_t aot_of(const struct pass_run *run, size_t dynamo)
{
    for (size_t i = dynamo + 1; i < run->n && run->kinds[i] != GRAPH_DYNAMO; i++)
        if (run->kinds[i] == GRAPH_JOINT || run->kinds[i] == GRAPH_INFERENCE)
            return i;
    return run->ahead ? dynamo : run->n;
}

bool passes_run(struct pass_run *run)
{
    struct walker *w = run->walker;
    bool ok = true; /* false when out of memory; other failures only leave a pass incomplete */
    w->user = run;
    w->counts = true;
    ops_forget_calls(w->ops);
    ops_set_recall(w->ops, 0);
    for (size_t i = 0; i < run->n && ok; i++) {
        if (run->kinds[i] != GRAPH_DYNAMO)
            continue;
        size_t aot = aot_of(run, i);
        run->dynamo = run->programs[i];
        run->passed.n = 0;
        run->gradients = aot < run->n && run->kinds[aot] == GRAPH_JOINT;
        ok = (run_dynamo(run, i) && (aot == run->n || run_aot(run, aot))) || w->err.kind != ERR_ENV;
        if (ok)
            w->err = (struct err){ .kind = ERR_NONE };
    }
    ops_set_model_mode(w->ops, MODEL_NOTHING);
    ops_leave_backward(w->ops, false);
    w->counts = false;
    aot_inputs_release(&run->aot_inputs);
    vec_release(&run->passed);
    vec_release(&run->outputs);
    return ok;
}
