#include "profile/report/fold.h"

#include "tests/harness.h"

static void assert_folds(const char *text, size_t width, const char *expected)
{
    struct buf out = BUF_INIT;
    struct styles none = { 0 };
    fold_text(&out, str_of(text), width, &none);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_lines_break_at_blanks(void **state)
{
    (void)state;
    assert_folds("short\n\nand the end", 20, "short\n\nand the end");
    assert_folds("exactly twenty chars\n", 20, "exactly twenty chars\n");
    assert_folds("exactly twenty-1 chars\n", 20, "exactly twenty-1\n  chars\n");
    assert_folds("  an indented line that is long\n", 20, "  an indented line\n    that is long\n");
    assert_folds("one   two three      four\n", 20, "one   two three\n  four\n");
}

static void test_long_words_break_behind_separators(void **state)
{
    (void)state;
    assert_folds("aaaaaaaaaa/bbbbbb/cccc/dddd\n", 20, "aaaaaaaaaa/bbbbbb/\n  cccc/dddd\n");
    assert_folds("aaaaaaaaaaaaaaaaaaaaaaaaa\n", 20, "aaaaaaaaaaaaaaaaaaaa\n  aaaaa\n");
    assert_folds(
        "gr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc"
        "\xc3\x9f\n",
        20, /* columns are characters, not bytes */
        "gr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc\xc3\x9fgr\xc3\xbc"
        "\xc3\x9f\n");
}

static void test_deep_lines_and_narrow_terminals(void **state)
{
    (void)state;
    assert_folds("                  deep line\n", 20, "                  de\n  ep line\n");
    assert_folds("a line of words, not folded\n", 19, "a line of words, not folded\n");
    assert_folds("word                   \n", 20, "word\n");
}

static void test_styles_move_with_their_text(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, out = BUF_INIT;
    struct styles styles = { 0 };
    buf_puts(&text, "the first words are ");
    style_mark(&styles, &text, STYLE_RED);
    buf_puts(&text, "red");
    style_mark(&styles, &text, STYLE_NONE);
    buf_puts(&text, " here\n");
    style_mark(&styles, &text, STYLE_BOLD);
    fold_text(&out, buf_str(&text), 20, &styles);
    assert_str_is(buf_str(&out), "the first words are\n  red here\n");
    assert_int_equal(styles.marks.n, 3);
    assert_int_equal(styles.marks.v[0].at, strlen("the first words are\n  "));
    assert_int_equal(styles.marks.v[1].at, strlen("the first words are\n  red"));
    assert_int_equal(styles.marks.v[2].at, out.n);
    vec_release(&styles.marks);
    buf_release(&text);
    buf_release(&out);
}

static bool fold_much(void *arg)
{
    (void)arg;
    struct buf out = BUF_INIT;
    struct styles none = { 0 };
    for (int i = 0; i < 20; i++)
        fold_text(&out, STR("a line of words, folded again and again\n"), 20, &none);
    bool ok = !out.failed;
    buf_release(&out);
    return ok;
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(fold_much, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_break_at_blanks),
        cmocka_unit_test(test_long_words_break_behind_separators),
        cmocka_unit_test(test_deep_lines_and_narrow_terminals),
        cmocka_unit_test(test_styles_move_with_their_text),
        cmocka_unit_test(test_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
