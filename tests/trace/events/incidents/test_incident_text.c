#include "tests/harness.h"
#include "trace/events/incidents/incident_text.h"

static void test_break(void **state)
{
    (void)state;
    struct break_text b = break_text_parse(STR(
        "Graph break in user code at /home/u/m.py:129\n"
        "Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and "
        "falling back to eager. Graph break encountered:\n"
        "\n"
        "Failed to trace builtin operator\n"
        "  Explanation: Dynamo does not know `print`\n"
        "  Hint: Avoid calling it.\n"
        "  Hint: Another one.\n"
        "\n"
        "User code traceback:\n"
        "  File \"/home/u/m.py\", line 34, in forward\n"
        "    x = s.hook(x)\n"
        "  File \"/home/u/m.py\", line 129, in hook\n"
        "    print(x)\n"));
    assert_str_is(b.file, "/home/u/m.py");
    assert_int_equal(b.line, 129);
    assert_str_is(b.summary, "Failed to trace builtin operator");
    assert_str_is(b.explanation, "Dynamo does not know `print`");
    assert_str_is(b.hint, "Avoid calling it.");
    assert_true(b.skipped);
    assert_true(str_ends(b.reason, STR("Another one.")));
    struct traceback_frame frame;
    assert_true(traceback_last(b.traceback, &frame));
    assert_str_is(frame.code, "print(x)");
}

/* Until 2.6 there was one line. */
static void test_old_break(void **state)
{
    (void)state;
    struct break_text b = break_text_parse(
        STR("Graph break in user code at m.py:5\nReason: call_function BuiltinVariable(print)\n"
            "User code traceback:\n  File \"m.py\", line 5, in f\n    print(x)\n"));
    assert_str_is(b.summary, "call_function BuiltinVariable(print)");
    assert_int_equal(b.line, 5);
    assert_false(b.skipped);
    assert_str_is(b.explanation, "");
}

static void test_odd_breaks(void **state)
{
    (void)state;
    struct break_text b = break_text_parse(STR(""));
    assert_int_equal(b.line, 0);
    assert_str_is(b.summary, "");
    b = break_text_parse(STR("something else altogether"));
    assert_str_is(b.file, "");
    assert_str_is(b.summary, "something else altogether");
    b = break_text_parse(STR("Graph break in user code at m.py:many\n"));
    assert_int_equal(b.line, 0);
}

static void test_recompile(void **state)
{
    (void)state;
    struct recompile_text r = recompile_text_parse(
        STR("1/0: tensor 'x' size mismatch at index 1. expected 24, actual 30"));
    assert_str_is(r.compile, "1/0");
    assert_str_is(r.guard, "tensor 'x' size mismatch at index 1. expected 24, actual 30");
    assert_str_is(r.file, "");
    r = recompile_text_parse(
        STR("0/3: n == 0            # state[\"n\"] += 1  # models/a.py:86 in hook (HINT: x)"));
    assert_str_is(r.guard, "n == 0");
    assert_str_is(r.file, "models/a.py");
    assert_int_equal(r.line, 86);
    r = recompile_text_parse(
        STR("0/0: 2 <= x.size()[0]  # (_prims_common/__init__.py:288 in is_known)"));
    assert_str_is(r.guard, "2 <= x.size()[0]");
    assert_str_is(r.file, ""); /* PyTorch's place is none of the user's */
    assert_str_is(r.code, "");
    r = recompile_text_parse(STR("!1/0/2: n == 0  # x\nUser stack trace:\n"
                                 "  File \"/u/a.py\", line 34, in forward\n    s.hook(x)\n"
                                 "  File \"/u/a.py\", line 86, in hook\n    state += 1"));
    assert_str_is(r.compile, "!1/0/2");
    assert_str_is(r.guard, "n == 0");
    assert_str_is(r.file, "/u/a.py");
    assert_int_equal(r.line, 86);
}

