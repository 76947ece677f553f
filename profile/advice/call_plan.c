#include "profile/advice/call_plan.h"

bool call_plan_makes_entries(const struct call_plan *plan)
{
    return plan->marks.n || plan->automatic || plan->no_duck || plan->by_policy;
}

bool call_plan_is_empty(const struct call_plan *plan)
{
    return !call_plan_makes_entries(plan) && !plan->limit && !plan->accumulated && !plan->holds.n &&
           !plan->dropped.n && !plan->restarts.n && !plan->breaks.n && !plan->failures;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

bool call_plan_excludes(const struct call_plan *plan, const struct call_plan *other)
{
    return plan->marks.n && other->marks.n && plan->unbacked != other->unbacked;
}

bool call_plan_merge(struct call_plan *plan, const struct call_plan *other)
{
    if (other->marks.n && plan->marks.n)
        buf_putc(&plan->marks, ',');
    buf_put(&plan->marks, buf_str(&other->marks));
    plan->unbacked |= other->unbacked;
    plan->automatic |= other->automatic;
    plan->no_duck |= other->no_duck;
    plan->limit = greater(plan->limit, other->limit);
    plan->accumulated = greater(plan->accumulated, other->accumulated);
    plan->spared_ns += other->spared_ns;
    plan->failures += other->failures;
    for (size_t i = 0; i < other->holds.n; i++)
        if (!vec_push(&plan->holds, other->holds.v[i]))
            return false;
    for (size_t i = 0; i < other->dropped.n; i++)
        if (!vec_push(&plan->dropped, other->dropped.v[i]))
            return false;
    for (size_t i = 0; i < other->restarts.n; i++)
        if (!vec_push(&plan->restarts, other->restarts.v[i]))
            return false;
    for (size_t i = 0; i < other->breaks.n; i++)
        if (!vec_push(&plan->breaks, other->breaks.v[i]))
            return false;
    return !plan->marks.failed;
}

void call_plan_release(struct call_plan *plan)
{
    buf_release(&plan->marks);
    vec_release(&plan->holds);
    vec_release(&plan->dropped);
    vec_release(&plan->restarts);
    vec_release(&plan->breaks);
}
