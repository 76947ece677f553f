#include "profile/model/phases/phase_spans.h"

enum { NOT_ENDED = -1 };
#define TIME_LIMIT (INT64_C(1) << 61) /* the year 75,000: sums of two stay in range */

/* A begin without an end yet; `below` is the earlier one of the same key. */
struct open_phase {
    uint32_t span, below; /* index + 1, 0 for none */
};

/* A begin or end that the first pass could not pair. */
struct unpaired_event {
    uint32_t track, name;
    int64_t time;
    uint32_t span; /* for a begin; PROFILE_NONE for an end */
};

struct span_pairer {
    struct profile_build *b;
    struct intern tracks, keys;
    struct buf key;
    vec_of(uint32_t)
    newest; /* by key: index + 1 into opens */
    vec_of(struct open_phase)
    opens;
    vec_of(struct unpaired_event)
    loose;
};

static int64_t clamp_time(int64_t time)
{
    return time < 0 ? 0 : time > TIME_LIMIT ? TIME_LIMIT : time;
}

static uint32_t track_of(struct span_pairer *p, const struct chromium_event *e, uint32_t recording,
                         bool async)
{
    buf_clear(&p->key);
    buf_le32(&p->key, recording);
    buf_le32(&p->key, async);
    buf_le64(&p->key, e->pid);
    buf_le64(&p->key, async ? 0 : e->tid);
    if (async)
        buf_put(&p->key, e->id.n > 0 ? e->id : e->name);
    return p->key.failed ? INTERN_NONE : intern(&p->tracks, buf_str(&p->key));
}

/* Returns the stack of open begins that an event belongs to, or NULL when memory ran out. */
static uint32_t *open_span_stack(struct span_pairer *p, const struct phase_span *span,
                                 struct str compile)
{
    buf_clear(&p->key);
    buf_le32(&p->key, span->track);
    buf_le32(&p->key, span->name);
    buf_put(&p->key, compile);
    uint32_t key = p->key.failed ? INTERN_NONE : intern(&p->keys, buf_str(&p->key));
    if (key == INTERN_NONE || (key == p->newest.n && !vec_push(&p->newest, 0)))
        return NULL;
    return &p->newest.v[key];
}

static bool begin_span(struct span_pairer *p, struct phase_span *span, struct str compile)
{
    uint32_t *newest = open_span_stack(p, span, compile);
    span->end_ns = NOT_ENDED;
    span->unfinished = true;
    if (!newest || !vec_push(&p->b->spans, *span) ||
        !vec_push(&p->opens, (struct open_phase){ (uint32_t)p->b->spans.n - 1, *newest }))
        return false;
    *newest = (uint32_t)p->opens.n;
    return true;
}

static void end_span_at(struct phase_span *span, int64_t time)
{
    span->end_ns = time > span->start_ns ? time : span->start_ns;
    span->unfinished = false;
}

static bool end_span(struct span_pairer *p, const struct phase_span *at, struct str compile)
{
    uint32_t *newest = open_span_stack(p, at, compile);
    if (!newest)
        return false;
    if (*newest == 0)
        return vec_push(&p->loose,
                        (struct unpaired_event){ at->track, at->name, at->start_ns, PROFILE_NONE });
    struct open_phase open = p->opens.v[*newest - 1];
    struct phase_span *span = &p->b->spans.v[open.span];
    if (at->start_ns < span->start_ns) /* not its end; pair_by_time() pairs it later */
        return vec_push(&p->loose,
                        (struct unpaired_event){ at->track, at->name, at->start_ns, PROFILE_NONE });
    end_span_at(span, at->start_ns);
    *newest = open.below;
    return true;
}

static bool add_span_event(struct span_pairer *p, const struct build_input *input,
                           const struct chromium_event *e)
{
    bool async = e->phase == 'b' || e->phase == 'e';
    uint32_t recording = input->recording_of[input->trace->records[e->record].recording];
    struct phase_span span = {
        .name = build_name(p->b, e->name),
        .recording = recording,
        .compile = build_compile(input, e->attempt),
        .attempt = e->attempt,
        .track = track_of(p, e, recording, async),
        .record = e->record,
        .pid = e->pid,
        .tid = e->tid,
        .start_ns = clamp_time(e->time_ns),
        .async = async,
        .detail = e->detail,
    };
    if (span.name == INTERN_NONE || span.track == INTERN_NONE)
        return false;
    switch (e->phase) {
    case 'B':
    case 'b': return begin_span(p, &span, e->compile);
    case 'E':
    case 'e': return end_span(p, &span, e->compile);
    default:
        end_span_at(&span, clamp_time(span.start_ns + clamp_time(e->duration_ns)));
        return vec_push(&p->b->spans, span);
    }
}

