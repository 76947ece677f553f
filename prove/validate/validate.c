/* The facts and claims of an attempt, and what becomes of the claims. */
#include "prove/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>

#include "prove/validate/unbounded.h"
#include "replay/replay.h"
#include "replay/shape/env/env.h"
#include "trace/base/clock.h"
#include "trace/base/vec.h"
#include "trace/events/symbols.h"

/* Steps bound the work, so that a verdict does not depend on the machine. */
static const struct decide_limits LITTLE = { .steps = 20000, .ns = 5000000000 };

enum { MAX_CONFIRMED = 16 }; /* attempts whose counterexamples are replayed */
static const struct decide_limits NOTHING = { 0 };

const char *claim_kind_name(enum claim_kind kind)
{
    static const char *const names[CLAIM_KINDS] = {
        [CLAIM_GUARDED] = "guarded",
        [CLAIM_KNOWN] = "known",
        [CLAIM_REPLACEMENT] = "replacement",
        [CLAIM_RANGE] = "range",
        [CLAIM_SPECIALIZATION] = "specialization",
    };
    return kind < CLAIM_KINDS ? names[kind] : "";
}

enum decide_verdict validate_attempt_verdict(const struct validate_attempt *a)
{
    enum decide_verdict ret = DECIDE_PROVED;
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        if (a->refuted[kind])
            return DECIDE_REFUTED;
        if (a->proved[kind] < a->claims[kind])
            ret = DECIDE_UNDECIDED;
    }
    return ret;
}

uint64_t validate_attempt_decided(const struct validate_attempt *a)
{
    return a->proved[CLAIM_GUARDED] + a->refuted[CLAIM_GUARDED];
}

/* ---- One attempt ---- */

/* What the observer returns of an attempt. */
struct study {
    struct validate_attempt result;
    vec_of(struct validate_finding)
    findings;
    vec_of(struct validate_redundant)
    redundant;
    vec_of(struct validate_assert)
    asserts;
    vec_of(struct validate_unbounded)
    unbounded;
    struct arena arena;
};

struct validator {
    const struct validate_options *options;
    const struct symbol_table *table;
    struct study *study;
    const struct replay_end *end;
    struct shape_env *env;
    struct sym_pool *pool;
    struct decider *decider;
    bool trusted; /* the facts are true at the sizes with which the program was traced */
    const struct env_event *event; /* of the claim at hand, or NULL */
    uint64_t start, steps;
    uint32_t z3_undecided; /* questions */
    bool failed;           /* out of memory */
};

static void study_free(struct study *study)
{
    if (!study)
        return;
    vec_release(&study->findings);
    vec_release(&study->redundant);
    vec_release(&study->asserts);
    vec_release(&study->unbounded);
    arena_release(&study->arena);
    free(study);
}

static void drop_study(void *observed)
{
    study_free(observed);
}

static bool fail(struct validator *v)
{
    v->failed = true;
    return false;
}

static struct str keep(struct validator *v, struct str text)
{
    struct str ret = arena_copy(&v->study->arena, text);
    v->failed |= !ret.p;
    return ret;
}

static struct str printed(struct validator *v, sym_id e)
{
    struct buf text = BUF_INIT;
    struct err ignored = { 0 };
    sym_print(v->pool, e, &text);
    sym_ok(v->pool, &ignored);
    v->failed |= text.failed;
    struct str ret = keep(v, buf_str(&text));
    buf_release(&text);
    return ret;
}

/* A bound beyond DECIDE_MOST is none for a decider: sys.maxsize - 1, that of counts such as
 * nonzero()'s, says that they fit into 64 bits. */
