/* Headlines of deep recordings: dispatches, and work around them. */
#include "profile/model/format.h"
#include "profile/model/headlines.h"

enum { WORTH_PERCENT = 5 }; /* a share below this makes no headline */

void headline_dispatches(const struct profile *p, struct buf *out)
{
    const struct profile_costs *costs = &p->costs;
    const struct operator_cost *worst = NULL;
    for (uint32_t i = 0; i < costs->n_operators; i++)
        if (!worst || costs->operators[i].self_ns > worst->self_ns)
            worst = &costs->operators[i];
    if (!worst || worst->self_ns <= 0)
        return;
    format_count(out, costs->by_mode[DEEP_FAKE_TENSOR_MODE]);
    buf_puts(out, " dispatches of FakeTensorMode in all attempts, as recorded; ");
    format_share(out, worst->self_ns, costs->self_ns);
    buf_puts(out, " of the ");
    format_ns(out, costs->self_ns);
    buf_puts(out, " in dispatches is that of ");
    format_text(out, profile_name(p, worst->op), 0);
}

void headline_spots(const struct profile *p, struct buf *out)
{
    const struct profile_costs *costs = &p->costs;
    const struct cost_spot *worst = costs->n_spots ? &costs->spots[0] : NULL;
    if (!worst || !costs->spots_exclusive || worst->self_ns < p->compile_ns / 100 * WORTH_PERCENT)
        return;
    format_ns(out, worst->self_ns);
    buf_puts(out, " of ");
    format_ns(out, p->compile_ns);
    buf_puts(out, " went into ");
    format_text(out, worst->cost, 0);
    buf_puts(out, " itself, without what it called, in ");
    format_plural(out, worst->count, "call");
    buf_puts(out, " by ");
    format_text(out, worst->caller, 0);
}
