#include "replay/program/walk.h"

#include "replay/ops/layers.h"
#include "replay/ops/model/dispatch_model.h"
#include "replay/ops/model/stats.h"
#include "replay/program/gradients.h"

struct call_result {
    enum op_outcome outcome;
    struct value value;
    bool by_arithmetic; /* refused for what sizes ran into: walker->arithmetic */
};

/* The functions warm_*() handle a further walk, first_*() the first one. */

static enum op_outcome walk_subgraph(void *user, struct str graph, const struct value *args,
                                     uint32_t n, struct value *ret);

static bool fail_memory(struct walker *w)
{
    return err_nomem(&w->err);
}

/* Handles false from before() or after(). */
static bool stop_walk(struct walker *w)
{
    w->stopped |= !err_is_set(&w->err);
    return false;
}

/* ---- Arguments and results ---- */

/* The result of an unsupported call, whose getitems have recorded metas of their own. */
static struct value unknown_value(void)
{
    return (struct value){ .kind = VALUE_OPAQUE, .u.text = STR("unknown") };
}

static bool is_unknown_call(struct value value)
{
    return value.kind == VALUE_OPAQUE && str_is(value.u.text, "unknown");
}

static struct value recorded_value(struct walker *w, const struct step *step)
{
    const struct expected *e = step->expected;
    if (e->kind == EXPECT_NOTHING)
        return unknown_value();
    know_unbacked(&w->unbound, w->ops, e); /* the call would have created them */
    return expected_value(w->ops, e);
}

enum { KEEP_NESTING = 8 };

/* Returns a value of the previous walk with storages of this one. */
static struct value value_again(struct walker *w, struct value value, unsigned depth)
{
    if (value.kind == VALUE_TENSOR)
        return value_tensor(ops_new_tensor(w->ops, value.u.tensor.meta));
    if ((value.kind != VALUE_TUPLE && value.kind != VALUE_LIST) || depth > KEEP_NESTING)
        return value;
    struct value *items = ops_values(w->ops, (size_t)value.n + 1);
    if (!items)
        return fail_memory(w), value_none();
    for (uint32_t i = 0; i < value.n; i++)
        items[i] = value_again(w, value.u.items[i], depth + 1);
    return value_items(value.kind, items, value.n);
}

/* Returns a copy that outlives ops_reset(), which keeps metas anyway. */
static struct value kept_value(struct walker *w, struct program *p, struct value value,
                               unsigned depth)
{
    if ((value.kind != VALUE_TUPLE && value.kind != VALUE_LIST) || depth > KEEP_NESTING)
        return value;
    struct value *items = arena_array(&p->root->arena, struct value, (size_t)value.n + 1);
    if (!items)
        return fail_memory(w), value_none();
    for (uint32_t i = 0; i < value.n; i++)
        items[i] = kept_value(w, p, value.u.items[i], depth + 1);
    return value_items(value.kind, items, value.n);
}

/* ---- Calls ---- */

static struct call_result call_getitem(struct walker *w, const struct step *step)
{
    const struct arguments arguments = step_arguments(step);
    struct call_result ret = { .outcome = OP_DONE };
    if (!step_getitem(step, ops_pool(w->ops), &ret.value))
        ret.outcome = ops_call_function(w->ops, step->target, &arguments, &ret.value);
    return ret;
}

static bool has_unknown(const struct step *step)
{
    for (uint32_t i = 0; i < step->n_args; i++)
        if (is_unknown_call(step->args[i]))
            return true;
    return false;
}

/* Runs the nested graph that a call of a module names, as those of split_module
 * (torch/fx/passes/split_module.py) are called. */
static enum op_outcome call_module(struct walker *w, const struct step *step, struct value *ret)
{
    return step->n_keywords ? OP_UNSUPPORTED
                            : walk_subgraph(w, step->target, step->args, step->n_args, ret);
}

