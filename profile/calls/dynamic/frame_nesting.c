#include "profile/calls/dynamic/frame_nesting.h"

#include "trace/events/user_line.h"

struct nesting_maker {
    struct frame_nesting *nesting;
    const struct cache_run *run;
    const struct call_log *log;
    struct intern names;
    vec_of(uint32_t)
    last; /* by name: the last look-up of a frame of the function */
    uint32_t root;
};

static bool add_lookup(struct nesting_maker *m, uint32_t lookup)
{
    const struct program_call *call = &m->log->calls.v[m->run->lookups.v[lookup].call];
    struct str function = call->function;
    bool goes_on = call->inside && function_resumes(call->function, &function);
    uint32_t name = intern(&m->names, function);
    if (name == INTERN_NONE || (name == m->last.n && !vec_push(&m->last, CALL_NONE)))
        return false;
    if (!call->inside)
        m->root = lookup;
    uint32_t last = m->last.v[name];
    bool same = goes_on && last != CALL_NONE && last >= m->root;
    m->nesting->outer[lookup] = !call->inside ? CALL_NONE : same ? last : m->root;
    m->nesting->goes_on[lookup] = goes_on;
    m->last.v[name] = lookup;
    return true;
}

bool frame_nesting_make(struct frame_nesting *nesting, const struct cache_run *run,
                        const struct call_log *log)
{
    struct nesting_maker m = { .nesting = nesting, .run = run, .log = log, .root = CALL_NONE };
    nesting->outer = calloc(run->lookups.n + 1, sizeof *nesting->outer);
    nesting->goes_on = calloc(run->lookups.n + 1, sizeof *nesting->goes_on);
    bool ok = nesting->outer && nesting->goes_on;
    for (uint32_t i = 0; ok && i < run->lookups.n; i++)
        ok = add_lookup(&m, i);
    intern_release(&m.names);
    vec_release(&m.last);
    return ok;
}

void frame_nesting_release(struct frame_nesting *nesting)
{
    free(nesting->outer);
    free(nesting->goes_on);
    *nesting = (struct frame_nesting){ 0 };
}
