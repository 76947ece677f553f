#include "tests/harness.h"
#include "trace/events/incidents/failure_text.h"

static void test_fake_call(void **state)
{
    (void)state;
    struct failure_text t = failure_text_parse(STR(
        "RuntimeError when making fake tensor call\n"
        "  Explanation: Dynamo failed to run FX node with fake tensors: call_function <built-in "
        "function mul>(*(FakeTensor(..., size=(s23, s27)), 2), **{}): got RuntimeError('The size "
        "of tensor a (s27: hint = 30) must match (it\\'s it)')\n"
        "  Hint: Your code may result in an error when running in eager. Please double check.\n"
        "\n"
        "  Developer debug context: \n"));
    assert_str_is(t.summary, "RuntimeError when making fake tensor call");
    assert_str_is(t.call, "mul");
    assert_str_is(t.exception, "RuntimeError");
    assert_str_is(t.message, "The size of tensor a (s27: hint = 30) must match (it\\'s it)");
    assert_int_equal(t.n_hints, 0);
}

static void test_calls(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "Dynamo failed to run FX node with fake tensors: call_method view(*(x, 2), **{}): got "
          "ValueError(\"can't\")",
          "view", "can't" },
        { "Dynamo failed to run FX node with fake tensors: call_function <function pad at "
          "0x7f>(*(x,), **{}): got KeyError(3)",
          "pad", "3" },
        { "Failed running call_function <built-in method matmul of type object at "
          "0x7f>(*(FakeTensor(...)), **{}):\na and b must have same reduction dim\n",
          "matmul", "a and b must have same reduction dim" },
        { "Dynamo failed to run FX node with fake tensors: call_function audio.normalize(*(x,), "
          "**{}): got RuntimeError('no",
          "audio.normalize", "no" },
        { "Dynamo failed to run FX node with fake tensors: call_", "", "" },
        { "Dynamo failed to run FX node with fake tensors: call_method x", "x", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure_text t = failure_text_parse(str_of(cases[i][0]));
        assert_str_is(t.call, cases[i][1]);
        assert_str_is(t.message, cases[i][2]);
    }
}

static void test_hints(void **state)
{
    (void)state;
    struct failure_text t = failure_text_parse(
        STR("\n\nFailed to trace builtin operator\n  Explanation: Dynamo does not know `print`\n"
            "  Hint: Please report an issue to PyTorch.\n  Hint: Avoid calling it.\n"
            "  Hint: 2\n  Hint: 3\n  Hint: 4\n  Hint: 5\n"));
    assert_str_is(t.summary, "Failed to trace builtin operator");
    assert_str_is(t.explanation, "Dynamo does not know `print`");
    assert_int_equal(t.n_hints, FAILURE_HINTS);
    assert_str_is(t.hints[0], "Avoid calling it.");
    t = failure_text_parse(STR(""));
    assert_str_is(t.summary, "");
}

static void test_violations(void **state)
{
    (void)state;
    struct str text = STR(
        "Constraints violated (a, b)! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
        "  - You marked L['x'].size()[1] as dynamic but your code specialized it to be a constant "
        "(24). If you're using mark_dynamic, either remove it.\n"
        "  - something new\n"
        "  - Not all values of n = L['y'].size()[0] in the specified range 8 <= n <= 64 satisfy "
        "the generated guard L['y'].size()[0] % 4 == 0.\n"
        "  - Not all values of n = L['y'].size()[0] in the specified range satisfy the generated "
        "guard 4 <= L['y'].size()[0] and L['y'].size()[0] <= 96\n"
        "  - Not all values of n = L['y'].size()[0] in the specified range n <= 9 are valid because "
        "n was inferred to be equal to 2*L['z'].size()[0].\n"
        "  - The values of a = L['a'].size()[0] and b = L['b'].size()[0] must always be equal.\n"
        "Suggested fixes:\n");
    struct violation_text v;
    assert_true(violation_text_next(&text, &v));
    assert_str_is(v.source, "L['x'].size()[1]");
    assert_str_is(v.name, "L['x'].size()[1]");
    assert_str_is(v.value, "24");
    assert_true(violation_text_next(&text, &v));
    assert_str_is(v.name, "n");
    assert_str_is(v.source, "L['y'].size()[0]");
    assert_str_is(v.range, "8 <= n <= 64");
    assert_str_is(v.guard, "L['y'].size()[0] % 4 == 0");
    assert_true(violation_text_next(&text, &v));
    assert_str_is(v.range, "");
    assert_str_is(v.guard, "4 <= L['y'].size()[0] and L['y'].size()[0] <= 96");
    assert_true(violation_text_next(&text, &v));
    assert_str_is(v.equal, "2*L['z'].size()[0]");
    assert_true(violation_text_next(&text, &v));
    assert_str_is(v.source, "L['a'].size()[0]");
    assert_str_is(v.equal, "L['b'].size()[0]");
    assert_false(violation_text_next(&text, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fake_call),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_violations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
