/* Divergences in the collectives of a step, and in the order of steps. */
#include <stdlib.h>

#include "profile/ranks/collective_ops.h"
#include "profile/ranks/divergence_build.h"

/* ---- One compile's collectives ---- */

/* The collectives of a compile at one level, without those between two ranks. */
struct sequence {
    const struct job *job;
    const struct job_compile *compile;
    enum fact_kind kind;
    uint32_t at;
};

static const struct fact *next_collective(struct sequence *s)
{
    const struct fact *fact;
    while ((fact = job_next_fact(s->job, s->compile, s->kind, &s->at)) != NULL)
        if (!is_peer_call(job_text(s->job, fact->what)))
            return fact;
    return NULL;
}

static struct sequence sequence_of(const struct job *job, uint32_t compile, enum fact_kind kind)
{
    return (struct sequence){ job, &job->compiles.v[compile], kind, 0 };
}

/* Groups that all ranks are in keep their names; a group of some is as good as another one. */
static uint32_t shared_group(const struct divergence_build *b, uint32_t group)
{
    return b->users[group] == b->job->ranks.n ? group : 0;
}

/* Sizes that only a run knows ("?") and sizes that may be uneven are not compared. */
static bool has_sizes(const struct job *job, const struct fact *fact)
{
    struct str sizes = job_text(job, fact->sizes);
    return !is_uneven(job_text(job, fact->what)) && str_find_char(sizes, '?') == sizes.n;
}

/* Sizes are those of the first call. A compile that is not the first of its function may have been
 * made at another call on each rank. */
static bool put_collectives(struct divergence_build *b, uint32_t compile, enum fact_kind kind)
{
    struct sequence s = sequence_of(b->job, compile, kind);
    const struct fact *fact;
    int64_t n = 0;
    buf_clear(&b->text);
    for (; (fact = next_collective(&s)) != NULL; n++) {
        uint32_t sizes = has_sizes(b->job, fact) ? fact->sizes : 0;
        const uint32_t key[] = { fact->what, fact->detail, fact->extra,
                                 shared_group(b, fact->group),
                                 b->job->compiles.v[compile].again ? 0 : sizes };
        buf_put(&b->text, (struct str){ (const char *)key, sizeof key });
    }
    return ballot_put(b, b->job->compiles.v[compile].rank, compile, -n);
}

/* ---- Groups ---- */

/* Marks the groups whose collectives a compile has. */
static void mark_groups(struct divergence_build *b, uint32_t compile, enum fact_kind kind)
{
    struct sequence s = sequence_of(b->job, compile, kind);
    const struct fact *fact;
    b->mark++;
    while ((fact = next_collective(&s)) != NULL)
        b->marks[fact->group] = b->mark;
}

/* Whether a compile has collectives of a group that is not marked. */
static bool has_other_group(const struct divergence_build *b, uint32_t compile, enum fact_kind kind)
{
    struct sequence s = sequence_of(b->job, compile, kind);
    const struct fact *fact;
    while ((fact = next_collective(&s)) != NULL)
        if (b->marks[fact->group] != b->mark)
            return true;
    return false;
}

/* Returns the compile of a rank of the majority whose groups are all that the rank of `odd` uses,
 * those with near numbers first, as ranks of one group have; JOB_NONE if there is none. */
static uint32_t find_peer(struct divergence_build *b, const struct ballots *ballots,
                          const struct ballot *odd, enum fact_kind kind)
{
    enum { TRIED = 128 };
    uint32_t below = 0, tried = 0;
    while (below < ballots->n_most && ballots->most[below].rank < odd->rank)
        below++;
    for (uint32_t above = below; tried < TRIED && (below > 0 || above < ballots->n_most); tried++) {
        bool down = below > 0 && (above == ballots->n_most || tried % 2 == 0);
        uint32_t peer = ballots->most[down ? --below : above++].compile;
        mark_groups(b, peer, kind);
        if (!has_other_group(b, odd->compile, kind))
            return peer;
    }
    return JOB_NONE;
}

/* ---- The first difference ---- */

struct difference {
    const struct fact *own, *others; /* NULL: it has no more collectives */
    enum fact_kind level;
};

