#include "profile/compare/compare.h"

#include "profile/compare/diff.h"
#include "tests/profile/made.h"

static struct snapshot *of_trace(struct trace *trace, const char *name)
{
    struct err err = ERR_INIT;
    struct snapshot *s = snapshot_take(trace, NULL, str_of(name), &err);
    assert_no_err(&err);
    assert_non_null(s);
    trace_close(trace);
    return s;
}

static struct snapshot *of_recording(const char *name)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(source_path(name), NULL, &err);
    assert_no_err(&err);
    return of_trace(trace, name);
}

static struct snapshot *of_log(struct log_make log)
{
    return of_trace(log_open(&log), "made.log");
}

static struct compare *compare(struct snapshot *const *a, uint32_t n, struct snapshot *const *b,
                               uint32_t m, const struct compare_options *options)
{
    struct err err = ERR_INIT;
    struct compare_side before = { STR("a"), a, n }, after = { STR("b"), b, m };
    struct compare *c = compare_build(&before, &after, options, &err);
    assert_no_err(&err);
    assert_non_null(c);
    return c;
}

static uint32_t rows_of(const struct compare *c, enum change_kind kind)
{
    return c->first_of[kind + 1] - c->first_of[kind];
}

static const struct change_row *row_of(const struct compare *c, enum change_kind kind, uint32_t i)
{
    assert_true(i < rows_of(c, kind));
    return &c->rows[c->first_of[kind] + i];
}

static void test_itself(void **state)
{
    static const char *const LOGS[] = {
        "tests/recordings/encoder.log.zst",
        "tests/recordings/graph_break.log.zst",
        "tests/recordings/data_dependent.log.zst",
        "tests/recordings/inductor.log.zst",
        "tests/recordings/cond.log.zst",
        "tests/recordings/exported.pt2",
        "tests/recordings/two_ranks",
        "tests/recordings/torch-2.11/train.log.zst",
    };
    (void)state;
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++) {
        struct snapshot *a = of_recording(LOGS[i]), *b = of_recording(LOGS[i]);
        struct compare *c = compare(&a, 1, &b, 1, NULL);
        struct buf text = BUF_INIT;
        assert_false(c->differs);
        assert_int_equal(c->n_rows, 0);
        diff_text(c, &(struct report_options){ 0 }, &text);
        assert_int_equal(text.n, 0);
        compare_free(c);
        snapshot_free(a);
        snapshot_free(b);
    }
}

/* The line that the recompile is of, its guard, and nothing that others do. */
static void test_window(void **state)
{
    (void)state;
    struct snapshot *a = of_recording("tests/recordings/layers.log.zst");
    struct snapshot *b = of_recording("tests/recordings/layers_window.log.zst");
    struct compare *c = compare(&a, 1, &b, 1, NULL);
    assert_true(c->differs);
    assert_false(c->undecided);
    assert_int_equal(rows_of(c, CHANGE_RECOMPILES), 1);
    const struct change_row *recompile = row_of(c, CHANGE_RECOMPILES, 0);
    assert_int_equal(recompile->change, CHANGE_NEW);
    assert_str_is(recompile->what, "(x.size()[1] % 8) != 0");
    assert_str_is(recompile->place.code, "if length % self.window:");
    assert_int_equal(recompile->place.line, 33);
    assert_true(c->n_user_lines > 0);
    assert_int_equal(c->user_lines[0].place.line, 33);
    assert_int_equal(c->user_lines[0].incidents.fresh, 1);
    bool found = false;
    for (uint32_t i = 0; i < rows_of(c, CHANGE_GUARDS); i++) {
        const struct change_row *guard = row_of(c, CHANGE_GUARDS, i);
        assert_int_equal(guard->change, CHANGE_NEW);
        found |= str_is(guard->what, "Eq(Mod(s27, 8), 0)") && str_is(guard->level, "dynamo") &&
                 guard->place.line == 33;
    }
    assert_true(found);
    assert_int_equal(rows_of(c, CHANGE_BREAKS), 0);
    compare_free(c);

    /* The other way round everything that was new is gone. */
    c = compare(&b, 1, &a, 1, NULL);
    recompile = row_of(c, CHANGE_RECOMPILES, 0);
    assert_int_equal(recompile->change, CHANGE_GONE);
    assert_int_equal(recompile->place.line, 33);
    compare_free(c);
    snapshot_free(a);
    snapshot_free(b);
}

/* An attempt that was thrown away on one side only: why, and how much was in it. */
static void test_restart(void **state)
{
    (void)state;
    struct log_make one = log_start();
    made_strings(&one);
    made_attempt(&one, '0', true);
    one.context = LOG_COMPILE(0, 0, 0);
    log_put(&one,
            "\"compilation_metrics\": {\"co_name\": \"forward\", \"co_filename\": "
            "\"/u/zoo/model.py\", \"co_firstlineno\": 10, \"entire_frame_compile_time_s\": 0.1}",
            NULL);
    struct log_make two = log_start();
    made_strings(&two);
    made_attempt(&two, '0', true);
    made_attempt(&two, '1', true);
    log_put(
        &two,
        "\"compilation_metrics\": {\"co_name\": \"forward\", \"co_filename\": "
        "\"/u/zoo/model.py\", \"co_firstlineno\": 10, \"entire_frame_compile_time_s\": 0.18, "
        "\"restart_reasons\": [\"<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>\"]}",
        NULL);
    struct snapshot *a = of_log(one), *b = of_log(two);
    struct compare *c = compare(&a, 1, &b, 1, NULL);
    assert_int_equal(c->n_rows, 1);
    const struct change_row *row = row_of(c, CHANGE_RESTARTS, 0);
    assert_int_equal(row->change, CHANGE_NEW);
    assert_str_is(row->what, "a float was specialized: TensorifyScalarRestartAnalysis");
    assert_str_is(row->more, "2 graphs, 1 symbol, 1 guard");
    assert_str_is(row->compile, "0/0_0");
    assert_true(c->differs);
    compare_free(c);
    snapshot_free(a);
    snapshot_free(b);
}