static struct call_result call_step(struct walker *w, const struct program *p,
                                    const struct step *step)
{
    const struct arguments arguments = step_arguments(step);
    struct call_result ret = { .outcome = OP_UNSUPPORTED };
    if (!gradients_pass(w->ops, p, step, w->grad_disabled)) {
        fail_memory(w);
        return ret;
    }
    switch (step->kind) {
    case STEP_OPERATOR: ret.outcome = ops_call_op(w->ops, step->op, &arguments, &ret.value); break;
    case STEP_FUNCTION:
        ret.outcome = ops_call_function(w->ops, step->target, &arguments, &ret.value);
        break;
    case STEP_METHOD:
        ret.outcome = ops_call_method(w->ops, step->target, &arguments, &ret.value);
        break;
    case STEP_MODULE: ret.outcome = call_module(w, step, &ret.value); break;
    case STEP_DTENSOR: ret.outcome = dtensor_call(w->ops, &w->mesh, p, step, &ret.value); break;
    case STEP_GETITEM: return call_getitem(w, step);
    default: break;
    }
    if (w->inject && ret.outcome == OP_DONE && injection_hits(w->inject, step->target))
        ret.outcome = injection_apply(w->inject, w->ops, &ret.value);
    return ret;
}

/* run_decompositions() runs operators again, without torch.export's handling of min() and max(),
 * but when the operator cache has a call from the export itself, it returns that result. The
 * archive does not say which calls the export made, so a call that differs is made in the other
 * way, too. Where the two add different guards and results, the record matches one of them. */
static void call_after_export(struct walker *w, const struct program *p, const struct step *step,
                              struct call_result *result)
{
    if (!w->exported || result->outcome != OP_DONE ||
        compare_value(w->ops, step->expected, result->value) == LIKE_SAME)
        return;
    ops_set_export(w->ops, false);
    ops_forget_calls(w->ops);
    struct call_result other = call_step(w, p, step);
    ops_set_export(w->ops, true);
    if (other.outcome == OP_DONE && compare_value(w->ops, step->expected, other.value) == LIKE_SAME)
        *result = other;
    else
        ops_forget_calls(w->ops);
}

/* ---- Comparison ---- */

static void set_detail(struct walker *w, struct program *p, node_id node, struct str text,
                       struct value got)
{
    struct note_detail *detail = arena_new(&p->root->arena, struct note_detail);
    struct str kept = detail ? arena_copy(&p->root->arena, text) : text;
    if (!detail || !kept.p) {
        fail_memory(w);
        return;
    }
    *detail = (struct note_detail){ kept, got };
    p->notes[node].detail = detail;
}

static void note_error(struct walker *w, struct program *p, const struct step *step,
                       const struct call_result *result)
{
    const struct ops_error *error = ops_error(w->ops);
    struct outcome_note *note = &p->notes[step->node];
    struct buf text = BUF_INIT;
    note->outcome = result->outcome == OP_REFUSED ? OUTCOME_REFUSED : OUTCOME_UNSUPPORTED;
    if (result->by_arithmetic)
        buf_puts(&text, w->arithmetic.text);
    else if (step->kind != STEP_MODULE && error)
        buf_printf(&text, "%.*s%s%.*s", STR_ARG(error->type), error->type.n ? ": " : "",
                   STR_ARG(error->text));
    if (text.failed)
        fail_memory(w);
    else
        set_detail(w, p, step->node, buf_str(&text), value_none());
    buf_release(&text);
}

/* Returns whether a later call changes the meta of a result in place (PyTorch's tag inplace_view)
 * to the recorded one. Dynamo's graph is printed when it is done, and each name of a tensor with
 * the meta that the tensor has by then; dtype and device do not change. */
static bool is_changed_later(const struct program *p, const struct step *step, struct value got)
{
    enum { NEXT_STEPS = 4096 };
    const struct expected *e = step->expected;
    if (got.kind != VALUE_TENSOR || e->kind != EXPECT_TENSOR ||
        got.u.tensor.meta->dtype != e->dtype ||
        (e->device.type != DEVICE_NONE && !device_equal(got.u.tensor.meta->device, e->device)))
        return false;
    for (uint32_t i = step->node + 1; i < p->n_steps && i <= step->node + NEXT_STEPS; i++) {
        const struct step *later = &p->steps[i];
        if (later->object == step->object && step_is_call(later) &&
            str_eq(later->expected->text, step->expected->text) &&
            ops_has_inplace_view(target_base_name(later->target)))
            return true;
    }
    return false;
}

static void compare_result(struct walker *w, struct program *p, const struct step *step,
                           struct call_result *result)
{
    struct outcome_note *note = &p->notes[step->node];
    const struct expected *e = step->expected;
    if (result->outcome != OP_DONE) {
        note_error(w, p, step, result);
        note->adopted = true;
        result->value = recorded_value(w, step);
        return;
    }
    if (w->unbound.symbols.n)
        bind_unbacked_symbols(&w->unbound, w->ops, e, result->value);
    if (w->other)
        return;
    note->outcome = OUTCOME_MATCH;
    note->pending = true;
    if (compare_value(w->ops, e, result->value) == LIKE_OTHER) {
        note->pending = false;
        if (is_changed_later(p, step, result->value))
            return;
        note->outcome = OUTCOME_MISMATCH;
        note->adopted = true;
        set_detail(w, p, step->node, STR(""), result->value);
        result->value = recorded_value(w, step);
    }
}

