#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"

/* `attempt` below 0: a record without an attempt number. */
static void put_record(struct buf *log, const char *event, int frame, int compile, int attempt)
{
    char json[400];
    int n = snprintf(json, sizeof json, "%s, \"frame_id\": %d, \"frame_compile_id\": %d", event,
                     frame, compile);
    if (attempt >= 0)
        snprintf(json + n, sizeof json - (size_t)n, ", \"attempt\": %d", attempt);
    log_line(log, json);
}

#define START   "\"dynamo_start\": {}"
#define METRICS "\"compilation_metrics\": {\"fail_type\": null}"
#define FAILS   "\"compilation_metrics\": {\"fail_type\": \"Unsupported\"}"
#define RUNTIME "\"compilation_metrics_runtime\": {}"

static void check_attempt(const struct trace *trace, uint32_t i, const char *name,
                          enum attempt_status status, uint32_t n_records)
{
    const struct attempt *a = &trace->attempts[i];
    char text[100];
    snprintf(text, sizeof text, "%.*s_%u", STR_ARG(a->compile), a->number);
    assert_string_equal(text, name);
    assert_int_equal(a->status, status);
    assert_int_equal(a->n_records, n_records);
    for (uint32_t k = 0; k < n_records; k++)
        assert_int_equal(trace->records[a->records[k]].attempt, i);
}

static void test_status(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, START, 0, 0, 0);
    put_record(&log, METRICS, 0, 0, 0);
    put_record(&log, START, 1, 0, 0);
    put_record(&log, START, 1, 0, 1);
    put_record(&log, FAILS, 1, 0, 1);
    put_record(&log, START, 2, 3, 0);
    put_record(&log, "\"compilation_metrics\": 5", 3, 0, 0);
    put_record(&log, FAILS, 4, 0, 0);
    put_record(&log, METRICS, 4, 0, 0); /* a failure is not undone by what comes behind it */
    put_record(&log, "\"bwd_compilation_metrics\": {\"fail_type\": \"X\"}", 5, 0, 0);
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 7);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_OK, 2);
    check_attempt(trace, 1, "1/0_0", ATTEMPT_RESTARTED, 1);
    check_attempt(trace, 2, "1/0_1", ATTEMPT_FAILED, 2);
    check_attempt(trace, 3, "2/3_0", ATTEMPT_UNFINISHED, 1);
    check_attempt(trace, 4, "3/0_0", ATTEMPT_OK, 1);
    check_attempt(trace, 5, "4/0_0", ATTEMPT_FAILED, 2);
    check_attempt(trace, 6, "5/0_0", ATTEMPT_FAILED, 1);
    assert_int_equal(trace->attempts[1].next, 2);
    assert_int_equal(trace->attempts[2].previous, 1);
    assert_int_equal(trace->attempts[2].next, TRACE_NONE);
    assert_int_equal(trace->attempts[1].previous, TRACE_NONE);
    trace_close(trace);
    buf_release(&log);
}

/* An attempt that was restarted is that, whatever its metrics say. */
static void test_restart_with_metrics(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, FAILS, 0, 0, 0);
    put_record(&log, METRICS, 0, 0, 1);
    struct trace *trace = open_text(buf_str(&log));
    check_attempt(trace, 0, "0/0_0", ATTEMPT_RESTARTED, 1);
    check_attempt(trace, 1, "0/0_1", ATTEMPT_OK, 1);
    trace_close(trace);
    buf_release(&log);
}

/* What a compiled graph logs when it runs has frame ids and no attempt. */
static void test_runtime_records(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, RUNTIME, 0, 0, -1); /* before there is one: attempt 0 */
    put_record(&log, START, 0, 0, 0);
    put_record(&log, START, 0, 0, 1);
    put_record(&log, RUNTIME, 0, 0, -1);
    put_record(&log, START, 0, 0, 2);
    put_record(&log, RUNTIME, 0, 0, -1);
    put_record(&log, RUNTIME, 0, 1, -1); /* of another compile */
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 4);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_RESTARTED, 2);
    check_attempt(trace, 1, "0/0_1", ATTEMPT_RESTARTED, 2);
    check_attempt(trace, 2, "0/0_2", ATTEMPT_UNFINISHED, 2);
    check_attempt(trace, 3, "0/1_0", ATTEMPT_UNFINISHED, 1);
    trace_close(trace);
    buf_release(&log);
}

/* Records were lost: numbers have gaps. */
static void test_gaps(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, START, 0, 0, 0);
    put_record(&log, START, 0, 0, 3);
    put_record(&log, START, 0, 0, 30);
    struct trace *trace = open_text(buf_str(&log));
    check_attempt(trace, 0, "0/0_0", ATTEMPT_RESTARTED, 1);
    check_attempt(trace, 1, "0/0_3", ATTEMPT_UNFINISHED, 1); /* too far to be its next */
    check_attempt(trace, 2, "0/0_30", ATTEMPT_UNFINISHED, 1);
    trace_close(trace);
    buf_release(&log);
}

