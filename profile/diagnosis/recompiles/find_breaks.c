/* Findings: graph breaks, by line and reason. A break costs the attempt that it restarted and the
 * first compile of each part that the rest of the function became; the recompiles of these parts
 * cost what find_recompiles.c says. */
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
    for (size_t i = first;
         i < sizeof BREAKS / sizeof *BREAKS && str_eq(BREAKS[i].text, BREAKS[first].text); i++) {
        struct str change = str_of(BREAKS[i].change);
        change = change.n ? change : graph_break->hint;
        if (change.n > 0)
            find_remedy(d, f, BREAKS[i].remedy, "%.*s", STR_ARG(change));
    }
}

enum { MOST_FUNCTIONS = 5 };

/* Returns whether a compile is the first one of its function: "3/0". */
static bool is_first(const struct profile_compile *compile)
{
    struct str number = str_from(compile->id, str_find_char(compile->id, '/') + 1);
    return str_is(str_first(number, str_digits(number)), "0");
}

/* The breaks of one finding: its place may break several functions, each in several compiles. */
struct break_group {
    struct finding_build *finding;
    struct str functions[MOST_FUNCTIONS]; /* that it breaks */
    uint32_t n_functions;
    bool has_more_functions;
    uint64_t caused, recompiles; /* compiles that the breaks caused, and those of them again */
};

struct break_groups {
    struct finder *d;
    struct intern keys; /* of groups, in their order */
    vec_of(struct break_group)
    groups;
    uint32_t *of_break; /* index into groups */
};

static void cost_of_break(struct finder *d, struct break_group *g, const struct profile_break *b)
{
    const struct build_input *in = find_input(d, b->where.recording);
    for (uint32_t i = 0; i < b->is->n_caused; i++) {
        uint32_t compile = build_compile(in, b->is->caused[i]);
        const struct profile_compile *c = compile == PROFILE_NONE ? NULL : &d->p->compiles[compile];
        g->caused += !b->is->skipped;
        g->recompiles += !b->is->skipped && c && !is_first(c);
        if (c && is_first(c) && c->status == ATTEMPT_OK)
            find_cost(g->finding, c->ns - c->restarted_ns, BASIS_MEASURED);
    }
}

static void add_function(struct break_group *g, const struct profile_compile *compile)
{
    struct str name;
    function_resumes(compile->function, &name);
    for (uint32_t i = 0; i < g->n_functions; i++)
        if (str_eq(g->functions[i], name))
            return;
    if (name.n > 0 && g->n_functions < MOST_FUNCTIONS)
        g->functions[g->n_functions++] = name;
    else
        g->has_more_functions |= name.n > 0;
}

static void describe_functions(struct finder *d, const struct break_group *g)
{
    struct buf names = BUF_INIT;
    for (uint32_t i = 0; i < g->n_functions; i++) {
        bool last = i + 1 == g->n_functions && !g->has_more_functions;
        buf_puts(&names, i == 0 ? "" : last ? " and " : ", ");
        buf_printf(&names, "`%.*s`", STR_ARG(g->functions[i]));
    }
    buf_puts(&names, g->has_more_functions ? " and others" : "");
    if (g->n_functions > 1)
        find_evidence(d, g->finding, "it breaks the compiled functions %.*s",
                      STR_ARG(buf_str(&names)));
    if (names.failed)
        err_nomem(&d->err);
    buf_release(&names);
}

static void describe_caused(struct finder *d, const struct break_group *g)
{
    if (g->caused > 0)
        find_evidence(d, g->finding,
                      "the rest of the function is compiled by itself, in %llu more compile%s",
                      (unsigned long long)g->caused, g->caused == 1 ? "" : "s");
    if (g->recompiles > 0)
        find_evidence(d, g->finding,
                      g->recompiles == 1
                          ? "%llu of these is a recompile; its time is part of another finding"
                          : "%llu of these are recompiles; their time is part of other findings",
                      (unsigned long long)g->recompiles);
}

/* Adds the attempts that breaks restarted. Both lists are in the order of their records. */
static void cost_of_restarts(const struct break_groups *all)
{
    const struct profile *p = all->d->p;
    for (uint32_t i = 0, k = 0; i < p->n_restarts; i++) {
        const struct profile_where *where = &p->restarts[i].where;
        while (k > 0 && p->breaks[k - 1].where.recording == where->recording &&
               p->breaks[k - 1].where.attempt >= where->attempt)
            k--;
        while (k < p->n_breaks && (p->breaks[k].where.recording < where->recording ||
                                   (p->breaks[k].where.recording == where->recording &&
                                    p->breaks[k].where.attempt < where->attempt)))
            k++;
        if (k < p->n_breaks && p->breaks[k].where.recording == where->recording &&
            p->breaks[k].where.attempt == where->attempt)
            find_cost(all->groups.v[all->of_break[k]].finding, p->restarts[i].is->ns,
                      BASIS_MEASURED);
    }
}

static bool add_break(struct break_groups *all, uint32_t i)
{
    const struct profile_break *b = &all->d->p->breaks[i];
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s:%u %zu", STR_ARG(b->is->file), b->is->line, cause_of_break(b->is));
    uint32_t id = key.failed ? INTERN_NONE : intern(&all->keys, buf_str(&key));
    bool ok = id != INTERN_NONE &&
              (id < all->groups.n || vec_push(&all->groups, (struct break_group){ 0 }));
    if (ok) {
        struct break_group *g = &all->groups.v[id];
        all->of_break[i] = id;
        struct finding_build *f = find_add(all->d, FINDING_BREAK, &b->where, buf_str(&key));
        if (find_is_new(f))
            describe_break(all->d, f, b->is);
        g->finding = f ? f : g->finding; /* no more than can be shown are found */
        if (b->where.compile != PROFILE_NONE)
            add_function(g, &all->d->p->compiles[b->where.compile]);
        cost_of_break(all->d, g, b);
    }
    buf_release(&key);
    return ok;
}

void find_breaks(struct finder *d)
{
    struct break_groups all = {
        .d = d,
        .of_break = calloc(d->p->n_breaks + (size_t)1, sizeof *all.of_break),
    };
    bool ok = all.of_break != NULL;
    for (uint32_t i = 0; ok && i < d->p->n_breaks && !err_is_set(&d->err); i++)
        ok = add_break(&all, i);
    if (!ok)
        err_nomem(&d->err);
    if (!err_is_set(&d->err)) {
        for (size_t i = 0; i < all.groups.n; i++) {
            describe_functions(d, &all.groups.v[i]);
            describe_caused(d, &all.groups.v[i]);
        }
        cost_of_restarts(&all);
    }
    free(all.of_break);
    intern_release(&all.keys);
    vec_release(&all.groups);
}
