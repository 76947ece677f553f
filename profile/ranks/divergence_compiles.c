/* Divergences in compiles as a whole: failures, ends that do not come, recompiles, graph breaks. */
#include "profile/ranks/divergence_build.h"

static const struct fact *first_fact(const struct job *job, uint32_t compile, enum fact_kind kind)
{
    uint32_t at = 0;
    return compile == JOB_NONE ? NULL : job_next_fact(job, &job->compiles.v[compile], kind, &at);
}

static uint32_t any_call_place(const struct job *job, const struct divergence *d)
{
    uint32_t place = job_call_place(job, d->compile);
    return place != JOB_NONE ? place : job_call_place(job, d->other);
}

static bool put_state(struct divergence_build *b, uint32_t rank, uint32_t compile,
                      const char *state, int64_t weight)
{
    buf_clear(&b->text);
    buf_puts(&b->text, state);
    return ballot_put(b, rank, compile, weight);
}

/* ---- Failures ---- */

static bool found_failure(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    struct divergence *d = divergence_put(b, DIVERGENCE_COMPILE_ERROR, step, ballots);
    if (!d)
        return false;
    const struct fact *own = first_fact(b->job, d->compile, FACT_FAILURE);
    const struct fact *others = first_fact(b->job, d->other, FACT_FAILURE);
    d->own = fact_number(b->job, own);
    d->others = fact_number(b->job, others);
    d->place = own && own->place != JOB_NONE ? own->place
               : others                      ? others->place
                                             : any_call_place(b->job, d);
    return true;
}

static bool compare_failures(struct divergence_build *b, uint32_t step, const uint32_t *compiles,
                             uint32_t n)
{
    bool ok = true, any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= first_fact(b->job, compiles[i], FACT_FAILURE) != NULL;
    for (uint32_t i = 0; any && ok && i < n; i++) {
        const struct fact *failure = first_fact(b->job, compiles[i], FACT_FAILURE);
        const struct job_compile *c = &b->job->compiles.v[compiles[i]];
        if (failure || c->status != ATTEMPT_UNFINISHED)
            ok = put_state(b, c->rank, compiles[i], failure ? "failed" : "", failure != NULL);
    }
    return ok && ballots_count(b, step, found_failure);
}

/* ---- Compiles that do not end ---- */

static bool found_hang(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    struct divergence *d = divergence_put(b, DIVERGENCE_HANG, step, ballots);
    if (d)
        d->place = any_call_place(b->job, d);
    return d != NULL;
}

/* Puts a ballot for each rank without a compile in this step. */
static bool put_absent(struct divergence_build *b, const uint32_t *compiles, uint32_t n,
                       int64_t weight)
{
    bool ok = true;
    for (uint32_t rank = 0, i = 0; ok && rank < b->job->ranks.n; rank++) {
        if (i < n && b->job->compiles.v[compiles[i]].rank == rank)
            i++;
        else
            ok = put_state(b, rank, JOB_NONE, "absent", weight);
    }
    return ok;
}

/* Ranks that do not have the compile are compared only if it ended on none: who waits in it waits
 * for them. */
static bool compare_ends(struct divergence_build *b, uint32_t step, const uint32_t *compiles,
                         uint32_t n)
{
    bool ok = true;
    uint32_t open = 0, done = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool unfinished = b->job->compiles.v[compiles[i]].status == ATTEMPT_UNFINISHED;
        open += unfinished;
        done += !unfinished;
    }
    for (uint32_t i = 0; open && ok && i < n; i++) {
        const struct job_compile *c = &b->job->compiles.v[compiles[i]];
        bool unfinished = c->status == ATTEMPT_UNFINISHED;
        if (!b->out[c->rank])
            ok = put_state(b, c->rank, compiles[i], unfinished ? "open" : "done", unfinished);
    }
    if (open && !done)
        ok = ok && put_absent(b, compiles, n, 0);
    return ok && ballots_count(b, step, found_hang);
}

