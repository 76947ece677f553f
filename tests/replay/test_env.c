/* The shape environment: symbols, what is learned from guards, what is not asked twice. Answers
 * are those of torch.fx.experimental.symbolic_shapes.ShapeEnv. */
#include "replay/shape/env.h"

#include "replay/shape/node.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_duck_shaping),
        cmocka_unit_test(guards_replace_and_refine),
        cmocka_unit_test(unbacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
