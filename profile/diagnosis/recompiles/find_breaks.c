/* Findings: graph breaks, by line and reason. A break costs the attempt that it restarted and the
 * compiles of the rest of the function; those of them that are recompiles cost what
 * find_recompiles.c says. */
#include "profile/diagnosis/finder.h"

#include "trace/events/user_line.h"

static const struct break_cause {
    struct str text;
    const char *cause;
    enum remedy_kind remedy;
    const char *change;
} BREAKS[] = {
#define BREAK(text, cause, remedy, change) \
    { { text, sizeof text - 1 }, cause, REMEDY_##remedy, change },
#include "profile/diagnosis/recompiles/break_causes.def"
#undef BREAK
};

/* Returns the first row of a break. */
static size_t cause_of_break(const struct graph_break *graph_break)
{
    size_t i = 0;
    while (!str_contains(graph_break->reason, BREAKS[i].text))
        i++; /* the last row's text is in each */
    return i;
}

static void describe_break(struct finder *d, struct finding_build *f,
                           const struct graph_break *graph_break)
{
    size_t first = cause_of_break(graph_break);
    struct str cause = str_of(BREAKS[first].cause);
    cause = cause.n ? cause : graph_break->summary;
    find_cause(d, f, "%.*s", STR_ARG(cause));
    find_place(f, graph_break->file, graph_break->line, graph_break->code);
    struct str said = graph_break->explanation.n ? graph_break->explanation : graph_break->summary;
    if (!str_eq(cause, said))
        find_evidence(d, f, "%.*s", STR_ARG(said));
    if (graph_break->skipped)
        find_evidence(d, f, "the whole function runs without being compiled");
    else if (graph_break->n_caused > 0)
        find_evidence(d, f, "the rest of the function is compiled by itself, in %u more compile%s",
                      graph_break->n_caused, graph_break->n_caused == 1 ? "" : "s");
    for (size_t i = first;
         i < sizeof BREAKS / sizeof *BREAKS && str_eq(BREAKS[i].text, BREAKS[first].text); i++) {
        struct str change = str_of(BREAKS[i].change);
        change = change.n ? change : graph_break->hint;
        if (change.n > 0)
            find_remedy(d, f, BREAKS[i].remedy, "%.*s", STR_ARG(change));
    }
}

/* Returns whether a compile is the first one of its function: "3/0". */
static bool is_first(const struct profile_compile *compile)
{
    struct str number = str_from(compile->id, str_find_char(compile->id, '/') + 1);
    return str_is(str_first(number, str_digits(number)), "0");
}

static void cost_of_break(struct finder *d, struct finding_build *f, const struct profile_break *b)
{
    const struct build_input *in = find_input(d, b->where.recording);
    for (uint32_t i = 0; i < b->is->n_caused; i++) {
        uint32_t compile = build_compile(in, b->is->caused[i]);
        const struct profile_compile *c = compile == PROFILE_NONE ? NULL : &d->p->compiles[compile];
        if (c && is_first(c) && c->status == ATTEMPT_OK)
            find_cost(f, c->ns - c->restarted_ns, BASIS_MEASURED);
    }
}

/* Adds the attempts that breaks restarted. Both lists are in the order of their records. */
static void cost_of_restarts(struct finder *d, struct finding_build **of_break)
{
    for (uint32_t i = 0, k = 0; i < d->p->n_restarts; i++) {
        const struct profile_where *where = &d->p->restarts[i].where;
        while (k > 0 && d->p->breaks[k - 1].where.recording == where->recording &&
               d->p->breaks[k - 1].where.attempt >= where->attempt)
            k--;
        while (k < d->p->n_breaks && (d->p->breaks[k].where.recording < where->recording ||
                                      (d->p->breaks[k].where.recording == where->recording &&
                                       d->p->breaks[k].where.attempt < where->attempt)))
            k++;
        if (k < d->p->n_breaks && d->p->breaks[k].where.recording == where->recording &&
            d->p->breaks[k].where.attempt == where->attempt)
            find_cost(of_break[k], d->p->restarts[i].is->ns, BASIS_MEASURED);
    }
}

void find_breaks(struct finder *d)
{
    struct finding_build **of_break = calloc(d->p->n_breaks + (size_t)1, sizeof *of_break);
    if (!of_break) {
        err_nomem(&d->err);
        return;
    }
    for (uint32_t i = 0; i < d->p->n_breaks && !err_is_set(&d->err); i++) {
        const struct profile_break *b = &d->p->breaks[i];
        struct buf key = BUF_INIT;
        buf_printf(&key, "%.*s:%u %zu", STR_ARG(b->is->file), b->is->line, cause_of_break(b->is));
        of_break[i] = find_add(d, FINDING_BREAK, &b->where, buf_str(&key));
        if (key.failed)
            err_nomem(&d->err);
        if (find_is_new(of_break[i]))
            describe_break(d, of_break[i], b->is);
        if (of_break[i])
            cost_of_break(d, of_break[i], b);
        buf_release(&key);
    }
    if (!err_is_set(&d->err))
        cost_of_restarts(d, of_break);
    free(of_break);
}
