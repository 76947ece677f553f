#include "tests/log_make.h"
#include "trace/events/deep/env_calls.h"

static const char ROWS[] =
    "{\"env\": 0, \"call\": \"settings\", \"duck_shape\": true}\n"
    "{\"call\": \"evaluate_expr\", \"orig_expr\": \"Eq(s77, 1)\", \"out\": false, \"ns\": 40}\n"
    "this is no row\n"
    "{\"call\": 3, \"ns\": 1}\n"
    "{\"call\": \"evaluate_expr\", \"orig_expr\": true, \"ns\": 18446744073709551615}\n"
    "{\"call\": \"create_symbol\", \"val\": 3, \"ns\": 7}";

struct taken {
    uint32_t n;
    struct env_call calls[8];
    char methods[8][32];
};

static void take(void *user, const struct env_call *call)
{
    struct taken *to = user;
    assert_true(to->n < 8 && call->method.n < 32);
    memcpy(to->methods[to->n], call->method.p, call->method.n);
    to->calls[to->n++] = *call;
}

static struct trace *made_trace(void)
{
    struct log_make log = log_start();
    log_put(&log, "\"symtape_shape_env\": {\"env\": 0}", ROWS);
    log_put(&log, "\"symtape_costs\": {}", ROWS); /* another event */
    return log_open(&log);
}

static void test_calls(void **state)
{
    struct trace *trace = made_trace();
    struct taken taken = { 0 };
    struct err err = ERR_INIT;
    (void)state;
    assert_true(env_calls_read(trace, take, &taken, &err));
    assert_int_equal(taken.n, 3);
    assert_string_equal(taken.methods[0], "evaluate_expr");
    assert_int_equal(taken.calls[0].characters, strlen("Eq(s77, 1)"));
    assert_int_equal(taken.calls[0].ns, 40);
    assert_int_equal(taken.calls[1].characters, 0); /* a constant */
    assert_true(taken.calls[1].ns == UINT64_MAX);
    assert_string_equal(taken.methods[2], "create_symbol");
    assert_int_equal(taken.calls[2].characters, 0);
    trace_close(trace);
}

static bool read_once(void *trace)
{
    struct taken taken = { 0 };
    struct err err = ERR_INIT;
    return env_calls_read(trace, take, &taken, &err);
}

static void test_no_memory(void **state)
{
    struct trace *trace = made_trace();
    (void)state;
    check_alloc_failures(read_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_calls),
                                        cmocka_unit_test(test_no_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
