/* Polynomials with rational coefficients: bounds at the integers, and no number that wraps. */
#include "replay/shape/expr/poly.h"
#include "tests/harness.h"

static struct poly of(int64_t c, int64_t x, int64_t xx)
{
    return (struct poly){ { c, x, xx }, 1 };
}

static void assert_bound(struct poly a, enum poly_side side, bool strict, bool upper, int64_t at)
{
    bool is_upper;
    int64_t bound;
    assert_true(poly_bound(a, side, strict, &is_upper, &bound));
    assert_int_equal(is_upper, upper);
    assert_int_equal(bound, at);
}

static void test_bounds(void **state)
{
    (void)state;
    assert_bound(of(-7, 2, 0), POLY_AT_MOST, false, true, 3);   /* 2x <= 7 */
    assert_bound(of(-8, 2, 0), POLY_AT_MOST, true, true, 3);    /* 2x < 8 */
    assert_bound(of(-7, 2, 0), POLY_AT_LEAST, false, false, 4); /* 2x >= 7 */
    assert_bound(of(8, -2, 0), POLY_AT_MOST, false, false, 4);  /* 8 - 2x <= 0 */
    assert_bound(of(8, -2, 0), POLY_AT_LEAST, true, true, 3);   /* 8 - 2x > 0 */
    assert_bound(of(-100, 0, 1), POLY_AT_MOST, true, true, 9);
    assert_bound(of(-100, 0, 1), POLY_AT_LEAST, false, false, 10);
    assert_bound(of(-2147483647, 0, 3), POLY_AT_MOST, false, true, 26754);
    assert_true(poly_has_root(of(-100, 0, 1), 9));
    assert_false(poly_has_root(of(-99, 0, 1), 9));
    bool upper;
    int64_t bound;
    assert_false(poly_bound(of(3, 0, 0), POLY_AT_MOST, false, &upper, &bound));
    assert_false(poly_bound(of(3, 0, -1), POLY_AT_MOST, false, &upper, &bound));
}

static void test_arithmetic(void **state)
{
    (void)state;
    struct poly a, b;
    int64_t value;
    assert_true(poly_scale(of(-1, 1, 0), 1, 4, &a)); /* (x - 1)/4 */
    assert_true(poly_at(a, 9, &value) && value == 2);
    assert_false(poly_at(a, 8, &value));
    assert_true(poly_add(a, a, &b) && b.d == 2);
    assert_true(poly_mul(of(1, 1, 0), of(-1, 1, 0), &b));
    assert_int_equal(b.n[2], 1);
    assert_int_equal(b.n[0], -1);
    assert_false(poly_mul(of(0, 0, 1), of(0, 1, 0), &b)); /* the third degree */
    assert_false(poly_mul(of(INT64_MAX / 8, 0, 0), of(16, 0, 0), &b));
    assert_false(poly_scale(of(1, 0, 0), 1, 0, &b));
}

static void assert_ratio(struct ratio a, struct poly n, struct poly d)
{
    assert_memory_equal(&a.n, &n, sizeof n);
    assert_memory_equal(&a.d, &d, sizeof d);
}

/* Common factors are taken out, so that a quotient that is a polynomial is one. */
static void test_ratios(void **state)
{
    (void)state;
    const struct ratio x = ratio_of(of(0, 1, 0)), half = ratio_of((struct poly){ { 0, 1, 0 }, 2 });
    const struct ratio zero = ratio_of(of(0, 0, 0)), square = ratio_of(of(-1, 0, 1));
    struct ratio r;
    int64_t value;
    assert_true(ratio_divide(x, half, &r));
    assert_ratio(r, of(2, 0, 0), of(1, 0, 0));
    assert_true(ratio_divide(square, ratio_of(of(-1, 1, 0)), &r));
    assert_ratio(r, of(1, 1, 0), of(1, 0, 0));
    assert_true(ratio_subtract(x, ratio_of(of(8, 0, 0)), &r) && ratio_divide(r, half, &r));
    assert_ratio(r, of(-16, 2, 0), of(0, 1, 0));
    assert_true(ratio_at(r, 8, &value));
    assert_int_equal(value, 0);
    assert_true(ratio_at(r, -16, &value));
    assert_int_equal(value, 3);
    assert_false(ratio_at(r, 3, &value));
    assert_false(ratio_at(r, 0, &value));
    assert_true(ratio_add(r, r, &r) && ratio_mul(r, half, &r));
    assert_ratio(r, of(-16, 2, 0), of(1, 0, 0));
    assert_false(ratio_divide(x, zero, &r));
    assert_false(ratio_mul(square, ratio_of(of(0, 1, 0)), &r));
    assert_false(ratio_mul(ratio_of(of(INT64_MAX / 5, 0, 0)), ratio_of(of(9, 0, 0)), &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
