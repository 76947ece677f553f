#include "profile/model/human.h"

#include "tests/harness.h"

static void test_bytes(void **state)
{
    (void)state;
    char text[HUMAN_SIZE];
    assert_string_equal(human_bytes(text, 0), "0 B");
    assert_string_equal(human_bytes(text, 999), "999 B");
    assert_string_equal(human_bytes(text, 1000), "1.00 kB");
    assert_string_equal(human_bytes(text, 9999), "10.0 kB");
    assert_string_equal(human_bytes(text, 97675862), "97.7 MB");
    assert_string_equal(human_bytes(text, 999600), "1.00 MB");
    assert_string_equal(human_bytes(text, UINT64_MAX), "18.4 EB");
}

static void test_times(void **state)
{
    (void)state;
    char text[HUMAN_SIZE];
    assert_string_equal(human_ns(text, 1), "1 ns");
    assert_string_equal(human_ns(text, 870000), "870 us");
    assert_string_equal(human_ns(text, 3410000000), "3.41 s");
    assert_string_equal(human_ns(text, 0), "0 ns");
    assert_string_equal(human_ns(text, 1500), "1.50 us");
    assert_string_equal(human_ns(text, 12345678), "12.3 ms");
    assert_string_equal(human_ns(text, 999499999), "999 ms");
    assert_string_equal(human_ns(text, 999500000), "1.00 s");
    assert_string_equal(human_ns(text, 64453738000), "64.5 s");
    assert_string_equal(human_ns(text, 453006000000), "7 min 33 s");
    assert_string_equal(human_ns(text, 7500000000000), "2 h 05 min");
    assert_string_equal(human_ns(text, INT64_MAX), "2562047 h 47 min");
}

static void test_counts(void **state)
{
    (void)state;
    char text[HUMAN_SIZE];
    assert_string_equal(human_count(text, 0), "0");
    assert_string_equal(human_count(text, 999), "999");
    assert_string_equal(human_count(text, 1000), "1,000");
    assert_string_equal(human_count(text, 1234567), "1,234,567");
    assert_string_equal(human_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
