/* Findings: functions that run eagerly although they were to be compiled. */
#include "profile/diagnosis/finder.h"

/* Why a function that is not compiled runs eagerly, by a part of PyTorch's text; the last row is
 * for all others. Sources: unimplemented() calls of torch/_dynamo/symbolic_convert.py, and
 * torch/_dynamo/convert_frame.py. */
static const struct eager_reason {
    const char *part, *cause, *remedy;
} REASONS[] = {
    { "torch.compiler.disable", "the function that is called there is not to be compiled",
      "remove torch.compiler.disable() from it, or call it outside of the compiled function" },
    { "loop", "a graph break inside a loop leaves the whole function to eager execution",
      "remove the call that breaks the graph from the loop, or make the body of the loop a function "
      "of its own" },
    { "context manager",
      "a graph break inside a with statement leaves the whole function to eager execution",
      "move the call that breaks the graph out of the with statement" },
    { "generator", "Dynamo does not compile generators",
      "return a list in place of the generator" },
    { "Skipping the function", "a graph break there leaves the whole function to eager execution",
      "remove the call that breaks the graph, or call it outside of the compiled function" },
    { "", "the graph breaks there",
      "remove the call that breaks the graph, or call it outside of the compiled function" },
};

struct eager_counts {
    uint32_t compiles, eager; /* compiles, and those of them whose last attempt has no operator */
    uint32_t functions;       /* different functions that were compiled */
    uint32_t failed;          /* of these, those with an exception, which is a finding of its own */
    uint32_t first;           /* the first of these, an index into profile->compiles */
    bool ended;               /* something ended the program before, or it never ended */
};

static bool is_eager(const struct profile_compile *compile)
{
    for (int i = 0; i < GRAPH_KINDS; i++)
        if (compile->calls[i] > 0)
            return false;
    return true;
}

/* Returns whether a failure may have ended the program, so that it is the cause of all else. */
static bool may_end_program(struct finder *d, const struct profile_failure *f)
{
    return !f->is->is_break && !str_contains(f->is->reason, STR("recompile_limit")) &&
           !find_has_setting(d, f->where.recording, "torch._dynamo.config", "suppress_errors",
                             "True");
}

static void count_function(struct finder *d, struct intern *functions,
                           const struct profile_compile *compile)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s:%u %.*s", STR_ARG(compile->file), (unsigned)compile->line,
               STR_ARG(compile->function));
    if (key.failed || intern(functions, buf_str(&key)) == INTERN_NONE)
        err_nomem(&d->err);
    buf_release(&key);
}

static struct eager_counts count_eager(struct finder *d)
{
    struct eager_counts c = { .first = PROFILE_NONE };
    struct intern functions = INTERN_INIT;
    for (uint32_t i = 0; i < d->p->n_compiles; i++) {
        const struct profile_compile *compile = &d->p->compiles[i];
        c.compiles++;
        count_function(d, &functions, compile);
        c.ended |= compile->status == ATTEMPT_UNFINISHED;
        if (!is_eager(compile))
            continue;
        c.eager++;
        if (c.first == PROFILE_NONE)
            c.first = i;
    }
    c.functions = (uint32_t)functions.texts.n;
    intern_release(&functions);
    for (uint32_t i = 0; i < d->p->n_failures && !c.ended; i++) {
        c.ended = may_end_program(d, &d->p->failures[i]);
        c.failed += !d->p->failures[i].is->is_break;
    }
    return c;
}

static const struct profile_break *break_of(const struct finder *d, uint32_t compile)
{
    for (uint32_t i = 0; i < d->p->n_breaks; i++)
        if (d->p->breaks[i].where.compile == compile)
            return &d->p->breaks[i];
    return NULL;
}

static const struct profile_failure *failure_of(const struct finder *d, uint32_t compile)
{
    for (uint32_t i = 0; i < d->p->n_failures; i++)
        if (d->p->failures[i].where.compile == compile)
            return &d->p->failures[i];
    return NULL;
}

/* Appends the setting that a hint names: "Enable ... with `torch._dynamo.config.NAME = True`". */
static void suggest_hint(struct finder *d, struct finding_build *f, struct str hint)
{
    struct str setting = str_from(hint, str_find(hint, STR("`torch._dynamo.config.")));
    setting = str_from(setting, 1);
    setting = str_first(setting, str_find_char(setting, '`'));
    if (str_contains(setting, STR(" = ")))
        find_remedy(d, f, REMEDY_CHANGE_SETTING, "%.*s", STR_ARG(str_first(setting, 200)));
}

static void explain_break(struct finder *d, struct finding_build *f, const struct graph_break *b)
{
    const struct eager_reason *reason = REASONS;
    while (!str_contains(b->reason, str_of(reason->part)))
        reason++;
    find_place(f, b->file, b->line, b->code);
    find_evidence(d, f, "%s: %.*s", reason->cause,
                  STR_ARG(str_first(b->explanation.n > 0 ? b->explanation : b->summary, 300)));
    if (f && f->finding.kind == FINDING_NOTHING_COMPILED)
        find_absorb(d, f, FINDING_BREAK);
    suggest_hint(d, f, b->hint);
    if (b->hint.n > 0)
        find_evidence(d, f, "PyTorch's hint: %.*s", STR_ARG(str_first(b->hint, 300)));
    find_remedy(d, f, REMEDY_CHANGE_CODE, "%s", reason->remedy);
}

