#include "trace/base/str.h"

#include "tests/harness.h"

static void test_equality(void **state)
{
    (void)state;
    struct str empty = { NULL, 0 };
    assert_true(str_eq(empty, STR("")));
    assert_true(str_is(STR("s77"), "s77"));
    assert_false(str_is(STR("s77"), "s7"));
    assert_false(str_is(STR("s77"), "s78"));
    assert_true(str_eq((struct str){ "a\0b", 3 }, (struct str){ "a\0b", 3 }));
    assert_int_equal(str_of(NULL).n, 0);
}

static void test_starts_and_ends(void **state)
{
    (void)state;
    assert_true(str_starts(STR("aten.add"), STR("aten.")));
    assert_true(str_starts(STR("aten"), STR("")));
    assert_false(str_starts(STR("at"), STR("aten")));
    assert_true(str_ends(STR("gpt2.log.zst"), STR(".zst")));
    assert_false(str_ends(STR("zst"), STR(".zst")));
}

static void test_slices_stay_inside(void **state)
{
    (void)state;
    assert_str_is(str_from(STR("abc"), 1), "bc");
    assert_str_is(str_from(STR("abc"), 3), "");
    assert_str_is(str_from(STR("abc"), 99), "");
    assert_str_is(str_from((struct str){ NULL, 0 }, 0), "");
    assert_str_is(str_trim((struct str){ NULL, 0 }), "");
    assert_str_is(str_first(STR("abc"), 2), "ab");
    assert_str_is(str_first(STR("abc"), 99), "abc");
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
        size_t at;
    } cases[] = {
        { "", "", 0 },           { "abc", "", 0 },       { "", "a", 0 },       { "abc", "c", 2 },
        { "abc", "d", 3 },       { "aab", "ab", 1 },     { "aaab", "aab", 1 }, { "abc", "abcd", 3 },
        { "ababac", "abac", 2 }, { "abcabd", "abd", 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(str_find(str_of(cases[i].text), str_of(cases[i].what)), cases[i].at);
    assert_int_equal(str_find_char(STR("a.b"), '.'), 1);
    assert_int_equal(str_find_char(STR("ab"), '.'), 2);
    assert_int_equal(str_find_char((struct str){ NULL, 0 }, '.'), 0);
}

static void test_order(void **state)
{
    (void)state;
    static const char *const ascending[] = { "", "a", "ab", "abc", "b", "\xFF" };
    enum { N = sizeof ascending / sizeof *ascending };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int d = str_cmp(str_of(ascending[i]), str_of(ascending[j]));
            assert_int_equal((d > 0) - (d < 0), (i > j) - (i < j));
        }
}

static void test_basename(void **state)
{
    (void)state;
    assert_str_is(str_basename(STR("/a/b.log")), "b.log");
    assert_str_is(str_basename(STR("b.log")), "b.log");
    assert_str_is(str_basename(STR("a/")), "");
    assert_str_is(str_basename(STR("")), "");
}

static void test_trim(void **state)
{
    (void)state;
    assert_str_is(str_trim(STR(" \t a b \r\n")), "a b");
    assert_str_is(str_trim(STR("\t \v\f")), "");
    assert_str_is(str_trim(STR("")), "");
}

static void test_unsigned_numbers(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616", "99999999999999999999"
    };
    uint64_t v = 5;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(str_to_u64(str_of(refused[i]), &v));
    assert_int_equal(v, 5);
    assert_true(str_to_u64(STR("18446744073709551615"), &v));
    assert_true(v == UINT64_MAX);
    assert_true(str_to_u64(STR("007"), &v));
    assert_int_equal(v, 7);
}

static void test_signed_numbers(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "", "-", "--1", "+1", "-9223372036854775809", "9223372036854775808"
    };
    int64_t v = 5;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(str_to_i64(str_of(refused[i]), &v));
    assert_int_equal(v, 5);
    assert_true(str_to_i64(STR("-9223372036854775808"), &v));
    assert_true(v == INT64_MIN);
    assert_true(str_to_i64(STR("9223372036854775807"), &v));
    assert_true(v == INT64_MAX);
    assert_true(str_to_i64(STR("-0"), &v));
    assert_int_equal(v, 0);
}

static void test_classes_of_characters(void **state)
{
    (void)state;
    static const char *const names[] = { "alpha", "beta" };
    assert_true(is_digit('0') && is_digit('9') && !is_digit('/') && !is_digit(':'));
    assert_true(is_hex_digit('a') && is_hex_digit('F') && !is_hex_digit('g'));
    assert_true(is_word_char('_') && is_word_char('Z') && !is_word_char('-') &&
                !is_word_char((char)0xE4));
    assert_true(is_space(' ') && is_space('\v') && !is_space('\b'));
    assert_int_equal(str_digits(STR("123a")), 3);
    assert_int_equal(str_digits(STR("")), 0);
    assert_int_equal(str_word(STR("a_1.b")), 3);
    assert_int_equal(str_word(STR(".")), 0);
    assert_true(str_is_identifier(STR("_x1")) && !str_is_identifier(STR("1x")) &&
                !str_is_identifier(STR("x.y")) && !str_is_identifier(STR("")));
    assert_true(STR_IS_ANY(STR("beta"), names) && !STR_IS_ANY(STR("bet"), names));
    assert_true(str_contains(STR("abc"), STR("bc")) && str_contains(STR(""), STR("")));
    assert_false(str_contains(STR("abc"), STR("cb")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_classes_of_characters),
        cmocka_unit_test(test_starts_and_ends),
        cmocka_unit_test(test_slices_stay_inside),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_basename),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_unsigned_numbers),
        cmocka_unit_test(test_signed_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
