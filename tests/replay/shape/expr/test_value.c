/* Values of expressions at a point: those that sympy's arithmetic gives, and none where rounding,
 * overflow or an inexact quotient would decide. */
#include "replay/shape/expr/solve.h"
#include "tests/harness.h"

static struct sym_number number_at(struct sym_pool *pool, const char *text, int64_t s0, double zf0,
                                   bool *ok)
{
    struct sym_value values[] = {
        { sym_by_name(NULL, pool, STR("s0")), { .whole = true, .integer = s0 } },
        { sym_by_name(NULL, pool, STR("zf0")), { .real = zf0 } },
    };
    struct sym_number ret = { 0 };
    sym_id e = sym_parse(pool, str_of(text), NULL, NULL);
    if (e == SYM_NONE)
        fail_msg("%s is not read", text);
    *ok = sym_value_at(pool, e, values, 2, &ret);
    return ret;
}

static void computes(void **state)
{
    static const struct {
        const char *text;
        int64_t s0, value;
    } rows[] = {
        { "3*s0 + 2", 5, 17 },
        { "s0**3 - 1", 4, 63 },
        { "((s0 - 9)//2)", 4, -3 },
        { "PythonMod(s0 - 9, 4)", 4, 3 },
        { "Mod(s0, 4)", 7, 3 },
        { "CleanDiv(s0, 7)", 21, 3 },
        { "Max(3, s0)*Min(3, s0)", 7, 21 },
        { "TruncToInt(2.5*ToFloat(s0))", 3, 7 },
        { "CeilToInt(IntTrueDiv(s0, 4))", 5, 2 },
        { "FloorToInt(IntTrueDiv(-s0, 4))", 5, -2 },
        { "Eq(s0, 5)", 5, 1 },
        { "Ne(s0, 5)", 5, 0 },
        { "(s0 < 6) & (s0 > 5)", 5, 0 },
        { "(s0 <= 4) | (s0 >= 5)", 5, 1 },
        { "zf0 < 1.5", 5, 1 },
        { "Eq(zf0, 1.0)", 5, 1 },
        { "zf0*s0 > 5", 5, 0 },
    };
    struct err err = { 0 };
    struct sym_pool *pool = sym_pool_new(&err);
    (void)state;
    assert_non_null(pool);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ok;
        struct sym_number ret = number_at(pool, rows[i].text, rows[i].s0, 1.0, &ok);
        if (!ok || !ret.whole || ret.integer != rows[i].value)
            fail_msg("%s at %lld", rows[i].text, (long long)rows[i].s0);
    }
    sym_pool_free(pool);
}

static void has_no_value(void **state)
{
    static const struct {
        const char *text;
        int64_t s0;
    } rows[] = {
        { "s0*s0", INT64_MAX },
        { "s0 + 1", INT64_MAX },
        { "s0**40", 100 },
        { "CleanDiv(s0, 7)", 20 },
        { "Mod(s0 - 9, 4)", 4 },
        { "(5//(s0 - 9))", 12 }, /* the divisor may be negative elsewhere */
        { "IntTrueDiv(1, s0 - 4)", 4 },
        { "ToFloat(s0)", INT64_MAX },
        { "zf0 < ToFloat(s0)", INT64_MAX },
        { "ToFloat(s0) < 5.0000000001", 5 }, /* as near as rounding may bring them */
        { "s0 + u1", 5 },                    /* a symbol without a value */
        { "OpaqueUnaryFn_cos(s0)", 5 },
    };
    struct err err = { 0 };
    struct sym_pool *pool = sym_pool_new(&err);
    (void)state;
    assert_non_null(pool);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ok;
        number_at(pool, rows[i].text, rows[i].s0, 1.0, &ok);
        if (ok)
            fail_msg("%s at %lld has a value", rows[i].text, (long long)rows[i].s0);
    }
    struct sym_number ignored;
    assert_false(sym_value_at(pool, SYM_NONE, NULL, 0, &ignored));
    sym_pool_free(pool);
}

/* What stands twice is computed twice: an expression of very many parts has no value. */
static void heavy_expressions(void **state)
{
    struct err err = { 0 };
    struct sym_pool *pool = sym_pool_new(&err);
    (void)state;
    assert_non_null(pool);
    sym_id s0 = sym_by_name(NULL, pool, STR("s0")), e = s0;
    struct sym_value value = { s0, { .whole = true, .integer = 1 } };
    struct sym_number ret;
    bool light = sym_value_at(pool, e, &value, 1, &ret);
    assert_true(light && ret.integer == 1);
    for (int i = 0; i < 20; i++)
        e = sym_max(pool, sym_mod(pool, s0, sym_add(pool, e, sym_integer(pool, 2))),
                    sym_floordiv(pool, s0, sym_add(pool, e, sym_integer(pool, 3))));
    assert_true(sym_ok(pool, &err));
    assert_false(sym_value_at(pool, e, &value, 1, &ret));
    sym_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),
        cmocka_unit_test(has_no_value),
        cmocka_unit_test(heavy_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
