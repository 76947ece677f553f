#include "profile/calls/levels/levels_report.h"
#include "tests/log_make.h"
#include "trace/events/calls.h"

struct made_run {
    struct trace *trace;
    struct call_log log;
    struct levels_run run;
};

static bool make(struct made_run *made, struct str calls, struct err *err)
{
    const struct cache_options options = { 0 };
    return call_log_read(&made->log, calls, err) &&
           levels_run_make(&made->run, made->trace, 0, &made->log, &options, err);
}

static void release(struct made_run *made)
{
    levels_run_release(&made->run);
    call_log_release(&made->log);
}

/* ---- The recording of tests/models/levels.py ---- */

static struct trace *open_recording(struct buf *calls)
{
    struct err err = ERR_INIT;
    struct recorded_calls recorded = { 0 };
    struct trace *ret = trace_open(source_path("tests/recordings/levels.log.zst"), NULL, &err);
    assert_no_err(&err);
    assert_true(recorded_calls_read(ret, 0, &recorded, &err));
    buf_put(calls, buf_str(&recorded.lines));
    recorded_calls_release(&recorded);
    return ret;
}

static void check_counts(const struct level_counts *counts, uint32_t recorded, uint32_t levels)
{
    assert_int_equal(counts->recorded, recorded);
    assert_int_equal(counts->levels, levels);
}

/* Each backward that ran has the look-up whose entry it belongs to, and that it was noted with. */
static void check_looks(const struct made_run *made)
{
    const struct cache_run *run = &made->run.cache;
    assert_true(run->backwards.n > 0);
    for (size_t i = 0; i < run->backwards.n; i++) {
        const struct backward_row *row = &run->backwards.v[i];
        const struct program_call *call = &made->log.calls.v[row->call];
        assert_true(row->look < run->lookups.n);
        assert_int_equal(run->lookups.v[row->look].answered, row->entry);
        uint32_t first = row->look;
        while (made->log.calls.v[run->lookups.v[first].call].inside)
            first--;
        assert_int_equal(made->log.calls.v[run->lookups.v[first].call].number, call->backward_of);
        if (call->look >= 0)
            assert_int_equal(row->look - first, call->look);
    }
}

/* Three nested functions are a graph before the value and one after it; the number of positions
 * that nonzero() found is a symbol; two forwards have two backwards each. */
static void test_recording(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    struct made_run made = { .trace = open_recording(&calls) };
    assert_true(make(&made, buf_str(&calls), &err));
    assert_int_equal(made.run.counts.n, 2);
    check_counts(&made.run.counts.v[0], 9, 5);
    check_counts(&made.run.counts.v[1], 8, 3);
    check_counts(&made.run.backward, 2, 4);
    check_counts(&made.run.all, 19, 12);
    assert_int_equal(made.run.n_copied, 2);
    assert_int_equal(made.run.n_doubtful, 0);
    assert_int_equal(made.run.levels.n_data, 10);
    assert_int_equal(made.run.levels.n_other, 0);
    const struct level_artifact *first = &made.run.artifacts.v[0];
    assert_int_equal(first->n_parts, 3);
    assert_int_equal(first->answers, 1);
    assert_int_equal(made.run.graphs.v[0].recorded, 6);
    assert_int_equal(made.run.graphs.v[0].levels, 2);
    assert_int_equal(made.run.spared.n, 9);
    assert_true(made.run.asked.again > 0 && made.run.asked.again < made.run.asked.asked);
    check_looks(&made);
    release(&made);
    buf_release(&calls);
    trace_close(made.trace);
}

/* ---- A function and its resume function ---- */

static void put_compile(struct log_make *log, int frame, int number, const char *function,
                        const char *condition, const char *reason)
{
    struct buf where = BUF_INIT, tree = BUF_INIT, metrics = BUF_INIT;
    buf_printf(&where, "\"frame_id\": %d, \"frame_compile_id\": %d, \"attempt\": 0%c", frame,
               number, 0);
    log->context = where.p;
    log_put(log, "\"dynamo_start\": {}", NULL);
    if (reason)
        log_artifact(log, "dynamo_graph_break_reason", reason);
    buf_printf(&tree,
               "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
               "| +- GLOBAL_STATE: ___check_global_state()\n"
               "| +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor\n%s%c",
               condition, 0);
    log_put(log, "\"dynamo_cpp_guards_str\": {}", tree.p);
    buf_printf(&metrics,
               "\"compilation_metrics\": {\"co_name\": \"%s\", \"co_filename\": \"/t.py\", "
               "\"co_firstlineno\": %d, \"entire_frame_compile_time_s\": 1.0}%c",
               function, frame + 1, 0);
    log_put(log, metrics.p, NULL);
    buf_release(&where);
    buf_release(&tree);
    buf_release(&metrics);
}

