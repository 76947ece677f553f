/* Which recorded guards are true for one of two values and false for the other. */
#include "profile/why/why_build.h"

enum { SHARED_NOTED = 4 };

struct why_comparison {
    struct why_build *b;
    const struct why_attempt *a;
    const struct why_size *size;
    struct replay_state state;
    sym_id symbol;
    sym_id values[2];
    vec_of(struct sym_pair)
    others; /* the other symbols' values */
};

static bool add_difference(struct why_comparison *c, struct why_difference difference,
                           struct err *err)
{
    difference.attempt = c->a->attempt;
    return vec_push(&c->b->differences, difference) || err_nomem(err);
}

/* ---- Values ---- */

static const struct why_set *set_of(const struct why_comparison *c, const struct symbol *symbol)
{
    for (size_t i = 0; i < c->b->options->n_sets; i++) {
        const struct why_set *set = &c->b->options->sets[i];
        if (why_is_named(c->b, symbol, set->name))
            return set;
    }
    return NULL;
}

static bool read_others(struct why_comparison *c, struct err *err)
{
    struct sym_pool *pool = env_pool(c->state.env);
    for (uint32_t i = 0; i < c->b->symbols->n_symbols; i++) {
        const struct symbol *s = &c->b->symbols->symbols[i];
        if (s->attempt != c->a->attempt || str_eq(s->name, c->size->symbol))
            continue;
        const struct why_set *set = set_of(c, s);
        sym_id value = replay_state_number(pool, set ? set->value : s->value);
        struct sym_pair pair = { replay_state_resolve(&c->state, pool, s->name), value };
        if (value != SYM_NONE && !vec_push(&c->others, pair))
            return err_nomem(err);
    }
    return true;
}

/* Returns the value of a condition, SYM_ID_TRUE or SYM_ID_FALSE, or SYM_NONE. */
static sym_id evaluate(struct why_comparison *c, sym_id expr, int which)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(c->state.env);
    c->others.v[0] = (struct sym_pair){ c->symbol, c->values[which] };
    sym_id ret = sym_replace(pool, expr, c->others.v, (uint32_t)c->others.n);
    sym_ok(pool, &ignored);
    return ret == SYM_ID_TRUE || ret == SYM_ID_FALSE ? ret : SYM_NONE;
}

/* ---- Guards ---- */

static bool compare_guard(struct why_comparison *c, const struct guard *guard, struct err *err)
{
    if (!why_mentions(guard->expr, c->size->symbol))
        return true;
    sym_id expr = why_env_parse(&c->state, guard->expr);
    sym_id first = expr == SYM_NONE ? SYM_NONE : evaluate(c, expr, 0);
    sym_id second = expr == SYM_NONE ? SYM_NONE : evaluate(c, expr, 1);
    c->b->why.n_undecided += first == SYM_NONE || second == SYM_NONE;
    if (first == SYM_NONE || second == SYM_NONE || first == second)
        return true;
    return add_difference(
        c,
        (struct why_difference){ .record = guard->record,
                                 .kind = guard->kind == GUARD_RUNTIME_ASSERT ? WHY_ASSERT
                                                                             : WHY_GUARD_ADDED,
                                 .expr = guard->expr,
                                 .holds = { first == SYM_ID_TRUE, second == SYM_ID_TRUE },
                                 .asked_by = guard->asked_by,
                                 .asked = guard->asker != 0,
                                 .line = why_user_line(c->b, guard->record, guard->user_stack) },
        err);
}

static bool compare_guards(struct why_comparison *c, struct err *err)
{
    for (uint32_t i = 0; i < c->b->guards->n; i++) {
        const struct guard *guard = &c->b->guards->guards[i];
        if (guard->attempt == c->a->attempt && guard->kind != GUARD_SUPPRESSED &&
            !compare_guard(c, guard, err))
            return false;
    }
    return true;
}

/* ---- The range, 0/1 specialization and duck shaping ---- */

static bool range_has(struct sym_pool *pool, struct sym_range range, sym_id value)
{
    return sym_number_compare(pool, range.lower, value) <= 0 &&
           sym_number_compare(pool, value, range.upper) <= 0;
}

static bool compare_range(struct why_comparison *c, struct err *err)
{
    struct sym_range range;
    struct sym_pool *pool = env_pool(c->state.env);
    if (!env_range(c->state.env, c->symbol, &range))
        return true;
    bool holds[] = { range_has(pool, range, c->values[0]), range_has(pool, range, c->values[1]) };
    if (holds[0] == holds[1])
        return true;
    struct why_difference difference = {
        .record = TRACE_NONE,
        .kind = WHY_RANGE,
        .expr = why_printf(c->b, "%.*s in %.*s", STR_ARG(c->size->symbol), STR_ARG(c->size->range)),
        .holds = { holds[0], holds[1] },
        .line = c->size->line,
    };
    return difference.expr.p ? add_difference(c, difference, err) : err_nomem(err);
}

