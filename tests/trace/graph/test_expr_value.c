#include "tests/harness.h"
#include "trace/graph/expr_value.h"

/* s has 24, every other letter none. */
static bool value_of(void *user, struct str name, int64_t *ret)
{
    *ret = *(const int64_t *)user;
    return str_is(name, "s");
}

static bool eval(const char *text, int64_t *ret)
{
    struct expr_pool pool = { 0 };
    struct err err = { 0 };
    int64_t s = 24;
    expr_id expr = expr_parse(&pool, str_of(text), &err);
    assert_int_not_equal(expr, EXPR_NONE);
    bool ok = expr_value(&pool, expr, value_of, &s, ret);
    assert_false(expr_value(&pool, EXPR_NONE, value_of, &s, ret));
    expr_pool_release(&pool);
    return ok;
}

static void gives(const char *text, int64_t expected)
{
    int64_t got = -99;
    if (!eval(text, &got) || got != expected)
        fail_msg("%s: %lld instead of %lld", text, (long long)got, (long long)expected);
}

static void test_values(void **state)
{
    (void)state;
    gives("7", 7);
    gives("2*s*s - 1", 1151);
    gives("((s - 1)//2) + 1", 12);
    gives("-7//2", -4);
    gives("Mod(-s, 7)", 4);
    gives("PythonMod(-s, 7)", 4);
    gives("FloorDiv(s, 5)", 4);
    gives("CeilToInt(s)", 24);
    gives("32*CeilToInt(IntTrueDiv(s, 32))", 32);
    gives("CeilToInt(IntTrueDiv(-s, 5))", -4);
    gives("FloorToInt(IntTrueDiv(s, 7))", 3);
    gives("floor(-s/7)", -4);
    gives("ceiling(s/6)", 4);
    gives("Max(1, s, 30)", 30);
    gives("Min(s, 7, 9)", 7);
    gives("s >= 24", 1);
    gives("~(s > 3)", 0);
    gives("Eq(s, 24) & Ne(s, 3)", 1);
}

static void test_no_value(void **state)
{
    (void)state;
    int64_t got;
    assert_false(eval("t + 1", &got));
    assert_false(eval("s/5", &got));
    assert_false(eval("s//0", &got));
    assert_false(eval("CeilToInt(IntTrueDiv(s, 0))", &got));
    assert_false(eval("CeilToInt(IntTrueDiv(t, 2))", &got));
    assert_false(eval("s**40", &got));
    assert_false(eval("1.5", &got));
    assert_false(eval("9223372036854775807 + s", &got));
    assert_false(eval("99999999999999999999", &got));
    assert_false(eval("SomeFunction(s, 2, 3)", &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
