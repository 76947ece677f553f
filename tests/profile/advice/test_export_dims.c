#include "profile/advice/export_dims.h"
#include "tests/profile/made.h"

/* Symbols of two sizes, s5 of x and s7 of y, and one guard. */
static struct trace *make_trace(const char *guard)
{
    struct log_make log = log_start();
    made_strings(&log);
    log.context = "\"frame_id\": null";
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s5\", \"val\": \"40\", \"vr\": \"[8, 64]\", "
            "\"source\": \"L['x'].size()[1]\", \"user_stack\": [], \"stack\": []}",
            NULL);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s7\", \"val\": \"40\", \"vr\": \"[8, 64]\", "
            "\"source\": \"L['y'].size()[0]\", \"user_stack\": [], \"stack\": []}",
            NULL);
    made_guard(&log, guard, "eval");
    return log_open(&log);
}

static const struct dims_case {
    const char *guard;
    struct dim_remedy dim;
    enum dims_verdict verdict;
} CASES[] = {
    { "s5 <= 48", { .lower = 8, .upper = 48, .multiple = 1 }, DIMS_SATISFIED },
    { "s5 <= 48", { .lower = 8, .upper = 49, .multiple = 1 }, DIMS_VIOLATED },
    { "s5 <= 48", { .removed = true }, DIMS_SATISFIED },
    { "s5 <= 64", { .lower = 8, .upper = 48, .multiple = 1 }, DIMS_NOT_VIOLATED },
    { "Eq(Mod(s5, 4), 0)", { .lower = 2, .upper = 16, .multiple = 4 }, DIMS_SATISFIED },
    /* PyTorch 2.13 does not hold guards against the Dim that another one is derived from. */
    { "Eq(Mod(s5, 4), 0)", { .lower = 4, .upper = 32, .multiple = 2 }, DIMS_SATISFIED },
    { "Eq(Mod(s5, 4), 0)", { .lower = 8, .upper = 64, .multiple = 1 }, DIMS_VIOLATED },
    { "Eq(s5, 40)", { .removed = true }, DIMS_SATISFIED },
    { "Eq(s5, 40)", { .lower = 8, .upper = 48, .multiple = 1 }, DIMS_VIOLATED },
    { "s7 <= 48", { .lower = 8, .upper = 48, .multiple = 1 }, DIMS_NOT_VIOLATED },
    { "Eq(s7, s5)", { .multiple = 1, .root = { "L['y'].size()[0]", 16 } }, DIMS_SATISFIED },
    { "Eq(s7, s5)", { .multiple = 2, .root = { "L['y'].size()[0]", 16 } }, DIMS_VIOLATED },
    { "Eq(", { .removed = true }, DIMS_NOT_VIOLATED },
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct trace *trace = make_trace(CASES[i].guard);
        struct dim_remedy dim = CASES[i].dim;
        enum dims_verdict verdict;
        struct err err = ERR_INIT;
        dim.source = STR("L['x'].size()[1]");
        dim.attempt = TRACE_NONE;
        dim.record = trace->n_records;
        assert_true(export_dims_check(trace, &dim, &verdict, &err));
        if (verdict != CASES[i].verdict)
            fail_msg("%s: %d", CASES[i].guard, (int)verdict);
        trace_close(trace);
    }
}

static bool attempt(void *user)
{
    const struct dim_remedy dim = { .source = STR("L['x'].size()[1]"),
                                    .attempt = TRACE_NONE,
                                    .record = UINT32_MAX,
                                    .lower = 2,
                                    .upper = 16,
                                    .multiple = 4 };
    enum dims_verdict verdict;
    struct err err = { 0 };
    return export_dims_check(user, &dim, &verdict, &err) && verdict == DIMS_SATISFIED;
}

static void test_memory(void **state)
{
    (void)state;
    struct trace *trace = make_trace("Eq(Mod(s5, 4), 0)");
    check_alloc_failures(attempt, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
