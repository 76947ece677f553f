#include "profile/dash/expectations.h"

#include "profile/dash/result_file.h"
#include "tests/harness.h"

struct rig {
    struct dash *dash;
    struct expectations file;
    struct verdicts verdicts;
};

static bool set_up(struct rig *rig, const char *results, const char *expected,
                   const struct verdict_options *options, struct err *err)
{
    struct buf text = BUF_INIT;
    *rig = (struct rig){ .dash = dash_new(err) };
    struct dash_point *point = rig->dash ? dash_point_add(rig->dash, STR("now"), err) : NULL;
    buf_puts(&text, expected);
    bool ok = point && (!text.failed || err_nomem(err)) &&
              result_file_read(rig->dash, point,
                               STR("inductor_torchbench_amp_training_cuda_accuracy.csv"),
                               str_of(results), 0, err) &&
              dash_finish(rig->dash, err) &&
              expectations_read(rig->dash, STR("inductor_torchbench_training.csv"), &text,
                                &rig->file, err) &&
              verdicts_make(rig->dash, &rig->file, 1, options, &rig->verdicts, err);
    buf_release(&text);
    return ok;
}

static void drop(struct rig *rig)
{
    verdicts_release(&rig->verdicts);
    expectations_release(&rig->file);
    dash_free(rig->dash);
}

static const struct verdict_options NONE = { .partial = false };
static const char HEADER[] = "name,accuracy,graph_breaks,unique_graphs\n";

static void check_verdicts(const char *rows, const char *expected, const char *verdicts,
                           const struct verdict_options *options)
{
    struct err err = ERR_INIT;
    struct rig rig;
    struct buf results = BUF_INIT, out = BUF_INIT;
    buf_printf(&results, "%s%s", HEADER, rows);
    buf_putc(&results, '\0');
    assert_true(set_up(&rig, results.p, expected, options, &err));
    for (size_t i = 0; i < rig.verdicts.rows.n; i++) {
        const struct verdict_row *row = &rig.verdicts.rows.v[i];
        buf_printf(&out, "%.*s %s\n", STR_ARG(dash_text(rig.dash, row->name)),
                   dash_verdict_name(row->verdict));
    }
    assert_str_is(buf_str(&out), verdicts);
    buf_release(&results);
    buf_release(&out);
    drop(&rig);
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct str FLAKY[] = { { "f", 1 } };
    const struct verdict_options listed = { .flaky = FLAKY, .n_flaky = 1 };
    const struct verdict_options partial = { .partial = true };
    static const char EXPECTED[] = "name,accuracy,graph_breaks\n\n\n\nf,pass,0\n\n\n\nx,fail,2\n";
    check_verdicts("f,pass,0,1\nx,fail,2,1\n", EXPECTED, "f PASS\nx XFAIL\n", &NONE);
    check_verdicts("f,fail,0,1\nx,pass,2,1\n", EXPECTED, "f FAIL\nx IMPROVED\n", &NONE);
    check_verdicts("f,pass,1,1\nx,fail,1,1\n", EXPECTED, "f FAIL\nx IMPROVED\n", &NONE);
    check_verdicts("f,pass,1,0\nx,fail,,1\n", EXPECTED, "f PASS\nx XFAIL\n", &NONE);
    check_verdicts("f,fail,0,1\nx,fail,2,1\n", EXPECTED, "f FLAKY\nx XFAIL\n", &listed);
    check_verdicts("f,pass,0,1\nx,fail,2,1\n", EXPECTED, "f PASS\nx XFAIL\n", &listed);
    check_verdicts("f,pass,0,1\nf,fail,0,1\nx,,0,1\n", EXPECTED, "f FLAKY\nx MISSING\n", &NONE);
    check_verdicts("f,pass,0,1\nf,pass,3,1\ny,pass,0,1\n", EXPECTED,
                   "f FLAKY\ny MISSING\nx MISSING\n", &NONE);
    check_verdicts("f,pass,0,1\n", EXPECTED, "f PASS\n", &partial);
    check_verdicts("x,pass_due_to_skip,0,1\n", "name,status\nx,pass\n", "x FAIL\n", &NONE);
}

