#include "tests/log_make.h"
#include "trace/events/incidents/incidents.h"

#define FRAME(line, name, loc) \
    "{\"line\": " #line ", \"name\": \"" name "\", \"filename\": 1, \"loc\": \"" loc "\"}"
#define CALLER FRAME(150, "<module>", "f(x)") ", " FRAME(1024, "compile_wrapper", "return fn()")

static void start(struct log_make *log, const char *stack)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"dynamo_start\": {\"stack\": [%s]}", stack);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* Checks that the failures are the same if they are read alone. */
static void check_failures_alone(const struct incidents *all, struct trace *trace)
{
    struct err err = ERR_INIT;
    struct incidents *alone = incidents_read_failures(trace, &err);
    assert_no_err(&err);
    assert_non_null(alone);
    assert_int_equal(alone->n_restarts + alone->n_recompiles, 0);
    assert_int_equal(alone->n_breaks, all->n_breaks);
    assert_int_equal(alone->n_failures, all->n_failures);
    for (uint32_t i = 0; i < all->n_failures; i++) {
        const struct failure *a = &alone->failures[i], *b = &all->failures[i];
        assert_int_equal(a->record, b->record);
        assert_int_equal(a->attempt, b->attempt);
        assert_int_equal(a->is_break, b->is_break);
        assert_true(str_eq(a->reason, b->reason) && str_eq(a->code, b->code));
    }
    incidents_free(alone);
}

static struct incidents *read_made(struct log_make *log, struct trace **trace)
{
    struct err err = ERR_INIT;
    *trace = log_open(log);
    struct incidents *incidents = incidents_read(*trace, NULL, &err);
    assert_no_err(&err);
    assert_non_null(incidents);
    check_failures_alone(incidents, *trace);
    return incidents;
}

static void drop(struct incidents *incidents, struct trace *trace)
{
    incidents_free(incidents);
    trace_close(trace);
}

static const char BREAK[] = "Graph break in user code at /u/m.py:129\n"
                            "Graph Break Reason: Skipping the function and falling back to eager.\n"
                            "\n"
                            "Failed to trace print\n"
                            "  Explanation: unknown\n"
                            "\n"
                            "User code traceback:\n"
                            "  File \"/u/m.py\", line 150, in <module>\n"
                            "    f(x)\n"
                            "  File \"/u/m.py\", line 34, in forward\n"
                            "    s.hook(x)\n"
                            "  File \"/u/m.py\", line 129, in hook\n"
                            "    print(x)\n";

/* forward breaks and is given up; what is compiled inside it from then on is there because of that,
 * what its caller compiles beside it is not. */
static void test_breaks(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_put(&log, "\"str\": [\"/u/m.py\", 1]", NULL);
    start(&log, CALLER ", " FRAME(32, "forward", "def forward(s, x):"));
    log_artifact(&log, "dynamo_graph_break_reason", BREAK);
    log.context = LOG_COMPILE(1, 0, 0);
    start(&log, CALLER ", " FRAME(1779, "_call_impl",
                                  "return forward()") ", " FRAME(19, "inner", "def inner(x):"));
    log.context = LOG_COMPILE(2, 0, 0);
    start(&log, CALLER ", " FRAME(40, "sibling", "def sibling(x):"));
    log.context = LOG_COMPILE(3, 0, 0);
    start(&log, CALLER ", " FRAME(35, "torch_dynamo_resume_in_forward_at_34", "s.hook(x)"));
    log.context = LOG_COMPILE(4, 0, 0);
    start(&log, FRAME(150, "<module>", "f(x)") ", " FRAME(7, "other", "def other(x):"));
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_breaks, 1);
    const struct graph_break *g = &all->breaks[0];
    assert_str_is(g->file, "/u/m.py");
    assert_int_equal(g->line, 129);
    assert_str_is(g->summary, "Failed to trace print");
    assert_str_is(g->code, "print(x)");
    assert_str_is(g->function, "hook");
    assert_int_equal(g->depth, 1);
    assert_true(g->skipped);
    assert_int_equal(g->n_caused, 2);
    assert_str_is(trace->attempts[g->caused[0]].compile, "1/0");
    assert_str_is(trace->attempts[g->caused[1]].compile, "3/0");
    drop(all, trace);
}

static void test_restart(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_phase(&log, 'B', "compile_attempt_0", "1000", "");
    log_put(&log, "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"3\"}", NULL);
    log_phase(&log, 'E', "compile_attempt_0", "3500", "");
    log.context = LOG_COMPILE(0, 0, 1);
    log.time_us += 9000;
    log_put(&log,
            "\"compilation_metrics\": {\"restart_reasons\": "
            "[\"<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>\"]}",
            NULL);
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_restarts, 1);
    const struct restart *r = &all->restarts[0];
    assert_int_equal(trace->attempts[r->attempt].number, 0);
    assert_int_equal(trace->attempts[r->next].number, 1);
    assert_str_is(r->summary, "TensorifyScalarRestartAnalysis");
    assert_str_is(r->meaning, "a float was specialized");
    assert_int_equal(r->ns, 2500000);
    assert_int_equal(r->n_records, 3);
    assert_int_equal(r->n_symbols, 1);
    assert_int_equal(r->n_graphs, 0);
    drop(all, trace);
}