static struct decide_range range_of(struct validator *v, struct sym_range range)
{
    struct decide_range ret = DECIDE_RANGE_ANY;
    if (!sym_range_ok(range) || sym_range_kind_of(v->pool, range) != SYM_RANGE_INT)
        return ret;
    sym_to_i64(v->pool, range.lower, &ret.lower);
    sym_to_i64(v->pool, range.upper, &ret.upper);
    if (ret.lower < -DECIDE_MOST)
        ret.lower = DECIDE_NO_LOWER;
    if (ret.upper > DECIDE_MOST)
        ret.upper = DECIDE_NO_UPPER;
    return ret;
}

/* Returns whether an entry is a guard or an assert that the compiled function checks. */
static bool is_checked(const struct guard_entry *entry)
{
    return entry->guard && entry->expr != SYM_NONE &&
           (entry->guard->kind == GUARD_EVAL || entry->guard->kind == GUARD_RUNTIME_ASSERT);
}

static bool add_ranges(struct validator *v, struct decider *d)
{
    for (uint32_t i = 0; i < env_n_events(v->env); i++) {
        const struct env_event *event = env_event_at(v->env, i);
        if ((event->kind == ENV_EVENT_SYMBOL || event->kind == ENV_EVENT_GIVEN_RANGE) &&
            !decider_symbol(d, event->expr, range_of(v, event->range)))
            return fail(v);
    }
    return true;
}

/* A renamed unbacked symbol is the other one: it is no consequence of a guard. */
static bool is_definition(const struct env_event *event)
{
    return event->reason && (str_eq(str_of(event->reason), STR("rename_unbacked_to")) ||
                             str_eq(str_of(event->reason), STR("rename_unbacked_to_dest")) ||
                             str_eq(str_of(event->reason), STR("eliminate_unbacked")));
}

static bool add_facts(struct validator *v)
{
    struct validate_attempt *a = &v->study->result;
    if (!add_ranges(v, v->decider))
        return false;
    for (uint32_t i = 0; i < v->end->log->n_recorded; i++) {
        const struct guard_entry *entry = &v->end->log->entries.v[i];
        a->guards += entry->guard->kind == GUARD_EVAL;
        a->asserted += entry->guard->kind == GUARD_RUNTIME_ASSERT;
        a->unread += entry->expr == SYM_NONE;
        if (is_checked(entry) && !decider_fact(v->decider, entry->expr))
            return fail(v);
        /* A float is recorded with fewer digits than its guard has. */
        if (is_checked(entry) && entry->added != SYM_NONE && !entry->denied &&
            entry->added != entry->expr && !decider_fact(v->decider, entry->added))
            return fail(v);
    }
    for (uint32_t i = 0; i < env_n_events(v->env); i++) {
        const struct env_event *event = env_event_at(v->env, i);
        bool ok = true;
        if (event->kind == ENV_EVENT_REPLACEMENT && is_definition(event))
            ok = decider_fact(v->decider, sym_eq(v->pool, event->expr, event->value));
        else if (event->kind == ENV_EVENT_ASSERT)
            ok = decider_fact(v->decider, event->expr);
        if (!ok)
            return fail(v);
    }
    return true;
}

/* Trusts the facts if none of them is false at the sizes with which the program was traced. */
static bool trust_facts(struct validator *v)
{
    uint32_t n = env_n_symbols(v->env), n_values = 0;
    struct decide_value *values = calloc((size_t)n + 1, sizeof *values);
    if (!values)
        return fail(v);
    for (uint32_t i = 0; i < n; i++) {
        sym_id symbol = env_symbol_at(v->env, i), hint = env_hint(v->env, symbol);
        if (hint != SYM_NONE && sym_to_i64(v->pool, hint, &values[n_values].value))
            values[n_values++].symbol = symbol;
    }
    env_raised(v->env);
    bool ok = true, trusted = true;
    for (uint32_t i = 0; i < v->end->log->n_recorded && ok && trusted; i++) {
        struct decide_result result;
        if (!is_checked(&v->end->log->entries.v[i]))
            continue;
        ok =
            decider_evaluate(v->decider, v->end->log->entries.v[i].expr, values, n_values, &result);
        trusted =
            result.kind == DECIDE_NO_VALUE || (result.kind == DECIDE_INTEGER && result.integer);
    }
    free(values);
    v->trusted = ok && trusted;
    if (v->trusted)
        decider_trust_facts(v->decider);
    return ok || fail(v);
}

