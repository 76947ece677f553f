#include "tests/harness.h"
#include "trace/graph/expr.h"

static void test_is_the_tree_of_the_other_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *srepr, *text;
    } cases[] = {
        { "Symbol('s77', positive=True, integer=True)", "s77" },
        { "Integer(-1)", "-1" },
        { "Float('0.5', precision=53)", "0.5" },
        { "Rational(1, 2)", "1/2" },
        { "Mul(Integer(2), Symbol('s77', positive=True, integer=True))", "2*s77" },
        { "Add(Symbol('s0'), Symbol('s1'), Integer(-1))", "s0 + s1 + -1" },
        { "Pow(Symbol('s0'), Integer(2))", "s0**2" },
        { "FloorDiv(Add(Symbol('s0'), Integer(-1)), Integer(2))", "FloorDiv(s0 + -1, 2)" },
        { "GreaterThan(Symbol('u0'), Integer(0))", "u0 >= 0" },
        { "And(Equality(Symbol('a'), Integer(1)), Not(Unequality(Symbol('b'), Integer(2))))",
          "(a == 1) & ~(b != 2)" },
        { "Max(Integer(1), Symbol('u0'))", "Max(1, u0)" },
        { "Piecewise(Tuple(Integer(1), true), (Integer(2), false))",
          "Piecewise(Tuple(1, True), (2, False))" },
        { "NegativeInfinity()", "-oo" },
        { "IntInfinity()", "int_oo" },
        { "zoo", "zoo" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expr_pool pool = { 0 };
        struct err err = ERR_INIT;
        expr_id a = expr_parse_srepr(&pool, str_of(cases[i].srepr), &err);
        assert_no_err(&err);
        expr_id b = expr_parse(&pool, str_of(cases[i].text), &err);
        assert_no_err(&err);
        assert_true(expr_equal(&pool, a, &pool, b));
        expr_pool_release(&pool);
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "offset 0: expected a class name" },
        { "Symbol(s0", "expected ',' or ')'" },
        { "Symbol(3)", "expected a string" },
        { "Integer('3')", "expected an integer" },
        { "Integer(1, 2)", "expected one argument" },
        { "Add()", "expected arguments" },
        { "Not(a, b)", "wrong number of arguments" },
        { "Infinity(1)", "wrong number of arguments" },
        { "Integer(1) 2", "expected the end" },
        { "Symbol('s0", "unterminated string" },
    };
    struct expr_pool pool = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = ERR_INIT;
        assert_true(expr_parse_srepr(&pool, str_of(cases[i].text), &err) == EXPR_NONE);
        assert_err(&err, ERR_INPUT, cases[i].error);
    }
    expr_pool_release(&pool);
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    struct buf deep = BUF_INIT, long_ = BUF_INIT;
    buf_puts(&long_, "Add(");
    for (size_t i = 0; i < 1000000; i++)
        buf_puts(&deep, "Not(");
    for (size_t i = 0; i < 1000; i++)
        buf_puts(&long_, "s0, ");
    buf_puts(&long_, "s0)");
    assert_true(expr_parse_srepr(&pool, buf_str(&deep), &err) == EXPR_NONE);
    assert_err(&err, ERR_INPUT, "nested too deeply");
    assert_true(expr_parse_srepr(&pool, buf_str(&long_), &err) == EXPR_NONE);
    assert_err(&err, ERR_INPUT, "nested too deeply");
    expr_pool_release(&pool);
    buf_release(&deep);
    buf_release(&long_);
}

static bool parse_once(void *arg)
{
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    expr_id id = expr_parse_srepr(&pool, str_of(arg), &err);
    expr_pool_release(&pool);
    assert_true(id != EXPR_NONE || err.kind == ERR_ENV);
    return id != EXPR_NONE;
}

static void test_memory_failure(void **state)
{
    (void)state;
    char text[] = "Add(Symbol('a'), Mul(Integer(2), Symbol('b')), Max(Integer(1), Integer(2)))";
    check_alloc_failures(parse_once, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_tree_of_the_other_spelling),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
