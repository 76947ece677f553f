/* Findings: functions that were compiled again, by cause, and those that reached the recompile
 * limit. The cost of a recompile is its compile without attempts that were discarded, which
 * find_restarts.c counts. */
#include "profile/diagnosis/failures/recorded_truth.h"
#include "profile/diagnosis/recompiles/inner_frame.h"
#include "profile/diagnosis/recompiles/recompile_groups.h"
#include "profile/model/format.h"
#include "trace/base/text/wildcard.h"

#include "trace/events/compile_config.h"
#include "trace/events/user_line.h"

enum { SHOWN_VALUES = 5, LONG_GUARD = 80 /* bytes of it in a sentence */ };

/* ---- Conditions of recompile_causes.def ---- */

struct recompile_case {
    struct finder *d;
    const struct recompile_group *g;
    const struct build_input *in;
    struct compile_config config; /* of the first recompile */
    struct inner_frame inner;     /* that its function runs in; of sizes only */
};

static bool holds_ALWAYS(const struct recompile_case *c)
{
    (void)c;
    return true;
}

static bool holds_PARAMETER(const struct recompile_case *c)
{
    return str_contains(c->g->text, STR("force_parameter_static_shapes")) ||
           str_contains(c->g->guard.source, STR("_parameters"));
}

static bool holds_SPECIALIZED(const struct recompile_case *c)
{
    return c->g->specialized;
}

static bool holds_FIRST_IS_ONE(const struct recompile_case *c)
{
    struct str first = c->g->values.n ? c->g->values.v[0] : STR("");
    return str_is(first, "0") || str_is(first, "1");
}

static bool can_be_symbol(const struct recompile_case *c)
{
    return !holds_PARAMETER(c) && !holds_SPECIALIZED(c) && !holds_FIRST_IS_ONE(c) &&
           !c->g->refusing && c->g->marks.n > 0;
}

static bool holds_MARKABLE(const struct recompile_case *c)
{
    return can_be_symbol(c) && c->inner.outer.n == 0;
}

/* The program has no such value: a compiled function computes it. */
static bool holds_INNER(const struct recompile_case *c)
{
    return can_be_symbol(c) && c->inner.outer.n > 0;
}

static bool holds_REFUSED(const struct recompile_case *c)
{
    return c->g->refusing != NULL;
}

/* torch/compiler/config.py has dynamic_sources from 2.8 on. */
static bool has_dynamic_sources(const struct recompile_case *c)
{
    uint64_t minor;
    uint32_t recording = c->d->p->recompiles[c->g->first].where.recording;
    struct str version =
        c->in->trace->recordings[c->d->p->recordings[recording].recording].torch_version;
    struct str rest = str_from(version, 2);
    return str_starts(version, STR("2.")) &&
           str_to_u64(str_first(rest, str_digits(rest)), &minor) && minor >= 8;
}

static bool holds_HAS_DYNAMIC_SOURCES(const struct recompile_case *c)
{
    return can_be_symbol(c) && has_dynamic_sources(c);
}

static bool holds_STATIC(const struct recompile_case *c)
{
    return c->config.automatic_dynamic_shapes == CONFIG_OFF;
}

static bool holds_GRAD_MODE(const struct recompile_case *c)
{
    return str_contains(c->g->guard.expected, STR("grad_mode"));
}

static bool holds_AUTOCAST(const struct recompile_case *c)
{
    return str_contains(c->g->guard.expected, STR("autocast"));
}

static bool holds_OTHER_STATE(const struct recompile_case *c)
{
    return !holds_GRAD_MODE(c) && !holds_AUTOCAST(c);
}

static bool holds_DUCK(const struct recompile_case *c)
{
    return str_contains(c->g->text, STR("duck sizing"));
}

static bool holds_MODULO(const struct recompile_case *c)
{
    return str_contains(c->g->guard.text, STR(" % "));
}

/* Returns whether a condition compares two sizes, so that padding one of them can make it hold. */
static bool relates_sizes(struct str condition)
{
    static const struct str SIZE = { ".size()[", 8 };
    size_t first = str_find(condition, SIZE);
    return str_contains(str_from(condition, first + SIZE.n), SIZE) &&
           !str_contains(condition, STR(" % ")) && condition.n <= LONG_GUARD;
}

