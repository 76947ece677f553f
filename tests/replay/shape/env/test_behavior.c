#include "replay/shape/env/behavior.h"
#include "tests/harness.h"

static void reads_releases(void **state)
{
    (void)state;
    assert_int_equal(torch_release(STR("2.13.0+cpu")), 213);
    assert_int_equal(torch_release(STR("2.9.1")), 209);
    assert_int_equal(torch_release(STR("2.16.0a0+git08187d9")), 216);
    assert_int_equal(torch_release(STR("2.7")), 207);
    assert_int_equal(torch_release(STR("3.0.0")), 300);
    const char *const bad[] = { "", "2", "2.", ".13", "two", "v2.13", "2.x", "2.131", "99999.1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(torch_release(str_of(bad[i])), 0);
}

static bool behaves_in(int torch, enum behavior behavior)
{
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    struct err err = { 0 };
    settings.torch = torch;
    struct shape_env *env = shape_env_new(&settings, &err);
    assert_non_null(env);
    bool ret = behaves(env, behavior);
    shape_env_free(env);
    return ret;
}

static void belongs_to_the_environment(void **state)
{
    (void)state;
    assert_false(behaves_in(211, BEHAVIOR_POOLING_FLOOR_DIVIDES));
    assert_true(behaves_in(213, BEHAVIOR_POOLING_FLOOR_DIVIDES));
    assert_true(behaves_in(300, BEHAVIOR_POOLING_FLOOR_DIVIDES));
    for (int i = 0; i < BEHAVIORS; i++) {
        const struct behavior_row *row = behavior_row((enum behavior)i);
        assert_true(behaves_in(row->since, (enum behavior)i));
        assert_false(behaves_in(row->since - 1, (enum behavior)i));
    }
}

static void finds_names(void **state)
{
    (void)state;
    enum behavior found = BEHAVIORS;
    assert_true(behavior_find(STR("pooling_floor_divides"), &found));
    assert_int_equal(found, BEHAVIOR_POOLING_FLOOR_DIVIDES);
    assert_true(behavior_find(STR("SELECT_CHECKS_INDEX"), &found));
    assert_int_equal(found, BEHAVIOR_SELECT_CHECKS_INDEX);
    assert_false(behavior_find(STR("select"), &found));
    assert_false(behavior_find(STR(""), &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_releases),
        cmocka_unit_test(belongs_to_the_environment),
        cmocka_unit_test(finds_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
