#include "profile/dash/dash.h"

#include <math.h>

#include "profile/dash/config_name.h"
#include "profile/dash/dash_report.h"
#include "profile/dash/result_file.h"
#include "tests/harness.h"

static const char PERFORMANCE[] = "inductor_torchbench_amp_training_cuda_performance.csv";
static const char ACCURACY[] = "inductor_torchbench_amp_training_cuda_accuracy.csv";

static struct dash *start(void)
{
    struct err err = ERR_INIT;
    struct dash *dash = dash_new(&err);
    assert_non_null(dash);
    return dash;
}

static void add(struct dash *dash, const char *label, const char *path, const char *text)
{
    struct err err = ERR_INIT;
    struct dash_point *point = NULL;
    for (size_t i = 0; i < dash->points.n; i++)
        if (str_is(dash->points.v[i].label, label))
            point = &dash->points.v[i];
    if (!point)
        point = dash_point_add(dash, str_of(label), &err);
    assert_non_null(point);
    if (!result_file_read(dash, point, str_of(path), str_of(text), 0, &err))
        fail_msg("%s", err.text);
}

static struct dash_view view_of(struct dash *dash, uint32_t base)
{
    struct err err = ERR_INIT;
    struct dash_view view;
    const struct dash_view_options options = { .base = base, .limit = 5 };
    assert_true(dash_finish(dash, &err));
    assert_true(dash_view_make(dash, &options, &view, &err));
    return view;
}

