#include "tests/log_make.h"
#include "trace/events/deep/deep.h"

static const char *const rows =
    "{\"stack\": 0, \"frames\": [[\"/a/m.py\", 3, \"main\", \"f(x)\"], [\"/a/m.py\", 9, \"f\"]]}\n"
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"depth\": 1, \"stack\": 0, "
    "\"fast\": \"is_contiguous\", \"cache\": \"bypass\", \"bypass\": \"data dependent output\", "
    "\"raised\": null, \"count\": 3, \"ns\": 90, \"self_ns\": 60}\n"
    "this is no row\n"
    "{\"mode\": \"ProxyTorchDispatchMode\", \"op\": \"aten.mul.Tensor\", \"depth\": 0, "
    "\"stack\": -1, \"slow\": \"no contiguity match\", \"raised\": \"ValueError\", \"count\": 1, "
    "\"ns\": 5, \"self_ns\": 5}\n"
    "{\"mode\": \"SomeMode\", \"op\": \"x\", \"stack\": 7}";

static struct deep *read_made(struct log_make *log, struct trace **trace)
{
    struct err err = ERR_INIT;
    *trace = log_open(log);
    struct deep *deep = deep_read(*trace, &err);
    assert_no_err(&err);
    assert_non_null(deep);
    return deep;
}

static void put_all(struct log_make *log)
{
    log_put(log, "\"symtape_dispatches\": {\"dispatches\": 4}", rows);
    log_put(log, "\"symtape_costs\": {}",
            "{\"cost\": \"tree_flatten\", \"caller\": \"torch._x\", \"count\": 2, \"ns\": 7, "
            "\"self_ns\": 6}");
    log_put(log, "\"symtape_size_uses\": {}",
            "{\"stack\": 0, \"frames\": []}\n"
            "{\"use\": \"__int__\", \"expr\": \"s77\", \"source\": \"L['x'].size()[0]\", "
            "\"asker\": [\"/t/a.py\", 4, \"view\"], \"stack\": 0, \"count\": 5}");
    log_put(log, "\"symtape_memory\": {}",
            "{\"phase\": \"backend_compile\", \"start_ns\": 1, \"end_ns\": 4, \"host_start\": 10, "
            "\"host_end\": 20, \"host_peak\": 30, \"device_start\": null}");
    log_put(log,
            "\"symtape_totals\": {\"pytorch\": {\"attempt fast\": 5, \"x\": 1}, "
            "\"recorded\": {\"attempt fast\": 5}, \"agree\": false}",
            NULL);
    log->context = "\"rank\": 0";
    log_put(log,
            "\"symtape_deep\": {\"version\": 1, \"level\": \"all\", \"wrapped\": 9, "
            "\"not_wrapped\": [{\"what\": \"a\", \"why\": \"missing\"}], \"lost\": 2, "
            "\"overhead_ns\": 77, \"ended\": true}",
            NULL);
}

static void test_dispatches(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    put_all(&log);
    struct deep *deep = read_made(&log, &trace);
    assert_int_equal(deep->n_dispatches, 3);
    const struct deep_dispatch *d = deep->dispatches;
    assert_int_equal(d[0].mode, DEEP_FAKE_TENSOR_MODE);
    assert_str_is(d[0].op, "aten.add.Tensor");
    assert_int_equal(d[0].depth, 1);
    assert_int_equal(d[0].attempt, 0);
    assert_str_is(d[0].fast, "is_contiguous");
    assert_int_equal(d[0].cache, DEEP_CACHE_BYPASS);
    assert_str_is(d[0].bypass, "data dependent output");
    assert_str_is(d[0].raised, "");
    assert_int_equal(d[0].count, 3);
    assert_int_equal(d[0].ns, 90);
    assert_int_equal(d[0].self_ns, 60);
    const struct deep_stack *stack = &deep->stacks[d[0].stack];
    assert_int_equal(stack->n_frames, 2);
    assert_str_is(stack->frames[0].code, "f(x)");
    assert_str_is(stack->frames[1].function, "f");
    assert_int_equal(stack->frames[1].line, 9);
    assert_int_equal(d[1].stack, DEEP_NO_STACK);
    assert_str_is(d[1].slow, "no contiguity match");
    assert_int_equal(d[1].cache, DEEP_CACHE_NOT_ASKED);
    assert_str_is(d[1].raised, "ValueError");
    assert_int_equal(d[2].mode, DEEP_OTHER_MODE);
    assert_int_equal(d[2].stack, DEEP_NO_STACK); /* its payload has no stack 7 */
    assert_int_equal(deep->unreadable, 1);
    deep_free(deep);
    trace_close(trace);
}

static void test_the_others(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    put_all(&log);
    struct deep *deep = read_made(&log, &trace);
    assert_int_equal(deep->n_costs, 1);
    assert_str_is(deep->costs[0].caller, "torch._x");
    assert_int_equal(deep->costs[0].self_ns, 6);
    assert_int_equal(deep->n_uses, 1);
    assert_str_is(deep->uses[0].source, "L['x'].size()[0]");
    assert_str_is(deep->uses[0].asker.function, "view");
    assert_int_equal(deep->uses[0].stack, 1); /* stacks are each payload's own */
    assert_int_equal(deep->n_phases, 1);
    assert_int_equal(deep->phases[0].host_peak, 30);
    assert_true(deep->phases[0].device_end == DEEP_NOT_TOLD);
    assert_int_equal(deep->n_totals, 2);
    assert_str_is(deep->totals[0].label, "attempt fast");
    assert_int_equal(deep->totals[0].recorded, 5);
    assert_int_equal(deep->totals[1].recorded, 0);
    assert_int_equal(deep->n_processes, 1);
    assert_true(deep->processes[0].ended);
    assert_int_equal(deep->processes[0].not_wrapped, 1);
    assert_int_equal(deep->processes[0].lost, 2);
    deep_free(deep);
    trace_close(trace);
}

static void test_nothing_deep(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {}", NULL);
    struct deep *deep = read_made(&log, &trace);
    assert_int_equal(deep->n_dispatches + deep->n_processes + deep->n_stacks, 0);
    assert_string_equal(deep_mode_name(DEEP_PROXY_MODE), "ProxyTorchDispatchMode");
    deep_free(deep);
    deep_free(NULL);
    trace_close(trace);
}

static bool read_once(void *trace)
{
    struct err err = ERR_INIT;
    struct deep *deep = deep_read(trace, &err);
    deep_free(deep);
    return deep != NULL;
}

static void test_no_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    put_all(&log);
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatches),
        cmocka_unit_test(test_the_others),
        cmocka_unit_test(test_nothing_deep),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
