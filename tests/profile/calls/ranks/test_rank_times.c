#include "profile/calls/ranks/ranks_report.h"
#include "tests/log_make.h"

static void put_phase(struct log_make *log, char phase, const char *name, unsigned us)
{
    char text[16];
    snprintf(text, sizeof text, "%u", us);
    log_phase(log, phase, name, text, "");
}

static void put_graph(struct log_make *log, const char *state, const char *key)
{
    struct buf name = BUF_INIT, payload = BUF_INIT;
    buf_printf(&name, "fx_graph_cache_%s", state);
    buf_putc(&name, 0);
    buf_printf(&payload, "{\"key\": \"%s\", \"time_taken_ns\": 7000}", key);
    buf_putc(&payload, 0);
    log_artifact(log, name.p, payload.p);
    buf_release(&name);
    buf_release(&payload);
}

/* A rank that compiles 0/0 from `begin` to `end`, where it comes to a collective at `collective`.
 */
static struct trace *make_rank(unsigned begin, unsigned collective, unsigned end, const char *state)
{
    struct log_make log = log_start();
    put_phase(&log, 'B', "entire_frame_compile", begin);
    put_phase(&log, 'B', "compiler_collective", collective);
    put_phase(&log, 'E', "compiler_collective", 400);
    put_graph(&log, state, "k");
    if (end)
        put_phase(&log, 'E', "entire_frame_compile", end);
    log_put(&log,
            "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/u/m.py\", "
            "\"co_firstlineno\": 3}",
            NULL);
    return log_open(&log);
}

static void make_two(struct trace **traces, unsigned end)
{
    traces[0] = make_rank(100, 200, 500, "miss");
    traces[1] = make_rank(120, 350, end, end > 500 ? "hit" : "miss");
}

static void close_two(struct trace **traces)
{
    trace_close(traces[0]);
    trace_close(traces[1]);
}

static void test_ahead(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct trace *traces[2];
    make_two(traces, 900);
    assert_true(rank_times_make(&times, traces, 2, &err));
    assert_int_equal(times.compiles.n, 2);
    assert_int_equal(times.n_shared, 1);
    assert_false(times.in_turn);
    const struct rank_compile *first = &times.compiles.v[0], *second = &times.compiles.v[1];
    assert_int_equal(first->process, 0);
    assert_int_equal(first->ahead_ns, 400000);
    assert_int_equal(first->last, 1);
    assert_int_equal(first->waited_ns, 150000);
    assert_int_equal(first->waited_for, 1);
    assert_int_equal(second->waited_ns, 0);
    assert_int_equal(second->ahead_ns, 0);
    assert_int_equal(second->n_taken, 1);
    assert_int_equal(second->from, 0);
    assert_str_is(second->function, "f");
    assert_int_equal(times.n_taken_from, 1);
    assert_int_equal(times.processes.v[1].n_last, 1);
    assert_int_equal(times.processes.v[1].late_ns, 400000);
    rank_times_release(&times);
    close_two(traces);
}

/* One that never ends is the last, and both compiled the same graph. */
static void test_unfinished(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct trace *traces[2];
    make_two(traces, 0);
    assert_true(rank_times_make(&times, traces, 2, &err));
    assert_int_equal(times.processes.v[1].n_open, 1);
    assert_int_equal(times.processes.v[1].late_ns, 0);
    assert_int_equal(times.compiles.v[0].ahead_ns, -1);
    assert_int_equal(times.compiles.v[0].last, 1);
    assert_int_equal(times.n_repeated, 1);
    assert_int_equal(times.repeated_ns, 7000);
    rank_times_release(&times);
    close_two(traces);
}

/* A rank that hangs in 0/0, in a collective or before it, after it ended 1/0. */
static struct trace *make_hanging(unsigned end, bool waits)
{
    struct log_make log = log_start();
    log.context = LOG_COMPILE(1, 0, 0);
    put_phase(&log, 'B', "entire_frame_compile", 10);
    put_phase(&log, 'E', "entire_frame_compile", end);
    log.context = LOG_COMPILE(0, 0, 0);
    put_phase(&log, 'B', "entire_frame_compile", 100);
    if (waits)
        put_phase(&log, 'B', "compiler_collective", 200);
    return log_open(&log);
}

