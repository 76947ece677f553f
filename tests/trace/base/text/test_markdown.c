#include "trace/base/text/markdown.h"

#include "tests/harness.h"

struct example {
    const char *text, *written;
};

static void check(void (*put)(struct buf *out, struct str text), const struct example *examples,
                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf out = BUF_INIT;
        put(&out, str_of(examples[i].text));
        assert_str_is(buf_str(&out), examples[i].written);
        buf_release(&out);
    }
}

#define CHECK(put, examples) check((put), (examples), sizeof(examples) / sizeof *(examples))

static void test_text(void **state)
{
    (void)state;
    static const struct example examples[] = {
        { "", "" },
        { "3.00 s, 412 calls: ok", "3.00 s, 412 calls: ok" },
        { "<img src=x onerror=alert(1)>", "\\<img src=x onerror=alert\\(1\\)\\>" },
        { "[a](b) ![c](d)", "\\[a\\]\\(b\\) \\!\\[c\\]\\(d\\)" },
        { "a | b\n| c", "a \\| b \\| c" },
        { "*a* _b_ ~c~ $d$ &amp; `e` \\", "\\*a\\* \\_b\\_ \\~c\\~ \\$d\\$ \\&amp; \\`e\\` \\\\" },
        { "- a", "\\- a" },
        { "---", "\\---" },
        { "-412", "-412" },
        { "+1", "\\+1" },
        { "1. a", "1\\. a" },
        { "12) a", "12\\) a" },
        { "1.5 a", "1.5 a" },
        { "=====", "\\=====" },
        { "a\n\n# b", "`a # b`" },
        { "ask @someone", "`ask @someone`" },
        { "see #1 | GH-2", "`see #1 \\| GH-2`" },
        { "https://example.org", "`https://example.org`" },
        { "www.example.org", "`www.example.org`" },
        { "a `@b` c", "`` a `@b` c ``" },
        { "\x1b[2J\xe2\x80\xae", "\\\\x1b\\[2J\\\\u202e" },
    };
    CHECK(markdown_text, examples);
}

static void test_code(void **state)
{
    (void)state;
    static const struct example examples[] = {
        { "", "" },
        { "x[0] * 2", "`x[0] * 2`" },
        { "a | b", "`a | b`" },
        { "a\n```\nb", "```` a ``` b ````" },
        { "`", "`` ` ``" },
        { "<b>@c</b>\x1b", "`<b>@c</b>\\x1b`" },
    };
    static const struct example cells[] = {
        { "a | b", "`a \\| b`" },
        { "`|`", "`` `\\|` ``" },
    };
    CHECK(markdown_code, examples);
    CHECK(markdown_cell_code, cells);
}

static void test_block(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    markdown_block(&out, "python", STR("a = '''```'''\nb = \"`````\""));
    assert_str_is(buf_str(&out), "``````python\na = '''```'''\nb = \"`````\"\n``````\n\n");
    buf_clear(&out);
    markdown_block(&out, "", STR("x\n"));
    assert_str_is(buf_str(&out), "```\nx\n```\n\n");
    buf_release(&out);
}

static void put_title(struct buf *out, struct str text)
{
    markdown_title(out, text, 20);
}

static void test_title(void **state)
{
    (void)state;
    static const struct example examples[] = {
        { "", "" },
        { "aten.view: no such N", "aten.view: no such N" },
        { "more than twenty of them", "more than twenty ..." },
        { "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
          "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
          "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
          "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9" },
        { "native_layer_norm", "native_layer_norm" },
        { "_a_ b", "`_a_ b`" },
        { "Eq(32*s27, 2)", "`Eq(32*s27, 2)`" },
        { "one\n# two", "`one # two`" },
        { "<b>@c</b>", "`<b>@c</b>`" },
        { "a\x1b[2J`", "`` a\\x1b[2J` ``" },
        { "http://x", "`http://x`" },
    };
    CHECK(put_title, examples);
}

static bool write_some(void *arg)
{
    (void)arg;
    struct buf out = BUF_INIT;
    markdown_text(&out, STR("a * b\x1b"));
    markdown_code(&out, STR("a ` b"));
    markdown_cell_code(&out, STR("a | b"));
    markdown_block(&out, "", STR("a\n"));
    markdown_title(&out, STR("a title that is cut somewhere"), 10);
    bool good = !out.failed;
    buf_release(&out);
    return good;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    check_alloc_failures(write_some, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_title),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
