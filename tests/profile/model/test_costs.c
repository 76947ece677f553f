/* Costs: what a deep recording tells, and what the replay counts. */
#include "profile/compare/measures.h"
#include "profile/report/report.h"
#include "replay/ops/dispatch/ops.h"
#include "tests/profile/made.h"

#define FRAMES                                                                  \
    "{\"stack\": 0, \"frames\": [[\"/u/zoo/main.py\", 3, \"main\", \"f(x)\"], " \
    "[\"/u/zoo/model.py\", 12, \"forward\", \"x = self.bn(x)\"], "              \
    "[\"/env/site-packages/torch/nn/modules/batchnorm.py\", 194, \"forward\", \"F.bn(\"]]}\n"

static const char DISPATCHES[] = FRAMES
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"depth\": 0, \"stack\": 0, "
    "\"fast\": \"is_contiguous\", \"cache\": \"hit\", \"count\": 3, \"ns\": 90, \"self_ns\": 60}\n"
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.empty.memory_format\", \"depth\": 2, "
    "\"stack\": 0, \"cache\": \"bypass\", \"bypass\": \"b\", \"count\": 2, \"ns\": 500, "
    "\"self_ns\": 500}\n"
    "{\"mode\": \"ProxyTorchDispatchMode\", \"op\": \"aten.add.Tensor\", \"depth\": 0, "
    "\"stack\": -1, \"slow\": \"no contiguity match\", \"raised\": \"E\", \"count\": 1, \"ns\": 7, "
    "\"self_ns\": 5}";

static void put_deep(struct log_make *log)
{
    log->context = LOG_COMPILE(0, 0, 1);
    log_put(log, "\"symtape_dispatches\": {\"dispatches\": 6}", DISPATCHES);
    log_put(log, "\"symtape_costs\": {}",
            "{\"cost\": \"tree_flatten\", \"caller\": \"torch._a\", \"count\": 2, \"ns\": 7, "
            "\"self_ns\": 6}\n"
            "{\"cost\": \"no_dispatch\", \"caller\": \"torch._a\", \"count\": 1, \"ns\": 9, "
            "\"self_ns\": 9}");
    log_put(log, "\"symtape_size_uses\": {}",
            FRAMES "{\"use\": \"__int__\", \"expr\": \"s77\", \"source\": \"L['x'].size()[0]\", "
                   "\"asker\": [\"/t/a.py\", 4, \"view\"], \"stack\": 0, \"count\": 5}\n"
                   "{\"use\": \"guard_bool\", \"expr\": \"s77 > 3\", \"stack\": 0, "
                   "\"asker\": [\"/t/a.py\", 5, \"pad\"], \"count\": 9}\n"
                   "{\"use\": \"__bool__\", \"expr\": \"true\", \"stack\": 0, "
                   "\"asker\": [\"/t/a.py\", 6, \"pad\"], \"count\": 99}");
    log_put(log, "\"symtape_memory\": {}",
            "{\"phase\": \"a\", \"start_ns\": 1, \"end_ns\": 4, \"host_start\": 10, "
            "\"host_end\": 5, \"host_peak\": 30, \"device_start\": null}\n"
            "{\"phase\": \"b\", \"start_ns\": 1, \"end_ns\": 4, \"host_start\": 10, "
            "\"host_end\": 25, \"host_peak\": 40, \"device_start\": 1, \"device_end\": 3, "
            "\"device_peak\": 9}");
    for (int i = 1; i <= 2; i++) { /* sums until then: the second counts */
        char totals[200];
        snprintf(totals, sizeof totals,
                 "\"symtape_totals\": {\"pytorch\": {\"attempt fast\": %d}, "
                 "\"recorded\": {\"attempt fast\": %d}, \"agree\": true}",
                 3 * i, 3 * i);
        log_put(log, totals, NULL);
    }
    log->context = "\"rank\": 0";
    log_put(log,
            "\"symtape_deep\": {\"version\": 1, \"level\": \"all\", \"wrapped\": 9, "
            "\"not_wrapped\": [], \"lost\": 0, \"overhead_ns\": 77, \"ended\": true}",
            NULL);
}

