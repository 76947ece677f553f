/* Findings: compiles that had not ended when the log ends: in which phase, at which user line, and
 * which expressions grew. */
#include "profile/diagnosis/find.h"

enum { LONG_EXPRESSION = 1000, GROWTH = 10 };

/* Returns the innermost phase that was still open in a compile, or NULL. */
static const struct phase_span *find_open_phase(const struct profile *p, uint32_t compile)
{
    const struct phase_span *found = NULL;
    for (uint32_t i = 0; i < p->phases.n_spans; i++)
        if (p->phases.spans[i].open && p->phases.spans[i].compile == compile)
            found = &p->phases.spans[i];
    return found;
}

/* The guards of an attempt: the last one, the longest, and the longest of its first half. */
struct guard_growth {
    const struct guard *last, *longest;
    uint32_t count;
    size_t early; /* bytes */
};

static struct guard_growth read_growth(const struct guard_list *guards, uint32_t attempt)
{
    struct guard_growth ret = { 0 };
    uint32_t half = 0;
    for (uint32_t i = 0; i < guards->n; i++)
        half += guards->guards[i].attempt == attempt;
    half /= 2;
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *g = &guards->guards[i];
        if (g->attempt != attempt)
            continue;
        if (ret.count++ < half && g->expr.n > ret.early)
            ret.early = g->expr.n;
        if (!ret.longest || g->expr.n > ret.longest->expr.n)
            ret.longest = g;
        ret.last = g;
    }
    return ret;
}

/* Sets the line of the last guard or symbol that was recorded. */
static void add_last_line(struct find *d, struct finding_build *f, uint32_t recording,
                          const struct build_input *in, uint32_t attempt,
                          const struct guard_growth *growth)
{
    stack_id stack = growth->last ? growth->last->user_stack : 0;
    uint32_t record = growth->last ? growth->last->record : 0;
    for (uint32_t i = 0; i < in->symbols->n_symbols; i++) {
        const struct symbol *s = &in->symbols->symbols[i];
        if (s->attempt == attempt && s->record >= record && s->user_stack != 0) {
            stack = s->user_stack;
            record = s->record;
        }
    }
    find_line(d, f, recording, stack);
}

static void add_growth(struct find *d, struct finding_build *f, const struct guard_growth *growth)
{
    if (!growth->longest || growth->longest->expr.n < LONG_EXPRESSION ||
        growth->longest->expr.n < growth->early * GROWTH)
        return;
    find_evidence(d, f, "guards grew from %zu to %zu characters over %u guards", growth->early,
                  growth->longest->expr.n, growth->count);
    find_evidence(d, f, "the longest guard begins: %.*s",
                  STR_ARG(str_first(growth->longest->expr, 80)));
    find_remedy(
        d, f, REMEDY_CHANGE_SETTING,
        "dynamic=False in torch.compile(), or mark_dynamic() for the sizes that change only");
}

static void describe_unfinished(struct find *d, uint32_t compile)
{
    const struct profile_compile *c = &d->p->compiles[compile];
    const struct build_input *in = find_input(d, c->recording);
    const struct phase_span *open = find_open_phase(d->p, compile);
    struct profile_where where = { c->recording, compile, c->last_attempt };
    if (!open && d->p->phases.n_spans > 0)
        return; /* its phases ended: torch.export() records no end of a compile */
    struct finding_build *f = find_add(d, FINDING_UNFINISHED, &where, STR(""));
    if (!f)
        return;
    f->finding.ended_program = open != NULL;
    struct str phase = open ? profile_name(d->p, open->name) : STR("");
    const char *meaning = phase_meaning(phase);
    find_cause(d, f, "the compile of `%.*s` had not ended when the log ends%s%.*s%s%s%s",
               STR_ARG(c->function.n ? c->function : c->id), open ? ", in " : "", STR_ARG(phase),
               *meaning ? " (" : "", meaning, *meaning ? ")" : "");
    struct guard_growth growth = read_growth(in->guards, c->last_attempt);
    add_last_line(d, f, c->recording, in, c->last_attempt, &growth);
    find_cost(f, c->ns - c->restarted_ns, BASIS_MEASURED);
    const struct attempt *a = &in->trace->attempts[c->last_attempt];
    if (a->n_records > 0) {
        const struct record *last = &in->trace->records[a->records[a->n_records - 1]];
        find_evidence(d, f, "its last record is a %.*s, line %llu of the log",
                      STR_ARG(trace_string(in->trace, last->name)), (unsigned long long)last->line);
    }
    if (open && open->end_ns > open->start_ns)
        find_evidence(d, f, "that phase had run for %.1f s",
                      (double)(open->end_ns - open->start_ns) / 1e9);
    add_growth(d, f, &growth);
    find_remedy(d, f, REMEDY_REPORT,
                "symtape minify reduces the graph, if the same program hangs again");
}

void find_unfinished(struct find *d)
{
    for (uint32_t i = 0; i < d->p->n_compiles && !err_is_set(&d->err); i++)
        if (d->p->compiles[i].status == ATTEMPT_UNFINISHED)
            describe_unfinished(d, i);
}
