#include "profile/report/table.h"

#include "tests/harness.h"

static const struct column COLUMNS[] = {
    { "calls", COLUMN_RIGHT },
    { "kind", COLUMN_LEFT },
    { "operator", COLUMN_WIDE },
};

static void assert_prints(const struct table *table, struct table_layout layout,
                          const char *expected)
{
    struct buf out = BUF_INIT;
    table_print(table, &layout, &out);
    assert_false(out.failed);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

#define ENDLESS  ((struct table_layout){ 0 })
#define WIDTH(n) ((struct table_layout){ .width = (n) })

static void add_row(struct table *table, uint64_t calls, const char *kind, const char *name)
{
    table_u64(table, calls);
    table_text(table, str_of(kind));
    table_text(table, str_of(name));
}

static void test_columns_line_up(void **state)
{
    (void)state;
    struct table table = TABLE(COLUMNS);
    add_row(&table, 1234, "a", "aten.mm.default");
    add_row(&table, 7, "abcde", "\xc3\xa9");
    assert_int_equal(table_rows(&table), 2);
    assert_prints(&table, ENDLESS,
                  "calls  kind   operator\n"
                  "1,234  a      aten.mm.default\n"
                  "    7  abcde  \xc3\xa9\n");
    assert_prints(&table, ((struct table_layout){ .indent = 2 }),
                  "  calls  kind   operator\n"
                  "  1,234  a      aten.mm.default\n"
                  "      7  abcde  \xc3\xa9\n");
    table_release(&table);
}

static void test_the_header_is_dim(void **state)
{
    (void)state;
    struct table table = TABLE(COLUMNS);
    struct buf out = BUF_INIT;
    struct styles styles = { 0 };
    const struct table_layout layout = { .indent = 2, .styles = &styles };
    add_row(&table, 7, "abcde", "mm");
    table_print(&table, &layout, &out);
    assert_str_is(buf_str(&out), "  calls  kind   operator\n      7  abcde  mm\n");
    assert_int_equal(styles.marks.n, 2);
    assert_ptr_equal(styles.marks.v[0].text, &out);
    assert_int_equal(styles.marks.v[0].at, 2);
    assert_int_equal(styles.marks.v[0].style, STYLE_DIM);
    assert_int_equal(styles.marks.v[1].at, strlen("  calls  kind   operator"));
    assert_int_equal(styles.marks.v[1].style, STYLE_NONE);
    vec_release(&styles.marks);
    buf_release(&out);
    table_release(&table);
}

static void test_cells(void **state)
{
    (void)state;
    static const struct column three[] = { { "a", COLUMN_LEFT },
                                           { "b", COLUMN_LEFT },
                                           { "c", COLUMN_LEFT } };
    struct table table = TABLE(three);
    table_text(&table, STR(""));
    table_count(&table, 0);
    table_ns(&table, -1);
    table_printf(&table, "%s", "x y");
    table_u64(&table, 0);
    table_ns(&table, 0);
    table_place(&table, STR("/u/zoo/a.py"), 3);
    table_place(&table, STR(""), 3);
    buf_puts(&table.text, "own");
    table_cell(&table);
    assert_prints(&table, ENDLESS,
                  "a           b  c\n"
                  "-           -  -\n"
                  "x y         0  0 ns\n"
                  "zoo/a.py:3  -  own\n");
    table_release(&table);
}

static void test_wide_columns_are_cut_to_a_width_only(void **state)
{
    (void)state;
    struct table table = TABLE(COLUMNS);
    add_row(&table, 1, "kind", "a very long name that does not fit into the width");
    assert_prints(&table, WIDTH(30),
                  "calls  kind  operator\n"
                  "    1  kind  a very long na...\n");
    assert_prints(&table, WIDTH(10), /* narrower than can be: the narrowest */
                  "calls  kind  operator\n"
                  "    1  kind  a ver...\n");
    assert_prints(&table, ((struct table_layout){ .width = 30, .indent = 2 }),
                  "  calls  kind  operator\n"
                  "      1  kind  a very long ...\n");
    assert_prints(&table, ENDLESS,
                  "calls  kind  operator\n"
                  "    1  kind  a very long name that does not fit into the width\n");
    table_release(&table);
}

static void test_the_widest_gives_way_first(void **state)
{
    (void)state;
    static const struct column two[] = { { "a", COLUMN_WIDE }, { "b", COLUMN_PATH } };
    struct table table = TABLE(two);
    table_text(&table, STR("0123456789012345678901234567890123456789"));
    table_text(&table, STR("01234567890123456789"));
    assert_prints(&table, WIDTH(42),
                  "a                     b\n"
                  "01234567890123456...  01234567890123456789\n");
    assert_prints(&table, WIDTH(32),
                  "a                b\n"
                  "012345678901...  ...890123456789\n");
    table_release(&table);
}

static void test_spare_columns_go_before_wide_ones_get_narrow(void **state)
{
    (void)state;
    static const struct column four[] = {
        { "first", COLUMN_RIGHT, 1 },
        { "second", COLUMN_RIGHT, 2 },
        { "nothing", COLUMN_RIGHT },
        { "text", COLUMN_WIDE },
    };
    struct table table = TABLE(four);
    table_u64(&table, 1);
    table_u64(&table, 2);
    table_count(&table, 0);
    table_text(&table, STR("a text of thirty-two characters."));
    assert_prints(&table, ENDLESS,
                  "first  second  nothing  text\n"
                  "    1       2        -  a text of thirty-two characters.\n");
    assert_prints(&table, WIDTH(60),
                  "first  second  text\n"
                  "    1       2  a text of thirty-two characters.\n");
    assert_prints(&table, WIDTH(35),
                  "first  second  text\n"
                  "    1       2  a text of thirty-...\n");
    assert_prints(&table, WIDTH(34),
                  "first  text\n"
                  "    1  a text of thirty-two cha...\n");
    assert_prints(&table, WIDTH(21),
                  "text\n"
                  "a text of thirty-t...\n");
    table_release(&table);
}

/* Headers are folded to the width of the numbers below them, names are cut in the middle. */
static void test_headers_and_names_give_way_at_last(void **state)
{
    (void)state;
    static const struct column names[] = { { "compile time each", COLUMN_RIGHT, 0 },
                                           { "of it", COLUMN_RIGHT, 0 },
                                           { "name of the graph", COLUMN_LEFT, 0 } };
    struct table table = TABLE(names);
    table_text(&table, STR("1.25 ms"));
    table_text(&table, STR("2"));
    table_text(&table, STR("0/0_0:dynamo_output_graph"));
    assert_prints(&table, WIDTH(51),
                  "compile time each  of it  name of the graph\n"
                  "          1.25 ms      2  0/0_0:dynamo_output_graph\n");
    assert_prints(&table, WIDTH(44),
                  "   compile\n"
                  " time each  of it  name of the graph\n"
                  "   1.25 ms      2  0/0_0:dynamo_output_graph\n");
    assert_prints(&table, WIDTH(26),
                  "compile\n"
                  "   time  of  name of the\n"
                  "   each  it  graph\n"
                  "1.25 ms   2  0/0_0...graph\n");
    table_release(&table);
}

static void test_a_cell_is_one_line_of_valid_text(void **state)
{
    (void)state;
    static const struct column two[] = { { "x", COLUMN_WIDE }, { "y", COLUMN_LEFT } };
    struct table table = TABLE(two);
    table_text(&table, STR("a\nb \tc\033[0m\xff\xc2\x9b\xed\xa0\x80"));
    table_text(&table, STR("."));
    table_text(&table, STR("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"));
    table_text(&table, STR("."));
    assert_prints(&table, ENDLESS,
                  "x                             y\n"
                  "a b c\\x1b[0m\\xff\\u009b\\ud800  .\n"
                  "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80                        .\n");
    table_release(&table);
}

static void test_no_rows_no_header(void **state)
{
    (void)state;
    struct table table = TABLE(COLUMNS);
    assert_prints(&table, WIDTH(80), "");
    table_release(&table);
}

static void test_a_block_shows_whole_cells(void **state)
{
    (void)state;
    struct table table = TABLE(COLUMNS);
    struct buf out = BUF_INIT;
    add_row(&table, 1, "kind", "a very long name");
    table_print_block(&table, 0, NULL, &out);
    assert_str_is(buf_str(&out), "calls     1\nkind      kind\noperator  a very long name\n");
    buf_release(&out);
    table_release(&table);
}

static bool fill_and_print(void *arg)
{
    (void)arg;
    struct table table = TABLE(COLUMNS);
    struct buf out = BUF_INIT;
    for (int i = 0; i < 40; i++) {
        table_printf(&table, "%d", i);
        table_text(&table, STR("kind"));
        table_text(&table, STR("some operator's name"));
    }
    table_print(&table, &ENDLESS, &out);
    bool ok = !out.failed;
    buf_release(&out);
    table_release(&table);
    return ok;
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(fill_and_print, NULL);
}

/* Columns that hold nothing are left out of a squeezed table. What a file may hold is no markup. */
static void test_markdown(void **state)
{
    (void)state;
    static const struct column HEADERS[] = {
        { "", COLUMN_MARKUP },          { "change", COLUMN_RIGHT }, { "name", COLUMN_LEFT },
        { "nothing", COLUMN_RIGHT, 0 }, { "code", COLUMN_WIDE },
    };
    struct table table = TABLE(HEADERS);
    struct buf out = BUF_INIT;
    table_markdown(&table, &out);
    assert_int_equal(out.n, 0);
    table_text(&table, STR("**bad**"));
    table_text(&table, STR("+1 (+6.2 %)"));
    table_text(&table, STR("*a*"));
    table_count(&table, 0);
    table_text(&table, STR("x | y"));
    table.squeezed = true;
    table_markdown(&table, &out);
    assert_str_is(buf_str(&out), "|  | change | name | code |\n"
                                 "| --- | ---: | --- | --- |\n"
                                 "| **bad** | +1 (+6.2 %) | \\*a\\* | `x \\| y` |\n");
    table_release(&table);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_line_up),
        cmocka_unit_test(test_the_header_is_dim),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_wide_columns_are_cut_to_a_width_only),
        cmocka_unit_test(test_the_widest_gives_way_first),
        cmocka_unit_test(test_spare_columns_go_before_wide_ones_get_narrow),
        cmocka_unit_test(test_headers_and_names_give_way_at_last),
        cmocka_unit_test(test_a_cell_is_one_line_of_valid_text),
        cmocka_unit_test(test_no_rows_no_header),
        cmocka_unit_test(test_a_block_shows_whole_cells),
        cmocka_unit_test(test_allocations_may_fail),
        cmocka_unit_test(test_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
