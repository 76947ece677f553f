#include "replay/backend/ranks/ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/arena.h"
#include "trace/base/text/printable.h"
#include "trace/base/vec.h"

enum rank_state { RANK_READY, RANK_MEETS, RANK_RECEIVES, RANK_ENDED };

struct group {
    struct str name;
    bool member[RANKS_MAX];
    uint32_t n;                            /* members; 0: all ranks are */
    struct collective *pending[RANKS_MAX]; /* by rank: its call in the current collective */
    uint32_t n_pending;
    /* By rank: its collectives, and those before the graph that it runs. */
    uint64_t done[RANKS_MAX], before[RANKS_MAX];
};

/* What a rank that waits waits for, or why it ended. */
struct rank_entry {
    struct rank rank;
    enum rank_state state;
    struct group *group;
    const struct rank_message *message;
    char why[240]; /* "": it ran to its end */
};

struct posted {
    struct str group;
    uint32_t from, to;
    int64_t tag;
    enum dtype dtype;
    size_t n, bytes;
    void *elements;
    uint32_t node;
};

/* Everything but `turn` is used by the rank whose turn it is only. */
struct rank_job {
    pthread_mutex_t lock;
    pthread_cond_t passed;
    uint32_t turn; /* n: nobody's */
    uint32_t n;
    struct rank_entry entries[RANKS_MAX];
    vec_of(struct group *)
    groups;
    vec_of(struct posted)
    messages;
    struct err failed; /* of every call from now on */
    struct rank_divergence divergence;
    struct arena arena;
};

struct rank_job *rank_job_new(uint32_t n, struct err *err)
{
    struct rank_job *job = calloc(1, sizeof *job);
    if (!job)
        return err_nomem(err), NULL;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->passed, NULL);
    job->n = n < RANKS_MAX ? n : RANKS_MAX;
    for (uint32_t i = 0; i < job->n; i++)
        job->entries[i].rank = (struct rank){ .job = job, .number = i };
    return job;
}

void rank_job_free(struct rank_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->groups.n; i++)
        free(job->groups.v[i]);
    for (size_t i = 0; i < job->messages.n; i++)
        free(job->messages.v[i].elements);
    vec_release(&job->groups);
    vec_release(&job->messages);
    arena_release(&job->arena);
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->passed);
    free(job);
}

uint32_t rank_job_size(const struct rank_job *job)
{
    return job->n;
}

const struct rank_divergence *rank_job_divergence(const struct rank_job *job)
{
    return &job->divergence;
}

/* ---- Groups ---- */

/* Returns the group of that name, which is made if there is none; NULL: out of memory. */
static struct group *group_of(struct rank_job *job, struct str name, struct err *err)
{
    for (size_t i = 0; i < job->groups.n; i++)
        if (str_eq(job->groups.v[i]->name, name))
            return job->groups.v[i];
    struct group *group = calloc(1, sizeof *group);
    if (group)
        group->name = arena_copy(&job->arena, name);
    if (group && vec_push(&job->groups, group))
        return group;
    free(group);
    err_nomem(err);
    return NULL;
}

bool rank_job_join(struct rank_job *job, struct str name, uint32_t rank, struct err *err)
{
    struct group *group = str_is(name, "0") ? NULL : group_of(job, name, err);
    if (group && !group->member[rank]) {
        group->member[rank] = true;
        group->n++;
    }
    return group || str_is(name, "0");
}

static bool is_member(const struct group *group, uint32_t rank)
{
    return group->n == 0 || group->member[rank];
}

static uint32_t group_size(const struct rank_job *job, const struct group *group)
{
    return group->n ? group->n : job->n;
}

/* Returns the number in the group of a rank, or that of the ranks before it. */
static uint32_t group_number(const struct group *group, uint32_t rank)
{
    uint32_t ret = 0;
    for (uint32_t i = 0; i < rank; i++)
        ret += is_member(group, i);
    return ret;
}

bool rank_in_group(struct rank *rank, struct str name, uint32_t *number, uint32_t *n,
                   struct err *err)
{
    struct group *group = group_of(rank->job, name, err);
    if (!group)
        return false;
    if (!is_member(group, rank->number))
        return err_set(err, ERR_USAGE, "rank %u is not in process group \"%.*s\"", rank->number,
                       STR_ARG(name));
    *number = group_number(group, rank->number);
    *n = group_size(rank->job, group);
    return true;
}

/* ---- What is said of a divergence ---- */

static void describe_place(const struct rank *rank, uint32_t node, struct buf *out)
{
    if (rank->describe) {
        buf_puts(out, " in ");
        rank->describe(rank->user, node, out);
    }
}