/* To pad until two sizes differ helps nobody. */
static bool holds_RELATION(const struct recompile_case *c)
{
    return relates_sizes(c->g->guard.text) && !str_contains(c->g->guard.text, STR(" != ")) &&
           !c->g->check.n;
}

static bool holds_OPPOSITE(const struct recompile_case *c)
{
    return relates_sizes(c->g->guard.text) && !str_contains(c->g->guard.text, STR(" == ")) &&
           !c->g->check.n;
}

static bool holds_CHECKED(const struct recompile_case *c)
{
    return c->g->check.n > 0;
}

static bool holds_NOT_CHECKED(const struct recompile_case *c)
{
    return !holds_CHECKED(c);
}

/* mark_unbacked() has not marked the size yet. */
static bool holds_BACKED(const struct recompile_case *c)
{
    return !c->g->unbacked && !holds_CHECKED(c);
}

/* The program's line has the condition itself. */
static bool holds_WRITTEN(const struct recompile_case *c)
{
    static const struct str WORDS[] = {
        { "if ", 3 }, { "while ", 6 }, { "assert ", 7 }, { "for ", 4 }
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (str_contains(c->g->code, WORDS[i]))
            return true;
    return false;
}

static bool holds_NOT_WRITTEN(const struct recompile_case *c)
{
    return !holds_WRITTEN(c) && !holds_CHECKED(c);
}

/* The hint of EQUALS_MATCH in torch/_dynamo/variables/builder.py. */
static bool holds_INT_ATTRIBUTE(const struct recompile_case *c)
{
    return str_contains(c->g->text, STR("allow_unspec_int_on_nn_module"));
}

static bool is_number(struct str text)
{
    struct str digits = str_from(text, str_starts(text, STR("-")) ? 1 : 0);
    return digits.n > 0 && str_digits(digits) > 0;
}

static bool is_int(struct str text)
{
    struct str digits = str_from(text, str_starts(text, STR("-")) ? 1 : 0);
    return digits.n > 0 && str_digits(digits) == digits.n;
}

static bool holds_INT(const struct recompile_case *c)
{
    return is_int(c->g->guard.expected) && !c->g->specialized &&
           source_closure(c->g->guard.source).n == 0;
}

/* An int that the newest compile traced as a symbol. */
static bool holds_DYNAMIC_VALUE(const struct recompile_case *c)
{
    return c->g->dynamic && holds_INT(c) && has_dynamic_sources(c);
}

static bool holds_STATIC_VALUE(const struct recompile_case *c)
{
    return !c->g->dynamic;
}

static bool holds_SPECIALIZE_INT(const struct recompile_case *c)
{
    return is_int(c->g->guard.expected) && c->config.specialize_int == CONFIG_ON;
}

static bool holds_CAPTURED_NUMBER(const struct recompile_case *c)
{
    return is_number(c->g->guard.expected) && source_closure(c->g->guard.source).n > 0;
}

static bool holds_FLOAT_VALUE(const struct recompile_case *c)
{
    return is_number(c->g->guard.expected) && !is_int(c->g->guard.expected) &&
           source_closure(c->g->guard.source).n == 0;
}

static bool holds_TEXT(const struct recompile_case *c)
{
    struct str value = c->g->guard.expected;
    return value.n > 0 && (value.p[0] == '\'' || value.p[0] == '"');
}

/* ---- Texts ---- */

static const struct recompile_cause {
    enum recompile_kind kind;
    const char *source, *once, *often;
} CAUSES[] = {
#define CAUSE(kind, source, once, often) { RECOMPILE_##kind, source, once, often },
#define CHANGE(kind, condition, remedy, effect, text)
#include "profile/diagnosis/recompiles/recompile_causes.def"
#undef CAUSE
#undef CHANGE
};

static const struct recompile_change {
    enum recompile_kind kind;
    bool (*holds)(const struct recompile_case *c);
    enum remedy_kind remedy;
    enum remedy_effect effect;
    const char *text;
} CHANGES[] = {
#define CAUSE(kind, source, once, often)
#define CHANGE(kind, condition, remedy, effect, text) \
    { RECOMPILE_##kind, holds_##condition, REMEDY_##remedy, EFFECT_##effect, text },
#include "profile/diagnosis/recompiles/recompile_causes.def"
#undef CAUSE
#undef CHANGE
};

/* Returns the name of a compile's function. A compile that the limit ended has none of its own: an
 * earlier one of the same function has it. */
static struct str function_name(const struct profile *p, uint32_t compile)
{
    for (uint32_t i = compile + 1; i-- > 0;)
        if (p->compiles[i].function.n > 0 && same_function(&p->compiles[i], &p->compiles[compile]))
            return p->compiles[i].function;
    return STR("");
}

/* Appends the name of the compiled function. What was called after a graph break is the rest of
 * the function that broke, and a module is compiled as a function of PyTorch. */
static void put_function(const struct recompile_case *c, struct buf *out)
{
    if (c->g->compile == PROFILE_NONE) {
        buf_puts(out, "a function");
        return;
    }
    struct str name;
    function_resumes(function_name(c->d->p, c->g->compile), &name);
    buf_put(out, c->g->module_call ? STR("the module's forward") : name);
}

/* Appends "24, 30 and 36", or the first ones and how many more there are. */
static bool put_values(const struct recompile_group *g, struct buf *out)
{
    size_t n = g->values.n, shown = n > SHOWN_VALUES + 1 ? SHOWN_VALUES : n;
    for (size_t i = 0; i < shown; i++) {
        buf_puts(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        buf_put(out, g->values.v[i]);
    }
    if (shown < n)
        buf_printf(out, " and %s%zu more", g->has_more_values ? "at least " : "", n - shown);
    return n > 0;
}

static bool put_last_value(const struct recompile_group *g, struct buf *out)
{
    buf_put(out, recompile_last_value(g));
    return g->values.n > 0 && !str_eq(recompile_last_value(g), g->guard.expected);
}

/* Appends the source as Python code. Of a variable that a closure captures, PyTorch has the name in
 * a hint: `(HINT: guard on "state"['n'])` (_get_closure_var_hint() in torch/_dynamo/guards.py). */
static bool put_captured(const struct recompile_group *g, struct buf *out)
{
    struct str parts[2];
    if (source_closure(g->guard.source).n == 0 ||
        !wildcard_find(g->text, STR("(HINT: guard on \"*\"*)"), parts, 2))
        return false;
    buf_put(out, parts[0]);
    buf_put(out, parts[1]);
    return true;
}

/* Appends the source for a sentence. */
static void put_described(const struct recompile_group *g, struct buf *out)
{
    struct str closure = source_closure(g->guard.source);
    if (!put_captured(g, out)) {
        source_described(out, g->guard.source);
    } else if (source_closure(closure).n == 0) {
        buf_puts(out, " (captured by ");
        source_spoken(out, closure);
        buf_putc(out, ')');
    }
}

static void put_code(const struct recompile_group *g, struct buf *out)
{
    if (!put_captured(g, out))
        source_spoken(out, g->guard.source);
}

/* Appends marks of both sizes of "x.size()[0] == y.size()[1]": a size that is marked has a symbol
 * of its own (DimDynamic.DYNAMIC in create_symbol() of torch/fx/experimental/symbolic_shapes.py).
 */
static bool put_both_marks(struct str guard, struct buf *out)
{
    static const struct str EQUAL = { " == ", 4 }, SIZE = { ".size()[", 8 };
    size_t equal = str_find(guard, EQUAL);
    struct str sides[] = { str_first(guard, equal), str_from(guard, equal + EQUAL.n) };
    for (int i = 0; i < 2; i++) {
        size_t at = str_find(sides[i], SIZE);
        struct str dim = str_from(sides[i], at + SIZE.n);
        size_t digits = str_digits(dim);
        if (!at || !digits || digits + 1 != dim.n)
            return false;
        buf_puts(out, i ? "; torch._dynamo.mark_dynamic(" : "torch._dynamo.mark_dynamic(");
        source_spoken(out, str_first(sides[i], at));
        buf_printf(out, ", %.*s)", (int)digits, dim.p);
    }
    return true;
}

/* Appends the text of one "{letter}". Returns false when it is not known. */
static bool put_part(const struct recompile_case *c, char letter, struct buf *out)
{
    const struct recompile_group *g = c->g;
    size_t before = out->n;
    switch (letter) {
    case 'f': put_function(c, out); break;
    case 's': put_described(g, out); break;
    case 'p': put_code(g, out); break;
    case 'S': source_local(out, g->guard.source); break;
    case 'i': buf_put(out, g->guard.index); break;
    case 'e': buf_put(out, g->guard.expected); break;
    case 'a': return put_last_value(g, out);
    case 'v': return put_values(g, out);
    case 'g':
        buf_put(out, str_first(g->guard.text, LONG_GUARD));
        buf_puts(out, g->guard.text.n > LONG_GUARD ? "..." : "");
        break;
    case 'h': return condition_negate(g->guard.text, out);
    case 'c': buf_put(out, g->check); break;
    case 'b': return put_both_marks(g->guard.text, out);
    case 'm': buf_put(out, g->marks); break;
    case 'd': buf_put(out, g->sources); break;
    case 'o': buf_put(out, c->inner.outer); break;
    default: return false;
    }
    return out->n > before;
}

/* Fills in a text of recompile_causes.def. Returns false when a part of it is not known. */
static bool fill_in(const struct recompile_case *c, const char *text, struct buf *out)
{
    bool ok = true;
    buf_clear(out);
    while (*text) {
        size_t n = strcspn(text, "{");
        buf_put(out, (struct str){ text, n });
        text += n;
        if (*text) {
            ok = put_part(c, text[1], out) && ok;
            text += 3;
        }
    }
    return ok;
}

static void describe_cause(const struct recompile_case *c, struct finding_build *f)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof CAUSES / sizeof *CAUSES; i++) {
        const struct recompile_cause *cause = &CAUSES[i];
        bool once = c->g->count == 1 || c->g->values.n == 2;
        if (cause->kind != c->g->guard.kind ||
            !fill_in(c, once ? cause->once : cause->often, &text))
            continue;
        if (c->g->failure) {
            struct buf function = BUF_INIT;
            put_function(c, &function);
            find_cause(c->d, f, "%s%.*s%s reached the recompile limit of %.*s: %.*s",
                       function.n ? "`" : "a function", STR_ARG(buf_str(&function)),
                       function.n ? "`" : "", STR_ARG(c->g->limit), STR_ARG(buf_str(&text)));
            text.failed |= function.failed;
            buf_release(&function);
        } else {
            find_cause(c->d, f, "%.*s", STR_ARG(buf_str(&text)));
        }
        if (fill_in(c, cause->source, &text))
            find_source(c->d, f, buf_str(&text));
        break;
    }
    if (text.failed)
        err_nomem(&c->d->err);
    buf_release(&text);
}

static void describe_changes(const struct recompile_case *c, struct finding_build *f)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++)
        if (CHANGES[i].kind == c->g->guard.kind && CHANGES[i].holds(c) &&
            fill_in(c, CHANGES[i].text, &text)) {
            find_remedy(c->d, f, CHANGES[i].remedy, "%.*s", STR_ARG(buf_str(&text)));
            find_effect(f, CHANGES[i].effect);
        }
    if (text.failed)
        err_nomem(&c->d->err);
    buf_release(&text);
}

