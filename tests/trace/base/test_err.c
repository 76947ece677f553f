#include "trace/base/err.h"

#include <errno.h>

#include "tests/harness.h"

static void test_set_returns_false_and_keeps_the_first(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_false(err_is_set(&err));
    assert_false(err_set(&err, ERR_INPUT, "node %s: unknown dtype \"%s\"", "mul_7", "f31"));
    assert_false(err_set(&err, ERR_ENV, "later"));
    assert_true(err_is_set(&err));
    assert_string_equal(err.text, "node mul_7: unknown dtype \"f31\"");
    assert_int_equal(err.kind, ERR_INPUT);
}

static void test_errno_adds_the_reason(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    errno = ENOSPC;
    assert_false(err_errno(&err, "%s", "out.tape"));
    assert_err(&err, ERR_ENV, "out.tape: No space left on device");
    errno = ENOENT;
    err_set(&err, ERR_USAGE, "first");
    err_errno(&err, "second");
    assert_string_equal(err.text, "first");
}

static void test_nomem(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_false(err_nomem(&err));
    assert_err(&err, ERR_ENV, "out of memory");
}

static void test_places_go_in_front(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    err_set(&err, ERR_INPUT, "bad number");
    assert_false(err_at(&err, "offset %d", 88));
    assert_false(err_at(&err, "%s:%d", "bert.log", 1042));
    assert_string_equal(err.text, "bert.log:1042: offset 88: bad number");
    assert_int_equal(err.kind, ERR_INPUT);
}

/* Every length of a cut text is valid UTF-8: no byte of a sequence without the rest. */
static bool ends_on_a_character(const char *text)
{
    size_t n = strlen(text), tail = 0;
    while (tail < n && ((unsigned char)text[n - 1 - tail] & 0xC0) == 0x80)
        tail++;
    unsigned char first = tail < n ? (unsigned char)text[n - 1 - tail] : 0;
    size_t want = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    return want == tail;
}

static void test_long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    char text[1200];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xF0\x9F\x94\xA5", 5);
        struct err err = ERR_INIT;
        err_set(&err, ERR_INPUT, "%s", text);
        assert_true(strlen(err.text) < sizeof err.text);
        assert_true(strlen(err.text) >= sizeof err.text - 5);
        assert_true(ends_on_a_character(err.text));
        err_at(&err, "%s", "a place");
        assert_memory_equal(err.text, "a place: ", 9);
        assert_true(ends_on_a_character(err.text));
    }
}

static void test_a_place_longer_than_the_text_fits(void **state)
{
    (void)state;
    char place[2000];
    memset(place, 'p', sizeof place - 1);
    place[sizeof place - 1] = '\0';
    struct err err = ERR_INIT;
    err_set(&err, ERR_INPUT, "what");
    err_at(&err, "%s", place);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void test_an_empty_place_adds_nothing(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    err_nomem(&err);
    assert_false(err_at(&err, "%s", ""));
    assert_string_equal(err.text, "out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_returns_false_and_keeps_the_first),
        cmocka_unit_test(test_errno_adds_the_reason),
        cmocka_unit_test(test_nomem),
        cmocka_unit_test(test_places_go_in_front),
        cmocka_unit_test(test_an_empty_place_adds_nothing),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_a_place_longer_than_the_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
