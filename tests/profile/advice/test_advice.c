#include "profile/advice/advice_build.h"
#include "profile/advice/advice_report.h"
#include "profile/advice/held_calls.h"
#include "profile/advice/remedy_plan.h"
#include "tests/harness.h"

/* The recording and its calls are those of tests/golden/cache.t: 12 calls, a limit of 4. */
struct made {
    struct trace *trace;
    struct call_log log;
    struct profile *profile;
    struct diagnosis *diagnosis;
    struct advice *advice;
};

static void release(struct made *made)
{
    advice_free(made->advice);
    diagnosis_free(made->diagnosis);
    profile_free(made->profile);
    call_log_release(&made->log);
    made->advice = NULL;
    made->diagnosis = NULL;
    made->profile = NULL;
}

static bool build(struct made *made, struct err *err)
{
    const struct profile_options what = { 0 };
    made->profile = profile_build(&made->trace, 1, &what, err);
    made->diagnosis = made->profile ? diagnosis_build(made->profile, err) : NULL;
    const struct advice_sources sources = { made->diagnosis, 0, &made->log };
    made->advice = made->diagnosis ? advice_build(&sources, err) : NULL;
    return made->advice != NULL;
}

static bool make(struct made *made, struct str calls, struct err *err)
{
    made->log = (struct call_log){ 0 };
    return call_log_read(&made->log, calls, err) && build(made, err);
}

static struct trace *open_trace(const char *name)
{
    struct err err = ERR_INIT;
    struct trace *ret = trace_open(source_path(name), NULL, &err);
    assert_no_err(&err);
    return ret;
}

static void make_whole(struct made *made)
{
    struct err err = ERR_INIT;
    struct buf calls = read_file(source_path("tests/recordings/sequence.jsonl"));
    *made = (struct made){ .trace = open_trace("tests/recordings/sequence.log.zst") };
    assert_true(make(made, buf_str(&calls), &err));
    assert_no_err(&err);
    buf_release(&calls);
}

static const struct advice_item *find_item(const struct advice *advice, enum remedy_kind kind,
                                           const char *part)
{
    for (uint32_t i = 0; i < advice->n_items; i++) {
        const struct advice_item *item = &advice->items[i];
        const struct remedy *remedy =
            &advice->diagnosis->findings[item->finding].remedies[item->remedy];
        if (remedy->kind == kind && str_contains(remedy->text, str_of(part)))
            return item;
    }
    return NULL;
}

