#include "tests/harness.h"
#include "trace/tape/glog.h"

#define LINE "V1120 07:34:58.618001 673 torch/_dynamo/utils.py:2126] {\"a\": 1}"

static void test_fields(void **state)
{
    (void)state;
    struct glog glog;
    struct str line = STR(LINE);
    size_t n = glog_parse(line, &glog);
    assert_str_is(str_from(line, n), "{\"a\": 1}");
    assert_int_equal(glog.level, 'V');
    assert_int_equal(glog.month_day, 1120);
    assert_int_equal(glog.time_us, ((7 * 60 + 34) * 60 + 58) * UINT64_C(1000000) + 618001);
    assert_int_equal(glog.pid, 673);
    assert_str_is(glog.path, "torch/_dynamo/utils.py");
    assert_int_equal(glog.path_line, 2126);
}

static bool prints_back(const char *text)
{
    struct glog glog;
    struct buf out = BUF_INIT;
    struct str line = str_of(text);
    size_t n = glog_parse(line, &glog);
    assert_int_not_equal(n, 0);
    glog_print(&glog, &out);
    bool same = str_eq(buf_str(&out), str_first(line, n));
    buf_release(&out);
    return same;
}

static void test_print(void **state)
{
    (void)state;
    assert_true(prints_back(LINE));
    assert_true(prints_back("I0101 00:00:00.000000 0 a:0] "));
    assert_true(prints_back("C1231 23:59:59.999999 18446744073709551615 <frozen x>:4294967295] x"));
    assert_true(prints_back("W0229 12:00:00.000000 140003000000000 /home/some one/a b.py:1] "));
    assert_true(prints_back("D9999 99:59:59.000000 1 \t]\x01\xFF:1] "));
}

/* Read, but not printed as they were: such a header line is kept as it is. */
static void test_odd(void **state)
{
    (void)state;
    assert_false(prints_back("V1120 07:34:58.618001 0673 a.py:1] {}"));
    assert_false(prints_back("V1120 07:34:58.618001 673 a.py:01] {}"));
    assert_false(prints_back("V1120 07:99:58.618001 673 a.py:1] {}"));
    assert_false(prints_back("V1120 99:99:99.999999 673 a.py:1] {}"));
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "V",
        "X1120 07:34:58.618001 673 a.py:1] {}",
        "V112 07:34:58.618001 673 a.py:1] {}",
        "V1120  7:34:58.618001 673 a.py:1] {}",
        "V1120 07:34:58,618001 673 a.py:1] {}",
        "V1120 07:34:58.61800 673 a.py:1] {}",
        "V1120 07:34:58.618001 -1 a.py:1] {}",
        "V1120 07:34:58.618001  a.py:1] {}",
        "V1120 07:34:58.618001 18446744073709551616 a.py:1] {}",
        "V1120 07:34:58.618001 673 :1] {}",
        "V1120 07:34:58.618001 673 a.py:] {}",
        "V1120 07:34:58.618001 673 a.py:4294967296] {}",
        "V1120 07:34:58.618001 673 a.py:1]{}",
        "V1120 07:34:58.618001 673 a.py:1",
        " V1120 07:34:58.618001 673 a.py:1] {}",
        "V+120 07:34:58.618001 673 a.py:1] {}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct glog glog;
        if (glog_parse(str_of(lines[i]), &glog) != 0)
            fail_msg("\"%s\" is read as a header", lines[i]);
    }
}

/* Every cut of a header is refused, without a look behind its end. */
static void test_cut(void **state)
{
    (void)state;
    struct str line = STR(LINE);
    for (size_t n = 0; n < line.n; n++) {
        char copy[sizeof LINE];
        struct glog glog;
        memcpy(copy, line.p, n);
        size_t prefix = glog_parse((struct str){ copy, n }, &glog);
        assert_int_equal(prefix, n >= line.n - 8 ? line.n - 8 : 0);
    }
}

static void test_long_path(void **state)
{
    (void)state;
    struct glog glog;
    struct buf line = BUF_INIT;
    buf_puts(&line, "V1120 07:34:58.618001 673 ");
    size_t path = line.n;
    for (int i = 0; i < 4095; i++)
        buf_putc(&line, 'p');
    buf_puts(&line, ":1] {}");
    assert_int_equal(glog_parse(buf_str(&line), &glog), line.n - 2);
    assert_int_equal(glog.path.n, 4095);
    line.n = path;
    for (int i = 0; i < 5000; i++)
        buf_putc(&line, 'p');
    buf_puts(&line, ":1] {}");
    assert_int_equal(glog_parse(buf_str(&line), &glog), 0);
    buf_release(&line);
}

static void test_find(void **state)
{
    (void)state;
    struct str line = STR("cut " LINE LINE);
    assert_int_equal(glog_find(line, 0), 4);
    assert_int_equal(glog_find(line, 4), 4);
    assert_int_equal(glog_find(line, 5), 4 + sizeof LINE - 1);
    assert_int_equal(glog_find(line, 5 + sizeof LINE - 1), line.n);
    assert_int_equal(glog_find(STR("no header in it"), 0), 15);
    assert_int_equal(glog_find(STR(""), 0), 0);
    struct str almost = STR("V1120 07:34 V1120 07:34:58 V1120 07:34:58.618001 1 a:1] ");
    assert_int_equal(glog_find(almost, 0), 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_print),
        cmocka_unit_test(test_odd),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