/* torch._dynamo.config.accumulated_recompile_limit counts all functions, the other one each. */
static void describe_limit(const struct recompile_case *c, struct finding_build *f)
{
    uint64_t limit = 0;
    const struct failure *failure = c->g->failure;
    bool all = str_contains(failure->reason, STR("accumulated_"));
    str_to_u64(c->g->limit, &limit);
    f->finding.ended_program = str_is(failure->type, "FailOnRecompileLimitHit");
    find_evidence(c->d, f,
                  f->finding.ended_program
                      ? "fullgraph=True, or fail_on_recompile_limit_hit, makes the limit an error"
                      : "calls that no compiled version fits now run without being compiled");
    if (limit > 0 && limit <= UINT32_MAX)
        find_remedy(c->d, f, REMEDY_RAISE_LIMIT,
                    "torch._dynamo.config.%srecompile_limit = %llu, if each version is needed",
                    all ? "accumulated_" : "", (unsigned long long)limit * 2);
}

/* Tells where a value of an inner frame comes from. */
static void describe_inner(const struct recompile_case *c, struct finding_build *f)
{
    struct buf place = BUF_INIT, source = BUF_INIT;
    format_place(&place, c->inner.file, c->inner.line);
    source_spoken(&source, c->g->guard.source);
    find_evidence(c->d, f, "%.*s comes from `%.*s`, through the graph break at %.*s",
                  STR_ARG(buf_str(&source)), STR_ARG(c->inner.outer), STR_ARG(buf_str(&place)));
    if (place.failed || source.failed)
        err_nomem(&c->d->err);
    buf_release(&place);
    buf_release(&source);
}