/* ---- Claims ---- */

static const struct validate_value *keep_values(struct validator *v,
                                                const struct decide_answer *answer)
{
    struct validate_value *ret =
        arena_array(&v->study->arena, struct validate_value, answer->n_values + 1);
    if (!ret)
        return fail(v), NULL;
    for (uint32_t i = 0; i < answer->n_values; i++)
        ret[i] =
            (struct validate_value){ .symbol = keep(v, sym_name(v->pool, answer->values[i].symbol)),
                                     .source =
                                         keep(v, env_source(v->env, answer->values[i].symbol)),
                                     .value = answer->values[i].value };
    return ret;
}

static const struct guard *recorded_guard(const struct validator *v, sym_id expr)
{
    for (uint32_t i = 0; i < v->end->log->n_recorded; i++)
        if (v->end->log->entries.v[i].expr == expr)
            return v->end->log->entries.v[i].guard;
    return NULL;
}

static struct decide_limits limits_now(const struct validator *v)
{
    const uint64_t most = v->options->attempt_steps;
    if (v->options->limits.only_z3)
        return v->options->limits;
    struct decide_limits ret = v->steps > 2 * most ? NOTHING
                               : v->steps > most   ? LITTLE
                                                   : v->options->limits;
    if (v->z3_undecided >= DECIDE_MAX_Z3_UNDECIDED)
        ret.z3 = NULL;
    return ret;
}

/* Asks one of the attempt's questions, with the limits that are left. */
static bool ask(struct validator *v, struct decider *d, sym_id goal, struct decide_answer *ret)
{
    struct decide_limits limits = limits_now(v);
    if (!decide(d, goal, &limits, ret))
        return fail(v);
    v->steps += ret->steps;
    v->z3_undecided += ret->z3 != Z3_NOT_ASKED && ret->verdict == DECIDE_UNDECIDED;
    return true;
}

static bool check_claim(struct validator *v, enum claim_kind kind, sym_id claim,
                        struct env_origin origin)
{
    struct validate_attempt *a = &v->study->result;
    struct decide_answer answer;
    struct err ignored = { 0 };
    if (claim == SYM_NONE) {
        sym_ok(v->pool, &ignored);
        return !sym_short_of_memory(v->pool) || fail(v);
    }
    if (claim == SYM_ID_TRUE)
        return true;
    if (!ask(v, v->decider, claim, &answer))
        return false;
    a->claims[kind]++;
    a->proved[kind] += answer.verdict == DECIDE_PROVED;
    a->refuted[kind] += answer.verdict == DECIDE_REFUTED;
    a->z3_asked += answer.z3 != Z3_NOT_ASKED;
    a->z3_decided += answer.verdict != DECIDE_UNDECIDED && answer.method == DECIDE_BY_Z3;
    if (answer.verdict == DECIDE_PROVED) {
        a->by_method[answer.method]++;
        return true;
    }
    if (v->study->findings.n == VALIDATE_MAX_FINDINGS)
        return true;
    struct replay_place place = replay_place_of(v->end, origin);
    struct validate_finding finding = {
        .kind = kind,
        .verdict = answer.verdict,
        .claim = printed(v, claim),
        .node = place.node,
        .rule = keep(v, str_of(origin.rule ? origin.rule : "")),
        .guard = recorded_guard(v, claim),
        .ref = place.ref,
        .location_graph = place.location_graph,
        .location = place.location,
        .user_stack = place.ref == TRACE_NONE ? origin.user_stack : 0,
        .values = keep_values(v, &answer),
        .n_values = answer.n_values,
        .smallest = answer.smallest,
        .raises = answer.raises,
        .no_values = answer.no_values,
        .method = answer.method,
        .z3 = answer.z3,
        .points = answer.points,
        .ns = answer.ns,
    };
    if (v->event && (kind == CLAIM_GUARDED || kind == CLAIM_KNOWN)) {
        finding.question = printed(v, v->event->expr);
        finding.answer = printed(v, v->event->value);
    }
    return !v->failed && (vec_push(&v->study->findings, finding) || fail(v));
}

