/* Reports the calls that rules make to an observer. */
#include "replay/ops/dispatch/context.h"

const struct nested_observer *ops_set_parts(struct ops *ops, const struct nested_observer *parts)
{
    const struct nested_observer *before = ops->parts;
    ops->parts = parts;
    return before;
}

bool ops_tells_parts(const struct ops *ops)
{
    return ops->parts != NULL;
}

struct ops_outside ops_step_out(struct ops *ops)
{
    struct ops_outside outside = { ops->parts, ops->depth, ops->nesting, ops->kernel,
                                   ops->written.n };
    ops->parts = NULL;
    ops->depth = ops->nesting = ops->kernel = 0;
    return outside;
}

void ops_step_in(struct ops *ops, struct ops_outside outside)
{
    ops->parts = outside.parts;
    ops->depth = outside.depth;
    ops->nesting = outside.nesting;
    ops->kernel = outside.kernel;
    ops->written.n = outside.written;
    ops->outcome = OP_DONE;
}

static enum op_outcome failed(struct ops *ops, const struct err *err)
{
    if (err_is_set(err))
        ops->failure = *err;
    return ops_no_memory(ops);
}

enum op_outcome observed_call(struct call *c, struct value *bound)
{
    struct ops *ops = c->ops;
    const struct nested_observer *parts = ops->parts;
    struct err err = { .kind = ERR_NONE };
    enum ops_part part = parts->begin(parts->user, c->op, bound, c->n_args, &err);
    if (part == PART_FAILED)
        return failed(ops, &err);
    ops->parts = part == PART_WHOLE ? NULL : parts;
    enum op_outcome outcome = run_call(c, is_dispatched(c));
    ops->parts = parts;
    if (outcome == OP_DONE && part == PART_WHOLE &&
        !parts->end(parts->user, c->op, &c->op->schema, bound, c->ret, &err))
        outcome = failed(ops, &err);
    return outcome;
}
