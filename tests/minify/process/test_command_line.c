#include "minify/process/command_line.h"

#include "tests/harness.h"

static void check(const char *text, const char *expected)
{
    struct command_line line;
    struct err err = ERR_INIT;
    struct buf words = BUF_INIT;
    assert_true(command_line_split(&line, str_of(text), "/home/me", &err));
    for (size_t i = 0; i < line.words.n; i++)
        buf_printf(&words, "<%s>", line.words.v[i]);
    assert_null(line.words.v[line.words.n]);
    assert_str_is(buf_str(&words), expected);
    buf_release(&words);
    command_line_release(&line);
}

static void splits(void **state)
{
    (void)state;
    check("./fails.sh", "<./fails.sh>");
    check("  python  check.py\t--tol 1e-3\n", "<python><check.py><--tol><1e-3>");
    check("sh -c 'grep -q \"aten.mm\" \"$1\"' sh", "<sh><-c><grep -q \"aten.mm\" \"$1\"><sh>");
    check("a \"b c\" d\\ e f\\\\ \"\\$x \\n\"", "<a><b c><d e><f\\><$x \\n>");
    check("a '' \"\" b''c", "<a><><><bc>");
    check("~/fails ~x a~ --o=~ ~", "</home/me/fails><~x><a~><--o=~></home/me>");
}

static void refuses(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "", "the command is empty" },
        { "  ", "the command is empty" },
        { "''", "the command is empty" },
        { "a 'b", "' is not closed" },
        { "a \"b", "\" is not closed" },
        { "a \\", "\\ at the end" },
        { "a | b", "sh -c" },
        { "a && b", "sh -c" },
        { "a > b", "sh -c" },
        { "a $HOME", "sh -c" },
        { "a; b", "sh -c" },
        { "a `b`", "sh -c" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command_line line;
        struct err err = ERR_INIT;
        assert_false(command_line_split(&line, str_of(cases[i].text), NULL, &err));
        assert_err(&err, ERR_USAGE, cases[i].why);
    }
}

static bool attempt(void *arg)
{
    struct command_line line;
    struct err err = ERR_INIT;
    (void)arg;
    if (!command_line_split(&line, STR("a 'b c' d"), NULL, &err))
        return false;
    command_line_release(&line);
    return true;
}

static void memory_runs_out(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits),
        cmocka_unit_test(refuses),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
