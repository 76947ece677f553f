#include "profile/compare/snapshot.h"

#include "tests/profile/made.h"
#include "trace/align/align.h"

static struct snapshot *take(struct trace *trace)
{
    struct err err = ERR_INIT;
    struct snapshot *s = snapshot_take(trace, NULL, STR("made.log"), &err);
    assert_no_err(&err);
    assert_non_null(s);
    return s;
}

static struct snapshot *read(struct str text)
{
    struct err err = ERR_INIT;
    struct snapshot *s = snapshot_read(text, &err);
    assert_no_err(&err);
    assert_non_null(s);
    return s;
}

/* What was written and read is the same, and is written the same. */
static void test_round_trip(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    struct snapshot *s = take(trace);
    trace_close(trace);
    struct buf text = BUF_INIT, again = BUF_INIT;
    snapshot_write(s, &text);
    assert_true(snapshot_looks_like(buf_str(&text)));
    struct snapshot *t = read(buf_str(&text));
    assert_memory_equal(&s->measures, &t->measures, sizeof s->measures);
    assert_int_equal(s->n_phases, t->n_phases);
    assert_int_equal(s->outline->events.n, t->outline->events.n);
    assert_int_equal(s->outline->nodes.n, t->outline->nodes.n);
    assert_int_equal(s->outline->refs.n, t->outline->refs.n);
    snapshot_write(t, &again);
    assert_str_eq(buf_str(&again), buf_str(&text));
    buf_release(&text);
    buf_release(&again);
    snapshot_free(s);
    snapshot_free(t);
}

static void test_contents(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    struct snapshot *s = take(trace);
    const struct outline *o = s->outline;
    assert_int_equal(s->measures.value[MEASURE_RESTARTS], 1);
    assert_int_equal(o->recordings.n, 1);
    assert_int_equal(o->compiles.n, 2); /* what belongs to none, and 0/0 */
    assert_int_equal(o->compiles.v[1].n_attempts, 2);
    assert_str_is(outline_text(o, o->compiles.v[1].function), "forward");
    const struct outline_attempt *first = &o->attempts.v[o->compiles.v[1].first_attempt];
    assert_int_equal(first->status, ATTEMPT_RESTARTED);
    assert_int_equal(first->n_graphs, 2);
    const struct outline_event *last = &o->events.v[first->first_event + first->n_events - 1];
    assert_int_equal(last->kind, OUTLINE_RESTART);
    assert_str_is(outline_text(o, last->text), "TensorifyScalarRestartAnalysis");
    snapshot_free(s);
    trace_close(trace);
}

static void expect(const char *text, const char *what)
{
    struct err err = ERR_INIT;
    assert_null(snapshot_read(str_of(text), &err));
    assert_err(&err, ERR_INPUT, what);
}

#define HEAD                                                                                   \
    "{\"schema\": \"symtape.snapshot/1\", \"name\": \"x\", \"damaged\": 0, \"truncated\": 0, " \
    "\"measures\": {}, \"outline\": "

static void test_bad(void **state)
{
    (void)state;
    expect("", "offset 0");
    expect("{\"schema\": \"symtape.snapshot/2\"}", "not a snapshot");
    expect("{\"schema\": \"symtape.snapshot/1\"}", "name: a string is missing");
    expect(HEAD "{}}", "texts: no such list");
    expect(HEAD "{\"texts\": [7]}}", "texts: not a string");
    expect(HEAD "{\"texts\": [\"\"], \"lines\": [[0, 0, 1, 5]]}}",
           "lines: an index is out of range");
    expect(HEAD "{\"texts\": [\"\"], \"lines\": [[0, 0, 0]]}}", "lines: an integer is missing");
    expect(HEAD
           "{\"texts\": [\"\"], \"lines\": [], \"recordings\": [[0, 0, -1, 0, 3]], "
           "\"compiles\": [], \"attempts\": [], \"events\": [], \"graphs\": [], \"forms\": [], "
           "\"nodes\": []}}",
           "recordings: more compiles than there are");
    expect(HEAD
           "{\"texts\": [\"\"], \"lines\": [], \"recordings\": [], \"compiles\": [], "
           "\"attempts\": [], \"events\": [], \"graphs\": [], \"forms\": [], \"nodes\": [0, 0]}}",
           "nodes: more nodes than the graphs have");
    expect(HEAD
           "{\"texts\": [\"\"], \"lines\": [], \"recordings\": [], \"compiles\": [], "
           "\"attempts\": [], \"events\": [], \"graphs\": [[\"forward\", 0, 0, 0, 1, 0, 0, 0]], "
           "\"forms\": [[0, 0, 0, 0, -1, 1]], \"nodes\": [0, 1, 1]}}",
           "nodes: an index is out of range");
    assert_false(snapshot_looks_like(STR("{\"schema\": \"symtape.profile/1\"}")));
    assert_false(snapshot_looks_like(STR("V1120 10:00:00.000000 1 a.py:1] {}")));
}

static bool attempt(void *arg)
{
    struct trace *trace = arg;
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct snapshot *s = snapshot_take(trace, NULL, STR("made.log"), &err), *t = NULL;
    if (s) {
        snapshot_write(s, &text);
        t = text.failed ? NULL : snapshot_read(buf_str(&text), &err);
    }
    assert_true(t || text.failed || err.kind == ERR_ENV);
    bool ok = t;
    snapshot_free(s);
    snapshot_free(t);
    buf_release(&text);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(attempt, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