static void describe_collective(const struct rank *rank, const struct collective *c,
                                struct buf *out)
{
    buf_printf(out, "%.*s", STR_ARG(c->op));
    if (c->reduce.n) {
        buf_puts(out, " \"");
        printable_line(out, c->reduce);
        buf_putc(out, '"');
    }
    if (c->root >= 0)
        buf_printf(out, " from rank %lld", (long long)c->root);
    buf_printf(out, " of %s[", dtype_short_name(c->dtype));
    for (uint32_t i = 0; i < c->ndim; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)c->size[i]);
    buf_putc(out, ']');
    describe_place(rank, c->node, out);
}

/* Appends what a rank does: "rank 1: all_reduce ... in 0/0_0:aot_inference_graph, node all_reduce".
 */
static void describe_rank(const struct rank_job *job, uint32_t i, struct buf *out)
{
    const struct rank_entry *e = &job->entries[i];
    buf_printf(out, "%srank %u: ", out->n ? "\n" : "", i);
    const struct rank_message *m = e->message;
    if (e->group && e->group->pending[i])
        describe_collective(&e->rank, e->group->pending[i], out);
    else if (e->state == RANK_RECEIVES && m) {
        buf_printf(out, "%.*s from rank %lld, tag %lld", STR_ARG(m->op), (long long)m->peer,
                   (long long)m->tag);
        describe_place(&e->rank, m->node, out);
    } else if (e->state == RANK_ENDED)
        buf_printf(out, "%s%s", e->why[0] ? "stopped: " : "ran all its graphs", e->why);
    else
        buf_puts(out, "did not get there");
}

/* Returns the number of the collective that a rank waits for. */
static uint64_t ordinal_of(const struct rank_job *job, const struct group *group)
{
    uint32_t i = 0;
    while (i + 1 < job->n && !group->pending[i])
        i++;
    return group->done[i] + 1;
}

/* Ends the job: every later call fails. */
static void diverge(struct rank_job *job, const char *kind, uint32_t rank,
                    const struct group *group, struct buf *text)
{
    struct rank_divergence *d = &job->divergence;
    if (err_is_set(&job->failed))
        return;
    d->kind = kind;
    d->rank = rank;
    d->group = group ? group->name : STR("");
    d->ordinal = group ? ordinal_of(job, group) : 0;
    d->text = text->failed ? STR("") : arena_copy(&job->arena, buf_str(text));
    err_set(&job->failed, ERR_USAGE, "the ranks diverged");
}

/* ---- Turns ---- */

/* No rank can go on: those that wait will wait for ever. */
static void find_missing(struct rank_job *job)
{
    struct buf text = BUF_INIT;
    const struct group *group = NULL;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < job->n && !group; i++)
        if (job->entries[i].state == RANK_MEETS)
            group = job->entries[i].group;
    for (uint32_t i = job->n; i-- > 0;) {
        const struct rank_entry *e = &job->entries[i];
        if (group ? is_member(group, i) && !group->pending[i] : e->state == RANK_ENDED)
            missing = i;
    }
    for (uint32_t i = 0; i < job->n; i++)
        describe_rank(job, i, &text);
    diverge(job, "missing", missing, group, &text);
    buf_release(&text);
}

static uint32_t find_ready(const struct rank_job *job)
{
    uint32_t i = 0;
    while (i < job->n && job->entries[i].state != RANK_READY)
        i++;
    return i;
}

static void wake_all(struct rank_job *job)
{
    for (uint32_t i = 0; i < job->n; i++)
        if (job->entries[i].state != RANK_ENDED)
            job->entries[i].state = RANK_READY;
}

static void set_turn(struct rank_job *job, uint32_t turn)
{
    pthread_mutex_lock(&job->lock);
    job->turn = turn;
    pthread_cond_broadcast(&job->passed);
    pthread_mutex_unlock(&job->lock);
}

/* The state of the rank whose turn it was is set before. */
static void pass_turn(struct rank_job *job)
{
    uint32_t next = find_ready(job);
    bool waits = false;
    for (uint32_t i = 0; i < job->n; i++)
        waits |= job->entries[i].state == RANK_MEETS || job->entries[i].state == RANK_RECEIVES;
    if (next == job->n && waits) {
        find_missing(job);
        wake_all(job);
        next = find_ready(job);
    }
    set_turn(job, next);
}

static void take_turn(struct rank *rank)
{
    struct rank_job *job = rank->job;
    pthread_mutex_lock(&job->lock);
    while (job->turn != rank->number)
        pthread_cond_wait(&job->passed, &job->lock);
    pthread_mutex_unlock(&job->lock);
}