/* A failure of size arithmetic is sticky until it is read; a rule that refused has its own
 * reason. */
static bool take_arithmetic_failure(struct walker *w, struct call_result *result)
{
    w->arithmetic.kind = ERR_NONE;
    if (sym_ok(ops_pool(w->ops), &w->arithmetic))
        return true;
    result->by_arithmetic = result->outcome == OP_DONE;
    if (result->by_arithmetic)
        result->outcome = OP_REFUSED;
    return w->arithmetic.kind != ERR_ENV;
}

static bool walk_has_ended(const struct walker *w)
{
    return w->stopped || err_is_set(&w->err);
}

/* ---- Which of two metas is wrong ---- */

/* Compares the items of a call's result with the getitems after it. */
static enum likeness compare_items(struct walker *w, const struct program *p,
                                   const struct step *step, struct value result)
{
    enum { NEXT_STEPS = 32 };
    enum likeness ret = LIKE_SAME;
    for (uint32_t i = step->node + 1; i < p->n_steps && i <= step->node + NEXT_STEPS; i++) {
        const struct step *item = &p->steps[i];
        int64_t index;
        if (item->kind != STEP_GETITEM || item->n_patches != 1 || item->n_args != 2 ||
            p->patches[item->first_patch].from != step->node || !value_is_number(item->args[1]) ||
            !sym_to_i64(ops_pool(w->ops), item->args[1].u.sym, &index) || index < 0)
            continue;
        enum likeness one = index >= result.n
                                ? LIKE_OTHER
                                : compare_value(w->ops, item->expected, result.u.items[index]);
        ret = one > ret ? one : ret;
    }
    return ret;
}

struct trial {
    enum likeness likeness;
    uint32_t n_conditions;
};

/* Calls without guards and counts. */
static struct trial try_call(struct walker *w, const struct program *p, const struct step *step)
{
    struct err ignored = { 0 };
    struct trial ret = { LIKE_OTHER, env_n_suppressed(w->env) };
    struct call_result result = call_step(w, p, step);
    if (result.outcome == OP_DONE && sym_ok(ops_pool(w->ops), &ignored))
        ret.likeness = result.value.kind == VALUE_TUPLE || result.value.kind == VALUE_LIST
                           ? compare_items(w, p, step, result.value)
                           : compare_value(w->ops, step->expected, result.value);
    sym_ok(ops_pool(w->ops), &ignored);
    env_raised(w->env);
    ret.n_conditions = env_n_suppressed(w->env) - ret.n_conditions;
    return ret;
}

/* Returns whether a call may be made twice: it writes nothing, creates no symbol and runs no
 * subgraph. */
static bool can_try(const struct program *p, const struct step *step)
{
    struct str name = target_base_name(step->target);
    bool ret = step->kind >= STEP_OPERATOR && step->kind <= STEP_METHOD &&
               !step->expected->unbacked && !step->expected->unreadable &&
               !str_ends(name, STR("_"));
    for (uint32_t i = 0; i < step->n_patches && ret; i++) {
        node_id from = p->patches[step->first_patch + i].from;
        ret = from >= p->n_steps || p->steps[from].kind != STEP_SUBGRAPH;
    }
    return ret;
}

/* Of a result that differs, the recorded meta is used from there on. The first call that uses it
 * tells whether that was right: where the rule's result leads nearer to the call's own record, or
 * as near with fewer conditions, the recorded meta is wrong, and the rule's result is used. */
