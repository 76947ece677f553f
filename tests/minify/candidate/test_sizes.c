#include "minify/candidate/sizes.h"

#include "tests/harness.h"

static const struct cand_symbol symbols[] = {
    { .name = { "s27", 3 }, .backed = true, .has_hint = true, .hint = 24 },
    { .name = { "s77", 3 }, .backed = true, .has_hint = true, .hint = 7 },
    { .name = { "u0", 2 } },
};
static const struct candidate candidate = { .symbols = symbols, .n_symbols = 3 };

static bool eval(const char *text, const int64_t *values, int64_t *ret)
{
    struct expr_pool pool = { 0 };
    struct err err = { 0 };
    expr_id expr = expr_parse(&pool, str_of(text), &err);
    assert_int_not_equal(expr, EXPR_NONE);
    bool ok = cand_eval(&candidate, &pool, expr, values, ret);
    expr_pool_release(&pool);
    return ok;
}

static void gives(const char *text, int64_t expected)
{
    int64_t got = -99;
    assert_true(eval(text, NULL, &got));
    assert_int_equal(got, expected);
}

static void test_hints(void **state)
{
    (void)state;
    gives("s27*s77 - 1", 167);
    gives("((s27 - 1)//2) + 1", 12);
    gives("-s77//2", -4);
    gives("Mod(s27, 7)", 3);
    gives("s77**2", 49);
    gives("(-1)**s27", 1);
    gives("(-1)**s77", -1);
    gives("s27/2", 12);
    gives("Max(1, s27, 30)", 30);
    gives("Min(s27, s77)", 7);
    gives("CeilDiv(s27, s77)", 4);
    gives("Ne(Mod(s27, 7), 0)", 1);
    gives("(s27 > 3) & (s77 == 8)", 0);
}

static void test_refusals(void **state)
{
    (void)state;
    int64_t got = 5;
    assert_false(eval("u0 + 1", NULL, &got));
    assert_false(eval("s99", NULL, &got));
    assert_false(eval("s77/2", NULL, &got));
    assert_false(eval("s27//0", NULL, &got));
    assert_false(eval("s27**40", NULL, &got));
    assert_false(eval("9223372036854775807 + s27", NULL, &got));
    assert_false(eval("ModularIndexing(s27, 2, 3)", NULL, &got));
}

static void test_other_values(void **state)
{
    (void)state;
    const int64_t values[] = { 2, 3, 11 };
    int64_t got;
    assert_true(eval("s27*s77 + u0", values, &got));
    assert_int_equal(got, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_other_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
