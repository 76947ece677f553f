/* What the reports say of a divergence and of waits. */
#include <stdlib.h>

#include "profile/model/format.h"
#include "profile/ranks/collective_ops.h"
#include "profile/ranks/divergence_report.h"
#include "trace/events/caches.h"

static struct str fact_what(const struct job *job, uint32_t fact)
{
    return fact == JOB_NONE ? STR("") : job_text(job, job->facts.v[fact].what);
}

static struct str fact_detail(const struct job *job, uint32_t fact)
{
    return fact == JOB_NONE ? STR("") : job_text(job, job->facts.v[fact].detail);
}

static void put_text(struct buf *out, struct str text)
{
    format_text(out, text, 0);
}

/* The compile of the rank that differs, or, if it has none, of the others. */
static void put_compile(const struct job *job, const struct divergence *d, struct buf *out)
{
    uint32_t compile = d->compile != JOB_NONE ? d->compile : d->other;
    put_text(out, job_text(job, job->compiles.v[compile].id));
}

static const char *others_of(const struct divergence *d)
{
    return d->n_others == 1 ? "the other" : "the others";
}

static void put_failure(const struct job *job, const struct divergence *d, struct buf *out)
{
    bool fails = d->own != JOB_NONE;
    uint32_t fact = fails ? d->own : d->others;
    buf_puts(out, fails ? "fails to compile " : "compiles ");
    put_compile(job, d, out);
    if (!fails)
        buf_printf(out, ", in which %s fail", others_of(d));
    buf_puts(out, fact == JOB_NONE ? "" : ": ");
    put_text(out, fact_what(job, fact));
    buf_puts(out, fact_detail(job, fact).n ? ": " : "");
    put_text(out, fact_detail(job, fact));
}

static void put_hang(const struct job *job, const struct divergence *d, struct buf *out)
{
    const struct job_compile *c = d->compile == JOB_NONE ? NULL : &job->compiles.v[d->compile];
    bool open = c && c->status == ATTEMPT_UNFINISHED;
    buf_puts(out, !open        ? "does not come to compile "
                  : c->waiting ? "waits in a compiler collective of "
                               : "does not come to the end of compile ");
    put_compile(job, d, out);
    if (!open)
        buf_printf(out, ", in which %s wait%s", others_of(d), d->n_others == 1 ? "s" : "");
    else if (d->other == JOB_NONE)
        buf_printf(out, ", a compile that %s %s not have", others_of(d),
                   d->n_others == 1 ? "does" : "do");
}

static void put_recompile(const struct job *job, const struct divergence *d, struct buf *out)
{
    bool has = d->compile != JOB_NONE;
    buf_puts(out, has ? "recompiles (" : "does not recompile (");
    put_compile(job, d, out);
    buf_printf(out, "), %s %s", others_of(d),
               d->n_others == 1 ? (has ? "does not" : "does") : (has ? "do not" : "do"));
    buf_puts(out, d->own == JOB_NONE ? "" : ": ");
    put_text(out, fact_what(job, d->own));
}

static void put_break(const struct job *job, const struct divergence *d, struct buf *out)
{
    buf_puts(out, d->own == JOB_NONE ? "does not break the graph in " : "breaks the graph in ");
    put_compile(job, d, out);
    if (d->own == JOB_NONE)
        buf_printf(out, " where %s %s", others_of(d), d->n_others == 1 ? "does" : "do");
    buf_puts(out, ": ");
    put_text(out, fact_what(job, d->own == JOB_NONE ? d->others : d->own));
}

static void put_missing(const struct job *job, const struct divergence *d, struct buf *out)
{
    bool extra = d->others == JOB_NONE;
    bool peer = is_peer_call(fact_what(job, extra ? d->own : d->others));
    buf_puts(out, extra ? "calls " : peer ? "leaves out the counterpart of " : "leaves out ");
    put_text(out, fact_what(job, extra ? d->own : d->others));
    buf_puts(out, " in ");
    put_compile(job, d, out);
    buf_printf(out, extra ? ", which %s leave%s out" : ", which %s call%s", others_of(d),
               d->n_others == 1 ? "s" : "");
}

/* "all_reduce", or "all_reduce(max)" where only the arguments differ. */
static void put_call(const struct job *job, uint32_t fact, bool arguments, struct buf *out)
{
    put_text(out, fact_what(job, fact));
    if (!arguments)
        return;
    buf_putc(out, '(');
    put_text(out, fact_detail(job, fact));
    buf_putc(out, ')');
}

static void put_order(const struct job *job, const struct divergence *d, struct buf *out)
{
    if (d->own == JOB_NONE || d->others == JOB_NONE) {
        buf_puts(out, "comes to the collectives of ");
        put_compile(job, d, out);
        buf_printf(out, " in another order than %s", others_of(d));
        return;
    }
    bool arguments = str_eq(fact_what(job, d->own), fact_what(job, d->others)) &&
                     !str_eq(fact_detail(job, d->own), fact_detail(job, d->others));
    buf_puts(out, "calls ");
    put_call(job, d->own, arguments, out);
    buf_puts(out, " in ");
    put_compile(job, d, out);
    buf_printf(out, " where %s call%s ", others_of(d), d->n_others == 1 ? "s" : "");
    put_call(job, d->others, arguments, out);
}

