/* The estimated time of compiling a graph alone. */
#include "profile/model/cost_model/cost_ahead.h"

#include "tests/log_make.h"

static const char ONE[] = "class GraphModule(torch.nn.Module):\n"
                          "    def forward(self, s0: \"Sym(s0)\", L_x_: \"f32[s0, 3][3, 1]cpu\"):\n"
                          "        l_x_ = L_x_\n"
                          "        a: \"f32[s0, 3][3, 1]cpu\" = torch.relu(l_x_);  l_x_ = None\n"
                          "        return (a,)\n";
static const char TWO[] = "class GraphModule(torch.nn.Module):\n"
                          "    def forward(self, s0: \"Sym(s0)\", L_x_: \"f32[s0, 3][3, 1]cpu\"):\n"
                          "        l_x_ = L_x_\n"
                          "        a: \"f32[s0, 3][3, 1]cpu\" = torch.relu(l_x_);  l_x_ = None\n"
                          "        b: \"f32[s0, 3][3, 1]cpu\" = torch.sigmoid(a);  a = None\n"
                          "        return (b,)\n";

static struct trace *trace_of(const char *graph)
{
    struct log_make log = { 0 };
    log.context = LOG_COMPILE(0, 0, 0);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"5\", \"vr\": \"[2, int_oo]\", "
            "\"source\": \"L['x'].size()[0]\"}",
            NULL);
    log_put(&log, "\"dynamo_output_graph\": {\"sizes\": {}}", graph);
    return log_open(&log);
}

static double sum_of(const struct cost_shares *shares)
{
    double ret = shares->dispatch_ns;
    for (unsigned term = 0; term < COST_TERMS; term++)
        ret += shares->term_ns[term];
    return ret;
}

static const struct cost_ahead_nodes NO_NODES = { 0 };

static struct cost_ahead ahead_of(const char *graph, int release, struct cost_ahead_nodes nodes)
{
    struct err err = ERR_INIT;
    struct cost_ahead ret;
    struct trace *trace = trace_of(graph);
    assert_true(cost_ahead_make(&ret, trace, release, nodes, &err));
    trace_close(trace);
    return ret;
}

static void test_more_calls(void **state)
{
    (void)state;
    struct cost_ahead one = ahead_of(ONE, 213, NO_NODES);
    struct cost_ahead two = ahead_of(TWO, 213, NO_NODES);
    assert_int_equal(one.release, 213);
    assert_true(one.ns > 0);
    assert_true(two.ns > one.ns);
    double difference = sum_of(&two.shares) - (double)two.ns;
    assert_true(difference >= 0 && difference < 1);
    assert_true(two.shares.dispatch_ns > one.shares.dispatch_ns);
    assert_true(two.shares.term_ns[COST_TERM_SIZE] > one.shares.term_ns[COST_TERM_SIZE]);
    assert_true(one.shares.term_ns[COST_TERM_INPUT] > 0);
    assert_true(one.shares.term_ns[COST_TERM_ONCE] == 0);
}

/* The time of long expressions is that of their nodes. */
static void test_nodes(void **state)
{
    (void)state;
    struct cost_ahead none = ahead_of(ONE, 213, NO_NODES);
    struct cost_ahead some = ahead_of(ONE, 213, (struct cost_ahead_nodes){ 1000, 10, 100 });
    struct cost_ahead more = ahead_of(ONE, 213, (struct cost_ahead_nodes){ 2000, 20, 200 });
    struct cost_ahead most =
        ahead_of(ONE, 213, (struct cost_ahead_nodes){ UINT64_MAX, UINT64_MAX, UINT64_MAX });
    assert_true(none.evaluated_ns == 0 && none.guards_ns == 0 && none.exprs_ns == 0);
    assert_true(some.evaluated_ns > 0 && some.guards_ns > 0 && some.exprs_ns > 0);
    assert_int_equal(some.ns, none.ns + some.evaluated_ns + some.guards_ns + some.exprs_ns);
    assert_int_equal(more.ns - some.ns, some.ns - none.ns);
    assert_true(most.ns > more.ns);
}

/* A release that was not measured has the units of the nearest one. */
static void test_nearest_release(void **state)
{
    (void)state;
    struct cost_ahead ahead = ahead_of(ONE, 215, NO_NODES);
    assert_int_equal(ahead.release, 213);
}

static bool attempt_ahead(void *trace)
{
    struct err err = ERR_INIT;
    struct cost_ahead ahead;
    return cost_ahead_make(&ahead, trace, 213, NO_NODES, &err);
}

static void test_memory(void **state)
{
    (void)state;
    struct trace *trace = trace_of(TWO);
    check_alloc_failures(attempt_ahead, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_calls),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_nearest_release),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