static bool is_phase(const struct chromium_event *e)
{
    return e->phase == 'B' || e->phase == 'E' || e->phase == 'X' || e->phase == 'b' ||
           e->phase == 'e';
}

static bool add_span_events(struct span_pairer *p, const struct build_input *input)
{
    p->b->profile.phases.unreadable += input->events->n_unreadable;
    for (uint32_t i = 0; i < input->events->n; i++) {
        const struct chromium_event *e = &input->events->events[i];
        if (!is_phase(e) || !build_takes(p->b, input, e->record))
            continue;
        if (!e->timed)
            p->b->profile.phases.unreadable++;
        else if (!add_span_event(p, input, e))
            return false;
    }
    return true;
}

static int compare_begins(const void *a, const void *b)
{
    const struct unpaired_event *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    bool x_ends = x->span == PROFILE_NONE, y_ends = y->span == PROFILE_NONE;
    return x_ends != y_ends ? x_ends - y_ends : (x->span > y->span) - (x->span < y->span);
}

/* Pairs the remaining events of one name on one thread by time: an end closes the latest begin
 * before it. */
static bool pair_by_time(struct span_pairer *p)
{
    vec_of(uint32_t)
    open = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < p->loose.n; i++) {
        const struct unpaired_event *l = &p->loose.v[i];
        if (i > 0 && (l->track != l[-1].track || l->name != l[-1].name))
            open.n = 0;
        if (l->span != PROFILE_NONE)
            ok = vec_push(&open, l->span);
        else if (open.n > 0)
            end_span_at(&p->b->spans.v[open.v[--open.n]], l->time);
        else
            p->b->profile.phases.stray_ends++;
    }
    vec_release(&open);
    return ok;
}

static bool pair_loose(struct span_pairer *p)
{
    if (p->loose.n == 0)
        return true;
    for (size_t i = 0; i < p->opens.n; i++) {
        uint32_t index = p->opens.v[i].span;
        const struct phase_span *span = &p->b->spans.v[index];
        if (span->unfinished &&
            !vec_push(&p->loose,
                      (struct unpaired_event){ span->track, span->name, span->start_ns, index }))
            return false;
    }
    qsort(p->loose.v, p->loose.n, sizeof *p->loose.v, compare_begins);
    return pair_by_time(p);
}

/* Sorts outer phases before inner ones; one without an end is outside all that begin with it. */
static int compare_nesting(const void *a, const void *b)
{
    const struct phase_span *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    int64_t x_end = x->unfinished ? INT64_MAX : x->end_ns;
    int64_t y_end = y->unfinished ? INT64_MAX : y->end_ns;
    if (x_end != y_end)
        return x_end > y_end ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static int64_t recording_end(const struct profile_build *b, uint32_t recording)
{
    const struct profile_recording *r = &b->profile.recordings[recording];
    return clamp_time(build_last_time(&b->inputs[r->input], r->recording));
}

static bool end_unfinished(struct profile_build *b)
{
    vec_of(uint32_t)
    around = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->spans.n; i++) {
        struct phase_span *span = &b->spans.v[i];
        if (i > 0 && span->track != span[-1].track)
            around.n = 0;
        while (around.n > 0 && b->spans.v[around.v[around.n - 1]].end_ns < span->start_ns)
            around.n--;
        const struct phase_span *outer = around.n > 0 ? &b->spans.v[around.v[around.n - 1]] : NULL;
        if (span->unfinished) {
            int64_t last = outer ? outer->end_ns : recording_end(b, span->recording);
            span->end_ns = last > span->start_ns ? last : span->start_ns;
            span->open = outer ? outer->open : true;
        }
        ok = vec_push(&around, i);
    }
    vec_release(&around);
    return ok;
}

bool phase_spans_read(struct profile_build *b, struct err *err)
{
    struct span_pairer p = { .b = b };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++)
        ok = add_span_events(&p, &b->inputs[i]);
    ok = ok && pair_loose(&p);
    if (ok && b->spans.n > 0)
        qsort(b->spans.v, b->spans.n, sizeof *b->spans.v, compare_nesting);
    ok = ok && end_unfinished(b);
    intern_release(&p.tracks);
    intern_release(&p.keys);
    buf_release(&p.key);
    vec_release(&p.newest);
    vec_release(&p.opens);
    vec_release(&p.loose);
    return ok || err_nomem(err);
}