/* The condition that a question has its answer. */
static sym_id answer_claim(struct sym_pool *pool, sym_id question, sym_id answer)
{
    return answer == SYM_ID_TRUE    ? question
           : answer == SYM_ID_FALSE ? sym_not(pool, question)
                                    : sym_eq(pool, question, answer);
}

static sym_id range_claim(struct validator *v, const struct env_event *event)
{
    struct decide_range range = range_of(v, event->range);
    sym_id lower = range.lower == DECIDE_NO_LOWER
                       ? SYM_ID_TRUE
                       : sym_ge(v->pool, event->expr, sym_integer(v->pool, range.lower));
    sym_id upper = range.upper == DECIDE_NO_UPPER
                       ? SYM_ID_TRUE
                       : sym_le(v->pool, event->expr, sym_integer(v->pool, range.upper));
    return sym_and(v->pool, lower, upper);
}

static bool check_event(struct validator *v, const struct env_event *event)
{
    switch (event->kind) {
    case ENV_EVENT_GUARDED:
        return check_claim(v, CLAIM_GUARDED, answer_claim(v->pool, event->expr, event->value),
                           event->origin);
    case ENV_EVENT_STATIC:
        return check_claim(v, CLAIM_KNOWN, answer_claim(v->pool, event->expr, event->value),
                           event->origin);
    case ENV_EVENT_REPLACEMENT:
        return is_definition(event) ||
               check_claim(v, CLAIM_REPLACEMENT, sym_eq(v->pool, event->expr, event->value),
                           event->origin);
    case ENV_EVENT_RANGE: return check_claim(v, CLAIM_RANGE, range_claim(v, event), event->origin);
    default: return true;
    }
}

static bool check_claims(struct validator *v)
{
    for (uint32_t i = 0; i < env_n_events(v->env) && !v->failed; i++) {
        struct env_event event = *env_event_at(v->env, i);
        v->event = &event;
        check_event(v, &event);
    }
    v->event = NULL;
    for (uint32_t i = 0; i < v->table->n_specializations && !v->failed; i++) {
        const struct specialization *s = &v->table->specializations[i];
        struct env_origin origin = {
            .graph = ENV_NODE_NONE, .node = ENV_NODE_NONE, .user_stack = s->user_stack, .rule = ""
        };
        struct err ignored = { 0 };
        if (s->attempt != v->end->attempt)
            continue;
        sym_id symbol = sym_symbol_find(v->pool, s->symbol);
        sym_id value = sym_parse(v->pool, s->value, sym_by_name, NULL);
        sym_ok(v->pool, &ignored);
        if (symbol != SYM_NONE && value != SYM_NONE)
            check_claim(v, CLAIM_SPECIALIZATION, sym_eq(v->pool, symbol, value), origin);
    }
    return !v->failed;
}

/* ---- Guards that others imply ---- */

/* Takes the guards one by one, in their order or from the last on, and keeps those that the ones
 * kept so far do not imply. implied: by entry. */
