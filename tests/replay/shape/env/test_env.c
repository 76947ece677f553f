/* The shape environment: symbols, what is learned from guards, what is not asked twice. Answers
 * are those of torch.fx.experimental.symbolic_shapes.ShapeEnv. */
#include "replay/shape/env/env.h"

#include "replay/shape/env/node.h"
#include "tests/harness.h"

static struct shape_env *new_env(void)
{
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(NULL, &err);
    assert_non_null(env);
    return env;
}

static sym_id size(struct shape_env *env, const char *source, int64_t value)
{
    return env_create_symbol(env,
                             &(struct symbol_request){ .value = sym_integer(env_pool(env), value),
                                                       .source = str_of(source),
                                                       .dynamic = DIM_DUCK,
                                                       .positive = true });
}

static void assert_text(struct shape_env *env, sym_id e, const char *text)
{
    struct buf out = BUF_INIT;
    assert_int_not_equal(e, SYM_NONE);
    sym_print(env_pool(env), e, &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, text);
    buf_release(&out);
}

static void names_and_duck_shaping(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    sym_id a = size(env, "L['x'].size()[0]", 8);
    assert_text(env, a, "s77");
    assert_text(env, size(env, "L['x'].size()[1]", 5), "s27");
    assert_text(env, size(env, "L['y'].size()[0]", 9), "s17");
    assert_int_equal(size(env, "L['y'].size()[1]", 8), a);
    assert_int_equal(size(env, "L['z'].size()[0]", 1), SYM_ID_ONE);
    assert_int_equal(size(env, "L['z'].size()[1]", 0), SYM_ID_ZERO);
    assert_text(env, env_hint(env, a), "8");
    shape_env_free(env);
}

static void guards_replace_and_refine(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id a = size(env, "L['x'].size()[0]", 8), b = size(env, "L['x'].size()[1]", 16);
    bool yes;
    assert_true(env_guard_bool(env, sym_gt(pool, a, sym_integer(pool, 4)), &yes) && yes);
    struct sym_range range;
    assert_true(env_range(env, a, &range));
    assert_text(env, range.lower, "5");
    assert_true(env_guard_bool(env, sym_gt(pool, a, sym_integer(pool, 3)), &yes) && yes);
    assert_int_equal(env_n_guards(env), 1);
    assert_true(env_guard_bool(env, sym_eq(pool, b, sym_mul(pool, SYM_ID_TWO, a)), &yes) && yes);
    assert_int_equal(env_n_guards(env), 2);
    assert_text(env, env_replace(env, b), "2*s77");
    int64_t value;
    assert_true(env_guard_int(env, a, &value));
    assert_int_equal(value, 8);
    assert_text(env, env_replace(env, b), "16");
    assert_int_equal(env_n_specializations(env), 2);
    shape_env_free(env);
}

static void unbacked(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id u = env_create_unbacked_symint(env);
    bool yes;
    sym_id zero = node_int(env, NODE_METHOD_EQ, u, SYM_ID_ZERO);
    assert_false(env_guard_bool(env, zero, &yes));
    assert_int_equal(env_raised(env).kind, ENV_RAISED_DATA_DEPENDENT);
    assert_true(env_guard_or(env, zero, true, &yes) && yes);
    assert_true(env_expect_true(env, sym_ge(pool, u, SYM_ID_TWO), STR(""), &yes) && yes);
    assert_int_equal(env_n_asserts(env), 1);
    assert_true(env_guard_bool(env, zero, &yes) && !yes);
    assert_int_equal(env_n_guards(env), 0);
    shape_env_free(env);
}

static struct str user_names(void *user, sym_id symbol)
{
    (void)symbol;
    return *(struct str *)user;
}

