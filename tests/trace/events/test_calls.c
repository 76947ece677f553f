#include "tests/log_make.h"
#include "trace/events/calls.h"

static const char *const first =
    "{\"call\": 0, \"function\": \"f\", \"args\": [{\"source\": \"L['x']\", \"obj\": 7, \"size\": [2]}, "
    "{\"source\": \"L['y']\", \"obj\": 3}, {\"source\": \"L['s']\", \"value\": \"\\\"obj\\\": 7\"}], "
    "\"repeat\": 3, \"new\": [7, 1], \"seconds\": 0.5}\n"
    "no row\n"
    "{\"call\": 4, \"backward_of\": 3, \"function\": \"backward\", \"args\": [], \"seconds\": 1}";

/* A call that began before the others and ended after them, and repetitions. */
static const char *const second = "{\"call\": 5, \"as\": 0, \"new\": [20, 1], \"seconds\": 0.1}\n"
                                  "{\"call\": 6, \"backward_of\": 5, \"as\": 4, \"seconds\": 1}\n"
                                  "{\"call\": 7, \"as\": 99}\n"
                                  "{\"call\": 8, \"backward_of\": 5, \"parent\": 3, \"as\": 4}\n"
                                  "{\"call\": 9, \"parent\": 3, \"function\": \"h\"}\n"
                                  "{\"call\": 10, \"as\": 9}\n"
                                  "{\"call\": 3, \"function\": \"g\", \"args\": []}";

static void put_all(struct log_make *log)
{
    log_put(
        log,
        "\"symtape_calls\": {\"calls\": 5, \"dropped\": 0, \"not_recorded\": [{\"what\": \"a\", "
        "\"why\": \"b\"}]}",
        first);
    log_put(log,
            "\"symtape_calls\": {\"calls\": 8, \"dropped\": 2, \"full\": true, \"not_recorded\": "
            "[{\"what\": \"a\", \"why\": \"b\"}]}",
            second);
}

static struct str line_of(const struct recorded_calls *calls, int n)
{
    struct str text = buf_str(&calls->lines);
    for (; n > 0; n--)
        text = str_from(text, str_find_char(text, '\n') + 1);
    return str_first(text, str_find_char(text, '\n'));
}

static bool has(struct str text, const char *part)
{
    return str_find(text, str_of(part)) < text.n;
}

static void test_lines(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    put_all(&log);
    struct trace *trace = log_open(&log);
    struct recorded_calls calls = { 0 };
    assert_true(recorded_calls_read(trace, 0, &calls, &err));
    assert_int_equal(calls.n, 10);
    assert_int_equal(calls.skipped, 2);
    assert_true(str_starts(line_of(&calls, 0), STR("{\"call\": 0, \"function\": \"f\"")));
    assert_true(has(line_of(&calls, 0), "\"obj\": 7,"));
    assert_true(str_starts(line_of(&calls, 2), STR("{\"call\": 2, \"function\": \"f\"")));
    assert_true(has(line_of(&calls, 2), "\"obj\": 9,"));
    assert_true(has(line_of(&calls, 2), "\"obj\": 3}"));
    assert_true(has(line_of(&calls, 2), "\\\"obj\\\": 7"));
    assert_true(str_starts(line_of(&calls, 3), STR("{\"call\": 3, \"function\": \"g\"")));
    assert_true(has(line_of(&calls, 5), "\"obj\": 20,"));
    assert_true(str_starts(line_of(&calls, 6),
                           STR("{\"call\": 6, \"backward_of\": 5, \"function\": \"backward\"")));
    assert_true(str_starts(
        line_of(&calls, 7),
        STR("{\"call\": 8, \"backward_of\": 5, \"parent\": 3, \"function\": \"backward\"")));
    assert_true(
        str_eq(line_of(&calls, 8), STR("{\"call\": 9, \"parent\": 3, \"function\": \"h\"}")));
    assert_true(str_eq(line_of(&calls, 9), STR("{\"call\": 10, \"function\": \"h\"}")));
    recorded_calls_release(&calls);
    trace_close(trace);
}

