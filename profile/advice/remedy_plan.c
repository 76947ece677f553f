#include "profile/advice/remedy_plan.h"

#include "profile/advice/export_dims.h"
#include "profile/advice/padded_calls.h"
#include "profile/advice/undecided.h"
#include "profile/calls/guards/condition.h"
#include "profile/model/build.h"

struct planner {
    const struct remedy_context *context;
    const struct remedy *remedy;
    struct str value; /* of a setting */
    struct call_plan *plan;
    const char *why; /* NULL: the plan says what the remedy does */
    bool failed;     /* memory ran out */
};

/* ---- Texts ---- */

static size_t path_length(struct str text)
{
    size_t n = 0;
    while (n < text.n && (is_word_char(text.p[n]) || text.p[n] == '.'))
        n++;
    return n;
}

/* The length of a constant of Python: a string, a number, a name. */
static size_t constant_length(struct str text)
{
    if (!text.n || text.p[0] != '"')
        return path_length(text);
    size_t end = str_find_char(str_from(text, 1), '"');
    return end + 2 <= text.n ? end + 2 : 0;
}

struct str remedy_statement(struct str text)
{
    size_t path = path_length(text);
    struct str rest = str_from(text, path);
    if (!str_starts(text, STR("torch.")))
        return STR("");
    if (str_starts(rest, STR(" = "))) {
        size_t n = constant_length(str_from(rest, 3));
        return n ? str_first(text, path + 3 + n) : STR("");
    }
    if (str_ends(str_first(text, path), STR(".add")) && str_starts(rest, STR("("))) {
        size_t n = path_length(str_from(rest, 1));
        return str_starts(str_from(rest, 1 + n), STR(")")) ? str_first(text, path + n + 2)
                                                           : STR("");
    }
    return STR("");
}

/* ---- Effects ---- */

static int64_t frame_of(const struct remedy_context *c)
{
    const struct finding *f = c->finding;
    struct str id =
        f->compile == PROFILE_NONE ? STR("") : c->diagnosis->profile->compiles[f->compile].id;
    int64_t ret;
    return str_to_i64(str_first(id, str_find_char(id, '/')), &ret) ? ret : -1;
}

/* The source of the value itself: L['x'] of "L['x'].size()[0]". */
static struct str value_source(struct str source)
{
    size_t size = str_find(source, STR(".size()[")), stride = str_find(source, STR(".stride()["));
    return str_first(source, size < stride ? size : stride);
}

static void hold(struct planner *p, enum call_hold_kind kind)
{
    struct call_hold hold = { .kind = kind, .frame = frame_of(p->context) };
    if (kind != HOLD_MODE)
        hold.source = value_source(p->context->finding->source);
    if (kind != HOLD_MODE && !hold.source.n)
        p->why = "it names no input";
    else
        p->failed |= !vec_push(&p->plan->holds, hold);
    /* The modules of a module are in the mode that it is in. */
    if (kind != HOLD_MODE && str_ends(hold.source, STR(".training"))) {
        hold.source = STR("L['self'].training");
        p->failed |= !vec_push(&p->plan->holds, hold);
    }
}

static void hold_size(struct planner *p, struct size_rule rule)
{
    struct str source = p->context->finding->source, value = value_source(source);
    struct call_hold hold = {
        .kind = HOLD_SIZE, .source = value, .frame = frame_of(p->context), .rule = rule
    };
    struct str dim = str_from(source, value.n + 8); /* ".size()[" */
    uint64_t number;
    if (!value.n || !str_to_u64(str_first(dim, str_digits(dim)), &number) || number > UINT32_MAX) {
        p->why = "it names no size";
        return;
    }
    hold.rule.dim = (uint32_t)number;
    p->failed |= !vec_push(&p->plan->holds, hold);
}

