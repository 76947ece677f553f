/* Selects restarts, recompiles, graph breaks, failures and cache events. */
#include "profile/model/build.h"

static struct profile_where where_of(const struct build_input *in, uint32_t record,
                                     uint32_t attempt)
{
    return (struct profile_where){ in->recording_of[in->trace->records[record].recording],
                                   build_compile(in, attempt), attempt };
}

static bool add_restarts(struct profile_build *b, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->incidents->n_restarts; i++) {
        const struct restart *restart = &in->incidents->restarts[i];
        uint32_t compile = build_compile(in, restart->attempt);
        if (compile == PROFILE_NONE)
            continue;
        uint32_t recording = b->compiles.v[compile].recording;
        b->recordings.v[recording].n_restarts++;
        if (!vec_push(&b->restarts, (struct profile_restart){
                                        { recording, compile, restart->attempt }, restart }))
            return false;
    }
    return true;
}

static bool add_recompiles(struct profile_build *b, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->incidents->n_recompiles; i++) {
        const struct recompile *recompile = &in->incidents->recompiles[i];
        if (!build_takes(b, in, recompile->record))
            continue;
        struct profile_recompile row = {
            .where = where_of(in, recompile->record, recompile->attempt),
            .is = recompile,
        };
        b->recordings.v[row.where.recording].n_recompiles++;
        if (!vec_push(&b->recompiles, row))
            return false;
    }
    return true;
}

static int64_t caused_ns(const struct profile_build *b, const struct build_input *in,
                         const struct graph_break *graph_break)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < graph_break->n_caused; i++) {
        uint32_t compile = build_compile(in, graph_break->caused[i]);
        if (compile != PROFILE_NONE)
            build_add_ns(&sum, b->compiles.v[compile].ns);
    }
    return sum;
}

static bool add_breaks(struct profile_build *b, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->incidents->n_breaks; i++) {
        const struct graph_break *graph_break = &in->incidents->breaks[i];
        if (!build_takes(b, in, graph_break->record) || !build_takes_file(b, graph_break->file))
            continue;
        struct profile_break row = {
            .where = where_of(in, graph_break->record, graph_break->attempt),
            .is = graph_break,
            .caused_ns = caused_ns(b, in, graph_break),
        };
        b->recordings.v[row.where.recording].n_breaks++;
        if (!vec_push(&b->breaks, row))
            return false;
    }
    return true;
}

static bool add_failures(struct profile_build *b, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->incidents->n_failures; i++) {
        const struct failure *failure = &in->incidents->failures[i];
        if (!build_takes(b, in, failure->record) || !build_takes_file(b, failure->file))
            continue;
        struct profile_failure row = {
            .where = where_of(in, failure->record, failure->attempt),
            .is = failure,
        };
        b->recordings.v[row.where.recording].n_failures++;
        if (!vec_push(&b->failures, row))
            return false;
    }
    return true;
}

static bool add_caches(struct profile_build *b, const struct build_input *in)
{
    for (uint32_t i = 0; i < in->caches->n; i++) {
        const struct cache_event *event = &in->caches->events[i];
        if (!build_takes(b, in, event->record))
            continue;
        struct profile_cache row = {
            .where = where_of(in, event->record, event->attempt),
            .is = event,
        };
        b->profile.cache_counts[event->kind][event->state]++;
        if (!vec_push(&b->caches, row))
            return false;
    }
    return true;
}

/* Sums up the time of autotuning: phases while compiling, and the run-time metrics for the first
 * call. */
static void time_autotuning(struct profile_build *b)
{
    int64_t *sum = &b->profile.autotuning_ns;
    *sum = b->profile.phases.part_ns[PHASE_AUTOTUNING];
    int64_t runtime = 0;
    for (uint32_t i = 0; i < b->profile.n_traces; i++) {
        const struct metrics_list *metrics = b->inputs[i].metrics;
        for (uint32_t k = 0; k < metrics->n; k++) {
            const struct metrics *m = &metrics->metrics[k];
            if (m->values[METRIC_RUNTIME_TRITON_AUTOTUNE] > 0 &&
                build_takes(b, &b->inputs[i], m->record))
                build_add_ns(&runtime, m->values[METRIC_RUNTIME_TRITON_AUTOTUNE]);
        }
    }
    if (runtime > *sum) /* phases of those calls, if they were recorded, are the same work */
        *sum = runtime;
}

bool build_incidents(struct profile_build *b, struct err *err)
{
    for (uint32_t i = 0; i < b->profile.n_traces; i++) {
        const struct build_input *in = &b->inputs[i];
        if (!add_restarts(b, in) || !add_recompiles(b, in) || !add_breaks(b, in) ||
            !add_failures(b, in) || !add_caches(b, in))
            return err_nomem(err);
    }
    time_autotuning(b);
    b->profile.restarts = b->restarts.v;
    b->profile.n_restarts = (uint32_t)b->restarts.n;
    b->profile.recompiles = b->recompiles.v;
    b->profile.n_recompiles = (uint32_t)b->recompiles.n;
    b->profile.breaks = b->breaks.v;
    b->profile.n_breaks = (uint32_t)b->breaks.n;
    b->profile.failures = b->failures.v;
    b->profile.n_failures = (uint32_t)b->failures.n;
    b->profile.caches = b->caches.v;
    b->profile.n_caches = (uint32_t)b->caches.n;
    return true;
}
