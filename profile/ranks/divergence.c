#include "profile/ranks/divergence.h"

#include <stdlib.h>

#include "profile/ranks/collective_ops.h"
#include "profile/ranks/divergence_build.h"

enum divergence_class { CLASS_WORK, CLASS_CACHE, CLASS_TIME };

static const struct {
    const char *name, *title;
    enum divergence_class class;
} KINDS[DIVERGENCE_KINDS] = {
#define DIVERGENCE(id, name, class, title) { name, title, CLASS_##class },
#include "profile/ranks/divergence_kinds.def"
#undef DIVERGENCE
};

const char *divergence_name(enum divergence_kind kind)
{
    return KINDS[kind].name;
}

const char *divergence_title(enum divergence_kind kind)
{
    return KINDS[kind].title;
}

/* ---- Ballots ---- */

bool ballot_put(struct divergence_build *b, uint32_t rank, uint32_t compile, int64_t weight)
{
    uint32_t value = b->text.failed ? INTERN_NONE : intern(&b->values, buf_str(&b->text));
    struct ballot ballot = { rank, compile, value, weight };
    return (value != INTERN_NONE && vec_push(&b->ballots, ballot)) || err_nomem(b->err);
}

static int by_value(const void *a, const void *b)
{
    const struct ballot *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Returns the number of ballots from `at` on with its value. */
static uint32_t count_value(const struct ballot *ballots, uint32_t n, uint32_t at)
{
    uint32_t end = at;
    while (end < n && ballots[end].value == ballots[at].value)
        end++;
    return end - at;
}

/* Whether the second half is rather what the others do than the first. */
static bool is_rather(const struct ballot *a, const struct ballot *b)
{
    return a->weight != b->weight ? b->weight < a->weight : b->rank < a->rank;
}

static int by_rank(const void *a, const void *b)
{
    const struct ballot *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Moves the ballots of most ranks to the end, behind those that differ; both are by rank. */
static struct ballots divide(struct ballot *ballots, uint32_t n)
{
    uint32_t most = 0, n_most = 0;
    qsort(ballots, n, sizeof *ballots, by_value);
    for (uint32_t at = 0, count; at < n; at += count) {
        count = count_value(ballots, n, at);
        if (count > n_most || (count == n_most && is_rather(&ballots[most], &ballots[at]))) {
            most = at;
            n_most = count;
        }
    }
    uint32_t value = ballots[most].value, n_odd = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ballots[i].value != value) {
            struct ballot swap = ballots[n_odd];
            ballots[n_odd++] = ballots[i];
            ballots[i] = swap;
        }
    qsort(ballots, n_odd, sizeof *ballots, by_rank);
    qsort(ballots + n_odd, n_most, sizeof *ballots, by_rank);
    return (struct ballots){ ballots, ballots + n_odd, n_odd, n_most };
}

/* Moves the ballots of the first one's role to the front; returns how many these are. */
static uint32_t gather_role(const struct divergence_build *b, struct ballot *ballots, uint32_t n)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++)
        if (b->roles[ballots[i].rank] == b->roles[ballots[0].rank]) {
            struct ballot swap = ballots[same];
            ballots[same++] = ballots[i];
            ballots[i] = swap;
        }
    return same;
}

bool ballots_count(struct divergence_build *b, uint32_t step, ballots_fn found)
{
    bool ok = true;
    uint32_t n = (uint32_t)b->ballots.n;
    for (uint32_t at = 0, same; ok && at < n; at += same) {
        same = gather_role(b, b->ballots.v + at, n - at);
        struct ballots divided = divide(b->ballots.v + at, same);
        ok = !divided.n_odd || found(b, step, &divided);
    }
    b->ballots.n = 0;
    return ok;
}

bool compile_is_compared(const struct divergence_build *b, uint32_t compile)
{
    const struct job_compile *c = &b->job->compiles.v[compile];
    uint32_t at = 0;
    return !b->out[c->rank] && c->status != ATTEMPT_UNFINISHED &&
           !job_next_fact(b->job, c, FACT_FAILURE, &at);
}