static bool find_implied(struct validator *v, bool backward, bool *implied)
{
    const struct guard_log *log = v->end->log;
    struct err ignored = { 0 };
    struct decider *d = decider_new(v->pool, &ignored);
    bool ok = d && add_ranges(v, d);
    for (uint32_t i = 0; i < log->n_recorded && ok; i++) {
        uint32_t at = backward ? log->n_recorded - 1 - i : i;
        const struct guard_entry *entry = &log->entries.v[at];
        struct decide_answer answer;
        if (!is_checked(entry) || entry->guard->kind != GUARD_EVAL || implied[at])
            continue;
        const struct decide_limits limits =
            v->steps > 2 * v->options->attempt_steps ? NOTHING : LITTLE;
        ok = decide(d, entry->expr, &limits, &answer);
        v->steps += ok ? answer.steps : 0;
        if (ok && answer.verdict == DECIDE_PROVED) {
            struct validate_redundant row = { entry->guard,
                                              backward ? IMPLIED_BY_LATER : IMPLIED_BY_EARLIER };
            implied[at] = true;
            ok = vec_push(&v->study->redundant, row);
        } else if (ok) {
            ok = decider_fact(d, entry->expr);
        }
    }
    decider_free(d);
    return ok || fail(v);
}

/* The guards of which none is implied by those on one side of it only. */
struct mixed_guards {
    struct validator *v;
    struct decider *d;
    const uint32_t *at; /* the entries of the log */
    bool *implied;      /* by entry */
};

static bool add_others(struct mixed_guards *m, uint32_t from, uint32_t to)
{
    bool ok = true;
    for (uint32_t i = from; i < to && ok; i++)
        ok = m->implied[m->at[i]] || decider_fact(m->d, m->v->end->log->entries.v[m->at[i]].expr);
    return ok;
}

/* Asks for each guard of a part whether the facts imply it, which are all the guards outside of the
 * part: a half has those of the other half, too. Each step halves the part, so that the recursion
 * is as deep as the number of guards has bits. */
static bool find_mixed(struct mixed_guards *m, uint32_t from, uint32_t to)
{
    struct validator *v = m->v;
    if (to - from == 1) {
        const struct guard_entry *entry = &v->end->log->entries.v[m->at[from]];
        struct validate_redundant row = { entry->guard, IMPLIED_BY_BOTH };
        struct decide_answer answer;
        if (v->steps > 2 * v->options->attempt_steps)
            return true;
        if (!decide(m->d, entry->expr, &LITTLE, &answer))
            return false;
        v->steps += answer.steps;
        m->implied[m->at[from]] = answer.verdict == DECIDE_PROVED;
        return !m->implied[m->at[from]] || vec_push(&v->study->redundant, row);
    }
    uint32_t middle = from + (to - from) / 2, mark = decider_mark(m->d);
    bool ok = add_others(m, middle, to) && find_mixed(m, from, middle);
    decider_forget(m->d, mark);
    ok = ok && add_others(m, from, middle) && find_mixed(m, middle, to);
    decider_forget(m->d, mark);
    return ok;
}

/* Finds the guards that those before them and after them imply together. */
static bool find_implied_by_both(struct validator *v, bool *implied)
{
    const struct guard_log *log = v->end->log;
    struct err ignored = { 0 };
    uint32_t *at = calloc((size_t)log->n_recorded + 1, sizeof *at), n = 0;
    struct mixed_guards m = { v, decider_new(v->pool, &ignored), at, implied };
    bool ok = at && m.d && add_ranges(v, m.d);
    for (uint32_t i = 0; ok && i < log->n_recorded; i++)
        if (is_checked(&log->entries.v[i]) && log->entries.v[i].guard->kind == GUARD_EVAL &&
            !implied[i])
            at[n++] = i;
    ok = ok && (n < 3 || find_mixed(&m, 0, n));
    decider_free(m.d);
    free(at);
    return ok;
}

static bool find_redundant(struct validator *v)
{
    v->steps = 0;
    bool *implied = calloc((size_t)v->end->log->n_recorded + 1, sizeof *implied);
    bool ok = implied && find_implied(v, false, implied) && find_implied(v, true, implied) &&
              find_implied_by_both(v, implied);
    free(implied);
    return ok || fail(v);
}

/* ---- Asserts ---- */