static bool same_call(const struct divergence_build *b, const struct fact *x, const struct fact *y)
{
    return x->what == y->what && x->detail == y->detail &&
           shared_group(b, x->group) == shared_group(b, y->group);
}

/* `sizes`: whether those are compared. */
static bool same_collective(const struct divergence_build *b, const struct fact *x,
                            const struct fact *y, bool sizes)
{
    bool comparable = sizes && has_sizes(b->job, x) && has_sizes(b->job, y);
    return same_call(b, x, y) && x->extra == y->extra && (!comparable || x->sizes == y->sizes);
}

static struct difference first_difference(const struct divergence_build *b, uint32_t own,
                                          uint32_t other, enum fact_kind level)
{
    struct sequence x = sequence_of(b->job, own, level), y = sequence_of(b->job, other, level);
    struct difference d = { .level = level };
    bool sizes = !b->job->compiles.v[own].again;
    do {
        d.own = next_collective(&x);
        d.others = next_collective(&y);
    } while (d.own && d.others && same_collective(b, d.own, d.others, sizes));
    return d;
}

static uint32_t count_calls(const struct divergence_build *b, uint32_t compile,
                            enum fact_kind level, const struct fact *call)
{
    struct sequence s = sequence_of(b->job, compile, level);
    const struct fact *fact;
    uint32_t n = 0;
    while ((fact = next_collective(&s)) != NULL)
        n += same_call(b, fact, call);
    return n;
}

/* Whether each of two compiles has as many of every call as the other one. Counting is quadratic,
 * so long sequences are compared by their lengths. */
static bool same_calls(const struct divergence_build *b, uint32_t own, uint32_t other,
                       enum fact_kind level)
{
    enum { COUNTED = 500 };
    struct sequence x = sequence_of(b->job, own, level), y = sequence_of(b->job, other, level);
    const struct fact *fact;
    uint32_t n = 0, m = 0;
    bool ret = true;
    while (next_collective(&y))
        m++;
    while ((fact = next_collective(&x)) != NULL)
        if (++n <= COUNTED && ret)
            ret = count_calls(b, own, level, fact) == count_calls(b, other, level, fact);
    return ret && n == m;
}

static enum divergence_kind kind_of(const struct divergence_build *b, const struct difference *d,
                                    uint32_t own, uint32_t other)
{
    if (d->own && d->others && same_call(b, d->own, d->others))
        return d->own->extra != d->others->extra ? DIVERGENCE_DTYPE : DIVERGENCE_SIZE;
    bool same_name = d->own && d->others && d->own->what == d->others->what;
    return same_name || same_calls(b, own, other, d->level) ? DIVERGENCE_ORDER : DIVERGENCE_MISSING;
}

static uint32_t place_of(const struct difference *at, enum divergence_kind kind)
{
    const struct fact *shown = at->own;
    if (!shown || (at->others && (kind == DIVERGENCE_MISSING || shown->place == JOB_NONE)))
        shown = at->others;
    return shown->place;
}

/* The ranks that differ in the way of the first one that can be compared are one divergence. */
static bool put_difference(struct divergence_build *b, uint32_t step, const struct ballots *ballots,
                           const struct difference *at, uint32_t peer)
{
    const struct job *job = b->job;
    uint32_t own = ballots->odd[0].compile;
    struct divergence *d = divergence_put(b, kind_of(b, at, own, peer), step, ballots);
    if (!d)
        return false;
    d->other = peer;
    d->own = fact_number(job, at->own);
    d->others = fact_number(job, at->others);
    d->place = place_of(at, d->kind);
    uint32_t third = ballots->most[0].compile;
    if (third == peer)
        third = ballots->n_most > 1 ? ballots->most[1].compile : JOB_NONE;
    divergence_explain(b, d, third);
    if (d->place == JOB_NONE)
        d->place = job->compiles.v[own].place;
    return true;
}

static bool found_difference(struct divergence_build *b, uint32_t step,
                             const struct ballots *ballots, enum fact_kind level)
{
    for (uint32_t i = 0; i < ballots->n_odd; i++) {
        uint32_t peer = find_peer(b, ballots, &ballots->odd[i], level);
        if (peer == JOB_NONE)
            continue;
        struct difference at = first_difference(b, ballots->odd[i].compile, peer, level);
        struct ballots rest = { ballots->odd + i, ballots->most, ballots->n_odd - i,
                                ballots->n_most };
        return (!at.own && !at.others) || put_difference(b, step, &rest, &at, peer);
    }
    return true;
}

