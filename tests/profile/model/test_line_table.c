#include "profile/model/lines/line_table.h"
#include "tests/profile/made.h"

/* A stack of PyTorch's frames only has its innermost one for a user line. */
static void test_all_library(void **state)
{
    (void)state;
    struct log_make log = log_start();
    made_strings(&log);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"3\", \"user_stack\": [" MADE_TORCH
            "], \"stack\": []}",
            NULL);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s1\", \"val\": \"3\", \"user_stack\": [], "
            "\"stack\": []}",
            NULL);
    struct made made = made_profile(&log, NULL);
    assert_int_equal(made.profile->lines.n_lines, 1);
    assert_int_equal(made.profile->lines.lines[0].line, 194);
    assert_int_equal(made.profile->lines.lines[0].symbols, 1);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