static void explain_eager(struct finder *d, struct finding_build *f, uint32_t compile)
{
    const struct profile_compile *c = &d->p->compiles[compile];
    const struct profile_break *b = break_of(d, compile);
    const struct profile_failure *failure = b ? NULL : failure_of(d, compile);
    if (b) {
        explain_break(d, f, b->is);
    } else if (failure) {
        find_place(f, failure->is->file, failure->is->line, failure->is->code);
        find_evidence(d, f, "%.*s: %.*s", STR_ARG(failure->is->type),
                      STR_ARG(str_first(failure->is->summary, 200)));
        find_remedy(d, f, REMEDY_CHANGE_SETTING,
                    "mend this error: it is hidden by torch._dynamo.config.suppress_errors = True");
    } else {
        find_place(f, c->file, c->line, STR(""));
        find_evidence(d, f, "%.*s() calls no operator of PyTorch", STR_ARG(c->function));
        find_remedy(d, f, REMEDY_CHANGE_CODE, "compile a function that calls operators of PyTorch");
    }
}

static void list_eager(struct finder *d, struct finding_build *f, uint32_t but)
{
    for (uint32_t i = 0; i < d->p->n_compiles; i++) {
        const struct profile_compile *c = &d->p->compiles[i];
        if (i != but && is_eager(c) && c->function.n > 0)
            find_evidence(d, f, "%.*s runs eagerly: %.*s() at %.*s:%u", STR_ARG(c->id),
                          STR_ARG(c->function), STR_ARG(str_basename(c->file)), (unsigned)c->line);
    }
}

static void add_nothing_compiled(struct finder *d, const struct eager_counts *c)
{
    const struct profile_where where = { d->p->compiles[c->first].recording, c->first, TRACE_NONE };
    struct finding_build *f = find_add(d, FINDING_NOTHING_COMPILED, &where, STR("nothing"));
    if (c->functions == 1)
        find_cause(d, f,
                   "the one function that Dynamo traced has no graph with an operator: "
                   "everything runs eagerly");
    else
        find_cause(d, f,
                   "none of the %u functions that Dynamo traced has a graph with an operator: "
                   "everything runs eagerly",
                   (unsigned)c->functions);
    if (!f)
        return;
    explain_eager(d, f, c->first);
    list_eager(d, f, c->first);
    find_remedy(d, f, REMEDY_CHANGE_CODE,
                "torch.compile(..., fullgraph=True) raises an error where the graph breaks first");
}

/* Returns the first function that runs eagerly because of a graph break, and counts them all.
 * Breaks are in the order of their records, so that those of one compile follow each other. */
static uint32_t first_skipped(const struct finder *d, uint32_t *n)
{
    uint32_t first = PROFILE_NONE, last = PROFILE_NONE;
    for (uint32_t i = 0; i < d->p->n_breaks; i++) {
        uint32_t compile = d->p->breaks[i].where.compile;
        if (!d->p->breaks[i].is->skipped || compile == PROFILE_NONE || compile == last ||
            !is_eager(&d->p->compiles[compile]))
            continue;
        last = compile;
        if ((*n)++ == 0)
            first = compile;
    }
    return first;
}

static void add_skipped(struct finder *d, const struct eager_counts *c)
{
    uint32_t n = 0, first = first_skipped(d, &n);
    if (n == 0)
        return;
    const struct profile_where where = { d->p->compiles[first].recording, first, TRACE_NONE };
    struct finding_build *f = find_add(d, FINDING_EAGER, &where, STR("skipped"));
    find_cause(d, f,
               "%u of %u compiles ended without a graph, after a graph break: "
               "their functions run eagerly",
               (unsigned)n, (unsigned)c->compiles);
    if (!f)
        return;
    explain_eager(d, f, first);
    list_eager(d, f, first);
}

/* A log without any compile: torch.compile() was disabled, or PyTorch skipped the functions. */
static void add_no_compile(struct finder *d)
{
    for (uint32_t i = 0; i < d->p->n_recordings; i++) {
        const struct build_input *in = find_input(d, i);
        if (in->trace->recordings[d->p->recordings[i].recording].kind != RECORDING_LOG ||
            in->graphs->n > 0 || in->symbols->n_symbols > 0 || in->guards->n > 0)
            return;
    }
    struct finding_build *f = find_add(d, FINDING_NOTHING_COMPILED, NULL, STR("nothing"));
    find_cause(d, f, "the log has no compile: PyTorch compiled nothing while it was recorded");
    find_remedy(d, f, REMEDY_CHANGE_SETTING,
                "unset TORCH_COMPILE_DISABLE and TORCHDYNAMO_DISABLE, and set "
                "torch._dynamo.config.disable = False");
    find_remedy(d, f, REMEDY_CHANGE_CODE,
                "call the function that torch.compile() returns: it compiles at its first call");
}

void find_eager(struct finder *d)
{
    struct eager_counts c = count_eager(d);
    if (d->p->options.compile.n > 0 || c.ended || err_is_set(&d->err))
        return;
    if (c.compiles == 0 && d->p->n_failures == 0)
        add_no_compile(d);
    else if (c.eager <= c.failed) /* the exceptions are the cause; of none, too */
        return;
    else if (c.eager == c.compiles)
        add_nothing_compiled(d, &c);
    else if (c.eager > 0)
        add_skipped(d, &c);
}
