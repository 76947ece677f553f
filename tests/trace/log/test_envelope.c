#include "tests/harness.h"
#include "trace/log/envelope.h"

#define FRAME "{\"line\": 7, \"name\": \"f\", \"filename\": 2, \"loc\": \"return x\"}"
#define MD5   "d41d8cd98f00b204e9800998ecf8427e"
#define REF \
    "\x01"  \
    "1"

static struct intern strings;
static struct stack_table stacks;
static struct envelope_reader reader;
static struct envelope got;

static int begin(void **state)
{
    (void)state;
    return stacks_init(&stacks, &strings) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    envelope_release(&reader);
    stacks_release(&stacks);
    intern_release(&strings);
    reader = (struct envelope_reader){ 0 };
    return 0;
}

static void read_json(struct str json)
{
    struct err err = ERR_INIT;
    if (!envelope_read(&reader, &stacks, json, &got, &err))
        fail_msg("%.*s: %s", STR_ARG(json), err.text);
}

/* The parts, with the checksum at its mark, print as the line was. */
static void check_prints_back(struct str json)
{
    struct buf marked = BUF_INIT, out = BUF_INIT;
    envelope_mark_checksum(&got, &marked);
    buf_puts(&out, "{\"");
    buf_put(&out, got.event);
    buf_puts(&out, "\": ");
    envelope_expand(&stacks, got.meta, STR(""), SIZE_MAX, &out);
    envelope_expand(&stacks, buf_str(&marked), got.checksum, SIZE_MAX, &out);
    assert_str_eq(buf_str(&out), json);
    buf_release(&marked);
    buf_release(&out);
}

static void check_usual(const char *json, const char *event, const char *meta, const char *context)
{
    read_json(str_of(json));
    assert_false(got.odd);
    assert_str_is(got.event, event);
    assert_str_is(got.meta, meta);
    assert_str_is(got.context, context);
    check_prints_back(str_of(json));
}

static void test_usual(void **state)
{
    (void)state;
    check_usual("{\"a\": {}}", "a", "{}", "}");
    check_usual("{\"str\": [\"/a/b.py\", 7]}", "str", "[\"/a/b.py\", 7]", "}");
    check_usual("{\"a\": {\"x\": 1}, \"frame_id\": 0, \"attempt\": 1}", "a", "{\"x\": 1}",
                ", \"frame_id\": 0, \"attempt\": 1}");
    check_usual("{\"a\": \"text\"}  ", "a", "\"text\"", "}  ");
    check_usual("{\"\": null}", "", "null", "}");
    check_usual("{\"e\\\"v\\u00e9\": {}}", "e\\\"v\\u00e9", "{}", "}");
    assert_int_equal(got.checksum.n, 0);
}

static void test_numbers_and_surrogates(void **state)
{
    (void)state;
    check_usual("{\"a\": {\"n\": [NaN, Infinity, -Infinity, 1e-05]}}", "a",
                "{\"n\": [NaN, Infinity, -Infinity, 1e-05]}", "}");
    check_usual("{\"a\": 123456789012345678901234567890123456789012345678901234567890}", "a",
                "123456789012345678901234567890123456789012345678901234567890", "}");
    check_usual("{\"a\": {\"s\": \"\\ud800 \\udc00\\ud800\"}}", "a",
                "{\"s\": \"\\ud800 \\udc00\\ud800\"}", "}");
    check_usual("{\"a\": \"\xFF\xC3\"}", "a", "\"\xFF\xC3\"", "}");
}

