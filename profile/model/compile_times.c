/* Computes how long each compile and each recording took. */
#include "profile/model/build.h"

#define DAY_US INT64_C(86400000000)

/* Returns the time between two records. Log times begin again at midnight, so a step back of more
 * than half a day is a new day. */
static int64_t elapsed_us(const struct trace *trace, uint32_t from, uint32_t to)
{
    int64_t elapsed = (int64_t)trace->records[to].time_us - (int64_t)trace->records[from].time_us;
    return elapsed < -DAY_US / 2 ? elapsed + DAY_US : elapsed;
}

static uint32_t last_record(const struct trace *trace, uint32_t recording)
{
    const struct recording *r = &trace->recordings[recording];
    uint32_t record = r->first_record + r->n_records;
    while (record > r->first_record && trace->records[record - 1].event == EVENT_RAW)
        record--;
    return record > r->first_record ? record - 1 : TRACE_NONE;
}

int64_t build_last_time(const struct build_input *input, uint32_t recording)
{
    uint32_t last = last_record(input->trace, recording);
    int64_t latest = 0;
    bool tied = false;
    for (uint32_t i = 0; i < input->events->n && last != TRACE_NONE; i++) {
        const struct chromium_event *e = &input->events->events[i];
        if (!e->timed || input->trace->records[e->record].recording != recording)
            continue;
        int64_t end = e->time_ns;
        if (!tied)
            build_add_ns(&end, elapsed_us(input->trace, e->record, last) * 1000);
        tied = true;
        if (end > latest)
            latest = end;
    }
    return latest;
}

/* Sums up the phases of one choice (phase_whole_compile()) by compile; 0 where there are none. */
static void sum_spans(const struct profile_build *b, int choice, int64_t *sums)
{
    for (size_t i = 0; i < b->spans.n; i++) {
        const struct phase_span *span = &b->spans.v[i];
        if (span->compile != PROFILE_NONE &&
            phase_whole_compile(build_text(b, span->name)) == choice)
            build_add_ns(&sums[span->compile], span->end_ns - span->start_ns);
    }
}

static int64_t records_ns(const struct profile_build *b, const struct profile_compile *compile)
{
    const struct profile_recording *r = &b->recordings.v[compile->recording];
    const struct trace *trace = b->inputs[r->input].trace;
    const struct attempt *first = &trace->attempts[compile->first_attempt];
    const struct attempt *last = &trace->attempts[compile->last_attempt];
    if (first->n_records == 0 || last->n_records == 0)
        return 0;
    uint32_t end = last->records[last->n_records - 1];
    if (compile->status == ATTEMPT_UNFINISHED)
        end = last_record(trace, r->recording);
    int64_t us = end == TRACE_NONE ? 0 : elapsed_us(trace, first->records[0], end);
    return us > 0 ? us * 1000 : 0;
}

/* Returns whether all attempts of a compile are selected: PyTorch measured them together. */
static bool is_complete(const struct profile_build *b, const struct profile_compile *compile)
{
    const struct trace *trace = b->inputs[b->recordings.v[compile->recording].input].trace;
    return trace->attempts[compile->first_attempt].previous == TRACE_NONE &&
           trace->attempts[compile->last_attempt].next == TRACE_NONE;
}

static int64_t measured_ns(const struct profile_build *b, const struct profile_compile *compile)
{
    const struct profile_recording *r = &b->recordings.v[compile->recording];
    const struct metrics *m = b->inputs[r->input].metrics_of[compile->last_attempt];
    if (!m)
        return -1;
    if (m->values[METRIC_ENTIRE_FRAME_COMPILE] != METRIC_ABSENT)
        return m->values[METRIC_ENTIRE_FRAME_COMPILE];
    return m->values[METRIC_DURATION] != METRIC_ABSENT ? m->values[METRIC_DURATION] : -1;
}

static void time_compiles(struct profile_build *b, const int64_t *frames, const int64_t *dynamos)
{
    for (size_t i = 0; i < b->compiles.n; i++) {
        struct profile_compile *compile = &b->compiles.v[i];
        compile->ns = is_complete(b, compile) ? measured_ns(b, compile) : 0;
        if (compile->ns < 0)
            compile->ns = frames[i] > 0 ? frames[i] : dynamos[i];
        if (compile->ns == 0)
            compile->ns = records_ns(b, compile);
    }
}

static void time_restarts(struct profile_build *b)
{
    for (uint32_t i = 0; i < b->profile.n_traces; i++) {
        const struct incidents *incidents = b->inputs[i].incidents;
        for (uint32_t k = 0; k < incidents->n_restarts; k++) {
            uint32_t compile = build_compile(&b->inputs[i], incidents->restarts[k].attempt);
            if (compile != PROFILE_NONE)
                build_add_ns(&b->compiles.v[compile].restarted_ns, incidents->restarts[k].ns);
        }
    }
}

static void total_recordings(struct profile_build *b)
{
    b->profile.slowest = PROFILE_NONE;
    for (size_t i = 0; i < b->compiles.n; i++) {
        const struct profile_compile *compile = &b->compiles.v[i];
        struct profile_recording *r = &b->recordings.v[compile->recording];
        build_add_ns(&r->compile_ns, compile->ns);
        build_add_ns(&r->restarted_ns, compile->restarted_ns);
        build_add_ns(&b->profile.compile_ns, compile->ns);
        build_add_ns(&b->profile.restarted_ns, compile->restarted_ns);
        r->n_compiles++;
        r->n_attempts += compile->n_attempts;
        r->n_graphs += compile->n_graphs;
        r->n_guards += compile->n_guards;
        r->n_unfinished += compile->status == ATTEMPT_UNFINISHED;
    }
    for (uint32_t i = 0; i < b->recordings.n; i++)
        if (b->recordings.v[i].n_compiles > 0 &&
            (b->profile.slowest == PROFILE_NONE ||
             b->recordings.v[i].compile_ns > b->recordings.v[b->profile.slowest].compile_ns))
            b->profile.slowest = i;
}

bool build_compile_times(struct profile_build *b, struct err *err)
{
    int64_t *frames = calloc(b->compiles.n + 1, sizeof *frames);
    int64_t *dynamos = calloc(b->compiles.n + 1, sizeof *dynamos);
    bool ok = frames && dynamos;
    if (ok) {
        sum_spans(b, 0, frames);
        sum_spans(b, 1, dynamos);
        time_compiles(b, frames, dynamos);
        time_restarts(b);
        total_recordings(b);
    }
    free(frames);
    free(dynamos);
    return ok || err_nomem(err);
}