/* "pad so that (x.size()[1] % 8) == 0 holds in each call" */
static void hold_condition(struct planner *p)
{
    static const struct str BEFORE = { "so that ", 8 };
    struct str text = p->remedy->text, rest = str_from(text, str_find(text, BEFORE) + BEFORE.n);
    struct call_hold hold = { .kind = HOLD_CONDITION,
                              .frame = frame_of(p->context),
                              .condition = str_first(rest, str_find(rest, STR(" holds"))) };
    if (padded_condition_is_read(hold.condition))
        p->failed |= !vec_push(&p->plan->holds, hold);
    else
        p->why = "it names no size";
}

static void plan_automatic(struct planner *p)
{
    p->plan->automatic = true;
}

static void plan_symbol(struct planner *p)
{
    hold(p, HOLD_SECOND);
}

static void plan_no_duck(struct planner *p)
{
    p->plan->no_duck = true;
}

static void plan_limit(struct planner *p)
{
    if (!str_to_u64(p->value, &p->plan->limit))
        p->why = "it states no limit";
}

static void plan_accumulated(struct planner *p)
{
    if (!str_to_u64(p->value, &p->plan->accumulated))
        p->why = "it states no limit";
}

/* ---- Restarts ---- */

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* An attempt that is thrown away does what the one that is kept does again, up to the place where
 * it ended. It can take longer, since it was the first: that time is not spared. `by_break`: it
 * ended before the backend ran. */
static void drop_restart(struct planner *p, const struct profile_restart *r, bool by_break)
{
    const struct profile *profile = p->context->diagnosis->profile;
    p->failed |= !vec_push(&p->plan->restarts, r->is->attempt);
    if (r->where.compile == PROFILE_NONE || r->is->ns < 0)
        return;
    const struct profile_compile *c = &profile->compiles[r->where.compile];
    int64_t again =
        by_break ? p->context->index->facts[r->where.compile].retraced_ns : c->ns - c->restarted_ns;
    p->plan->spared_ns += lesser(r->is->ns, again);
}

static const struct py_value *number_of(const struct program_call *call, uint32_t source)
{
    for (uint32_t i = 0; i < call->n_values; i++)
        if (call->values[i].source == source &&
            (call->values[i].value.kind == PY_INT || call->values[i].value.kind == PY_FLOAT))
            return &call->values[i].value;
    return NULL;
}

/* Returns whether calls give a float several values, so that each would be compiled. */
static bool floats_vary(const struct call_log *log)
{
    bool ret = false;
    for (size_t i = 1; i < log->calls.n && !ret; i++)
        for (uint32_t k = 0; k < log->calls.v[i].n_values && !ret; k++) {
            const struct call_value *value = &log->calls.v[i].values[k];
            const struct py_value *before = value->value.kind == PY_FLOAT
                                                ? number_of(&log->calls.v[i - 1], value->source)
                                                : NULL;
            ret = before && log->calls.v[i - 1].frame_id == log->calls.v[i].frame_id &&
                  !py_equal(before, &value->value);
        }
    return ret;
}

/* Attempts that were thrown away since a float was a symbol are not made: what the last one did is
 * what PyTorch does at once. */
static void plan_restarts(struct planner *p)
{
    const struct profile *profile = p->context->diagnosis->profile;
    for (uint32_t i = 0; i < profile->n_restarts; i++)
        if (str_is(profile->restarts[i].is->summary, "TensorifyScalarRestartAnalysis"))
            drop_restart(p, &profile->restarts[i], false);
    if (!p->plan->restarts.n)
        p->why = "it ends no restart";
    else if (!p->context->log->calls.n)
        p->why = "without calls on the tape it is not known whether the floats change";
    else if (floats_vary(p->context->log))
        p->why = "floats that change would be compiled for each value";
}

/* ---- Graph breaks ---- */

static bool is_at_line(const struct profile_break *b, const struct finding *f)
{
    return b->is->line == f->line && str_eq(b->is->file, f->file) &&
           b->where.recording == f->recording;
}

