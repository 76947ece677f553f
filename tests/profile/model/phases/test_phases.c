/* Phases from hand-made events: nested, repeated, recursive, overlapping, unbalanced, in the wrong
 * order, on several threads. Times are in microseconds; a profile's in nanoseconds. */
#include "profile/model/profile.h"
#include "tests/log_make.h"

#define US INT64_C(1000)

struct made {
    struct trace *trace;
    struct profile *profile;
};

static struct made make(struct log_make *log)
{
    struct err err = ERR_INIT;
    struct made made = { .trace = log_open(log) };
    made.profile = profile_build(&made.trace, 1, NULL, &err);
    assert_no_err(&err);
    assert_non_null(made.profile);
    return made;
}

static void drop(struct made *made)
{
    profile_free(made->profile);
    trace_close(made->trace);
}

static struct phase_total total(const struct made *made, const char *name)
{
    const struct profile *p = made->profile;
    for (uint32_t i = 0; i < p->phases.n_totals; i++)
        if (str_is(profile_name(p, p->phases.totals[i].name), name))
            return p->phases.totals[i];
    fail_msg("no phase %s", name);
    return (struct phase_total){ 0 };
}

static void check_total(const struct made *made, const char *name, uint64_t calls,
                        int64_t inclusive_us, int64_t exclusive_us)
{
    struct phase_total t = total(made, name);
    assert_int_equal(t.calls, calls);
    assert_int_equal(t.inclusive_ns, inclusive_us * US);
    assert_int_equal(t.exclusive_ns, exclusive_us * US);
}

/* What holds of every tree. */
static void check_sums(const struct made *made)
{
    const struct profile_phases *p = &made->profile->phases;
    int64_t exclusive = 0, roots = 0, totals = 0, compiles = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        exclusive += p->nodes[i].exclusive_ns;
        roots += p->nodes[i].parent == PROFILE_NONE ? p->nodes[i].inclusive_ns : 0;
        assert_true(p->nodes[i].parent == PROFILE_NONE || p->nodes[i].parent < i);
        assert_true(p->nodes[i].inclusive_ns >= p->nodes[i].exclusive_ns);
    }
    for (uint32_t i = 0; i < p->n_totals; i++) {
        totals += p->totals[i].exclusive_ns;
        assert_true(p->totals[i].inclusive_ns <= p->total_ns);
    }
    for (uint32_t i = 0; i < p->n_by_compile; i++)
        compiles += p->by_compile[i].exclusive_ns;
    assert_int_equal(exclusive, roots);
    assert_int_equal(exclusive, p->total_ns);
    assert_int_equal(totals, exclusive);
    assert_int_equal(compiles, exclusive);
}

static void test_nested_and_repeated(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "outer", "1000", "");
    log_phase(&log, 'B', "inner", "1100", "");
    log_phase(&log, 'E', "inner", "1300", "");
    log_phase(&log, 'B', "inner", "1300", "");
    log_phase(&log, 'E', "inner", "1350", "");
    log_phase(&log, 'E', "outer", "2000", "");
    log_phase(&log, 'B', "outer", "3000", "");
    log_phase(&log, 'E', "outer", "3001", "");
    struct made made = make(&log);
    check_total(&made, "outer", 2, 1001, 751);
    check_total(&made, "inner", 2, 250, 250);
    assert_int_equal(made.profile->phases.n_nodes, 2);
    assert_int_equal(made.profile->phases.n_unfinished, 0);
    check_sums(&made);
    drop(&made);
}

/* The third decimal of a microsecond is not lost: doubles of this size hold quarters only. */
static void test_exact_times(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "outer", "1795162120139322.123", "");
    log_phase(&log, 'E', "outer", "1795162120139322.126", "");
    log_phase(&log, 'X', "whole", "1795162120139400.5e0", ", \"dur\": 0.007");
    struct made made = make(&log);
    assert_int_equal(total(&made, "outer").inclusive_ns, 3);
    assert_int_equal(total(&made, "whole").inclusive_ns, 7);
    drop(&made);
}

static void test_recursion_counts_once(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "again", "1000", "");
    log_phase(&log, 'B', "between", "1100", "");
    log_phase(&log, 'B', "again", "1200", "");
    log_phase(&log, 'E', "again", "1500", "");
    log_phase(&log, 'E', "between", "1600", "");
    log_phase(&log, 'E', "again", "2000", "");
    struct made made = make(&log);
    check_total(&made, "again", 2, 1000, 800);
    check_total(&made, "between", 1, 500, 200);
    assert_int_equal(made.profile->phases.n_by_compile, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(made.profile->phases.by_compile[i].inclusive_ns <= 1000 * US);
    check_sums(&made);
    drop(&made);
}