static void try_argument(struct walker *w, struct program *p, const struct step *step,
                         const struct patch *patch)
{
    struct outcome_note *note = &p->notes[patch->from];
    struct value recorded = *patch->at;
    if (note->outcome != OUTCOME_MISMATCH || !note->adopted || note->tried || !note->detail)
        return;
    ops_set_muted(w->ops, true);
    ops_model_silent(w->ops, true);
    env_suppress_guards(w->env);
    struct trial as_recorded = try_call(w, p, step);
    *patch->at = note->detail->got;
    ops_forget_calls(w->ops);
    struct trial as_computed = try_call(w, p, step);
    int better = (int)as_recorded.likeness - (int)as_computed.likeness;
    if (better == 0)
        better = (as_recorded.n_conditions > as_computed.n_conditions) -
                 (as_recorded.n_conditions < as_computed.n_conditions);
    note->tried = better != 0;
    if (better > 0) {
        note->adopted = false;
        p->current[patch->from] = p->first[patch->from] = note->detail->got;
    } else {
        *patch->at = recorded;
    }
    env_resume_guards(w->env);
    ops_forget_calls(w->ops);
    ops_model_silent(w->ops, false);
    ops_set_muted(w->ops, false);
}

static void try_arguments(struct walker *w, struct program *p, const struct step *step)
{
    bool can = false, known = false;
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *patch = &p->patches[step->first_patch + i];
        if (patch->from >= p->n_steps || p->notes[patch->from].outcome != OUTCOME_MISMATCH)
            continue;
        can = known ? can : can_try(p, step);
        known = true;
        if (can)
            try_argument(w, p, step, patch);
    }
}

/* Reports a failed call; the operators have the reason, or a subgraph has set it. */
static bool report_failed_call(struct walker *w, const struct program *p, const struct step *step)
{
    if (ops_failed(w->ops, &w->err) && err_is_set(&w->err))
        return false;
    return err_set(&w->err, ERR_INPUT, "%.*s: call %.*s could not be made", STR_ARG(p->graph->name),
                   STR_ARG(p->graph->nodes[step->node].name));
}

/* Sets the origin of the environment's guards until the next call. */
static void set_origin(struct walker *w, const struct program *p, const struct step *step)
{
    env_set_origin(w->env, (struct env_origin){ .graph = p->number,
                                                .node = p->first_node + step->node,
                                                .rule = step->name });
}

/* Handles failures of a call. False: the walk cannot continue. */
static bool check_call(struct walker *w, const struct program *p, const struct step *step,
                       struct call_result *result)
{
    if (walk_has_ended(w))
        return false;
    if (!take_arithmetic_failure(w, result))
        return fail_memory(w);
    return result->outcome != OP_FAILED || report_failed_call(w, p, step);
}

/* For a call whose arguments are not all known: uses the recorded meta as its result. */
static void adopt_recorded(struct walker *w, struct program *p, const struct step *step, bool ready,
                           struct call_result *result)
{
    struct outcome_note *note = &p->notes[step->node];
    note->outcome = ready ? OUTCOME_UNSUPPORTED : OUTCOME_REFUSED;
    note->adopted = true;
    set_detail(w, p, step->node,
               ready ? STR("an argument is the result of a call that is not supported")
                     : STR("an argument names a value that does not exist"),
               value_none());
    result->value = recorded_value(w, step);
}

static void take_written(struct program *p, const struct step *step,
                         const struct call_result *result)
{
    if (result->outcome == OP_DONE && step->kind == STEP_OPERATOR)
        program_take_written(p, step);
}

static bool first_call(struct interpreter *in, struct program *p, const struct step *step,
                       bool ready, struct value *ret)
{
    struct walker *w = in->user;
    struct call_result result = { .outcome = OP_UNSUPPORTED };
    if (w->before && !w->before(w->user, p, step, &w->err))
        return stop_walk(w);
    set_origin(w, p, step);
    uint32_t n_symbols = env_n_symbols(w->env);
    uint64_t memo_uses = ops_memo_uses(w->ops);
    bool known = ready && !has_unknown(step);
    if (known)
        try_arguments(w, p, step);
    if (known)
        result = call_step(w, p, step);
    if (!check_call(w, p, step, &result))
        return false;
    if (w->other && result.outcome != OP_DONE)
        return stop_walk(w);
    if (known)
        call_after_export(w, p, step, &result);
    if (!unbound_gather(&w->unbound, w->env))
        return fail_memory(w);
    if (known)
        compare_result(w, p, step, &result);
    else
        adopt_recorded(w, p, step, ready, &result);
    take_written(p, step, &result);
    gradients_note(p, step, result.value, &w->grad_disabled);
    *ret = p->first[step->node] = result.value;
    if (env_n_symbols(w->env) != n_symbols || ops_memo_uses(w->ops) != memo_uses) {
        p->notes[step->node].fresh = true;
        p->first[step->node] = kept_value(w, p, result.value, 0);
    }
    return true;
}

