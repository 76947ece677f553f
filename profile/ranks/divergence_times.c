/* Ranks that are slower than the others, and the phases in which they are. */
#include <stdlib.h>

#include "profile/ranks/divergence_build.h"

static int by_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Sorts the times; of two the median is the lesser one. */
static int64_t median_of(int64_t *times, size_t n)
{
    if (n)
        qsort(times, n, sizeof *times, by_ns);
    return n ? times[(n - 1) / 2] : 0;
}

static void add_ns(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

/* ---- Whole compiles ---- */

struct slow_finder {
    struct divergence_build *b;
    int64_t *took;        /* by rank: in all steps that its role has in common */
    int64_t *lost;        /* by rank: in the step `worst`, more than the median; INT64_MAX: slow */
    int64_t *times;       /* scratch, by rank */
    uint32_t *worst;      /* by rank: the first step in which it was slow, or else lost most */
    uint32_t *role_sizes; /* by role */
};

/* Returns the time that a rank itself took; -1 if it is not known. */
static int64_t own_time(const struct job *job, uint32_t compile)
{
    const struct job_compile *c = &job->compiles.v[compile];
    int64_t ns;
    if (c->begin_ns == JOB_TIME || c->end_ns == JOB_TIME || c->status != ATTEMPT_OK ||
        __builtin_sub_overflow(c->end_ns, c->begin_ns, &ns) || ns < c->waited_ns)
        return -1;
    return ns - c->waited_ns;
}

static bool is_slow(int64_t ns, int64_t median, int64_t least)
{
    return ns - median >= least && (ns - median) / (double)(median + 1) * 100 >= SLOW_SHARE;
}

/* Whether the caches answered two compiles alike. One that compiles what the others take from a
 * folder that they share is not slow by that. */
static bool same_answers(const struct job *job, uint32_t a, uint32_t b)
{
    const struct fact *x, *y;
    uint32_t at = 0, other_at = 0;
    do {
        x = job_next_fact(job, &job->compiles.v[a], FACT_CACHE, &at);
        y = job_next_fact(job, &job->compiles.v[b], FACT_CACHE, &other_at);
    } while (x && y && x->detail == y->detail);
    return !x && !y;
}

/* Notes the step that stands for a rank: JOB_NONE before the first. */
static void note_worst(struct slow_finder *f, uint32_t rank, uint32_t step, int64_t ns,
                       int64_t median)
{
    int64_t lost = is_slow(ns, median, SLOW_NS / 2) ? INT64_MAX : ns - median;
    if (f->worst[rank] != JOB_NONE && lost <= f->lost[rank])
        return;
    f->worst[rank] = step;
    f->lost[rank] = lost;
}

static void take_role(struct slow_finder *f, uint32_t step, const uint32_t *compiles, uint32_t n,
                      uint32_t role)
{
    const struct job *job = f->b->job;
    uint32_t known = 0, first = JOB_NONE;
    for (uint32_t i = 0; i < n; i++) {
        int64_t ns = own_time(job, compiles[i]);
        if (f->b->roles[job->compiles.v[compiles[i]].rank] != role)
            continue;
        first = first == JOB_NONE ? compiles[i] : first;
        if (ns >= 0 && same_answers(job, first, compiles[i]))
            f->times[known++] = ns;
    }
    if (known < 2 || known != f->role_sizes[role])
        return;
    int64_t median = median_of(f->times, known);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = job->compiles.v[compiles[i]].rank;
        int64_t ns = own_time(job, compiles[i]);
        if (f->b->roles[rank] != role)
            continue;
        add_ns(&f->took[rank], ns);
        note_worst(f, rank, step, ns, median);
    }
}

static void take_steps(struct slow_finder *f)
{
    const struct job *job = f->b->job;
    for (uint32_t i = 0; i < job->n_steps; i++) {
        uint32_t n, step = job->step_order.v[i];
        const uint32_t *compiles = step_compiles(job, step, &n);
        for (uint32_t role = 0; role < f->b->ret->n_stages; role++)
            take_role(f, step, compiles, n, role);
    }
}

static bool differs_already(const struct divergences *found, uint32_t rank)
{
    for (size_t i = 0; i < found->ranks.n; i++)
        if (found->ranks.v[i] == rank)
            return true;
    return false;
}

static uint32_t compile_in(const struct job *job, uint32_t step, uint32_t rank, bool same)
{
    uint32_t n;
    const uint32_t *compiles = step_compiles(job, step, &n);
    for (uint32_t i = 0; i < n; i++)
        if ((job->compiles.v[compiles[i]].rank == rank) == same)
            return compiles[i];
    return JOB_NONE;
}

static bool put_slow(struct slow_finder *f, uint32_t rank, int64_t median)
{
    const struct job *job = f->b->job;
    uint32_t step = f->worst[rank];
    const struct ballot own = { rank, compile_in(job, step, rank, true), 0, 0 };
    const struct ballot most = { 0, compile_in(job, step, rank, false), 0, 0 };
    const struct ballots ballots = { &own, &most, 1, f->role_sizes[f->b->roles[rank]] - 1 };
    struct divergence *d = divergence_put(f->b, DIVERGENCE_SLOW, step, &ballots);
    if (!d)
        return false;
    d->ns = f->took[rank];
    d->others_ns = median;
    d->place = job_call_place(job, d->compile);
    return true;
}