#define EQUALS(n)  "| | +- EQUALS_MATCH: L['n'] == " #n "  # n\n"
#define TYPE_MATCH "| | +- TYPE_MATCH: ___check_type_id(L['n'], 1), type=<class 'int'>  # n\n"

/* f(), which has `guards`, breaks; its resume function has a constant, then a symbol. */
static struct trace *make_trace(const char *guards, const char *reason)
{
    struct log_make log = log_start();
    put_compile(&log, 0, 0, "f", guards, reason);
    put_compile(&log, 1, 0, "torch_dynamo_resume_in_f_at_1", EQUALS(5), NULL);
    put_compile(&log, 1, 1, "torch_dynamo_resume_in_f_at_1", TYPE_MATCH, NULL);
    return log_open(&log);
}

/* Appends a call of f(n), inside of which the resume function has n = inner. */
static void put_call(struct buf *out, int number, int n, int inner, const char *code)
{
    buf_printf(out,
               "{\"call\": %d, \"function\": \"f\", \"code\": \"/t.py:1:f\", \"args\": "
               "[{\"source\": \"L['n']\", \"type\": \"int\", \"value\": %d}], \"frames\": "
               "[{\"code\": \"%s\", \"args\": [{\"source\": \"L['n']\", \"type\": \"int\", "
               "\"value\": %d}]}]}\n",
               number, n, code, inner);
}

#define RESUME "/t.py:2:torch_dynamo_resume_in_f_at_1"
#define ITEM \
    "Graph break in user code at /t.py:1\nGraph Break Reason: Unsupported Tensor.item() call\n"
#define PRINT "Graph break in user code at /t.py:1\nGraph Break Reason: builtin operator `print`\n"

static void run_two(struct made_run *made, const char *guards, const char *reason, bool passed_on)
{
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    *made = (struct made_run){ .trace = make_trace(guards, reason) };
    for (int i = 0; i < 4; i++)
        put_call(&calls, i, passed_on ? 5 + i : 1, 5 + i, RESUME);
    assert_true(make(made, buf_str(&calls), &err));
    assert_no_err(&err);
    buf_release(&calls);
}

static void end_two(struct made_run *made)
{
    release(made);
    trace_close(made->trace);
}

/* A number that was read is a symbol on the next level, so that it is compiled once. */
static void test_value(void **state)
{
    (void)state;
    struct made_run made;
    run_two(&made, TYPE_MATCH, ITEM, false);
    assert_int_equal(made.run.levels.looks.v[1].level, 2);
    assert_int_equal(made.run.levels.looks.v[1].group, 0);
    check_counts(&made.run.counts.v[0], 1, 1);
    check_counts(&made.run.counts.v[1], 2, 1);
    assert_int_equal(made.run.artifacts.v[1].answers, 3);
    assert_int_equal(made.run.spared.n, 1);
    assert_int_equal(made.run.spared.v[0].lookup, 3);
    assert_int_equal(made.run.spared.v[0].with, 1);
    assert_false(made.run.spared.v[0].made);
    end_two(&made);
}

/* An argument that is passed on is no symbol unless the first level has it as one. */
static void test_passed_on(void **state)
{
    (void)state;
    struct made_run made;
    run_two(&made, "", ITEM, true);
    check_counts(&made.run.all, 3, 3);
    assert_int_equal(made.run.spared.n, 0);
    end_two(&made);
    run_two(&made, TYPE_MATCH, ITEM, true);
    check_counts(&made.run.all, 3, 2);
    end_two(&made);
}

/* After another break all is as it was. */
static void test_other_break(void **state)
{
    (void)state;
    struct made_run made;
    run_two(&made, TYPE_MATCH, PRINT, false);
    assert_int_equal(made.run.levels.looks.v[1].level, 1);
    assert_int_equal(made.run.levels.looks.v[1].group, 1);
    assert_int_equal(made.run.levels.n_other, 4);
    assert_int_equal(made.run.counts.n, 1);
    check_counts(&made.run.all, 3, 3);
    assert_int_equal(made.run.graphs.v[0].levels, 2);
    assert_int_equal(made.run.asked.again, 0);
    end_two(&made);
}

