#include "replay/ops/model/known_calls.h"

#include "replay/ops/model/model.h"

void known_calls_clear(struct known_calls *known)
{
    known->calls.n = known->log.n = 0;
}

void known_calls_release(struct known_calls *known)
{
    vec_release(&known->calls);
    vec_release(&known->log);
}

const struct known_call *known_call_at(const struct known_calls *known, uint32_t number)
{
    return number < known->calls.n ? &known->calls.v[number] : NULL;
}

bool known_call_set(struct known_calls *known, uint32_t number, const struct known_call *call)
{
    while (known->calls.n <= number)
        if (!vec_push(&known->calls, (struct known_call){ .seen = false }))
            return false;
    known->calls.v[number] = *call;
    return true;
}

void log_event(struct ops *ops, uint32_t op, uint32_t depth, uint32_t kind, uint32_t n, bool cached)
{
    struct known_calls *known = &ops->model->known;
    if (!known->logging || model_is_muted(ops))
        return;
    /* When memory runs out, the counts of a later call are too low; its result is right. */
    if (!vec_push(&known->log, (struct count_event){ .op = op,
                                                     .depth = (uint16_t)depth,
                                                     .kind = (uint8_t)kind,
                                                     .cached = cached,
                                                     .n = n }))
        ops->short_of_memory = true;
}

void count_again(struct ops *ops, const struct known_call *call)
{
    struct known_call known = *call; /* a copy, because the array may move */
    uint32_t below = UINT32_MAX;
    for (uint32_t i = 0; i < known.n_events; i++) {
        struct count_event e = ops->model->known.log.v[known.events_at + i]; /* the log may move */
        if (e.depth > below)
            continue;
        below = e.cached ? e.depth : UINT32_MAX;
        uint32_t depth = ops->depth + (e.depth - known.depth);
        if (e.kind < OP_COUNTERS)
            stats_count(ops, e.op, (enum op_counter)e.kind);
        else if (e.kind == EVENT_WITHIN)
            stats_within(ops, e.op, depth, e.n);
        else
            stats_dispatch(ops, e.op, depth, e.n);
        if (e.cached)
            stats_hit(ops, e.op);
        log_event(ops, e.op, depth, e.kind, e.n, e.cached);
    }
}
