/* Findings: exceptions that ended a compile. */
#include "profile/diagnosis/failures/find_failures.h"

#include "profile/diagnosis/failures/failure_wording.h"

/* ---- What is common to all failures ---- */

/* Returns whether the configuration that PyTorch recorded with the failure suppresses errors: the
 * frame then ran eagerly and the program continued (torch._dynamo.config.suppress_errors). */
static bool suppresses_errors(const struct trace *trace, const struct failure *failure)
{
    const struct record *r = &trace->records[failure->record];
    struct json doc = { 0 };
    struct err ignored = { 0 };
    bool ret = false;
    if (r->event == EVENT_COMPILATION_METRICS &&
        record_json(trace, failure->record, &doc, &ignored))
        ret = str_is(json_text(&doc, json_get(&doc, JSON_ROOT, STR("config_suppress_errors"))),
                     "true");
    json_release(&doc);
    return ret;
}

bool failure_ended_program(const struct finder *d, const struct profile_failure *failure)
{
    const struct trace *trace = find_input(d, failure->where.recording)->trace;
    uint32_t in = trace->records[failure->is->record].recording;
    if (failure->is->is_break || suppresses_errors(trace, failure->is))
        return false;
    for (uint32_t i = trace->n_attempts; i-- > 0;) /* the last compile of the recording */
        if (trace->attempts[i].recording == in && trace->attempts[i].n_records > 0)
            return trace->attempts[i].records[0] <= failure->is->record;
    return true;
}

/* Returns the attempt of a failure; where its record names none (torch.export with strict=True),
 * the attempt that was recorded last before it. */
static uint32_t failure_attempt(const struct finder *d, const struct profile_failure *failure)
{
    const struct trace *trace = find_input(d, failure->where.recording)->trace;
    uint32_t attempt = failure->is->attempt;
    uint32_t in = trace->records[failure->is->record].recording;
    for (uint32_t i = failure->is->record; attempt == TRACE_NONE && i-- > 0;)
        if (trace->records[i].recording == in)
            attempt = trace->records[i].attempt;
    return attempt;
}

struct symbol_scope failure_scope(const struct finder *d, const struct profile_failure *failure)
{
    return (struct symbol_scope){ d, failure->where.recording, failure_attempt(d, failure),
                                  failure->is->record };
}

static void add_failure_cost(struct finder *d, struct finding_build *f,
                             const struct profile_failure *failure)
{
    uint32_t attempt = failure_attempt(d, failure);
    uint32_t compile = build_compile(find_input(d, failure->where.recording), attempt);
    if (compile == PROFILE_NONE)
        return;
    find_cost(f, d->p->compiles[compile].ns, BASIS_MEASURED);
    if (f->finding.compile == PROFILE_NONE)
        f->finding.compile = compile;
}

/* Adds how much of the program was traced before it failed: the partial graph of a deep recording,
 * or the last graph of the attempt. */
static void add_graph_so_far(struct finder *d, struct finding_build *f, uint32_t recording,
                             uint32_t attempt)
{
    const struct build_input *input = find_input(d, recording);
    struct err err = { 0 };
    for (uint32_t i = input->graphs->n; i-- > 0;) {
        const struct graph_ref *ref = &input->graphs->refs[i];
        if (ref->attempt != attempt || attempt == TRACE_NONE || ref->kind == GRAPH_ANY)
            continue;
        const struct graph *graph = trace_graph(input->trace, i, &err);
        if (graph)
            find_evidence(d, f, "the graph so far has %llu calls (%.*s)",
                          (unsigned long long)graph_counts(graph).calls, STR_ARG(ref->name));
        return;
    }
}

struct finding_build *failure_add(struct finder *d, enum finding_kind kind,
                                  const struct profile_failure *failure, struct str cause,
                                  bool with_cost)
{
    const struct failure *is = failure->is;
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s:%u:%.*s", STR_ARG(is->file), is->line, STR_ARG(cause));
    struct finding_build *f = find_add(d, kind, &failure->where, buf_str(&key));
    buf_release(&key);
    if (!f)
        return NULL;
    if (with_cost)
        add_failure_cost(d, f, failure);
    f->finding.ended_program |= failure_ended_program(d, failure);
    if (!find_is_new(f))
        return f;
    find_cause(d, f, "%.*s", STR_ARG(cause));
    find_message(d, f, is->type, is->reason);
    find_place(f, is->file, is->line, is->code);
    if (is->file.n == 0 &&
        f->finding.compile != PROFILE_NONE) { /* the function that was compiled */
        const struct profile_compile *compile = &d->p->compiles[f->finding.compile];
        find_place(f, compile->file, compile->line, STR(""));
    }
    return f;
}

static void add_exception(struct finder *d, const struct profile_failure *failure)
{
    const struct failure *is = failure->is;
    struct failure_wording words;
    failure_word(is, &words);
    struct str cause = buf_str(&words.cause);
    struct finding_build *f = failure_add(d, FINDING_FAILURE, failure, cause, true);
    if (find_is_new(f)) {
        struct symbol_scope scope = failure_scope(d, failure);
        find_symbol_evidence(d, f, &scope, words.text.message.n > 0 ? words.text.message : cause);
        add_graph_so_far(d, f, failure->where.recording, is->attempt);
        if (words.remedy.n > 0)
            find_remedy(d, f, words.remedy_kind, "%.*s", STR_ARG(buf_str(&words.remedy)));
        for (size_t i = 0; i < words.text.n_hints; i++)
            find_remedy(d, f, REMEDY_CHANGE_CODE, "%.*s", STR_ARG(words.text.hints[i]));
    }
    if (words.cause.failed || words.remedy.failed)
        err_nomem(&d->err);
    failure_wording_release(&words);
}

bool recompile_limit_reached(const struct failure *failure, struct str *limit)
{
    static const struct str NUMBER = { "currently set to ", 17 };
    static const struct str MARKS[] = {
        { "recompile limit exceeded", 24 },
        { "recompile_limit reached", 23 },
        { "cache_size_limit reached", 24 },
        { "FailOnRecompileLimitHit", 23 },
    };
    *limit = STR("");
    bool reached = str_is(failure->type, "FailOnRecompileLimitHit");
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        reached = reached || str_contains(failure->reason, MARKS[i]);
    size_t at = str_find(failure->reason, NUMBER);
    struct str number = str_from(failure->reason, at + NUMBER.n);
    if (at < failure->reason.n)
        *limit = str_first(number, str_digits(number));
    return reached;
}

/* Failures with a finder of their own. */
static const struct {
    struct str type, mark; /* of a type; or with a mark in its message */
    void (*find)(struct finder *d, const struct profile_failure *failure);
} SPECIAL[] = {
    { { "ConstraintViolationError", 24 }, { "Constraints violated", 20 }, find_violations },
    { { "GuardOnDataDependentSymNode", 27 },
      { "data-dependent expression ", 26 },
      find_data_dependent },
};

void find_failures(struct finder *d)
{
    for (uint32_t i = 0; i < d->p->n_failures; i++) {
        const struct profile_failure *failure = &d->p->failures[i];
        size_t k = 0, n = sizeof SPECIAL / sizeof *SPECIAL;
        struct str limit;
        if (failure->is->is_break || recompile_limit_reached(failure->is, &limit))
            continue; /* find_recompiles.c */
        while (k < n && !str_eq(failure->is->type, SPECIAL[k].type) &&
               !str_contains(failure->is->reason, SPECIAL[k].mark))
            k++;
        if (k == n)
            add_exception(d, failure);
        else
            SPECIAL[k].find(d, failure);
    }
}
