/* The engine's promises that are no comparison with sympy: identity, limits, failures, memory. */
#include <stdlib.h>

#include "replay/shape/expr/solve.h"
#include "replay/shape/range/range.h"
#include "tests/harness.h"
#include "tests/replay/shape/sym_formula.h"

static struct sym_pool *new_pool(void)
{
    struct err err = ERR_INIT;
    struct sym_pool *pool = sym_pool_new(&err);
    assert_non_null(pool);
    return pool;
}

static void check_print(struct sym_pool *pool, sym_id e, const char *expected)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    sym_print(pool, e, &out);
    assert_true(sym_ok(pool, &err));
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void check_failure(struct sym_pool *pool, sym_id e, const char *part)
{
    struct err err = ERR_INIT;
    assert_int_equal(e, SYM_NONE);
    assert_false(sym_ok(pool, &err));
    assert_err(&err, ERR_INPUT, part);
    assert_true(sym_ok(pool, &err));
}

static sym_id parse(struct sym_pool *pool, const char *text)
{
    return sym_parse(pool, str_of(text), NULL, NULL);
}

static void test_equal_is_the_same_id(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id a = sym_by_name(NULL, pool, STR("s0")), b = sym_by_name(NULL, pool, STR("s1"));
    assert_int_equal(sym_add(pool, a, b), sym_add(pool, b, a));
    assert_int_equal(sym_mul(pool, a, a), sym_pow(pool, a, SYM_ID_TWO));
    assert_int_equal(sym_sub(pool, sym_add(pool, a, b), b), a);
    assert_int_equal(sym_integer(pool, 2), SYM_ID_TWO);
    assert_int_equal(sym_floordiv(pool, sym_mul(pool, a, b), b), a);
    size_t before = sym_pool_count(pool);
    sym_add(pool, a, b);
    assert_int_equal(sym_pool_count(pool), before);
    sym_pool_free(pool);
}

static void test_symbols_differ_by_assumptions(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id positive = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
    assert_int_equal(sym_symbol_find(pool, STR("s0")), positive);
    sym_id any = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER);
    assert_int_not_equal(positive, any);
    assert_int_equal(sym_symbol_find(pool, STR("s0")), any);
    assert_int_equal(sym_symbol_find(pool, STR("s1")), SYM_NONE);
    assert_int_equal(sym_gt(pool, positive, SYM_ID_ZERO), SYM_ID_TRUE);
    check_print(pool, sym_gt(pool, any, SYM_ID_ZERO), "s0 > 0");
    assert_int_equal(sym_ask(pool, positive, SYM_ASK_POSITIVE), SYM_YES);
    assert_int_equal(sym_ask(pool, any, SYM_ASK_POSITIVE), SYM_UNKNOWN);
    assert_int_equal(sym_ask(pool, sym_mul(pool, SYM_ID_TWO, any), SYM_ASK_EVEN), SYM_YES);
    sym_pool_free(pool);
}

static void test_integers_do_not_wrap(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id most = sym_integer(pool, INT64_MAX), least = sym_integer(pool, INT64_MIN);
    check_print(pool, sym_add(pool, most, SYM_ID_ONE), "9223372036854775808");
    check_print(pool, sym_neg(pool, least), "9223372036854775808");
    assert_int_equal(sym_neg(pool, sym_neg(pool, least)), least);
    check_print(pool, sym_mul(pool, most, most), "85070591730234615847396907784232501249");
    check_print(pool, sym_floordiv(pool, least, SYM_ID_MINUS_ONE), "9223372036854775808");
    check_print(pool, sym_mod(pool, sym_mul(pool, most, most), sym_integer(pool, 10)), "9");
    sym_id s0 = sym_by_name(NULL, pool, STR("s0"));
    sym_id product = sym_mul(pool, sym_mul(pool, most, s0), sym_integer(pool, 4));
    check_print(pool, product, "36893488147419103228*s0");
    check_print(pool, sym_floordiv(pool, product, sym_integer(pool, 4)), "9223372036854775807*s0");
    check_print(pool, sym_integer_text(pool, STR("-123456789012345678901234567890")),
                "-123456789012345678901234567890");
    int64_t value;
    assert_false(sym_to_i64(pool, sym_add(pool, most, SYM_ID_ONE), &value));
    assert_true(sym_to_i64(pool, least, &value) && value == INT64_MIN);
    sym_pool_free(pool);
}

