#include "tests/harness.h"
#include "trace/record/record_cost.h"

static struct record_cost cost_of(const char *recording)
{
    struct err err = ERR_INIT;
    struct record_cost cost = { .compiles = 77 };
    struct trace *trace = trace_open(source_path(recording), NULL, &err);
    assert_no_err(&err);
    assert_non_null(trace);
    assert_true(record_cost_read(trace, &cost, &err));
    trace_close(trace);
    return cost;
}

/* Two compiles, the first in two attempts; both figures are in their compilation_metrics. */
static void test_restart_and_recompile(void **state)
{
    (void)state;
    struct record_cost cost = cost_of("tests/recordings/encoder.log.zst");
    assert_int_equal(cost.compiles, 2);
    assert_int_equal(cost.failed, 0);
    assert_int_equal(cost.unfinished, 0);
    assert_true(cost.logging_known);
    assert_in_range(cost.logging_ns, 1188367000, 1188369000); /* 1.087537 s + 0.100831 s */
}

static void test_failure(void **state)
{
    (void)state;
    struct record_cost cost = cost_of("tests/recordings/data_dependent.log.zst");
    assert_int_equal(cost.compiles, 1);
    assert_int_equal(cost.failed, 1);
    assert_true(cost.logging_known);
}

/* Ranks repeat each other's compile ids and are compiles of their own. */
static void test_ranks(void **state)
{
    (void)state;
    assert_int_equal(cost_of("tests/recordings/two_ranks").compiles, 2);
}

static const char *write_log(const char *text)
{
    const char *path = temp_path("small.log");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

#define HEADER "V1120 09:33:20.123000 77 torch/_dynamo/utils.py:1796] "
#define METRICS(event, attempt, metadata)                      \
    HEADER "{\"" event "\": {" metadata "}, \"frame_id\": 0, " \
           "\"frame_compile_id\": 0, \"attempt\": " attempt "}\n"
#define START(attempt)                                             \
    HEADER "{\"dynamo_start\": {\"stack\": []}, \"frame_id\": 0, " \
           "\"frame_compile_id\": 0, \"attempt\": " attempt "}\n"

static struct record_cost cost_of_log(const char *text)
{
    struct err err = ERR_INIT;
    struct record_cost cost = { 0 };
    struct trace *trace = trace_open(write_log(text), NULL, &err);
    assert_no_err(&err);
    assert_true(record_cost_read(trace, &cost, &err));
    trace_close(trace);
    return cost;
}

static void test_logged_without_a_compile(void **state)
{
    (void)state;
    struct record_cost cost = cost_of_log(HEADER "{\"str\": [\"/a.py\", 0]}\n");
    assert_int_equal(cost.compiles, 0);
    assert_false(cost.logging_known);
    assert_int_equal(cost.logging_ns, 0);
}

static void test_killed_in_a_compile(void **state)
{
    (void)state;
    struct record_cost cost = cost_of_log(START("0") START("1"));
    assert_int_equal(cost.compiles, 1);
    assert_int_equal(cost.unfinished, 1);
    assert_false(cost.logging_known);
}

/* The backward's figure holds the forward's. */
static void test_figures_of_one_compile_are_not_added(void **state)
{
    (void)state;
    struct record_cost cost = cost_of_log(
        START("0") START("1")
            METRICS("compilation_metrics", "1", "\"structured_logging_overhead_s\": 0.25")
                METRICS("bwd_compilation_metrics", "1", "\"structured_logging_overhead_s\": 0.375")
                    METRICS("compilation_metrics", "1", "\"structured_logging_overhead_s\": null"));
    assert_int_equal(cost.compiles, 1);
    assert_true(cost.logging_known);
    assert_int_equal(cost.logging_ns, 375000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart_and_recompile),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_logged_without_a_compile),
        cmocka_unit_test(test_killed_in_a_compile),
        cmocka_unit_test(test_figures_of_one_compile_are_not_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
