#include "trace/base/text/json.h"

#include <math.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "trace/base/arena.h"

static bool accepts(const char *text)
{
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    bool accepted = json_parse(&doc, str_of(text), &err);
    assert_int_equal(accepted, !err_is_set(&err));
    json_release(&doc);
    return accepted;
}

static void test_accepts_what_python_writes(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "null",
        "true",
        " false ",
        "0",
        "-0",
        "-0.0",
        "1e400",
        "1E+5",
        "0.5e-3",
        "NaN",
        "Infinity",
        "-Infinity",
        "123456789012345678901234567890123456789012345678901234567890123456789012345",
        "\"\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\/\"",
        "\"\xFF\xFE\"",
        "\"\x7F\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[[],{}]",
        "{\"a\":{\"a\":[1,2]},\"a\":3}",
        "\r\n\t [1 , 2]\n",
        "\"12345678\"",
        "\"1234567\xE2\x82\xAC\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!accepts(texts[i]))
            fail_msg("refused: %s", texts[i]);
}

static void test_refuses_the_rest_and_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "offset 0: expected a value" },
        { "  ", "offset 2: expected a value" },
        { "nul", "offset 0: expected a value" },
        { "nan", "offset 0: expected a value" },
        { "-NaN", "offset 1: bad number" },
        { "'a'", "offset 0: expected a value" },
        { "01", "bad number" },
        { "1.", "bad number" },
        { ".5", "expected a value" },
        { "1e", "bad number" },
        { "-", "bad number" },
        { "+1", "expected a value" },
        { "0x1", "offset 1: text after the value" },
        { "1 2", "offset 2: text after the value" },
        { "[1,2", "offset 4: expected ',' or ']'" },
        { "[1 2]", "offset 3: expected ',' or ']'" },
        { "[1,]", "offset 3: expected a value" },
        { "[,1]", "offset 1: expected a value" },
        { "]", "offset 0: expected a value" },
        { "[}", "offset 1: expected a value" },
        { "{", "expected a key" },
        { "{1:2}", "offset 1: expected a key" },
        { "{\"a\"}", "offset 4: expected ':'" },
        { "{\"a\":}", "offset 5: expected a value" },
        { "{\"a\":1,}", "offset 7: expected a key" },
        { "{\"a\":1 \"b\":2}", "offset 7: expected ',' or '}'" },
        { "{\"a\":1]", "expected ',' or '}'" },
        { "\"abc", "offset 4: unterminated string" },
        { "\"a\nb\"", "offset 2: control character" },
        { "\"1234567890\t\"", "offset 11: control character" },
        { "\"\\x\"", "bad escape" },
        { "\"\\", "bad escape" },
        { "\"\\u12g4\"", "bad \\u escape" },
        { "\"\\u12", "bad \\u escape" },
        { "\x01", "bad reference" },
        { "\x01x", "bad reference" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json doc = { 0 };
        struct err err = ERR_INIT;
        assert_false(json_parse(&doc, str_of(cases[i].text), &err));
        assert_err(&err, ERR_INPUT, cases[i].message);
        json_release(&doc);
    }
}

/* Every proper prefix of a whole object is refused, none is read behind its end. */
static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"a\\u00e9\": [1.5e3, NaN, \"\\ud83d\\ude00\", {\"b\": null}], \"c\": "
        "-Infinity, \"d\": true, \"long enough for words\": \"x\"}";
    assert_true(accepts(whole));
    struct json doc = { 0 };
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        struct err err = ERR_INIT;
        char *exact = memcpy(malloc(n ? n : 1), whole, n);
        assert_false(json_parse(&doc, (struct str){ exact, n }, &err));
        assert_true(err_is_set(&err));
        free(exact);
    }
    json_release(&doc);
}

static void test_special_bytes_are_found_at_every_position(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++)
        for (int c = 1; c < 256; c++) {
            char text[64] = "\"";
            memset(text + 1, c >= 0x80 ? 0x80 : 'x', n);
            text[n + 1] = (char)c;
            strcpy(text + n + 2, "n\"");
            bool closes_early = c == '"';
            assert_int_equal(accepts(text), c >= 0x20 && !closes_early);
        }
}

static void test_nesting_is_bounded(void **state)
{
    (void)state;
    static char deep[2 * 100000 + 1];
    static const size_t depths[] = { 1, JSON_MAX_DEPTH - 1, JSON_MAX_DEPTH, JSON_MAX_DEPTH + 1,
                                     100000 };
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        size_t depth = depths[i];
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        deep[2 * depth] = '\0';
        assert_int_equal(accepts(deep), depth <= JSON_MAX_DEPTH);
    }
    memset(deep, '[', 100000);
    deep[100000] = '\0';
    assert_false(accepts(deep));
}