/* The median of all ranks of a role is the others' median for each that is slower. */
static bool put_slow_of_role(struct slow_finder *f, uint32_t role)
{
    const uint32_t n = (uint32_t)f->b->job->ranks.n;
    uint32_t known = 0;
    bool ok = true;
    for (uint32_t rank = 0; rank < n; rank++)
        if (f->b->roles[rank] == role)
            f->times[known++] = f->took[rank];
    int64_t median = median_of(f->times, known);
    for (uint32_t rank = 0; ok && rank < n; rank++)
        if (f->b->roles[rank] == role && f->worst[rank] != JOB_NONE &&
            is_slow(f->took[rank], median, SLOW_NS) && !differs_already(f->b->ret, rank))
            ok = put_slow(f, rank, median);
    return ok;
}

static bool put_all_slow(struct slow_finder *f)
{
    bool ok = true;
    for (uint32_t role = 0; ok && role < f->b->ret->n_stages; role++)
        ok = put_slow_of_role(f, role);
    return ok;
}

bool divergences_of_times(struct divergence_build *b)
{
    size_t n = b->job->ranks.n + 1;
    struct slow_finder f = { .b = b };
    f.took = calloc(n, sizeof *f.took);
    f.lost = calloc(n, sizeof *f.lost);
    f.times = calloc(n, sizeof *f.times);
    f.worst = malloc(n * sizeof *f.worst);
    f.role_sizes = calloc(n, sizeof *f.role_sizes);
    bool ok = (f.took && f.lost && f.times && f.worst && f.role_sizes) || err_nomem(b->err);
    if (ok) {
        memset(f.worst, 0xff, n * sizeof *f.worst); /* JOB_NONE */
        for (uint32_t rank = 0; rank < b->job->ranks.n; rank++)
            f.role_sizes[b->roles[rank]]++;
        take_steps(&f);
        ok = put_all_slow(&f);
    }
    free(f.took);
    free(f.lost);
    free(f.times);
    free(f.worst);
    free(f.role_sizes);
    return ok;
}

/* ---- Phases ---- */

struct phase_time {
    uint32_t phase, rank;
    int64_t ns;
};
typedef vec_of(struct phase_time)
phase_times;

enum { STRAGGLER_SHARE = 20 /* percent of the median */ };
#define STRAGGLER_NS INT64_C(100000000)

static int by_phase(const void *a, const void *b)
{
    const struct phase_time *x = a, *y = b;
    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_loss(const void *a, const void *b)
{
    const struct straggler *x = a, *y = b;
    int64_t p = x->ns - x->median_ns, q = y->ns - y->median_ns;
    if (p != q)
        return p > q ? -1 : 1;
    return x->phase < y->phase ? -1 : x->phase > y->phase;
}

static bool gather_phases(const struct job *job, phase_times *all)
{
    const struct fact *fact;
    for (size_t i = 0; i < job->compiles.n; i++) {
        const struct job_compile *c = &job->compiles.v[i];
        for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_PHASE, &at)) != NULL;) {
            struct phase_time row = { fact->what, c->rank, fact->ns };
            if (!str_is(job_text(job, fact->what), "compiler_collective") && !vec_push(all, row))
                return false;
        }
    }
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_phase);
    return true;
}

/* Ranks that do not have a phase count as 0. `times` has space for all ranks. */
static bool put_phase(struct divergence_build *b, const struct phase_time *rows, size_t n,
                      int64_t *times)
{
    struct straggler s = { .phase = rows[0].phase, .rank = rows[0].rank };
    memset(times, 0, b->job->ranks.n * sizeof *times);
    for (size_t i = 0; i < n; i++)
        add_ns(&times[rows[i].rank], rows[i].ns > 0 ? rows[i].ns : 0);
    for (uint32_t rank = 0; rank < b->job->ranks.n; rank++)
        if (times[rank] > s.ns) {
            s.ns = times[rank];
            s.rank = rank;
        }
    s.median_ns = median_of(times, b->job->ranks.n);
    int64_t loss = s.ns - s.median_ns;
    if (loss < STRAGGLER_NS || loss / (double)(s.median_ns + 1) * 100 < STRAGGLER_SHARE)
        return true;
    return vec_push(&b->ret->stragglers, s) || err_nomem(b->err);
}

bool find_stragglers(struct divergence_build *b)
{
    phase_times all = { 0 };
    int64_t *times = calloc(b->job->ranks.n + 1, sizeof *times);
    bool ok = (times && gather_phases(b->job, &all)) || err_nomem(b->err);
    for (size_t at = 0, end; ok && b->job->ranks.n > 1 && at < all.n; at = end) {
        for (end = at; end < all.n && all.v[end].phase == all.v[at].phase;)
            end++;
        ok = put_phase(b, &all.v[at], end - at, times);
    }
    if (ok && b->ret->stragglers.n)
        qsort(b->ret->stragglers.v, b->ret->stragglers.n, sizeof *b->ret->stragglers.v, by_loss);
    vec_release(&all);
    free(times);
    return ok;
}