static void data_dependent_texts(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id u = env_create_unbacked_symint(env);
    bool yes;
    assert_true(env_constrain_range_for_size(env, u, SYM_NONE, SYM_NONE));
    assert_false(env_guard_bool(env, sym_gt(pool, u, sym_integer(pool, 5)), &yes));
    struct env_raised raised = env_raised(env);
    assert_string_equal(raised.type, "GuardOnDataDependentSymNode");
    assert_true(str_starts(raised.text, STR("Could not guard on data-dependent expression u0 > 5 "
                                            "(unhinted: u0 > 5).  (Size-like symbols: u0)\n\n"
                                            "consider using data-dependent friendly APIs")));
    struct buf text = BUF_INIT;
    struct str names = STR("n or m");
    assert_true(env_suggest_checks(env, user_names, &names, &text));
    assert_str_is(buf_str(&text),
                  "\nTo fix the error, insert one of the following checks before this call:\n"
                  "  1. torch._check(n > 5)\n  2. torch._check(n <= 5)\n\n(These suggested fixes "
                  "were derived by replacing `u0` with n or m in u0 > 5 and its negation.)");
    int64_t value;
    assert_false(env_guard_int(env, u, &value));
    assert_true(str_starts(env_raised(env).text, STR("Could not extract specialized integer from "
                                                     "data-dependent expression u0 (unhinted")));
    buf_release(&text);
    shape_env_free(env);
}

/* mark_unbacked(shape_id), and bounds. */
static void unbacked_inputs(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    struct symbol_request r = { .value = sym_integer(pool, 7),
                                .source = STR("L['x'].size()[0]"),
                                .dynamic = DIM_UNBACKED,
                                .positive = true,
                                .shape_id = STR("batch"),
                                .max = sym_integer(pool, 64) };
    sym_id a = env_create_symbol(env, &r);
    r.source = STR("L['y'].size()[0]");
    sym_id b = env_create_symbol(env, &r);
    assert_text(env, a, "u0");
    assert_text(env, b, "u1");
    assert_int_equal(env_replace(env, a), env_replace(env, b));
    struct sym_range range;
    assert_true(env_range(env, a, &range));
    assert_text(env, range.lower, "0");
    assert_text(env, range.upper, "64");
    assert_true(env_n_asserts(env) >= 2);
    shape_env_free(env);
}

static void floats_and_numbers(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id z = env_create_unspecified_symbol(env, sym_float(pool, 0.5), STR("p"), DIM_DYNAMIC);
    sym_id n = env_create_unspecified_symbol(env, sym_integer(pool, 0), STR("n"), DIM_DYNAMIC);
    enum number_type types[] = { NUMBER_INT, NUMBER_FLOAT }, type;
    const sym_id args[] = { n, z };
    sym_id product = node_method(env, NODE_METHOD_MUL, args, types, 2, &type);
    assert_int_equal(type, NUMBER_FLOAT);
    assert_int_equal(sym_kind_of(pool, product), SYM_MUL);
    sym_id value = env_evaluate(env, z, SYM_NONE, false, SYM_NONE);
    assert_int_equal(value, sym_float(pool, 0.5));
    assert_int_equal(env_replace(env, z), value);
    assert_int_equal(node_int(env, NODE_METHOD_FLOORDIV, sym_integer(pool, -7), SYM_ID_TWO),
                     sym_integer(pool, -4));
    assert_int_equal(node_int(env, NODE_METHOD_MOD, sym_integer(pool, -7), SYM_ID_TWO), SYM_ID_ONE);
    assert_int_equal(node_int(env, NODE_METHOD_MOD, n, SYM_ID_ZERO), SYM_NONE);
    assert_string_equal(env_raised(env).type, "ZeroDivisionError");
    assert_int_equal(env_raised(env).kind, ENV_RAISED_NOTHING);
    shape_env_free(env);
}