static void test_walking(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    assert_true(json_parse(
        &doc, STR("{\"a\": [10, [], {\"x\": 1}, \"s\"], \"b\" : \"t\", \"a\": 2}"), &err));
    json_id a = json_get(&doc, JSON_ROOT, STR("a"));
    assert_int_equal(json_kind_of(&doc, a), JSON_ARRAY);
    assert_int_equal(json_count(&doc, JSON_ROOT), 6);
    assert_int_equal(json_members(&doc, JSON_ROOT), 3);
    assert_int_equal(json_count(&doc, a), 4);
    assert_int_equal(json_members(&doc, a), 0);
    static const enum json_kind kinds[] = { JSON_NUMBER, JSON_ARRAY, JSON_OBJECT, JSON_STRING };
    size_t n = 0;
    for (json_id id = json_first(&doc, a); id != JSON_NONE; id = json_next(&doc, id))
        assert_int_equal(json_kind_of(&doc, id), kinds[n++]);
    assert_int_equal(n, 4);
    assert_str_is(json_text(&doc, a), "[10, [], {\"x\": 1}, \"s\"]");
    json_id key = json_first(&doc, JSON_ROOT);
    assert_str_is(json_text(&doc, key), "a");
    assert_int_equal(json_next(&doc, key), a);
    assert_true(json_is(&doc, json_get(&doc, JSON_ROOT, STR("b")), "t"));
    assert_int_equal(json_get(&doc, JSON_ROOT, STR("x")), JSON_NONE);
    assert_int_equal(json_next(&doc, JSON_ROOT), JSON_NONE);
    json_release(&doc);
}

static void test_wrong_kinds_answer_nothing(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    int64_t i = 5;
    uint64_t u = 5;
    uint32_t ref = 5;
    double d = 5;
    assert_true(json_parse(&doc, STR("[1, \"1\"]"), &err));
    json_id nodes[] = { JSON_ROOT, 2, JSON_NONE, 77 };
    for (size_t k = 0; k < 4; k++) {
        assert_false(json_i64(&doc, nodes[k], &i) || json_u64(&doc, nodes[k], &u));
        assert_false(json_double(&doc, nodes[k], &d) || json_ref(&doc, nodes[k], &ref));
        assert_int_equal(json_get(&doc, nodes[k], STR("1")), JSON_NONE);
    }
    assert_true(i == 5 && u == 5 && ref == 5);
    assert_int_equal(json_first(&doc, 1), JSON_NONE);
    assert_int_equal(json_count(&doc, 1), 0);
    assert_str_is(json_str(&doc, 1), "");
    assert_str_is(json_text(&doc, JSON_NONE), "");
    assert_false(json_is(&doc, 1, "1"));
    assert_int_equal(json_kind_of(&doc, JSON_NONE), JSON_NULL);
    json_release(&doc);
}

static void test_numbers(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    int64_t i;
    uint64_t u;
    double d;
    assert_true(json_parse(&doc,
                           STR("[-9223372036854775808, 18446744073709551615, 1.5, NaN, "
                               "-Infinity, 123456789012345678901234567890, 1e-5, -0.0]"),
                           &err));
    assert_true(json_i64(&doc, 1, &i) && i == INT64_MIN);
    assert_false(json_u64(&doc, 1, &u));
    assert_true(json_u64(&doc, 2, &u) && u == UINT64_MAX);
    assert_false(json_i64(&doc, 2, &i));
    assert_false(json_i64(&doc, 3, &i));
    assert_true(json_double(&doc, 3, &d) && d == 1.5);
    assert_true(json_double(&doc, 4, &d) && isnan(d));
    assert_true(json_double(&doc, 5, &d) && isinf(d) && d < 0);
    assert_false(json_i64(&doc, 6, &i));
    assert_true(json_double(&doc, 6, &d) && d == 123456789012345678901234567890.0);
    assert_str_is(json_text(&doc, 6), "123456789012345678901234567890");
    assert_true(json_double(&doc, 7, &d) && d == 1e-5);
    assert_true(json_double(&doc, 8, &d));
    assert_double_is(d, -0.0);
    json_release(&doc);
}

static void test_long_numbers_convert(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    char text[201];
    memset(text, '1', 200);
    text[200] = '\0';
    double d;
    assert_true(json_parse(&doc, str_of(text), &err));
    assert_true(json_double(&doc, JSON_ROOT, &d) && d > 1.1e199 && d < 1.2e199);
    json_release(&doc);
}

