#include "trace/base/number.h"

#include <stdlib.h>

#include "tests/harness.h"

static void test_division(void **state)
{
    (void)state;
    assert_int_equal(floor_div(-7, 2), -4);
    assert_int_equal(floor_div(7, -2), -4);
    assert_int_equal(floor_div(-8, 2), -4);
    assert_int_equal(floor_mod(-7, 3), 2);
    assert_int_equal(floor_mod(7, -3), -2);
    assert_int_equal(ceil_div(7, 2), 4);
    assert_int_equal(ceil_div(-7, 2), -3);
    assert_int_equal(ceil_div(8, 2), 4);
    assert_int_equal(common_divisor(-12, 18), 6);
    assert_int_equal(common_divisor(0, -5), 5);
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(bit_width(0), 0);
    assert_int_equal(bit_width(1), 1);
    assert_int_equal(bit_width(UINT64_MAX), 64);
    assert_true(i64_saturated(UINT64_MAX) == INT64_MAX);
    assert_true(i64_saturated(3) == 3);
}

static void test_order(void **state)
{
    (void)state;
    uint32_t numbers[] = { 3, UINT32_MAX, 0 };
    double values[] = { 2.5, -1, 0 };
    qsort(numbers, 3, sizeof *numbers, compare_u32);
    qsort(values, 3, sizeof *values, compare_double);
    assert_true(numbers[0] == 0 && numbers[2] == UINT32_MAX);
    assert_true(values[0] == -1 && values[2] == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
