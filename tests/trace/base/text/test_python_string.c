#include "trace/base/text/python_string.h"

#include "tests/harness.h"

static void expect(struct str text, const char *wanted)
{
    struct buf out = BUF_INIT;
    python_put_string(&out, text);
    assert_str_is(buf_str(&out), wanted);
    buf_release(&out);
}

static void test_strings(void **state)
{
    (void)state;
    static const char nul[] = { 'a', '\0', 'b' };
    expect(STR("plain 'text' \xC3\xA9"), "\"plain 'text' \xC3\xA9\"");
    expect(STR("\"\\\n\r\t\b\f"), "\"\\\"\\\\\\n\\r\\t\\b\\f\"");
    expect((struct str){ nul, 3 }, "\"a\\u0000b\"");
    expect(STR("\x0b\x1c\x1e\x7f"), "\"\\u000b\\u001c\\u001e\\u007f\"");
    expect(STR("\xC2\x85|\xE2\x80\xA8|\xE2\x80\xA9|\xE2\x80\xAE"),
           "\"\\x85|\\u2028|\\u2029|\\u202e\"");
    expect(STR("\xED\xA0\x80"), "\"\\ud800\"");
    expect(STR("\xFF\xC0\xE2\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    /* JSON has "\udb40\udc41" here, which Python reads as two characters. */
    expect(STR("\xF3\xA0\x81\x81"), "\"\\U000e0041\"");
    expect(STR("\xF0\x9F\x99\x82"), "\"\xF0\x9F\x99\x82\"");
}

static void test_repr(void **state)
{
    (void)state;
    static const struct {
        const char *text, *repr;
    } rows[] = {
        { "", "''" },
        { "it", "'it'" },
        { "it's", "\"it's\"" },
        { "say \"it\"", "'say \"it\"'" },
        { "\"it's\"", "'\"it\\'s\"'" },
        { "\n\r\t\x01\x7f\\", "'\\n\\r\\t\\x01\\x7f\\\\'" },
        { "\xC3\xA9", "'\xC3\xA9'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out = BUF_INIT;
        python_put_repr(&out, str_of(rows[i].text));
        assert_str_is(buf_str(&out), rows[i].repr);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_strings),
                                        cmocka_unit_test(test_repr) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
