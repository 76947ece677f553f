/* Our JSON reader beside json-c: what ours accepts json-c accepts too, and both read the same
 * values, over generated texts and damaged ones. (json-c is the more lenient of the two.) */
#include <math.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "tests/harness.h"
#include "trace/base/text/json.h"

static json_object *oracle_parse(struct str text)
{
    json_tokener *tokener = json_tokener_new_ex(JSON_MAX_DEPTH + 1);
    json_object *root = json_tokener_parse_ex(tokener, text.p, (int)text.n + 1);
    bool whole = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    if (whole)
        return root;
    json_object_put(root);
    return NULL;
}

static void check_number(const struct json *doc, json_id id, json_object *theirs)
{
    double d;
    int64_t i;
    assert_true(json_double(doc, id, &d));
    if (json_object_get_type(theirs) == json_type_double) {
        double t = json_object_get_double(theirs);
        assert_true(d == t || (isnan(d) && isnan(t)));
    } else if (json_i64(doc, id, &i)) {
        assert_true(i == json_object_get_int64(theirs));
    }
}

/* json-c reads a lone surrogate as U+FFFD; both take three bytes. */
static void replace_surrogates(struct buf *text)
{
    for (size_t i = 0; i + 2 < text->n; i++)
        if ((unsigned char)text->p[i] == 0xED && (unsigned char)text->p[i + 1] >= 0xA0)
            memcpy(text->p + i, "\xEF\xBF\xBD", 3);
}

static void check_string(const struct json *doc, json_id id, json_object *theirs)
{
    struct buf decoded = BUF_INIT;
    struct str t = { json_object_get_string(theirs), (size_t)json_object_get_string_len(theirs) };
    json_decode(doc, id, &decoded);
    replace_surrogates(&decoded);
    assert_str_eq(buf_str(&decoded), t);
    buf_release(&decoded);
}

static void check_value(const struct json *doc, json_id id, json_object *theirs);

static void check_object(const struct json *doc, json_id id, json_object *theirs)
{
    assert_int_equal(json_object_get_type(theirs), json_type_object);
    if (json_members(doc, id) != (size_t)json_object_object_length(theirs))
        return; /* a key twice: json-c keeps the last only */
    for (json_id k = json_first(doc, id); k != JSON_NONE; k = json_next(doc, json_next(doc, k))) {
        struct buf key = BUF_INIT;
        json_object *value;
        json_decode(doc, k, &key);
        buf_putc(&key, '\0');
        assert_true(json_object_object_get_ex(theirs, key.p, &value));
        check_value(doc, json_next(doc, k), value);
        buf_release(&key);
    }
}

static void check_array(const struct json *doc, json_id id, json_object *theirs)
{
    size_t i = 0;
    assert_int_equal(json_object_get_type(theirs), json_type_array);
    assert_int_equal(json_count(doc, id), json_object_array_length(theirs));
    for (json_id k = json_first(doc, id); k != JSON_NONE; k = json_next(doc, k))
        check_value(doc, k, json_object_array_get_idx(theirs, i++));
}

static void check_value(const struct json *doc, json_id id, json_object *theirs)
{
    switch (json_kind_of(doc, id)) {
    case JSON_NULL: assert_null(theirs); break;
    case JSON_FALSE:
    case JSON_TRUE:
        assert_int_equal(json_object_get_type(theirs), json_type_boolean);
        assert_int_equal(json_kind_of(doc, id) == JSON_TRUE, json_object_get_boolean(theirs));
        break;
    case JSON_NUMBER: check_number(doc, id, theirs); break;
    case JSON_STRING: check_string(doc, id, theirs); break;
    case JSON_ARRAY: check_array(doc, id, theirs); break;
    case JSON_OBJECT: check_object(doc, id, theirs); break;
    case JSON_REF: fail();
    }
}

static void check_text(struct json *doc, struct str text)
{
    struct err err = ERR_INIT;
    bool accepted = json_parse(doc, text, &err);
    json_object *theirs = oracle_parse(text);
    if (accepted && theirs)
        check_value(doc, JSON_ROOT, theirs);
    else if (accepted && !str_is(str_trim(text), "null"))
        fail_msg("json-c refuses what we accept: %.*s", STR_ARG(text));
    json_object_put(theirs);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16 & 0x7FFF;
}

/* A value of bounded depth, spelt with spaces and escapes as they come. */
static void put_random(struct buf *out, unsigned *state, unsigned depth)
{
    static const char *const scalars[] = {
        "null",
        "true",
        "false",
        "0",
        "-1",
        "2147483648",
        "-9223372036854775808",
        "1.5",
        "1e300",
        "-2.5E-3",
        "NaN",
        "Infinity",
        "-Infinity",
        "\"\"",
        "\"plain\"",
        "\"\\n\\t\\\\\\\"\"",
        "\"\\u20ac\\ud83d\\ude00\"",
        "\"caf\xC3\xA9\"",
        " 7 ",
    };
    unsigned n = next_random(state) % 5;
    bool object = next_random(state) % 2;
    if (depth == 0 || next_random(state) % 3 == 0) {
        buf_puts(out, scalars[next_random(state) % (sizeof scalars / sizeof *scalars)]);
        return;
    }
    buf_putc(out, object ? '{' : '[');
    for (unsigned i = 0; i < n; i++) {
        buf_puts(out, i ? ", " : "");
        if (object)
            buf_printf(out, "\"key %u\" : ", i);
        put_random(out, state, depth - 1);
    }
    buf_putc(out, object ? '}' : ']');
}

static void test_generated_values(void **state)
{
    (void)state;
    struct json doc = { 0 };
    unsigned seed = 1;
    for (int i = 0; i < 3000; i++) {
        struct buf text = BUF_INIT;
        put_random(&text, &seed, 6);
        buf_putc(&text, '\0');
        text.n--;
        struct err err = ERR_INIT;
        assert_true(json_parse(&doc, buf_str(&text), &err));
        check_text(&doc, buf_str(&text));
        buf_release(&text);
    }
    json_release(&doc);
}

/* One byte changed: what we still accept has to mean the same to json-c. */
static void test_damaged_values(void **state)
{
    (void)state;
    static const char alphabet[] = "{}[]:,\"\\ \n\tnu0eE.-+/d8";
    struct json doc = { 0 };
    unsigned seed = 2;
    for (int i = 0; i < 3000; i++) {
        struct buf text = BUF_INIT;
        put_random(&text, &seed, 4);
        buf_putc(&text, '\0');
        text.n--;
        text.p[next_random(&seed) % text.n] = alphabet[next_random(&seed) % (sizeof alphabet - 1)];
        check_text(&doc, buf_str(&text));
        buf_release(&text);
    }
    json_release(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_values),
        cmocka_unit_test(test_damaged_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