static void test_ids(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_line(&log,
             "\"a\": 1, \"compiled_autograd_id\": 1, \"frame_id\": 0, \"frame_compile_id\": 2");
    log_line(&log, "\"a\": 1, \"compiled_autograd_id\": 1");
    log_line(&log,
             "\"a\": 1, \"compiled_autograd_id\": null, \"frame_id\": 0, \"frame_compile_id\": 2");
    log_line(&log, "\"a\": 1, \"frame_compile_id\": 2, \"attempt\": 0");
    log_line(&log, "\"a\": 1, \"frame_id\": 9, \"attempt\": 99999999999");
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 4);
    check_attempt(trace, 0, "!1/0/2_0", ATTEMPT_UNFINISHED, 1);
    check_attempt(trace, 1, "!1_0", ATTEMPT_UNFINISHED, 1);
    check_attempt(trace, 2, "0/2_0", ATTEMPT_UNFINISHED, 1);
    check_attempt(trace, 3, "9/-1_0", ATTEMPT_UNFINISHED, 1);
    assert_int_equal(trace->records[3].attempt, TRACE_NONE);
    trace_close(trace);
    buf_release(&log);
}

/* Very many attempts, then as many records that belong to the last: linear. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct buf log = BUF_INIT;
    for (int i = 0; i < N; i++)
        put_record(&log, START, 0, 0, i);
    for (int i = 0; i < N; i++)
        put_record(&log, RUNTIME, 0, 0, -1);
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, N);
    assert_int_equal(trace->attempts[N - 1].n_records, N + 1);
    assert_int_equal(trace->attempts[N - 2].status, ATTEMPT_RESTARTED);
    trace_close(trace);
    buf_release(&log);
}

#define BEGINS "\"chromium_event\": {}"
#define GRAPH  "\"dynamo_output_graph\": {}"

/* torch._dynamo.reset() gives ids again. */
static void test_reset(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, START, 0, 0, 0);
    put_record(&log, START, 0, 0, 1);
    put_record(&log, METRICS, 0, 0, 1);
    put_record(&log, START, 0, 1, 0);
    put_record(&log, RUNTIME, 0, 0, -1);
    put_record(&log, "\"artifact\": {\"name\": \"recompile_reasons\"}", 0, 0, 0);
    put_record(&log, START, 0, 0, 0); /* was ended: another compile, the artifact its own */
    put_record(&log, START, 0, 1, 0); /* had started */
    put_record(&log, START, 0, 2, 0); /* is new, but after the reset */
    put_record(&log, RUNTIME, 0, 0, -1);
    put_record(&log, RUNTIME, 0, 1, -1);
    put_record(&log, METRICS, 0, 2, 0);
    put_record(&log, GRAPH, 0, 2, 0); /* its start was lost */
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 7);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_RESTARTED, 1);
    check_attempt(trace, 1, "0/0_1", ATTEMPT_OK, 3);
    check_attempt(trace, 2, "0/1_0", ATTEMPT_UNFINISHED, 1);
    check_attempt(trace, 3, "0/0.1_0", ATTEMPT_UNFINISHED, 3);
    check_attempt(trace, 4, "0/1.1_0", ATTEMPT_UNFINISHED, 2);
    check_attempt(trace, 5, "0/2.1_0", ATTEMPT_OK, 2);
    check_attempt(trace, 6, "0/2.2_0", ATTEMPT_UNFINISHED, 1);
    assert_int_equal(trace->attempts[3].previous, TRACE_NONE);
    trace_close(trace);
    buf_release(&log);
}

/* Phases that begin before dynamo_start are the new compile's, those that end are not. */
/* What seems to come before a compile is all that there is of the one before. */
/* Records of a deep recording stand behind the log, and say how many earlier compiles their id
 * had. */
static void test_reset_deep(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    for (int i = 0; i < 3; i++) {
        put_record(&log, START, 0, 0, 0);
        put_record(&log, METRICS, 0, 0, 0);
    }
    put_record(&log, "\"symtape_costs\": {\"earlier\": 0, \"rows\": 0}", 0, 0, 0);
    put_record(&log, "\"symtape_costs\": {\"earlier\": 1, \"rows\": 0}", 0, 0, 0);
    put_record(&log, "\"symtape_costs\": {\"earlier\": 1, \"rows\": 0}", 0, 0, 1);
    put_record(&log, "\"symtape_costs\": {\"earlier\": 9}", 0, 0, 0); /* not there: the latest */
    put_record(&log, "\"symtape_costs\": {\"rows\": 0}", 0, 0, 0);    /* nor told */
    put_record(&log, "\"symtape_costs\": [", 0, 0, 0);                /* nor to be read */
    put_record(&log, RUNTIME, 0, 0, -1);
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 4);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_OK, 3);
    check_attempt(trace, 1, "0/0.1_0", ATTEMPT_RESTARTED, 3);
    check_attempt(trace, 2, "0/0.2_0", ATTEMPT_OK, 5);
    check_attempt(trace, 3, "0/0.1_1", ATTEMPT_UNFINISHED, 1);
    trace_close(trace);
    buf_release(&log);
}