/* a: 1000 to 1600, b: 1400 to 2000. From 1400 on the time is b's, though a goes on until 1600. */
static void test_overlap(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "a", "1000", "");
    log_phase(&log, 'B', "b", "1400", "");
    log_phase(&log, 'E', "a", "1600", "");
    log_phase(&log, 'E', "b", "2000", "");
    struct made made = make(&log);
    check_total(&made, "a", 1, 600, 400);
    check_total(&made, "b", 1, 600, 600);
    assert_int_equal(made.profile->phases.total_ns, 1000 * US);
    assert_int_equal(made.profile->phases.n_nodes, 3); /* b inside a, and b beside it */
    check_sums(&made);
    drop(&made);
}

static void test_never_ended(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log.time_us = 36000000000;
    log_phase(&log, 'B', "outer", "1000", "");
    log_phase(&log, 'B', "inner", "1500", "");
    log.time_us += 5000; /* of the log's clock, after the first phase's record */
    log_put(&log, "\"anything\": {}", NULL);
    struct made made = make(&log);
    const struct profile_phases *p = &made.profile->phases;
    assert_int_equal(p->n_unfinished, 2);
    const struct phase_span *first = &p->spans[p->unfinished[0]];
    assert_str_is(profile_name(made.profile, first->name), "outer");
    assert_int_equal(first->end_ns - first->start_ns, 5000 * US);
    assert_true(first->open);
    check_total(&made, "outer", 1, 5000, 500);
    check_total(&made, "inner", 1, 4500, 4500);
    assert_int_equal(total(&made, "inner").unfinished, 1);
    assert_int_equal(p->n_nodes, 2);
    check_sums(&made);
    drop(&made);
}

/* An end that is missing inside a phase that ended: it cannot have run longer than that. */
static void test_lost_end(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "outer", "1000", "");
    log_phase(&log, 'B', "lost", "1200", "");
    log_phase(&log, 'E', "outer", "2000", "");
    log_phase(&log, 'B', "later", "2500", "");
    log_phase(&log, 'E', "later", "9000", "");
    struct made made = make(&log);
    check_total(&made, "lost", 1, 800, 800);
    check_total(&made, "later", 1, 6500, 6500);
    const struct profile_phases *p = &made.profile->phases;
    assert_int_equal(p->n_unfinished, 1);
    assert_false(p->spans[p->unfinished[0]].open);
    check_sums(&made);
    drop(&made);
}

static void test_lost_beginning(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'E', "outer", "900", "");
    log_phase(&log, 'B', "outer", "1000", "");
    log_phase(&log, 'E', "outer", "1500", "");
    log_phase(&log, 'E', "outer", "1600", "");
    struct made made = make(&log);
    check_total(&made, "outer", 1, 500, 500);
    assert_int_equal(made.profile->phases.stray_ends, 2);
    check_sums(&made);
    drop(&made);
}

/* The log has the end first; the times tell that it comes later. */
static void test_wrong_order(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'E', "outer", "2000", "");
    log_phase(&log, 'E', "inner", "1700", "");
    log_phase(&log, 'B', "inner", "1200", "");
    log_phase(&log, 'B', "outer", "1000", "");
    struct made made = make(&log);
    check_total(&made, "outer", 1, 1000, 500);
    check_total(&made, "inner", 1, 500, 500);
    assert_int_equal(made.profile->phases.n_unfinished, 0);
    assert_int_equal(made.profile->phases.stray_ends, 0);
    check_sums(&made);
    drop(&made);
}

static void test_threads(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "work", "1000", ", \"pid\": 3, \"tid\": 1");
    log_phase(&log, 'B', "work", "1100", ", \"pid\": 3, \"tid\": 2");
    log_phase(&log, 'E', "work", "1400", ", \"pid\": 3, \"tid\": 1");
    log_phase(&log, 'E', "work", "2100", ", \"pid\": 3, \"tid\": 2");
    struct made made = make(&log);
    check_total(&made, "work", 2, 1400, 1400);
    assert_int_equal(made.profile->phases.n_nodes, 1);
    assert_int_not_equal(made.profile->phases.spans[0].track, made.profile->phases.spans[1].track);
    check_sums(&made);
    drop(&made);
}