/* Which ranks wait, and the last one. */
static void check_hang(const bool *waits, uint32_t last, const char *text)
{
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct buf out = BUF_INIT;
    struct trace *traces[4];
    const struct report_options how = { .width = 80 };
    for (unsigned i = 0; i < 4; i++)
        traces[i] = make_hanging(20 + i, waits[i]);
    assert_true(rank_times_make(&times, traces, 4, &err));
    assert_int_equal(times.n_shared, 2);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(times.processes.v[i].n_open, 1);
        assert_int_equal(times.processes.v[i].n_last, (i == last) + (i == 3));
        assert_int_equal(times.processes.v[i].n_held, i == last);
    }
    for (size_t i = 0; i < times.compiles.n; i++) {
        const struct rank_compile *c = &times.compiles.v[i];
        assert_true(c->shared);
        assert_int_equal(c->last, str_is(c->compile, "0/0") ? last : 3);
    }
    ranks_text(&times, &how, &out);
    assert_true(str_contains(buf_str(&out), str_of(text)));
    assert_false(str_contains(buf_str(&out), STR("that no other one has")));
    buf_release(&out);
    rank_times_release(&times);
    for (size_t i = 0; i < 4; i++)
        trace_close(traces[i]);
}

/* The one that others wait for is the one that came to no collective. */
static void test_hang(void **state)
{
    (void)state;
    static const bool SECOND[] = { true, false, true, true }, FIRST[] = { false, true, true, true };
    static const bool TWO[] = { true, false, false, true }, ALL[] = { true, true, true, true };
    static const char *const HELD = " was the last in 1 of 2 compiles, and did not end 1 of them\n";
    static const char *const NOT_KNOWN =
        " was the last in 1 of 2 compiles; the others were ready 1.00 us earlier in all\n";
    check_hang(SECOND, 1, HELD);
    check_hang(FIRST, 0, HELD);
    check_hang(TWO, RANK_NONE, NOT_KNOWN);
    check_hang(ALL, RANK_NONE, NOT_KNOWN);
}

/* The cache of the first rank has what the second one compiles. */
static void test_apart(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct trace *traces[2] = { make_rank(100, 200, 500, "hit"), make_rank(120, 350, 900, "miss") };
    assert_true(rank_times_make(&times, traces, 2, &err));
    assert_int_equal(times.n_apart, 1);
    assert_int_equal(times.apart_ns, 7000);
    assert_int_equal(times.n_repeated, 0);
    assert_int_equal(times.n_taken_from, 0);
    assert_int_equal(times.compiles.v[1].had, 0);
    assert_int_equal(times.compiles.v[0].from, RANK_NONE);
    rank_times_release(&times);
    close_two(traces);
}

/* Starts one after another do not wait. */
static void test_in_turn(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct trace *traces[2] = { make_rank(100, 200, 500, "miss"), make_rank(600, 700, 900, "hit") };
    assert_true(rank_times_make(&times, traces, 2, &err));
    assert_true(times.in_turn);
    assert_int_equal(times.n_shared, 0);
    assert_int_equal(times.compiles.v[1].from, 0);
    assert_int_equal(times.compiles.v[0].last, RANK_NONE);
    rank_times_release(&times);
    close_two(traces);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct rank_times times = { 0 };
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 60 };
    bool ok = rank_times_make(&times, arg, 2, &err);
    assert_true(ok || err.kind == ERR_ENV);
    if (ok) {
        ranks_text(&times, &how, &out);
        ranks_json(&times, &out);
        ok = !out.failed;
    }
    buf_release(&out);
    rank_times_release(&times);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct trace *traces[2];
    make_two(traces, 900);
    check_alloc_failures(attempt, traces);
    close_two(traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ahead),   cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_hang),    cmocka_unit_test(test_apart),
        cmocka_unit_test(test_in_turn), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
