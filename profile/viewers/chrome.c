#include <stdlib.h>

#include "profile/viewers/chrome_records.h"
#include "profile/viewers/chrome_sums.h"
#include "profile/viewers/viewers.h"
#include "trace/base/vec.h"

/* Viewers take complete events of one thread only if they nest. Phases of one track that overlap
 * without nesting go to lanes of their own, each a thread of the process that is the recording. No
 * two threads have one number, even of different processes, and none is 0: Perfetto takes them for
 * one. */

enum { MAX_LANES = 64 }; /* of a track; phases that overlap even more go to the last one */

struct chrome_lane {
    vec_of(int64_t)
    ends; /* the ends of its open phases, the outermost first */
};

struct chrome {
    const struct profile *p;
    struct json_writer w;
    int64_t base_ns; /* times are written relative to this, so that doubles hold them exactly */
    struct chrome_lane lanes[MAX_LANES];
    size_t n_lanes;
    uint64_t thread; /* the number of the track's first lane */
};

static bool lane_has_space(struct chrome_lane *lane, const struct phase_span *span)
{
    while (lane->ends.n > 0 && lane->ends.v[lane->ends.n - 1] <= span->start_ns)
        lane->ends.n--;
    return lane->ends.n == 0 || span->end_ns <= lane->ends.v[lane->ends.n - 1];
}

/* Returns the first lane of the track in which the phase nests. */
static size_t lane_for(struct chrome *c, const struct phase_span *span)
{
    size_t i = 0;
    while (i < c->n_lanes && !lane_has_space(&c->lanes[i], span))
        i++;
    if (i == MAX_LANES)
        return MAX_LANES - 1;
    if (i == c->n_lanes)
        c->n_lanes++;
    if (!vec_push(&c->lanes[i].ends, span->end_ns))
        c->w.out->failed = true;
    return i;
}

static void name_lane(struct chrome *c, const struct phase_span *span, size_t lane)
{
    struct buf name = BUF_INIT;
    buf_printf(&name, span->async ? "asynchronous" : "thread %llu", (unsigned long long)span->tid);
    if (lane > 0)
        buf_printf(&name, " (overlapping, %zu)", lane);
    chrome_put_name(&c->w, "thread_name", span->recording, c->thread + lane, buf_str(&name));
    c->w.out->failed = c->w.out->failed || name.failed;
    buf_release(&name);
}

static void put_span_arguments(struct chrome *c, const struct phase_span *span)
{
    const struct profile *p = c->p;
    const struct trace *trace = p->traces[p->recordings[span->recording].input];
    json_open_object(&c->w, "args");
    if (span->compile != PROFILE_NONE)
        json_put_str(&c->w, "compile_id", p->compiles[span->compile].id);
    if (span->attempt != TRACE_NONE)
        json_put_u64(&c->w, "attempt", trace->attempts[span->attempt].number);
    if (span->detail.n > 0)
        json_put_str(&c->w, "detail", span->detail);
    if (span->unfinished)
        json_put_bool(&c->w, "unfinished", true);
    json_close(&c->w);
}

static void put_span(struct chrome *c, const struct phase_span *span, size_t lane)
{
    struct str name = profile_name(c->p, span->name);
    json_open_object(&c->w, NULL);
    json_put_str(&c->w, "name", name);
    json_put_cstr(&c->w, "cat", phase_part_title(phase_part_of(name)));
    json_put_cstr(&c->w, "ph", "X");
    chrome_put_us(&c->w, "ts", span->start_ns - c->base_ns);
    chrome_put_us(&c->w, "dur", span->end_ns - span->start_ns);
    json_put_u64(&c->w, "pid", span->recording);
    json_put_u64(&c->w, "tid", c->thread + lane);
    put_span_arguments(c, span);
    json_close(&c->w);
}

static void put_spans(struct chrome *c)
{
    for (uint32_t i = 0; i < c->p->phases.n_spans; i++) {
        const struct phase_span *span = &c->p->phases.spans[i];
        if (i > 0 && span->track != span[-1].track) {
            c->thread += c->n_lanes;
            c->n_lanes = 0;
            for (size_t k = 0; k < MAX_LANES; k++)
                c->lanes[k].ends.n = 0;
        }
        size_t before = c->n_lanes, lane = lane_for(c, span);
        if (c->n_lanes > before)
            name_lane(c, span, lane);
        put_span(c, span, lane);
    }
}

static int64_t earliest(const struct profile *p)
{
    int64_t ns = p->phases.n_spans > 0 ? p->phases.spans[0].start_ns : 0;
    for (uint32_t i = 1; i < p->phases.n_spans; i++)
        if (p->phases.spans[i].start_ns < ns)
            ns = p->phases.spans[i].start_ns;
    return ns;
}

/* Names the thread of guards in each recording that has a clock: `thread` and those after it. */
static void name_guards(struct chrome *c, const struct record_clock *clocks, uint64_t thread)
{
    for (uint32_t i = 0; i < c->p->n_recordings; i++)
        if (clocks[i].known && c->p->recordings[i].n_guards > 0)
            chrome_put_name(&c->w, "thread_name", i, thread + i, STR("guards"));
}

/* Writes the time axis and, if they are given, the views behind it. */
static bool put_events(struct chrome *c, const struct record_clock *clocks,
                       const struct stack_views *views, struct err *err)
{
    json_open_array(&c->w, "traceEvents");
    for (uint32_t i = 0; i < c->p->n_recordings; i++)
        chrome_put_name(&c->w, "process_name", i, 0, c->p->recordings[i].name);
    put_spans(c);
    uint64_t thread = c->thread + c->n_lanes;
    name_guards(c, clocks, thread);
    chrome_put_records(c->p, clocks, c->base_ns, thread, &c->w);
    thread += c->p->n_recordings;
    bool ok = !views || chrome_put_sums(c->p, views, c->p->n_recordings, thread, &c->w, err);
    json_close(&c->w);
    return ok;
}

static bool put_trace(const struct profile *profile, const struct stack_views *views,
                      struct buf *out, struct err *err)
{
    struct record_clock *clocks = record_clocks(profile);
    if (!clocks)
        return err_nomem(err);
    struct chrome c = { .p = profile,
                        .w = json_writer_of(out),
                        .thread = 1,
                        .base_ns = chrome_earliest_record(profile, clocks, earliest(profile)) };
    json_open_object(&c.w, NULL);
    bool ok = put_events(&c, clocks, views, err);
    /* HTA reads one file for each rank and looks for its number here; the first recording counts.
     */
    int64_t rank = profile->n_recordings > 0 ? profile->recordings[0].rank : 0;
    json_open_object(&c.w, "distributedInfo");
    json_put_i64(&c.w, "rank", rank < 0 ? 0 : rank);
    json_close(&c.w);
    json_put_cstr(&c.w, "displayTimeUnit", "ns");
    json_put_i64(&c.w, "baseTimeNanoseconds", c.base_ns);
    json_close(&c.w);
    buf_putc(out, '\n');
    for (size_t i = 0; i < MAX_LANES; i++)
        vec_release(&c.lanes[i].ends);
    free(clocks);
    return ok;
}

bool viewer_timeline(const struct profile *profile, struct buf *out, struct err *err)
{
    return put_trace(profile, NULL, out, err);
}

bool viewer_chrome(const struct profile *profile, enum stack_view_id view, struct buf *out,
                   struct err *err)
{
    struct stack_views *views = viewer_views(profile, view, err);
    bool ok = views && put_trace(profile, views, out, err);
    stack_views_free(views);
    return ok;
}
