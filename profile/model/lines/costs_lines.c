/* Counts costs of user lines: dispatches and their time from a deep recording, and the counts of
 * the replay for the calls of each line. */
#include "profile/model/lines/line_table.h"
#include "replay/ops/dispatch/ops.h"

static bool line_cost_row(struct line_table *table, struct str file, uint32_t line,
                          struct str function, struct str code, struct line_cost **ret)
{
    uint32_t row;
    *ret = NULL;
    if (file.n == 0)
        return true;
    if (!line_table_place(table, file, line, function, code, &row))
        return false;
    if (row != LINE_NOBODY)
        *ret = &table->b->lines.v[row].cost;
    return true;
}

static bool add_deep_line_costs(struct line_table *table, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->deep->n_dispatches; i++) {
        const struct deep_dispatch *d = &in->deep->dispatches[i];
        const struct deep_frame *user = deep_user_frame(in->deep, d->stack);
        struct line_cost *cost;
        if (!user || !build_takes(table->b, in, d->record))
            continue;
        if (!line_cost_row(table, user->file, user->line, user->function, user->code, &cost))
            return false;
        if (!cost)
            continue;
        cost->real_dispatches += d->mode == DEEP_FAKE_TENSOR_MODE ? d->count : 0;
        cost->real_allocations += op_allocates(d->op) ? d->count : 0;
        build_add_ns(&cost->self_ns, d->self_ns > INT64_MAX ? INT64_MAX : (int64_t)d->self_ns);
    }
    return true;
}

static bool add_stack_costs(struct line_table *table, const struct replay_stack *stack)
{
    struct line_cost *cost;
    if (!stack->location_graph || stack->location >= stack->location_graph->n_locations)
        return true;
    const struct location *at = line_table_location(stack->location_graph, stack->location);
    if (!line_cost_row(table, at->file, at->line, at->function, at->code, &cost))
        return false;
    if (cost) {
        cost->dispatches += stack->dispatches;
        cost->exprs += stack->exprs;
        cost->symbolic_tensors += stack->symbolic_tensors;
    }
    return true;
}

static bool add_replay_line_costs(struct line_table *table, const struct replay *replay)
{
    for (size_t i = 0; replay && i < replay->n_operators; i++)
        for (size_t k = 0; k < replay->operators[i].n_stacks; k++)
            if (!add_stack_costs(table, &replay->operators[i].stacks[k]))
                return false;
    return true;
}

bool line_costs(struct profile_build *b, struct line_table *lines, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++)
        ok = add_deep_line_costs(lines, &b->inputs[i]) &&
             add_replay_line_costs(lines, b->inputs[i].replay);
    return ok || err_nomem(err);
}