/* Without a phase: to the next attempt's first record; over midnight too. The reason is the break's
 * where there is one. */
static void test_restarts_untimed(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log.time_us = 86399000000;
    log_artifact(&log, "dynamo_graph_break_reason", BREAK);
    log.context = LOG_COMPILE(0, 0, 1);
    log.time_us = 2000000;
    log_put(&log, "\"other\": {}", NULL);
    log.context = LOG_COMPILE(0, 0, 2);
    log_put(&log,
            "\"compilation_metrics\": {\"restart_reasons\": [\"<class 'a.B'>\", "
            "\"Failed to trace print\\n  Explanation: unknown\"]}",
            NULL);
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_restarts, 2);
    assert_int_equal(all->restarts[0].ns, INT64_C(3000000000));
    assert_str_is(all->restarts[0].summary, "Failed to trace print");
    assert_true(all->restarts[0].meaning.n > 0);
    assert_str_is(all->restarts[1].summary, "B");
    assert_int_equal(all->restarts[1].ns, 0);
    drop(all, trace);
}

static void test_recompiles(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log.context = LOG_COMPILE(0, 1, 0);
    log_artifact(&log, "recompile_reasons", "0/0: tensor 'x' rank mismatch. expected 2, actual 3");
    log_put(&log, "\"compilation_metrics\": {\"entire_frame_compile_time_s\": 1.5}", NULL);
    log.context = LOG_COMPILE(0, 2, 0);
    log_artifact(&log, "recompile_reasons",
                 "[\n\"0/1: n == 1  # a  # m.py:86 in hook\",\n\"0/0: n == \\\"0\\\"\"\n]");
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_recompiles, 2);
    assert_int_equal(all->recompiles[0].n_reasons, 1);
    assert_str_is(all->recompiles[0].reasons[0].compile, "0/0");
    assert_int_equal(all->recompiles[0].ns, 1500000000);
    assert_int_equal(all->recompiles[1].n_reasons, 2);
    assert_str_is(all->recompiles[1].reasons[0].guard, "n == 1");
    assert_int_equal(all->recompiles[1].reasons[0].line, 86);
    assert_str_is(all->recompiles[1].reasons[1].guard, "n == \"0\"");
    assert_int_equal(all->recompiles[1].ns, -1);
    drop(all, trace);
}

static void test_failures(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(
        &log, "dynamo_error",
        "Traceback (most recent call last):\n  File \"t.py\", line 1\n"
        "torch.E: no\n\nfrom user code:\n  File \"/u/m.py\", line 58, in hook\n    if u > 8:\n");
    log_put(&log,
            "\"compilation_metrics\": {\"fail_type\": \"UserError\", \"fail_reason\": \"Could not "
            "guard\\nmore\", \"fail_user_frame_filename\": \"/u/m.py\", "
            "\"fail_user_frame_lineno\": 58}",
            NULL);
    log.context = LOG_COMPILE(1, 0, 0);
    log_artifact(&log, "dynamo_graph_break_reason", BREAK);
    log_put(&log,
            "\"compilation_metrics\": {\"fail_type\": \"Unsupported\", \"fail_reason\": \"print\", "
            "\"fail_user_frame_filename\": \"/u/m.py\", \"fail_user_frame_lineno\": 129}",
            NULL);
    log.context = LOG_COMPILE(2, 0, 0);
    log_artifact(&log, "dynamo_error",
                 "Traceback (most recent call last):\n  File \"t.py\", line 1\n"
                 "torch.exc.Killed: died\n");
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_failures, 3);
    assert_str_is(all->failures[0].type, "UserError");
    assert_str_is(all->failures[0].summary, "Could not guard");
    assert_str_is(all->failures[0].code, "if u > 8:");
    assert_false(all->failures[0].is_break);
    assert_true(all->failures[1].is_break);
    assert_str_is(all->failures[1].code, "print(x)");
    assert_str_is(all->failures[2].type, "Killed");
    assert_str_is(all->failures[2].summary, "died");
    assert_str_is(all->failures[2].file, "");
    drop(all, trace);
}

