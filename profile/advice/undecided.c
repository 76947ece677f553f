#include "profile/advice/undecided.h"

#include "replay/attempt/replay_state.h"
#include "replay/shape/env/env.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"

enum { ANY_HINT = 8 /* of a size: whatever it is, it answers the question */ };

struct asked {
    const struct undecided *u;
    struct shape_env *env;
    enum undecided_help help;
    struct str alone; /* the only symbol of the question; "" */
    uint32_t n_symbols;
};

static void note_symbol(void *user, struct str name)
{
    struct asked *a = user;
    a->alone = a->n_symbols++ ? STR("") : name;
}

static bool is_before(const struct undecided *u, uint32_t attempt, uint32_t record)
{
    return attempt == u->attempt && record < u->record;
}

static void adopt(struct asked *a, const struct symbol *s)
{
    struct sym_pool *pool = env_pool(a->env);
    bool backed = a->help == HELP_BACKED && str_eq(s->name, a->alone);
    struct err ignored = { 0 };
    sym_id hint = s->value.n ? sym_parse(pool, s->value, NULL, NULL) : SYM_NONE;
    if (hint != SYM_NONE && (!sym_ok(pool, &ignored) || !sym_is_number(pool, hint)))
        hint = SYM_NONE;
    struct sym_range range = backed ? (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }
                                    : replay_state_range(pool, s->name, s->range);
    env_adopt_symbol(a->env, s->name, backed ? sym_integer(pool, ANY_HINT) : hint, range,
                     s->source);
}

/* States what the attempt had found out; what it raised is of no interest. */
static void state(struct asked *a, const struct guard *g)
{
    struct sym_pool *pool = env_pool(a->env);
    struct err ignored = { 0 };
    sym_id e = sym_parse(pool, g->expr, NULL, NULL);
    bool holds;
    if (!sym_ok(pool, &ignored) || e == SYM_NONE)
        return;
    if (g->kind == GUARD_RUNTIME_ASSERT)
        env_expect_true(a->env, e, STR(""), &holds);
    else if (g->kind == GUARD_EVAL)
        env_guard_bool(a->env, e, &holds);
    env_raised(a->env);
}

static void begin(struct asked *a, const struct symbol_table *symbols,
                  const struct guard_list *guards)
{
    for (uint32_t i = 0; i < symbols->n_symbols; i++)
        if (is_before(a->u, symbols->symbols[i].attempt, symbols->symbols[i].record))
            adopt(a, &symbols->symbols[i]);
    for (uint32_t i = 0; i < guards->n; i++)
        if (is_before(a->u, guards->guards[i].attempt, guards->guards[i].record))
            state(a, &guards->guards[i]);
}

/* Returns whether the question has an answer. */
static bool ask(struct asked *a, struct str fact, bool negates)
{
    struct sym_pool *pool = env_pool(a->env);
    struct err ignored = { 0 };
    bool answer;
    sym_id question = sym_parse(pool, a->u->question, NULL, NULL);
    if (!sym_ok(pool, &ignored) || question == SYM_NONE)
        return false;
    if (a->help == HELP_GUARD_OR)
        return env_guard_or(a->env, question, false, &answer);
    if (a->help == HELP_CHECK) {
        sym_id e = sym_parse(pool, fact, NULL, NULL);
        e = sym_ok(pool, &ignored) && e != SYM_NONE && negates ? sym_not(pool, e) : e;
        if (!sym_ok(pool, &ignored) || e == SYM_NONE ||
            !env_expect_true(a->env, e, STR(""), &answer) || !answer)
            return false;
    }
    return env_guard_bool(a->env, question, &answer);
}

bool undecided_is_answered(const struct undecided *u, enum undecided_help help, struct str fact,
                           bool negates, bool *ret, struct err *err)
{
    const struct symbol_table *symbols = trace_symbols(u->trace, err);
    const struct guard_list *guards = symbols ? trace_guards(u->trace, err) : NULL;
    struct asked a = { .u = u, .help = help };
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    uint32_t recording = u->trace->records[u->record].recording;
    int torch = torch_release(u->trace->recordings[recording].torch_version);
    settings.torch = torch ? torch : settings.torch;
    *ret = false;
    if (!guards || !(a.env = shape_env_new(&settings, err)))
        return false;
    guard_symbols(u->question, note_symbol, &a);
    if (help != HELP_BACKED || a.alone.n) {
        begin(&a, symbols, guards);
        *ret = ask(&a, fact, negates);
    }
    bool ok = !env_short_of_memory(a.env) || err_nomem(err);
    shape_env_free(a.env);
    return ok;
}