static void test_failures_stick_and_name_the_first(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id s0 = sym_by_name(NULL, pool, STR("s0"));
    sym_id bad = sym_floordiv(pool, s0, SYM_ID_ZERO);
    bad = sym_add(pool, bad, SYM_ID_ONE);
    check_failure(pool, bad, "ZeroDivisionError: division by zero");
    check_failure(pool, sym_mod(pool, s0, SYM_ID_ZERO), "ZeroDivisionError: Modulo by zero");
    check_failure(pool, sym_lt(pool, SYM_ID_TRUE, s0), "TypeError");
    check_failure(pool, sym_make(pool, SYM_FLOORDIV, &s0, 1), "takes 2 arguments (1 given)");
    check_failure(pool, sym_make(pool, SYM_SYMBOL, &s0, 1), "not an operation");
    check_failure(pool, parse(pool, "Frobnicate(s0)"), "unknown function \"Frobnicate\"");
    check_failure(pool, parse(pool, "s0 +"), "offset");
    check_failure(pool, sym_pow(pool, SYM_ID_TWO, sym_integer(pool, 1 << 20)), "bits");
    check_print(pool, sym_add(pool, s0, s0), "2*s0");
    sym_pool_free(pool);
}

static void test_depth_and_width_are_bounded(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id e = sym_by_name(NULL, pool, STR("u0")), u1 = sym_by_name(NULL, pool, STR("u1"));
    for (int i = 0; e != SYM_NONE && i < SYM_MAX_DEPTH + 10; i++)
        e = sym_max(pool, sym_binary(pool, SYM_BITWISE_XOR, e, u1), SYM_ID_TWO);
    check_failure(pool, e, "nests deeper");
    enum { WIDE = 100000 };
    sym_id *terms = malloc(WIDE * sizeof *terms);
    assert_non_null(terms);
    for (int i = 0; i < WIDE; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        terms[i] = sym_by_name(NULL, pool, str_of(name));
    }
    sym_id sum = sym_make(pool, SYM_ADD, terms, WIDE);
    assert_int_equal(sym_n_args(pool, sum), WIDE);
    struct buf out = BUF_INIT;
    sym_print(pool, sum, &out);
    assert_true(out.n > WIDE * 6);
    buf_release(&out);
    check_failure(pool, sym_expand(pool, sym_mul(pool, sum, sym_add(pool, sum, SYM_ID_ONE))),
                  "expands to more than");
    free(terms);
    sym_pool_free(pool);
}

/* Parts shared at every level: as text, or compared part by part, there would be 2^200 of them. */
static void test_shared_parts_take_bounded_work(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id x = sym_by_name(NULL, pool, STR("u0")), y = sym_by_name(NULL, pool, STR("u1"));
    sym_id seven = sym_integer(pool, 7);
    for (int i = 0; i < 200; i++) {
        sym_id next = sym_python_mod(pool, sym_add(pool, x, y), seven);
        y = sym_python_mod(pool, sym_add(pool, x, sym_mul(pool, SYM_ID_TWO, y)), seven);
        x = sym_max(pool, next, sym_binary(pool, SYM_BITWISE_AND, x, y));
    }
    assert_int_not_equal(x, SYM_NONE);
    sym_id wide = sym_le(pool, sym_mul(pool, x, sym_add(pool, x, y)), y);
    assert_int_not_equal(sym_canonical(pool, sym_expand(pool, wide)), SYM_NONE);
    sym_bound(pool, wide, NULL, NULL);
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    sym_ok(pool, &err);
    err = ERR_INIT;
    sym_print(pool, wide, &out);
    assert_false(sym_ok(pool, &err));
    assert_err(&err, ERR_INPUT, "text is longer");
    sym_print_python(pool, wide, NULL, NULL, &out);
    assert_false(sym_ok(pool, &err));
    buf_release(&out);
    sym_pool_free(pool);
}

static void test_replace_builds_anew(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id s0 = sym_by_name(NULL, pool, STR("s0"));
    sym_id e = parse(pool, "Max(1, s0)*((s0 + 1)//2) + 3*s0");
    struct sym_pair pair = { s0, sym_integer(pool, 5) };
    check_print(pool, sym_replace(pool, e, &pair, 1), "30");
    sym_id s1 = sym_by_name(NULL, pool, STR("s1"));
    struct sym_pair swap[] = { { s0, s1 }, { s1, s0 } };
    check_print(pool, sym_replace(pool, parse(pool, "s0 - 2*s1"), swap, 2), "-2*s0 + s1");
    assert_true(sym_has(pool, e, s0));
    assert_false(sym_has(pool, e, s1));
    sym_pool_free(pool);
}

