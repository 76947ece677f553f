#include "minify/oracle/oracle_shape.h"

#include <regex.h>
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/engines.h"
#include "minify/oracle/cost.h"
#include "minify/oracle/guard_match.h"
#include "minify/oracle/shape_failure.h"
#include "trace/base/clock.h"

struct shape_oracle {
    struct oracle oracle;
    enum shape_question question;
    struct str what;
    struct injection injection;
    bool injects;
    regex_t regex;
    bool has_regex;
    struct signature signature; /* the signature for SHAPE_EXPECT without a regex */
    bool has_signature;
    struct cost_limit limit;
    cost_estimate *estimate;
    bool keeps_compound; /* of the whole graph as PyTorch compiles it */
    struct engines *engines;
    struct arena arena;
};

/* The state of one question. */
struct shape_walk {
    struct shape_oracle *oracle;
    const struct candidate *candidate;
    const struct oracle_question *asking;
    struct answer *answer;
    struct candidate *program; /* of a cost: what PyTorch compiles (cost_program()) */
    struct graph_replay *single;
    struct guard_match match;
    uint32_t seen; /* number of guards, or of nodes with failures, that were examined */
    bool found, stopped;
    bool unfit;                 /* for a cost: an input keeps an expression */
    bool failed;                /* the cost could not be estimated: the answer has the error */
    bool other;                 /* there is a failure of another kind */
    struct shape_failure first; /* the failure that is reported */
    struct arena arena;
};

/* ---- Answers ---- */

static void set_answer_text(struct answer *answer, struct str text, struct str *ret)
{
    *ret = arena_copy(&answer->arena, text);
    if (!ret->p)
        *ret = STR("");
}

static void set_shape_answer(struct shape_walk *a, enum verdict verdict,
                             const struct shape_failure *failure)
{
    struct answer *answer = a->answer;
    answer->verdict = verdict;
    if (!failure)
        return;
    set_answer_text(answer, failure->signature.kind, &answer->signature.kind);
    set_answer_text(answer, failure->signature.message, &answer->signature.message);
    set_answer_text(answer, failure->signature.op, &answer->signature.op);
    set_answer_text(answer, failure->signature.frame, &answer->signature.frame);
    set_answer_text(answer, failure->text, &answer->text);
    set_answer_text(answer, failure->node, &answer->node);
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
    return str_eq(a->kind, b->kind) && str_eq(a->message, b->message) && str_eq(a->op, b->op) &&
           str_eq(a->frame, b->frame);
}

/* ---- Failures ---- */

static bool is_expected(const struct shape_oracle *o, const struct shape_failure *failure)
{
    if (o->has_regex)
        return regexec(&o->regex, failure->text.p, 0, NULL, 0) == 0;
    return !o->has_signature || same_signature(&o->signature, &failure->signature);
}

static void check_node(struct shape_walk *a, const struct program *program, node_id id)
{
    struct shape_failure failure;
    if (a->found || !failure_of(a->single, program, id, &a->arena, &failure))
        return;
    if (is_expected(a->oracle, &failure)) {
        a->found = true;
        a->first = failure;
    } else if (!a->other) {
        a->other = true;
        a->first = failure;
    }
}

static void check_failures(struct shape_walk *a, const struct program *program)
{
    for (node_id id = 0; id < program->n_steps && !a->found; id++)
        check_node(a, program, id);
    for (uint32_t i = 0; i < program->n_children; i++)
        check_failures(a, program->children[i]);
}

/* Checks for a condition of the user's own code that could not be evaluated; no call caused it. */
static void check_root_guards(struct shape_walk *a)
{
    struct shape_failure failure = { .text = a->single->guard_error, .node = STR("") };
    if (a->found || failure.text.n == 0)
        return;
    failure.signature =
        (struct signature){ STR("refused"), failure_normalise(failure.text, &a->arena), STR(""),
                            STR("") };
    a->found = is_expected(a->oracle, &failure);
    if (a->found || !a->other)
        a->first = failure;
    a->other |= !a->found;
}

/* ---- Guards ---- */

static struct shape_failure guard_failure(struct shape_walk *a, struct str expr, uint32_t node)
{
    const struct program *in;
    const struct node *at =
        node == ENV_NODE_NONE ? NULL : program_node(a->single->program, node, &in);
    struct shape_failure ret = { .text = arena_copy(&a->arena, expr) };
    ret.signature.kind = a->oracle->oracle.name;
    ret.signature.message = failure_normalise(ret.text, &a->arena);
    ret.signature.op = ret.signature.frame = STR("");
    ret.node = at ? at->name : STR("");
    if (at)
        failure_place(in, at, &a->arena, &ret.signature);
    return ret;
}

