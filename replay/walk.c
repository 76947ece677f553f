#include "replay/walk.h"

#include "replay/ops/above.h"

struct call_result {
    enum op_outcome outcome;
    struct value value;
    bool by_arithmetic; /* refused for what sizes ran into: walker->arithmetic */
};

static bool run(struct walker *w, struct program *p, const struct value *inputs, uint32_t n,
                struct value *ret);

static bool fail_memory(struct walker *w)
{
    if (!w->failed)
        err_nomem(&w->err);
    w->failed = true;
    return false;
}

/* ---- Arguments and results ---- */

static void set_result(struct program *p, const struct step *step, struct value value, bool first)
{
    program_set(p, step, value);
    if (first)
        p->first[step->node] = value;
}

/* What an unsupported call gave: its getitems have recorded metas of their own. */
static struct value unknown_value(void)
{
    return (struct value){ .kind = VALUE_OPAQUE, .u.text = STR("unknown") };
}

static bool is_unknown(struct value value)
{
    return value.kind == VALUE_OPAQUE && str_is(value.u.text, "unknown");
}

static struct value recorded_value(struct walker *w, const struct step *step)
{
    const struct expected *e = step->expected;
    if (e->kind == EXPECT_NOTHING)
        return unknown_value();
    know_unbacked(&w->unbound, w->ops, e); /* what the call would have made */
    return expected_value(w->ops, e);
}

enum { KEEP_NESTING = 8 };

/* A value of the walk before, on storages of this one. */
static struct value same_again(struct walker *w, struct value value, unsigned depth)
{
    if (value.kind == VALUE_TENSOR)
        return value_tensor(ops_new_tensor(w->ops, value.u.tensor.meta));
    if ((value.kind != VALUE_TUPLE && value.kind != VALUE_LIST) || depth > KEEP_NESTING)
        return value;
    struct value *items = ops_values(w->ops, (size_t)value.n + 1);
    if (!items)
        return fail_memory(w), value_none();
    for (uint32_t i = 0; i < value.n; i++)
        items[i] = same_again(w, value.u.items[i], depth + 1);
    return value_items(value.kind, items, value.n);
}

/* A copy that outlives ops_reset(): metas do anyway. */
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

static bool index_of(const struct step *step, struct sym_pool *pool, uint32_t n, uint32_t *ret)
{
    int64_t index;
    if (!sym_to_i64(pool, step->args[1].u.sym, &index))
        return false;
    index += index < 0 ? n : 0;
    *ret = (uint32_t)index;
    return index >= 0 && index < n;
}

static struct call_result call_getitem(struct walker *w, const struct step *step)
{
    struct call_result ret = { .outcome = OP_DONE };
    struct value from = step->args[0];
    uint32_t index;
    if ((from.kind == VALUE_TUPLE || from.kind == VALUE_LIST) &&
        index_of(step, ops_pool(w->ops), from.n, &index))
        ret.value = from.u.items[index];
    else
        ret.outcome = ops_call_function(w->ops, step->target, step->args, step->n_args,
                                        step->keywords, step->n_keywords, &ret.value);
    return ret;
}

static bool has_unknown(const struct step *step)
{
    for (uint32_t i = 0; i < step->n_args; i++)
        if (is_unknown(step->args[i]))
            return true;
    return false;
}

static struct call_result call_step(struct walker *w, const struct step *step)
{
    struct call_result ret = { .outcome = OP_UNSUPPORTED };
    switch (step->kind) {
    case STEP_OPERATOR:
        ret.outcome = ops_call_op(w->ops, step->op, step->args, step->n_args, step->keywords,
                                  step->n_keywords, &ret.value);
        break;
    case STEP_FUNCTION:
        ret.outcome = ops_call_function(w->ops, step->target, step->args, step->n_args,
                                        step->keywords, step->n_keywords, &ret.value);
        break;
    case STEP_METHOD:
        ret.outcome = ops_call_method(w->ops, step->target, step->args, step->n_args,
                                      step->keywords, step->n_keywords, &ret.value);
        break;
    case STEP_GETITEM: return call_getitem(w, step);
    default: break;
    }
    if (w->inject && ret.outcome == OP_DONE && injection_hits(w->inject, step->target))
        ret.outcome = injection_spoil(w->inject, w->ops, &ret.value);
    return ret;
}

/* run_decompositions() runs operators again, without what torch.export makes of min() and max(), but
 * where the operator cache knows a call from the export itself it answers as then. The archive does
 * not tell what the export ran, so a call that differs is made the other way, too; of the two, which
 * ask and answer otherwise, the record has one. */
