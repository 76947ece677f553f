/* Findings: what a slow compile spent its time on: generating and tuning kernels, the slowest user
 * line, growing expressions, guards from one place. All but the first are not looked for where
 * other findings already explain a good part of the time, because the same seconds would be counted
 * twice. */
#include "profile/diagnosis/expression_growth.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "trace/kernels/kernels.h"

enum {
    EXPLAINED_PERCENT = 20, /* of the compile time: enough for a finding to be the cause */
    PART_PERCENT = 25,      /* of all phases: a part of the compiler that is worth a finding */
    MOST_KERNELS = 10,
    GUARDS_PERCENT = 50, /* of all guards: so many from one line */
    MANY_GUARDS = 500,
};

static bool is_percent(int64_t part, int64_t whole, int percent)
{
    return part > 0 && part / percent >= whole / 100;
}

/* The share in per cent; the whole is positive. Times of a file may be as small or as large as it
 * likes. */
static long long percent_of(int64_t part, int64_t whole)
{
    return whole < 100 ? part * 100 / whole : part / (whole / 100);
}

static bool is_explained(const struct finder *d)
{
    int64_t sum = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i]->finding.ns > 0)
            build_add_ns(&sum, d->items[i]->finding.ns);
    return is_percent(sum, d->p->compile_ns, EXPLAINED_PERCENT);
}

/* Adds the time of a user line, as far as it is known. */
static void add_line_cost(const struct finder *d, struct finding_build *f,
                          const struct profile_line *line)
{
    if (line && line->ns > 0)
        find_cost(f, line->ns,
                  d->p->lines.basis == LINES_MEASURED ? BASIS_MEASURED : BASIS_ESTIMATED);
}

static void find_slow_line(struct finder *d)
{
    const struct profile_line *line = profile_slowest_line(d->p);
    if (!line || !is_percent(line->low_ns, d->p->compile_ns, EXPLAINED_PERCENT))
        return;
    struct finding_build *f = find_add(d, FINDING_COST, NULL, STR(""));
    find_cause(d, f, "one line took %lld to %lld %% of the compile time",
               percent_of(line->low_ns, d->p->compile_ns),
               percent_of(line->high_ns, d->p->compile_ns));
    find_place(f, profile_name(d->p, line->file), line->line, line->code);
    add_line_cost(d, f, line);
    if (line->guards > 0)
        find_evidence(d, f, "%llu guards were asked for there", (unsigned long long)line->guards);
}

/* The parts of the compiler that a setting changes, and what to change if the caches were empty and
 * if they were warm. */
static const struct {
    enum phase_part part;
    const char *cause, *change, *change_warm;
} PARTS[] = {
    { PHASE_AUTOTUNING, "autotuning of kernels",
      "a mode of torch.compile() other than \"max-autotune\", or a warm cache: "
      "TORCHINDUCTOR_CACHE_DIR",
      "a mode of torch.compile() other than \"max-autotune\"" },
    { PHASE_CODEGEN, "generating and compiling kernels",
      "a warm cache: keep TORCHINDUCTOR_CACHE_DIR between runs", NULL },
};

/* ---- Caches that were warm ---- */

/* The look-ups of one cache of graphs. */
struct cache_start {
    uint32_t hits, misses;
    uint32_t earlier; /* hits of graphs that an earlier run had left there */
};

/* Counts the look-ups of a cache. A hit of a key that was missed, too, is of a graph that this run
 * compiled itself, or another of its ranks. */
static struct cache_start count_lookups(struct finder *d, enum cache_kind kind)
{
    struct cache_start ret = { 0 };
    struct intern missed = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < d->p->n_caches; i++) {
        const struct cache_event *is = d->p->caches[i].is;
        if (is->kind != kind || is->key.n == 0 || is->state != CACHE_MISS)
            continue;
        ret.misses++;
        ok = intern(&missed, is->key) != INTERN_NONE;
    }
    for (uint32_t i = 0; ok && i < d->p->n_caches; i++) {
        const struct cache_event *is = d->p->caches[i].is;
        if (is->kind != kind || is->key.n == 0 || is->state != CACHE_HIT)
            continue;
        ret.hits++;
        ret.earlier += intern_find(&missed, is->key) == INTERN_NONE;
    }
    if (!ok)
        err_nomem(&d->err);
    intern_release(&missed);
    return ret;
}

/* Suggests what keeps kernels from being compiled in each run. AOTAutograd's cache is asked first,
 * and has a graph with its backward. */
static void change_part(struct finder *d, struct finding_build *f, const char *change,
                        const char *change_warm)
{
    enum cache_kind kind = CACHE_AOTAUTOGRAD;
    struct cache_start start = count_lookups(d, kind);
    if (start.earlier == 0)
        start = count_lookups(d, kind = CACHE_FX_GRAPH);
    if (start.earlier == 0) {
        find_remedy(d, f, REMEDY_ENABLE_CACHE, "%s", change);
        return;
    }
    find_evidence(d, f, "%s cache: %u of %u graphs were there, %u from an earlier run",
                  cache_kind_name(kind), start.hits, start.hits + start.misses, start.earlier);
    if (start.misses > 0)
        find_remedy(
            d, f, REMEDY_ENABLE_CACHE,
            "symtape cache COLD WARM says why the cache did not have the others; COLD is the tape of the run that filled it");
    if (change_warm)
        find_remedy(d, f, REMEDY_CHANGE_SETTING, "%s", change_warm);
}

/* ---- Parts ---- */

