/* Fits of the time of a unit: a few wrong samples do not move a median, and no term is below 0. */
#include <math.h>

#include "profile/model/cost_model/cost_fit.h"
#include "tests/harness.h"

#define assert_near(actual, expected) assert_true(fabs((actual) - (expected)) < 1e-6)

#define UNITS(units, time)                                     \
    {                                                          \
        .amount = { [COST_TERM_UNIT] = (units) }, .ns = (time) \
    }
#define SIZES(units, sizes, time)                                                          \
    {                                                                                      \
        .amount = { [COST_TERM_UNIT] = (units), [COST_TERM_SIZE] = (sizes) }, .ns = (time) \
    }
#define BOTH (COST_BIT(UNIT) | COST_BIT(SIZE))

static void test_ratio(void **state)
{
    struct cost_sample samples[] = { UNITS(10, 100), UNITS(20, 220), UNITS(5, 45), UNITS(1, 9000),
                                     UNITS(0, 70) };
    struct cost_unit unit = cost_fit_ratio(samples, 5);
    (void)state;
    assert_int_equal(unit.n, 4); /* one has no units */
    double sum = 0;              /* it is kept, in another place */
    for (int i = 0; i < 5; i++)
        sum += samples[i].ns;
    assert_near(sum, 100 + 220 + 45 + 9000 + 70);
    assert_near(unit.ns, 11);
    assert_near(unit.low_ns, 10);
    assert_near(unit.high_ns, 11);
    assert_near(unit.term_ns[COST_TERM_UNIT], 11);
    const double amount[COST_TERMS] = { [COST_TERM_UNIT] = 3, [COST_TERM_SIZE] = 100 };
    assert_near(cost_unit_time(&unit, amount), 33);
}

static void test_terms(void **state)
{
    const struct cost_sample samples[] = { SIZES(10, 0, 70), SIZES(20, 3, 230), SIZES(5, 9, 305),
                                           SIZES(40, 1, 310) };
    struct cost_unit unit = { .n = 4 };
    (void)state;
    assert_true(cost_fit_terms(samples, 4, BOTH, &unit));
    assert_near(unit.term_ns[COST_TERM_UNIT], 7);
    assert_near(unit.term_ns[COST_TERM_SIZE], 30);
    assert_near(unit.term_ns[COST_TERM_ONCE], 0);
    assert_int_equal(unit.n, 4);
}

/* More sizes do not take less, and a term that is another one's multiple is not told from it. */
static void test_terms_without_a_place(void **state)
{
    const struct cost_sample falling[] = { SIZES(10, 9, 90), SIZES(10, 6, 94), SIZES(10, 3, 97),
                                           SIZES(10, 0, 100) };
    const struct cost_sample alike[] = { SIZES(1, 2, 8), SIZES(2, 4, 16), SIZES(3, 6, 24),
                                         SIZES(4, 8, 32) };
    struct cost_unit unit = { 0 };
    (void)state;
    assert_true(cost_fit_terms(falling, 4, BOTH, &unit));
    assert_near(unit.term_ns[COST_TERM_SIZE], 0);
    assert_true(unit.term_ns[COST_TERM_UNIT] > 9 && unit.term_ns[COST_TERM_UNIT] < 10);
    assert_true(cost_fit_terms(alike, 4, BOTH, &unit));
    assert_near(cost_unit_time(&unit, alike[3].amount), 32);
}

/* A sample whose units took less than a quarter of the median does not count. */
static void test_cheap(void **state)
{
    const struct cost_sample samples[] = { SIZES(10, 0, 70), SIZES(20, 3, 230), SIZES(5, 9, 305),
                                           SIZES(40, 1, 310), SIZES(1000, 0, 100) };
    struct cost_unit unit = { .ns = 8, .n = 5 };
    (void)state;
    assert_true(cost_fit_terms(samples, 5, BOTH, &unit));
    assert_near(unit.term_ns[COST_TERM_UNIT], 7);
    assert_near(unit.term_ns[COST_TERM_SIZE], 30);
}

static void test_few(void **state)
{
    struct cost_sample samples[] = { SIZES(10, 2, 300), SIZES(10, 0, 100), UNITS(0, 70) };
    const struct cost_unit shipped = { .term_ns = { [COST_TERM_UNIT] = 5, [COST_TERM_SIZE] = 50 } };
    struct cost_unit unit = { .ns = 1 };
    (void)state;
    assert_false(cost_fit_terms(samples, 3, BOTH, &unit));
    assert_near(unit.ns, 1);
    assert_true(cost_fit_scale(samples, 3, &shipped, &unit)); /* both took twice as long */
    assert_near(unit.term_ns[COST_TERM_UNIT], 10);
    assert_near(unit.term_ns[COST_TERM_SIZE], 100);
    assert_false(cost_fit_scale(samples, 0, &shipped, &unit));
    assert_near(unit.term_ns[COST_TERM_SIZE], 100);
}

static void test_nothing(void **state)
{
    struct cost_sample none = UNITS(0, 5);
    struct cost_unit unit = { 0 };
    (void)state;
    assert_int_equal(cost_fit_ratio(&none, 1).n, 0);
    assert_near(cost_fit_ratio(NULL, 0).ns, 0);
    assert_false(cost_fit_terms(NULL, 0, BOTH, &unit));
    assert_false(cost_fit_scale(&none, 1, &unit, &unit));
}

/* Numbers of a damaged file make no time that is not a number. */
static void test_huge(void **state)
{
    const struct cost_sample samples[] = { SIZES(1e19, 1e19, 1), SIZES(1, 1e19, 1e19),
                                           SIZES(1e19, 0, 1e-3), SIZES(0, 0, 1e19) };
    struct cost_unit unit = { 0 };
    (void)state;
    cost_fit_terms(samples, 4, BOTH, &unit);
    for (unsigned i = 0; i < COST_TERMS; i++)
        assert_true(isfinite(unit.term_ns[i]) && unit.term_ns[i] >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_terms_without_a_place),
        cmocka_unit_test(test_cheap),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_huge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
