#include "tests/log_make.h"
#include "trace/events/metrics.h"

static void test_fields(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    log_put(&log,
            "\"compilation_metrics\": {\"co_name\": \"forward\", \"co_filename\": \"m.py\", "
            "\"co_firstlineno\": 32, \"guard_count\": null, \"graph_op_count\": 26, "
            "\"entire_frame_compile_time_s\": 1.471646, \"duration_us\": 1471646, "
            "\"fail_type\": \"UserError\", \"fail_reason\": \"a\\nb\", "
            "\"fail_user_frame_filename\": \"m.py\", \"fail_user_frame_lineno\": 58, "
            "\"restart_reasons\": [\"one\", \"t\\u0077o\"]}",
            NULL);
    log_put(&log, "\"bwd_compilation_metrics_runtime\": {\"runtime_triton_autotune_time_us\": 5}",
            NULL);
    log_put(&log, "\"compilation_metrics\": {\"co_firstlineno\": \"x\", \"restart_reasons\": 3}",
            NULL);
    struct trace *trace = log_open(&log);
    struct metrics_list *list = metrics_read(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, 3);
    const struct metrics *m = &list->metrics[0];
    assert_str_is(m->function, "forward");
    assert_int_equal(m->line, 32);
    assert_int_equal(m->values[METRIC_GUARD_COUNT], METRIC_ABSENT);
    assert_int_equal(m->values[METRIC_GRAPH_OP_COUNT], 26);
    assert_int_equal(m->values[METRIC_ENTIRE_FRAME_COMPILE], 1471646000);
    assert_int_equal(m->values[METRIC_DURATION], 1471646000);
    assert_str_is(m->fail_reason, "a\nb");
    assert_int_equal(m->fail_line, 58);
    assert_int_equal(m->n_restart_reasons, 2);
    assert_str_is(m->restart_reasons[1], "two");
    assert_false(m->backward || m->runtime);
    m = &list->metrics[1];
    assert_true(m->backward && m->runtime);
    assert_int_equal(m->values[METRIC_RUNTIME_TRITON_AUTOTUNE], 5000);
    assert_str_is(m->fail_type, "");
    m = &list->metrics[2];
    assert_int_equal(m->line, 0);
    assert_int_equal(m->n_restart_reasons, 0);
    metrics_free(list);
    trace_close(trace);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct metrics_list *list = metrics_read(arg, &err);
    bool ok = list != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    metrics_free(list);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log,
            "\"compilation_metrics\": {\"fail_reason\": \"a\\nb\", \"restart_reasons\": [\"\\n\"]}",
            NULL);
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    trace_close(trace);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(metric_name(METRIC_GUARD_LATENCY), "guard_latency_us");
    metrics_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