static void check_config(struct dash *dash, const char *name, const char *expected)
{
    struct err err = ERR_INIT;
    struct dash_config config;
    struct buf out = BUF_INIT;
    for (int k = 0; k < DASH_KEYS; k++)
        config.text[k] = dash->empty;
    assert_true(config_name_read(dash, str_of(name), &config, &err));
    for (int k = 0; k < DASH_KEYS; k++) {
        buf_putc(&out, k ? '|' : ' ');
        buf_put(&out, dash_text(dash, config.text[k]));
    }
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_names_of_files(void **state)
{
    (void)state;
    struct dash *dash = start();
    check_config(dash, PERFORMANCE, " torchbench|inductor|amp|training|cuda");
    check_config(dash,
                 "inductor_with_cudagraphs_timm_models_bfloat16_inference_cpu_accuracy.csv.gz",
                 " timm_models|inductor_with_cudagraphs|bfloat16|inference|cpu");
    check_config(dash, "dynamic_inductor_timm_training.csv",
                 " timm_models|dynamic_inductor||training|");
    check_config(dash, "cpu_inductor_torchbench_amp_freezing_inference.csv",
                 " torchbench|cpu_inductor_freezing|amp|inference|");
    check_config(dash, "training_huggingface.csv", " huggingface|||training|");
    check_config(dash, "inductor-huggingface-amp_fp16-training-xpu-accuracy.csv",
                 " huggingface|inductor|amp_fp16|training|xpu");
    check_config(dash, "results_cuda.csv", " ||||");
    check_config(dash, "__training__.csv", " |||training|");
    dash_free(dash);
}

static void test_numbers(void **state)
{
    (void)state;
    double value;
    assert_true(result_number(STR(" 1.5e1 "), &value) && value == 15);
    assert_true(result_number(STR("nan"), &value) && isnan(value));
    assert_true(result_number(STR("inf"), &value) && isnan(value));
    assert_true(result_number(STR("1e999"), &value) && isnan(value));
    assert_true(result_number(STR(""), &value) && isnan(value));
    static const char *const BAD[] = { "1.2x", "0x10", "1 2", "--1", ".", "e5", "1e" };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(result_number(str_of(BAD[i]), &value));
}

static void test_means(void **state)
{
    (void)state;
    struct dash *dash = start();
    add(dash, "a", PERFORMANCE,
        "\xef\xbb\xbf"
        "dev,name,speedup,compilation_latency,compression_ratio,commit\r\n\r\n"
        "cuda,x,2.0,10,0.5,c1\r\ncuda,\"y\",8.0,30,2.0,c1\r\ncuda,off,0.0,5,1,c1\r\n"
        "cuda,part,3.0,,1,c1\r\n");
    struct dash_view view = view_of(dash, 0);
    assert_int_equal(view.results.n, 1);
    const struct dash_result *r = &view.results.v[0];
    assert_int_equal(r->models, 4);
    assert_int_equal(r->summary.judged, 4);
    assert_int_equal(r->summary.passed, 3);
    assert_int_equal(r->summary.mean[DASH_SPEEDUP].n, 2);
    assert_true(fabs(r->summary.mean[DASH_SPEEDUP].value - 4) < 1e-12);
    assert_true(r->summary.mean[DASH_COMPILE].value == 20);
    assert_true(fabs(r->summary.mean[DASH_MEMORY].value - 1) < 1e-12);
    assert_true(isnan(r->summary.mean[DASH_MFU].value));
    assert_int_equal(dash->points.v[0].facts.n, 1);
    assert_str_is(dash_text(dash, dash->points.v[0].facts.v[0].value), "c1");
    assert_int_equal(view.slowest.n, 2);
    assert_str_is(dash_text(dash, view.slowest.v[0].name), "x");
    dash_view_release(&view);
    dash_free(dash);
}

static void test_failed_models_count_in_no_mean(void **state)
{
    (void)state;
    struct dash *dash = start();
    add(dash, "a", PERFORMANCE, "name,speedup\nx,2\ny,8\n");
    add(dash, "a", ACCURACY, "name,accuracy\nx,fail_accuracy\ny,pass\nz,pass_due_to_skip\n");
    struct dash_view view = view_of(dash, 0);
    const struct dash_summary *s = &view.results.v[0].summary;
    assert_int_equal(s->judged, 3);
    assert_int_equal(s->passed, 2);
    assert_int_equal(s->mean[DASH_SPEEDUP].n, 1);
    assert_true(fabs(s->mean[DASH_SPEEDUP].value - 8) < 1e-12);
    dash_view_release(&view);
    dash_free(dash);
}

static void test_json_lines(void **state)
{
    (void)state;
    struct dash *dash = start();
    add(dash, "a", "r.jsonl",
        "{\"name\":\"x\",\"suite\":\"s\",\"speedup\":2,\"flops\":1e12,\"abs_latency\":10,"
        "\"peak_tflops\":400,\"tags\":[1],\"torch\":\"2.13\"}\n\n"
        "{\"mod\\u0065l\":\"y\",\"suite\":\"s\",\"speedup\":NaN,\"mfu\":0.5,\"torch\":\"2.13\"}\n");
    struct dash_view view = view_of(dash, 0);
    const struct dash_summary *s = &view.results.v[0].summary;
    assert_int_equal(s->judged, 2);
    assert_int_equal(s->passed, 1);
    assert_true(fabs(s->mean[DASH_MFU].value - 0.25) < 1e-12);
    assert_int_equal(dash->points.v[0].facts.n, 1);
    dash_view_release(&view);
    dash_free(dash);
}

static void test_configurations_of_tapes(void **state)
{
    (void)state;
    struct dash *dash = start();
    struct err err = ERR_INIT;
    add(dash, "a", "r.jsonl",
        "{\"name\":\"x\",\"suite\":\"s\",\"mode\":\"training\"}\n"
        "{\"name\":\"x\",\"suite\":\"s\",\"mode\":\"inference\"}\n"
        "{\"name\":\"y\",\"suite\":\"s\",\"mode\":\"inference\"}\n");
    struct dash_config none, part, found;
    for (int k = 0; k < DASH_KEYS; k++)
        none.text[k] = dash->empty;
    part = none;
    assert_true(config_name_read(dash, STR("training"), &part, &err));
    const struct dash_point *point = &dash->points.v[0];
    found = dash_config_of_tape(dash, point, &none, STR("x"));
    assert_int_equal(found.text[DASH_SUITE], dash->empty);
    found = dash_config_of_tape(dash, point, &part, STR("x"));
    assert_str_is(dash_text(dash, found.text[DASH_SUITE]), "s");
    found = dash_config_of_tape(dash, point, &none, STR("y"));
    assert_str_is(dash_text(dash, found.text[DASH_MODE]), "inference");
    found = dash_config_of_tape(dash, point, &part, STR("y"));
    assert_int_equal(found.text[DASH_SUITE], dash->empty);
    dash_free(dash);
}

/* What changed between two points, and what of it is noise. */
static void test_changes(void **state)
{
    (void)state;
    struct dash *dash = start();
    add(dash, "a", PERFORMANCE, "name,speedup\nsame,2\nslow,2\ngone,9\n");
    add(dash, "a", PERFORMANCE, "name,speedup\nsame,2.2\nslow,2\ngone,9\n");
    add(dash, "b", PERFORMANCE, "name,speedup\nsame,2.15\nslow,1\nnew,9\n");
    add(dash, "b", PERFORMANCE, "name,speedup\nsame,1.95\nslow,1\nnew,9\n");
    struct dash_view view = view_of(dash, 0);
    assert_int_equal(view.changes.n, 1);
    const struct dash_change *c = &view.changes.v[0];
    assert_int_equal(c->common, 2);
    assert_int_equal(c->added, 1);
    assert_int_equal(c->removed, 1);
    assert_int_equal(c->before.mean[DASH_SPEEDUP].n, 2);
    assert_true(fabs(c->before.mean[DASH_SPEEDUP].value - sqrt(2.1 * 2)) < 1e-12);
    assert_int_equal(c->verdict[DASH_SPEEDUP], COMPARE_CHANGED);
    assert_int_equal(view.regressed.n, 1);
    assert_str_is(dash_text(dash, view.regressed.v[0].name), "slow");
    assert_true(view.regressed.v[0].worse == 2);
    assert_int_equal(view.models.n, 2);
    assert_int_equal(view.models.v[0].kind, DASH_REMOVED);
    assert_int_equal(view.models.v[1].kind, DASH_ADDED);
    dash_view_release(&view);
    dash_free(dash);
}

static void test_one_run_is_not_judged(void **state)
{
    (void)state;
    struct dash *dash = start();
    add(dash, "a", PERFORMANCE, "name,speedup\nx,2\n");
    add(dash, "b", PERFORMANCE, "name,speedup\nx,1.9\n");
    struct dash_view view = view_of(dash, 0);
    assert_int_equal(view.changes.v[0].verdict[DASH_SPEEDUP], COMPARE_UNJUDGED);
    assert_int_equal(view.regressed.n, 1);
    dash_view_release(&view);
    dash_free(dash);
}

/* Names come from files: they become neither markup nor what drives a terminal. */
static void test_names_are_text(void **state)
{
    (void)state;
    struct dash *dash = start();
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 0 };
    add(dash, "<b>\"", PERFORMANCE, "name,speedup,note\n<script>&'\x1b[2J,2,<i>\n");
    struct dash_view view = view_of(dash, 0);
    dash_html(&view, NULL, &how, &out);
    assert_true(str_contains(buf_str(&out), STR("&lt;script&gt;&amp;&#39;\\x1b[2J")));
    assert_true(str_contains(buf_str(&out), STR("&lt;b&gt;&quot;")));
    assert_false(str_contains(buf_str(&out), STR("<script")));
    assert_false(str_contains(buf_str(&out), STR("<i>")));
    buf_clear(&out);
    dash_markdown(&view, NULL, &how, &out);
    assert_true(str_contains(buf_str(&out), STR("\\<script\\>")));
    assert_false(str_contains(buf_str(&out), STR("\x1b")));
    buf_release(&out);
    dash_view_release(&view);
    dash_free(dash);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } CASES[] = {
        { "a,b\n1,2\n", "line 1: no column is \"name\" or \"model\"" },
        { "name,speedup\nx,1.2x\n", "line 2: speedup: \"1.2x\" is not a number" },
        { "name,speedup\n\nx,1,2\n", "line 3: 3 cells, where the header has 2" },
        { "name,speedup\n,1\n", "line 2: a row without a name" },
        { "{\"name\":\"x\"}\n{\"speedup\":1}", "line 2: a row without a name" },
        { "{\"name\":\"x\"}\n[1]", "line 2: not an object" },
        { "{\"name\":\"x\"", "line 1: offset" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct dash *dash = start();
        struct err err = ERR_INIT;
        struct dash_point *point = dash_point_add(dash, STR("a"), &err);
        assert_false(result_file_read(dash, point, STR("r.csv"), str_of(CASES[i].text), 0, &err));
        assert_err(&err, ERR_INPUT, CASES[i].error);
        dash_free(dash);
    }
}