static void find_guard(struct shape_walk *a)
{
    struct shape_env *env = a->single->env;
    guard_match_pool(&a->match, env_pool(env));
    for (uint32_t n = env_n_guards(env); a->seen < n && !a->found; a->seen++) {
        const struct env_guard *guard = env_guard_at(env, a->seen);
        if (!guard_matches(&a->match, guard->expr))
            continue;
        a->found = true;
        a->first = guard_failure(a, a->oracle->what, guard->origin.node);
    }
}

static void find_assert(struct shape_walk *a)
{
    struct shape_env *env = a->single->env;
    guard_match_pool(&a->match, env_pool(env));
    for (uint32_t i = 0; i < env_n_asserts(env) && !a->found; i++) {
        const struct env_assert *at = env_assert_at(env, i);
        if (!guard_matches(&a->match, at->expr))
            continue;
        a->found = true;
        a->first = guard_failure(a, a->oracle->what, at->origin.node);
    }
}

/* ---- Specializations ---- */

static bool is_same_failure(const struct shape_walk *a, uint32_t symbol)
{
    const struct cand_symbol *s = &a->candidate->symbols[symbol];
    return str_eq(s->name, a->oracle->what) || (s->source.n && str_eq(s->source, a->oracle->what));
}

static uint32_t specialized_by(const struct shape_walk *a, sym_id symbol)
{
    const struct shape_env *env = a->single->env;
    for (uint32_t i = 0; i < env_n_specializations(env); i++)
        if (env_specialization_at(env, i)->symbol == symbol)
            return env_specialization_at(env, i)->origin.node;
    for (uint32_t i = 0; i < env_n_replacements(env); i++)
        if (env_replacement_at(env, i)->symbol == symbol)
            return env_replacement_at(env, i)->origin.node;
    return ENV_NODE_NONE;
}

static void find_specialized(struct shape_walk *a)
{
    struct sym_pool *pool = env_pool(a->single->env);
    for (uint32_t i = 0; i < a->candidate->n_symbols && !a->found; i++) {
        sym_id symbol = a->single->symbols[i];
        if (!is_same_failure(a, i) || symbol == SYM_NONE || sym_is_number(pool, symbol))
            continue;
        sym_id now = env_replace(a->single->env, symbol);
        if (now == SYM_NONE || !sym_is_number(pool, now))
            continue;
        a->found = true;
        a->first = guard_failure(a, a->oracle->what, specialized_by(a, symbol));
    }
}

/* ---- Costs ---- */

/* Returns what the graph costs; sets a->failed if that cannot be estimated. */
static uint64_t count_cost(struct shape_walk *a)
{
    enum cost cost = a->oracle->limit.cost;
    uint64_t ms = 0;
    if (cost == GRAPH_COST_CALLS)
        return graph_counts(a->candidate->graph).calls;
    if (cost != GRAPH_COST_SECONDS)
        return cost_of_walk(a->single, a->candidate->graph).of[cost];
    if (!a->oracle->estimate(a->candidate, cost_nodes_of_walk(a->single), &ms, &a->answer->err))
        a->failed = true;
    return ms;
}

/* "its compile costs guards 12" */
static void find_cost(struct shape_walk *a)
{
    const struct cost_limit *limit = &a->oracle->limit;
    uint64_t n = count_cost(a);
    struct buf text = BUF_INIT;
    a->found = !a->failed && n >= limit->least;
    a->other = false;
    a->first = guard_failure(a, a->oracle->what, ENV_NODE_NONE);
    if (!a->found) {
        buf_printf(&text, "%s ", cost_name(limit->cost));
        cost_put(&text, limit->cost, n);
        a->first.text = arena_copy(&a->arena, buf_str(&text));
    }
    buf_release(&text);
}

/* ---- Asking ---- */

static bool shape_is_cancelled(const struct shape_walk *a)
{
    return a->asking && a->asking->cancel && atomic_load(a->asking->cancel);
}

/* Called after each call: the walk ends once the answer is known. */
static bool go_on(void *user, struct graph_replay *single, const struct step *step)
{
    struct shape_walk *a = user;
    (void)single;
    if (shape_is_cancelled(a))
        return a->stopped = true, false;
    if (a->oracle->question == SHAPE_GUARD)
        find_guard(a);
    else if (a->oracle->question == SHAPE_SPECIALIZES &&
             env_n_replacements(single->env) + env_n_specializations(single->env) != a->seen) {
        a->seen = env_n_replacements(single->env) + env_n_specializations(single->env);
        find_specialized(a);
    } else if (a->oracle->question == SHAPE_EXPECT &&
               single->program->notes[step->node].outcome > OUTCOME_MATCH) {
        check_node(a, single->program, step->node);
    }
    return !a->found;
}

