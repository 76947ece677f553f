/* What is told of a run's time: shares of the wall time only where launches explain it, and
 * otherwise what the rest is. */
#include "profile/report/replay/timing_report.h"

#include <string.h>

#include "tests/harness.h"

static const char GRAPH[] = "class f(torch.nn.Module):\n"
                            "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                            "        a: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(x)\n"
                            "        return (a,)\n";

static struct timing timing_of(struct graph *graph, struct timed_group *group, double sum,
                               double host)
{
    *group = (struct timed_group){
        .name = STR("aten.sin.default"), .calls = 1, .launches = 1, .us = sum, .most = 1
    };
    return (struct timing){ .graph = graph,
                            .groups = group,
                            .n_groups = 1,
                            .wall_us = 100,
                            .first_us = 5000,
                            .sum_us = sum,
                            .host_us = host,
                            .idle_us = 7,
                            .queues = true,
                            .runs = 5,
                            .calls = 1,
                            .launches = 1 };
}

static bool tells(const struct timing *t, const char *what)
{
    const struct report_options how = { 0 };
    struct buf out = BUF_INIT;
    timing_text(t, "cuda", &how, &out);
    bool ret = str_find(buf_str(&out), str_of(what)) < out.n;
    buf_release(&out);
    return ret;
}

static void test_rest(void **state)
{
    (void)state;
    struct timed_group group;
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(GRAPH), &err);
    assert_no_err(&err);
    struct timing t = timing_of(graph, &group, 95, 20);
    assert_true(timing_explains(&t) && !timing_host_bound(&t));
    assert_true(tells(&t, "launches take 95.0 us, 95 % of it\n"));
    assert_true(tells(&t, "share") && !tells(&t, "of launches") && !tells(&t, "the host made"));
    t = timing_of(graph, &group, 40, 98);
    assert_true(!timing_explains(&t) && timing_host_bound(&t));
    assert_true(tells(&t, "launches take 40.0 us, which does not explain it within 10 %"));
    assert_true(tells(&t,
                      "the host made the calls in 98.0 us: the device waits for it; with the log "
                      "the device is idle between launches for 7.00 us\n"));
    assert_true(tells(&t, "of launches") && tells(&t, "100 %"));
    t = timing_of(graph, &group, 40, 50);
    assert_false(timing_host_bound(&t));
    assert_true(tells(&t, "the host made the calls in 50.0 us; with the log"));
    t.sum_us = 130;
    t.logged_us = 150;
    assert_true(tells(&t, "they were timed in runs with a log, which took 150 us\n"));
    t.sum_us = 40;
    t.queues = false;
    assert_true(tells(&t, "the rest is the replay's own"));
    graph_free(graph);
}

static void test_once(void **state)
{
    (void)state;
    struct timed_group group;
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(GRAPH), &err);
    assert_no_err(&err);
    struct timing t = timing_of(graph, &group, 95, 20);
    assert_false(tells(&t, "done once"));
    t.once =
        (struct backend_log){ .opened = 2, .open_ns = 90000000, .loaded = 3, .load_ns = 4000000 };
    t.compiled_later = 6;
    assert_true(tells(&t, "  done once, in the first run: 2 libraries opened in 90.0 ms, 3 kernels "
                          "loaded in 4.00 ms\n"));
    assert_true(tells(&t, "6 kernels compiled in later runs"));
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_once),
    };
    return cmocka_run_group_tests_name("times of runs", tests, NULL, NULL);
}