/* Asks for each assert whether guards and ranges imply it, or with which values it fails. */
static bool check_asserts(struct validator *v)
{
    const struct guard_log *log = v->end->log;
    struct err ignored = { 0 };
    struct decider *d = decider_new(v->pool, &ignored);
    bool ok = d && add_ranges(v, d);
    for (uint32_t i = 0; i < log->n_recorded && ok; i++)
        if (is_checked(&log->entries.v[i]) && log->entries.v[i].guard->kind == GUARD_EVAL)
            ok = decider_fact(d, log->entries.v[i].expr);
    if (ok && v->trusted) /* these are some of the facts */
        decider_trust_facts(d);
    for (uint32_t i = 0; i < log->n_recorded && ok; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        struct decide_answer answer;
        if (!is_checked(entry) || entry->guard->kind != GUARD_RUNTIME_ASSERT)
            continue;
        ok = ask(v, d, entry->expr, &answer);
        if (!ok)
            break;
        struct validate_assert row = { .guard = entry->guard,
                                       .verdict = answer.verdict,
                                       .values = keep_values(v, &answer),
                                       .n_values = answer.n_values };
        ok = !v->failed && vec_push(&v->study->asserts, row);
    }
    decider_free(d);
    return ok || fail(v);
}

static bool add_unbounded(struct validator *v, const struct symbol *symbol, bool is_replayed)
{
    struct validate_unbounded row = { .symbol = keep(v, symbol->name),
                                      .user_stack = symbol->user_stack,
                                      .is_replayed = is_replayed };
    return !v->failed && (vec_push(&v->study->unbounded, row) || fail(v));
}

/* Lists recorded unbacked symbols that may be negative as far as guards, asserts and ranges say.
 * The replay of a compile that failed has no graph, and so none of its unbacked symbols. */
static bool find_unbounded(struct validator *v)
{
    for (uint32_t i = 0; i < v->table->n_symbols && !v->failed; i++) {
        const struct symbol *s = &v->table->symbols[i];
        struct decide_answer answer;
        struct err ignored = { 0 };
        if (s->attempt != v->end->attempt || !s->unbacked || !s->user_stack)
            continue;
        sym_id symbol = sym_by_name(NULL, v->pool, s->name);
        bool is_replayed = symbol != SYM_NONE && env_is_unbacked(v->env, symbol);
        if (symbol != SYM_NONE && (sym_ask(v->pool, symbol, SYM_ASK_INTEGER) != SYM_YES ||
                                   (!is_replayed && !str_starts(s->range, STR("[-")))))
            continue;
        sym_id bounded = symbol == SYM_NONE ? SYM_NONE : sym_ge(v->pool, symbol, SYM_ID_ZERO);
        if (bounded == SYM_NONE)
            return sym_ok(v->pool, &ignored), fail(v);
        if (ask(v, v->decider, bounded, &answer) && answer.verdict == DECIDE_REFUTED)
            add_unbounded(v, s, is_replayed);
    }
    return !v->failed;
}

/* ---- The observer ---- */

struct validate_run {
    const struct validate_options *options;
    const struct symbol_table *table;
    vec_of(struct study *)
    studies;
};

static bool find_contradiction(struct validator *v)
{
    struct decide_answer answer;
    struct decide_limits limits = v->options->limits;
    if (!limits.only_z3)
        limits.z3 = NULL; /* many questions for the smallest sizes, which nobody needs */
    if (!decide(v->decider, SYM_ID_FALSE, &limits, &answer))
        return fail(v);
    v->study->result.contradictory = answer.verdict == DECIDE_PROVED;
    return true;
}

