#include "profile/compare/measures.h"
#include "tests/profile/made.h"

static void test_table(void **state)
{
    (void)state;
    enum measure m = MEASURES;
    assert_true(measure_find(STR("guards_kernel"), &m));
    assert_int_equal(m, MEASURE_GUARDS_KERNEL);
    assert_false(measure_find(STR("guards_"), &m));
    assert_false(measure_find(STR(""), &m));
    for (int i = 0; i < MEASURES; i++) {
        enum measure found = MEASURES;
        assert_true(measure_find(str_of(measure_row((enum measure)i)->name), &found));
        assert_int_equal(found, i); /* no name twice */
        assert_true(strlen(measure_row((enum measure)i)->meaning) > 0);
    }
    assert_string_equal(measure_unit_name(measure_row(MEASURE_MS_PER_OP)->unit), "ms");
    assert_string_equal(measure_source_name(measure_row(MEASURE_EXPRS)->source), "replayed");
}

static void is(const struct measures *m, enum measure measure, double value)
{
    if (!m->has[measure] || m->value[measure] < value - 1e-9 || m->value[measure] > value + 1e-9)
        fail_msg("%s: %g instead of %g", measure_row(measure)->name,
                 m->has[measure] ? m->value[measure] : -1.0, value);
}

static void test_profile(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    struct measures m = { 0 };
    measures_of_profile(made.profile, &m);
    is(&m, MEASURE_COMPILES, 1);
    is(&m, MEASURE_ATTEMPTS, 2);
    is(&m, MEASURE_RESTARTS, 1);
    is(&m, MEASURE_GRAPHS, 4);
    is(&m, MEASURE_CALLS, 3);
    is(&m, MEASURE_CALLS_DYNAMO, 1);
    is(&m, MEASURE_CALLS_THROWN, 3);
    is(&m, MEASURE_NODES, 3 + 1 + 4 + 2); /* inputs, calls and outputs of both levels */
    is(&m, MEASURE_EXPANSION, 3);
    is(&m, MEASURE_GUARDS, 3);
    is(&m, MEASURE_GUARDS_KEPT, 2);
    is(&m, MEASURE_GUARD_LINES, 1);
    is(&m, MEASURE_SYMBOLS, 2);
    is(&m, MEASURE_CACHE_MISSES, 1);
    is(&m, MEASURE_COMPILE_S, 0.18);
    is(&m, MEASURE_RESTARTED_S, 0.05);
    is(&m, MEASURE_MS_PER_OP, 60);
    is(&m, MEASURE_MS_PER_DYNAMO_OP, 180);
    assert_false(m.has[MEASURE_DISPATCHES]); /* that is the replay's */
    assert_false(m.has[MEASURE_CALLS_EXPORTED]);
    made_drop(&made);
}

static void test_take(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    struct measures m;
    assert_true(measures_take(trace, &(struct measure_options){ .replay = true }, &m, &err));
    is(&m, MEASURE_GUARDS, 3);
    assert_true(m.has[MEASURE_DISPATCHES] && m.value[MEASURE_DISPATCHES] > 0);
    struct measure_options one = { .compile = STR("0/0_1"), .replay = true };
    assert_true(measures_take(trace, &one, &m, &err));
    is(&m, MEASURE_GUARDS, 2);
    is(&m, MEASURE_ATTEMPTS, 1);
    one.compile = STR("7/0");
    assert_false(measures_take(trace, &one, &m, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    trace_close(trace);
}

static void test_nothing(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    log.context = "\"rank\": 0";
    log_put(&log, "\"other\": {}", NULL);
    struct trace *trace = log_open(&log);
    struct measures m;
    assert_true(measures_take(trace, &(struct measure_options){ .replay = true }, &m, &err));
    is(&m, MEASURE_COMPILES, 0);
    is(&m, MEASURE_GUARDS, 0);
    assert_false(m.has[MEASURE_COMPILE_S]);
    assert_false(m.has[MEASURE_MS_PER_OP]);
    assert_false(m.has[MEASURE_DISPATCHES]);
    trace_close(trace);
}

static void test_summary(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct measures all[4] = { 0 };
    struct measure_summary s[MEASURES];
    const double values[] = { 7, 1, 4, 2 };
    for (int i = 0; i < 4; i++) {
        all[i].has[MEASURE_GUARDS] = true;
        all[i].value[MEASURE_GUARDS] = values[i];
    }
    all[2].has[MEASURE_MS_PER_OP] = true;
    all[2].value[MEASURE_MS_PER_OP] = 18.5;
    assert_true(measures_summarize(all, 4, s, &err));
    assert_int_equal(s[MEASURE_GUARDS].n, 4);
    assert_true(s[MEASURE_GUARDS].median == 3);
    assert_true(s[MEASURE_GUARDS].least == 1 && s[MEASURE_GUARDS].greatest == 7);
    assert_int_equal(s[MEASURE_MS_PER_OP].n, 1);
    assert_true(s[MEASURE_MS_PER_OP].median == 18.5);
    assert_int_equal(s[MEASURE_BREAKS].n, 0);
    assert_true(measures_summarize(all, 3, s, &err));
    assert_true(s[MEASURE_GUARDS].median == 4);
    assert_true(measures_summarize(all, 0, s, &err));
    assert_int_equal(s[MEASURE_GUARDS].n, 0);
}

static void formats(enum measure measure, double value, const char *text)
{
    struct buf out = BUF_INIT;
    measure_format(measure, value, &out);
    assert_str_is(buf_str(&out), text);
    buf_release(&out);
}

static void test_format(void **state)
{
    (void)state;
    formats(MEASURE_GUARDS, 1234567, "1,234,567");
    formats(MEASURE_GUARDS, -3, "-3");
    formats(MEASURE_GUARDS, 2.5, "2.5");
    formats(MEASURE_COMPILE_S, 10.71, "10.7 s");
    formats(MEASURE_MS_PER_OP, 18.42, "18.4 ms");
    formats(MEASURE_EXPANSION, 2.262, "2.26");
    formats(MEASURE_COMPILE_S, 1e300, "2562047 h 47 min");
}

static bool take_again(void *user)
{
    struct err err = ERR_INIT;
    struct measures m;
    return measures_take(user, &(struct measure_options){ .replay = true }, &m, &err);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(take_again, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),         cmocka_unit_test(test_profile),
        cmocka_unit_test(test_take),          cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_summary),       cmocka_unit_test(test_format),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