/* `broken`: the compile whose graph broke. */
static void drop_compile(struct planner *p, uint32_t compile, uint32_t broken)
{
    const struct profile *profile = p->context->diagnosis->profile;
    const struct profile_compile *c = &profile->compiles[compile];
    const struct compile_facts *facts = p->context->index->facts;
    for (size_t i = 0; i < p->plan->dropped.n; i++)
        if (str_eq(p->plan->dropped.v[i], c->id))
            return;
    if (c->status != ATTEMPT_OK)
        p->why = "what follows the graph break was not compiled";
    else if (facts[compile].of_frame > facts[broken].of_frame)
        p->why = "what follows the graph break was compiled more often than what comes before it";
    /* The whole function takes the time of the attempts instead; guards are built once. */
    p->plan->spared_ns -= lesser(c->ns, facts[compile].attempts_ns);
    p->failed |= !vec_push(&p->plan->dropped, c->id);
}

static void plan_graph_break(struct planner *p)
{
    const struct profile *profile = p->context->diagnosis->profile;
    const struct finding *f = p->context->finding;
    if (f->kind != FINDING_BREAK) {
        p->why = "the tape does not have what would be compiled";
        return;
    }
    for (uint32_t i = 0; i < profile->n_breaks; i++) {
        const struct profile_break *b = &profile->breaks[i];
        const struct build_input *in =
            &profile_inputs(profile)[profile->recordings[b->where.recording].input];
        if (!is_at_line(b, f))
            continue;
        if (b->is->skipped || b->where.compile == PROFILE_NONE) {
            p->why = "the function was not compiled at all";
            continue;
        }
        for (uint32_t k = 0; k < b->is->n_caused; k++) {
            uint32_t compile = build_compile(in, b->is->caused[k]);
            if (compile != PROFILE_NONE)
                drop_compile(p, compile, b->where.compile);
        }
        p->failed |= !vec_push(&p->plan->breaks, b->is);
        const struct profile_restart *restart =
            compile_index_restart(p->context->index, b->is->attempt);
        if (restart)
            drop_restart(p, restart, true);
    }
    if (!p->plan->dropped.n)
        p->why = "no compile follows from it";
}

static bool is_of_dropped(const struct planner *p, const struct program_call *call)
{
    for (size_t i = 0; i < p->plan->dropped.n; i++) {
        struct str id = p->plan->dropped.v[i];
        int64_t frame;
        if (str_to_i64(str_first(id, str_find_char(id, '/')), &frame) && call->frame_id == frame)
            return true;
    }
    return false;
}

/* Returns whether the rest of the function took a number that differed from call to call. */
static bool number_varies(const struct planner *p)
{
    const struct call_log *log = p->context->log;
    const struct program_call *first = NULL;
    for (size_t i = 0; i < log->calls.n; i++) {
        const struct program_call *call = &log->calls.v[i];
        if (!call->inside || !is_of_dropped(p, call))
            continue;
        first = first ? first : call;
        for (uint32_t k = 0; k < first->n_values; k++) {
            const struct py_value *a = number_of(first, first->values[k].source);
            const struct py_value *b = a ? number_of(call, first->values[k].source) : NULL;
            if (b && !py_equal(a, b))
                return true;
        }
    }
    return false;
}

/* With capture_scalar_outputs the number has no value while the function is traced. That is no
 * matter if one compile of the rest served several numbers. */
static void plan_scalar_break(struct planner *p)
{
    plan_graph_break(p);
    if (!p->why && p->plan->dropped.n != 1)
        p->why = "what follows the graph break was compiled several times";
    else if (!p->why && !number_varies(p))
        p->why = "the tape does not tell whether the rest needs the number";
}

/* ---- Questions without an answer ---- */

/* Returns the exception that ended the finding's compile, or NULL. */
static const struct profile_failure *failure_of(const struct planner *p)
{
    const struct profile *profile = p->context->diagnosis->profile;
    const struct finding *f = p->context->finding;
    for (uint32_t i = 0; i < profile->n_failures; i++) {
        const struct profile_failure *failure = &profile->failures[i];
        if (f->compile != PROFILE_NONE && failure->where.compile == f->compile &&
            failure->where.recording == f->recording && failure->is->attempt != TRACE_NONE)
            return failure;
    }
    return NULL;
}