static struct made deep_profile(const struct profile_options *options)
{
    struct log_make log = made_log();
    put_deep(&log);
    return made_profile(&log, options);
}

static const struct operator_cost *cost_of(const struct profile *p, const char *op)
{
    for (uint32_t i = 0; i < p->costs.n_operators; i++)
        if (str_is(profile_name(p, p->costs.operators[i].op), op))
            return &p->costs.operators[i];
    fail_msg("no costs of %s", op);
    return NULL;
}

static void test_real(void **state)
{
    (void)state;
    struct made made = deep_profile(NULL);
    const struct profile_costs *costs = &made.profile->costs;
    assert_true(costs->deep);
    assert_false(costs->replayed);
    assert_int_equal(costs->n_operators, 2);
    assert_int_equal(costs->by_mode[DEEP_FAKE_TENSOR_MODE], 5);
    assert_int_equal(costs->self_ns, 565);
    const struct operator_cost *empty = &costs->operators[0]; /* most time first */
    assert_str_is(profile_name(made.profile, empty->op), "aten.empty.memory_format");
    assert_int_equal(empty->bypasses, 2);
    assert_int_equal(operator_cost_depth(empty), 2);
    const struct operator_cost *add = cost_of(made.profile, "aten.add.Tensor");
    assert_int_equal(operator_cost_real(add), 4);
    assert_int_equal(add->by_mode[DEEP_PROXY_MODE], 1);
    assert_int_equal(add->hits, 3);
    assert_int_equal(add->fast, 3);
    assert_int_equal(add->slow, 1);
    assert_int_equal(add->raised, 1);
    assert_int_equal(add->ns, 97);
    assert_int_equal(add->self_ns, 65);
    assert_int_equal(operator_cost_depth(add), 0);
    made_drop(&made);
}

static void test_lines(void **state)
{
    (void)state;
    struct made made = deep_profile(&(struct profile_options){ .replay = true });
    const struct profile_lines *lines = &made.profile->lines;
    assert_int_equal(lines->n_lines, 1); /* the deep stacks name the same line, below torch/ */
    const struct line_cost *cost = &lines->lines[0].cost;
    assert_int_equal(cost->real_dispatches, 5);
    assert_int_equal(cost->real_allocations, 2);
    assert_int_equal(cost->self_ns, 560);
    assert_true(cost->dispatches > 0);
    assert_true(cost->symbolic_tensors > 0);
    made_drop(&made);
}

static void test_deep(void **state)
{
    (void)state;
    struct made made = deep_profile(NULL);
    const struct profile_costs *costs = &made.profile->costs;
    assert_int_equal(costs->n_spots, 2);
    assert_str_is(costs->spots[0].cost, "no_dispatch");
    assert_int_equal(costs->n_uses, 2); /* a number first; "true" is no size */
    assert_true(costs->uses[1].question);
    assert_str_is(costs->uses[0].file, "/u/zoo/model.py");
    assert_int_equal(costs->uses[0].line, 12);
    assert_str_is(costs->uses[0].asker_function, "view");
    assert_int_equal(costs->n_memory, 2);
    assert_str_is(costs->memory[0].phase, "b");
    assert_int_equal(costs->memory[0].host_growth, 15);
    assert_int_equal(costs->memory[0].device_growth, 2);
    assert_int_equal(costs->memory[1].host_growth, -5);
    assert_false(costs->memory[1].has_device);
    assert_int_equal(costs->host_peak, 40);
    assert_int_equal(costs->device_peak, 9);
    assert_int_equal(costs->n_processes, 1);
    assert_int_equal(costs->n_counters, 1);
    assert_str_is(costs->counters[0].label, "attempt fast");
    assert_int_equal(costs->counters[0].pytorch, 6);
    made_drop(&made);
}

static void test_replayed(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, &(struct profile_options){ .replay = true });
    const struct profile_costs *costs = &made.profile->costs;
    assert_false(costs->deep);
    assert_true(costs->replayed);
    const struct operator_cost *add = cost_of(made.profile, "aten.add.Tensor");
    assert_int_equal(operator_cost_real(add), 0);
    assert_true(add->calls >= 4);
    assert_true(costs->dispatches >= add->dispatches);
    assert_true(costs->n_counters > 0);
    assert_false(costs->counters[0].is_real);
    made_drop(&made);
}