static bool take(void *data, const struct recorded_call *call, struct err *err)
{
    recorded_call_put(call, data);
    return !((struct buf *)data)->failed || err_nomem(err);
}

/* Calls that are taken one by one are the same lines. */
static void test_taken(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    struct buf lines = BUF_INIT;
    put_all(&log);
    struct trace *trace = log_open(&log);
    struct recorded_calls whole = { 0 }, taken = { .take = take, .data = &lines };
    assert_true(recorded_calls_read(trace, 0, &whole, &err));
    assert_true(recorded_calls_read(trace, 0, &taken, &err));
    assert_int_equal(taken.n, whole.n);
    assert_int_equal(taken.lines.n, 0);
    assert_true(str_eq(buf_str(&lines), buf_str(&whole.lines)));
    recorded_calls_release(&whole);
    recorded_calls_release(&taken);
    buf_release(&lines);
    trace_close(trace);
}

static bool count_bytes(void *data, const struct recorded_call *call, struct err *err)
{
    (void)err;
    *(uint64_t *)data += call->rest.n;
    return true;
}

/* A row may stand for many calls: those beyond the most are counted, and so much text that a few
 * bytes of a tape would take minutes is refused before any of it is written. */
static void test_bounds(void **state)
{
    (void)state;
    enum { MOST = 1 << 20 };
    static const struct {
        size_t bytes;
        uint64_t repeat, skipped;
        bool kept, ok;
    } ROWS[] = {
        { 10, MOST + 5, 5, false, true },
        { 10, UINT64_MAX - 1, UINT64_MAX - 1 - MOST, false, true },
        { 16500, MOST, 0, false, false },
        { 530000, 1100, 0, true, false },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct err err = ERR_INIT;
        struct log_make log = log_start();
        struct buf row = BUF_INIT;
        uint64_t bytes = 0;
        struct recorded_calls calls = { .take = ROWS[i].kept ? NULL : count_bytes, .data = &bytes };
        buf_puts(&row, "{\"call\": 0, \"function\": \"");
        for (size_t k = 0; k < ROWS[i].bytes; k++)
            buf_putc(&row, 'f');
        buf_printf(&row, "\", \"repeat\": %llu}%c", (unsigned long long)ROWS[i].repeat, 0);
        log_put(&log, "\"symtape_calls\": {\"calls\": 1}", row.p);
        struct trace *trace = log_open(&log);
        assert_int_equal(recorded_calls_read(trace, 0, &calls, &err), ROWS[i].ok);
        assert_int_equal(err.kind, ROWS[i].ok ? ERR_NONE : ERR_INPUT);
        if (ROWS[i].ok) {
            assert_int_equal(calls.n, ROWS[i].repeat < MOST ? ROWS[i].repeat : MOST);
            assert_int_equal(calls.skipped, ROWS[i].skipped);
            assert_true((ROWS[i].kept ? calls.lines.n : bytes) > calls.n * ROWS[i].bytes);
        } else {
            assert_int_equal(calls.n, 0);
        }
        recorded_calls_release(&calls);
        buf_release(&row);
        trace_close(trace);
    }
}

static void test_totals(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    put_all(&log);
    struct trace *trace = log_open(&log);
    struct call_totals totals;
    assert_true(call_totals_read(trace, &totals, &err));
    assert_int_equal(totals.records, 2);
    assert_int_equal(totals.calls, 8);
    assert_int_equal(totals.dropped, 2);
    assert_true(totals.full);
    assert_str_is(buf_str(&totals.not_recorded), "a (b)");
    call_totals_release(&totals);
    trace_close(trace);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct recorded_calls calls = { 0 };
    struct call_totals totals = { 0 };
    bool ok = recorded_calls_read(arg, 0, &calls, &err) && call_totals_read(arg, &totals, &err);
    recorded_calls_release(&calls);
    call_totals_release(&totals);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    put_all(&log);
    struct trace *trace = log_open(&log);
    check_alloc_failures(attempt, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_taken),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_totals), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