/* The compile does not fail at the question; what follows it is not on the tape. */
static void plan_answer(struct planner *p, enum undecided_help help)
{
    const struct profile *profile = p->context->diagnosis->profile;
    const struct profile_failure *failure = failure_of(p);
    if (!failure || (help == HELP_CHECK && !p->remedy->fact.n)) {
        p->why = "the tape ends where the program failed";
        return;
    }
    const struct build_input *in =
        &profile_inputs(profile)[profile->recordings[failure->where.recording].input];
    const struct undecided u = { in->trace, failure->is->attempt, failure->is->record,
                                 p->context->finding->question };
    struct err err = { 0 };
    bool as_recorded = false, answered = false;
    p->failed |=
        !undecided_is_answered(&u, HELP_NONE, STR(""), false, &as_recorded, &err) ||
        !undecided_is_answered(&u, help, p->remedy->fact, p->remedy->negates, &answered, &err);
    if (as_recorded)
        p->why = "what the tape has of the sizes would answer the question without it";
    else if (!answered)
        p->why = "PyTorch could not answer the question with it, either";
    else
        p->plan->failures = 1;
}

/* ---- Dims of torch.export ---- */

static void plan_dim(struct planner *p)
{
    const struct profile *profile = p->context->diagnosis->profile;
    const struct dim_remedy *dim = p->remedy->dim;
    struct trace *trace = profile_inputs(profile)[profile->recordings[dim->recording].input].trace;
    enum dims_verdict verdict = DIMS_VIOLATED;
    struct err err = { 0 };
    p->failed |= !export_dims_check(trace, dim, &verdict, &err);
    if (verdict == DIMS_SATISFIED)
        p->plan->failures = 1;
    else
        p->why = verdict == DIMS_VIOLATED
                     ? "by the guards on the tape, the Dims would be violated with it, too"
                     : "by the guards on the tape, the Dims are not violated";
}

/* ---- Remedies ---- */

static const struct setting {
    const char *name;
    void (*plan)(struct planner *p);
    const char *value;
} SETTINGS[] = {
#define SETTING(name, effect, value) { name, plan_##effect, value },
#include "profile/advice/settings.def"
#undef SETTING
};

/* "mark_dynamic(x, 0); torch._dynamo.mark_dynamic(y, 1)": L['x']:0,L['y']:1. */
static void plan_marks(struct planner *p, struct str text)
{
    static const struct str CALLS[] = { { "mark_dynamic(", 13 }, { "mark_unbacked(", 14 } };
    struct call_plan *plan = p->plan;
    for (size_t k = 0; k < sizeof CALLS / sizeof *CALLS; k++)
        for (struct str rest = text; str_contains(rest, CALLS[k]);) {
            rest = str_from(rest, str_find(rest, CALLS[k]) + CALLS[k].n);
            struct str name = str_first(rest, str_find(rest, STR(", ")));
            struct str dim = str_from(rest, name.n + 2);
            dim = str_first(dim, str_digits(dim));
            if (!name.n || !dim.n)
                continue;
            if (plan->marks.n)
                buf_putc(&plan->marks, ',');
            put_named_source(name, &plan->marks);
            buf_putc(&plan->marks, ':');
            buf_put(&plan->marks, dim);
        }
    if (!plan->marks.n)
        p->why = "it names no size";
    p->failed |= plan->marks.failed;
}

/* The sizes are those of the remedy that marks them, where there is one. */
static void plan_sources(struct planner *p, struct str value)
{
    const struct finding *f = p->context->finding;
    for (uint32_t i = 0; i < f->n_remedies; i++)
        if (f->remedies[i].kind == REMEDY_MARK_DYNAMIC) {
            plan_marks(p, f->remedies[i].text);
            return;
        }
    buf_put(&p->plan->marks, value);
    p->failed |= p->plan->marks.failed;
}

