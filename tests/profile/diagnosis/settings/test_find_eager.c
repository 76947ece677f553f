#include "tests/profile/diagnosis/found.h"

static const char BREAK_IN_LOOP[] =
    "Graph break in user code at /u/m.py:6\n"
    "Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling "
    "back to eager. Graph break encountered:\n\n"
    "graph break in loop\n"
    "  Explanation: torch.compile detected a graph break in a for/while loop.\n"
    "  Hint: Remove it.\n\n"
    "User code traceback:\n"
    "  File \"/u/m.py\", line 6, in f\n"
    "    print(x)\n";

static void put_skipped(struct log_make *log)
{
    log_put(log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log_artifact(log, "dynamo_graph_break_reason", BREAK_IN_LOOP);
    log_put(log,
            "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/u/m.py\", "
            "\"co_firstlineno\": 3, \"fail_type\": \"Unsupported\", \"fail_reason\": \"loop\"}",
            NULL);
}

static void test_nothing(void **state)
{
    (void)state;
    struct log_make log = log_start();
    put_skipped(&log);
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_NOTHING_COMPILED);
    assert_non_null(f);
    assert_contains(f->cause, "everything runs eagerly");
    assert_str_is(f->file, "/u/m.py");
    assert_int_equal(f->line, 6);
    assert_contains(f->evidence[0], "a graph break inside a loop");
    assert_null(found_one(&found, FINDING_EAGER));
    assert_null(found_one(&found, FINDING_BREAK)); /* the same cause */
    found_drop(&found);
}

static void test_some(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, "");
    log.context = LOG_COMPILE(1, 0, 0);
    put_skipped(&log);
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_EAGER);
    assert_non_null(f);
    assert_contains(f->cause, "1 of 2 compiles");
    assert_null(found_one(&found, FINDING_NOTHING_COMPILED));
    found_drop(&found);
}

/* What ended the program is the cause, and not that nothing was compiled. */
static void test_failed(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log,
            "\"compilation_metrics\": {\"co_name\": \"f\", \"fail_type\": \"ValueError\", "
            "\"fail_reason\": \"no\"}",
            NULL);
    struct found found = found_in(&log);
    assert_null(found_one(&found, FINDING_NOTHING_COMPILED));
    found_drop(&found);
}

static void test_no_compile(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log.context = "\"rank\": 0";
    log_put(&log, "\"str\": [\"/u/m.py\", 1]", NULL);
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_NOTHING_COMPILED);
    assert_non_null(f);
    assert_contains(f->cause, "the log has no compile");
    found_drop(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_no_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
