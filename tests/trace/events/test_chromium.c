#include "tests/log_make.h"
#include "trace/events/chromium.h"

static void test_fields(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    log_phase(
        &log, 'B', "code_gen", "1795162120139322.5",
        ", \"pid\": 5, \"tid\": 6, \"args\": {\"fn_name\": \"f\\n\", \"compile_id\": \"0/0\", "
        "\"is_backward\": true}");
    log_phase(&log, 'b', "job", "1", ", \"id\": 17, \"args\": {\"kernel_name\": \"k\"}");
    log_phase(&log, 'X', "whole", "2", ", \"dur\": -4, \"id\": \"x\", \"tid\": \"main\"");
    log_put(&log, "\"chromium_event\": {}", "[]");
    log_put(&log, "\"chromium_event\": {}", "{}");
    struct trace *trace = log_open(&log);
    struct chromium_list *list = chromium_read(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, 4);
    assert_int_equal(list->n_unreadable, 1);
    const struct chromium_event *e = &list->events[0];
    assert_int_equal(e->phase, 'B');
    assert_int_equal(e->time_ns, 1795162120139322500);
    assert_int_equal(e->pid, 5);
    assert_int_equal(e->tid, 6);
    assert_str_is(e->name, "code_gen");
    assert_str_is(e->detail, "f\n");
    assert_str_is(e->compile, "0/0");
    assert_str_is(e->category, "dynamo_timed");
    assert_true(e->backward && e->timed);
    assert_int_equal(e->attempt, 0);
    assert_str_is(list->events[1].id, "17");
    assert_str_is(list->events[1].detail, "k");
    assert_str_is(list->events[2].id, "x");
    assert_int_equal(list->events[2].duration_ns, 0);
    assert_int_equal(list->events[3].phase, 0);
    assert_false(list->events[3].timed);
    chromium_free(list);
    trace_close(trace);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct chromium_list *list = chromium_read(arg, &err);
    bool ok = list != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    chromium_free(list);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "a\\n", "1", ", \"id\": 5, \"args\": {\"fn_name\": \"f\"}");
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    trace_close(trace);
    chromium_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