static void call_after_export(struct walker *w, const struct step *step, struct call_result *result)
{
    if (!w->exported || result->outcome != OP_DONE ||
        compare_value(w->ops, step->expected, result->value) == LIKE_SAME)
        return;
    ops_set_export(w->ops, false);
    ops_forget_calls(w->ops);
    struct call_result other = call_step(w, step);
    ops_set_export(w->ops, true);
    if (other.outcome == OP_DONE &&
        compare_value(w->ops, step->expected, other.value) == LIKE_SAME)
        *result = other;
    else
        ops_forget_calls(w->ops);
}

/* ---- Judging ---- */

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
    set_detail(w, p, step->node, buf_str(&text), value_none());
    buf_release(&text);
}

static void judge(struct walker *w, struct program *p, const struct step *step,
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
        bind_unbacked(&w->unbound, w->ops, e, result->value);
    note->outcome = OUTCOME_MATCH;
    note->pending = true;
    if (compare_value(w->ops, e, result->value) == LIKE_OTHER) {
        note->outcome = OUTCOME_MISMATCH;
        note->pending = false;
        note->adopted = true;
        set_detail(w, p, step->node, STR(""), result->value);
        result->value = recorded_value(w, step);
    }
}

/* A failure of sizes is sticky until it is asked for; a rule that refused anyway has said why. */
static bool settle_arithmetic(struct walker *w, struct call_result *result)
{
    w->arithmetic.kind = ERR_NONE;
    if (sym_ok(ops_pool(w->ops), &w->arithmetic))
        return true;
    result->by_arithmetic = result->outcome == OP_DONE;
    if (result->by_arithmetic)
        result->outcome = OP_REFUSED;
    return w->arithmetic.kind != ERR_ENV;
}

static bool run_call(struct walker *w, struct program *p, const struct step *step, bool first)
{
    struct call_result result = { .outcome = OP_UNSUPPORTED };
    bool ready = program_fill(p, step);
    if (first && w->before && !w->before(w->user, p, step))
        return fail_memory(w);
    env_set_origin(w->env, (struct env_origin){ .graph = p->number,
                                                .node = p->first_node + step->node,
                                                .rule = step->rule });
    uint32_t n_symbols = env_n_symbols(w->env);
    uint64_t memo_uses = ops_memo_uses(w->ops);
    bool again = !first && p->notes[step->node].fresh;
    if (again && w->counts && ready && !has_unknown(step))
        (void)call_step(w, step);
    if (again)
        result = (struct call_result){ OP_DONE, same_again(w, p->first[step->node], 0), false };
    else if (ready && !has_unknown(step))
        result = call_step(w, step);
    if (w->failed)
        return false;
    if (!settle_arithmetic(w, &result))
        return fail_memory(w);
    if (result.outcome == OP_FAILED) {
        w->failed = true;
        if (!ops_failed(w->ops, &w->err))
            err_nomem(&w->err);
        return false;
    }
    if (first && ready && !has_unknown(step))
        call_after_export(w, step, &result);
    if (first) {
        if (!unbound_gather(&w->unbound, w->env))
            return fail_memory(w);
        if (ready && !has_unknown(step)) {
            judge(w, p, step, &result);
        } else {
            p->notes[step->node].outcome = ready ? OUTCOME_UNSUPPORTED : OUTCOME_REFUSED;
            p->notes[step->node].adopted = true;
            set_detail(w, p, step->node,
                       ready ? STR("an argument is the result of a call that is not supported")
                             : STR("an argument names a value that does not exist"),
                       value_none());
            result.value = recorded_value(w, step);
        }
    } else if (p->notes[step->node].adopted || result.outcome != OP_DONE) {
        result.value = recorded_value(w, step);
    }
    if (result.outcome == OP_DONE && step->kind == STEP_OPERATOR && !again)
        program_take_written(p, step);
    set_result(p, step, result.value, first);
    if (first && (env_n_symbols(w->env) != n_symbols || ops_memo_uses(w->ops) != memo_uses)) {
        p->notes[step->node].fresh = true;
        p->first[step->node] = kept_value(w, p, result.value, 0);
    }
    return !first || !w->after || w->after(w->user, p, step, result.value) || fail_memory(w);
}

/* ---- The other statements ---- */