static void *study_attempt(void *user, const struct replay_end *end, struct err *err)
{
    const struct validate_run *run = user;
    struct study *study = calloc(1, sizeof *study);
    struct validator v = { .options = run->options,
                           .table = run->table,
                           .study = study,
                           .end = end,
                           .env = end->env,
                           .pool = env_pool(end->env),
                           .start = clock_ns() };
    if (!study)
        return err_nomem(err), NULL;
    study->result.attempt = end->attempt;
    study->result.partial = end->partial;
    v.decider = decider_new(v.pool, err);
    bool ok = v.decider && add_facts(&v) && trust_facts(&v) && check_claims(&v) &&
              check_asserts(&v) && find_unbounded(&v) && find_contradiction(&v) &&
              (!run->options->redundant || find_redundant(&v));
    decider_free(v.decider);
    struct err ignored = { 0 };
    sym_ok(v.pool, &ignored);
    ok = ok && !sym_short_of_memory(v.pool) && !env_short_of_memory(v.env);
    study->result.ns = clock_ns() - v.start;
    if (ok && !v.failed)
        return study;
    study_free(study);
    err_nomem(err);
    return NULL;
}

static bool take_study(void *user, uint32_t attempt, void *observed)
{
    struct validate_run *run = user;
    struct study *study = observed;
    if (!study)
        return true;
    if (attempt == TRACE_NONE || !vec_push(&run->studies, study)) {
        study_free(study);
        return attempt == TRACE_NONE;
    }
    study->result.findings = study->findings.v;
    study->result.n_findings = study->findings.n;
    study->result.redundant = study->redundant.v;
    study->result.n_redundant = study->redundant.n;
    study->result.asserts = study->asserts.v;
    study->result.n_asserts = study->asserts.n;
    study->result.unbounded = study->unbounded.v;
    study->result.n_unbounded = study->unbounded.n;
    return true;
}

/* ---- Counterexamples, replayed ---- */

struct confirmation {
    struct validate_finding *finding;
    struct arena *arena;
    uint32_t attempt;
};

/* Looks for the question among those of a replay with other sizes. */
static void *find_answer(void *user, const struct replay_end *end, struct err *err)
{
    struct confirmation *c = user;
    struct sym_pool *pool = env_pool(end->env);
    struct buf text = BUF_INIT;
    struct err ignored = { 0 };
    bool is_it = end->attempt == c->attempt;
    for (uint32_t i = 0; is_it && i < env_n_events(end->env) && !c->finding->replayed.n; i++) {
        const struct env_event *event = env_event_at(end->env, i);
        if (event->kind != ENV_EVENT_GUARDED && event->kind != ENV_EVENT_STATIC)
            continue;
        buf_clear(&text);
        sym_print(pool, event->expr, &text);
        if (!str_eq(buf_str(&text), c->finding->question))
            continue;
        buf_clear(&text);
        sym_print(pool, event->value, &text);
        if (text.failed || str_eq(buf_str(&text), c->finding->answer))
            continue;
        c->finding->replayed = arena_copy(c->arena, buf_str(&text));
        text.failed |= !c->finding->replayed.p;
    }
    sym_ok(pool, &ignored);
    bool failed = text.failed || sym_short_of_memory(pool);
    buf_release(&text);
    return failed ? (err_nomem(err), NULL) : c;
}

static void drop_nothing(void *observed)
{
    (void)observed;
}

static bool take_nothing(void *user, uint32_t attempt, void *observed)
{
    (void)user;
    (void)attempt;
    (void)observed;
    return true;
}

/* Replays the attempt with the values of a counterexample. A replay that is refused, as for symbols
 * that are no sizes of inputs, confirms nothing. */
