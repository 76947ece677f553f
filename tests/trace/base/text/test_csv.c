#include "trace/base/text/csv.h"

#include "tests/harness.h"

/* The records of a text, cells in brackets. */
static struct buf listed(struct str text, struct err *err)
{
    struct buf out = BUF_INIT;
    struct csv in = csv_of(text);
    while (csv_next(&in, err)) {
        buf_printf(&out, "%llu", (unsigned long long)in.record_line);
        for (size_t i = 0; i < in.cells.n; i++) {
            buf_putc(&out, '[');
            csv_decode(&in.cells.v[i], &out);
            buf_putc(&out, ']');
        }
        buf_putc(&out, '\n');
    }
    csv_release(&in);
    return out;
}

static void check(const char *text, const char *expected)
{
    struct err err = ERR_INIT;
    struct buf out = listed(str_of(text), &err);
    assert_no_err(&err);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_records(void **state)
{
    (void)state;
    check("", "");
    check("\xef\xbb\xbf", "");
    check(" \n\t\r\n\r", "");
    check("a,b\n1,2", "1[a][b]\n2[1][2]\n");
    check("\xef\xbb\xbf"
          "a,b\r\n\r\n\r\n1,\r\n",
          "1[a][b]\n4[1][]\n");
    check("a\rb\r\rc", "1[a]\n2[b]\n4[c]\n");
    check(",\n,,x", "1[][]\n2[][][x]\n");
    check("  a , b", "1[  a ][ b]\n");
}

static void test_quotes(void **state)
{
    (void)state;
    check("\"a,b\",\"c\"\"d\"\n\"\"", "1[a,b][c\"d]\n2[]\n");
    check("\"two\r\nlines\",x\r\ny", "1[two\r\nlines][x]\n3[y]\n");
    check("a\"b,c\"\n", "1[a\"b][c\"]\n");
    check("\"\"\"\"", "1[\"]\n");
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } CASES[] = { { "a\n\"b", "line 2: a quote is not closed" },
                  { "\"b\"\"", "line 1: a quote is not closed" },
                  { "\"a\nb\"c", "line 2: text after a closing quote" } };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct err err = ERR_INIT;
        struct buf out = listed(str_of(CASES[i].text), &err);
        assert_err(&err, ERR_INPUT, CASES[i].error);
        buf_release(&out);
    }
    struct buf wide = BUF_INIT;
    struct err err = ERR_INIT;
    for (int i = 0; i < CSV_MAX_CELLS; i++)
        buf_putc(&wide, ',');
    struct buf out = listed(buf_str(&wide), &err);
    assert_err(&err, ERR_INPUT, "more than 4096 cells");
    buf_release(&out);
    buf_release(&wide);
}

static void test_quoting_is_read_back(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "", "a b", "a,b", "\"", "\"a\"", "a\r\nb", " a", "a ", "x"
    };
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        buf_puts(&text, i ? "," : "x,");
        csv_quote(str_of(TEXTS[i]), &text);
    }
    struct err err = ERR_INIT;
    struct csv in = csv_of(buf_str(&text));
    assert_true(csv_next(&in, &err));
    assert_int_equal(in.cells.n, sizeof TEXTS / sizeof *TEXTS + 1);
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct buf cell = BUF_INIT;
        csv_decode(&in.cells.v[i + 1], &cell);
        assert_str_is(buf_str(&cell), TEXTS[i]);
        buf_release(&cell);
    }
    assert_false(csv_next(&in, &err));
    csv_release(&in);
    buf_release(&text);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct buf out = listed(*(const struct str *)arg, &err);
    bool ok = !err_is_set(&err) && !out.failed;
    buf_release(&out);
    return ok;
}

static void test_allocations_fail(void **state)
{
    (void)state;
    struct str text = STR("a,b,c,d,e,f,g,h,i,j\n\"1\",2\n");
    check_alloc_failures(read_once, &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),          cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_errors),           cmocka_unit_test(test_quoting_is_read_back),
        cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