bool ballots_of_step(struct divergence_build *b, uint32_t step, ballot_fn put, ballots_fn found)
{
    uint32_t n;
    const uint32_t *compiles = step_compiles(b->job, step, &n);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        if (compile_is_compared(b, compiles[i]))
            ok = put(b, compiles[i]);
    return ok && ballots_count(b, step, found);
}

/* ---- Divergences ---- */

struct divergence *divergence_put(struct divergence_build *b, enum divergence_kind kind,
                                  uint32_t step, const struct ballots *ballots)
{
    struct divergences *ret = b->ret;
    struct divergence fresh = {
        .kind = kind,
        .step = step,
        .first_rank = (uint32_t)ret->ranks.n,
        .n_ranks = ballots->n_odd,
        .n_others = ballots->n_most,
        .compile = ballots->odd[0].compile,
        .other = ballots->most[0].compile,
        .own = JOB_NONE,
        .others = JOB_NONE,
        .place = JOB_NONE,
        .cause = JOB_NONE,
        .cause_other = JOB_NONE,
    };
    bool ok = true;
    for (uint32_t i = 0; ok && i < ballots->n_odd; i++) {
        ok = vec_push(&ret->ranks, ballots->odd[i].rank);
        b->out[ballots->odd[i].rank] = true;
    }
    if (!ok || !vec_push(&ret->list, fresh)) {
        err_nomem(b->err);
        return NULL;
    }
    return &ret->list.v[ret->list.n - 1];
}

static const struct fact *find_value(const struct job *job, uint32_t compile, uint32_t what)
{
    return compile == JOB_NONE ? NULL
                               : job_find_fact(job, &job->compiles.v[compile], FACT_VALUE, what);
}

/* How far a guard is from a place: lines, in another file more than all. */
static uint64_t distance(const struct job *job, uint32_t place, uint32_t from)
{
    if (from == JOB_NONE)
        return 0;
    const struct job_place *a = &job->places.v[place], *b = &job->places.v[from];
    uint64_t lines = a->line > b->line ? a->line - b->line : b->line - a->line;
    return lines + (a->file == b->file ? 0 : UINT64_C(1) << 33);
}

void divergence_explain(const struct divergence_build *b, struct divergence *d, uint32_t peer)
{
    const struct job *job = b->job;
    const struct fact *own;
    uint64_t nearest = UINT64_MAX;
    if (d->compile == JOB_NONE || d->other == JOB_NONE)
        return;
    const struct job_compile *c = &job->compiles.v[d->compile];
    for (uint32_t at = 0; (own = job_next_fact(job, c, FACT_VALUE, &at)) != NULL;) {
        const struct fact *other = find_value(job, d->other, own->what);
        if (!other || other->detail == own->detail)
            continue;
        const struct fact *third = find_value(job, peer, own->what);
        uint64_t far = distance(job, own->place, d->place);
        if (third && third->detail != other->detail)
            far |= UINT64_C(1) << 40; /* each rank has its own value, as of its number */
        if (far >= nearest)
            continue;
        nearest = far;
        d->cause = fact_number(job, own);
        d->cause_other = fact_number(job, other);
    }
    if (d->cause != JOB_NONE)
        d->place = job->facts.v[d->cause].place;
}

/* ---- Roles and groups ---- */

/* Two ranks are in one role if they send and receive alike, whatever the peers are. */
static bool find_role(struct divergence_build *b, const struct job_rank *rank, struct intern *roles,
                      uint32_t *ret)
{
    const struct job *job = b->job;
    const struct fact *fact;
    buf_clear(&b->text);
    for (uint32_t i = 0; i < rank->n_compiles; i++) {
        const struct job_compile *c = &job->compiles.v[rank->first_compile + i];
        for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_EARLY, &at)) != NULL;)
            if (is_peer_call(job_text(job, fact->what))) {
                buf_put(&b->text, job_text(job, fact->what));
                buf_putc(&b->text, ' ');
            }
    }
    *ret = b->text.failed ? INTERN_NONE : intern(roles, buf_str(&b->text));
    return *ret != INTERN_NONE;
}

