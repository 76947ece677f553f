/* Two ranks that compiled the same program, nearly. */
#include "tests/profile/made.h"

static void put_compile(struct log_make *log, const char *context, const char *seconds, int guards)
{
    struct buf meta = BUF_INIT;
    log->context = context;
    made_strings(log);
    for (int i = 0; i < guards; i++)
        made_guard(log, "Ne(s0, 1)", "eval");
    buf_printf(&meta, "\"compilation_metrics\": {\"entire_frame_compile_time_s\": %s}", seconds);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static const struct profile_difference *find(const struct profile *p, const char *what)
{
    for (uint32_t i = 0; i < p->n_differences; i++)
        if (strcmp(p->differences[i].what, what) == 0)
            return &p->differences[i];
    return NULL;
}

static void test_two_logs(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make one = log_start(), two = log_start();
    put_compile(&one, LOG_COMPILE(0, 0, 0), "1.0", 2);
    put_compile(&two, LOG_COMPILE(0, 0, 0), "3.0", 3);
    put_compile(&two, LOG_COMPILE(1, 0, 0), "0.5", 0);
    struct trace *traces[] = { log_open(&one), log_open(&two) };
    struct profile *p = profile_build(traces, 2, NULL, &err);
    assert_non_null(p);
    assert_int_equal(p->n_recordings, 2);
    assert_int_equal(p->slowest, 1);
    assert_int_equal(p->compile_ns, INT64_C(4500000000));
    assert_int_equal(p->n_differences, 3);
    const struct profile_difference *d = find(p, "guards");
    assert_non_null(d);
    assert_int_equal(d->values[0], 2);
    assert_int_equal(d->values[1], 3);
    d = find(p, "ns");
    assert_non_null(d);
    assert_int_equal(d->values[1], INT64_C(3000000000));
    d = find(p, "present");
    assert_non_null(d);
    assert_str_is(d->compile, "1/0");
    assert_int_equal(d->values[0], 0);
    assert_int_equal(d->values[1], 1);
    profile_free(p);
    trace_close(traces[0]);
    trace_close(traces[1]);
}

/* A tenth of a second more or less is no difference worth a word. */
static void test_alike(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make one = log_start(), two = log_start();
    put_compile(&one, LOG_COMPILE(0, 0, 0), "2.0", 1);
    put_compile(&two, LOG_COMPILE(0, 0, 0), "2.1", 1);
    struct trace *traces[] = { log_open(&one), log_open(&two) };
    struct profile *p = profile_build(traces, 2, NULL, &err);
    assert_non_null(p);
    assert_int_equal(p->n_differences, 0);
    profile_free(p);
    trace_close(traces[0]);
    trace_close(traces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_logs),
        cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