static void test_odd_recompiles(void **state)
{
    (void)state;
    struct recompile_text r = recompile_text_parse(STR("a: b"));
    assert_str_is(r.compile, "");
    assert_str_is(r.guard, "a: b");
    r = recompile_text_parse(STR("17: b"));
    assert_str_is(r.compile, "");
    r = recompile_text_parse(STR(""));
    assert_str_is(r.guard, "");
    r = recompile_text_parse(STR("0/0: x  # # #"));
    assert_str_is(r.guard, "x");
    assert_int_equal(r.line, 0);
}

static void test_restart(void **state)
{
    (void)state;
    struct str class_ = STR("<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>");
    assert_str_is(restart_summary(class_), "TensorifyScalarRestartAnalysis");
    assert_str_is(restart_meaning(restart_summary(class_)), "a float was specialized");
    assert_str_is(restart_summary(STR("\n Failed to trace\n  Explanation: y")), "Failed to trace");
    assert_str_is(restart_summary(STR("<class ''>")), "<class ''>");
    assert_str_is(restart_meaning(STR("Failed to trace")), "");
    assert_str_is(restart_summary(STR("")), "");
}

static void test_exception(void **state)
{
    (void)state;
    struct str type, message;
    assert_true(exception_parse(STR("Traceback (most recent call last):\n"
                                    "  File \"a.py\", line 1, in f\n"
                                    "    raise ValueError\n"
                                    "ValueError: first\n"
                                    "\n"
                                    "Traceback (most recent call last):\n"
                                    "  File \"b.py\", line 1, in f\n"
                                    "torch._dynamo.exc.UserError: second\n"
                                    "more of it\n"),
                                &type, &message));
    assert_str_is(type, "UserError");
    assert_str_is(message, "second\nmore of it");
    assert_false(exception_parse(STR("ValueError: no traceback"), &type, &message));
    assert_true(exception_parse(STR("Traceback (most recent call last):\nKeyboardInterrupt"), &type,
                                &message));
    assert_str_is(type, "KeyboardInterrupt");
    assert_str_is(message, "");
}

static void test_cause(void **state)
{
    (void)state;
    struct str type = STR(""), message = STR("");
    assert_true(exception_cause(STR("Traceback (most recent call last):\n  File \"a.py\", line 1\n"
                                    "a.KeyError: k\n\n"
                                    "The above exception was the direct cause of the following\n"),
                                &type, &message));
    assert_str_is(type, "KeyError");
    assert_true(exception_cause(STR("call_method view(x): got ValueError('no (view)!')\n  Hint: h"),
                                &type, &message));
    assert_str_is(type, "ValueError");
    assert_str_is(message, "no (view)!");
    assert_false(exception_cause(STR("x: got it"), &type, &message));
    assert_false(exception_cause(STR("x: got it('"), &type, &message));
    assert_false(exception_cause(STR(""), &type, &message));
}

static void test_program_frame(void **state)
{
    (void)state;
    static const char USER[] = "  File \"/u/m.py\", line 7, in forward\n    y = self.fc(x)\n";
    static const char TORCH[] =
        "  File \"/env/torch/nn/modules/linear.py\", line 125, in forward\n    return F.linear(\n";
    struct traceback_frame frame;
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s%s", USER, TORCH);
    assert_true(traceback_program_frame(buf_str(&text), &frame));
    assert_str_is(frame.file, "/u/m.py");
    assert_str_is(frame.code, "y = self.fc(x)");
    assert_true(traceback_program_frame(str_of(TORCH), &frame));
    assert_int_equal(frame.line, 125);
    assert_false(traceback_program_frame(STR("no frames"), &frame));
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_frame), cmocka_unit_test(test_break),
        cmocka_unit_test(test_old_break),     cmocka_unit_test(test_odd_breaks),
        cmocka_unit_test(test_recompile),     cmocka_unit_test(test_odd_recompiles),
        cmocka_unit_test(test_restart),       cmocka_unit_test(test_cause),
        cmocka_unit_test(test_exception),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