static bool add_note(struct why_comparison *c, struct str note, struct err *err)
{
    return (note.p && vec_push(&c->b->notes, note)) || err_nomem(err);
}

/* A first call with such a size would give it the symbol of the other size. */
static bool note_duck_shaping(struct why_comparison *c, int which, struct err *err)
{
    struct str value = c->b->options->between[which];
    if (c->size->reason != WHY_DYNAMIC_TRUE && c->size->reason != WHY_DUCK)
        return true;
    for (uint32_t i = 0; i < c->b->symbols->n_symbols; i++) {
        const struct symbol *s = &c->b->symbols->symbols[i];
        if (s->attempt != c->a->attempt || str_eq(s->name, c->size->symbol) ||
            !str_starts(s->name, STR("s")) || !str_eq(s->value, value) ||
            !str_contains(s->source, STR(".size()[")))
            continue;
        return add_note(c,
                        why_printf(c->b,
                                   "compiled with %.*s, it would share a symbol with %.*s, which "
                                   "is %.*s, too (duck shaping)",
                                   STR_ARG(value), STR_ARG(s->source), STR_ARG(value)),
                        err);
    }
    return true;
}

/* A size that shares its symbol has to change with the others, whichever value it has. */
static bool note_shared(struct why_comparison *c, struct err *err)
{
    struct str compile = why_compile(c->b, c->a->attempt);
    struct str name = c->size->source.n ? c->size->source : c->size->symbol;
    if (!compile.p)
        return err_nomem(err);
    for (uint32_t i = 0; i < c->size->n_shared && i < SHARED_NOTED; i++)
        if (!add_note(c,
                      why_printf(c->b,
                                 "in %.*s, %.*s has to be equal to %.*s, whatever it is (duck "
                                 "shaping)",
                                 STR_ARG(compile), STR_ARG(c->size->shared[i]), STR_ARG(name)),
                      err))
            return false;
    return true;
}

static bool note_zero_one(struct why_comparison *c, int which, struct err *err)
{
    struct str value = c->b->options->between[which];
    if ((!str_is(value, "0") && !str_is(value, "1")) ||
        !str_contains(c->size->source, STR(".size()[")) || c->size->reason == WHY_MARK_UNBACKED)
        return true;
    return add_note(c,
                    why_printf(c->b,
                               "compiled with %.*s, it would be a constant: 0 and 1 are "
                               "specialized",
                               STR_ARG(value)),
                    err);
}

static bool compare_constant(struct why_comparison *c, struct err *err)
{
    const struct str *values = c->b->options->between;
    struct str now = c->size->now.n ? c->size->now : c->size->value;
    bool holds[] = { str_eq(values[0], now), str_eq(values[1], now) };
    struct str name = c->size->source.n ? c->size->source : c->size->symbol;
    if (holds[0] == holds[1])
        return true;
    struct why_difference difference = {
        .record = c->size->record,
        .kind = WHY_CHECKED,
        .expr = why_printf(c->b, "%.*s == %.*s", STR_ARG(name), STR_ARG(now)),
        .holds = { holds[0], holds[1] },
        .line = c->size->line,
    };
    return difference.expr.p ? add_difference(c, difference, err) : err_nomem(err);
}

/* ---- The whole ---- */

static bool read_two_values(struct why_comparison *c, struct err *err)
{
    for (int i = 0; i < 2; i++) {
        c->values[i] = replay_state_number(env_pool(c->state.env), c->b->options->between[i]);
        if (c->values[i] == SYM_NONE)
            return err_set(err, ERR_USAGE, "--between: %.*s is not a number",
                           STR_ARG(c->b->options->between[i]));
    }
    return true;
}

static bool compare_values(struct why_comparison *c, struct err *err)
{
    c->symbol = SYM_NONE;
    if (!vec_push(&c->others, (struct sym_pair){ SYM_NONE, SYM_NONE }))
        return err_nomem(err);
    if (!why_env_open(c->b, c->a->attempt, &c->state, err) || !read_two_values(c, err))
        return false;
    if (!c->size->symbol.n)
        return compare_constant(c, err);
    c->symbol = replay_state_resolve(&c->state, env_pool(c->state.env), c->size->symbol);
    return read_others(c, err) && compare_range(c, err) && compare_guards(c, err) &&
           note_shared(c, err) && note_zero_one(c, 0, err) && note_zero_one(c, 1, err) &&
           note_duck_shaping(c, 0, err) && note_duck_shaping(c, 1, err);
}

bool why_compare(struct why_build *b, const struct why_attempt *a, const struct why_size *size,
                 struct err *err)
{
    struct why_comparison c = { .b = b, .a = a, .size = size };
    bool ok = compare_values(&c, err);
    vec_release(&c.others);
    replay_state_close(&c.state);
    return ok;
}