/* ---- Everything, with allocations that fail ---- */

static bool write_all(const struct dash_view *view)
{
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 70 };
    dash_text_write(view, NULL, &how, &out);
    dash_markdown(view, NULL, &how, &out);
    dash_json(view, NULL, &how, &out);
    dash_html(view, NULL, &how, &out);
    bool ok = !out.failed;
    buf_release(&out);
    return ok;
}

static bool make_all(void *arg)
{
    struct err err = ERR_INIT;
    struct dash_view view = { .base = 0 };
    const struct dash_view_options options = { .limit = 5 };
    struct dash *dash = dash_new(&err);
    bool ok = dash;
    (void)arg;
    for (int i = 0; i < 2 && ok; i++) {
        struct dash_point *point = dash_point_add(dash, i ? STR("b") : STR("a"), &err);
        ok = point &&
             point_facts_read(dash, point, STR("{\"commit\":\"1\",\"suite\":\"s\"}"), &err) &&
             result_file_read(dash, point, str_of(ACCURACY),
                              i ? STR("name,accuracy,t\nx,pass,1\nz,pass,1\n")
                                : STR("name,accuracy,t\nx,fail,1\ny,pass,1\n"),
                              0, &err) &&
             result_file_read(dash, point, STR("r.jsonl"),
                              STR("{\"name\":\"x\",\"speedup\":2,\"mfu\":0.2}"), 0, &err);
    }
    ok = ok && dash_finish(dash, &err) && dash_view_make(dash, &options, &view, &err) &&
         write_all(&view);
    dash_view_release(&view);
    dash_free(dash);
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
        cmocka_unit_test(test_names_of_files),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_failed_models_count_in_no_mean),
        cmocka_unit_test(test_json_lines),
        cmocka_unit_test(test_configurations_of_tapes),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_one_run_is_not_judged),
        cmocka_unit_test(test_names_are_text),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
