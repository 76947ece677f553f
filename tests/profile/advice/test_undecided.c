#include "profile/advice/undecided.h"
#include "tests/profile/made.h"

/* Two numbers that .item() read, u0 and u1; u0 is not negative; a size s5. */
static struct trace *make_trace(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    for (int i = 0; i < 2; i++) {
        struct buf meta = BUF_INIT;
        buf_printf(&meta,
                   "\"create_unbacked_symbol\": {\"symbol\": \"u%d\", \"vr\": \"[-int_oo, "
                   "int_oo]\", \"user_stack\": [], \"stack\": []}",
                   i);
        buf_putc(&meta, '\0');
        log_put(&log, meta.p, NULL);
        buf_release(&meta);
    }
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s5\", \"val\": \"40\", \"vr\": \"[2, int_oo]\", "
            "\"source\": \"L['x'].size()[1]\", \"user_stack\": [], \"stack\": []}",
            NULL);
    made_guard(&log, "u0 >= 0", "runtime_assert");
    made_guard(&log, "s5 > 4", "eval");
    return log_open(&log);
}

static const struct undecided_case {
    const char *question;
    enum undecided_help help;
    const char *fact;
    bool negates, answered;
} CASES[] = {
    { "u0 > u1", HELP_NONE, "", false, false },
    { "u0 > u1", HELP_CHECK, "u0 > u1", false, true },
    { "u0 > u1", HELP_CHECK, "u0 > u1", true, true },
    { "u0 > u1", HELP_CHECK, "u0 > 2", false, false },
    { "u0 > u1", HELP_CHECK, "(", false, false },
    { "u0 > u1", HELP_GUARD_OR, "", false, true },
    { "u0 > u1", HELP_BACKED, "", false, false },
    { "u0 > 16", HELP_BACKED, "", false, true },
    { "u0 > 16", HELP_CHECK, "u0 > 20", false, true },
    { "u0 >= 0", HELP_NONE, "", false, true },
    { "Eq(u1, 1)", HELP_NONE, "", false, false },
    { "Eq(u1, 1)", HELP_CHECK, "u1 >= 2", false, true },
    { "u0*u1 >= 32", HELP_CHECK, "u0*u1 >= 32", false, true },
    { "s5 > 8", HELP_NONE, "", false, true },
    { "u9 + (", HELP_CHECK, "u0 > u1", false, false },
};

static bool ask(struct trace *trace, const struct undecided_case *c, bool *answered)
{
    struct err err = { 0 };
    const struct undecided u = { trace, 0, trace->n_records - 1, str_of(c->question) };
    return undecided_is_answered(&u, c->help, str_of(c->fact), c->negates, answered, &err);
}

static void test_cases(void **state)
{
    (void)state;
    struct trace *trace = make_trace();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bool answered;
        assert_true(ask(trace, &CASES[i], &answered));
        if (answered != CASES[i].answered)
            fail_msg("%s with %s: %d", CASES[i].question, CASES[i].fact, answered);
    }
    trace_close(trace);
}

static bool attempt(void *user)
{
    bool answered = false;
    return ask(user, &CASES[1], &answered) && answered;
}

static void test_memory(void **state)
{
    (void)state;
    struct trace *trace = make_trace();
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
