/* The counts that rules report (replay/ops/dispatch/rule.h): dispatches that they compute
 * themselves, and the counters of the fast path. */
#include "replay/ops/layout/layout.h"
#include "replay/ops/model/model.h"

void count_counter(struct call *c, enum op_counter counter)
{
    if (c->ops->kernel)
        return;
    stats_count(c->ops, c->op->index, counter);
    log_event(c->ops, c->op->index, c->ops->depth, counter, 1, false);
}

void count_within(struct call *c, uint32_t n)
{
    struct ops *ops = c->ops;
    if (!ops->depth || ops->kernel)
        return; /* made by Python or C++ above FakeTensorMode, or by a kernel */
    stats_within(ops, c->op->index, ops->depth, n);
    log_event(ops, c->op->index, ops->depth, EVENT_WITHIN, n, false);
}

/* Returns whether steps are looked up: only while a pass is modelled, within another call. */
static bool is_looked_up(const struct ops *ops)
{
    return model_is_passing(ops) && ops->depth && !ops->kernel &&
           !ops_is_ablated(ops, ABLATION_CACHE);
}

/* Returns whether an ablation leaves the step out. */
static bool is_left_out(const struct ops *ops, const char *name)
{
    return ops_is_ablated(ops, ABLATION_SHORT_CIRCUIT_ALLOC) && op_allocates(str_of(name));
}

void count_step(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within)
{
    struct ops *ops = c->ops;
    struct fake_key key;
    enum op_bypass ignored;
    if (is_left_out(ops, name))
        return;
    if (is_looked_up(ops)) {
        bool known = fake_cache_step(ops, name, x, g, args, n, &key) &&
                     fake_cache_look(ops, &key, &ignored) != FAKE_MISS;
        stats_step(ops, c->op->index, known);
        if (known)
            within = 0;
        else
            fake_cache_keep(ops, &key, OP_BYPASS_NONE); /* else it would be counted again */
    }
    count_within(c, 1);
    if (ops->kernel || !ops->depth)
        return;
    stats_dispatch(ops, c->op->index, ops->depth + 1, within);
    log_event(ops, c->op->index, ops->depth + 1, EVENT_DISPATCH, within, false);
}

void count_step_made(struct call *c, const char *name, struct tensor x)
{
    struct ops *ops = c->ops;
    if (is_left_out(ops, name))
        return;
    if (is_looked_up(ops) && x.meta && x.meta->stride && !c->failed) {
        struct geometry g = geometry_of(x);
        struct fake_key key;
        enum op_bypass ignored;
        /* A newly made tensor is identified by its layout alone. */
        struct tensor nowhere = { x.meta, UINT32_MAX, NULL };
        bool known = fake_cache_step(ops, name, nowhere, &g, NULL, 0, &key) &&
                     fake_cache_look(ops, &key, &ignored) != FAKE_MISS;
        stats_step(ops, c->op->index, known);
        if (known) {
            struct value value = value_tensor(x);
            fake_cache_synthesize(ops, &value, x.storage);
        } else {
            fake_cache_keep(ops, &key, OP_BYPASS_NONE);
        }
    }
    count_within(c, 1);
}

void count_device(struct call *c, uint32_t n)
{
    if (!c->ops->kernel)
        model_devices(c->ops, n);
}
