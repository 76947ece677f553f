#include "profile/calls/guards/usual_latency.h"
#include "tests/harness.h"

static void test_one_out_of_proportion(void **state)
{
    (void)state;
    struct guard_latency all[] = { { 10, 5 }, { 40, 20 }, { 9000, 30 }, { 20, 10 }, { 150, 10 } };
    assert_true(usual_latencies(all, 5));
    assert_true(all[0].time == 10 && all[1].time == 40 && all[3].time == 20);
    assert_true(all[2].time == 60);  /* 2 a guard by the median */
    assert_true(all[4].time == 150); /* 7.5 times that */
}

static void test_too_few(void **state)
{
    (void)state;
    struct guard_latency all[] = { { 1, 1 }, { 1000, 1 } };
    assert_true(usual_latencies(all, 2));
    assert_true(all[1].time == 1000);
    assert_true(usual_latencies(NULL, 0));
}

static void test_not_known(void **state)
{
    (void)state;
    struct guard_latency all[] = { { -1, 5 }, { 1, 1 }, { 1, 1 }, { 0, 3 }, { 7, 0 }, { 90, 1 } };
    assert_true(usual_latencies(all, 6));
    assert_true(all[0].time == -1 && all[3].time == 0 && all[4].time == 7 && all[5].time == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_out_of_proportion),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