static void test_strings_decode(void **state)
{
    (void)state;
    static const struct {
        const char *inside, *decoded;
    } cases[] = {
        { "plain", "plain" },
        { "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
        { "\\u0041\\u00e9\\u20AC", "A\xC3\xA9\xE2\x82\xAC" },
        { "\\ud83d\\ude00!", "\xF0\x9F\x98\x80!" },
        { "\\ud83d", "\xED\xA0\xBD" },
        { "\\ude00\\ud83d", "\xED\xB8\x80\xED\xA0\xBD" },
        { "\\ud83dx", "\xED\xA0\xBDx" },
        { "\\ud83d\\u0041", "\xED\xA0\xBD"
                            "A" },
        { "\\ud83d\\n", "\xED\xA0\xBD\n" },
        { "\xFF\\n\xFE", "\xFF\n\xFE" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = BUF_INIT, decoded = BUF_INIT;
        struct json doc = { 0 };
        struct err err = ERR_INIT;
        struct arena arena = ARENA_INIT;
        buf_printf(&text, "\"%s\"", cases[i].inside);
        assert_true(json_parse(&doc, buf_str(&text), &err));
        json_decode(&doc, JSON_ROOT, &decoded);
        assert_str_is(buf_str(&decoded), cases[i].decoded);
        assert_str_is(json_decoded(&doc, JSON_ROOT, &arena), cases[i].decoded);
        bool escaped = strchr(cases[i].inside, '\\');
        assert_str_is(json_str(&doc, JSON_ROOT), escaped ? "" : cases[i].decoded);
        arena_release(&arena);
        json_release(&doc);
        buf_release(&decoded);
        buf_release(&text);
    }
}

static void test_nul_can_be_escaped(void **state)
{
    (void)state;
    struct buf decoded = BUF_INIT;
    json_unescape(STR("a\\u0000b"), &decoded);
    assert_str_eq(buf_str(&decoded), ((struct str){ "a\0b", 3 }));
    buf_release(&decoded);
}

/* Text that was never checked may stop anywhere. */
static void test_cut_escapes_are_not_read_past(void **state)
{
    (void)state;
    static const char whole[] = "a\\ud83d\\ude00\\n\\\"";
    for (size_t n = 0; n < sizeof whole; n++) {
        struct buf decoded = BUF_INIT;
        char *exact = memcpy(malloc(n ? n : 1), whole, n);
        json_unescape((struct str){ exact, n }, &decoded);
        assert_true(decoded.n <= n);
        free(exact);
        buf_release(&decoded);
    }
}

static void test_references(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    uint32_t ref;
    assert_true(json_parse(&doc,
                           STR("{\"stack\": \x01"
                               "4294967295, \"big\": \x01"
                               "4294967296}"),
                           &err));
    json_id stack = json_get(&doc, JSON_ROOT, STR("stack"));
    assert_int_equal(json_kind_of(&doc, stack), JSON_REF);
    assert_true(json_ref(&doc, stack, &ref));
    assert_true(ref == UINT32_MAX);
    assert_false(json_ref(&doc, json_get(&doc, JSON_ROOT, STR("big")), &ref));
    json_release(&doc);
}

static void test_a_document_is_reused(void **state)
{
    (void)state;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    assert_true(json_parse(&doc, STR("[1, 2, 3]"), &err));
    assert_false(json_parse(&doc, STR("[1, 2"), &err));
    err = ERR_INIT;
    assert_true(json_parse(&doc, STR("7"), &err));
    assert_int_equal(json_count(&doc, JSON_ROOT), 0);
    assert_str_is(json_text(&doc, JSON_ROOT), "7");
    json_release(&doc);
}

static bool parse_and_decode(void *arg)
{
    (void)arg;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    bool done = json_parse(&doc, STR("[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], \"a\\nb\"]"), &err);
    assert_true(done || err.kind == ERR_ENV);
    if (done)
        done = json_decoded(&doc, json_next(&doc, 1), &arena).p != NULL;
    arena_release(&arena);
    json_release(&doc);
    return done;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    check_alloc_failures(parse_and_decode, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts_what_python_writes),
        cmocka_unit_test(test_refuses_the_rest_and_says_where),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_special_bytes_are_found_at_every_position),
        cmocka_unit_test(test_nesting_is_bounded),
        cmocka_unit_test(test_walking),
        cmocka_unit_test(test_wrong_kinds_answer_nothing),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_long_numbers_convert),
        cmocka_unit_test(test_strings_decode),
        cmocka_unit_test(test_nul_can_be_escaped),
        cmocka_unit_test(test_cut_escapes_are_not_read_past),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_a_document_is_reused),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
