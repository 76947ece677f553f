/* When compiles began and ended, what their phases took, and waits in compiler collectives. */
#include <stdlib.h>

#include "profile/ranks/job_build.h"

/* A phase that has begun. Deeper ones than MAX_DEPTH are counted as their parent's time. */
enum { MAX_DEPTH = 128 };

struct open_phase {
    struct str name;
    uint32_t attempt;
    int64_t begin_ns, inner_ns; /* inner: of phases within it */
};

/* The main thread of one recording: that of its first event. */
struct phase_stack {
    struct open_phase open[MAX_DEPTH];
    unsigned depth;
    bool begun;
    uint64_t pid, tid;
};

struct phase_sum {
    uint32_t attempt, name; /* a last attempt; a text */
    int64_t ns;
};

struct time_reader {
    struct job_build *b;
    struct phase_stack *stacks; /* by recording */
    struct intern keys;
    vec_of(struct phase_sum)
    sums;
};

static int64_t between(int64_t from, int64_t to)
{
    int64_t ns;
    return __builtin_sub_overflow(to, from, &ns) || ns < 0 ? 0 : ns;
}

static void add_ns(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

static bool add_to_phase(struct time_reader *r, uint32_t attempt, struct str name, int64_t ns)
{
    uint32_t key[2] = { r->b->last_of[attempt], job_keep(r->b, name) };
    uint32_t id = key[1] == INTERN_NONE
                      ? INTERN_NONE
                      : intern(&r->keys, (struct str){ (const char *)key, sizeof key });
    struct phase_sum fresh = { key[0], key[1], 0 };
    if (id == INTERN_NONE || (id == r->sums.n && !vec_push(&r->sums, fresh)))
        return err_nomem(r->b->err);
    add_ns(&r->sums.v[id].ns, ns);
    return true;
}

/* ---- What a compile itself says ---- */

static void begin_compile(struct job_compile *c, const struct chromium_event *event)
{
    if (str_is(event->name, "entire_frame_compile") && c->begin_ns == JOB_TIME)
        c->begin_ns = event->time_ns;
    if (str_is(event->name, "compiler_collective"))
        c->waiting = true;
}

static void end_compile(struct job_compile *c, const struct open_phase *phase, int64_t end_ns)
{
    if (str_is(phase->name, "entire_frame_compile"))
        c->end_ns = end_ns;
    if (!str_is(phase->name, "compiler_collective"))
        return;
    c->waiting = false;
    add_ns(&c->waited_ns, between(phase->begin_ns, end_ns));
}

/* ---- Phases ---- */

static void begin_phase(struct time_reader *r, struct phase_stack *stack,
                        const struct chromium_event *event)
{
    begin_compile(&r->b->job->compiles.v[r->b->compile_of[event->attempt]], event);
    if (stack->depth < MAX_DEPTH)
        stack->open[stack->depth++] =
            (struct open_phase){ event->name, event->attempt, event->time_ns, 0 };
}

/* Ends the innermost phase of that name; those within it had no end. */
static bool end_phase(struct time_reader *r, struct phase_stack *stack,
                      const struct chromium_event *event)
{
    unsigned at = stack->depth;
    while (at > 0 && !str_eq(stack->open[at - 1].name, event->name))
        at--;
    if (at == 0)
        return true;
    const struct open_phase *phase = &stack->open[at - 1];
    int64_t ns = between(phase->begin_ns, event->time_ns);
    stack->depth = at - 1;
    if (stack->depth > 0)
        add_ns(&stack->open[stack->depth - 1].inner_ns, ns);
    end_compile(&r->b->job->compiles.v[r->b->compile_of[phase->attempt]], phase, event->time_ns);
    return add_to_phase(r, phase->attempt, phase->name, ns - phase->inner_ns);
}

static bool take_event(struct time_reader *r, const struct chromium_event *event)
{
    if (event->attempt == TRACE_NONE || r->b->compile_of[event->attempt] == JOB_NONE ||
        !event->timed)
        return true;
    struct phase_stack *stack = &r->stacks[r->b->trace->attempts[event->attempt].recording];
    if (!stack->begun) {
        stack->begun = true;
        stack->pid = event->pid;
        stack->tid = event->tid;
    }
    if (event->pid != stack->pid || event->tid != stack->tid)
        return true;
    if (event->phase == 'B')
        begin_phase(r, stack, event);
    return event->phase != 'E' || end_phase(r, stack, event);
}

static bool put_phases(struct time_reader *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->sums.n; i++) {
        struct fact fact = {
            .kind = FACT_PHASE, .what = r->sums.v[i].name, .place = JOB_NONE, .ns = r->sums.v[i].ns
        };
        ok = job_put_fact(r->b, r->sums.v[i].attempt, &fact);
    }
    return ok;
}

bool job_read_times(struct job_build *b)
{
    struct time_reader r = { .b = b };
    r.stacks = calloc((size_t)b->trace->n_recordings + 1, sizeof *r.stacks);
    bool ok = r.stacks || err_nomem(b->err);
    for (uint32_t i = 0; ok && i < b->chromium->n; i++)
        ok = take_event(&r, &b->chromium->events[i]);
    ok = ok && put_phases(&r);
    free(r.stacks);
    intern_release(&r.keys);
    vec_release(&r.sums);
    return ok;
}
