#include "trace/graph/expr.h"

#include <stdlib.h>

#include "tests/harness.h"

/* A tree as nested brackets, leaves as they are: (+ (* 2 s0) 1). */
static void dump(const struct expr_pool *pool, expr_id id, struct buf *out)
{
    const struct expr *expr = expr_at(pool, id);
    if (expr->kind < EXPR_OP) {
        buf_put(out, expr->text);
        return;
    }
    buf_putc(out, '(');
    buf_put(out, expr->kind == EXPR_TUPLE ? STR("tuple") : expr->text);
    for (uint32_t i = 0; i < expr->n_children; i++) {
        buf_putc(out, ' ');
        dump(pool, expr_child(pool, id, i), out);
    }
    buf_putc(out, ')');
}

static const struct {
    const char *text, *tree;
    const char *printed; /* NULL: as text */
} CASES[] = {
    { "s77", "s77", NULL },
    { "9223372036854775808", "9223372036854775808", NULL },
    { "1e-05", "1e-05", NULL },
    { "2*s0", "(* 2 s0)", NULL },
    { "2 * s0", "(* 2 s0)", "2*s0" },
    { "((s53 - 1)//2) + 1", "(+ (// (- s53 1) 2) 1)", "(s53 - 1)//2 + 1" },
    { "1 + FloorDiv(-1 + s53, 2)", "(+ 1 (FloorDiv (+ -1 s53) 2))", NULL },
    { "18*((((s53 - 1)//4)) + 1)**2", "(* 18 (** (+ (// (- s53 1) 4) 1) 2))",
      "18*((s53 - 1)//4 + 1)**2" },
    { "a - b - c", "(- (- a b) c)", NULL },
    { "a - (b - c)", "(- a (- b c))", NULL },
    { "a**b**c", "(** a (** b c))", NULL },
    { "(a**b)**c", "(** (** a b) c)", NULL },
    { "-x**2", "(neg (** x 2))", NULL },
    { "-2**x", "(neg (** 2 x))", NULL },
    { "(-2)**x", "(** -2 x)", NULL },
    { "x**-2", "(** x -2)", NULL },
    { "-2*x", "(* -2 x)", NULL },
    { "-(2)", "(neg 2)", NULL },
    { "-(a + b)", "(neg (+ a b))", NULL },
    { "x - -2", "(- x -2)", NULL },
    { "-int_oo", "-int_oo", NULL },
    { "-(int_oo)", "(neg int_oo)", NULL },
    { "Mod(s0, 8)", "(Mod s0 8)", NULL },
    { "Max(1, u0) <= 5", "(<= (Max 1 u0) 5)", NULL },
    { "Eq(u0 + u1, s2)", "(Eq (+ u0 u1) s2)", NULL },
    { "(a < 3) & ~(b >= 2) | (c != d)", "(| (& (< a 3) (~ (>= b 2))) (!= c d))", NULL },
    { "a < 3 and not b == 2 or c", "(| (& (< a 3) (~ (== b 2))) c)", "(a < 3) & ~(b == 2) | c" },
    { "Piecewise((1, x > 0), (y, True))", "(Piecewise (tuple 1 (> x 0)) (tuple y True))", NULL },
    { "(x,)", "(tuple x)", NULL },
    { "()", "(tuple)", NULL },
    { "[x, y]", "(tuple x y)", "(x, y)" },
    { "math.trunc(s0 / 2)", "(math.trunc (/ s0 2))", "math.trunc(s0/2)" },
    { "f('it, (s', 1)", "(f 'it, (s' 1)", NULL },
    { "a << 2 >> b ^ c % 3", "(^ (>> (<< a 2) b) (% c 3))", "a << 2 >> b ^ c%3" },
};

static void test_trees_and_print(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct expr_pool pool = { 0 };
        struct err err = ERR_INIT;
        struct buf tree = BUF_INIT, printed = BUF_INIT;
        expr_id id = expr_parse(&pool, str_of(CASES[i].text), &err);
        assert_no_err(&err);
        assert_true(id != EXPR_NONE);
        dump(&pool, id, &tree);
        assert_str_is(buf_str(&tree), CASES[i].tree);
        expr_print(&pool, id, &printed);
        assert_str_is(buf_str(&printed), CASES[i].printed ? CASES[i].printed : CASES[i].text);
        expr_id again = expr_parse(&pool, buf_str(&printed), &err);
        assert_no_err(&err);
        assert_true(expr_equal(&pool, id, &pool, again));
        expr_pool_release(&pool);
        buf_release(&tree);
        buf_release(&printed);
    }
}