static void test_reset_keeps(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, METRICS, 0, 0, 1);
    put_record(&log, "\"artifact\": {\"name\": \"x\", \"encoding\": \"string\"}", 0, 0, 0);
    put_record(&log, START, 0, 0, 0);
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 3);
    for (uint32_t i = 0; i < trace->n_attempts; i++)
        assert_int_equal(trace->attempts[i].n_records, 1);
    trace_close(trace);
    buf_release(&log);
}

static void test_reset_phases(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    struct err err = ERR_INIT;
    put_record(&log, START, 0, 0, 0);
    put_record(&log, METRICS, 0, 0, 0);
    put_record(&log, BEGINS, 0, 0, 0); /* no payload: nothing tells that it begins */
    put_record(&log, START, 0, 0, 0);
    struct trace *trace = open_text(buf_str(&log));
    check_attempt(trace, 0, "0/0_0", ATTEMPT_OK, 3);
    check_attempt(trace, 1, "0/0.1_0", ATTEMPT_UNFINISHED, 1);
    trace_close(trace);
    buf_release(&log);
    trace = trace_open(source_path("tests/recordings/reset.log.zst"), NULL, &err);
    assert_non_null(trace);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_OK, 32);
    check_attempt(trace, 2, "0/0.1_0", ATTEMPT_OK, 38);
    for (uint32_t i = 1; i < trace->n_attempts; i++) {
        uint32_t first = trace->attempts[i].records[0];
        struct str payload;
        assert_int_equal(trace->records[first].event, EVENT_CHROMIUM_EVENT);
        assert_true(trace_payload(trace, first, &payload, &err));
        assert_true(str_find(payload, STR("\"ph\": \"B\"")) < payload.n);
    }
    trace_close(trace);
}

static void test_same_function(void **state)
{
    (void)state;
    assert_true(compile_same_function(STR("0/0"), STR("0/1")));
    assert_true(compile_same_function(STR("0/0.1"), STR("0/1.1")));
    assert_true(compile_same_function(STR("!1/0/0"), STR("!1/0/1")));
    assert_true(compile_same_function(STR("!0"), STR("!0")));
    assert_false(compile_same_function(STR("0/0"), STR("1/0")));
    assert_false(compile_same_function(STR("0/0"), STR("0/0.1")));
    assert_false(compile_same_function(STR("0/0.1"), STR("0/1.2")));
    assert_false(compile_same_function(STR("!1/0/0"), STR("!1/1/0")));
    assert_false(compile_same_function(STR("!1/0/0"), STR("!2/0/0")));
    assert_false(compile_same_function(STR("!0"), STR("!1")));
    assert_false(compile_same_function(STR("!0"), STR("0/0")));
    assert_false(compile_same_function(STR(""), STR("0/0")));
}

static void put_symbol(struct buf *log, const char *name)
{
    char json[100];
    snprintf(json, sizeof json, "\"create_symbol\": {\"symbol\": \"%s\"}", name);
    put_record(log, json, 0, 0, 0);
}

/* torch.export logs no start: a symbol that is made again after the graph is the next export's, and
 * so is what was described just before it. */
static void test_exports(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_symbol(&log, "s6");
    put_symbol(&log, "s27");
    put_symbol(&log, "s6");
    put_record(&log, "\"dynamo_output_graph\": {}", 0, 0, 0);
    put_record(&log, "\"aot_inference_graph\": {}", 0, 0, 0);
    put_record(&log, "\"describe_tensor\": {}", 0, 0, 0);
    put_symbol(&log, "s96");
    put_symbol(&log, "s27");
    put_record(&log, "\"dynamo_output_graph\": {}", 0, 0, 0);
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 2);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_UNFINISHED, 5);
    check_attempt(trace, 1, "0/0.1_0", ATTEMPT_UNFINISHED, 4);
    trace_close(trace);
    buf_release(&log);
}

/* Where there was a start, another symbol of a name is that of another ShapeEnv in the compile. */
static void test_symbols_of_a_compile(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    put_record(&log, START, 0, 0, 0);
    put_symbol(&log, "s6");
    put_record(&log, "\"dynamo_output_graph\": {}", 0, 0, 0);
    put_symbol(&log, "s6");
    struct trace *trace = open_text(buf_str(&log));
    assert_int_equal(trace->n_attempts, 1);
    check_attempt(trace, 0, "0/0_0", ATTEMPT_UNFINISHED, 4);
    trace_close(trace);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_symbols_of_a_compile),
        cmocka_unit_test(test_restart_with_metrics),
        cmocka_unit_test(test_runtime_records),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reset_deep),
        cmocka_unit_test(test_reset_keeps),
        cmocka_unit_test(test_reset_phases),
        cmocka_unit_test(test_same_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
