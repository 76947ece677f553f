#include "tests/harness.h"
#include "trace/base/text/wildcard.h"

static void test_parts(void **state)
{
    (void)state;
    struct str parts[3];
    assert_true(
        wildcard_find(STR("RuntimeError: size of a (s27: hint = 30) and b (s27 - 1)!\nmore"),
                      STR("size of a (*) and b (*)"), parts, 3));
    assert_str_is(parts[0], "s27: hint = 30");
    assert_str_is(parts[1], "s27 - 1");
    assert_str_is(parts[2], "");
}

static void test_ends(void **state)
{
    (void)state;
    struct str part;
    assert_true(wildcard_find(STR("Error: first\nsecond"), STR("Error: *"), &part, 1));
    assert_str_is(part, "first");
    assert_true(wildcard_find(STR("Error: last"), STR("Error: *"), &part, 1));
    assert_str_is(part, "last");
    assert_true(wildcard_find(STR("Error"), STR("Error*"), &part, 1));
    assert_str_is(part, "");
    assert_true(wildcard_find(STR("before: x"), STR("*: x"), &part, 1));
    assert_str_is(part, "before");
    assert_true(wildcard_find(STR("anything"), STR(""), &part, 1));
}

static void test_no_match(void **state)
{
    (void)state;
    struct str parts[1];
    assert_false(wildcard_find(STR("a (b"), STR("a (*)"), parts, 1));
    assert_false(wildcard_find(STR(""), STR("a"), parts, 1));
    assert_false(wildcard_find(STR("ba"), STR("a*b"), parts, 1));
    assert_true(wildcard_find(STR("a1b2c"), STR("a*b*c"), parts, 1)); /* more than fit */
    assert_str_is(parts[0], "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_no_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
