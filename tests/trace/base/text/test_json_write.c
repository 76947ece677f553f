#include "trace/base/text/json_write.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "trace/base/text/json.h"

static void test_commas_and_nesting(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.info/1"));
    json_open_array(&w, "empty");
    json_close(&w);
    json_open_array(&w, "mixed");
    json_put_u64(&w, NULL, UINT64_MAX);
    json_put_i64(&w, NULL, INT64_MIN);
    json_open_object(&w, NULL);
    json_close(&w);
    json_put_bool(&w, NULL, true);
    json_put_null(&w, NULL);
    json_close(&w);
    json_put_cstr(&w, "none", NULL);
    json_put_str_or_null(&w, "no text", STR(""));
    json_put_str_or_null(&w, "a text", STR("x"));
    json_put_key(&w, STR("aten.add.Tensor"));
    json_put_u64(&w, NULL, 3);
    json_put_key(&w, STR("nested"));
    json_open_array(&w, NULL);
    json_put_double(&w, NULL, 0.5);
    json_close(&w);
    json_put_raw(&w, "raw", STR("[1, 2]"));
    json_close(&w);
    assert_str_is(
        buf_str(&out),
        "{\"schema\":\"symtape.info/1\",\"empty\":[],\"mixed\":"
        "[18446744073709551615,-9223372036854775808,{},true,null],"
        "\"none\":null,\"no text\":null,\"a text\":\"x\",\"aten.add.Tensor\":3,\"nested\":[0.5],"
        "\"raw\":[1, 2]}");
    assert_int_equal(w.depth, 0);
    json_close(&w);
    assert_int_equal(w.depth, 0);
    buf_release(&out);
}

static void test_strings_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *value, *quoted;
    } cases[] = {
        { "", "\"\"" },
        { "\"\\/\b\f\n\r\t", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
        { "\x01\x1F\x7F", "\"\\u0001\\u001f\\u007f\"" },
        { "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
        { "\xED\xA0\xBD", "\"\\ud83d\"" },
        { "\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81", "\"\\u009b\\u202e\\udb40\\udc41\"" },
        { "\xED\xB8\x80", "\"\\ude00\"" },
        { "\xFF", "\"\xEF\xBF\xBD\"" },
        { "a\x80z", "\"a\xEF\xBF\xBDz\"" },
        { "\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },                 /* overlong NUL */
        { "\xE0\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" }, /* overlong */
        { "\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
        { "\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" }, /* cut */
        { "\xF0\x9F\x98", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = BUF_INIT;
        json_quote(&out, str_of(cases[i].value));
        assert_str_is(buf_str(&out), cases[i].quoted);
        buf_release(&out);
    }
    struct buf out = BUF_INIT;
    json_quote(&out, (struct str){ "a\0b", 3 });
    assert_str_is(buf_str(&out), "\"a\\u0000b\"");
    buf_release(&out);
}

static void test_doubles_read_back(void **state)
{
    (void)state;
    static const double values[] = { 0.0,
                                     -0.0,
                                     0.1,
                                     1.0 / 3,
                                     1e22,
                                     1e-7,
                                     DBL_MAX,
                                     DBL_MIN,
                                     5e-324,
                                     64.5,
                                     123456789.123456789,
                                     9007199254740993.0 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct buf out = BUF_INIT;
        json_number(&out, values[i]);
        buf_putc(&out, '\0');
        assert_double_is(strtod(out.p, NULL), values[i]);
        buf_release(&out);
    }
}

static void test_doubles_are_short(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    json_number(&out, 0.1);
    buf_putc(&out, ' ');
    json_number(&out, 42);
    buf_putc(&out, ' ');
    json_number(&out, NAN);
    buf_putc(&out, ' ');
    json_number(&out, -INFINITY);
    assert_str_is(buf_str(&out), "0.1 42 null null");
    buf_release(&out);
}

static void test_too_deep_fails_the_buffer(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    for (int i = 0; i < 63; i++)
        json_open_array(&w, NULL);
    assert_false(out.failed);
    for (int i = 0; i < 63; i++)
        json_close(&w);
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    assert_true(json_parse(&doc, buf_str(&out), &err));
    json_release(&doc);
    buf_clear(&out);
    for (int i = 0; i < 70; i++)
        json_open_object(&w, i ? "k" : NULL);
    assert_true(out.failed);
    for (int i = 0; i < 70; i++)
        json_close(&w);
    buf_release(&out);
}

static bool write_some(void *arg)
{
    (void)arg;
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    json_open_array(&w, NULL);
    for (int i = 0; i < 50; i++) {
        json_put_str(&w, NULL, STR("a line\nand \xFF"));
        json_put_double(&w, NULL, i / 3.0);
    }
    json_close(&w);
    bool done = !out.failed;
    buf_release(&out);
    return done;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    check_alloc_failures(write_some, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_and_nesting),
        cmocka_unit_test(test_strings_are_escaped),
        cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_doubles_are_short),
        cmocka_unit_test(test_too_deep_fails_the_buffer),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
