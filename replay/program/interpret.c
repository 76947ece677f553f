#include "replay/program/interpret.h"

#include <string.h>

static bool run_output(struct interpreter *in, const struct interpreter_callbacks *on,
                       struct program *p, const struct step *step, struct value *ret)
{
    if (!program_fill(p, step))
        return on->missing(in, p, step, ret);
    if (!p->graph->returns_tuple && step->n_args == 1) {
        *ret = step->args[0];
        return true;
    }
    struct value *items = ops_values(in->ops, (size_t)step->n_args + 1);
    if (!items)
        return err_nomem(in->err);
    memcpy(items, step->args, step->n_args * sizeof *items);
    *ret = value_items(VALUE_TUPLE, items, step->n_args);
    return true;
}

static bool run_alias(struct interpreter *in, const struct interpreter_callbacks *on,
                      struct program *p, const struct step *step, struct value *ret)
{
    if (!program_fill(p, step) || !step->n_args)
        return on->missing(in, p, step, ret);
    *ret = step->args[0];
    return true;
}

static bool run_statement(struct interpreter *in, const struct interpreter_callbacks *on,
                          struct program *p, const struct step *step, struct value *ret)
{
    if (step_is_call(step))
        return on->call(in, p, step, program_fill(p, step), ret);
    switch (step->kind) {
    case STEP_ALIAS: return run_alias(in, on, p, step, ret);
    case STEP_SUBGRAPH:
        *ret = (struct value){ .kind = VALUE_GRAPH, .u.text = step->target };
        return true;
    default: return on->other(in, p, step, ret);
    }
}

static bool run_steps(struct interpreter *in, const struct interpreter_callbacks *on,
                      struct program *p, const struct value *inputs, uint32_t n_inputs,
                      struct value *ret)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        struct value value = value_none();
        if (on->begin && !on->begin(in, p, step))
            return false;
        if (step->kind == STEP_OUTPUT) {
            if (!run_output(in, on, p, step, ret))
                return false;
        } else {
            const struct value *passed = number < n_inputs ? &inputs[number] : NULL;
            if (step->kind == STEP_INPUT ? !on->input(in, p, step, number++, passed, &value)
                                         : !run_statement(in, on, p, step, &value))
                return false;
            program_set(p, step, value);
        }
        if (on->end && !on->end(in, p, step, value))
            return false;
    }
    return true;
}

bool interpret(struct interpreter *in, const struct interpreter_callbacks *on, struct program *p,
               const struct value *inputs, uint32_t n_inputs, struct value *ret)
{
    struct program *outer = in->program;
    *ret = value_none();
    in->program = p;
    bool ok = run_steps(in, on, p, inputs, n_inputs, ret);
    in->program = outer;
    return ok;
}

bool step_getitem(const struct step *step, const struct sym_pool *pool, struct value *ret)
{
    struct value from = step->args[0];
    int64_t index;
    if ((from.kind != VALUE_TUPLE && from.kind != VALUE_LIST) ||
        !sym_to_i64(pool, step->args[1].u.sym, &index))
        return false;
    index += index < 0 ? from.n : 0;
    if (index < 0 || index >= from.n)
        return false;
    *ret = from.u.items[index];
    return true;
}
