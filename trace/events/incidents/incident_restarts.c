#include "trace/events/incidents/incident_reading.h"
#include "trace/events/incidents/incident_text.h"

#define DAY_US (UINT64_C(86400) * 1000000)

/* Returns the time from an attempt's first record to the next one's; log times begin again at
 * midnight. */
static int64_t span_ns(const struct trace *trace, uint32_t attempt, uint32_t next)
{
    const struct attempt *a = &trace->attempts[attempt], *b = &trace->attempts[next];
    if (a->n_records == 0 || b->n_records == 0)
        return 0;
    uint64_t from = trace->records[a->records[0]].time_us;
    uint64_t to = trace->records[b->records[0]].time_us;
    if (to < from)
        to += DAY_US;
    return to >= from && to - from < DAY_US ? (int64_t)(to - from) * 1000 : 0;
}

/* Returns the reason of a restart. PyTorch keeps a compile's reasons as a set, so their order is
 * not that of its attempts. An attempt with a graph break was restarted because of that; the
 * others for another reason. */
static struct str restart_reason(const struct incident_reader *r, uint32_t attempt)
{
    const struct metrics *m = r->attempts[r->attempts[attempt].last].metrics;
    uint32_t graph_break = r->attempts[attempt].graph_break;
    struct str broken = graph_break == TRACE_NONE ? STR("") : r->breaks.v[graph_break].summary;
    if (!m || m->n_restart_reasons == 0)
        return graph_break == TRACE_NONE ? STR("") : r->breaks.v[graph_break].reason;
    for (uint32_t i = 0; i < m->n_restart_reasons; i++) {
        struct str reason = m->restart_reasons[i];
        if (graph_break != TRACE_NONE ? str_starts(reason, broken)
                                      : str_starts(reason, STR("<class '")))
            return reason;
    }
    return m->restart_reasons[0];
}

static bool add_restart_row(struct incident_reader *r, uint32_t attempt, uint32_t next)
{
    const struct incident_attempt *a = &r->attempts[attempt];
    struct restart restart = {
        .attempt = attempt,
        .next = next,
        .reason = arena_copy(&r->arena, restart_reason(r, attempt)),
        .ns = a->phase_ns >= 0 ? a->phase_ns : span_ns(r->trace, attempt, next),
        .n_records = r->trace->attempts[attempt].n_records,
        .n_graphs = a->n_graphs,
        .n_symbols = a->n_symbols,
        .n_guards = a->n_guards,
    };
    if (!restart.reason.p)
        return false;
    restart.summary = restart_summary(restart.reason);
    restart.meaning = restart_meaning(restart.summary);
    if (restart.meaning.n == 0 && a->graph_break != TRACE_NONE)
        restart.meaning = STR("a graph break: the frame is traced again up to it");
    return vec_push(&r->restarts, restart);
}

bool incident_find_restarts(struct incident_reader *r, struct err *err)
{
    for (uint32_t i = 0; i < r->trace->n_attempts; i++) {
        uint32_t next = r->trace->attempts[i].next;
        if (next != TRACE_NONE && !add_restart_row(r, i, next))
            return err_nomem(err);
    }
    return true;
}