static bool warm_call(struct interpreter *in, struct program *p, const struct step *step,
                      bool ready, struct value *ret)
{
    struct walker *w = in->user;
    const struct outcome_note *note = &p->notes[step->node];
    struct call_result result = { .outcome = OP_UNSUPPORTED };
    bool known = ready && !has_unknown(step);
    set_origin(w, p, step);
    if (known && (!note->fresh || w->counts))
        result = call_step(w, p, step);
    if (note->fresh)
        result = (struct call_result){ OP_DONE, value_again(w, p->first[step->node], 0), false };
    if (!check_call(w, p, step, &result))
        return false;
    if (note->adopted || result.outcome != OP_DONE)
        result.value = recorded_value(w, step);
    if (!note->fresh)
        take_written(p, step, &result);
    *ret = w->counts && w->result_again ? w->result_again(w->user, result.value) : result.value;
    return true;
}

/* ---- The other statements ---- */

static bool fail_input(struct walker *w, const struct program *p, const struct step *step,
                       bool given)
{
    struct str graph = p->graph->name, input = p->graph->nodes[step->node].name;
    if (ops_short_of_memory(w->ops))
        return fail_memory(w);
    return err_set(&w->err, ERR_INPUT, "%.*s: input %.*s: %s", STR_ARG(graph), STR_ARG(input),
                   given ? "no tensor is passed where one was recorded"
                         : "its recorded sizes make no tensor");
}

static bool first_input(struct interpreter *in, struct program *p, const struct step *step,
                        uint32_t number, const struct value *passed, struct value *ret)
{
    struct walker *w = in->user;
    (void)number;
    w->input_is_set = false;
    if (passed)
        *ret = *passed;
    else if (!w->input(w->user, p, step, ret, &w->err))
        return false;
    if (walk_has_ended(w))
        return false;
    if (ret->kind == VALUE_NONE && step->expected->kind == EXPECT_TENSOR)
        return fail_input(w, p, step, passed != NULL);
    if (ret->kind == VALUE_NONE && !passed && step_is_list_input(p, step))
        *ret = unknown_value();
    p->first[step->node] = *ret;
    p->notes[step->node].pending =
        ret->kind != VALUE_NONE && !is_unknown_call(*ret) && !w->input_is_set;
    return true;
}

static bool warm_input(struct interpreter *in, struct program *p, const struct step *step,
                       uint32_t number, const struct value *passed, struct value *ret)
{
    struct walker *w = in->user;
    (void)number;
    *ret = passed ? *passed : value_again(w, p->first[step->node], 0);
    if (walk_has_ended(w))
        return false;
    if (ret->kind == VALUE_NONE && step->expected->kind == EXPECT_TENSOR)
        return fail_input(w, p, step, passed != NULL);
    if (w->input_again)
        *ret = w->input_again(w->user, p, step, *ret);
    return true;
}

static struct value other_value(struct walker *w, const struct step *step)
{
    if (step->expected->kind != EXPECT_NOTHING)
        return expected_value(w->ops, step->expected);
    if (step->kind == STEP_ATTRIBUTE)
        return (struct value){ .kind = VALUE_OPAQUE, .u.text = step->target };
    return unknown_value();
}

static bool walk_other(struct interpreter *in, struct program *p, const struct step *step,
                       struct value *ret)
{
    struct walker *w = in->user;
    if (step->kind == STEP_ATTRIBUTE && step->expected->kind == EXPECT_TENSOR && w->attribute)
        return w->attribute(w->user, p, step, ret, &w->err) && !walk_has_ended(w);
    *ret = other_value(w, step);
    return true;
}

static bool warm_other(struct interpreter *in, struct program *p, const struct step *step,
                       struct value *ret)
{
    struct walker *w = in->user;
    bool is_tensor = step->kind == STEP_ATTRIBUTE && p->first[step->node].kind == VALUE_TENSOR;
    if (!is_tensor)
        return walk_other(in, p, step, ret);
    *ret = value_again(w, p->first[step->node], 0);
    return !walk_has_ended(w);
}

/* An output or alias of a value that does not exist, which no other node of the graph uses. */
static bool walk_missing(struct interpreter *in, struct program *p, const struct step *step,
                         struct value *ret)
{
    return step->kind == STEP_OUTPUT || walk_other(in, p, step, ret);
}