/* torch.export logs metrics that name no compile, after the one that it traced. */
static void test_export_fails(void **state)
{
    (void)state;
    static const char metrics[] =
        "\"compilation_metrics\": {\"compile_id\": null, \"fail_type\": \"Unsupported\", "
        "\"fail_reason\": \"branch\"}";
    struct trace *trace;
    struct log_make log = log_start();
    log_put(&log, "\"compilation_metrics\": {\"fail_type\": null}", NULL);
    log.context = "\"rank\": 0";
    log_put(&log, metrics, NULL); /* the compile before it has its own */
    log.context = LOG_COMPILE(1, 0, 0);
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log.context = "\"rank\": 0";
    log_put(&log, metrics, NULL);
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_failures, 2);
    assert_int_equal(all->failures[0].attempt, TRACE_NONE);
    assert_false(all->failures[0].exported);
    assert_int_equal(all->failures[1].attempt, 1);
    assert_true(all->failures[1].exported);
    drop(all, trace);
}

/* Metrics that name no compile are of one compile, whether it failed or not. */
static void test_export_succeeds(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log.context = LOG_COMPILE(0, 0, 0);
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log.context = "\"rank\": 0";
    log_put(&log, "\"compilation_metrics\": {\"compile_id\": null, \"fail_type\": null}", NULL);
    log_put(&log,
            "\"compilation_metrics\": {\"compile_id\": null, \"fail_type\": \"AttributeError\"}",
            NULL);
    log.context = LOG_COMPILE(1, 0, 0);
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log.context = "\"rank\": 0";
    log_put(&log,
            "\"compilation_metrics\": {\"compile_id\": null, \"fail_type\": \"InductorError\"}",
            NULL);
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_failures, 2);
    assert_int_equal(all->failures[0].attempt, TRACE_NONE);
    assert_int_equal(all->failures[1].attempt, 1);
    assert_false(all->failures[1].exported); /* torch.export calls no backend */
    drop(all, trace);
}

static void put_everything(struct log_make *log)
{
    log_put(log, "\"str\": [\"/u/m.py\", 1]", NULL);
    start(log, CALLER ", " FRAME(32, "forward", "def forward(s, x):"));
    log_phase(log, 'B', "compile_attempt_0", "1000", "");
    log_artifact(log, "dynamo_graph_break_reason", BREAK);
    log_artifact(log, "dynamo_error", "Traceback (most recent call last):\nE: no\n");
    log->context = LOG_COMPILE(0, 0, 1);
    log_put(log, "\"compilation_metrics\": {\"fail_type\": \"E\", \"restart_reasons\": [\"r\"]}",
            NULL);
    log->context = LOG_COMPILE(1, 0, 0);
    start(log, CALLER ", " FRAME(1, "f", "f") ", " FRAME(2, "g", "g"));
    log_artifact(log, "recompile_reasons", "[\"0/0: a\\nb\"]");
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct incidents *incidents = incidents_read(arg, NULL, &err);
    bool ok = incidents != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    incidents_free(incidents);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    put_everything(&log);
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    trace_close(trace);
    incidents_free(NULL);
}

/* Metrics may name a line of PyTorch: the user's line stands in the message. */
static void test_failure_in_torch(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log.context = LOG_COMPILE(0, 0, 0);
    log_put(&log,
            "\"compilation_metrics\": {\"fail_type\": \"E\", \"fail_reason\": \"no\\n\\nfrom user "
            "code:\\n  File \\\"/u/m.py\\\", line 7, in f\\n    y = self.fc(x)\\n  File "
            "\\\"/env/torch/nn/modules/linear.py\\\", line 125, in forward\\n    return x\\n\", "
            "\"fail_user_frame_filename\": \"/env/torch/nn/modules/linear.py\", "
            "\"fail_user_frame_lineno\": 125}",
            NULL);
    struct incidents *incidents = read_made(&log, &trace);
    assert_int_equal(incidents->n_failures, 1);
    assert_str_is(incidents->failures[0].file, "/u/m.py");
    assert_int_equal(incidents->failures[0].line, 7);
    assert_str_is(incidents->failures[0].code, "y = self.fc(x)");
    drop(incidents, trace);
}

/* Records that name no compile, payloads that are missing: nothing, but no error either. */
static void test_odd_records(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(&log, "dynamo_graph_break_reason", "");
    log_put(&log, "\"artifact\": {\"name\": \"recompile_reasons\"}", NULL);
    log_put(&log, "\"artifact\": {\"name\": 5}", "x");
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log.context = "\"rank\": 0";
    log_artifact(&log, "dynamo_graph_break_reason", BREAK);
    log_artifact(&log, "dynamo_error", "x");
    struct incidents *all = read_made(&log, &trace);
    assert_int_equal(all->n_breaks, 1);
    assert_int_equal(all->breaks[0].depth, -1);
    assert_str_is(all->breaks[0].summary, "");
    assert_int_equal(all->n_recompiles, 0);
    drop(all, trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_in_torch), cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_restart),          cmocka_unit_test(test_restarts_untimed),
        cmocka_unit_test(test_recompiles),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_export_fails),     cmocka_unit_test(test_export_succeeds),
        cmocka_unit_test(test_memory),           cmocka_unit_test(test_odd_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
