#include "cmd/table.h"

#include <stdlib.h>

#include "cmd/cmd.h"
#include "tests/harness.h"

static const struct column columns[] = {
    { "calls", COLUMN_RIGHT }, { "kind", COLUMN_LEFT }, { "operator", COLUMN_WIDE },
};

/* What the table prints at this width; the caller frees. */
static char *printed(const struct table *table, unsigned width)
{
    char *text = NULL;
    size_t n = 0;
    struct out out;
    FILE *stream = open_memstream(&text, &n);
    assert_non_null(stream);
    out_init(&out, stream, stream, COLOR_NEVER);
    out.width = width;
    assert_int_equal(table_print(table, &out), EXIT_DONE);
    fclose(stream);
    return text;
}

static void assert_prints(const struct table *table, unsigned width, const char *expected)
{
    char *text = printed(table, width);
    assert_string_equal(text, expected);
    free(text);
}

static void add_row(struct table *table, uint64_t calls, const char *kind, const char *name)
{
    table_u64(table, calls);
    table_text(table, str_of(kind));
    table_text(table, str_of(name));
}

static void test_columns_line_up(void **state)
{
    (void)state;
    struct table table = table_of(columns, 3);
    add_row(&table, 1234, "a", "aten.mm.default");
    add_row(&table, 7, "abcde", "aten.add");
    assert_int_equal(table_rows(&table), 2);
    assert_prints(&table, 0,
                  "calls  kind   operator\n"
                  "1,234  a      aten.mm.default\n"
                  "    7  abcde  aten.add\n");
    table_release(&table);
}

static void test_wide_columns_are_cut_on_terminals_only(void **state)
{
    (void)state;
    struct table table = table_of(columns, 3);
    add_row(&table, 1, "kind", "a very long name that does not fit into the width");
    assert_prints(&table, 30,
                  "calls  kind  operator\n"
                  "    1  kind  a very long na...\n");
    assert_prints(&table, 10, /* narrower than can be: the narrowest */
                  "calls  kind  operator\n"
                  "    1  kind  a very lo...\n");
    assert_prints(&table, 0,
                  "calls  kind  operator\n"
                  "    1  kind  a very long name that does not fit into the width\n");
    table_release(&table);
}

static void test_the_widest_gives_way_first(void **state)
{
    (void)state;
    static const struct column two[] = { { "a", COLUMN_WIDE }, { "b", COLUMN_WIDE } };
    struct table table = table_of(two, 2);
    table_text(&table, STR("0123456789012345678901234567890123456789"));
    table_text(&table, STR("01234567890123456789"));
    assert_prints(&table, 42, "a                     b\n"
                              "01234567890123456...  01234567890123456789\n");
    assert_prints(&table, 32, "a                b\n"
                              "012345678901...  012345678901...\n");
    table_release(&table);
}

static void test_a_cell_is_one_line_of_valid_text(void **state)
{
    (void)state;
    static const struct column one[] = { { "x", COLUMN_WIDE }, { "y", COLUMN_LEFT } };
    struct table table = table_of(one, 2);
    table_text(&table, STR("a\nb\tc\033[0m\xff\xc2\x9b\xed\xa0\x80"));
    table_text(&table, STR("."));
    table_text(&table, STR("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"));
    table_text(&table, STR("."));
    assert_prints(&table, 0,
                  "x                                       y\n"
                  "a\\nb\\tc\\x1b[0m\\xff\\xc2\\x9b\\xed\\xa0\\x80  .\n"
                  "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80                                  .\n");
    table_release(&table);
}

static void test_no_rows_no_header(void **state)
{
    (void)state;
    struct table table = table_of(columns, 3);
    assert_prints(&table, 80, "");
    table_release(&table);
}

static void test_a_block_shows_whole_cells(void **state)
{
    (void)state;
    struct table table = table_of(columns, 3);
    char *text = NULL;
    size_t n = 0;
    struct out out;
    FILE *stream = open_memstream(&text, &n);
    out_init(&out, stream, stream, COLOR_NEVER);
    out.width = 10;
    add_row(&table, 1, "kind", "a very long name");
    table_print_block(&table, 0, &out);
    fclose(stream);
    assert_string_equal(text, "calls     1\nkind      kind\noperator  a very long name\n");
    free(text);
    table_release(&table);
}

static bool fill_and_print(void *arg)
{
    (void)arg;
    struct table table = table_of(columns, 3);
    struct out out;
    FILE *null = fopen("/dev/null", "w");
    if (!null)
        return false;
    out_init(&out, null, null, COLOR_NEVER);
    for (int i = 0; i < 40; i++) {
        table_printf(&table, "%d", i);
        table_text(&table, STR("kind"));
        table_text(&table, STR("some operator's name"));
    }
    bool ok = table_print(&table, &out) == EXIT_DONE;
    table_release(&table);
    fclose(null);
    return ok;
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(fill_and_print, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_line_up),
        cmocka_unit_test(test_wide_columns_are_cut_on_terminals_only),
        cmocka_unit_test(test_the_widest_gives_way_first),
        cmocka_unit_test(test_a_cell_is_one_line_of_valid_text),
        cmocka_unit_test(test_no_rows_no_header),
        cmocka_unit_test(test_a_block_shows_whole_cells),
        cmocka_unit_test(test_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
