#include "tests/harness.h"
#include "trace/graph/traceback.h"

static const char TEXT[] = "Something failed\n"
                           "\n"
                           "User code traceback:\n"
                           "  File \"a dir/model.py\", line 34, in forward\n"
                           "    x = s.hook(x)\n"
                           "  File \"model.py\", line 58, in hook\n"
                           "    return x, \"quoted\"\n"
                           "\n"
                           "Traceback (most recent call last):\n"
                           "  File \"torch/_dynamo/symbolic_convert.py\", line 1001, in wrapper\n"
                           "    return inner_fn(self, inst)\n"
                           "           ^^^^^^^^^^^^^^^^^^^^\n"
                           "  File \"<string>\", line 1, in <module>\n"
                           "  File \"nowhere.py\", line 3\n";

static void test_frames(void **state)
{
    (void)state;
    struct str text = str_of(TEXT);
    struct traceback_frame frame;
    assert_true(traceback_next(&text, &frame));
    assert_str_is(frame.file, "a dir/model.py");
    assert_str_is(frame.function, "forward");
    assert_str_is(frame.code, "x = s.hook(x)");
    assert_int_equal(frame.line, 34);
    assert_true(traceback_next(&text, &frame));
    assert_str_is(frame.code, "return x, \"quoted\"");
    assert_true(traceback_next(&text, &frame));
    assert_int_equal(frame.line, 1001);
    assert_true(traceback_next(&text, &frame));
    assert_str_is(frame.function, "<module>");
    assert_str_is(frame.code, ""); /* the next line is a frame */
    assert_true(traceback_next(&text, &frame));
    assert_str_is(frame.function, "");
    assert_false(traceback_next(&text, &frame));
}

static void test_of_user(void **state)
{
    (void)state;
    struct str section = traceback_of_user(str_of(TEXT));
    struct traceback_frame frame;
    assert_true(traceback_last(section, &frame));
    assert_int_equal(frame.line, 58);
    assert_true(section.n < sizeof TEXT / 2);
}

static void test_other_titles(void **state)
{
    (void)state;
    struct traceback_frame frame;
    struct str text = STR("error\n\nfrom user code:\n   File \"m.py\", line 7, in f\n    y = x\n\n"
                          "Set TORCHDYNAMO_VERBOSE=1\n  File \"other.py\", line 9, in g\n");
    assert_true(traceback_last(traceback_of_user(text), &frame));
    assert_str_is(frame.file, "m.py");
    text = STR("User Stack (most recent call last):\n  (snipped)\n  File \"m.py\", line 8, in f\n");
    assert_true(traceback_last(traceback_of_user(text), &frame));
    assert_int_equal(frame.line, 8);
    assert_int_equal(traceback_of_user(STR("no traceback")).n, 0);
    assert_int_equal(traceback_of_user(STR("User stack:")).n, 0);
}

static void test_what_is_no_frame(void **state)
{
    (void)state;
    struct traceback_frame frame = { .line = 5 };
    struct str text = STR("  File \"m.py\", line 99999999999999, in f\n  File \"m.py\n  File m.py\n"
                          "  File \"m.py\", line x\n  File \"m.py\", line \n");
    assert_false(traceback_last(text, &frame));
    assert_int_equal(frame.line, 5);
    assert_false(traceback_last(STR(""), &frame));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_of_user),
        cmocka_unit_test(test_other_titles),
        cmocka_unit_test(test_what_is_no_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