static void wait_as(struct rank *rank, enum rank_state state)
{
    rank->job->entries[rank->number].state = state;
    pass_turn(rank->job);
    take_turn(rank);
}

struct rank *rank_begin(struct rank_job *job, uint32_t number)
{
    take_turn(&job->entries[number].rank);
    return &job->entries[number].rank;
}

void rank_end(struct rank *rank, const struct err *why)
{
    struct rank_entry *e = &rank->job->entries[rank->number];
    e->state = RANK_ENDED;
    e->group = NULL;
    if (err_is_set(why)) {
        size_t n = strlen(why->text) < sizeof e->why - 1 ? strlen(why->text) : sizeof e->why - 1;
        memcpy(e->why, why->text, n);
    }
    pass_turn(rank->job);
}

void rank_yield(struct rank *rank)
{
    struct rank_job *job = rank ? rank->job : NULL;
    if (!job)
        return;
    uint32_t next = (rank->number + 1) % job->n;
    while (job->entries[next].state != RANK_READY)
        next = (next + 1) % job->n;
    if (next == rank->number)
        return;
    set_turn(job, next);
    take_turn(rank);
}

void rank_begin_graph(struct rank *rank)
{
    for (size_t i = 0; rank && i < rank->job->groups.n; i++) {
        struct group *group = rank->job->groups.v[i];
        group->before[rank->number] = group->done[rank->number];
    }
}

void rank_repeat(struct rank *rank)
{
    for (size_t i = 0; rank && i < rank->job->groups.n; i++) {
        struct group *group = rank->job->groups.v[i];
        group->done[rank->number] = group->before[rank->number];
    }
}

/* ---- Collectives ---- */

/* Returns in what two ranks differ, as a kind of divergence; NULL: in nothing. */
static const char *difference_of(const struct collective *a, const struct collective *b)
{
    if (!str_eq(a->op, b->op) || !str_eq(a->reduce, b->reduce) || a->root != b->root ||
        a->group_size != b->group_size || a->prepares != b->prepares || a->perform != b->perform)
        return "order";
    if (a->dtype != b->dtype)
        return "dtype";
    if (a->uneven)
        return NULL;
    bool same = a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
    return same ? NULL : "size";
}

/* Returns the rank that does otherwise than most: of two, the later one. */
static uint32_t odd_rank(const struct rank_job *job, const struct group *group)
{
    uint32_t ret = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < job->n; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; group->pending[i] && k < job->n; k++)
            same += group->pending[k] && !difference_of(group->pending[i], group->pending[k]);
        if (group->pending[i] && same <= least) {
            ret = i;
            least = same;
        }
    }
    return ret;
}

/* Returns whether all ranks that came agree; the job has diverged if they do not. */
static bool agree(struct rank_job *job, struct group *group)
{
    uint32_t first = 0;
    const char *kind = NULL;
    while (!group->pending[first])
        first++;
    for (uint32_t i = first + 1; i < job->n && !kind; i++)
        if (group->pending[i])
            kind = difference_of(group->pending[first], group->pending[i]);
    if (!kind)
        return true;
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < job->n; i++)
        if (group->pending[i])
            describe_rank(job, i, &text);
    diverge(job, kind, odd_rank(job, group), group, &text);
    buf_release(&text);
    wake_all(job);
    return false;
}

static bool check_size(const struct collective *call, uint32_t n, struct err *err)
{
    return call->group_size == 0 || call->group_size == (int64_t)n ||
           err_set(err, ERR_USAGE,
                   "process group \"%.*s\" had %lld ranks when this was recorded, and %u run",
                   STR_ARG(call->group), (long long)call->group_size, n);
}

/* All ranks of the group came: computes the collective, and lets them go on. */
static void complete(struct rank_job *job, struct group *group)
{
    struct collective *all[RANKS_MAX];
    uint32_t n = 0;
    struct err why = { 0 };
    for (uint32_t i = 0; i < job->n; i++)
        if (group->pending[i]) {
            all[n++] = group->pending[i];
            group->pending[i] = NULL;
            group->done[i] += !all[0]->prepares;
            job->entries[i].state = RANK_READY;
            job->entries[i].group = NULL;
        }
    group->n_pending = 0;
    if (!all[0]->perform(all, n, &why)) {
        job->failed = why;
        wake_all(job);
    }
}

static bool fails(const struct rank_job *job, struct err *err)
{
    return err_is_set(&job->failed) && !err_copy(err, &job->failed);
}