/* A resume function of a function that does not wait begins a group. */
static void test_stray_resume(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    struct made_run made = { .trace = make_trace(TYPE_MATCH, NULL) };
    put_call(&calls, 0, 1, 5, RESUME);
    put_call(&calls, 1, 1, 5, "/t.py:9:no_such_function");
    assert_true(make(&made, buf_str(&calls), &err));
    assert_int_equal(made.run.levels.looks.v[1].group, 1);
    assert_int_equal(made.run.levels.looks.v[3].group, CALL_NONE);
    assert_false(made.run.no_frames);
    buf_release(&calls);
    end_two(&made);
}

/* ---- Gradients ---- */

static const char FORWARD[] =
    "{\"call\": 0, \"function\": \"f\", \"code\": \"/t.py:1:f\", \"args\": []}\n";

static void put_backward(struct buf *out, int number, const char *size, const char *stride)
{
    buf_printf(out,
               "{\"call\": %d, \"function\": \"backward\", \"backward_of\": 0, \"args\": "
               "[{\"source\": \"grads[0]\", \"size\": [%s], \"stride\": [%s], \"dtype\": "
               "\"torch.float32\"}]}\n",
               number, size, stride);
}

/* A backward is chosen by the layout of its gradient; a dimension of size 1 has any stride. */
static void test_gradients(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    struct made_run made = { .trace = make_trace(TYPE_MATCH, NULL) };
    buf_puts(&calls, FORWARD);
    put_backward(&calls, 1, "4, 8", "8, 1");
    put_backward(&calls, 2, "4, 8", "1, 4");
    put_backward(&calls, 3, "4, 8", "0, 0");
    put_backward(&calls, 4, "6, 8", "8, 1");
    put_backward(&calls, 5, "1, 8", "77, 1");
    put_backward(&calls, 6, "", "");
    put_backward(&calls, 7, "0, 8", "3, 3");
    put_backward(&calls, 8, "4611686018427387904, 4", "4, 1");
    put_backward(&calls, 9, "2, 4611686018427387904, 4", "1, 4, 1");
    assert_true(make(&made, buf_str(&calls), &err));
    check_counts(&made.run.backward, 0, 2);
    assert_int_equal(made.run.n_untimed, 1);
    assert_int_equal(made.run.n_copied, 3);
    assert_true(made.run.artifacts.v[2].strided && made.run.artifacts.v[2].backward);
    buf_release(&calls);
    end_two(&made);
}

#define FRAME(line, name, loc) \
    "{\"line\": " #line ", \"name\": \"" name "\", \"filename\": 1, \"loc\": \"" loc "\"}"
#define BRANCH(op)                                                                                \
    TYPE_MATCH "+- LAMBDA_GUARD: (L['n'] % 2) " op " 0  # if n % 2 == 0:  # t.py:11 in backward " \
               "(variables/tensor.py:26 in evaluate_expr)\n"

/* A compile that `tracer` makes ask a guard on n. */
static void put_asking(struct log_make *log, int number, const char *guards, const char *tracer)
{
    struct buf guard = BUF_INIT, where = BUF_INIT;
    buf_printf(&where, "\"frame_id\": 0, \"frame_compile_id\": %d, \"attempt\": 0%c", number, 0);
    buf_printf(
        &guard,
        "\"guard_added_fast\": {\"expr\": \"Eq(Mod(s7, 2), 0)\", \"user_stack\": [" FRAME(
            11, "backward",
            "if n %% 2 == 0:") "], \"stack\": ["
                               "{\"line\": 5, \"name\": \"%s\", \"filename\": 2, \"loc\": \"\"}, "
                               "{\"line\": 26, \"name\": \"evaluate_expr\", \"filename\": 2, \"loc\": \"\"}, "
                               "{\"line\": 7, \"name\": \"_evaluate_expr\", \"filename\": 3, \"loc\": "
                               "\"self._log_guard(\\\"eval\\\", g)\"}, "
                               "{\"line\": 9, \"name\": \"_log_guard\", \"filename\": 3, \"loc\": "
                               "\"trace_structured(\"}]}%c",
        tracer, 0);
    put_compile(log, 0, number, "f", guards, NULL);
    log->context = where.p;
    log_put(log, guard.p, NULL);
    buf_release(&guard);
    buf_release(&where);
}

