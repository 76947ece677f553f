#include "profile/advice/patch/program_lines.h"
#include "tests/harness.h"

static const char PROGRAM[] =
    "import torch\n\na = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8";

static void test_no_change(void **state)
{
    (void)state;
    struct program_lines lines = { 0 };
    struct buf diff = BUF_INIT;
    assert_true(program_lines_read(&lines, str_of(PROGRAM)));
    assert_int_equal(lines.v.n, 10);
    program_lines_diff(&lines, STR("a.py"), &diff);
    assert_int_equal(diff.n, 0);
    program_lines_release(&lines);
    assert_true(program_lines_read(&lines, STR("")));
    assert_int_equal(lines.v.n, 0);
    program_lines_release(&lines);
}

static void test_hunks(void **state)
{
    (void)state;
    struct program_lines lines = { 0 };
    struct buf diff = BUF_INIT;
    assert_true(program_lines_read(&lines, str_of(PROGRAM)));
    assert_true(program_lines_insert(&lines, 0, STR("x = 1")));
    assert_true(program_lines_insert(&lines, 0, STR("y = 2")));
    assert_true(program_lines_change(&lines, 8, STR("g = 0")));
    program_lines_diff(&lines, STR("a.py"), &diff);
    assert_str_is(buf_str(&diff),
                  "--- a.py\n+++ a.py\n"
                  "@@ -1,4 +1,6 @@\n import torch\n+x = 1\n+y = 2\n \n a = 1\n b = 2\n"
                  "@@ -6,5 +8,5 @@\n d = 4\n e = 5\n f = 6\n-g = 7\n+g = 0\n h = 8\n"
                  "\\ No newline at end of file\n");
    buf_release(&diff);
    program_lines_release(&lines);
}

/* Changes whose contexts meet are one hunk. */
static void test_one_hunk(void **state)
{
    (void)state;
    struct program_lines lines = { 0 };
    struct buf diff = BUF_INIT;
    assert_true(program_lines_read(&lines, str_of(PROGRAM)));
    assert_true(program_lines_change(&lines, 2, STR("a = 0")));
    assert_true(program_lines_change(&lines, 8, STR("g = 0")));
    program_lines_diff(&lines, STR("a.py"), &diff);
    assert_int_equal(
        str_find(str_from(buf_str(&diff), str_find(buf_str(&diff), STR("@@")) + 10), STR("@@ -")),
        str_from(buf_str(&diff), str_find(buf_str(&diff), STR("@@")) + 10).n);
    buf_release(&diff);
    program_lines_release(&lines);
}

/* The end of a line is that of the line before; the last one may have none. */
static void test_ends(void **state)
{
    (void)state;
    struct program_lines lines = { 0 };
    struct buf diff = BUF_INIT;
    assert_true(program_lines_read(&lines, STR("import torch\r\nx = 1")));
    assert_true(program_lines_insert(&lines, 0, STR("y = 2")));
    assert_true(program_lines_insert(&lines, 1, STR("z = 3")));
    program_lines_diff(&lines, STR("a.py"), &diff);
    assert_str_is(buf_str(&diff), "--- a.py\n+++ a.py\n@@ -1,2 +1,4 @@\n import torch\r\n+y = 2\r\n"
                                  "-x = 1\n\\ No newline at end of file\n+x = 1\n+z = 3\n");
    buf_release(&diff);
    program_lines_release(&lines);
}

static bool attempt(void *arg)
{
    (void)arg;
    struct program_lines lines = { 0 };
    struct buf diff = BUF_INIT;
    bool ok = program_lines_read(&lines, str_of(PROGRAM)) &&
              program_lines_insert(&lines, 0, STR("x = 1")) &&
              program_lines_change(&lines, 3, STR("b = 1"));
    if (ok)
        program_lines_diff(&lines, STR("a.py"), &diff);
    ok = ok && !diff.failed;
    buf_release(&diff);
    program_lines_release(&lines);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_change), cmocka_unit_test(test_hunks),
        cmocka_unit_test(test_one_hunk),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