static void plan_setting(struct planner *p, struct str statement)
{
    size_t n = path_length(statement);
    struct str name = str_first(statement, n), value = str_from(statement, n + 3);
    p->value = value;
    if (str_is(name, "torch.compiler.config.dynamic_sources") && value.n > 2) {
        plan_sources(p, str_first(str_from(value, 1), value.n - 2));
        return;
    }
    p->why = "no replay shows what the setting does";
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        if (str_is(name, SETTINGS[i].name) &&
            (!*SETTINGS[i].value || str_is(value, SETTINGS[i].value))) {
            p->why = NULL;
            SETTINGS[i].plan(p);
        }
}

static enum undecided_help help_of(enum remedy_kind kind)
{
    return kind == REMEDY_TORCH_CHECK      ? HELP_CHECK
           : kind == REMEDY_GUARD_OR_FALSE ? HELP_GUARD_OR
           : kind == REMEDY_MARK_DYNAMIC   ? HELP_BACKED
                                           : HELP_NONE;
}

static void plan_kind(struct planner *p)
{
    const struct finding *f = p->context->finding;
    if (p->remedy->dim) {
        plan_dim(p);
        return;
    }
    if (f->question.n && help_of(p->remedy->kind) != HELP_NONE) {
        plan_answer(p, help_of(p->remedy->kind));
        return;
    }
    switch (p->remedy->kind) {
    case REMEDY_MARK_UNBACKED:
        p->plan->unbacked = true;
        plan_marks(p, p->remedy->text);
        break;
    case REMEDY_MARK_DYNAMIC:
        if (f->kind == FINDING_RECOMPILE || f->kind == FINDING_LIMIT)
            plan_marks(p, p->remedy->text);
        else
            p->why = "the tape ends where the program failed";
        break;
    case REMEDY_MOVE_CALL:
    case REMEDY_CHANGE_CODE:
    case REMEDY_ALLOW_IN_GRAPH:
        if (f->kind == FINDING_BREAK)
            plan_graph_break(p);
        else
            p->why = str_contains(p->remedy->text, STR("torch.cond("))
                         ? "torch.cond() compiles both branches as one graph, which is not on the "
                           "tape"
                         : "the program would be another one";
        break;
    case REMEDY_MAYBE_MARK_DYNAMIC:
    case REMEDY_REMOVE_MARK:
        /* The guard that makes it a constant is recorded, and was no error without the mark. */
        if (f->kind == FINDING_CONSTRAINT && f->compile != PROFILE_NONE)
            p->plan->failures = 1;
        else
            p->why = "the records of torch.export are not replayed with other sizes";
        break;
    case REMEDY_REPORT: p->why = "it changes nothing"; break;
    default:
        p->why =
            f->kind == FINDING_FAILURE || f->kind == FINDING_CONSTRAINT || f->kind == FINDING_ASSERT
                ? "the tape ends where the program failed"
                : "no replay shows what it does";
    }
}

/* Whether the code computes with a tensor as it did with a number is not on the tape. */
static void plan_effect(struct planner *p)
{
    switch (p->remedy->effect) {
    case EFFECT_SAME_VALUE: hold(p, HOLD_VALUE); break;
    case EFFECT_SAME_MODE: hold(p, HOLD_MODE); break;
    case EFFECT_SYMBOL: plan_symbol(p); break;
    case EFFECT_ONE_SIZE: hold_size(p, (struct size_rule){ .first = true }); break;
    case EFFECT_TWO_OR_MORE: hold_size(p, (struct size_rule){ .least = 2 }); break;
    case EFFECT_CONDITION: hold_condition(p); break;
    case EFFECT_SAME_TENSOR:
        hold(p, HOLD_VALUE);
        p->why = "whether the program can compute with a tensor there is not on the tape";
        break;
    case EFFECT_OTHER: plan_kind(p); break;
    }
}

bool remedy_plan_make(const struct remedy_context *context, const struct remedy *remedy,
                      struct call_plan *plan, const char **why)
{
    struct planner p = { .context = context, .remedy = remedy, .plan = plan };
    struct str statement = remedy_statement(remedy->text);
    *plan = (struct call_plan){ 0 };
    if (statement.n && remedy->effect == EFFECT_OTHER)
        plan_setting(&p, statement);
    else
        plan_effect(&p);
    *why = p.why;
    return !p.failed;
}