static void check_update(const char *rows, const char *expected, const char *updated)
{
    struct err err = ERR_INIT;
    struct rig rig;
    struct buf results = BUF_INIT, out = BUF_INIT;
    buf_printf(&results, "%s%s", HEADER, rows);
    buf_putc(&results, '\0');
    assert_true(set_up(&rig, results.p, expected, &NONE, &err));
    assert_true(expectations_update(&rig.file, 0, rig.dash, &rig.verdicts, &out, &err));
    assert_str_is(buf_str(&out), updated);
    buf_release(&results);
    buf_release(&out);
    drop(&rig);
}

static void test_update(void **state)
{
    (void)state;
    static const char ROWS[] = "b,pass,0,1\nd,fail,2,1\n";
    check_update(ROWS, "name,accuracy,graph_breaks\nb,pass,0\nd,fail,2\n",
                 "name,accuracy,graph_breaks\nb,pass,0\nd,fail,2\n");
    check_update(ROWS, "\xef\xbb\xbfname,accuracy,graph_breaks\r\n\r\nd,\"pass\",1\r\n\r\nb,pass,0",
                 "\xef\xbb\xbfname,accuracy,graph_breaks\r\n\r\nd,fail,2\r\n\r\nb,pass,0");
    check_update(ROWS, "accuracy,note,name\nfail,\"a,b\",b\n\npass,,x\n",
                 "accuracy,note,name\npass,\"a,b\",b\nfail,,d\n");
    check_update(ROWS, "name,accuracy,graph_breaks\n",
                 "name,accuracy,graph_breaks\nb,pass,0\nd,fail,2\n");
    check_update(ROWS, "name,accuracy,graph_breaks",
                 "name,accuracy,graph_breaks\nb,pass,0\nd,fail,2");
    check_update(ROWS,
                 "name,accuracy,graph_breaks\n\n\n\na,pass,0\n\n\n\nc,pass,0\n\n\n\ne,pass,0\n",
                 "name,accuracy,graph_breaks\n\n\n\nb,pass,0\n\n\n\nd,fail,2\n");
    check_update("a,pass,0,1\na,fail,0,1\nb,pass,0,1\n", "name,accuracy\na,pass\nb,fail\n",
                 "name,accuracy\na,pass\nb,pass\n");
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *expected, *error;
    } CASES[] = { { "", "it is empty" },
                  { "name,speedup\n", "line 1: the columns are not name, accuracy" },
                  { "name,accuracy\nx\n", "line 2: a row without a name or a status" },
                  { "name,accuracy\nx,pass\nx,pass\n", "line 3: x is listed twice" },
                  { "name,accuracy,graph_breaks\nx,pass,y\n", "\"y\" is not a number" } };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct err err = ERR_INIT;
        struct rig rig;
        assert_false(set_up(&rig, HEADER, CASES[i].expected, &NONE, &err));
        assert_err(&err, ERR_INPUT, CASES[i].error);
        drop(&rig);
    }
}

static bool make_all(void *arg)
{
    struct err err = ERR_INIT;
    struct rig rig;
    struct buf out = BUF_INIT;
    (void)arg;
    bool ok = set_up(&rig, "name,accuracy,graph_breaks\na,pass,1\nb,pass,0\nc,\"x,y\",1\n",
                     "name,accuracy,graph_breaks\nb,fail,2\nd,pass,0\n", &NONE, &err) &&
              expectations_update(&rig.file, 0, rig.dash, &rig.verdicts, &out, &err);
    buf_release(&out);
    drop(&rig);
    return ok;
}

static void test_allocations_fail(void **state)
{
    (void)state;
    check_alloc_failures(make_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