static void test_statements(void **state)
{
    (void)state;
    static const struct {
        const char *text, *statement;
    } CASES[] = {
        { "torch._dynamo.config.recompile_limit = 16, if each is needed",
          "torch._dynamo.config.recompile_limit = 16" },
        { "torch.compiler.config.dynamic_sources = \"L['x']\"",
          "torch.compiler.config.dynamic_sources = \"L['x']\"" },
        { "torch._dynamo.config.reorderable_logging_functions.add(print)",
          "torch._dynamo.config.reorderable_logging_functions.add(print)" },
        { "torch._dynamo.mark_dynamic(x, 0) before the first call", "" },
        { "torch.compiler.config.x = \"open", "" },
        { "torch.x = ", "" },
        { "move the print() out", "" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_str_is(remedy_statement(str_of(CASES[i].text)), CASES[i].statement);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct made made;
    make_whole(&made);
    const struct advice *advice = made.advice;
    assert_int_equal(advice->recorded.compiles, 4);
    assert_int_equal(advice->recorded.eager, 2);
    const struct advice_item *item = find_item(advice, REMEDY_DYNAMIC_SOURCES, "L['k']");
    assert_int_equal(item->verdict, ADVICE_PROVED);
    assert_int_equal(item->after.eager, 1);
    item = find_item(advice, REMEDY_INT_TENSOR, "torch.tensor(k)");
    assert_int_equal(item->verdict, ADVICE_SUGGESTED);
    assert_non_null(item->why);
    item = find_item(advice, REMEDY_RAISE_LIMIT, "recompile_limit = 8");
    assert_int_equal(item->verdict, ADVICE_NO_GAIN);
    assert_int_equal(item->after.compiles, 6);
    assert_int_equal(item->after.eager, 0);
    release(&made);
    trace_close(made.trace);
}

/* Each change that helps leaves less than those before it. */
static void test_together(void **state)
{
    (void)state;
    struct made made;
    make_whole(&made);
    const struct advice *advice = made.advice;
    const struct advice_counts *before = &advice->recorded;
    assert_int_equal(advice->n_together, 3);
    for (uint32_t i = 0; i < advice->n_together; i++) {
        const struct advice_counts *after = &advice->together[i].after;
        assert_true(after->compiles < before->compiles || after->eager < before->eager);
        assert_true(after->seconds <= before->seconds);
        before = after;
    }
    assert_int_equal(before->compiles, 2);
    assert_int_equal(before->eager, 0);
    release(&made);
    trace_close(made.trace);
}

/* One remedy that does what three others do together stands alone, although it is not the best of
 * its finding. */
static void test_fewest(void **state)
{
    (void)state;
    struct made made;
    struct err err = ERR_INIT;
    make_whole(&made);
    struct advice *advice = made.advice;
    struct advice_counts most = advice->together[advice->n_together - 1].after;
    struct advice_item *all =
        (struct advice_item *)find_item(advice, REMEDY_MARK_DYNAMIC, "mark_dynamic(x, 0)");
    assert_false(all->chosen);
    call_plan_release(&all->plan);
    all->plan = (struct call_plan){ 0 };
    for (uint32_t i = 0; i < advice->n_together; i++)
        assert_true(call_plan_merge(&all->plan, &advice->items[advice->together[i].item].plan));
    struct advice_build b = {
        .advice = advice, .faithful = true, .policy_faithful = true, .err = &err
    };
    advice->n_together = 0;
    assert_true(remedy_sets_choose(&b));
    assert_int_equal(advice->n_together, 1);
    assert_ptr_equal(&advice->items[advice->together[0].item], all);
    assert_int_equal(advice->together[0].after.compiles, most.compiles);
    assert_int_equal(advice->together[0].after.eager, most.eager);
    release(&made);
    trace_close(made.trace);
}

/* The diagnosis has what was proved, and only that. */
static void test_proofs(void **state)
{
    (void)state;
    struct made made;
    make_whole(&made);
    assert_true(advice_give_proofs(made.advice, made.diagnosis));
    for (uint32_t i = 0; i < made.advice->n_items; i++) {
        const struct advice_item *item = &made.advice->items[i];
        const struct remedy_proof *proof =
            made.diagnosis->findings[item->finding].remedies[item->remedy].proof;
        assert_int_equal(proof != NULL, item->verdict == ADVICE_PROVED);
        if (!proof)
            continue;
        assert_true(proof->text.n > 0);
        assert_int_equal(proof->eager, made.advice->recorded.eager - item->after.eager);
    }
    release(&made);
    trace_close(made.trace);
}

static void test_excludes(void **state)
{
    (void)state;
    struct call_plan marks = { 0 }, unbacked = { .unbacked = true }, none = { 0 };
    buf_puts(&marks.marks, "L['x']:0");
    buf_puts(&unbacked.marks, "L['y']:0");
    assert_true(call_plan_excludes(&marks, &unbacked));
    assert_false(call_plan_excludes(&marks, &marks));
    assert_false(call_plan_excludes(&none, &unbacked));
    call_plan_release(&marks);
    call_plan_release(&unbacked);
}

/* Calls that do not have the compiles of the tape prove nothing. */
static void test_other_calls(void **state)
{
    (void)state;
    struct made made = { .trace = open_trace("tests/recordings/sequence.log.zst") };
    struct err err = ERR_INIT;
    assert_true(make(&made,
                     STR("{\"call\": 0, \"function\": \"scale\", \"args\": [{\"source\": "
                         "\"L['k']\", \"type\": \"int\", \"value\": 2}]}\n"),
                     &err));
    assert_no_err(&err);
    assert_int_equal(made.advice->n_together, 0);
    for (uint32_t i = 0; i < made.advice->n_items; i++)
        assert_int_not_equal(made.advice->items[i].verdict, ADVICE_PROVED);
    release(&made);
    trace_close(made.trace);
}

/* A size that is dynamic from the first call on spares the compile for 4, whose calls are faster.
 */
static void check_run_time(double after, enum advice_verdict verdict)
{
    struct made made = { .trace = open_trace("tests/recordings/mlp.log.zst") };
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    static const int SIZES[] = { 4, 4, 4, 4, 6, 8, 9, 6 };
    for (unsigned i = 0; i < 8; i++)
        buf_printf(&calls,
                   "{\"call\": %u, \"function\": \"forward\", \"module\": 0, \"args\": "
                   "[{\"source\": \"L['x']\", \"size\": [%d, 16], \"stride\": [16, 1], "
                   "\"dtype\": \"torch.float32\"}]}\n",
                   i, SIZES[i]);
    assert_true(call_log_read(&made.log, buf_str(&calls), &err));
    for (size_t i = 0; i < made.log.calls.n; i++)
        made.log.calls.v[i].seconds = i < 4 ? 0.001 : after;
    assert_true(build(&made, &err));
    const struct advice_item *item = find_item(made.advice, REMEDY_MARK_DYNAMIC, "(x, 0)");
    assert_int_equal(item->verdict, verdict);
    assert_int_equal(item->after.compiles, 1);
    assert_int_equal(item->run.calls, 8);
    assert_true(item->run.before < item->run.after);
    assert_true(item->run.after > after * 0.999 && item->run.after < after * 1.001);
    assert_int_equal(made.advice->n_together, verdict == ADVICE_PROVED);
    buf_release(&calls);
    release(&made);
    trace_close(made.trace);
}

static void test_run_time(void **state)
{
    (void)state;
    check_run_time(0.002, ADVICE_PROVED);
    check_run_time(1000, ADVICE_NO_GAIN);
}

/* What is held is given back. */
static void test_held_calls(void **state)
{
    (void)state;
    struct call_log log = { 0 };
    struct held_calls held = { 0 };
    struct call_plan plan = { 0 };
    struct err err = ERR_INIT;
    struct buf calls = read_file(source_path("tests/recordings/sequence.jsonl"));
    assert_true(call_log_read(&log, buf_str(&calls), &err));
    struct call_hold hold = { .kind = HOLD_VALUE, .source = STR("L['k']"), .frame = -1 };
    assert_true(vec_push(&plan.holds, hold));
    assert_true(held_calls_begin(&held, &log, &plan));
    uint32_t k = intern_find(&log.sources, STR("L['k']"));
    for (size_t i = 0; i < log.calls.n; i++)
        for (uint32_t v = 0; v < log.calls.v[i].n_values; v++)
            if (log.calls.v[i].values[v].source == k)
                assert_int_equal(log.calls.v[i].values[v].value.integer, 2);
    held_calls_end(&held, &log);
    const struct program_call *last = &log.calls.v[log.calls.n - 1];
    for (uint32_t v = 0; v < last->n_values; v++)
        if (last->values[v].source == k)
            assert_int_equal(last->values[v].value.integer, 7);
    call_plan_release(&plan);
    call_log_release(&log);
    buf_release(&calls);
}

static void test_program(void **state)
{
    (void)state;
    struct made made;
    struct program_patch patch;
    struct err err = ERR_INIT;
    make_whole(&made);
    struct buf program = read_file(source_path("tests/models/sequence.py"));
    assert_true(
        program_patch_make(made.advice, STR("sequence.py"), buf_str(&program), &patch, &err));
    assert_int_equal(patch.n_applied, 2);
    assert_true(
        str_contains(buf_str(&patch.diff),
                     STR("\n+torch.compiler.config.dynamic_sources = \"L['x']:0,L['k']\"\n")));
    program_patch_release(&patch);
    assert_false(program_patch_make(made.advice, STR("other.py"), buf_str(&program), &patch, &err));
    assert_err(&err, ERR_INPUT, "no lines of a program of this name");
    program_patch_release(&patch);
    assert_false(
        program_patch_make(made.advice, STR("sequence.py"), STR("import torch\n"), &patch, &err));
    assert_err(&err, ERR_INPUT, "is not what was recorded");
    program_patch_release(&patch);
    buf_release(&program);
    release(&made);
    trace_close(made.trace);
}

/* What a finished advice is written and merged with; tests/fault makes whole ones. */
static bool attempt(void *arg)
{
    const struct made *made = arg;
    struct buf text = BUF_INIT;
    struct call_plan plan = { 0 };
    struct held_calls held = { 0 };
    struct call_log log = made->log;
    const struct call_hold hold = { .kind = HOLD_SECOND, .source = STR("L['k']"), .frame = -1 };
    bool ok = call_plan_merge(&plan, &made->advice->plan) && vec_push(&plan.holds, hold) &&
              held_calls_begin(&held, &log, &plan);
    held_calls_end(&held, &log);
    ok = ok && advice_give_proofs(made->advice, made->diagnosis);
    if (ok) {
        advice_text(made->advice, &(struct report_options){ .width = 80 }, &text);
        advice_json(made->advice, NULL, &text);
    }
    ok = ok && !text.failed;
    buf_release(&text);
    call_plan_release(&plan);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct made made;
    make_whole(&made);
    check_alloc_failures(attempt, &made);
    release(&made);
    trace_close(made.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),  cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_together),    cmocka_unit_test(test_fewest),
        cmocka_unit_test(test_excludes),    cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_other_calls), cmocka_unit_test(test_held_calls),
        cmocka_unit_test(test_run_time),    cmocka_unit_test(test_program),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
