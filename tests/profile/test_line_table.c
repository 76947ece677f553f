#include "profile/line_table.h"
#include "tests/profile/made.h"

static void test_library(void **state)
{
    (void)state;
    assert_true(line_is_library(STR("/env/lib/python3.12/site-packages/torch/nn/modules/conv.py")));
    assert_true(line_is_library(STR("/env/torch/_dynamo/eval_frame.py")));
    assert_true(line_is_library(STR("/home/torch/project/torch/functional.py")));
    assert_false(line_is_library(STR("/home/u/torch/project/model.py")));
    assert_false(line_is_library(STR("/env/timm/models/hrnet.py")));
    assert_false(line_is_library(STR("/env/torchvision/nn/x.py")));
    assert_false(line_is_library(STR("torch/nn/x.py"))); /* no path of an installation */
    assert_false(line_is_library(STR("")));
}

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
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_all_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