static void test_canonical_conditions(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "u0 >= 4", "4 <= u0" },
        { "2*u0 > 6*u1", "3*u1 < u0" },
        { "Eq(6*u0 + 4*u1, 8)", "Eq(3*u0 + 2*u1, 4)" },
        { "u0 - u1 <= 3", "u0 <= u1 + 3" },
        { "-u0 < -4", "4 < u0" },
        { "(s0 > 4) | ((s1 < 3) & (u0 > 2))", "((2 < u0) | (4 < s0)) & ((4 < s0) | (s1 < 3))" },
    };
    struct sym_pool *pool = new_pool();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_print(pool, sym_canonical(pool, parse(pool, cases[i][0])), cases[i][1]);
    sym_pool_free(pool);
}

static void test_reads_guard_text_and_srepr_alike(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    assert_int_equal(parse(pool, "(-3) + s1 + ((-1)*s0)"), parse(pool, "-s0 + s1 - 3"));
    assert_int_equal(parse(pool, "(1 + s0) // 2"), parse(pool, "((s0 + 1)//2)"));
    /* A common factor that is a factor of neither as written. */
    assert_int_equal(parse(pool, "(4*(s0 + s1)*s2) // (4*s0 + 4*s1)"), parse(pool, "s2"));
    assert_int_equal(parse(pool, "(2*s0) == s1"), parse(pool, "Eq(2*s0, s1)"));
    check_print(pool, parse(pool, "2*(s0 + 1)"), "2*(s0 + 1)");
    check_print(pool, parse(pool, "Piecewise((1, Eq(u0, 1)), (0, True))"),
                "Piecewise((1, Eq(u0, 1)), (0, True))");
    struct buf out = BUF_INIT;
    sym_print_python(pool, parse(pool, "-s0 + s1 - 3"), NULL, NULL, &out);
    assert_str_is(buf_str(&out), "(-3) + s1 + ((-1)*s0)");
    buf_release(&out);
    sym_pool_free(pool);
}

static sym_id hint_of(void *user, sym_id symbol)
{
    struct sym_pool *pool = user;
    struct str name = sym_name(pool, symbol);
    return str_is(name, "s0") ? sym_integer(pool, 7) : SYM_NONE;
}

static void test_values_and_divisibility(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    check_print(pool, sym_evaluate(pool, parse(pool, "s0**2 - ((s0 + 1)//2)"), hint_of, pool),
                "45");
    assert_int_equal(sym_evaluate(pool, parse(pool, "s0 > 6"), hint_of, pool), SYM_ID_TRUE);
    assert_int_equal(sym_evaluate(pool, parse(pool, "s0 + s1"), hint_of, pool), SYM_NONE);
    struct err err = ERR_INIT;
    assert_true(sym_ok(pool, &err));
    assert_true(sym_divides(pool, parse(pool, "6*s0*s1"), parse(pool, "3*s1")));
    assert_false(sym_divides(pool, parse(pool, "6*s0 + 1"), SYM_ID_TWO));
    sym_pool_free(pool);
}

static void test_ranges(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id two = SYM_ID_TWO, ten = sym_integer(pool, 10);
    struct sym_range a = sym_range(pool, two, ten), b = sym_range(pool, two, SYM_ID_OO);
    assert_int_equal(b.upper, SYM_ID_INT_OO);
    assert_true(sym_range_is_subset(pool, a, b));
    assert_false(sym_range_is_subset(pool, b, a));
    assert_true(sym_range_equal(sym_range_intersect(pool, a, b), a));
    assert_true(sym_range_equal(sym_range_union(pool, a, b), b));
    assert_true(sym_range_contains(pool, a, sym_integer(pool, 3)));
    struct buf out = BUF_INIT;
    sym_range_print(pool, b, &out);
    sym_id tiny = sym_float(pool, 1e-5), tinier = sym_float(pool, 1e-12);
    sym_range_print(pool, sym_range(pool, tiny, tiny), &out);
    sym_range_print(pool, sym_range(pool, tinier, tinier), &out);
    assert_str_is(buf_str(&out), "VR[2, int_oo]VR[0.0000100000000000000, 0.0000100000000000000]"
                                 "VR[1.00000000000000E-12, 1.00000000000000E-12]");
    buf_release(&out);
    check_failure(pool, sym_range(pool, ten, two).lower, "ValueRangeError");
    check_failure(pool, sym_range(pool, SYM_ID_TRUE, two).lower, "AssertionError");
    assert_int_equal(sym_known(pool, parse(pool, "s0 + 1 > 1"), NULL, NULL), SYM_YES);
    assert_int_equal(sym_known(pool, parse(pool, "s0 > s1"), NULL, NULL), SYM_UNKNOWN);
    sym_pool_free(pool);
}