static bool first_end(struct interpreter *in, struct program *p, const struct step *step,
                      struct value value)
{
    struct walker *w = in->user;
    if (step_is_call(step))
        return !w->after || w->after(w->user, p, step, value, &w->err) || stop_walk(w);
    if (step->kind != STEP_INPUT && step->kind != STEP_OUTPUT)
        p->first[step->node] = value;
    return true;
}

static bool walk_begin(struct interpreter *in, struct program *p, const struct step *step)
{
    struct walker *w = in->user;
    if (w->counts && w->counted && p == p->root) {
        bool silent = !w->counted(w->user, p, step);
        ops_set_muted(w->ops, silent);
        ops_model_silent(w->ops, silent);
    }
    return true;
}

static const struct interpreter_callbacks first_walk = {
    .begin = walk_begin,
    .end = first_end,
    .input = first_input,
    .call = first_call,
    .other = walk_other,
    .missing = walk_missing,
};

static const struct interpreter_callbacks warm_walk = {
    .begin = walk_begin,
    .input = warm_input,
    .call = warm_call,
    .other = warm_other,
    .missing = walk_missing,
};

static bool walk_nested(struct walker *w, struct program *p, const struct value *inputs, uint32_t n,
                        struct value *ret)
{
    const struct interpreter_callbacks *walk = p->walked ? &warm_walk : &first_walk;
    p->walked = true;
    w->interpreter.ops = w->ops;
    w->interpreter.user = w;
    w->interpreter.err = &w->err;
    return interpret(&w->interpreter, walk, p, inputs, n, ret);
}

/* A higher-order operator runs a subgraph of the graph in which it is called. */
static enum op_outcome walk_subgraph(void *user, struct str graph, const struct value *args,
                                     uint32_t n, struct value *ret)
{
    struct walker *w = user;
    struct program *at_work = w->interpreter.program;
    struct program *child = at_work ? program_child(at_work, graph) : NULL;
    struct env_origin none = { .node = ENV_NODE_NONE, .rule = "" };
    if (!child || w->depth >= PROGRAM_MAX_NESTING)
        return OP_UNSUPPORTED;
    w->depth++;
    bool ok = walk_nested(w, child, args, n, ret);
    w->depth--;
    env_set_origin(w->env, none);
    return ok ? OP_DONE : OP_FAILED;
}

static bool calls_flex_attention(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (step_is_call(&p->steps[i]) && str_contains(p->steps[i].target, STR("flex_attention")))
            return true;
    return false;
}

/* Runs the subgraphs that no call ran. */
static bool run_children(struct walker *w, struct program *p)
{
    struct value ignored;
    const bool modifies_scores = p->n_children && calls_flex_attention(p);
    for (uint32_t i = 0; i < p->n_children; i++) {
        struct program *child = p->children[i];
        ops_set_scalar_indices(w->ops, modifies_scores);
        bool ok = child->walked || walk_nested(w, child, NULL, 0, &ignored);
        ops_set_scalar_indices(w->ops, false);
        if (!ok)
            return false;
        if (!run_children(w, child))
            return false;
    }
    return true;
}

bool walk_program(struct walker *w, struct program *p)
{
    struct value ignored;
    ops_set_subgraph(w->ops, walk_subgraph, w);
    w->grad_disabled = false;
    return walk_nested(w, p, NULL, 0, &ignored) && run_children(w, p);
}

bool walk_again(struct walker *w, struct program *p, struct value *ret)
{
    ops_set_subgraph(w->ops, walk_subgraph, w);
    return walk_nested(w, p, NULL, 0, ret);
}

bool walk_inputs_differ(struct walker *w, const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].kind == STEP_INPUT && p->notes[i].pending &&
            compare_value(w->ops, p->steps[i].expected, program_got(p, i)) == LIKE_LATER)
            return true;
    return false;
}

void walk_finish(struct walker *w, struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        struct outcome_note *note = &p->notes[i];
        enum likeness good = w->by_hint ? LIKE_LATER : LIKE_SAME;
        if (note->pending && compare_value(w->ops, p->steps[i].expected, program_got(p, i)) > good)
            note->outcome = OUTCOME_MISMATCH;
        note->pending = false;
        p->differs |= note->outcome >= OUTCOME_MISMATCH;
    }
    for (uint32_t i = 0; i < p->n_children; i++) {
        walk_finish(w, p->children[i]);
        p->differs |= p->children[i]->differs;
    }
}

void walker_release(struct walker *walker)
{
    unbound_release(&walker->unbound);
}