bool rank_meet(struct rank *rank, struct collective *call, collective_fn *perform, struct err *err)
{
    struct rank_job *job = rank->job;
    uint32_t number, n;
    if (fails(job, err) || !rank_in_group(rank, call->group, &number, &n, err) ||
        !check_size(call, n, err))
        return false;
    call->perform = perform;
    struct group *group = group_of(job, call->group, err);
    struct rank_entry *e = &job->entries[rank->number];
    e->group = group;
    group->pending[rank->number] = call;
    group->n_pending++;
    if (agree(job, group)) {
        if (group->n_pending == n)
            complete(job, group);
        else
            wait_as(rank, RANK_MEETS);
    }
    group->pending[rank->number] = NULL;
    e->group = NULL;
    return !fails(job, err);
}

/* ---- Messages ---- */

/* Finds the peer of a message, a rank of the job, and its group, which this rank is in too. */
static bool find_peer(struct rank *rank, const struct rank_message *m, const char *preposition,
                      const struct group **group, uint32_t *peer, struct err *err)
{
    struct rank_job *job = rank->job;
    uint32_t number, n;
    if (fails(job, err) || !rank_in_group(rank, m->group, &number, &n, err))
        return false;
    *group = group_of(job, m->group, err);
    for (uint32_t i = 0; i < job->n; i++)
        if (is_member(*group, i) && group_number(*group, i) == m->peer) {
            *peer = i;
            return true;
        }
    return err_set(err, ERR_USAGE, "%.*s %s rank %lld, and process group \"%.*s\" has %u ranks",
                   STR_ARG(m->op), preposition, (long long)m->peer, STR_ARG(m->group), n);
}

bool rank_send(struct rank *rank, const struct rank_message *m, struct err *err)
{
    struct rank_job *job = rank->job;
    const struct group *group;
    struct posted p = { .from = rank->number,
                        .tag = m->tag,
                        .dtype = m->dtype,
                        .n = m->n,
                        .bytes = m->n * m->each,
                        .node = m->node };
    if (!find_peer(rank, m, "to", &group, &p.to, err))
        return false;
    p.group = group->name;
    p.elements = malloc(p.bytes + 1);
    if (!p.elements || !vec_push(&job->messages, p))
        return free(p.elements), err_nomem(err);
    if (p.bytes)
        memcpy(p.elements, m->elements, p.bytes);
    if (job->entries[p.to].state == RANK_RECEIVES)
        job->entries[p.to].state = RANK_READY; /* it looks whether this is the one */
    return true;
}

static bool is_for(const struct posted *p, const struct rank *to, uint32_t from,
                   const struct rank_message *m)
{
    return p->to == to->number && p->from == from && p->tag == m->tag && str_eq(p->group, m->group);
}

/* Copies a message. What was sent must be what is received. */
static bool take_message(struct rank_job *job, size_t at, const struct rank *to,
                         const struct rank_message *m, const struct group *group)
{
    struct posted p = job->messages.v[at];
    memmove(&job->messages.v[at], &job->messages.v[at + 1],
            (--job->messages.n - at) * sizeof job->messages.v[0]);
    bool same = p.dtype == m->dtype && p.n == m->n;
    if (same && p.bytes)
        memcpy(m->elements, p.elements, p.bytes);
    free(p.elements);
    if (same)
        return true;
    struct buf text = BUF_INIT;
    buf_printf(&text, "rank %u sent %zu elements of %s", p.from, p.n, dtype_short_name(p.dtype));
    describe_place(&job->entries[p.from].rank, p.node, &text);
    buf_printf(&text, "\nrank %u receives %zu of %s", to->number, m->n, dtype_short_name(m->dtype));
    describe_place(to, m->node, &text);
    diverge(job, p.dtype == m->dtype ? "size" : "dtype", to->number, NULL, &text);
    job->divergence.group = group->name;
    buf_release(&text);
    wake_all(job);
    return false;
}

bool rank_receive(struct rank *rank, const struct rank_message *m, struct err *err)
{
    struct rank_job *job = rank->job;
    struct rank_entry *e = &job->entries[rank->number];
    const struct group *group;
    uint32_t from;
    if (!find_peer(rank, m, "from", &group, &from, err))
        return false;
    for (;;) {
        for (size_t i = 0; i < job->messages.n; i++)
            if (is_for(&job->messages.v[i], rank, from, m))
                return take_message(job, i, rank, m, group) || !fails(job, err);
        e->message = m;
        wait_as(rank, RANK_RECEIVES);
        e->message = NULL;
        if (fails(job, err))
            return false;
    }
}