static void test_solve(void **state)
{
    (void)state;
    struct sym_pool *pool = new_pool();
    sym_id u0 = sym_by_name(NULL, pool, STR("u0"));
    check_print(pool, sym_solve(pool, parse(pool, "2*u0 + 3 < 9"), u0, true), "u0 < 3");
    check_print(pool, sym_solve(pool, parse(pool, "-u0 >= 4"), u0, true), "u0 <= -4");
    check_print(pool, sym_solve(pool, parse(pool, "(u0//4) >= 2"), u0, true), "u0 >= 8");
    assert_int_equal(sym_solve(pool, parse(pool, "(u0//4) >= 2"), u0, false), SYM_NONE);
    assert_int_equal(sym_solve(pool, parse(pool, "u0 < u0*u1"), u0, true), SYM_NONE);
    struct err err = ERR_INIT;
    assert_true(sym_ok(pool, &err));
    sym_pool_free(pool);
}

/* A piece of everything; true when nothing failed. */
static bool attempt(void *arg)
{
    static const char *const formulas[][2] = {
        { "str", "(FloorDiv (Mul (Add s0 s1 1) (Mul 4 s2)) (Add s0 (Mul 2 s1)))" },
        { "python", "(Max (Min s0 s1) (Add s2 (ToFloat s1)) (Mod s0 8))" },
        { "canonical", "(Or (And (Lt s0 u0) (Gt s1 u1)) (Eq u0 (Mul 9223372036854775807 s0 s1)))" },
        { "expand", "(Pow (Add s0 s1 s2 u0 u1 s10 7) 3)" },
        { "range", "(Add (Mul s0 s1) (PythonMod u0 s1) (Abs u1))" },
        { "imply", "(Lt (Add s0 u0) (Mul 3 u1))" },
    };
    (void)arg;
    struct err err = { .kind = ERR_NONE };
    struct sym_pool *pool = sym_pool_new(&err);
    if (!pool)
        return false;
    bool ok = true;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        struct buf out = BUF_INIT;
        sym_answer_case(pool, str_of(formulas[i][0]), str_of(formulas[i][1]), &out);
        ok = ok && !out.failed && out.n && !str_is(buf_str(&out), "!");
        buf_release(&out);
    }
    sym_pool_free(pool);
    return ok;
}

static void test_memory_failures(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % n;
}

static sym_id draw_expr(struct sym_pool *pool, uint64_t *state, unsigned depth)
{
    static const char *const names[] = { "s0", "s1", "u0", "zf0" };
    static const enum sym_kind kinds[] = { SYM_ADD, SYM_ADD, SYM_MUL, SYM_MUL, SYM_MAX, SYM_POW };
    if (depth == 0)
        return draw(state, 3) ? sym_by_name(NULL, pool, str_of(names[draw(state, 4)]))
                              : sym_integer(pool, (int64_t)draw(state, 9) - 4);
    enum sym_kind kind = kinds[draw(state, 6)];
    sym_id a = draw_expr(pool, state, depth - 1);
    sym_id b = kind == SYM_POW ? sym_integer(pool, 2) : draw_expr(pool, state, depth - 1);
    if (kind == SYM_MUL && sym_kind_of(pool, a) == SYM_INTEGER && a != SYM_ID_ZERO &&
        a != SYM_ID_ONE && sym_kind_of(pool, b) == SYM_ADD) /* as printed: 2*(s0 + s1) */
        return sym_unevaluated(pool, kind, (sym_id[]){ a, b }, 2);
    return sym_binary(pool, kind, a, b);
}

/* A difference is made without the negative term, and is the same expression. */
static void differences(void **state)
{
    struct err err = { 0 };
    struct sym_pool *pool = sym_pool_new(&err);
    uint64_t random = 1;
    (void)state;
    assert_non_null(pool);
    for (int i = 0; i < 20000; i++) {
        sym_id a = draw_expr(pool, &random, 1 + draw(&random, 3));
        sym_id b = draw_expr(pool, &random, 1 + draw(&random, 4));
        if (!sym_ok(pool, &err))
            continue;
        if (sym_sub(pool, a, b) != sym_add(pool, a, sym_neg(pool, b)))
            fail_msg("case %d", i);
        sym_ok(pool, &err);
    }
    sym_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_is_the_same_id),
        cmocka_unit_test(test_symbols_differ_by_assumptions),
        cmocka_unit_test(test_integers_do_not_wrap),
        cmocka_unit_test(test_failures_stick_and_name_the_first),
        cmocka_unit_test(test_depth_and_width_are_bounded),
        cmocka_unit_test(test_shared_parts_take_bounded_work),
        cmocka_unit_test(test_replace_builds_anew),
        cmocka_unit_test(test_canonical_conditions),
        cmocka_unit_test(test_reads_guard_text_and_srepr_alike),
        cmocka_unit_test(test_values_and_divisibility),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_solve),
        cmocka_unit_test(test_memory_failures),
        cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
