/* Who waits for whom, if the first divergence is one in which collectives do not come to their end.
 */
#include <stdlib.h>

#include "profile/ranks/collective_ops.h"
#include "profile/ranks/divergence_build.h"

/* ---- The state of a rank ---- */

/* A rank with this compile, in which it is itself or fails. */
static struct rank_wait state_in_compile(const struct job *job, uint32_t compile)
{
    const struct job_compile *c = &job->compiles.v[compile];
    uint32_t at = 0;
    bool failed = job_next_fact(job, c, FACT_FAILURE, &at) != NULL;
    struct rank_wait wait = { c->rank, WAIT_COLLECTIVE, compile, JOB_NONE };
    if (failed)
        wait.state = WAIT_FAILED;
    else if (c->status == ATTEMPT_UNFINISHED)
        wait.state = c->waiting ? WAIT_COMPILER : WAIT_COMPILE;
    else
        wait.fact = fact_number(job, job_first_collective(job, compile));
    if (wait.state == WAIT_COLLECTIVE && wait.fact == JOB_NONE)
        wait.state = WAIT_ELSEWHERE;
    return wait;
}

/* A rank without the step: its last compile that has a collective is where it comes to next, if the
 * program runs it again. */
static struct rank_wait state_elsewhere(const struct job *job, uint32_t rank)
{
    const struct job_rank *r = &job->ranks.v[rank];
    struct rank_wait wait = { rank, WAIT_ELSEWHERE, JOB_NONE, JOB_NONE };
    for (uint32_t i = r->n_compiles; i-- > 0 && wait.fact == JOB_NONE;) {
        wait.compile = r->first_compile + i;
        wait.fact = fact_number(job, job_first_collective(job, wait.compile));
    }
    return wait;
}

/* In the step of a collective that differs, ranks are in the one in which they differ first. */
static struct rank_wait state_at_difference(const struct job *job, const struct divergence *d,
                                            uint32_t rank, uint32_t compile, bool odd)
{
    uint32_t fact = odd ? d->own : d->others;
    if (compile == JOB_NONE)
        return state_elsewhere(job, rank);
    return (struct rank_wait){ rank, fact == JOB_NONE ? WAIT_ELSEWHERE : WAIT_COLLECTIVE, compile,
                               fact };
}

/* ---- All ranks ---- */

static uint32_t compile_of(const uint32_t *compiles, uint32_t n, const struct job *job,
                           uint32_t rank)
{
    for (uint32_t i = 0; i < n; i++)
        if (job->compiles.v[compiles[i]].rank == rank)
            return compiles[i];
    return JOB_NONE;
}

static bool is_odd(const struct divergences *found, const struct divergence *d, uint32_t rank)
{
    for (uint32_t i = 0; i < d->n_ranks; i++)
        if (found->ranks.v[d->first_rank + i] == rank)
            return true;
    return false;
}

/* Calls of one operator with other arguments meet each other. */
static bool waits_at_all(const struct job *job, const struct divergence *d)
{
    bool same = d->own != JOB_NONE && d->others != JOB_NONE &&
                job->facts.v[d->own].what == job->facts.v[d->others].what;
    return d->kind == DIVERGENCE_MISSING || (d->kind == DIVERGENCE_ORDER && !same) ||
           d->kind == DIVERGENCE_HANG || d->kind == DIVERGENCE_COMPILE_ERROR;
}

static bool put_wait(struct divergence_build *b, const struct divergence *d, uint32_t rank,
                     uint32_t compile)
{
    const struct job *job = b->job;
    bool collective = d->kind == DIVERGENCE_MISSING || d->kind == DIVERGENCE_ORDER;
    struct rank_wait wait =
        collective            ? state_at_difference(job, d, rank, compile, is_odd(b->ret, d, rank))
        : compile != JOB_NONE ? state_in_compile(job, compile)
                              : state_elsewhere(job, rank);
    return vec_push(&b->ret->waits, wait) || err_nomem(b->err);
}

/* A send concerns two ranks only. */
static bool is_concerned(const struct divergence_build *b, const struct divergence *d,
                         uint32_t rank)
{
    const struct job *job = b->job;
    uint32_t first = b->ret->ranks.v[d->first_rank], fact = d->own == JOB_NONE ? d->others : d->own;
    bool other = d->other != JOB_NONE && job->compiles.v[d->other].rank == rank;
    if (fact != JOB_NONE && is_peer_call(job_text(job, job->facts.v[fact].what)))
        return rank == first || other;
    return b->roles[rank] == b->roles[first] || other;
}

bool divergence_waits(struct divergence_build *b)
{
    bool ok = true;
    if (!b->ret->list.n || !waits_at_all(b->job, &b->ret->list.v[0]))
        return true;
    const struct divergence d = b->ret->list.v[0];
    uint32_t n;
    const uint32_t *compiles = step_compiles(b->job, d.step, &n);
    for (uint32_t rank = 0; ok && rank < b->job->ranks.n; rank++)
        if (is_concerned(b, &d, rank))
            ok = put_wait(b, &d, rank, compile_of(compiles, n, b->job, rank));
    return ok;
}
