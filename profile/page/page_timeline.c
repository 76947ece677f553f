#include "profile/page/page_parts.h"

/* Times are nanoseconds since the first record of the first compile of their trace. Attempts are
 * placed by the times of their records, phases by those of their recording's first phase: chromium
 * events have a clock of their own. */

enum { SPANS = 6000 };

/* Returns by trace the first record of its first compile; NULL when memory ran out. The caller
 * frees it. */
static uint32_t *find_bases(const struct profile *profile)
{
    uint32_t *bases = calloc((size_t)profile->n_traces + 1, sizeof *bases);
    for (uint32_t i = profile->n_compiles; bases && i > 0; i--) {
        const struct profile_compile *c = &profile->compiles[i - 1];
        uint32_t input = profile->recordings[c->recording].input;
        const struct attempt *first = &profile->traces[input]->attempts[c->first_attempt];
        if (first->n_records > 0)
            bases[input] = first->records[0];
    }
    return bases;
}

/* Returns the nanoseconds from the base to another record, which may be one of another recording.
 */
static int64_t record_ns(const struct trace *trace, uint32_t base, uint32_t record)
{
    return record_us_between(trace, base, record) * 1000;
}

static void attempt_json(const struct profile *profile, const struct profile_compile *compile,
                         uint32_t at, uint32_t base, struct json_writer *w)
{
    const struct profile_recording *recording = &profile->recordings[compile->recording];
    const struct trace *trace = profile->traces[recording->input];
    const struct attempt *attempt = &trace->attempts[at];
    json_open_object(w, NULL);
    json_put_str(w, "recording", recording->name);
    json_put_str(w, "compile", compile->id);
    json_put_u64(w, "attempt", attempt->number);
    json_put_cstr(w, "status", attempt_status_name(attempt->status));
    if (attempt->n_records > 0) {
        json_put_i64(w, "start_ns", record_ns(trace, base, attempt->records[0]));
        json_put_i64(w, "end_ns", record_ns(trace, base, attempt->records[attempt->n_records - 1]));
    }
    json_put_u64(w, "records", attempt->n_records);
    json_close(w);
}

static void attempts_json(const struct profile *profile, const uint32_t *bases,
                          struct json_writer *w)
{
    json_open_array(w, "attempts");
    for (uint32_t i = 0; i < profile->n_compiles; i++) {
        const struct profile_compile *c = &profile->compiles[i];
        uint32_t input = profile->recordings[c->recording].input, at = c->first_attempt;
        const struct trace *trace = profile->traces[input];
        for (uint32_t k = 0; k < c->n_attempts && at != TRACE_NONE; k++) {
            attempt_json(profile, c, at, bases[input], w);
            at = trace->attempts[at].next;
        }
    }
    json_close(w);
}

/* ---- Phases ---- */

struct ranked_span {
    int64_t ns;
    uint32_t index;
};

static int compare_ranked_spans(const void *a, const void *b)
{
    const struct ranked_span *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Sets by recording how far the clock of its phases is behind that of the page. */
static void find_offsets(const struct profile *profile, const uint32_t *bases, int64_t *offsets,
                         bool *known)
{
    for (uint32_t i = 0; i < profile->phases.n_spans; i++) {
        const struct phase_span *span = &profile->phases.spans[i];
        uint32_t input = profile->recordings[span->recording].input;
        if (known[span->recording])
            continue;
        known[span->recording] = true;
        if (__builtin_sub_overflow(record_ns(profile->traces[input], bases[input], span->record),
                                   span->start_ns, &offsets[span->recording]))
            offsets[span->recording] = 0;
    }
}

static void span_json(const struct profile *profile, const struct phase_span *span, int64_t offset,
                      struct json_writer *w)
{
    int64_t start;
    if (__builtin_add_overflow(span->start_ns, offset, &start))
        return;
    struct str name = profile_name(profile, span->name);
    json_open_object(w, NULL);
    json_put_str(w, "name", name);
    json_put_cstr(w, "part", phase_part_title(phase_part_of(name)));
    json_put_u64(w, "recording", span->recording);
    json_put_str_or_null(w, "compile",
                         span->compile == PROFILE_NONE ? STR("")
                                                       : profile->compiles[span->compile].id);
    json_put_u64(w, "track", span->track);
    json_put_i64(w, "start_ns", start);
    json_put_i64(w, "ns", span->end_ns - span->start_ns);
    if (span->detail.n > 0)
        json_put_str(w, "detail", span->detail);
    if (span->unfinished)
        json_put_bool(w, "unfinished", true);
    json_close(w);
}

static void spans_json(const struct profile *profile, const uint32_t *bases, struct json_writer *w)
{
    const struct profile_phases *phases = &profile->phases;
    struct ranked_span *ranked = calloc((size_t)phases->n_spans + 1, sizeof *ranked);
    int64_t *offsets = calloc((size_t)profile->n_recordings + 1, sizeof *offsets);
    bool *known = calloc((size_t)profile->n_recordings + 1, sizeof *known);
    if (ranked && offsets && known) {
        find_offsets(profile, bases, offsets, known);
        for (uint32_t i = 0; i < phases->n_spans; i++)
            ranked[i] =
                (struct ranked_span){ phases->spans[i].end_ns - phases->spans[i].start_ns, i };
        qsort(ranked, phases->n_spans, sizeof *ranked, compare_ranked_spans);
        for (uint32_t i = 0; i < phases->n_spans && i < SPANS; i++) {
            const struct phase_span *span = &phases->spans[ranked[i].index];
            span_json(profile, span, offsets[span->recording], w);
        }
    } else {
        w->out->failed = true;
    }
    free(ranked);
    free(offsets);
    free(known);
}

void page_timeline_json(const struct profile *profile, struct json_writer *w)
{
    uint32_t *bases = find_bases(profile);
    if (!bases) {
        w->out->failed = true;
        return;
    }
    attempts_json(profile, bases, w);
    json_open_array(w, "spans");
    spans_json(profile, bases, w);
    json_close(w);
    json_put_u64(w, "n_spans", profile->phases.n_spans);
    free(bases);
}
