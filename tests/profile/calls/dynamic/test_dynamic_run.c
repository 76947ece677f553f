#include "profile/calls/dynamic/dynamic_report.h"
#include "tests/harness.h"

/* The recording and its calls are those of tests/golden/cache.t: 12 calls, a limit of 4. */
struct made_run {
    struct trace *trace;
    struct call_log log;
    struct dynamic_run run;
};

static struct trace *open_trace(void)
{
    struct err err = ERR_INIT;
    struct trace *ret = trace_open(source_path("tests/recordings/sequence.log.zst"), NULL, &err);
    assert_no_err(&err);
    return ret;
}

static bool make(struct made_run *made, struct str calls, const char *marks, struct err *err)
{
    const struct dynamic_options options = { .marks = marks, .bail_outs = 2 };
    return call_log_read(&made->log, calls, err) &&
           dynamic_run_make(&made->run, made->trace, 0, &made->log, &options, err);
}

static void make_whole(struct made_run *made, const char *marks)
{
    struct err err = ERR_INIT;
    struct buf calls = read_file(source_path("tests/recordings/sequence.jsonl"));
    *made = (struct made_run){ .trace = open_trace() };
    assert_true(make(made, buf_str(&calls), marks, &err));
    assert_no_err(&err);
    buf_release(&calls);
}

static void release(struct made_run *made)
{
    dynamic_run_release(&made->run);
    call_log_release(&made->log);
}

static void check_counts(const struct policy_counts *counts, uint64_t compiles, uint64_t refused,
                         uint64_t eager)
{
    assert_int_equal(counts->lookups, 12);
    assert_int_equal(counts->compiles, compiles);
    assert_int_equal(counts->refused, refused);
    assert_int_equal(counts->eager, eager);
    assert_int_equal(counts->hits, 12 - compiles - eager);
}

static void test_policies(void **state)
{
    (void)state;
    struct made_run made;
    make_whole(&made, NULL);
    check_counts(&made.run.recorded, 4, 1, 2);
    check_counts(&made.run.policies[CALLS_AUTOMATIC], 4, 1, 2);
    check_counts(&made.run.policies[CALLS_STATIC], 4, 1, 7);
    check_counts(&made.run.policies[CALLS_DYNAMIC], 4, 0, 0);
    check_counts(&made.run.policies[CALLS_MARKED], 4, 0, 0);
    assert_int_equal(made.run.n_marks, 2);
    assert_true(made.run.minimal);
    /* the same calls compile, so that nothing is estimated */
    assert_double_is(made.run.policies[CALLS_AUTOMATIC].seconds, made.run.recorded.seconds);
    assert_int_equal(made.run.answers[CALLS_AUTOMATIC][7], ANSWER_REFUSED);
    release(&made);
    trace_close(made.trace);
}

static void test_marks(void **state)
{
    (void)state;
    struct made_run made;
    make_whole(&made, "L[\"x\"]:1, L['k'],L['x']:1, ");
    assert_int_equal(made.run.n_marks, 2);
    for (size_t i = 0; i < made.run.rows.n; i++)
        assert_int_equal(made.run.rows.v[i].proposed,
                         made.run.rows.v[i].number || made.run.rows.v[i].dim == 1);
    release(&made);
    trace_close(made.trace);
}

/* mark_dynamic() is for tensors only, so dynamic_sources spare more. */
static void test_paste(void **state)
{
    (void)state;
    struct made_run made;
    struct buf text = BUF_INIT;
    make_whole(&made, NULL);
    const struct paste *paste = &made.run.paste;
    assert_int_equal(paste->ways.n, 2);
    assert_int_equal(paste->ways.v[0].kind, PASTE_MARK);
    check_counts(&paste->ways.v[0].counts, 4, 1, 1);
    assert_false(paste->ways.v[0].has_numbers);
    check_counts(&paste->ways.v[1].counts, 4, 0, 0);
    assert_true(paste->ways.v[1].has_numbers);
    assert_ptr_equal(paste_best(paste), &paste->ways.v[1]);
    paste_line_put(paste, &paste->lines.v[0], 0, 20, &text);
    assert_str_is(buf_str(&text), "torch._dynamo.mark_dynamic(\n    x, 0)");
    buf_clear(&text);
    paste_line_put(paste, &paste->lines.v[1], 2, 16, &text);
    assert_str_is(buf_str(&text), "  torch.compiler.config.dynamic_sources = (\n"
                                  "      \"L['x']:0,\"\n"
                                  "      \"L['k']\")");
    buf_release(&text);
    release(&made);
    trace_close(made.trace);
}

/* Each mark has to be about an input. */
static void test_refused_marks(void **state)
{
    (void)state;
    static const char *const LISTS[] = {
        "L['typo']:0",
        "L['x']:1,L['x']:2",
        "L['k']:18446744073709551616",
        "L['k'] L['x']",
    };
    struct buf calls = read_file(source_path("tests/recordings/sequence.jsonl"));
    struct made_run made = { .trace = open_trace() };
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        struct err err = ERR_INIT;
        assert_false(make(&made, buf_str(&calls), LISTS[i], &err));
        assert_int_equal(err.kind, ERR_USAGE);
        release(&made);
        made.log = (struct call_log){ 0 };
    }
    buf_release(&calls);
    trace_close(made.trace);
}

/* Calls of a function that the tape does not have are no compiles. */
static void test_unknown(void **state)
{
    (void)state;
    static const char *const CALL =
        "{\"call\": %d, \"function\": \"other\", \"code\": \"other.py:1:other\", \"args\": []}\n";
    struct err err = ERR_INIT;
    struct buf calls = read_file(source_path("tests/recordings/sequence.jsonl"));
    struct made_run made = { .trace = open_trace() };
    for (int i = 12; i < 15; i++)
        buf_printf(&calls, CALL, i);
    assert_true(make(&made, buf_str(&calls), NULL, &err));
    assert_int_equal(made.run.recorded.lookups, 15);
    assert_int_equal(made.run.recorded.compiles, 4);
    assert_int_equal(made.run.recorded.unknown, 3);
    buf_release(&calls);
    release(&made);
    trace_close(made.trace);
}

static void test_releases(void **state)
{
    (void)state;
    assert_true(release_is(STR("2.13.0+cpu"), 2, 13));
    assert_true(release_is(STR("3.0"), 2, 13));
    assert_false(release_is(STR("2.9.1"), 2, 13));
    assert_false(release_is(STR(""), 2, 8));
}

struct attempt_input {
    struct trace *trace;
    struct buf calls;
    const char *marks;
};

static bool attempt(void *arg)
{
    const struct attempt_input *input = arg;
    struct made_run made = { .trace = input->trace };
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    const struct report_options options = { .width = 80 };
    bool ok = make(&made, buf_str(&input->calls), input->marks, &err);
    if (ok) {
        dynamic_text(&made.run, &options, &out);
        dynamic_json(&made.run, &out);
        ok = !out.failed;
    }
    buf_release(&out);
    release(&made);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct attempt_input input = {
        .trace = open_trace(),
        .calls = read_file(source_path("tests/recordings/sequence.jsonl")),
    };
    check_alloc_failures(attempt, &input);
    input.marks = "L['x']:0,L['k']";
    check_alloc_failures(attempt, &input);
    buf_release(&input.calls);
    trace_close(input.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies),      cmocka_unit_test(test_marks),
        cmocka_unit_test(test_refused_marks), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_paste),         cmocka_unit_test(test_releases),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
