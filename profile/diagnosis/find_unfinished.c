/* Findings: compiles that had not ended when the log ends: in which phase, at which user line, and
 * which expressions grew. */
#include "profile/diagnosis/expression_growth.h"
#include "profile/model/format.h"

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

/* Appends what was being compiled: "`forward`", or "the module that is called at train.py:30",
 * since a module is compiled as a function of PyTorch. */
static void put_compiled(const struct finder *d, const struct profile_compile *c, struct buf *out)
{
    struct frame call;
    if (user_file_of(c->file) != USER_FILE_TORCH) {
        buf_printf(out, "`%.*s`", STR_ARG(c->function.n ? c->function : c->id));
        return;
    }
    buf_puts(out, "a module");
    if (find_call_frame(d, c->recording, c->last_attempt, &call)) {
        buf_puts(out, ", called at ");
        format_place(out, call.file, call.line);
        buf_putc(out, ',');
    }
}

/* Says where the compile was when the log ends. */
static void add_last_place(struct finder *d, struct finding_build *f, const struct trace *trace,
                           uint32_t attempt, const struct phase_span *open)
{
    const struct attempt *a = &trace->attempts[attempt];
    struct str phase = open ? profile_name(d->p, open->name) : STR("");
    const char *meaning = phase_meaning(phase);
    double seconds = open ? (double)(open->end_ns - open->start_ns) / 1e9 : 0;
    if (open)
        find_evidence(d, f, "the last phase that began is %.*s%s%s%s", STR_ARG(phase),
                      *meaning ? " (" : "", meaning, *meaning ? ")" : "");
    if (seconds >= 0.1) /* the log does not tell how long the last record was ago */
        find_evidence(d, f, "that phase had run for %.1f s", seconds);
    if (a->n_records == 0)
        return;
    const struct record *last = &trace->records[a->records[a->n_records - 1]];
    find_evidence(d, f, "its last record is a %.*s, line %llu of the log",
                  STR_ARG(trace_string(trace, last->name)), (unsigned long long)last->line);
}

static void describe_unfinished(struct finder *d, uint32_t compile)
{
    const struct profile_compile *c = &d->p->compiles[compile];
    const struct build_input *in = find_input(d, c->recording);
    const struct phase_span *open = find_open_phase(d->p, compile);
    struct profile_where where = { c->recording, compile, c->last_attempt };
    /* torch.export() records no end of a compile */
    if (!open && (d->p->phases.n_spans > 0 || find_may_be_export(in->trace, c->last_attempt)))
        return;
    struct finding_build *f = find_add(d, FINDING_UNFINISHED, &where, STR(""));
    if (!f)
        return;
    f->finding.ended_program = open != NULL;
    struct expression_growth growth = read_expression_growth(in, c->last_attempt);
    struct buf compiled = BUF_INIT;
    put_compiled(d, c, &compiled);
    find_cause(d, f, "%sthe compile of %.*s had not ended when the log ends",
               growth.longest ? "sizes become longer expressions with each line: " : "",
               STR_ARG(buf_str(&compiled)));
    if (compiled.failed)
        err_nomem(&d->err);
    buf_release(&compiled);
    if (user_file_of(c->file) != USER_FILE_TORCH)
        find_place(f, c->file, c->line, STR(""));
    add_last_line(d, f, c->recording, in, c->last_attempt);
    find_expression_growth(d, f, &growth);
    find_cost(f, c->ns - c->restarted_ns, BASIS_MEASURED);
    add_last_place(d, f, in->trace, c->last_attempt, open);
    find_remedy(d, f, REMEDY_REPORT,
                "symtape minify reduces the graph, if the same program hangs again");
}

void find_unfinished(struct finder *d)
{
    for (uint32_t i = 0; i < d->p->n_compiles && !err_is_set(&d->err); i++)
        if (d->p->compiles[i].status == ATTEMPT_UNFINISHED)
            describe_unfinished(d, i);
}
