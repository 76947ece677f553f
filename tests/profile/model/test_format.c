#include "profile/model/format.h"
#include "tests/harness.h"

#define CHECK(call, expected)                   \
    do {                                        \
        struct buf out = BUF_INIT;              \
        call;                                   \
        assert_str_is(buf_str(&out), expected); \
        buf_release(&out);                      \
    } while (0)

static void test_quantities(void **state)
{
    (void)state;
    CHECK(format_ns(&out, 870400), "870 us");
    CHECK(format_count(&out, 1234567), "1,234,567");
    CHECK(format_plural(&out, 1, "graph"), "1 graph");
    CHECK(format_plural(&out, 2000, "graph"), "2,000 graphs");
}

static void test_shares(void **state)
{
    (void)state;
    CHECK(format_share(&out, 1, 2), "50 %");
    CHECK(format_share(&out, 0, 2), "0 %");
    CHECK(format_share(&out, 1, 100000), "<1 %");
    CHECK(format_share(&out, 1, 0), "-");
}

static void test_places(void **state)
{
    (void)state;
    CHECK(format_place(&out, STR("/home/u/zoo/model.py"), 12), "zoo/model.py:12");
    CHECK(format_place(&out, STR("model.py"), 12), "model.py:12");
    CHECK(format_place(&out, STR("/model.py"), 0), "/model.py");
    CHECK(format_place(&out, STR(""), 12), "-");
}

static void test_texts(void **state)
{
    (void)state;
    CHECK(format_text(&out, STR("  a\n\t b  "), 0), "a b");
    CHECK(format_text(&out, STR("abcdefghij"), 10), "abcdefghij");
    CHECK(format_text(&out, STR("abcdefghijk"), 10), "abcdefg...");
    CHECK(format_text(&out, STR("\x1b[1m"), 0), "\\x1b[1m");
    CHECK(format_text(&out, STR("\xc3\xa9t\xc3\xa9s!!"), 5), "\xc3\xa9t...");
    CHECK(format_text(&out, STR("a\xff"), 0), "a\\xff");
    CHECK(format_text(&out, STR("a\xc2\x9b"), 0), "a\\u009b");   /* C1 controls are controls */
    CHECK(format_text(&out, STR("\xed\xa0\x80"), 0), "\\ud800"); /* a lone surrogate */
    CHECK(format_text(&out, STR("\xc0\xaf\xe2\x82"), 0), "\\xc0\\xaf\\xe2\\x82");
    CHECK(format_text(&out, STR(""), 5), "");
}

static void test_columns(void **state)
{
    (void)state;
    struct str text = STR("\xc3\xa9t\xc3\xa9");
    assert_int_equal(format_columns(text), 3);
    assert_int_equal(format_first(text, 0), 0);
    assert_int_equal(format_first(text, 1), 2);
    assert_int_equal(format_first(text, 9), 5);
    assert_int_equal(format_last(text, 0), 0);
    assert_int_equal(format_last(text, 1), 2);
    assert_int_equal(format_last(text, 2), 3);
    assert_int_equal(format_last(text, 9), 5);
}

static void test_wrapping(void **state)
{
    (void)state;
    CHECK(format_wrapped(&out, STR(" one two  three"), 0, 3, 3), "one two three\n");
    CHECK(format_wrapped(&out, STR("one two three"), 12, 2, 2), "one two\n  three\n");
    CHECK(format_wrapped(&out, STR("one two"), 7, 0, 0), "one two\n");
    CHECK(format_wrapped(&out, STR("one two"), 6, 0, 1), "one\n two\n");
    CHECK(format_wrapped(&out, STR("a onetwo \xc3\xa9"), 6, 0, 1), "a\n onetw\n o \xc3\xa9\n");
    CHECK(format_wrapped(&out, STR("one two"), 2, 0, 2), "one\n  two\n"); /* no room at all */
    CHECK(format_wrapped(&out, STR(""), 4, 0, 0), "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantities), cmocka_unit_test(test_shares),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_texts),
        cmocka_unit_test(test_columns),    cmocka_unit_test(test_wrapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
