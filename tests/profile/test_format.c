#include "profile/format.h"
#include "tests/harness.h"

#define CHECK(call, expected)                   \
    do {                                        \
        struct buf out = BUF_INIT;              \
        call;                                   \
        assert_str_is(buf_str(&out), expected); \
        buf_release(&out);                      \
    } while (0)

static void test_times(void **state)
{
    (void)state;
    CHECK(format_ns(&out, 0), "0 ns");
    CHECK(format_ns(&out, 999), "999 ns");
    CHECK(format_ns(&out, 1500), "1.50 us");
    CHECK(format_ns(&out, 870400), "870 us");
    CHECK(format_ns(&out, 12345678), "12.3 ms");
    CHECK(format_ns(&out, 999499999), "999 ms");
    CHECK(format_ns(&out, 999500000), "1.00 s");
    CHECK(format_ns(&out, INT64_C(64453738000)), "64.5 s");
    CHECK(format_ns(&out, INT64_C(453006000000)), "7 min 33 s");
    CHECK(format_ns(&out, INT64_C(7500) * 1000000000), "2 h 05 min");
    CHECK(format_ns(&out, INT64_MAX), "2562047 h 47 min");
}

static void test_counts(void **state)
{
    (void)state;
    CHECK(format_count(&out, 0), "0");
    CHECK(format_count(&out, 999), "999");
    CHECK(format_count(&out, 1234567), "1,234,567");
    CHECK(format_count(&out, UINT64_MAX), "18,446,744,073,709,551,615");
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
    CHECK(format_text(&out, STR("a\xc2\x9b"), 0), "a\\xc2"); /* C1 controls are controls */
    CHECK(format_text(&out, STR(""), 5), "");
    assert_int_equal(format_columns(STR("\xc3\xa9t\xc3\xa9")), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),  cmocka_unit_test(test_counts), cmocka_unit_test(test_shares),
        cmocka_unit_test(test_places), cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
