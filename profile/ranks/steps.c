#include "profile/ranks/steps.h"

#include <stdlib.h>

#include "trace/base/buf.h"

struct str place_file(const struct job *job, uint32_t place)
{
    struct str file = job_text(job, job->places.v[place].file);
    size_t at = file.n;
    while (at > 0 && file.p[at - 1] != '/' && file.p[at - 1] != '\\')
        at--;
    return str_from(file, at);
}

/* ---- Numbers ---- */

struct step_numbers {
    struct job *job;
    struct intern functions, steps;
    struct buf key;
};

static uint32_t number_function(struct step_numbers *s, const struct job_compile *c)
{
    buf_clear(&s->key);
    buf_put(&s->key, job_text(s->job, c->function));
    if (c->place != JOB_NONE) {
        buf_putc(&s->key, 0);
        buf_put(&s->key, place_file(s->job, c->place));
        buf_putc(&s->key, 0);
        buf_u64(&s->key, s->job->places.v[c->place].line);
    }
    return s->key.failed ? INTERN_NONE : intern(&s->functions, buf_str(&s->key));
}

static bool number_rank(struct step_numbers *s, const struct job_rank *rank)
{
    uint32_t *counts = calloc(s->functions.texts.n + rank->n_compiles + 1, sizeof *counts);
    bool ok = counts != NULL;
    for (uint32_t i = 0; ok && i < rank->n_compiles; i++) {
        struct job_compile *c = &s->job->compiles.v[rank->first_compile + i];
        uint32_t turn[2] = { number_function(s, c), 0 };
        ok = turn[0] != INTERN_NONE;
        if (!ok)
            break;
        turn[1] = c->again = counts[turn[0]]++;
        c->step = intern(&s->steps, (struct str){ (const char *)turn, sizeof turn });
        ok = c->step != INTERN_NONE;
    }
    free(counts);
    return ok;
}

/* ---- Order ---- */

/* A list of steps: each rank's new ones are put behind the step that precedes them there. */
struct step_list {
    uint32_t *next; /* by step + 1; 0 is the head */
    bool *placed;
};

static void place_steps(const struct job *job, const struct job_rank *rank, struct step_list *list)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < rank->n_compiles; i++) {
        uint32_t step = job->compiles.v[rank->first_compile + i].step + 1;
        if (!list->placed[step]) {
            list->placed[step] = true;
            list->next[step] = list->next[at];
            list->next[at] = step;
        }
        at = step;
    }
}

static bool order_steps(struct job *job, uint32_t n)
{
    struct step_list list = { calloc((size_t)n + 1, sizeof *list.next),
                              calloc((size_t)n + 1, sizeof *list.placed) };
    bool ok = list.next && list.placed && vec_reserve(&job->step_order, n);
    for (size_t i = 0; ok && i < job->ranks.n; i++)
        place_steps(job, &job->ranks.v[i], &list);
    for (uint32_t at = ok ? list.next[0] : 0; at != 0; at = list.next[at])
        job->step_order.v[job->step_order.n++] = at - 1;
    free(list.next);
    free(list.placed);
    return ok;
}

/* Compiles are stored by rank in the order of their ranks' numbers or not, so ranks are walked. */
static bool group_steps(struct job *job)
{
    uint32_t n = job->n_steps, at = 0;
    if (!vec_reserve(&job->by_step, job->compiles.n) || !vec_reserve(&job->first_of_step, n + 1))
        return false;
    job->by_step.n = job->compiles.n;
    job->first_of_step.n = (size_t)n + 1;
    memset(job->first_of_step.v, 0, ((size_t)n + 1) * sizeof *job->first_of_step.v);
    for (size_t i = 0; i < job->compiles.n; i++)
        job->first_of_step.v[job->compiles.v[i].step]++;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t count = job->first_of_step.v[i];
        job->first_of_step.v[i] = at += i < n ? count : 0;
    }
    for (size_t r = job->ranks.n; r-- > 0;)
        for (uint32_t i = job->ranks.v[r].n_compiles; i-- > 0;) {
            uint32_t compile = job->ranks.v[r].first_compile + i;
            job->by_step.v[--job->first_of_step.v[job->compiles.v[compile].step]] = compile;
        }
    return true;
}

bool steps_make(struct job *job, struct err *err)
{
    struct step_numbers s = { .job = job };
    bool ok = true;
    for (size_t i = 0; ok && i < job->ranks.n; i++)
        ok = number_rank(&s, &job->ranks.v[i]);
    job->n_steps = (uint32_t)s.steps.texts.n;
    job->step_order.n = 0;
    ok = ok && order_steps(job, job->n_steps) && group_steps(job);
    intern_release(&s.functions);
    intern_release(&s.steps);
    buf_release(&s.key);
    return ok || err_nomem(err);
}
