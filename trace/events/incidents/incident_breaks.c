#include "trace/events/incidents/incident_reading.h"
#include "trace/events/incidents/incident_text.h"

/* Returns the number of calls between the compiled frame and the line that broke the graph. Both
 * stacks begin with callers of the compiled frame, which may have its name, so the compiled
 * frame is the one with as many frames of that name above it as in the dynamo_start stack. */
static int break_depth(struct incident_reader *r, uint32_t record, struct str traceback)
{
    const struct record *where = &r->trace->records[record];
    stack_id start = r->attempts[r->attempts[where->attempt].first].start;
    struct frame compiled = stack_frame(r->trace, where->recording, start);
    if (start == 0 || compiled.file.n == 0)
        return -1;
    int same = 0;
    for (stack_id s = start; s != 0; s = stack_parent(r->trace, s)) {
        struct frame frame = stack_frame(r->trace, where->recording, s);
        same += str_eq(frame.function, compiled.function) && str_eq(frame.file, compiled.file);
    }
    int depth = -1;
    struct traceback_frame frame;
    while (traceback_next(&traceback, &frame)) {
        if (depth >= 0)
            depth++;
        if (str_eq(frame.function, compiled.function) && str_eq(frame.file, compiled.file) &&
            same > 0 && --same == 0)
            depth = 0;
    }
    return depth;
}

bool incident_read_break(struct incident_reader *r, uint32_t record, struct err *err)
{
    struct str text;
    struct err unreadable = { 0 };
    if (!trace_payload_copy(r->trace, record, &r->arena, &text, &unreadable))
        return incident_pass_over(&unreadable, err);
    struct break_text parsed = break_text_parse(text);
    struct traceback_frame frame = { .function = STR(""), .code = STR("") };
    traceback_last(parsed.traceback, &frame);
    struct graph_break graph_break = {
        .record = record,
        .attempt = r->trace->records[record].attempt,
        .reason = parsed.reason,
        .summary = parsed.summary,
        .explanation = parsed.explanation,
        .hint = parsed.hint,
        .file = parsed.file,
        .line = parsed.line,
        .code = frame.code,
        .function = frame.function,
        .depth = break_depth(r, record, parsed.traceback),
        .skipped = parsed.skipped,
    };
    r->attempts[graph_break.attempt].graph_break = (uint32_t)r->breaks.n;
    return vec_push(&r->breaks, graph_break) || err_nomem(err);
}

/* Finds the graph break that caused a compile. `latest` has, for each stack node, the latest
 * break of a frame that was called from there, as index + 1. */
struct blame {
    struct incident_reader *r;
    uint32_t *latest;
    uint32_t *blamed; /* by attempt: index + 1 of the break that caused it, or 0 */
};

static bool resumes(struct str function, struct str broken)
{
    static const struct str PREFIX = { "torch_dynamo_resume_in_", 23 };
    return str_starts(function, PREFIX) && str_starts(str_from(function, PREFIX.n), broken);
}

/* Returns whether an attempt is inside of the region that broke. A function that was called
 * where the broken frame was is its continuation only if its name says so; one that was called
 * further down is inside. */
static bool is_inside(const struct blame *b, uint32_t attempt, uint32_t graph_break, bool directly)
{
    const struct trace *trace = b->r->trace;
    const struct graph_break *g = &b->r->breaks.v[graph_break];
    const struct attempt *broken = &trace->attempts[g->attempt],
                         *compile = &trace->attempts[attempt];
    if (broken->recording != compile->recording || str_eq(broken->compile, compile->compile))
        return false;
    if (!directly)
        return true;
    stack_id start = b->r->attempts[b->r->attempts[g->attempt].first].start;
    return resumes(stack_frame(trace, compile->recording, b->r->attempts[attempt].start).function,
                   stack_frame(trace, broken->recording, start).function);
}

static void blame_for(struct blame *b, uint32_t attempt)
{
    const struct trace *trace = b->r->trace;
    stack_id start = b->r->attempts[attempt].start;
    bool directly = true;
    for (stack_id s = stack_parent(trace, start); s != 0; s = stack_parent(trace, s)) {
        uint32_t candidate = b->latest[s];
        if (candidate && is_inside(b, attempt, candidate - 1, directly)) {
            b->blamed[attempt] = candidate;
            return;
        }
        directly = false;
    }
}

/* Goes through attempts and breaks at once, in the order of their records, which is the order of
 * time. */
static void blame_all(struct blame *b)
{
    const struct trace *trace = b->r->trace;
    size_t next_break = 0;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        uint32_t first = trace->attempts[i].n_records ? trace->attempts[i].records[0] : 0;
        while (next_break < b->r->breaks.n && b->r->breaks.v[next_break].record < first) {
            uint32_t broken = b->r->attempts[b->r->breaks.v[next_break].attempt].first;
            stack_id start = b->r->attempts[broken].start;
            if (start != 0)
                b->latest[stack_parent(trace, start)] = (uint32_t)next_break + 1;
            next_break++;
        }
        if (b->r->attempts[i].start != 0 && trace->attempts[i].previous == TRACE_NONE)
            blame_for(b, i);
    }
}

/* Gives each break its part of one array of caused compiles. */
static bool collect_caused(struct blame *b)
{
    struct incident_reader *r = b->r;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->trace->n_attempts; i++) {
        if (b->blamed[i])
            r->breaks.v[b->blamed[i] - 1].n_caused++;
        n += b->blamed[i] != 0;
    }
    uint32_t *caused = arena_array(&r->arena, uint32_t, n + (size_t)1);
    if (!caused)
        return false;
    uint32_t first = 0;
    for (size_t i = 0; i < r->breaks.n; i++) {
        struct graph_break *g = &r->breaks.v[i];
        g->caused = caused + first;
        first += g->n_caused;
        g->n_caused = 0;
        g->n_graphs = r->attempts[r->attempts[g->attempt].last].n_dynamo_graphs;
    }
    for (uint32_t i = 0; i < r->trace->n_attempts; i++) {
        if (!b->blamed[i])
            continue;
        struct graph_break *g = &r->breaks.v[b->blamed[i] - 1];
        uint32_t last = r->attempts[i].last;
        caused[(g->caused - caused) + g->n_caused++] = last;
        g->n_graphs += r->attempts[last].n_dynamo_graphs;
    }
    return true;
}

bool incident_blame_breaks(struct incident_reader *r, struct err *err)
{
    struct blame b = {
        .r = r,
        .latest = calloc((size_t)trace_n_stacks(r->trace) + 1, sizeof *b.latest),
        .blamed = calloc((size_t)r->trace->n_attempts + 1, sizeof *b.blamed),
    };
    bool ok = b.latest && b.blamed;
    if (ok) {
        blame_all(&b);
        ok = collect_caused(&b);
    }
    free(b.latest);
    free(b.blamed);
    return ok || err_nomem(err);
}