static void results_follow_replacements_and_ranges(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id a = size(env, "L['x'].size()[0]", 8), b = size(env, "L['x'].size()[1]", 16);
    sym_id n = env_create_unspecified_symbol(env, sym_integer(pool, 5), STR("n"), DIM_DYNAMIC);
    bool yes;
    for (int i = 0; i < 2; i++) {
        assert_text(env, node_int(env, NODE_METHOD_MUL, a, b), "s27*s77");
        assert_text(env, node_int(env, NODE_METHOD_FLOORDIV, a, b), "(s77//s27)");
        assert_int_equal(sym_kind_of(pool, node_int(env, NODE_METHOD_MOD, n, b)), SYM_PYTHON_MOD);
    }
    assert_true(env_guard_bool(env, sym_ge(pool, n, SYM_ID_ZERO), &yes) && yes);
    assert_int_equal(sym_kind_of(pool, node_int(env, NODE_METHOD_MOD, n, b)), SYM_MOD);
    assert_true(env_guard_bool(env, sym_eq(pool, a, sym_integer(pool, 8)), &yes) && yes);
    assert_text(env, node_int(env, NODE_METHOD_MUL, a, b), "8*s27");
    assert_text(env, node_int(env, NODE_METHOD_FLOORDIV, a, b), "(8//s27)");
    shape_env_free(env);
}

static void suppressed_guards_leave_nothing(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id a = size(env, "L['x'].size()[0]", 8);
    bool yes;
    env_suppress_guards(env);
    assert_true(env_guard_bool(env, sym_gt(pool, a, sym_integer(pool, 4)), &yes) && yes);
    env_resume_guards(env);
    assert_int_equal(env_n_guards(env), 0);
    assert_int_equal(env_n_suppressed(env), 1);
    assert_true(env_guard_bool(env, sym_gt(pool, a, sym_integer(pool, 4)), &yes) && yes);
    assert_int_equal(env_n_guards(env), 1);
    shape_env_free(env);
}

/* Eq((a - Mod(a, 7)) % b, 0) has two Mods; PyTorch looks at the first of a set. The inner one does
 * not solve. */
static void one_of_several_mods(void **state)
{
    (void)state;
    for (int inner = 0; inner < 2; inner++) {
        struct err err = { 0 };
        struct env_settings settings = ENV_SETTINGS_DEFAULT;
        settings.inner_mods = inner;
        struct shape_env *env = shape_env_new(&settings, &err);
        struct sym_pool *pool = env_pool(env);
        sym_id a = size(env, "L['x'].size()[0]", 23), b = size(env, "L['x'].size()[1]", 3);
        sym_id rest = sym_sub(pool, a, sym_mod(pool, a, sym_integer(pool, 7)));
        bool yes;
        assert_true(env_guard_bool(env, sym_eq(pool, sym_mod(pool, rest, b), SYM_ID_ZERO), &yes));
        assert_true(yes);
        assert_int_equal(env_counts(env).choices, 1);
        assert_int_equal(env_n_divisible(env), !inner);
        shape_env_free(env);
    }
}

/* Each outermost Mod has a choice of its own: (a - a % 7) % b has the first, (a - a % 6) % b the
 * second.
 */
static void choices_of_several_mods(void **state)
{
    (void)state;
    for (uint64_t inner = 0; inner < 4; inner++) {
        struct err err = { 0 };
        struct env_settings settings = ENV_SETTINGS_DEFAULT;
        settings.inner_mods = inner;
        struct shape_env *env = shape_env_new(&settings, &err);
        struct sym_pool *pool = env_pool(env);
        sym_id a = size(env, "L['x'].size()[0]", 21), b = size(env, "L['x'].size()[1]", 3);
        int64_t divisors[] = { 7, 6, 7 };
        bool yes;
        for (int i = 0; i < 3; i++) {
            sym_id rest = sym_sub(pool, a, sym_mod(pool, a, sym_integer(pool, divisors[i])));
            sym_id asked = sym_eq(pool, sym_mod(pool, rest, b), SYM_ID_ZERO);
            assert_true(env_guard_bool(env, asked, &yes) && yes);
        }
        assert_int_equal(env_counts(env).choices, 2);
        assert_int_equal(env_n_divisible(env), !(inner & 1) + !(inner & 2));
        shape_env_free(env);
    }
}