static bool found_collectives(struct divergence_build *b, uint32_t step,
                              const struct ballots *ballots)
{
    return found_difference(b, step, ballots, FACT_COLLECTIVE);
}

static bool found_early(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    return found_difference(b, step, ballots, FACT_EARLY);
}

/* A compile that a cache answered has no graph of AOTAutograd, so that Dynamo's are compared. */
bool divergences_of_collectives(struct divergence_build *b, uint32_t step)
{
    uint32_t n;
    const uint32_t *compiles = step_compiles(b->job, step, &n);
    bool ok = true, aot = true;
    for (uint32_t i = 0; i < n; i++)
        if (compile_is_compared(b, compiles[i]))
            aot &= b->job->compiles.v[compiles[i]].aot;
    for (uint32_t i = 0; ok && i < n; i++)
        if (compile_is_compared(b, compiles[i]))
            ok = put_collectives(b, compiles[i], aot ? FACT_COLLECTIVE : FACT_EARLY);
    return ok && ballots_count(b, step, aot ? found_collectives : found_early);
}

/* ---- The order of compiles ---- */

static bool has_collective(const struct job *job, uint32_t compile)
{
    struct sequence s = sequence_of(job, compile, FACT_EARLY), t = s;
    t.kind = FACT_COLLECTIVE;
    return next_collective(&s) || next_collective(&t);
}

/* Whether all ranks have the step, and collectives in it. */
static bool is_common(const struct divergence_build *b, uint32_t step)
{
    uint32_t n;
    const uint32_t *compiles = step_compiles(b->job, step, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!has_collective(b->job, compiles[i]))
            return false;
    return n == b->job->ranks.n;
}

/* Returns the next compile of a rank from *at on whose step all ranks have; JOB_NONE. */
static uint32_t next_common(const struct divergence_build *b, uint32_t rank, uint32_t *at)
{
    const struct job_rank *r = &b->job->ranks.v[rank];
    while (*at < r->n_compiles) {
        uint32_t compile = r->first_compile + (*at)++;
        if (b->common[b->job->compiles.v[compile].step])
            return compile;
    }
    return JOB_NONE;
}

static bool found_order(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    uint32_t at = 0, other_at = 0;
    struct ballot odd = ballots->odd[0], most = ballots->most[0];
    (void)step;
    do {
        odd.compile = next_common(b, odd.rank, &at);
        most.compile = next_common(b, most.rank, &other_at);
    } while (odd.compile != JOB_NONE && most.compile != JOB_NONE &&
             b->job->compiles.v[odd.compile].step == b->job->compiles.v[most.compile].step);
    if (odd.compile == JOB_NONE || most.compile == JOB_NONE)
        return true;
    const struct job_compile *c = &b->job->compiles.v[odd.compile];
    struct divergence *d = divergence_put(b, DIVERGENCE_ORDER, c->step, ballots);
    if (!d)
        return false;
    d->compile = odd.compile;
    d->other = most.compile;
    d->place = job_call_place(b->job, odd.compile);
    return true;
}

/* Ranks compile a function when they first call it, so compiles in another order mean calls in
 * another order, and so collectives. */
bool divergences_of_order(struct divergence_build *b)
{
    b->common = calloc((size_t)b->job->n_steps + 1, sizeof *b->common);
    bool ok = b->common || err_nomem(b->err);
    for (uint32_t i = 0; ok && i < b->job->n_steps; i++)
        b->common[i] = is_common(b, i);
    for (uint32_t rank = 0; ok && rank < b->job->ranks.n; rank++) {
        uint32_t compile, at = 0;
        buf_clear(&b->text);
        while ((compile = next_common(b, rank, &at)) != JOB_NONE)
            buf_le32(&b->text, b->job->compiles.v[compile].step);
        ok = ballot_put(b, rank, JOB_NONE, 0);
    }
    return ok && ballots_count(b, 0, found_order);
}