static struct snapshot *slow_run(double seconds)
{
    struct snapshot *s = of_log(made_log());
    assert_true(s->measures.has[MEASURE_COMPILE_S]);
    s->measures.value[MEASURE_COMPILE_S] = seconds;
    return s;
}

static enum compare_verdict verdict(const struct compare *c, enum measure measure)
{
    for (uint32_t i = 0; i < c->n_measures; i++)
        if (c->measures[i].measure == measure)
            return c->measures[i].verdict;
    fail();
    return COMPARE_SAME;
}

/* Times are judged by the spread, and only where there is one. */
static void test_times(void **state)
{
    (void)state;
    struct snapshot *runs[] = { slow_run(10.0), slow_run(10.5), slow_run(10.2),
                                slow_run(10.4), slow_run(12.0), slow_run(12.4) };
    struct compare *c = compare(runs, 1, runs + 4, 1, NULL);
    assert_int_equal(verdict(c, MEASURE_COMPILE_S), COMPARE_UNJUDGED);
    assert_false(c->differs);
    compare_free(c);
    c = compare(runs, 2, runs + 2, 2, NULL);
    assert_int_equal(verdict(c, MEASURE_COMPILE_S), COMPARE_NOISE);
    assert_false(c->differs);
    compare_free(c);
    c = compare(runs, 2, runs + 4, 2, NULL);
    assert_int_equal(verdict(c, MEASURE_COMPILE_S), COMPARE_CHANGED);
    assert_true(c->differs);
    assert_int_equal(c->n_rows, 0);
    compare_free(c);
    struct compare_options options = { 0 };
    options.skip[CHANGE_TIMES] = true;
    c = compare(runs, 2, runs + 4, 2, &options);
    assert_false(c->differs);
    compare_free(c);
    c = compare(runs, 3, runs, 3, NULL);
    assert_int_equal(verdict(c, MEASURE_COMPILE_S), COMPARE_SAME);
    compare_free(c);
    for (int i = 0; i < 6; i++)
        snapshot_free(runs[i]);
}

static bool says(const struct compare *c, const char *part)
{
    for (uint32_t i = 0; i < c->n_notes; i++)
        if (str_find(c->notes[i], str_of(part)) < c->notes[i].n)
            return true;
    return false;
}

static void test_notes(void **state)
{
    (void)state;
    struct snapshot *log = of_recording("tests/recordings/encoder.log.zst");
    struct snapshot *older = of_recording("tests/recordings/encoder.log.zst");
    struct str *version =
        &older->outline->texts.texts.v[older->outline->recordings.v[0].torch_version];
    assert_str_is(*version, "2.13.0+cpu");
    *version = STR("2.11.0+cu128");
    struct snapshot *other = of_recording("tests/recordings/graph_break.log.zst");
    struct snapshot *archive = of_recording("tests/recordings/exported.pt2");
    struct compare *c = compare(&older, 1, &log, 1, NULL);
    assert_true(says(c, "torch 2.11.0+cu128 before, 2.13.0+cpu after"));
    assert_false(c->undecided);
    compare_free(c);
    c = compare(&log, 1, &other, 1, NULL);
    assert_true(says(c, "no compile is on both sides"));
    assert_true(c->undecided);
    compare_free(c);
    c = compare(&log, 1, &archive, 1, NULL);
    assert_true(says(c, "an archive of torch.export"));
    assert_true(c->undecided);
    compare_free(c);
    snapshot_free(log);
    snapshot_free(older);
    snapshot_free(other);
    snapshot_free(archive);
}

static void test_names(void **state)
{
    (void)state;
    enum change_kind kind;
    for (int i = 0; i < CHANGE_KINDS; i++) {
        assert_true(change_kind_find(str_of(change_kind_name((enum change_kind)i)), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(change_kind_find(STR("guard"), &kind));
}

static bool attempt(void *arg)
{
    struct snapshot **runs = arg;
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    const struct report_options how = { .limit = 2 };
    struct compare_side before = { STR("a"), runs, 1 }, after = { STR("b"), runs + 1, 1 };
    struct compare *c = compare_build(&before, &after, NULL, &err);
    assert_true(c || err.kind == ERR_ENV);
    if (c) {
        diff_text(c, &how, &text);
        diff_markdown(c, &how, &text);
        diff_json(c, &how, &text);
    }
    bool ok = c && !text.failed;
    compare_free(c);
    buf_release(&text);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make more = made_log();
    made_guard(&more, "Eq(Mod(s0, 8), 0)", "eval");
    struct snapshot *runs[] = { of_log(made_log()), of_log(more) };
    check_alloc_failures(attempt, runs);
    snapshot_free(runs[0]);
    snapshot_free(runs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_itself),  cmocka_unit_test(test_window),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_times),
        cmocka_unit_test(test_notes),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
