#include "minify/program/python_text.h"

#include "tests/harness.h"

typedef void put_text(struct buf *out, struct str text);

static void expect(put_text *put, struct str text, const char *wanted)
{
    struct buf out = BUF_INIT;
    put(&out, text);
    assert_str_is(buf_str(&out), wanted);
    buf_release(&out);
}

static void test_regexes(void **state)
{
    (void)state;
    expect(python_put_regex, STR("a\\.b \\\"c\\\""), "r\"a\\.b \\\"c\\\"\"");
    expect(python_put_regex, STR("a\"b"), "\"a\\\"b\"");
    expect(python_put_regex, STR("a\\"), "\"a\\\\\"");
    expect(python_put_regex, STR("a\\\\"), "r\"a\\\\\"");
    expect(python_put_regex, STR("a\rb"), "\"a\\rb\"");
}

static void test_comments(void **state)
{
    (void)state;
    expect(python_put_comment, STR("plain\ttext"), "# plain\ttext\n");
    expect(python_put_comment, STR("a\rb\nc\x0b\x0c\x1c\x1d\x1e"),
           "# a\\u000db\\u000ac\\u000b\\u000c\\u001c\\u001d\\u001e\n");
    expect(python_put_comment, STR("a\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\xED\xB0\x80"),
           "# a\\x85\\u2028\\u2029\\udc00\n");
    /* PEP 263: a comment on the first line that would decode all the others otherwise. */
    expect(python_put_comment, STR("-*- coding: utf-7 -*-"), "# -*- coding\\x3a utf-7 -*-\n");
    expect(python_put_comment, STR("vim: fileencoding=utf-7"), "# vim: fileencoding\\x3dutf-7\n");
    expect(python_put_comment, STR(""), "# \n");
}

static void number(const char *text, const char *wanted)
{
    struct buf out = BUF_INIT;
    assert_int_equal(python_put_number(&out, str_of(text)), wanted != NULL);
    assert_str_is(buf_str(&out), wanted ? wanted : "");
    buf_release(&out);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const same[] = { "0",  "-12",    "1e-05",  "0.5",        "1.",
                                        ".5", "-1E+10", "(1+2j)", "(-1.5-2e3j)" };
    static const char *const none[] = {
        "",         "-",   "e5",  ".",     "1e",    "1 ",    " 1",
        "0x10",     "1_0", "1+2", "(1)",   "(1+2)", "1if x", "inf()",
        "infinity", "1,2", "--1", "(1+2j", "1j2",   "1\n2",  "(1,__import__('os')+2j)"
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        number(same[i], same[i]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        number(none[i], NULL);
    number("007", "7");
    number("-00", "-0");
    number("+3", "3");
    number("inf", "float(\"inf\")");
    number("-inf", "float(\"-inf\")");
    number("nan", "float(\"nan\")");
    number("2j", "(0.0+2j)");
    number("(1-infj)", "complex(1, float(\"-inf\"))");
    char digits[2000];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    number(digits, NULL); /* Python reads no int of more than 4300 digits */
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = { "x", "_", "s27", "x.shape[0]", "__add__" };
    static const char *const none[] = {
        "",    "1x",           "a b",        "lambda", "None",     "x.shape[]", "x.shape[0",
        "x.y", "x.shape[0]()", "x.shape[a]", "x\n",    "\xC3\xA9", ".shape[0]"
    };
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(python_put_name(&out, str_of(names[i])));
    buf_clear(&out);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(python_put_name(&out, str_of(none[i])));
    assert_false(python_put_dotted(&out, STR("torch.ops.aten.random.from")));
    assert_false(python_put_dotted(&out, STR("torch..x")));
    assert_false(python_put_dotted(&out, STR("torch.x.")));
    assert_int_equal(out.n, 0);
    assert_true(python_put_dotted(&out, STR("torch.ops.aten.add.Tensor")));
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regexes),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