static void test_stacks(void **state)
{
    (void)state;
    check_usual("{\"a\": {\"stack\": [" FRAME "], \"n\": 1}}", "a",
                "{\"stack\": " REF ", \"n\": 1}", "}");
    check_usual("{\"a\": [" FRAME "]}", "a", REF, "}");
    check_usual("{\"a\": {}, \"stack\": [" FRAME "]}", "a", "{}", ", \"stack\": " REF "}");
    check_usual("{\"a\": {\"x\": [" FRAME "], \"y\": [" FRAME "]}}", "a",
                "{\"x\": " REF ", \"y\": " REF "}", "}");
    assert_int_equal(stacks.nodes.n, 2);
    /* in another order of keys, or spaced otherwise, it stays text */
    check_usual("{\"a\": [{\"name\": \"f\", \"line\": 7, \"filename\": 2}]}", "a",
                "[{\"name\": \"f\", \"line\": 7, \"filename\": 2}]", "}");
    check_usual("{\"a\": [{\"line\":7, \"name\": \"f\", \"filename\": 2}]}", "a",
                "[{\"line\":7, \"name\": \"f\", \"filename\": 2}]", "}");
    check_usual("{\"a\": [{\"line\": 7, \"name\": \"f\"}, {\"line\": 7}]}", "a",
                "[{\"line\": 7, \"name\": \"f\"}, {\"line\": 7}]", "}");
    assert_int_equal(stacks.nodes.n, 2);
    /* what looks like one inside a string */
    check_usual("{\"a\": \"[{\\\"line\\\": 7, \\\"name\\\": \\\"f\\\", \\\"filename\\\": 2}]\"}",
                "a", "\"[{\\\"line\\\": 7, \\\"name\\\": \\\"f\\\", \\\"filename\\\": 2}]\"", "}");
}

static void check_odd(const char *json, const char *event, const char *meta, const char *context)
{
    read_json(str_of(json));
    assert_true(got.odd);
    assert_str_is(got.event, event);
    assert_str_is(got.meta, meta);
    assert_str_is(got.context, context);
}

static void test_odd(void **state)
{
    (void)state;
    check_odd("{\"rank\": 3, \"a\": {\"x\": 1}}", "a", "{\"x\": 1}", ", \"rank\": 3}");
    check_odd("{\"a\":{}}", "a", "{}", "}");
    check_odd("{ \"a\": {}}", "a", "{}", "}");
    check_odd("{\"a\" : {},\"rank\":3}", "a", "{}", ", \"rank\": 3}");
    check_odd("{\"frame_id\": null, \"has_payload\": \"" MD5 "\", \"stack\": [" FRAME
              "], \"a\": 1}",
              "a", "1", ", \"frame_id\": null, \"has_payload\": \"" MD5 "\", \"stack\": " REF "}");
    assert_str_is(got.checksum, MD5);
}

static void test_checksum(void **state)
{
    (void)state;
    struct buf marked = BUF_INIT;
    check_usual("{\"a\": {}, \"has_payload\": \"" MD5 "\"}", "a", "{}",
                ", \"has_payload\": \"" MD5 "\"}");
    assert_str_is(got.checksum, MD5);
    envelope_mark_checksum(&got, &marked);
    assert_str_is(buf_str(&marked), ", \"has_payload\": \"\x02\"}");
    buf_release(&marked);
    /* another one of that name in front, and one that is none */
    check_usual("{\"a\": {}, \"rank\": {\"has_payload\": \"x\"}, \"has_payload\": \"" MD5 "\"}",
                "a", "{}", ", \"rank\": {\"has_payload\": \"x\"}, \"has_payload\": \"" MD5 "\"}");
    assert_str_is(got.checksum, MD5);
    static const char *const none[] = { "null", "5", "[" FRAME "]", "{}" };
    for (size_t i = 0; i < 4; i++) {
        char json[200];
        snprintf(json, sizeof json, "{\"a\": {}, \"has_payload\": %s}", none[i]);
        read_json(str_of(json));
        assert_int_equal(got.checksum.n, 0);
    }
}

static void check_refused(struct str json, const char *why)
{
    struct err err = ERR_INIT;
    if (envelope_read(&reader, &stacks, json, &got, &err))
        fail_msg("read: %.*s", STR_ARG(json));
    assert_err(&err, ERR_INPUT, why);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(STR(""), "expected a value");
    check_refused(STR("[]"), "not an object");
    check_refused(STR("[" FRAME "]"), "not an object");
    check_refused(STR("{}"), "no event");
    check_refused(STR("{\"rank\": 1, \"frame_id\": 2}"), "no event");
    check_refused(STR("{\"a\": {}"), "expected ',' or '}'");
    check_refused(STR("{\"a\": {}} x"), "text after the value");
    check_refused(STR("{\"a\": nul}"), "expected a value");
    check_refused(STR("{\"a\": \"\0\"}"), "control character");
}

