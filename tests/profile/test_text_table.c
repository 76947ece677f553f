#include "profile/text_table.h"
#include "tests/harness.h"

static const struct text_column COLUMNS[] = {
    { "calls", true },
    { "who", false },
    { "name", false },
};

static void put(struct text_table *table, const char *text)
{
    buf_puts(&table->text, text);
    text_table_cell(table);
}

static struct text_table two_rows(void)
{
    struct text_table table = { .columns = COLUMNS, .n_columns = 3 };
    put(&table, "1,000");
    put(&table, "me");
    put(&table, "a name that is rather long for a table");
    put(&table, "7");
    put(&table, "somebody");
    put(&table, "\xc3\xa9");
    return table;
}

static void test_whole(void **state)
{
    (void)state;
    struct text_table table = two_rows();
    struct buf out = BUF_INIT;
    assert_int_equal(text_table_rows(&table), 2);
    text_table_print(&table, 0, 2, false, &out);
    assert_str_is(buf_str(&out), "  calls  who       name\n"
                                 "  1,000  me        a name that is rather long for a table\n"
                                 "      7  somebody  \xc3\xa9\n");
    buf_release(&out);
    text_table_release(&table);
}

static void test_cut(void **state)
{
    (void)state;
    struct text_table table = two_rows();
    struct buf out = BUF_INIT;
    text_table_print(&table, 40, 0, true, &out);
    assert_str_is(buf_str(&out), "\033[2mcalls  who       name\033[0m\n"
                                 "1,000  me        a name that is rathe...\n"
                                 "    7  somebody  \xc3\xa9\n");
    buf_clear(&out);
    text_table_print(&table, 1, 0, false, &out); /* the last column keeps twenty columns */
    assert_int_not_equal(str_find(buf_str(&out), STR("a name that is ra...\n")), out.n);
    buf_release(&out);
    text_table_release(&table);
}

static void test_empty(void **state)
{
    (void)state;
    struct text_table table = { .columns = COLUMNS, .n_columns = 3 };
    struct buf out = BUF_INIT;
    text_table_print(&table, 80, 0, false, &out);
    assert_int_equal(out.n, 0);
    table.text.failed = true;
    text_table_print(&table, 80, 0, false, &out);
    assert_true(out.failed);
    buf_release(&out);
    text_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
