#include "minify/signature.h"

#include "tests/harness.h"

static void same(const char *message, const char *expected, const char *regex)
{
    struct buf out = BUF_INIT;
    signature_normalise(str_of(message), &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, expected);
    buf_clear(&out);
    signature_regex(str_of(message), &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, regex);
    buf_release(&out);
}

static void test_numbers_and_symbols(void **state)
{
    (void)state;
    same("Cannot view a tensor with shape torch.Size([s43, s53, 32]) and strides (32, 32*s43, 1)",
         "Cannot view a tensor with shape torch.Size([S, S, N]) and strides (N, N*S, N)",
         "Cannot view a tensor with shape torch\\.Size\\(\\[\\w+, \\w+, \\d[\\w.]*\\]\\) and strides "
         "\\(\\d[\\w.]*, \\d[\\w.]*\\*\\w+, \\d[\\w.]*\\)");
    same("guard u12 > 8.5 (size u1)", "guard S > N (size S)",
         "guard \\w+ > \\d[\\w.]* \\(size \\w+\\)");
    same("size s and step_2 stay", "size s and step_2 stay", "size s and step_2 stay");
}

static void test_places(void **state)
{
    (void)state;
    same("\n  in \"/home/user/model.py\"   line 3 \nmore", "in \"model.py\" line N",
         "in \\\"\\S*?model\\.py\\\" line \\d[\\w.]*");
    same("a / b", "a / b", "a / b");
    same("", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_symbols),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
