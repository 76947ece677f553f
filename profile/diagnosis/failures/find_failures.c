/* Findings: exceptions that ended a compile. */
#include "profile/diagnosis/failures/find_failures.h"

#include "trace/base/text/wildcard.h"
#include "trace/events/incidents/failure_text.h"

enum { MOST_PARTS = 4 };

static const struct exception_row {
    struct str pattern;
    const char *cause;
    enum remedy_kind remedy;
    const char *text;
} EXCEPTIONS[] = {
#define EXCEPTION(pattern, cause, remedy, text) \
    {                                           \
        { pattern, sizeof pattern - 1 },        \
        cause,                                  \
        remedy,                                 \
        text,                                   \
    },
#include "profile/diagnosis/failures/exceptions.def"
#undef EXCEPTION
};

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

/* ---- Causes from the table ---- */

/* Returns whether a part ends in a quote or a parenthesis that was not opened in it, or in a full
 * stop. */
static bool has_loose_end(struct str part)
{
    char last = part.n > 0 ? part.p[part.n - 1] : ' ';
    size_t quotes = 0;
    for (size_t i = 0; i < part.n; i++)
        quotes += part.p[i] == last;
    if (last == '\'' || last == '"')
        return quotes % 2 == 1;
    return last == '.' || (last == ')' && str_find_char(part, '(') == part.n);
}

/* Removes what the pattern's end left at the end of a part. */
static struct str trimmed_part(struct str part)
{
    part = str_trim(part);
    while (has_loose_end(part))
        part.n--;
    return part;
}

/* Appends "audio::normalize" for "audio.normalize.default". */
static void put_operator(struct str op, struct buf *out)
{
    size_t dot = str_find_char(op, '.');
    struct str name = str_from(op, dot + 1);
    buf_put(out, str_first(op, dot));
    if (dot < op.n) {
        buf_puts(out, "::");
        buf_put(out, str_first(name, str_find_char(name, '.')));
    }
}

static void put_template(const char *template, struct str call, const struct str *parts,
                         struct buf *out)
{
    for (const char *c = template; *c; c++) {
        bool op = c[0] == '$' && c[1] == ':' && c[2] >= '1' && c[2] <= '0' + MOST_PARTS;
        if (op) {
            put_operator(parts[c[2] - '1'], out);
            c += 2;
        } else if (c[0] == '$' && c[1] >= '0' && c[1] <= '0' + MOST_PARTS) {
            struct str part = c[1] == '0' ? call : parts[c[1] - '1'];
            buf_put(out, part.n > 0 || c[1] != '0' ? part : STR("an operator"));
            c++;
        } else {
            buf_putc(out, *c);
        }
    }
}

/* Returns the row whose pattern occurs in the text, or NULL. */
static const struct exception_row *exception_row_of(struct str text, struct str *parts)
{
    for (size_t i = 0; i < sizeof EXCEPTIONS / sizeof *EXCEPTIONS; i++)
        if (wildcard_find(text, EXCEPTIONS[i].pattern, parts, MOST_PARTS)) {
            for (size_t k = 0; k < MOST_PARTS; k++)
                parts[k] = trimmed_part(parts[k]);
            return &EXCEPTIONS[i];
        }
    return NULL;
}

/* The cause where no row applies: what the message itself explains. */
static void put_explained(const struct failure *is, const struct failure_text *text,
                          struct buf *out)
{
    enum { LONGEST = 300 };
    struct str explanation = text->explanation.n > 0 ? text->explanation : text->summary;
    if (text->message.n > 0 && text->call.n > 0)
        buf_printf(out, "%.*s failed: %.*s", STR_ARG(text->call), STR_ARG(text->message));
    else if (explanation.n > 0)
        buf_printf(out, "%.*s", STR_ARG(explanation));
    else
        buf_printf(out, "%.*s", STR_ARG(is->type));
    if (out->n > LONGEST) {
        out->n = LONGEST;
        buf_puts(out, " ...");
    }
    while (out->n > 0 && out->p[out->n - 1] == '.' && out->n <= LONGEST)
        out->n--;
}

static void add_remedies(struct finder *d, struct finding_build *f, const struct exception_row *row,
                         const struct failure_text *text, const struct str *parts)
{
    struct buf remedy = BUF_INIT;
    if (row && row->text[0]) {
        put_template(row->text, text->call, parts, &remedy);
        find_remedy(d, f, row->remedy, "%.*s", STR_ARG(buf_str(&remedy)));
    }
    for (size_t i = 0; i < text->n_hints; i++)
        find_remedy(d, f, REMEDY_CHANGE_CODE, "%.*s", STR_ARG(text->hints[i]));
    buf_release(&remedy);
}

static void add_exception(struct finder *d, const struct profile_failure *failure)
{
    const struct failure *is = failure->is;
    struct failure_text text = failure_text_parse(is->reason);
    struct buf typed = BUF_INIT, cause = BUF_INIT;
    struct str parts[MOST_PARTS];
    buf_printf(&typed, "%.*s: %.*s", STR_ARG(is->type), STR_ARG(is->reason));
    const struct exception_row *row = exception_row_of(buf_str(&typed), parts);
    if (row)
        put_template(row->cause, text.call, parts, &cause);
    else
        put_explained(is, &text, &cause);
    struct finding_build *f = failure_add(d, FINDING_FAILURE, failure, buf_str(&cause), true);
    if (find_is_new(f)) {
        struct symbol_scope scope = failure_scope(d, failure);
        find_symbol_evidence(d, f, &scope, text.message.n > 0 ? text.message : buf_str(&cause));
        add_graph_so_far(d, f, failure->where.recording, is->attempt);
        add_remedies(d, f, row, &text, parts);
    }
    if (typed.failed || cause.failed)
        err_nomem(&d->err);
    buf_release(&typed);
    buf_release(&cause);
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