/* ---- Compiles that some ranks have ---- */

static bool found_absent(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    const struct job *job = b->job;
    uint32_t compile =
        ballots->odd[0].compile != JOB_NONE ? ballots->odd[0].compile : ballots->most[0].compile;
    const struct job_compile *c = &job->compiles.v[compile];
    const struct fact *collective = job_first_collective(job, compile);
    bool again = c->recompile;
    if (!again && !collective)
        return true;
    struct divergence *d =
        divergence_put(b, again ? DIVERGENCE_RECOMPILE : DIVERGENCE_MISSING, step, ballots);
    if (!d)
        return false;
    d->own = fact_number(job, first_fact(job, compile, FACT_RECOMPILE));
    if (again) {
        d->place = any_call_place(job, d);
        return true;
    }
    uint32_t fact = fact_number(job, collective);
    *(d->compile == JOB_NONE ? &d->others : &d->own) = fact;
    d->place = collective->place != JOB_NONE ? collective->place : any_call_place(job, d);
    return true;
}

static bool compare_presence(struct divergence_build *b, uint32_t step, const uint32_t *compiles,
                             uint32_t n)
{
    bool ok = true, again = false;
    if (n == b->job->ranks.n)
        return true;
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct job_compile *c = &b->job->compiles.v[compiles[i]];
        again |= c->recompile;
        if (b->out[c->rank])
            return true;
    }
    for (uint32_t i = 0; ok && i < n; i++)
        ok = put_state(b, b->job->compiles.v[compiles[i]].rank, compiles[i], "present", again);
    return ok && put_absent(b, compiles, n, !again) && ballots_count(b, step, found_absent);
}

/* ---- Graph breaks ---- */

static bool put_breaks(struct divergence_build *b, uint32_t compile)
{
    const struct job *job = b->job;
    const struct fact *fact;
    int64_t n = 0;
    buf_clear(&b->text);
    for (uint32_t at = 0;
         (fact = job_next_fact(job, &job->compiles.v[compile], FACT_BREAK, &at)) != NULL; n++) {
        buf_put(&b->text, job_text(job, fact->what));
        if (fact->place != JOB_NONE) {
            buf_put(&b->text, place_file(job, fact->place));
            buf_printf(&b->text, ":%u", job->places.v[fact->place].line);
        }
        buf_putc(&b->text, 0);
    }
    return ballot_put(b, job->compiles.v[compile].rank, compile, n);
}

static bool same_break(const struct job *job, const struct fact *a, const struct fact *b)
{
    bool placed = a->place != JOB_NONE && b->place != JOB_NONE;
    return a->what == b->what &&
           (!placed || job->places.v[a->place].line == job->places.v[b->place].line);
}

/* Sets the facts of the first break that two compiles do not share. */
static void find_break(const struct job *job, struct divergence *d)
{
    const struct fact *own, *others;
    uint32_t at = 0, other_at = 0;
    do {
        own = job_next_fact(job, &job->compiles.v[d->compile], FACT_BREAK, &at);
        others = job_next_fact(job, &job->compiles.v[d->other], FACT_BREAK, &other_at);
    } while (own && others && same_break(job, own, others));
    d->own = fact_number(job, own);
    d->others = fact_number(job, others);
    d->place = own ? own->place : others ? others->place : JOB_NONE;
}

static bool found_break(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    struct divergence *d = divergence_put(b, DIVERGENCE_GRAPH_BREAK, step, ballots);
    if (d)
        find_break(b->job, d);
    return d != NULL;
}

bool divergences_of_compiles(struct divergence_build *b, uint32_t step)
{
    uint32_t n;
    const uint32_t *compiles = step_compiles(b->job, step, &n);
    bool ok = compare_failures(b, step, compiles, n) && compare_ends(b, step, compiles, n) &&
              compare_presence(b, step, compiles, n);
    return ok && ballots_of_step(b, step, put_breaks, found_break);
}