/* What an input that keeps its expression costs is not what PyTorch takes. */
static bool make_program(struct shape_walk *a, struct err *err)
{
    a->candidate = a->program = cost_program(a->candidate, err);
    if (!a->program)
        return false;
    a->unfit = !a->oracle->keeps_compound && cost_keeps_compound(a->program);
    return true;
}

static bool walk_candidate(struct shape_walk *a, struct err *err)
{
    const struct injection *inject = a->oracle->injects ? &a->oracle->injection : NULL;
    bool ok = true;
    if (a->oracle->question == SHAPE_COST && a->oracle->limit.cost == GRAPH_COST_CALLS)
        return true; /* the graph alone has their number */
    a->single->more = go_on;
    a->single->more_user = a;
    guard_match_begin(&a->match, a->oracle->what);
    if (a->oracle->question == SHAPE_COST)
        ok = make_program(a, err);
    ok = ok && (a->unfit || engines_walk(a->single, a->candidate, inject, &a->arena, err));
    a->single->more = NULL;
    return ok;
}

static void judge_walk(struct shape_walk *a)
{
    switch (a->oracle->question) {
    case SHAPE_EXPECT:
        if (!a->found) {
            graph_replay_finish(a->single);
            a->other = false;
            check_failures(a, a->single->program);
            check_root_guards(a);
        }
        break;
    case SHAPE_GUARD:
        find_guard(a);
        find_assert(a);
        break;
    case SHAPE_SPECIALIZES: find_specialized(a); break;
    case SHAPE_COST:
        if (!a->unfit)
            find_cost(a);
        break;
    }
    if (a->failed)
        a->answer->verdict = a->answer->err.kind == ERR_ENV ? VERDICT_BROKEN : VERDICT_UNRESOLVED;
    else if (a->found)
        set_shape_answer(a, VERDICT_INTERESTING, &a->first);
    else if (a->other)
        set_shape_answer(a, VERDICT_OTHER, &a->first);
    else
        set_shape_answer(a, VERDICT_BORING,
                         a->oracle->question == SHAPE_COST && !a->unfit ? &a->first : NULL);
}

static void ask_shape_engine(struct oracle *oracle, const struct candidate *candidate,
                             const struct oracle_question *asking, struct answer *answer)
{
    struct shape_walk a = { .oracle = (struct shape_oracle *)oracle,
                            .candidate = candidate,
                            .asking = asking,
                            .answer = answer };
    double start = clock_seconds();
    *answer = (struct answer){ .verdict = VERDICT_BROKEN };
    answer->signature = (struct signature){ STR(""), STR(""), STR(""), STR("") };
    answer->text = answer->node = STR("");
    a.single = engines_take(a.oracle->engines, &answer->err);
    if (a.single) {
        bool walked = walk_candidate(&a, &answer->err);
        if (a.stopped)
            answer->verdict = VERDICT_UNRESOLVED;
        else if (walked)
            judge_walk(&a);
        else if (answer->err.kind != ERR_ENV)
            answer->verdict = VERDICT_UNRESOLVED;
        engines_give(a.oracle->engines, a.single);
    }
    guard_match_end(&a.match);
    candidate_free(a.program);
    arena_release(&a.arena);
    answer->seconds = clock_seconds() - start;
}

/* ---- Construction ---- */

static void free_shape_engine(struct oracle *oracle)
{
    struct shape_oracle *o = (struct shape_oracle *)oracle;
    if (o->has_regex)
        regfree(&o->regex);
    engines_release(o->engines);
    arena_release(&o->arena);
    free(o);
}

static bool read_regex(struct shape_oracle *o, struct err *err)
{
    char why[200];
    int code = regcomp(&o->regex, o->what.p, REG_EXTENDED | REG_NOSUB);
    o->has_regex = code == 0;
    if (code == 0)
        return true;
    regerror(code, &o->regex, why, sizeof why);
    return err_set(err, ERR_USAGE, "--error: \"%.*s\": %s", STR_ARG(o->what), why);
}

