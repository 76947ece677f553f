#include "minify/issue.h"

#include "tests/harness.h"

static const struct cand_symbol symbols[] = { { .name = { "s27", 3 }, .backed = true } };
static const struct candidate best = { .symbols = symbols,
                                       .n_symbols = 1,
                                       .torch_version = { "2.11.0", 6 } };

static struct minify_result result_of(struct str text, struct str op)
{
    struct minify_result ret = { .minimal = true, .calls = 40, .seconds = 2 };
    ret.first.text = text;
    ret.first.signature.op = op;
    ret.first.signature.kind = STR("ValueError");
    ret.before.part[SIZE_CALLS] = 519;
    ret.after.part[SIZE_CALLS] = 2;
    return ret;
}

static char *print(const struct issue *issue)
{
    static struct buf out;
    buf_clear(&out);
    assert_true(issue_print(issue, &out));
    buf_putc(&out, '\0');
    return out.p;
}

static void test_parts(void **state)
{
    (void)state;
    struct minify_result result =
        result_of(STR("Cannot view shape [s27, 3]\nmore"), STR("aten.view.default"));
    struct why whys[] = { { .element = STR("view = aten.view.default"),
                            .taken = STR("replaced by an input"),
                            .result = STR("it fails differently: a | b") } };
    struct why_list list = { .list = { whys, 1, 1 } };
    struct repro_verified verified = { .asked = 1, .shown = 1, .version = "2.13.0" };
    struct issue issue = { .best = &best,
                           .before = { 519, 0, 0 },
                           .after = { 2, 0, 0 },
                           .result = &result,
                           .repro = STR("import torch\n"),
                           .oracle = STR("--torch-oracle compile"),
                           .verified = &verified,
                           .whys = &list,
                           .symtape_version = "0.1.0" };
    const char *text = print(&issue);
    static const char *const parts[] = {
        "# [dynamic shapes] aten.view.default: Cannot view shape N\n\n",
        "```\nValueError: Cannot view shape [s27, 3]\nmore\n```\n",
        "```python\nimport torch\n```\n",
        "Verification: reproduced 1 of 1 times in a fresh process with PyTorch 2.13.0.\n",
        "| `view = aten.view.default` | replaced by an input | it fails differently: a \\| b |\n",
        "- recorded with PyTorch 2.11.0\n",
        "From 519 calls, 0 symbols and 0 guards to 2, 0 and 0, with 40 checks in 2.0 s ",
        "(`symtape minify --torch-oracle compile`). Removing any single",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no \"%s\" in:\n%s", parts[i], text);
}

static void test_fence_and_limits(void **state)
{
    (void)state;
    struct minify_result result = result_of(STR(""), STR(""));
    struct repro_verified verified = { .seen = REPRO_NO_TORCH };
    struct issue issue = { .best = &best,
                           .before = { 519, 0, 0 },
                           .after = { 2, 0, 0 },
                           .result = &result,
                           .repro = STR("\"\"\"```\"\"\""),
                           .cannot = "it calls the module conv1",
                           .eager = STR("RuntimeError: no\nmore"),
                           .verified = &verified,
                           .symtape_version = "0.1.0" };
    result.minimal = false;
    const char *text = print(&issue);
    assert_non_null(strstr(text, "# [dynamic shapes] ValueError:\n"));
    assert_non_null(strstr(text, "````python\n\"\"\"```\"\"\"\n````\n"));
    assert_non_null(strstr(text, "PyTorch alone cannot run it: it calls the module conv1."));
    assert_non_null(strstr(text, "Without any compiler it fails too: `RuntimeError: no`"));
    assert_non_null(
        strstr(text, "Verification: not verified: there is no Python with PyTorch here"));
    assert_non_null(strstr(text, "The search was not finished"));
    assert_null(strstr(text, "### Error"));
}

/* Nothing of a file is markup, wherever on the page it stands. */
static void test_hostile_texts(void **state)
{
    (void)state;
    static const struct candidate dressed = { .torch_version = { "2.13 @x <b>", 11 } };
    struct minify_result result = result_of(
        STR("bad 'zz\x1b]0;PWNED\x07 <img src=x onerror=alert(1)>' @someone\n```\n# no\x1b[2J"),
        STR("aten.div"));
    struct why whys[] = { { .element = STR("x`|`"),
                            .taken = STR("<script>\n| new | row |"),
                            .result = STR("[a](http://b)") } };
    struct why_list list = { .list = { whys, 1, 1 } };
    struct repro_verified verified = { .asked = 1, .version = "2.13", .last = "<i>\x1b" };
    struct issue issue = { .best = &dressed,
                           .before = { 519, 0, 0 },
                           .after = { 2, 0, 0 },
                           .result = &result,
                           .repro = STR("x = 1\n"),
                           .cannot = "a call of <u>",
                           .eager = STR("no `such` <s>\x1b"),
                           .oracle = STR("--check 'a`b'"),
                           .verified = &verified,
                           .whys = &list,
                           .symtape_version = "0.1.0" };
    const char *text = print(&issue);
    static const char *const parts[] = {
        "# `aten.div: bad 'zz\\x1b]N;PWNED\\x07 <img src=x onerror=alertN>' @someone`\n\n",
        "\n````\nValueError: bad 'zz\\x1b]0;PWNED",
        "@someone\n```\n# no\\x1b[2J\n````\n",
        "| `` x`\\|` `` | \\<script\\> \\| new \\| row \\| | `[a](http://b)` |\n",
        "- recorded with PyTorch `2.13 @x <b>`\n",
        "cannot run it: a call of \\<u\\>.",
        "fails too: `` no `such` <s>\\x1b ``\n",
        "(`` symtape minify --check 'a`b' ``)",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no \"%s\" in:\n%s", parts[i], text);
    assert_null(strchr(text, '\x1b'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_fence_and_limits),
        cmocka_unit_test(test_hostile_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