static void describe_group(struct finder *d, struct compiled_functions *functions,
                           const struct recompile_group *g)
{
    const struct profile_where *where = &d->p->recompiles[g->first].where;
    const struct recompile *recompile = d->p->recompiles[g->first].is;
    struct recompile_case c = { .d = d, .g = g, .in = find_input(d, where->recording) };
    if (g->compile != PROFILE_NONE)
        compile_config_read(c.in->trace, d->p->compiles[g->compile].last_attempt, &d->arena,
                            &c.config, &d->err);
    struct finding_build *f =
        find_add(d, g->failure ? FINDING_LIMIT : FINDING_RECOMPILE, where, STR(""));
    if (!f)
        return;
    f->finding.count = g->failure ? 1 : g->count;
    if (g->guard.kind == RECOMPILE_SIZE && g->compile != PROFILE_NONE && g->guard.source.n > 0)
        c.inner = inner_frame_find(d, functions, g->compile);
    describe_cause(&c, f);
    find_place(f, g->file, g->line, g->code);
    find_cost(f, g->ns, BASIS_MEASURED);
    struct str earlier = recompile->n_reasons ? recompile->reasons[0].compile : STR("");
    find_evidence(d, f, "guard of %.*s that failed: %.*s", STR_ARG(earlier),
                  STR_ARG(g->guard.text));
    if (c.inner.outer.n > 0)
        describe_inner(&c, f);
    if (g->refusing)
        find_evidence(d, f,
                      "%.*s made it a symbol, but its guard %.*s refuses %lld: mark_dynamic() "
                      "does not save a compile",
                      STR_ARG(d->p->compiles[g->newest].id), STR_ARG(g->refusing->expr),
                      (long long)g->refused);
    if (g->module_call && str_starts(g->guard.source, STR("args[")))
        find_evidence(d, f, "%.*s is a positional argument of the compiled module's call",
                      STR_ARG(g->guard.source));
    if (g->inputs.n > 0)
        find_evidence(d, f, "only one of the compiles has %.*s", STR_ARG(g->inputs));
    if (holds_STATIC(&c))
        find_evidence(d, f, "torch._dynamo.config.automatic_dynamic_shapes was off");
    if (holds_SPECIALIZE_INT(&c) && g->guard.kind == RECOMPILE_VALUE)
        find_evidence(d, f, "torch._dynamo.config.specialize_int was True");
    if (holds_DUCK(&c))
        find_evidence(d, f, "duck shaping: sizes that are equal at the first call share a symbol");
    if (!g->refusing && g->dynamic && g->newest != PROFILE_NONE)
        find_evidence(d, f, "%.*s made it a symbol: other values need no compile",
                      STR_ARG(d->p->compiles[g->newest].id));
    describe_changes(&c, f);
    if (g->failure)
        describe_limit(&c, f);
}

void find_recompiles(struct finder *d)
{
    struct recompile_groups groups = { 0 };
    struct compiled_functions functions = { 0 };
    if (recompile_groups_read(d, &groups) && compiled_functions_read(d, &functions))
        for (size_t i = 0; i < groups.groups.n && !err_is_set(&d->err); i++)
            describe_group(d, &functions, &groups.groups.v[i]);
    compiled_functions_release(&functions);
    recompile_groups_release(&groups);
}