/* lru_cache keys by arguments: what evaluate_expr found unknown before a guard does not hide from
 * statically_known_true what the guard says; what that found before does, unless it only peeked. */
static void static_evaluation_is_cached(void **state)
{
    (void)state;
    for (int peeks = 0; peeks < 2; peeks++) {
        struct shape_env *env = new_env();
        struct sym_pool *pool = env_pool(env);
        struct symbol_request request = { .value = sym_integer(pool, 8),
                                          .source = STR("L['a']"),
                                          .dynamic = DIM_DYNAMIC };
        sym_id a = env_create_symbol(env, &request);
        request.value = sym_integer(pool, 5);
        request.source = STR("L['b']");
        sym_id less = sym_sub(pool, a, env_create_symbol(env, &request)),
               positive = sym_ge(pool, less, SYM_ID_ONE);
        sym_id clipped = sym_binary(pool, SYM_MAX, SYM_ID_ONE, less);
        sym_id known = peeks ? env_peek_static(env, positive) : env_evaluate_static(env, positive);
        assert_int_equal(known, SYM_NONE);
        uint64_t nodes = env_counts(env).evaluated_nodes;
        assert_true(nodes >= sym_n_nodes(pool, less));
        (void)(peeks ? env_peek_static(env, positive) : env_evaluate_static(env, positive));
        assert_int_equal(env_counts(env).evaluated_nodes, nodes);
        bool yes;
        assert_true(env_guard_bool(env, positive, &yes) && yes);
        assert_int_equal(env_n_guards(env), 1);
        assert_text(env, env_simplify(env, clipped), peeks ? "-s56 + s71" : "Max(1, -s56 + s71)");
        assert_int_equal(env_statically_known(env, positive), peeks);
        shape_env_free(env);
    }
}

/* simplify(e) and simplify(e, False) are two entries of lru_cache: a guard simplifies what
 * evaluate_expr simplified before, and remembers that its Max could not be decided yet. */
static void simplification_is_cached_by_call(void **state)
{
    (void)state;
    struct shape_env *env = new_env();
    struct sym_pool *pool = env_pool(env);
    sym_id a = size(env, "L['x'].size()[0]", 18), two = sym_integer(pool, 2);
    sym_id part = sym_binary(pool, SYM_FLOORDIV, sym_add(pool, a, two), sym_integer(pool, 3));
    sym_id rest = sym_sub(pool, a, sym_mul(pool, two, part));
    sym_id clipped = sym_binary(pool, SYM_MAX, SYM_ID_ONE, rest);
    sym_id differs = sym_ne(pool, a, clipped);
    sym_id asked[] = { sym_lt(pool, SYM_ID_ONE, part), differs, sym_lt(pool, SYM_ID_ONE, rest),
                       sym_ne(pool, clipped, rest) };
    bool yes;
    env_suppress_guards(env);
    assert_true(env_guard_bool(env, differs, &yes) && yes);
    env_resume_guards(env);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(env_guard_bool(env, asked[i], &yes));
        assert_int_equal(yes, i < 3);
        assert_int_equal(env_n_guards(env), i + 1);
    }
    shape_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_duck_shaping),
        cmocka_unit_test(guards_replace_and_refine),
        cmocka_unit_test(unbacked),
        cmocka_unit_test(data_dependent_texts),
        cmocka_unit_test(unbacked_inputs),
        cmocka_unit_test(floats_and_numbers),
        cmocka_unit_test(results_follow_replacements_and_ranges),
        cmocka_unit_test(suppressed_guards_leave_nothing),
        cmocka_unit_test(one_of_several_mods),
        cmocka_unit_test(choices_of_several_mods),
        cmocka_unit_test(static_evaluation_is_cached),
        cmocka_unit_test(simplification_is_cached_by_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