/* Names the kernels that took the longest to compile and tune, with their user lines. */
static void name_kernels(struct finder *d, struct finding_build *f)
{
    for (uint32_t t = 0; t < d->p->n_traces && !err_is_set(&d->err); t++) {
        const struct build_input *input = &profile_inputs(d->p)[t];
        struct kernel_list *list = kernels_read(input->trace, input->events, &d->err);
        for (uint32_t i = 0; list && i < list->n && i < MOST_KERNELS; i++) {
            const struct kernel *kernel = &list->kernels[list->by_time[i]];
            const struct kernel_line *line = kernel_main_line(list, kernel);
            char time[HUMAN_SIZE];
            if (kernel_ns(kernel) <= 0)
                break;
            struct buf at = BUF_INIT;
            if (line) {
                buf_puts(&at, ", mostly ");
                format_place(&at, line->file, line->line);
            }
            if (line && line->code.n > 0)
                buf_printf(&at, " `%.*s`", STR_ARG(line->code));
            find_evidence(d, f, "%s for %.*s, which computes %u node%s%.*s",
                          human_ns(time, kernel_ns(kernel)), STR_ARG(kernel->name), kernel->n_nodes,
                          kernel->n_nodes == 1 ? "" : "s", STR_ARG(buf_str(&at)));
            if (at.failed)
                err_nomem(&d->err);
            buf_release(&at);
        }
        kernels_free(list);
    }
}

/* Says what a part took beside the compiles whose time the finding is a share of. */
static void add_outside_time(struct finder *d, struct finding_build *f, int64_t ns)
{
    char time[HUMAN_SIZE];
    if (is_percent(ns, d->p->phases.total_ns, 1))
        find_evidence(d, f,
                      "%s more ran outside of these compiles, as backwards do that are "
                      "compiled at their first run",
                      human_ns(time, ns));
}

static void find_slow_parts(struct finder *d)
{
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        int64_t ns = d->p->phases.part_ns[PARTS[i].part], all = d->p->phases.total_ns;
        int64_t inside = d->p->phases.inside_ns[PARTS[i].part];
        if (all <= 0 || ns > all || !is_percent(ns, all, PART_PERCENT))
            continue;
        struct finding_build *f = find_add(d, FINDING_COST, NULL, STR(""));
        find_cause(d, f, "%s took %lld %% of all phases", PARTS[i].cause, percent_of(ns, all));
        find_cost(f, inside, BASIS_MEASURED);
        add_outside_time(d, f, ns - inside);
        name_kernels(d, f);
        change_part(d, f, PARTS[i].change, PARTS[i].change_warm);
    }
}

static const struct profile_line *line_of(const struct profile *p, const struct finding_build *f)
{
    const struct profile_lines *lines = &p->lines;
    for (uint32_t i = 0; i < lines->n_lines; i++)
        if (lines->lines[i].line == f->finding.line &&
            str_eq(profile_name(p, lines->lines[i].file), f->finding.file))
            return &lines->lines[i];
    return NULL;
}

/* Adds what is known to take the longer the longer expressions are: building guards, in which each
 * is simplified and printed, and the line at which the longest one is asked for. */
static void add_expression_cost(struct finder *d, struct finding_build *f)
{
    int64_t guards_ns = d->p->phases.part_ns[PHASE_GUARDS];
    const struct profile_line *line = f && f->finding.file.n > 0 ? line_of(d->p, f) : NULL;
    char time[HUMAN_SIZE];
    find_absorb(d, f, FINDING_COST); /* find_slow_line() */
    if (f && !f->absorbs)
        add_line_cost(d, f, line);
    if (guards_ns <= 0)
        return;
    find_cost(f, guards_ns, BASIS_MEASURED);
    find_evidence(d, f, "building guards took %s, measured%s", human_ns(time, guards_ns),
                  line ? "; the rest of the time is the line's" : "");
}

/* Finds sizes that became long expressions. */
static void find_long_expressions(struct finder *d)
{
    for (uint32_t r = 0; r < d->p->n_recordings; r++) {
        const struct expression_growth growth =
            read_expression_growth(find_input(d, r), TRACE_NONE);
        if (!growth.longest)
            continue;
        struct finding_build *f = find_add(d, FINDING_COST, NULL, STR("expressions"));
        if (!find_is_new(f))
            continue;
        find_cause(d, f,
                   "sizes became longer expressions with each line: up to %zu characters, "
                   "which guards repeat",
                   growth.longest->expr.n);
        if (growth.placed)
            find_line(d, f, r, growth.placed->user_stack);
        find_expression_growth(d, f, &growth);
        add_expression_cost(d, f);
    }
}

static void find_many_guards(struct finder *d)
{
    const struct profile_lines *lines = &d->p->lines;
    const struct profile_line *top = NULL;
    uint64_t all = d->p->guards.by_kind[GUARD_EVAL];
    for (uint32_t i = 0; i < lines->n_lines; i++)
        if (!top || lines->lines[i].guards > top->guards)
            top = &lines->lines[i];
    if (!top || all < MANY_GUARDS || top->guards < all / 100 * GUARDS_PERCENT)
        return;
    struct finding_build *f = find_add(d, FINDING_COST, NULL, STR(""));
    find_cause(d, f, "%llu of %llu guards come from one line", (unsigned long long)top->guards,
               (unsigned long long)all);
    find_place(f, profile_name(d->p, top->file), top->line, top->code);
    add_line_cost(d, f, top);
    find_remedy(
        d, f, REMEDY_CHANGE_SETTING,
        "mark_dynamic() only the sizes that change, without dynamic=True; or dynamic=False");
}

/* A program that compiles for less than this is not slow. */
static const int64_t SLOW_NS = 5000000000;

void find_costs(struct finder *d)
{
    bool explained = is_explained(d);
    if (d->p->compile_ns < SLOW_NS)
        return;
    find_slow_parts(d); /* Inductor's, whose seconds no other finding has */
    if (explained)
        return;
    find_slow_line(d);
    find_long_expressions(d);
    find_many_guards(d);
}
