#include "profile/page/page_reduce.h"
#include "tests/harness.h"

static void expect_reduced(const char *json, uint32_t rows, uint32_t chars, const char *expected,
                           const char *omitted)
{
    const struct page_limits limits = { rows, chars };
    struct page_omitted found = { .texts = 0 };
    struct buf out = BUF_INIT, list = BUF_INIT;
    struct json_writer w = json_writer_of(&list);
    page_reduce(str_of(json), "", &limits, &out, &found);
    page_omitted_json(&found, &w, NULL);
    assert_str_is(buf_str(&out), expected);
    assert_str_is(buf_str(&list), omitted);
    buf_release(&out);
    buf_release(&list);
    page_omitted_release(&found);
}

static void test_whole(void **state)
{
    (void)state;
    expect_reduced("{\"a\":[1,{\"b\":\"x, ]\"},[]],\"c\":null}", 9, 99,
                   "{\"a\":[1,{\"b\":\"x, ]\"},[]],\"c\":null}", "[]");
}

static void test_markup(void **state)
{
    (void)state;
    expect_reduced("{\"<a>\":\"</script>&\xE2\x80\xA8\xE2\x80\xA9\"}", 9, 99,
                   "{\"\\u003ca\\u003e\":\"\\u003c/script\\u003e\\u0026\\u2028\\u2029\"}", "[]");
}

/* Bytes that are no character do not hide the one before them. */
static void test_stray_bytes(void **state)
{
    (void)state;
    expect_reduced("[\"<\x80/script>\xE2\x80\"]", 9, 99, "[\"\\u003c\x80/script\\u003e\xE2\x80\"]",
                   "[]");
    expect_reduced("[\"\\", 9, 99, "[\"\\\"", "[]");
    expect_reduced("[\"\\ud8", 9, 99, "[\"\\ud8\"", "[]");
    expect_reduced("[\"\\ud83d\\u", 9, 99, "[\"\\ud83d\\u\"", "[]");
}

static void test_rows(void **state)
{
    (void)state;
    expect_reduced("{\"p\":{\"rows\":[1,[2,\"],\\\"\"],{\"x\":[]},4]}}", 2, 99,
                   "{\"p\":{\"rows\":[1,[2,\"],\\\"\"]]}}",
                   "[{\"list\":\"p.rows\",\"left_out\":2}]");
    expect_reduced("{\"r\":[[1,2,3],[4,5,6,7]]}", 2, 99, "{\"r\":[[1,2],[4,5]]}",
                   "[{\"list\":\"r\",\"left_out\":3}]");
}

/* Members of records are kept, those of vocabularies are cut. */
static void test_members(void **state)
{
    (void)state;
    struct buf json = BUF_INIT, out = BUF_INIT;
    const struct page_limits limits = { 1, 9 };
    struct page_omitted found = { .texts = 0 };
    expect_reduced("{\"a\":1,\"b\":2}", 1, 9, "{\"a\":1,\"b\":2}", "[]");
    for (int i = 0; i < 300; i++)
        buf_printf(&json, "%s\"k%d\":%d", i ? "," : "{", i, i);
    buf_putc(&json, '}');
    page_reduce(buf_str(&json), "", &limits, &out, &found);
    assert_int_equal(found.lists.v[0].n, 100);
    assert_int_equal(out.p[out.n - 1], '}');
    buf_release(&json);
    buf_release(&out);
    page_omitted_release(&found);
}

/* A text is cut between characters and escapes. */
static void test_texts(void **state)
{
    (void)state;
    expect_reduced("[\"abcdef\",\"abc\"]", 9, 3, "[\"abc ... (3 more characters)\",\"abc\"]",
                   "[{\"list\":\"texts\",\"left_out\":1}]");
    expect_reduced("[\"a\xC3\xA9\xC3\xA9\"]", 9, 2, "[\"a\xC3\xA9 ... (1 more character)\"]",
                   "[{\"list\":\"texts\",\"left_out\":1}]");
    expect_reduced("[\"\\udb40\\udc41b\"]", 9, 1, "[\"\\udb40\\udc41 ... (1 more character)\"]",
                   "[{\"list\":\"texts\",\"left_out\":1}]");
    expect_reduced("[\"a\\u00e9\\\\\\\"b\"]", 9, 2, "[\"a\\u00e9 ... (3 more characters)\"]",
                   "[{\"list\":\"texts\",\"left_out\":1}]");
}

static void test_too_deep(void **state)
{
    (void)state;
    const struct page_limits limits = { 9, 9 };
    struct page_omitted found = { .texts = 0 };
    struct buf json = BUF_INIT, out = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_putc(&json, '[');
    page_reduce(buf_str(&json), "", &limits, &out, &found);
    assert_true(out.failed);
    buf_release(&json);
    buf_release(&out);
}

static void test_many_lists(void **state)
{
    (void)state;
    struct page_omitted found = { .texts = 0 };
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "list%d", i);
        assert_true(page_omit(&found, name, 1));
    }
    assert_int_equal(found.lists.n, 64);
    assert_int_equal(found.lists.v[63].n, 37);
    page_omitted_release(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),      cmocka_unit_test(test_markup),
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_members),
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_many_lists), cmocka_unit_test(test_stray_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