static bool find_roles(struct divergence_build *b)
{
    struct intern roles = INTERN_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < b->job->ranks.n; i++)
        ok = find_role(b, &b->job->ranks.v[i], &roles, &b->roles[i]);
    b->ret->n_stages = (uint32_t)roles.texts.n;
    intern_release(&roles);
    return ok || err_nomem(b->err);
}

static void count_users(struct divergence_build *b, uint32_t *last)
{
    const struct job *job = b->job;
    for (size_t i = 0; i < job->compiles.n; i++) {
        const struct job_compile *c = &job->compiles.v[i];
        for (uint32_t k = 0; k < c->n_facts; k++) {
            const struct fact *fact = &job->facts.v[c->first_fact + k];
            if ((fact->kind != FACT_COLLECTIVE && fact->kind != FACT_EARLY) ||
                last[fact->group] == c->rank + 1)
                continue;
            last[fact->group] = c->rank + 1;
            b->users[fact->group]++;
        }
    }
}

static bool find_users(struct divergence_build *b)
{
    size_t n = b->job->texts.texts.n + 1;
    uint32_t *last = calloc(n, sizeof *last);
    b->users = calloc(n, sizeof *b->users);
    b->marks = calloc(n, sizeof *b->marks);
    if (last && b->users)
        count_users(b, last);
    free(last);
    return (last && b->users && b->marks) || err_nomem(b->err);
}

/* ---- The order ---- */

struct ranked {
    uint32_t class, position, number;
    struct divergence divergence;
};

static int by_class(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool put_in_order(struct divergence_build *b)
{
    size_t n = b->ret->list.n;
    struct ranked *all = calloc(n + 1, sizeof *all);
    uint32_t *position = calloc((size_t)b->job->n_steps + 1, sizeof *position);
    for (uint32_t i = 0; position && i < b->job->n_steps; i++)
        position[b->job->step_order.v[i]] = i;
    for (uint32_t i = 0; all && position && i < n; i++) {
        const struct divergence *d = &b->ret->list.v[i];
        all[i] = (struct ranked){ KINDS[d->kind].class, position[d->step], i, *d };
    }
    if (all && position && n)
        qsort(all, n, sizeof *all, by_class);
    for (uint32_t i = 0; all && position && i < n; i++)
        b->ret->list.v[i] = all[i].divergence;
    bool ok = all && position;
    free(all);
    free(position);
    return ok || err_nomem(b->err);
}

static bool compare_step(struct divergence_build *b, uint32_t step)
{
    memset(b->out, 0, b->job->ranks.n * sizeof *b->out);
    return divergences_of_compiles(b, step) && divergences_of_collectives(b, step) &&
           divergences_of_inputs(b, step) && divergences_of_caches(b, step);
}

static bool compare_all(struct divergence_build *b)
{
    bool ok = find_roles(b) && find_users(b) && find_made(b);
    for (uint32_t i = 0; ok && i < b->job->n_steps; i++)
        ok = compare_step(b, b->job->step_order.v[i]);
    return ok && divergences_of_order(b) && divergences_of_peers(b) && divergences_of_times(b) &&
           put_in_order(b) && divergence_waits(b) && find_stragglers(b);
}

bool divergences_find(struct divergences *ret, const struct job *job, struct err *err)
{
    struct divergence_build b = { .ret = ret, .job = job, .err = err };
    *ret = (struct divergences){ 0 };
    b.roles = calloc(job->ranks.n + 1, sizeof *b.roles);
    b.out = calloc(job->ranks.n + 1, sizeof *b.out);
    bool ok = (b.roles && b.out) || err_nomem(err);
    ok = ok && compare_all(&b);
    free(b.roles);
    free(b.out);
    free(b.users);
    free(b.marks);
    free(b.common);
    free(b.sends);
    free(b.made);
    intern_release(&b.values);
    vec_release(&b.ballots);
    buf_release(&b.text);
    return ok;
}

void divergences_release(struct divergences *found)
{
    vec_release(&found->list);
    vec_release(&found->ranks);
    vec_release(&found->waits);
    vec_release(&found->stragglers);
}
