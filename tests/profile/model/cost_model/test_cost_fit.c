/* Fits of the time of a unit: medians that a few wrong samples do not move. */
#include <math.h>

#include "profile/model/cost_model/cost_fit.h"
#include "tests/harness.h"

#define assert_near(actual, expected) assert_true(fabs((actual) - (expected)) < 1e-6)

static double pairs[COST_FIT_SAMPLES * COST_FIT_SAMPLES / 2];

static void test_ratio(void **state)
{
    struct cost_sample samples[] = {
        { 10, 100, 0 }, { 20, 220, 0 }, { 5, 45, 0 }, { 1, 9000, 0 }, { 0, 70, 0 },
    };
    struct cost_unit unit = cost_fit_ratio(samples, 5);
    (void)state;
    assert_int_equal(unit.n, 4); /* one has no units */
    assert_near(unit.ns, 11);
    assert_near(unit.low_ns, 10);
    assert_near(unit.high_ns, 11);
    assert_near(unit.base_ns, 0);
}

static void test_line(void **state)
{
    struct cost_sample samples[9];
    (void)state;
    for (int i = 0; i < 9; i++)
        samples[i] = (struct cost_sample){ 10 * (i + 1), 1000 + 7 * 10 * (i + 1), 0 };
    samples[4].ns = 1e9; /* an outlier */
    struct cost_unit unit = cost_fit_line(samples, 9, pairs);
    assert_near(unit.ns, 7);
    assert_near(unit.base_ns, 1000);
    assert_true(unit.low_ns <= 7 && unit.high_ns >= 7 && unit.high_ns < 8);
    assert_int_equal(unit.n, 9);
}

static void test_line_of_few(void **state)
{
    struct cost_sample two[] = { { 2, 8, 0 }, { 4, 16, 0 } };
    struct cost_sample falling[] = { { 1, 90, 0 }, { 2, 80, 0 }, { 3, 30, 0 } };
    struct cost_unit unit = cost_fit_line(two, 2, pairs);
    (void)state;
    assert_near(unit.ns, 4);
    assert_near(unit.base_ns, 0);
    unit = cost_fit_line(falling, 3, pairs); /* more units do not take less */
    assert_near(unit.ns, 10);                /* half of the units */
    assert_near(unit.base_ns, 0);
}

static void test_many(void **state)
{
    enum { MANY = COST_FIT_SAMPLES + 100 };
    static struct cost_sample samples[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++)
        samples[i] = (struct cost_sample){ i + 1, 3.0 * (i + 1) + 50, 0 };
    struct cost_unit unit = cost_fit_line(samples, MANY, pairs);
    assert_int_equal(unit.n, MANY);
    assert_near(unit.ns, 3);
    assert_near(unit.base_ns, 50);
}

static void test_nothing(void **state)
{
    struct cost_sample none = { 0, 5, 0 };
    (void)state;
    assert_int_equal(cost_fit_ratio(&none, 1).n, 0);
    assert_int_equal(cost_fit_line(&none, 0, pairs).n, 0);
    assert_near(cost_fit_ratio(NULL, 0).ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),       cmocka_unit_test(test_line),
        cmocka_unit_test(test_line_of_few), cmocka_unit_test(test_many),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