static struct trace *make_asking(const char *tracer)
{
    struct log_make log = log_start();
    log_put(&log, "\"str\": [\"/t.py\", 1]", NULL);
    log_put(&log, "\"str\": [\"/v/torch/_dynamo/variables/tensor.py\", 2]", NULL);
    log_put(&log, "\"str\": [\"/v/torch/fx/experimental/symbolic_shapes.py\", 3]", NULL);
    put_asking(&log, 0, BRANCH("=="), tracer);
    put_asking(&log, 1, BRANCH("!="), tracer);
    return log_open(&log);
}

/* Calls of f(4), f(5) ..., each with its backward. */
static void put_steps(struct buf *out)
{
    for (int i = 0; i < 4; i++)
        buf_printf(out,
                   "{\"call\": %d, \"function\": \"f\", \"code\": \"/t.py:1:f\", \"args\": "
                   "[{\"source\": \"L['n']\", \"type\": \"int\", \"value\": %d}]}\n"
                   "{\"call\": %d, \"function\": \"b\", \"backward_of\": %d, \"args\": []}\n",
                   2 * i, 4 + i, 2 * i + 1, 2 * i);
}

static void check_asking(const char *tracer, uint32_t levels, uint32_t backwards)
{
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    struct made_run made = { .trace = make_asking(tracer) };
    put_steps(&calls);
    assert_true(make(&made, buf_str(&calls), &err));
    check_counts(&made.run.counts.v[0], 2, levels);
    assert_int_equal(made.run.backward.levels, backwards);
    assert_int_equal(made.run.spared.n, 2 - levels);
    buf_release(&calls);
    end_two(&made);
}

/* What the backward alone asks does not compile the forward again. */
static void test_backward_guards(void **state)
{
    (void)state;
    check_asking("trace_backward_graph", 1, 2);
    check_asking("_engine_run_backward", 1, 2);
    check_asking("call_function", 2, 2);
}

/* Backwards of calls that are not there, or of look-ups that a call does not have. */
static void test_stray_backwards(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf calls = BUF_INIT;
    struct made_run made = { .trace = make_trace(TYPE_MATCH, NULL) };
    buf_puts(&calls, FORWARD);
    buf_puts(&calls, "{\"call\": 1, \"function\": \"b\", \"backward_of\": 7, \"args\": []}\n"
                     "{\"call\": 2, \"function\": \"b\", \"backward_of\": 0, \"look\": 9, "
                     "\"args\": []}\n"
                     "{\"call\": 3, \"function\": \"b\", \"backward_of\": 3, \"args\": []}\n");
    assert_true(make(&made, buf_str(&calls), &err));
    check_counts(&made.run.all, 1, 1 + made.run.backward.levels);
    assert_true(made.run.backward.levels <= 1);
    buf_release(&calls);
    end_two(&made);
}

/* ---- Memory ---- */

struct attempt_input {
    struct trace *trace;
    struct buf calls;
};

static bool attempt(void *arg)
{
    const struct attempt_input *input = arg;
    struct made_run made = { .trace = input->trace };
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    const struct report_options options = { .width = 60 };
    bool ok = make(&made, buf_str(&input->calls), &err);
    if (ok) {
        levels_text(&made.run, &made.log, &options, &out);
        levels_json(&made.run, &made.log, &out);
        ok = !out.failed;
    }
    buf_release(&out);
    release(&made);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct attempt_input input = { .trace = make_trace(TYPE_MATCH, ITEM) };
    for (int i = 0; i < 3; i++)
        put_call(&input.calls, i, 1, 5 + i, RESUME);
    put_backward(&input.calls, 3, "4, 8", "1, 4");
    check_alloc_failures(attempt, &input);
    buf_clear(&input.calls);
    trace_close(input.trace);
    input.trace = make_asking("trace_backward_graph");
    put_steps(&input.calls);
    check_alloc_failures(attempt, &input);
    buf_release(&input.calls);
    trace_close(input.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording),       cmocka_unit_test(test_value),
        cmocka_unit_test(test_passed_on),       cmocka_unit_test(test_other_break),
        cmocka_unit_test(test_stray_resume),    cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_stray_backwards), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_backward_guards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
