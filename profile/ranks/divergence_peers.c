/* Sends and receives: what two ranks say of each other. */
#include <stdlib.h>

#include "profile/ranks/collective_ops.h"
#include "profile/ranks/divergence_build.h"

struct peer_call {
    uint32_t from, to; /* in job->ranks */
    bool send;
    uint32_t number; /* of its pair and side */
    uint32_t compile, fact;
};

struct peer_calls {
    struct divergence_build *b;
    vec_of(struct peer_call)
    all;
};

/* Returns the rank of a number; JOB_NONE if it is not among the recordings, or twice. */
static uint32_t rank_of_number(const struct job *job, int64_t number)
{
    size_t from = 0, to = job->ranks.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (job->ranks.v[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    bool found = from < job->ranks.n && job->ranks.v[from].number == number;
    bool twice = from + 1 < job->ranks.n && job->ranks.v[from + 1].number == number;
    return found && !twice ? (uint32_t)from : JOB_NONE;
}

/* The first constant argument is the peer's rank: isend(tensor, dst, tag, group). */
static bool take_call(struct peer_calls *p, uint32_t compile, const struct fact *fact)
{
    const struct job *job = p->b->job;
    struct str constants = job_text(job, fact->detail);
    int64_t number;
    if (!str_to_i64(str_first(constants, str_find_char(constants, ',')), &number))
        return true;
    uint32_t peer = rank_of_number(job, number), rank = job->compiles.v[compile].rank;
    bool send = is_send(job_text(job, fact->what));
    struct peer_call call = { .from = send ? rank : peer,
                              .to = send ? peer : rank,
                              .send = send,
                              .number = (uint32_t)p->all.n,
                              .compile = compile,
                              .fact = fact_number(job, fact) };
    p->b->sends[rank] = true;
    return peer == JOB_NONE || vec_push(&p->all, call);
}

static bool take_calls(struct peer_calls *p)
{
    const struct job *job = p->b->job;
    const struct fact *fact;
    for (uint32_t i = 0; i < job->compiles.n; i++) {
        const struct job_compile *c = &job->compiles.v[i];
        for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_EARLY, &at)) != NULL;)
            if (is_peer_call(job_text(job, fact->what)) && !c->recompile && !take_call(p, i, fact))
                return err_nomem(p->b->err);
    }
    return true;
}

static int by_pair(const void *a, const void *b)
{
    const struct peer_call *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->send != y->send)
        return x->send ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* `odd` is the side that differs: it lacks the call, or is the receiver. */
static bool put_pair(struct divergence_build *b, enum divergence_kind kind, uint32_t odd_rank,
                     const struct peer_call *odd, const struct peer_call *other)
{
    const struct job *job = b->job;
    const struct peer_call *shown = odd ? odd : other;
    const struct ballot own = { odd_rank, odd ? odd->compile : JOB_NONE, 0, 0 };
    const struct ballot most = { other->send ? other->from : other->to, other->compile, 0, 0 };
    const struct ballots ballots = { &own, &most, 1, 1 };
    struct divergence *d = divergence_put(b, kind, job->compiles.v[shown->compile].step, &ballots);
    if (!d)
        return false;
    d->own = odd ? odd->fact : JOB_NONE;
    d->others = other->fact;
    d->place = job->facts.v[shown->fact].place;
    if (d->place == JOB_NONE)
        d->place = job->compiles.v[shown->compile].place;
    return true;
}

static bool compare_pair(struct divergence_build *b, const struct peer_call *send,
                         const struct peer_call *receive)
{
    const struct job *job = b->job;
    const struct fact *x = &job->facts.v[send->fact], *y = &job->facts.v[receive->fact];
    struct str sizes = job_text(job, x->sizes), other = job_text(job, y->sizes);
    bool known = sizes.n && other.n && str_find_char(sizes, '?') == sizes.n &&
                 str_find_char(other, '?') == other.n;
    if (x->extra != y->extra)
        return put_pair(b, DIVERGENCE_DTYPE, receive->to, receive, send);
    return !known || x->sizes == y->sizes ||
           put_pair(b, DIVERGENCE_SIZE, receive->to, receive, send);
}

/* Whether nothing is known of a call that a rank lacks: all of its calls are outside of compiles,
 * or it did not get so far. */
static bool is_open(const struct divergence_build *b, uint32_t rank)
{
    const struct job_rank *r = &b->job->ranks.v[rank];
    if (!b->sends[rank])
        return true;
    for (uint32_t i = 0; i < r->n_compiles; i++) {
        const struct job_compile *c = &b->job->compiles.v[r->first_compile + i];
        uint32_t at = 0;
        if (c->status == ATTEMPT_UNFINISHED || job_next_fact(b->job, c, FACT_FAILURE, &at))
            return true;
    }
    return false;
}

/* Compares the sends of a pair of ranks with the receives: `n_sends` first. */
static bool compare_calls(struct divergence_build *b, const struct peer_call *calls,
                          uint32_t n_sends, uint32_t n)
{
    uint32_t n_receives = n - n_sends, i = 0;
    bool ok = true;
    for (; ok && i < n_sends && i < n_receives; i++)
        ok = compare_pair(b, &calls[i], &calls[n_sends + i]);
    if (!ok || n_sends == n_receives)
        return ok;
    bool more = n_sends > n_receives;
    const struct peer_call *alone = more ? &calls[i] : &calls[n_sends + i];
    uint32_t odd = more ? alone->to : alone->from;
    return is_open(b, odd) || put_pair(b, DIVERGENCE_MISSING, odd, NULL, alone);
}

bool divergences_of_peers(struct divergence_build *b)
{
    struct peer_calls p = { .b = b };
    b->sends = calloc(b->job->ranks.n + 1, sizeof *b->sends);
    bool ok = (b->sends || err_nomem(b->err)) && take_calls(&p);
    if (ok && p.all.n)
        qsort(p.all.v, p.all.n, sizeof *p.all.v, by_pair);
    for (size_t at = 0, end; ok && at < p.all.n; at = end) {
        uint32_t n_sends = 0;
        for (end = at; end < p.all.n && p.all.v[end].from == p.all.v[at].from &&
                       p.all.v[end].to == p.all.v[at].to;
             end++)
            n_sends += p.all.v[end].send;
        ok = compare_calls(b, &p.all.v[at], n_sends, (uint32_t)(end - at));
    }
    vec_release(&p.all);
    return ok;
}
