/* Divergences in the answers of the compiler's caches. */
#include <stdlib.h>

#include "profile/ranks/divergence_build.h"
#include "trace/events/caches.h"

static bool is_state(const struct job *job, const struct fact *fact, enum cache_state state)
{
    return str_is(job_text(job, fact->detail), cache_state_name(state));
}

static void note_made(struct divergence_build *b, const struct job_compile *c)
{
    const struct fact *fact;
    for (uint32_t at = 0; (fact = job_next_fact(b->job, c, FACT_CACHE, &at)) != NULL;) {
        int64_t *made = &b->made[fact->extra];
        if (is_state(b->job, fact, CACHE_MISS) && c->end_ns != JOB_TIME && c->end_ns < *made)
            *made = c->end_ns;
    }
}

bool find_made(struct divergence_build *b)
{
    size_t n = b->job->texts.texts.n;
    b->made = calloc(n + 1, sizeof *b->made);
    if (!b->made)
        return err_nomem(b->err);
    for (size_t i = 0; i < n; i++)
        b->made[i] = INT64_MAX;
    for (size_t i = 0; i < b->job->compiles.n; i++)
        note_made(b, &b->job->compiles.v[i]);
    return true;
}

static bool put_answers(struct divergence_build *b, uint32_t compile)
{
    const struct job_compile *c = &b->job->compiles.v[compile];
    const struct fact *fact;
    int64_t misses = 0;
    buf_clear(&b->text);
    for (uint32_t at = 0; (fact = job_next_fact(b->job, c, FACT_CACHE, &at)) != NULL;) {
        misses += is_state(b->job, fact, CACHE_MISS);
        buf_le32(&b->text, fact->what);
        buf_le32(&b->text, fact->detail);
    }
    return ballot_put(b, c->rank, compile, misses);
}

/* Whether a hit is of what a rank of this job compiled before, in a folder that they share. A hit
 * of AOTAutograd's cache is of the graph that the FX graph cache has, too. */
static bool is_taken(const struct divergence_build *b, const struct job_compile *c,
                     const struct fact *hit)
{
    return b->made[hit->extra] != INT64_MAX &&
           (c->end_ns == JOB_TIME || b->made[hit->extra] <= c->end_ns);
}

/* Returns the first hit of a compile that no rank of this job explains, or its first other look-up.
 */
static const struct fact *own_hit(const struct divergence_build *b, uint32_t compile)
{
    const struct job_compile *c = &b->job->compiles.v[compile];
    const struct fact *fact;
    for (uint32_t at = 0; (fact = job_next_fact(b->job, c, FACT_CACHE, &at)) != NULL;)
        if (is_state(b->job, fact, CACHE_HIT) && !is_taken(b, c, fact))
            return fact;
    return NULL;
}

static const struct fact *first_other(const struct divergence_build *b, uint32_t compile)
{
    const struct job_compile *c = &b->job->compiles.v[compile];
    const struct fact *fact;
    for (uint32_t at = 0; (fact = job_next_fact(b->job, c, FACT_CACHE, &at)) != NULL;)
        if (!is_state(b->job, fact, CACHE_HIT))
            return fact;
    return NULL;
}

/* One hits and the other misses or bypasses. */
static bool found_answers(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    const struct job *job = b->job;
    uint32_t own = ballots->odd[0].compile, other = ballots->most[0].compile;
    const struct fact *hit = own_hit(b, own), *other_hit = own_hit(b, other);
    const struct fact *miss = first_other(b, own), *other_miss = first_other(b, other);
    bool is_own = hit && other_miss, is_other = other_hit && miss;
    if (!is_own && !is_other)
        return true;
    struct divergence *d = divergence_put(b, DIVERGENCE_CACHE, step, ballots);
    if (!d)
        return false;
    d->own = fact_number(job, is_other ? miss : hit);
    d->others = fact_number(job, is_other ? other_hit : other_miss);
    d->place = job_call_place(job, own);
    return true;
}

bool divergences_of_caches(struct divergence_build *b, uint32_t step)
{
    return ballots_of_step(b, step, put_answers, found_answers);
}