static bool check_symbol_known(const struct shape_oracle *o, const struct candidate *whole,
                               struct err *err)
{
    for (uint32_t i = 0; i < whole->n_symbols; i++)
        if (str_eq(whole->symbols[i].name, o->what) || str_eq(whole->symbols[i].source, o->what))
            return true;
    return err_set(err, ERR_USAGE, "--specializes: the graph has no symbol %.*s", STR_ARG(o->what));
}

/* Stores the signature of the first failure of the whole graph. */
static bool find_shape_signature(struct shape_oracle *o, const struct candidate *whole,
                                 struct err *err)
{
    struct answer answer;
    ask_shape_engine(&o->oracle, whole, NULL, &answer);
    bool ok = answer.verdict != VERDICT_BROKEN;
    if (!ok)
        *err = answer.err;
    o->has_signature = answer.verdict == VERDICT_INTERESTING;
    o->signature.kind = arena_copy(&o->arena, answer.signature.kind);
    o->signature.message = arena_copy(&o->arena, answer.signature.message);
    o->signature.op = arena_copy(&o->arena, answer.signature.op);
    o->signature.frame = arena_copy(&o->arena, answer.signature.frame);
    answer_release(&answer);
    return ok;
}

/* An estimate replays the graph anew, in the order of PyTorch's passes. */
static bool has_estimate(struct shape_oracle *o, struct err *err)
{
    o->oracle.cheap = o->limit.cost != GRAPH_COST_SECONDS;
    return o->oracle.cheap || o->estimate ||
           err_set(err, ERR_USAGE, "--cost: seconds are not known");
}

static bool read_program(struct shape_oracle *o, const struct candidate *whole, struct err *err)
{
    struct candidate *program = cost_program(whole, err);
    o->keeps_compound = program && cost_keeps_compound(program);
    candidate_free(program);
    return program != NULL;
}

static bool read_shape_question(struct shape_oracle *o, const struct candidate *whole,
                                struct err *err)
{
    switch (o->question) {
    case SHAPE_EXPECT: return o->what.n ? read_regex(o, err) : find_shape_signature(o, whole, err);
    case SHAPE_GUARD: return guard_match_check(o->what, err);
    case SHAPE_SPECIALIZES: return check_symbol_known(o, whole, err);
    case SHAPE_COST:
        return cost_read(o->what, &o->limit, err) &&
               (o->limit.has_least || err_set(err, ERR_USAGE, "--cost: a number is missing: %s>=N",
                                              cost_name(o->limit.cost))) &&
               has_estimate(o, err) && read_program(o, whole, err);
    }
    return false;
}

/* Returns an identifier that changes whenever an answer could change. */
static bool make_shape_id(struct shape_oracle *o, const struct shape_options *options)
{
    static const char *const names[] = { "expect", "guard", "specializes", "cost" };
    struct buf id = BUF_INIT;
    int version = o->question == SHAPE_COST ? 3 : 1; /* what a journal may have answers of */
    o->oracle.name = str_of(names[o->question]);
    buf_printf(&id, "shape %d %s %.*s\n%.*s\n%.*s\n%.*s\n%.*s\n%.*s", version, names[o->question],
               STR_ARG(o->what), STR_ARG(options->inject), STR_ARG(o->signature.kind),
               STR_ARG(o->signature.message), STR_ARG(o->signature.op),
               STR_ARG(o->signature.frame));
    o->oracle.id = arena_copy(&o->arena, buf_str(&id));
    bool ok = !id.failed && o->oracle.id.p;
    buf_release(&id);
    return ok;
}

struct oracle *oracle_shape(const struct shape_options *options, const struct candidate *whole,
                            struct err *err)
{
    struct shape_oracle *o = calloc(1, sizeof *o);
    if (!o)
        return err_nomem(err), NULL;
    o->oracle = (struct oracle){ .ask = ask_shape_engine,
                                 .free = free_shape_engine,
                                 .deterministic = true,
                                 .cheap = true,
                                 .name = STR("shape"),
                                 .id = STR("") };
    o->question = options->question;
    o->estimate = options->estimate;
    o->what = arena_copy(&o->arena, options->what);
    o->signature = (struct signature){ STR(""), STR(""), STR(""), STR("") };
    o->engines = engines_hold(data_of(whole)->texts->engines);
    struct str inject = arena_copy(&o->arena, options->inject);
    bool ok = (o->what.p && inject.p) || err_nomem(err);
    if (ok && inject.n)
        ok = o->injects = injection_parse(&o->injection, inject, err);
    if (ok && read_shape_question(o, whole, err) && (make_shape_id(o, options) || err_nomem(err)))
        return &o->oracle;
    free_shape_engine(&o->oracle);
    return NULL;
}