static void test_integers(void **state)
{
    (void)state;
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    const struct expr *expr = expr_at(&pool, expr_parse(&pool, STR("-9223372036854775808"), &err));
    assert_true(expr->kind == EXPR_INT && expr->fits && expr->value == INT64_MIN);
    expr = expr_at(&pool, expr_parse(&pool, STR("9223372036854775808"), &err));
    assert_true(expr->kind == EXPR_INT && !expr->fits);
    assert_no_err(&err);
    expr_pool_release(&pool);
}

static void test_start_stops_at_what_is_the_callers(void **state)
{
    (void)state;
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    size_t used = 0;
    assert_true(expr_parse_start(&pool, STR("Max(a, b) , 3]"), &used, &err) != EXPR_NONE);
    assert_int_equal(used, 10);
    expr_pool_release(&pool);
}

static void test_different_trees_differ(void **state)
{
    (void)state;
    static const char *const texts[] = { "a",     "b",     "1",     "-1",   "True",
                                         "a + b", "a - b", "b + a", "f(a)", "f(a, b)",
                                         "(a,)",  "'a'",   "1.0" };
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    enum { N = sizeof texts / sizeof *texts };
    expr_id ids[N];
    for (size_t i = 0; i < N; i++)
        ids[i] = expr_parse(&pool, str_of(texts[i]), &err);
    assert_no_err(&err);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            assert_int_equal(expr_equal(&pool, ids[i], &pool, ids[k]), i == k);
    expr_pool_release(&pool);
}

static void test_errors_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "", "offset 0: expected an operand" },
        { "s0 +", "offset 4: expected an operand" },
        { "s0 s1", "offset 3: expected an operator or the end" },
        { "(s0", "offset 3: expected ',' or a closing bracket" },
        { "f(a b)", "offset 4: expected ',' or a closing bracket" },
        { "a < b < c", "chained comparisons" },
        { "2x", "offset 1: a name follows a number without a space" },
        { "1e+", "expected an exponent" },
        { "'abc", "unterminated string" },
        { "and b", "expected an operand" },
        { "$", "offset 0: expected an operand" },
        { ".", "expected an operand" },
    };
    struct expr_pool pool = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = ERR_INIT;
        assert_true(expr_parse(&pool, str_of(cases[i].text), &err) == EXPR_NONE);
        assert_err(&err, ERR_INPUT, cases[i].error);
    }
    expr_pool_release(&pool);
}

/* `n` times `before`, then "x", then `n` times `after`. */
static struct buf nested(const char *before, const char *after, size_t n)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        buf_puts(&text, before);
    buf_putc(&text, 'x');
    for (size_t i = 0; i < n; i++)
        buf_puts(&text, after);
    return text;
}

static void test_depth_is_bounded(void **state)
{
    (void)state;
    static const char *const around[][2] = { { "(", ")" },   { "-", "" },   { "f(", ")" },
                                             { "", " + x" }, { "x**", "" }, { "[", "]" } };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        struct expr_pool pool = { 0 };
        struct err err = ERR_INIT;
        struct buf shallow = nested(around[i][0], around[i][1], EXPR_MAX_DEPTH / 4);
        struct buf deep = nested(around[i][0], around[i][1], 1000000);
        assert_true(expr_parse(&pool, buf_str(&shallow), &err) != EXPR_NONE);
        assert_no_err(&err);
        assert_true(expr_parse(&pool, buf_str(&deep), &err) == EXPR_NONE);
        assert_err(&err, ERR_INPUT, "nested too deeply");
        expr_pool_release(&pool);
        buf_release(&shallow);
        buf_release(&deep);
    }
}

static bool parse_once(void *arg)
{
    struct expr_pool pool = { 0 };
    struct err err = ERR_INIT;
    expr_id id = expr_parse(&pool, str_of(arg), &err);
    expr_pool_release(&pool);
    assert_true(id != EXPR_NONE || err.kind == ERR_ENV);
    return id != EXPR_NONE;
}

static void test_memory_failure(void **state)
{
    (void)state;
    char text[] = "Max(a, b + 2, (c, d), f(1, 2, 3, 4, 5, 6, 7, 8, 9))";
    check_alloc_failures(parse_once, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_and_print),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_start_stops_at_what_is_the_callers),
        cmocka_unit_test(test_different_trees_differ),
        cmocka_unit_test(test_errors_have_a_place),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
