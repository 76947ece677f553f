#include "tests/harness.h"
#include "trace/base/text/decimal.h"

static int64_t scaled(const char *text, int scale)
{
    int64_t value = -77;
    assert_true(decimal_scaled(str_of(text), scale, &value));
    return value;
}

static void check_refused(const char *text, int scale)
{
    int64_t value = -77;
    assert_false(decimal_scaled(str_of(text), scale, &value));
    assert_int_equal(value, -77);
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(scaled("0", 9), 0);
    assert_int_equal(scaled("-0.0", 3), 0);
    assert_int_equal(scaled("7", 0), 7);
    assert_int_equal(scaled("1795162120139322.5", 3), 1795162120139322500);
    assert_int_equal(scaled("1.471646", 9), 1471646000);
    assert_int_equal(scaled("-2.5", 1), -25);
    assert_int_equal(scaled("30.96909236907959", 9), 30969092369); /* cut, not rounded */
    assert_int_equal(scaled("-1.9", 0), -1);
    assert_int_equal(scaled("0.0004", 3), 0);
}

static void test_exponents(void **state)
{
    (void)state;
    assert_int_equal(scaled("7.6878e-05", 9), 76878);
    assert_int_equal(scaled("1E3", 0), 1000);
    assert_int_equal(scaled("12e+2", -2), 12);
    assert_int_equal(scaled("5e-99999999999999999999", 3), 0);
    assert_int_equal(scaled("0e99999999999999999999", 3), 0);
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(scaled("9223372036854775807", 0), INT64_MAX);
    assert_int_equal(scaled("9223372036854775.807", 3), INT64_MAX);
    check_refused("9223372036854775808", 0);
    check_refused("9223372036854776", 3);
    check_refused("1e19", 0);
    check_refused("1e99999999999999999999", 0);
    check_refused("0.1e400", 0);
}

static void test_what_is_no_number(void **state)
{
    (void)state;
    static const char *const TEXTS[] = { "",   "-",  ".5", "5.",  "1e",  "1e+",      "NaN",
                                         "+1", "1 ", " 1", "0x1", "1,5", "Infinity", "--1" };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        check_refused(TEXTS[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
