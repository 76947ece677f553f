#include "trace/base/text/printable.h"

#include "tests/harness.h"

struct example {
    struct str text;
    const char *shown;
};

#define TEXT(literal)                  \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static const struct example examples[] = {
    { { NULL, 0 }, "" },
    { TEXT("plain text, 12 345"), "plain text, 12 345" },
    { TEXT("a\tb\nc"), "a\tb\nc" },
    { TEXT("a\0b"), "a\\x00b" },
    { TEXT("\x1b]0;TITLE\x07\x1b[2J"), "\\x1b]0;TITLE\\x07\\x1b[2J" },
    { TEXT("one\rtwo\x7f\x08"), "one\\x0dtwo\\x7f\\x08" },
    { TEXT("\xc2\x9b"
           "31m\xc2\x85"),
      "\\u009b31m\\u0085" },
    { TEXT("\xc2\xa0 \xc2\xad"), "\xc2\xa0 \\u00ad" },
    { TEXT("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c"), "\\u202e\\u2066\\u200f\\u061c" },
    { TEXT("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8b\xef\xbb\xbf"), "\\u2028\\u2029\\u200b\\ufeff" },
    { TEXT("\xf3\xa0\x81\x81\xf0\x9d\x85\xb3"), "\\U000e0041\\U0001d173" },
    { TEXT("\xed\xa0\xbd"), "\\ud83d" },
    { TEXT("\xff\xc0\x80\xe2\x82"), "\\xff\\xc0\\x80\\xe2\\x82" },
    { TEXT("\xf4\x90\x80\x80\xf8"), "\\xf4\\x90\\x80\\x80\\xf8" },
    { TEXT("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xe4\xb8\xad"),
      "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xe4\xb8\xad" },
};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct buf out = BUF_INIT;
        printable_put(&out, examples[i].text);
        assert_str_is(buf_str(&out), examples[i].shown);
        buf_release(&out);
    }
}

/* Wherever the pieces end, they say what the whole says. */
static void test_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct str text = examples[i].text;
        for (size_t size = 1; size <= text.n; size++) {
            struct printable_rest rest = { .n = 0 };
            struct buf out = BUF_INIT;
            for (size_t at = 0; at < text.n; at += size)
                printable_piece(&rest, &out, str_first(str_from(text, at), size));
            printable_piece(&rest, &out, STR(""));
            assert_str_is(buf_str(&out), examples[i].shown);
            assert_int_equal(rest.n, 0);
            buf_release(&out);
        }
    }
}

/* Any byte at any place of the words that are looked at together. */
static void test_every_byte_at_every_place(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++)
        for (size_t at = 0; at < 19; at++) {
            char text[19];
            memset(text, 'a', sizeof text);
            text[at] = (char)c;
            bool shown = (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
            size_t run = printable_run((struct str){ text, sizeof text });
            assert_int_equal(run, shown ? sizeof text : at);
        }
}

/* No character that is printed can be one of those that are not, and what is printed stays. */
static void test_every_character(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[4], again[PRINTABLE_ESCAPE], escape[PRINTABLE_ESCAPE];
        uint32_t read;
        size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = n, rest = code; i-- > 0; rest >>= 6)
            text[i] = (char)(i ? 0x80 | (rest & 0x3F) : n == 1 ? rest : (0xF00 >> n & 0xFF) | rest);
        assert_int_equal(utf8_sequence((struct str){ text, n }, &read), n);
        assert_int_equal(read, code);
        assert_int_equal(printable_next((struct str){ text, n }, escape), n);
        assert_true(printable_code(code) == (escape[0] == '\0'));
        for (struct str rest = str_of(escape); rest.n > 0; rest = str_from(rest, 1)) {
            printable_next(rest, again);
            assert_string_equal(again, "");
        }
    }
}

static void test_a_line(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    printable_line(&out, STR(" \n a\r\n\tb  c\x1b \xe2\x80\xae\n"));
    assert_str_is(buf_str(&out), "a b c\\x1b \\u202e");
    buf_release(&out);
}

static bool put_some(void *arg)
{
    (void)arg;
    struct buf out = BUF_INIT;
    printable_put(&out, STR("a\x1b[0m\n\xff and more of it"));
    printable_line(&out, STR(" a  \x1b[0m b"));
    bool good = !out.failed;
    buf_release(&out);
    return good;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    check_alloc_failures(put_some, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_every_byte_at_every_place),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_a_line),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
