/* A condition that is called undecided is one that the whole of _maybe_evaluate_static leaves open:
 * random conditions, evaluated with the shortcut and without it. */
#include "replay/shape/env/env_inside.h"
#include "tests/harness.h"

enum { SYMBOLS = 4, DEPTH = 3, CASES = 4000 };

struct random_conditions {
    struct shape_env *env;
    sym_id symbols[SYMBOLS];
    uint64_t state;
};

static uint32_t draw(struct random_conditions *r, uint32_t n)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33) % n;
}

static sym_id draw_number(struct random_conditions *r)
{
    static const int64_t numbers[] = { -7, -1, 0, 1, 2, 3, 4, 8, 16, 1000, INT64_C(1) << 40 };
    return sym_integer(env_pool(r->env),
                       numbers[draw(r, (uint32_t)(sizeof numbers / sizeof *numbers))]);
}

static sym_id draw_size(struct random_conditions *r, unsigned depth)
{
    struct sym_pool *pool = env_pool(r->env);
    if (depth == 0 || draw(r, 5) == 0)
        return draw(r, 3) ? r->symbols[draw(r, SYMBOLS)] : draw_number(r);
    static const enum sym_kind kinds[] = { SYM_ADD, SYM_MUL, SYM_MAX,      SYM_MIN,
                                           SYM_ADD, SYM_MUL, SYM_FLOORDIV, SYM_PYTHON_MOD };
    enum sym_kind kind = kinds[draw(r, (uint32_t)(sizeof kinds / sizeof *kinds))];
    bool divides = kind == SYM_FLOORDIV || kind == SYM_PYTHON_MOD;
    sym_id a = draw_size(r, depth - 1);
    sym_id b = divides ? sym_integer(pool, 1 + draw(r, 6)) : draw_size(r, depth - 1);
    return sym_binary(pool, kind, a, b);
}

static sym_id draw_condition(struct random_conditions *r)
{
    enum sym_kind kind = (enum sym_kind)(SYM_EQ + draw(r, 6));
    sym_id a = draw_size(r, DEPTH), b = draw(r, 2) ? draw_number(r) : draw_size(r, DEPTH);
    return sym_binary(env_pool(r->env), kind, a, b);
}

static void add_symbols(struct random_conditions *r)
{
    static const struct {
        const char *name;
        int64_t hint, lower, upper;
    } rows[SYMBOLS] = {
        { "s0", 8, 2, 0 }, { "s1", 3, 2, 64 }, { "s2", 16, 16, 16 }, { "u0", 0, 0, 0 }
    };
    struct sym_pool *pool = env_pool(r->env);
    for (int i = 0; i < SYMBOLS; i++) {
        struct sym_range range = { sym_integer(pool, rows[i].lower),
                                   rows[i].upper ? sym_integer(pool, rows[i].upper)
                                                 : SYM_ID_INT_OO };
        r->symbols[i] = env_adopt_symbol(r->env, str_of(rows[i].name),
                                         rows[i].hint ? sym_integer(pool, rows[i].hint) : SYM_NONE,
                                         range, STR(""));
        assert_int_not_equal(r->symbols[i], SYM_NONE);
    }
}

static void agrees_with_evaluation(void **state)
{
    static const enum env_static ways[] = { ENV_STATIC_PLAIN, ENV_STATIC_OBLIVIOUS };
    const struct env_assumptions none = { 0 }; /* with which there is no shortcut */
    struct err err = { 0 };
    struct random_conditions r = { .env = shape_env_new(&ENV_SETTINGS_DEFAULT, &err), .state = 1 };
    unsigned undecided = 0, decided = 0;
    (void)state;
    assert_non_null(r.env);
    add_symbols(&r);
    for (int i = 0; i < CASES; i++) {
        sym_id e = draw_condition(&r);
        enum env_static way = ways[i % 2];
        assert_true(sym_ok(env_pool(r.env), &err));
        if (e == SYM_NONE || e <= SYM_ID_TRUE)
            continue;
        sym_id whole = env_evaluate_static_with(r.env, e, way, &none);
        if (env_raised(r.env).kind != ENV_RAISED_NOTHING)
            continue;
        if (env_is_undecided(r.env, e, way)) {
            undecided++;
            if (whole != SYM_NONE)
                fail_msg("case %d is decided", i);
        }
        decided += whole != SYM_NONE;
        assert_int_equal(env_evaluate_static_as(r.env, e, way, true), whole);
    }
    assert_true(undecided > CASES / 8 && decided > CASES / 8);
    shape_env_free(r.env);
}

static void knows_nothing_of_others(void **state)
{
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(&ENV_SETTINGS_DEFAULT, &err);
    (void)state;
    assert_non_null(env);
    struct sym_pool *pool = env_pool(env);
    sym_id lone = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE); /* has no range */
    assert_false(env_is_undecided(env, sym_eq(pool, lone, sym_integer(pool, 5)), ENV_STATIC_PLAIN));
    assert_false(env_is_undecided(env, SYM_ID_TRUE, ENV_STATIC_PLAIN));
    sym_id float_number =
        env_adopt_symbol(env, STR("zf1"), sym_float(pool, 1e-5),
                         (struct sym_range){ SYM_ID_MINUS_OO, SYM_ID_OO }, STR(""));
    assert_int_not_equal(float_number, SYM_NONE);
    assert_true(
        env_is_undecided(env, sym_eq(pool, float_number, sym_float(pool, 1e-5)), ENV_STATIC_PLAIN));
    assert_true(env_is_undecided(env, float_number, ENV_STATIC_PLAIN));
    shape_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_evaluation),
        cmocka_unit_test(knows_nothing_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
