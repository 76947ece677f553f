#include "replay/ops/dispatch/ablations.h"

#include "replay/ops/dispatch/context.h"

static const struct ablation_row rows[] = {
#define ABLATION(id, name, operator_, changes) { name, changes, operator_ },
#include "replay/ops/dispatch/ablations.def"
#undef ABLATION
};

const struct ablation_row *ablation_row(enum ablation ablation)
{
    return &rows[ablation];
}

bool ablation_by_name(struct str name, enum ablation *ret)
{
    for (unsigned i = 0; i < ABLATIONS; i++)
        if (str_is(name, rows[i].name)) {
            *ret = (enum ablation)i;
            return true;
        }
    return false;
}

bool ops_ablate(struct ops *ops, enum ablation ablation, const struct op *op, bool on)
{
    struct op *row = op ? op_table_row(&ops->table, op->index) : NULL;
    uint32_t *bits = row ? &row->ablated : &ops->ablated;
    if (op && !row)
        return false;
    *bits = on ? *bits | 1u << ablation : *bits & ~(1u << ablation);
    return true;
}

bool ops_is_ablated(const struct ops *ops, enum ablation ablation)
{
    return ops->ablated >> ablation & 1;
}

bool op_is_ablated(const struct op *op, enum ablation ablation)
{
    return op->ablated >> ablation & 1;
}

bool is_ablated(const struct call *c, enum ablation ablation)
{
    return (c->ops->ablated | c->op->ablated) >> ablation & 1;
}

/* make_fast_binary_impl restores the mode that the dispatcher took away ("with mode:"). Without
 * it, what the slow path calls is dispatched by its arguments, which are FakeTensors. */
void begin_slow_path(struct call *c)
{
    if (ops_is_ablated(c->ops, ABLATION_RESTORE_MODE))
        c->ops->without_mode = c->ops->depth;
}

bool fast_path(const struct call *c, bool registered)
{
    return (c->symbolic || ops_is_ablated(c->ops, ABLATION_FAST_IF_SYMBOLIC)) && !in_kernel(c) &&
           !ops_is_ablated(c->ops, ABLATION_FAST_PATH) &&
           registered != op_is_ablated(c->op, ABLATION_FAST_PATH);
}