static bool confirm(struct trace *trace, const struct validate_options *options,
                    struct study *study, struct validate_finding *finding, struct err *err)
{
    const struct attempt *attempt = &trace->attempts[study->result.attempt];
    struct confirmation c = { finding, &study->arena, study->result.attempt };
    struct replay_observer observer = { find_answer, drop_nothing, take_nothing, &c };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    struct input_set *sets = arena_array(&study->arena, struct input_set, finding->n_values + 1);
    if (!sets)
        return err_nomem(err);
    for (uint32_t i = 0; i < finding->n_values; i++) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)finding->values[i].value);
        sets[i] = (struct input_set){ finding->values[i].symbol,
                                      arena_copy(&study->arena, str_of(text)) };
        if (!sets[i].value.p)
            return err_nomem(err);
    }
    how.selector = options->selector;
    how.selector.compile = attempt->compile;
    how.selector.attempt = attempt->number;
    how.selector.kind = (struct str){ 0 };
    how.changes.sets = sets;
    how.changes.n_sets = finding->n_values;
    how.observer = &observer;
    struct err why = { 0 };
    struct replay *replay = replay_trace(trace, &how, &why);
    bool ok = !why.no_memory || (*err = why, false);
    for (size_t i = 0; replay && i < replay->n_differences && !finding->replayed.n; i++) {
        const struct replay_difference *d = &replay->differences[i];
        finding->refused = d->outcome == OUTCOME_REFUSED && str_eq(d->node, finding->node);
        if (finding->refused)
            finding->replayed = arena_copy(&study->arena, d->replayed);
        ok = ok && (!finding->refused || finding->replayed.p || err_nomem(err));
    }
    replay_free(replay);
    return ok;
}

static bool confirm_first(struct trace *trace, const struct validate_options *options,
                          struct study *study, struct err *err)
{
    for (size_t i = 0; i < study->findings.n; i++) {
        struct validate_finding *finding = &study->findings.v[i];
        if (finding->verdict == DECIDE_REFUTED && finding->question.n && finding->n_values)
            return confirm(trace, options, study, finding, err);
    }
    return true;
}

/* ---- A trace ---- */

/* The public part comes first. */
struct validation_of {
    struct validation shown;
    struct study **studies;
};

static struct validation *make_validation(struct validate_run *run, struct err *err)
{
    struct validation_of *ret = calloc(1, sizeof *ret);
    struct validate_attempt **attempts = calloc(run->studies.n + 1, sizeof *attempts);
    if (!ret || !attempts) {
        free(ret);
        free(attempts);
        return err_nomem(err), NULL;
    }
    for (size_t i = 0; i < run->studies.n; i++)
        attempts[i] = &run->studies.v[i]->result;
    ret->shown = (struct validation){ attempts, run->studies.n };
    ret->studies = run->studies.v;
    return &ret->shown;
}

struct validation *validate_trace(struct trace *trace, const struct validate_options *options,
                                  struct err *err)
{
    struct validate_run run = { .options = options, .table = trace_symbols(trace, err) };
    if (!run.table)
        return NULL;
    struct replay_observer observer = { study_attempt, drop_study, take_study, &run };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.selector = options->selector;
    how.jobs = options->jobs;
    how.observer = &observer;
    struct replay *replay = replay_trace(trace, &how, err);
    bool ok = replay != NULL;
    replay_free(replay);
    for (size_t i = 0; i < run.studies.n && i < MAX_CONFIRMED && ok; i++)
        ok = confirm_first(trace, options, run.studies.v[i], err);
    for (size_t i = 0; i < run.studies.n && ok; i++) {
        struct study *s = run.studies.v[i];
        ok = unbounded_describe(trace, s->result.attempt, s->unbounded.v, &s->unbounded.n,
                                &s->arena) ||
             err_nomem(err);
        s->result.n_unbounded = s->unbounded.n;
    }
    struct validation *ret = ok ? make_validation(&run, err) : NULL;
    if (!ret) {
        for (size_t i = 0; i < run.studies.n; i++)
            study_free(run.studies.v[i]);
        vec_release(&run.studies);
    }
    return ret;
}

void validation_free(struct validation *v)
{
    if (!v)
        return;
    struct validation_of *of = (struct validation_of *)v;
    for (size_t i = 0; i < v->n_attempts; i++)
        study_free(of->studies[i]);
    free(of->studies);
    free(v->attempts);
    free(of);
}