/* Sizes and dtypes: "calls all_reduce in 0/0 with X, the others with Y". */
static void put_meta(const struct job *job, const struct divergence *d, struct buf *out)
{
    const struct fact *own = &job->facts.v[d->own], *others = &job->facts.v[d->others];
    bool size = d->kind == DIVERGENCE_SIZE;
    buf_puts(out, "calls ");
    put_text(out, job_text(job, own->what));
    buf_puts(out, " in ");
    put_compile(job, d, out);
    buf_puts(out, " with ");
    put_text(out, job_text(job, size ? own->sizes : own->extra));
    buf_printf(out, ", %s with ", others_of(d));
    put_text(out, job_text(job, size ? others->sizes : others->extra));
}

static void put_constant(const struct job *job, const struct divergence *d, struct buf *out)
{
    bool own = d->own != JOB_NONE;
    uint32_t fact = own ? d->own : d->others;
    buf_puts(out, "compiles ");
    put_compile(job, d, out);
    buf_puts(out, own ? " for " : " for any ");
    put_text(out, fact_what(job, fact));
    if (own) {
        buf_puts(out, " = ");
        put_text(out, fact_detail(job, fact));
        buf_printf(out, " only, %s for any", others_of(d));
        return;
    }
    buf_printf(out, ", %s for ", others_of(d));
    put_text(out, fact_detail(job, fact));
    buf_puts(out, " only");
}

static void put_input(const struct job *job, const struct divergence *d, struct buf *out)
{
    buf_puts(out, "compiles ");
    put_compile(job, d, out);
    buf_puts(out, " for ");
    put_text(out, fact_what(job, d->own));
    buf_puts(out, " of ");
    put_text(out, fact_detail(job, d->own));
    buf_printf(out, ", %s for ", others_of(d));
    put_text(out, fact_detail(job, d->others));
}

static void put_answer(const struct job *job, const struct divergence *d, struct buf *out)
{
    bool hit = str_is(fact_detail(job, d->own), cache_state_name(CACHE_HIT));
    bool miss = str_is(fact_detail(job, d->own), cache_state_name(CACHE_MISS));
    buf_puts(out, hit ? "hits " : miss ? "misses " : "bypasses ");
    buf_puts(out, "the ");
    put_text(out, fact_what(job, d->own));
    buf_puts(out, " cache in ");
    put_compile(job, d, out);
    buf_printf(out, ", %s %s%s", others_of(d), hit ? "do" : "hit",
               d->n_others == 1 ? (hit ? "es not" : "s") : (hit ? " not" : ""));
}

static void put_slow(const struct job *job, const struct divergence *d, struct buf *out)
{
    (void)job;
    buf_puts(out, "compiles for ");
    format_ns(out, d->ns);
    buf_printf(out, d->n_others == 1 ? ", %s for " : ", half of %s for at most ", others_of(d));
    format_ns(out, d->others_ns);
}

void divergence_sentence(const struct job *job, const struct divergence *d, struct buf *out)
{
    static void (*const PUT[DIVERGENCE_KINDS])(const struct job *, const struct divergence *,
                                               struct buf *) = {
        [DIVERGENCE_COMPILE_ERROR] = put_failure,
        [DIVERGENCE_HANG] = put_hang,
        [DIVERGENCE_RECOMPILE] = put_recompile,
        [DIVERGENCE_GRAPH_BREAK] = put_break,
        [DIVERGENCE_MISSING] = put_missing,
        [DIVERGENCE_ORDER] = put_order,
        [DIVERGENCE_SIZE] = put_meta,
        [DIVERGENCE_DTYPE] = put_meta,
        [DIVERGENCE_INT_SPECIALISED] = put_constant,
        [DIVERGENCE_INPUT_SIZE] = put_input,
        [DIVERGENCE_CACHE] = put_answer,
        [DIVERGENCE_SLOW] = put_slow,
    };
    PUT[d->kind](job, d, out);
}

/* ---- Waits ---- */

bool wait_is_for_others(enum wait_state state)
{
    return state == WAIT_COLLECTIVE || state == WAIT_COMPILER;
}

static bool same_wait(const struct job *job, const struct rank_wait *a, const struct rank_wait *b)
{
    uint32_t id = a->compile == JOB_NONE ? 0 : job->compiles.v[a->compile].id;
    uint32_t other_id = b->compile == JOB_NONE ? 0 : job->compiles.v[b->compile].id;
    return a->state == b->state && id == other_id &&
           str_eq(fact_what(job, a->fact), fact_what(job, b->fact));
}

bool wait_groups_make(struct wait_groups *ret, const struct divergences *found,
                      const struct job *job)
{
    size_t n = found->waits.n;
    *ret = (struct wait_groups){ .group = malloc((n + 1) * sizeof *ret->group) };
    for (size_t i = 0; ret->group && i < n; i++) {
        size_t same = 0;
        while (same < i && !same_wait(job, &found->waits.v[same], &found->waits.v[i]))
            same++;
        ret->group[i] = same < i ? ret->group[same] : ret->n++;
    }
    return ret->group != NULL;
}

void wait_groups_release(struct wait_groups *groups)
{
    free(groups->group);
}
