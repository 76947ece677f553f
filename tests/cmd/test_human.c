#include "cmd/human.h"

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
    assert_string_equal(human_ns(text, 540000000000), "540 s");
    assert_string_equal(human_ns(text, 123456000000000), "123456 s");
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