static bool run_input(struct walker *w, struct program *p, const struct step *step,
                      const struct value *inputs, uint32_t n, uint32_t *next, bool first)
{
    struct value value = *next < n ? inputs[*next]
                         : first   ? w->input(w->user, p, step)
                                   : same_again(w, p->first[step->node], 0);
    (*next)++;
    if (value.kind == VALUE_NONE && step->expected->kind == EXPECT_TENSOR)
        return fail_memory(w); /* who gave it had none */
    if (!first && w->input_again)
        value = w->input_again(w->user, p, step, value);
    set_result(p, step, value, first);
    if (first)
        p->notes[step->node].pending = value.kind != VALUE_NONE;
    return true;
}

static bool run_output(struct walker *w, struct program *p, const struct step *step,
                       struct value *ret)
{
    if (!program_fill(p, step))
        return true; /* something that is not there is returned: nobody used it here */
    if (!p->graph->returns_tuple && step->n_args == 1) {
        *ret = step->args[0];
        return true;
    }
    struct value *items = ops_values(w->ops, (size_t)step->n_args + 1);
    if (!items)
        return fail_memory(w);
    for (uint32_t i = 0; i < step->n_args; i++)
        items[i] = step->args[i];
    *ret = value_items(VALUE_TUPLE, items, step->n_args);
    return true;
}

static bool run_other(struct walker *w, struct program *p, const struct step *step, bool first)
{
    struct value value = unknown_value();
    if (step->kind == STEP_ALIAS && program_fill(p, step) && step->n_args)
        value = step->args[0];
    else if (step->kind == STEP_SUBGRAPH)
        value = (struct value){ .kind = VALUE_GRAPH, .u.text = step->target };
    else if (step->expected->kind != EXPECT_NOTHING)
        value = expected_value(w->ops, step->expected);
    else if (step->kind == STEP_ATTRIBUTE)
        value = (struct value){ .kind = VALUE_OPAQUE, .u.text = step->target };
    set_result(p, step, value, first);
    return true;
}

static bool run_step(struct walker *w, struct program *p, const struct step *step, bool first)
{
    switch (step->kind) {
    case STEP_OPERATOR:
    case STEP_FUNCTION:
    case STEP_METHOD:
    case STEP_MODULE:
    case STEP_GETITEM: return run_call(w, p, step, first);
    default: return run_other(w, p, step, first);
    }
}

static bool run(struct walker *w, struct program *p, const struct value *inputs, uint32_t n,
                struct value *ret)
{
    struct program *outer = w->program;
    uint32_t next = 0;
    bool ok = true, first = !p->walked;
    *ret = value_none();
    p->walked = true;
    w->program = p;
    for (uint32_t i = 0; i < p->n_steps && ok; i++) {
        const struct step *step = &p->steps[i];
        if (w->counts && p == p->root) {
            ops_set_muted(w->ops, i < w->counts_from);
            ops_above_silent(w->ops, i < w->counts_from);
        }
        if (step->kind == STEP_INPUT)
            ok = run_input(w, p, step, inputs, n, &next, first);
        else if (step->kind == STEP_OUTPUT)
            ok = run_output(w, p, step, ret);
        else
            ok = run_step(w, p, step, first);
    }
    w->program = outer;
    return ok;
}

/* A higher-order operator runs a child of the graph that it stands in. */
static enum op_outcome run_subgraph(void *user, struct str graph, const struct value *args,
                                    uint32_t n, struct value *ret)
{
    struct walker *w = user;
    struct program *child = w->program ? program_child(w->program, graph) : NULL;
    struct env_origin none = { .node = ENV_NODE_NONE, .rule = "" };
    if (!child || w->depth >= PROGRAM_MAX_NESTING)
        return OP_UNSUPPORTED;
    w->depth++;
    bool ok = run(w, child, args, n, ret);
    w->depth--;
    env_set_origin(w->env, none);
    return ok ? OP_DONE : OP_FAILED;
}

static bool run_children(struct walker *w, struct program *p)
{
    struct value ignored;
    for (uint32_t i = 0; i < p->n_children; i++) {
        struct program *child = p->children[i];
        if (!child->walked && !run(w, child, NULL, 0, &ignored))
            return false;
        if (!run_children(w, child))
            return false;
    }
    return true;
}

bool walk_program(struct walker *w, struct program *p)
{
    struct value ignored;
    ops_set_subgraph(w->ops, run_subgraph, w);
    return run(w, p, NULL, 0, &ignored) && run_children(w, p);
}

bool walk_again(struct walker *w, struct program *p)
{
    struct value ignored;
    ops_set_subgraph(w->ops, run_subgraph, w);
    return run(w, p, NULL, 0, &ignored);
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
    }
    for (uint32_t i = 0; i < p->n_children; i++)
        walk_finish(w, p->children[i]);
}

void walker_release(struct walker *walker)
{
    unbound_release(&walker->unbound);
}
