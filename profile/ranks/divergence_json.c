#include "profile/ranks/divergence_report.h"
#include "trace/base/text/json_write.h"

static void put_place(const struct job *job, uint32_t place, struct json_writer *w)
{
    const struct job_place *p = place == JOB_NONE ? NULL : &job->places.v[place];
    json_put_str_or_null(w, "file", p ? job_text(job, p->file) : STR(""));
    json_put_u64(w, "line", p ? p->line : 0);
}

static void put_id(const struct job *job, const char *key, uint32_t compile, struct json_writer *w)
{
    json_put_str_or_null(
        w, key, compile == JOB_NONE ? STR("") : job_text(job, job->compiles.v[compile].id));
}

static void put_seconds(struct json_writer *w, const char *key, int64_t ns)
{
    json_put_double(w, key, (double)ns / 1e9);
}

/* ---- Ranks ---- */

static void put_collectives(const struct job *job, const struct job_rank *rank,
                            struct json_writer *w)
{
    const struct fact *fact;
    json_open_array(w, "collectives");
    for (uint32_t i = 0; i < rank->n_compiles; i++) {
        const struct job_compile *c = &job->compiles.v[rank->first_compile + i];
        for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_COLLECTIVE, &at)) != NULL;)
            json_put_str(w, NULL, job_text(job, fact->what));
    }
    json_close(w);
}

static void put_rank(const struct job *job, const struct job_rank *rank, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "recording", job_text(job, rank->name));
    json_put_str(w, "source", job_text(job, rank->source));
    if (rank->number < 0)
        json_put_null(w, "rank");
    else
        json_put_i64(w, "rank", rank->number);
    json_open_array(w, "compiles");
    for (uint32_t i = 0; i < rank->n_compiles; i++)
        json_put_str(w, NULL, job_text(job, job->compiles.v[rank->first_compile + i].id));
    json_close(w);
    put_collectives(job, rank, w);
    json_close(w);
}

/* ---- Divergences ---- */

static void put_fact(const struct job *job, const char *key, uint32_t number, struct json_writer *w)
{
    if (number == JOB_NONE) {
        json_put_null(w, key);
        return;
    }
    const struct fact *fact = &job->facts.v[number];
    json_open_object(w, key);
    json_put_str(w, "what", job_text(job, fact->what));
    json_put_str_or_null(w, "detail", job_text(job, fact->detail));
    json_put_str_or_null(w, "sizes", job_text(job, fact->sizes));
    json_put_str_or_null(w, "dtype",
                         fact->kind == FACT_CACHE ? STR("") : job_text(job, fact->extra));
    put_place(job, fact->place, w);
    json_close(w);
}

static void put_sentence(const struct job *job, const struct divergence *d, struct json_writer *w)
{
    struct buf text = BUF_INIT;
    divergence_sentence(job, d, &text);
    json_put_str(w, "text", buf_str(&text));
    w->out->failed |= text.failed;
    buf_release(&text);
}

static void put_divergence(const struct divergences *found, const struct job *job,
                           const struct divergence *d, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "kind", divergence_name(d->kind));
    json_open_array(w, "ranks");
    for (uint32_t i = 0; i < d->n_ranks; i++)
        json_put_str(w, NULL, job_rank_name(job, found->ranks.v[d->first_rank + i]));
    json_close(w);
    json_put_u64(w, "others", d->n_others);
    put_id(job, "compile", d->compile, w);
    put_id(job, "others_compile", d->other, w);
    put_place(job, d->place, w);
    put_sentence(job, d, w);
    put_fact(job, "own", d->own, w);
    put_fact(job, "others_own", d->others, w);
    put_fact(job, "cause", d->cause, w);
    put_fact(job, "others_cause", d->cause_other, w);
    if (d->kind == DIVERGENCE_SLOW) {
        put_seconds(w, "seconds", d->ns);
        put_seconds(w, "others_seconds", d->others_ns);
    }
    json_close(w);
}

/* ---- Waits ---- */

static const char *state_name(enum wait_state state)
{
    static const char *const NAMES[] = {
        [WAIT_COLLECTIVE] = "collective", [WAIT_COMPILER] = "compiler_collective",
        [WAIT_COMPILE] = "compile",       [WAIT_ELSEWHERE] = "not_there",
        [WAIT_FAILED] = "failed",
    };
    return NAMES[state];
}

static void put_members(const struct divergences *found, const struct job *job, const char *key,
                        const struct wait_groups *groups, uint32_t group, bool same,
                        struct json_writer *w)
{
    json_open_array(w, key);
    for (size_t i = 0; i < found->waits.n; i++)
        if ((groups->group[i] == group) == same)
            json_put_str(w, NULL, job_rank_name(job, found->waits.v[i].rank));
    json_close(w);
}

static void put_wait(const struct divergences *found, const struct job *job,
                     const struct wait_groups *groups, size_t at, struct json_writer *w)
{
    const struct rank_wait *wait = &found->waits.v[at];
    json_open_object(w, NULL);
    json_put_cstr(w, "state", state_name(wait->state));
    put_members(found, job, "ranks", groups, groups->group[at], true, w);
    put_id(job, "compile", wait->compile, w);
    put_fact(job, "collective", wait->fact, w);
    put_place(job, wait->compile == JOB_NONE ? JOB_NONE : job->compiles.v[wait->compile].call, w);
    if (wait_is_for_others(wait->state))
        put_members(found, job, "for", groups, groups->group[at], false, w);
    json_close(w);
}

static void put_waits(const struct divergences *found, const struct job *job, struct json_writer *w)
{
    struct wait_groups groups;
    uint32_t group = 0;
    if (!wait_groups_make(&groups, found, job)) {
        w->out->failed = true;
        return;
    }
    json_open_array(w, "waits");
    for (size_t i = 0; i < found->waits.n; i++)
        if (groups.group[i] == group) {
            put_wait(found, job, &groups, i, w);
            group++;
        }
    json_close(w);
    wait_groups_release(&groups);
}

static void put_stragglers(const struct divergences *found, const struct job *job,
                           struct json_writer *w)
{
    json_open_array(w, "stragglers");
    for (size_t i = 0; i < found->stragglers.n; i++) {
        const struct straggler *s = &found->stragglers.v[i];
        json_open_object(w, NULL);
        json_put_str(w, "phase", job_text(job, s->phase));
        json_put_str(w, "recording", job_rank_name(job, s->rank));
        put_seconds(w, "seconds", s->ns);
        put_seconds(w, "median_seconds", s->median_ns);
        json_close(w);
    }
    json_close(w);
}

void divergences_json(const struct divergences *found, const struct job *job, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_RANKS);
    json_put_bool(&w, "differs", found->list.n > 0);
    json_put_u64(&w, "steps", job->n_steps);
    json_put_u64(&w, "stages", found->n_stages);
    json_put_u64(&w, "graphs_differ", found->n_graphs);
    json_open_array(&w, "divergences");
    for (size_t i = 0; i < found->list.n; i++)
        put_divergence(found, job, &found->list.v[i], &w);
    json_close(&w);
    put_waits(found, job, &w);
    put_stragglers(found, job, &w);
    json_open_array(&w, "ranks");
    for (size_t i = 0; i < job->ranks.n; i++)
        put_rank(job, &job->ranks.v[i], &w);
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