/* The marks of a tape are no JSON, wherever a log has them. */
static void test_marks(void **state)
{
    (void)state;
    check_refused(STR("{\"a\": \x01"
                      "1}"),
                  "control character");
    check_refused(STR("{\"a\": \"\x01\"}"), "control character");
    check_refused(STR("{\"\x01"
                      "1\": 1}"),
                  "control character");
    check_refused(STR("{\"a\": \"\x02\"}"), "control character");
    check_refused(STR("{\"a\": {}, \"has_payload\": \"\x02\"}"), "control character");
    check_refused(STR("{\"a\": [{\"line\": 7, \"name\": \"\x01\", \"filename\": 2}]}"),
                  "control character");
    check_refused(STR("{\"a\": [" FRAME "]5}"), "a digit after a stack");
    check_refused(STR("{\"a\": [" FRAME "][" FRAME "]}"), "expected ',' or '}'");
    check_refused(STR("{\"a\": 1[" FRAME "]}"), "expected ',' or '}'");
}

static void test_deep(void **state)
{
    (void)state;
    struct buf json = BUF_INIT;
    buf_puts(&json, "{\"a\": ");
    for (int i = 0; i < 100000; i++)
        buf_putc(&json, '[');
    check_refused(buf_str(&json), "nested too deeply");
    buf_release(&json);
}

/* References of a tape that lies. */
static void test_expand(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    read_json(STR("{\"a\": [" FRAME "]}"));
    envelope_expand(&stacks,
                    STR("\x01"
                        "1|\x01|\x01"
                        "99999999999999999999|\x02|\x01"
                        "2"),
                    STR("M"), SIZE_MAX, &out);
    assert_str_is(buf_str(&out), "[" FRAME "]|[]|[]|M|[]");
    buf_release(&out);
}

/* Nothing of one line is left in the next. */
static void test_reuse(void **state)
{
    (void)state;
    check_odd("{\"rank\": 1, \"a\": {\"x\": [" FRAME "]}}", "a", "{\"x\": " REF "}",
              ", \"rank\": 1}");
    check_usual("{\"b\": 1}", "b", "1", "}");
    check_refused(STR("{\"c\": "), "expected a value");
    check_odd("{\"attempt\": 1, \"c\": 2}", "c", "2", ", \"attempt\": 1}");
}

static bool attempt(void *arg)
{
    struct intern texts = INTERN_INIT;
    struct stack_table table;
    struct envelope_reader r = { 0 };
    struct envelope envelope;
    struct err err = ERR_INIT;
    struct buf marked = BUF_INIT;
    bool ok = stacks_init(&table, &texts);
    if (ok) {
        ok = envelope_read(&r, &table, str_of(arg), &envelope, &err);
        assert_true(ok || err.kind == ERR_ENV);
        if (ok)
            envelope_mark_checksum(&envelope, &marked);
        ok = ok && !marked.failed;
    }
    buf_release(&marked);
    envelope_release(&r);
    stacks_release(&table);
    intern_release(&texts);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    static char usual[] = "{\"a\": {\"x\": [" FRAME "]}, \"has_payload\": \"" MD5 "\"}";
    static char odd[] = "{\"rank\": 1, \"a\": {\"x\": [" FRAME "]}, \"has_payload\": \"" MD5 "\"}";
    check_alloc_failures(attempt, usual);
    check_alloc_failures(attempt, odd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_usual, begin, end),
        cmocka_unit_test_setup_teardown(test_numbers_and_surrogates, begin, end),
        cmocka_unit_test_setup_teardown(test_stacks, begin, end),
        cmocka_unit_test_setup_teardown(test_odd, begin, end),
        cmocka_unit_test_setup_teardown(test_checksum, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_marks, begin, end),
        cmocka_unit_test_setup_teardown(test_deep, begin, end),
        cmocka_unit_test_setup_teardown(test_expand, begin, end),
        cmocka_unit_test_setup_teardown(test_reuse, begin, end),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
