#include "tests/log_make.h"
#include "trace/events/caches.h"

static struct cache_list *read_made(struct log_make *log, struct trace **trace)
{
    struct err err = ERR_INIT;
    *trace = log_open(log);
    struct cache_list *list = caches_read(*trace, NULL, &err);
    assert_no_err(&err);
    assert_non_null(list);
    return list;
}

static void test_artifacts(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(&log, "fx_graph_cache_miss",
                 "{\"key\": \"fk\", \"cache_state\": \"miss\", \"time_taken_ns\": 1901568756, "
                 "\"cache_status_detailed\": \"full_miss\", \"components\": [\"c\"]}");
    log_artifact(&log, "aotautograd_cache_bypass",
                 "{\"cache_bypass_reason\": \"FX graph cache is not enabled\", "
                 "\"cache_bypass_exception_type\": \"BypassAOTAutogradCache\", \"key\": null}");
    log_artifact(&log, "fx_graph_cache_hit", "{\"key\": \"fk\", \"time_saved_ns\": 7}");
    log_artifact(&log, "precompile_cache_bypass", "no JSON\nsecond line");
    log_artifact(&log, "get_local_code_state", "anything");
    log_artifact(&log, "put_local_code_state", "anything");
    log_artifact(&log, "someones_cache_hit", "{}");
    log_artifact(&log, "min_cut_information", "{}");
    log_artifact(&log, "aotautograd_cache_hit",
                 "{\"key\": \"ak\", \"time_saved_ms\": 7169.0, \"forward_time_saved_ms\": 3447.0}");
    struct cache_list *list = read_made(&log, &trace);
    assert_int_equal(list->n, 8);
    assert_int_equal(list->events[7].taken_ns, 7169000000);
    assert_int_equal(list->events[0].kind, CACHE_FX_GRAPH);
    assert_int_equal(list->events[0].state, CACHE_MISS);
    assert_str_is(list->events[0].key, "fk");
    assert_str_is(list->events[0].detail, "full_miss");
    assert_int_equal(list->events[0].taken_ns, 1901568756);
    assert_str_is(list->events[1].reason, "FX graph cache is not enabled");
    assert_str_is(list->events[1].detail, "BypassAOTAutogradCache");
    assert_int_equal(list->events[1].taken_ns, -1);
    assert_int_equal(list->events[2].taken_ns, 7);
    assert_str_is(list->events[3].reason, "no JSON");
    assert_int_equal(list->counts[CACHE_DYNAMO][CACHE_HIT], 1);
    assert_int_equal(list->counts[CACHE_DYNAMO][CACHE_UNKNOWN], 1);
    assert_int_equal(list->counts[CACHE_OTHER][CACHE_HIT], 1);
    caches_free(list);
    trace_close(trace);
}

/* PyTorch reports a look-up twice; what has no artifact is told by its instant event alone. */
static void test_instant_events(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_phase(&log, 'i', "fx_graph_cache_disabled", "1", "");
    log_phase(&log, 'i', "autograd_cache_bypass", "2", "");
    log_artifact(&log, "aotautograd_cache_bypass", "{\"cache_bypass_reason\": \"why\"}");
    log_phase(&log, 'i', "autograd_cache_bypass", "3", "");
    log.context = LOG_COMPILE(0, 1, 0);
    log_phase(&log, 'i', "autograd_cache_bypass", "4", "");
    log_phase(&log, 'B', "fx_graph_cache_miss", "5", "");
    struct cache_list *list = read_made(&log, &trace);
    assert_int_equal(list->n, 4);
    assert_int_equal(list->counts[CACHE_AOTAUTOGRAD][CACHE_BYPASS], 3);
    assert_int_equal(list->events[0].state, CACHE_DISABLED);
    assert_str_is(list->events[1].reason, "why");
    assert_str_is(list->events[2].name, "autograd_cache_bypass");
    assert_true(list->events[1].record < list->events[2].record);
    caches_free(list);
    trace_close(trace);
}

static void test_kernels(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(
        &log, "triton_kernel_info",
        "{\"b\": {\"autotune_cache_state\": \"miss\", \"compile_time_us\": 108367}, "
        "\"a\": {\"autotune_cache_state\": \"hit\"}, \"c\": {\"autotune_cache_state\": null}}");
    log_artifact(&log, "triton_kernel_info", "broken {");
    log_artifact(&log, "triton_kernel_info", "[1]");
    struct cache_list *list = read_made(&log, &trace);
    assert_int_equal(list->n, 3);
    assert_str_is(list->events[0].name, "a");
    assert_str_is(list->events[1].name, "b");
    assert_int_equal(list->events[1].taken_ns, 108367000);
    assert_int_equal(list->counts[CACHE_TRITON][CACHE_UNKNOWN], 1);
    caches_free(list);
    trace_close(trace);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct cache_list *list = caches_read(arg, NULL, &err);
    bool ok = list != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    caches_free(list);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_artifact(&log, "fx_graph_cache_bypass",
                 "{\"cache_bypass_reason\": \"a\\nb\", \"key\": \"k\"}");
    log_artifact(&log, "precompile_cache_bypass", "text");
    log_artifact(&log, "triton_kernel_info", "{\"a\": {}}");
    log_phase(&log, 'i', "fx_graph_cache_hit", "2", "");
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    trace_close(trace);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < CACHE_KINDS; i++)
        assert_non_null(cache_kind_name((enum cache_kind)i));
    for (int i = 0; i < CACHE_STATES; i++)
        assert_non_null(cache_state_name((enum cache_state)i));
    caches_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_artifacts), cmocka_unit_test(test_instant_events),
        cmocka_unit_test(test_kernels),   cmocka_unit_test(test_memory),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