/* Threads that share a number, as logs of PyTorch 2.11 have it: the compile tells them apart. */
static void test_compiles_that_interleave(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "work", "1000", ", \"args\": {\"compile_id\": \"0/0\"}");
    log.context = LOG_COMPILE(1, 0, 0);
    log_phase(&log, 'B', "work", "1100", ", \"args\": {\"compile_id\": \"1/0\"}");
    log.context = LOG_COMPILE(0, 0, 0);
    log_phase(&log, 'E', "work", "1500", ", \"args\": {\"compile_id\": \"0/0\"}");
    log.context = LOG_COMPILE(1, 0, 0);
    log_phase(&log, 'E', "work", "2000", ", \"args\": {\"compile_id\": \"1/0\"}");
    struct made made = make(&log);
    const struct profile_phases *p = &made.profile->phases;
    check_total(&made, "work", 2, 1000, 1000);
    assert_int_equal(p->n_by_compile, 2);
    assert_int_equal(p->by_compile[0].inclusive_ns, 500 * US);
    assert_int_equal(p->by_compile[1].inclusive_ns, 900 * US);
    check_sums(&made);
    drop(&made);
}

static void test_async(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "main", "1000", "");
    log_phase(&log, 'b', "job", "1100", ", \"id\": 1");
    log_phase(&log, 'b', "job", "1200", ", \"id\": 2");
    log_phase(&log, 'E', "main", "1300", "");
    log_phase(&log, 'e', "job", "2000", ", \"id\": 2");
    log_phase(&log, 'e', "job", "1500", ", \"id\": 1");
    struct made made = make(&log);
    check_total(&made, "main", 1, 300, 300);
    check_total(&made, "job", 2, 1200, 1200);
    check_sums(&made);
    drop(&made);
}

static void test_unreadable(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log, "\"chromium_event\": {}", "not JSON");
    log_put(&log, "\"chromium_event\": {}", NULL);
    log_put(&log, "\"chromium_event\": {}", "{\"name\": \"timeless\", \"ph\": \"B\"}");
    log_phase(&log, 'B', "huge", "9223372036854775807000", "");
    log_phase(&log, 'B', "old", "-5", "");
    log_phase(&log, 'E', "old", "7", "");
    log_phase(&log, 'i', "instant", "9", "");
    struct made made = make(&log);
    assert_int_equal(made.profile->phases.unreadable, 4);
    check_total(&made, "old", 1, 7, 7);
    assert_int_equal(made.profile->phases.n_totals, 1);
    drop(&made);
}

/* Deeper than the tree goes: nothing is lost of the time. */
static void test_depth(void **state)
{
    (void)state;
    enum { DEPTH = 1200 };
    struct log_make log = log_start();
    char us[24], name[24];
    for (int i = 0; i < DEPTH; i++) {
        snprintf(us, sizeof us, "%d", 1000 + i);
        snprintf(name, sizeof name, "p%d", i);
        log_phase(&log, 'B', name, us, "");
    }
    for (int i = DEPTH; i-- > 0;) {
        snprintf(us, sizeof us, "%d", 1000 + 2 * DEPTH - i);
        snprintf(name, sizeof name, "p%d", i);
        log_phase(&log, 'E', name, us, "");
    }
    struct made made = make(&log);
    assert_int_equal(total(&made, "p0").inclusive_ns, 2 * DEPTH * US);
    check_sums(&made);
    drop(&made);
}

/* Random events: the sums hold whatever comes. */
static void test_random(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 60; round++) {
        struct log_make log = log_start();
        for (int i = 0; i < 60; i++) {
            static const char PHASES[] = { 'B', 'E', 'B', 'E', 'X', 'b', 'e' };
            static const char *const NAMES[] = { "a", "b", "c", "d" };
            char us[24], more[80];
            seed = seed * 1664525 + 1013904223;
            snprintf(us, sizeof us, "%u.%u", 1000 + (seed >> 8) % 500 + (unsigned)i * 3, seed % 10);
            snprintf(more, sizeof more, ", \"tid\": %u, \"id\": %u, \"dur\": %u", (seed >> 20) % 2,
                     (seed >> 21) % 3, (seed >> 9) % 90);
            log_phase(&log, PHASES[(seed >> 13) % 7], NAMES[(seed >> 17) % 4], us, more);
        }
        struct made made = make(&log);
        check_sums(&made);
        drop(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_and_repeated),
        cmocka_unit_test(test_exact_times),
        cmocka_unit_test(test_recursion_counts_once),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_never_ended),
        cmocka_unit_test(test_lost_end),
        cmocka_unit_test(test_lost_beginning),
        cmocka_unit_test(test_wrong_order),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_compiles_that_interleave),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
