/* Reports the calls that rules make to an observer. */
#include "replay/ops/dispatch/context.h"

const struct nested_observer *ops_set_nested_observer(struct ops *ops,
                                                      const struct nested_observer *observer)
{
    const struct nested_observer *before = ops->nested_observer;
    ops->nested_observer = observer;
    return before;
}

bool ops_has_nested_observer(const struct ops *ops)
{
    return ops->nested_observer != NULL;
}

struct ops_outside ops_step_out(struct ops *ops)
{
    struct ops_outside outside = { ops->nested_observer, ops->depth, ops->nesting, ops->kernel,
                                   ops->written.n };
    ops->nested_observer = NULL;
    ops->depth = ops->nesting = ops->kernel = 0;
    return outside;
}

void ops_step_in(struct ops *ops, struct ops_outside outside)
{
    ops->nested_observer = outside.nested_observer;
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
    const struct nested_observer *observer = ops->nested_observer;
    struct err err = { .kind = ERR_NONE };
    enum observation observed = observer->begin(observer->user, c->op, bound, c->n_args, &err);
    if (observed == OBSERVE_FAILED)
        return failed(ops, &err);
    ops->nested_observer = observed == OBSERVE_WHOLE ? NULL : observer;
    enum op_outcome outcome = run_call(c, is_dispatched(c));
    ops->nested_observer = observer;
    if (outcome == OP_DONE && observed == OBSERVE_WHOLE &&
        !observer->end(observer->user, c->op, &c->op->schema, bound, c->ret, &err))
        outcome = failed(ops, &err);
    return outcome;
}
