/* Findings: compiles that had not ended when the log ends: in which phase, at which user line, and
 * which expressions grew. */
#include "profile/diagnosis/expression_growth.h"

#include "trace/events/user_line.h"

/* Returns the innermost phase that was still open in a compile, or NULL. */
static const struct phase_span *find_open_phase(const struct profile *p, uint32_t compile)
{
    const struct phase_span *found = NULL;
    for (uint32_t i = 0; i < p->phases.n_spans; i++)
        if (p->phases.spans[i].open && p->phases.spans[i].compile == compile)
            found = &p->phases.spans[i];
    return found;
}

/* Returns the last guard of an attempt, or NULL. */
static const struct guard *last_guard(const struct guard_list *guards, uint32_t attempt)
{
    for (uint32_t i = guards->n; i-- > 0;)
        if (guards->guards[i].attempt == attempt)
            return &guards->guards[i];
    return NULL;
}

/* Sets the line of the last guard or symbol that was recorded. */
static void add_last_line(struct finder *d, struct finding_build *f, uint32_t recording,
                          const struct build_input *in, uint32_t attempt)
{
    const struct guard *last = last_guard(in->guards, attempt);
    stack_id stack = last ? last->user_stack : 0;
    uint32_t record = last ? last->record : 0;
    for (uint32_t i = 0; i < in->symbols->n_symbols; i++) {
        const struct symbol *s = &in->symbols->symbols[i];
        if (s->attempt == attempt && s->record >= record && s->user_stack != 0) {
            stack = s->user_stack;
            record = s->record;
        }
    }
    find_line(d, f, recording, stack);
}

static void describe_unfinished(struct finder *d, uint32_t compile)
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
    struct expression_growth growth = read_expression_growth(in, c->last_attempt);
    struct str name = user_file_of(c->file) == USER_FILE_TORCH ? STR("a module") : c->function;
    find_cause(d, f, "%sthe compile of %.*s had not ended when the log ends%s%.*s%s%s%s",
               growth.longest ? "sizes become longer expressions with each line: " : "",
               STR_ARG(name.n ? name : c->id), open ? ", in " : "", STR_ARG(phase),
               *meaning ? " (" : "", meaning, *meaning ? ")" : "");
    add_last_line(d, f, c->recording, in, c->last_attempt);
    find_expression_growth(d, f, &growth);
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
    find_remedy(d, f, REMEDY_REPORT,
                "symtape minify reduces the graph, if the same program hangs again");
}

void find_unfinished(struct finder *d)
{
    for (uint32_t i = 0; i < d->p->n_compiles && !err_is_set(&d->err); i++)
        if (d->p->compiles[i].status == ATTEMPT_UNFINISHED)
            describe_unfinished(d, i);
}