/* Counters are of processes: one compile has none. What it has is its own. */
static void test_one_attempt(void **state)
{
    (void)state;
    struct made made = deep_profile(&(struct profile_options){ .compile = STR("0/0_0") });
    assert_int_equal(made.profile->costs.n_counters, 0);
    assert_int_equal(made.profile->costs.n_operators, 0);
    assert_int_equal(made.profile->costs.n_uses, 0);
    made_drop(&made);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(op_allocates(STR("aten.empty_strided.default")));
    assert_true(op_allocates(STR("aten.new_empty.default")));
    assert_false(op_allocates(STR("aten.full.default")));
}

static void holds(const struct buf *text, const char *part)
{
    if (str_find(buf_str(text), str_of(part)) == text->n)
        fail_msg("\"%s\" is not in:\n%.*s", part, STR_ARG(buf_str(text)));
}

static void test_measures(void **state)
{
    (void)state;
    struct made made = deep_profile(NULL);
    struct measures m = { 0 };
    measures_of_profile(made.profile, &m);
    assert_true(m.has[MEASURE_REAL_DISPATCHES] && m.value[MEASURE_REAL_DISPATCHES] == 5);
    assert_true(m.value[MEASURE_REAL_PROXY] == 1);
    assert_true(m.value[MEASURE_REAL_ALLOCATIONS] == 2);
    assert_true(m.value[MEASURE_SIZE_USES] == 5);
    assert_true(m.value[MEASURE_SIZE_QUESTIONS] == 9);
    assert_true(m.value[MEASURE_HOST_PEAK] == 40);
    assert_true(m.value[MEASURE_DEVICE_PEAK] == 9);
    made_drop(&made);
}

static void test_reports(void **state)
{
    (void)state;
    struct made made = deep_profile(&(struct profile_options){ .replay = true });
    const struct report_options how = { 0 };
    struct buf text = BUF_INIT;
    report_text(made.profile, &how, &text);
    holds(&text, "\nLevels: from Dynamo's calls to dispatches");
    holds(&text, "60.0 ms for each ATen call; the rule of thumb of 2023 was 20 ms.");
    holds(&text, "\nCosts of operators, as recorded");
    holds(&text, "\nTensors made by line (symbolic:");
    holds(&text, "6         6  ");
    holds(&text, "no_dispatch   torch._a");
    holds(&text, "Recording took 77 ns.");
    holds(
        &text,
        "\n  * 5 dispatches of FakeTensorMode in all attempts, as recorded; 88 % of the 565 ns in "
        "dispatches is that of "
        "aten.empty.memory_format\n");
    holds(&text, "\nQuestions that Python asked of sizes\n");
    holds(&text, "__int__  s77   L['x'].size()[0]  t/a.py:4  zoo/model.py:12  x = self.bn(x)");
    holds(&text, "+15 B");
    holds(&text, "+2 B");
    buf_clear(&text);
    report_json(made.profile, &how, &text);
    holds(&text, "\"real\":{\"fake_mode\":3,\"fake_tensor\":0,\"proxy\":1,\"by_depth\":[3]");
    holds(&text, "{\"label\":\"attempt fast\",\"pytorch\":6,\"recorded\":6");
    holds(&text, "\"device_growth\":null,\"device_peak\":null");
    assert_false(text.failed);
    buf_release(&text);
    made_drop(&made);
}

static bool build_once(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = arg;
    struct profile *profile =
        profile_build(&trace, 1, &(struct profile_options){ .replay = true }, &err);
    bool ok = profile != NULL;
    profile_free(profile);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    put_deep(&log);
    struct trace *trace = log_open(&log);
    check_alloc_failures(build_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_deep),        cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_one_attempt), cmocka_unit_test(test_names),
        cmocka_unit_test(test_measures),    cmocka_unit_test(test_reports),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
