#include "tests/profile/diagnosis/found.h"

static void test_bypassed(void **state)
{
    (void)state;
    struct log_make log = log_start();
    const char *payload = "{\"cache_bypass_reason\": \"Unsupported post grad custom pass\"}";
    log_artifact(&log, "aotautograd_cache_bypass", payload);
    log_artifact(&log, "fx_graph_cache_bypass", payload);
    found_compile(&log, "");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CACHE);
    assert_non_null(f);
    assert_contains(f->cause, "the FX graph cache and the AOTAutograd cache cannot keep a graph");
    assert_contains(f->evidence[1], "1 compile, 1.50 s in the backend");
    assert_int_equal(f->ns, -1); /* this run lost nothing */
    assert_contains(f->remedies[0].text, "CustomGraphPass");
    found_drop(&found);
}

static void test_off(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log, "\"chromium_event\": {}",
            "{\"name\": \"fx_graph_cache_disabled\", \"ph\": \"i\", \"ts\": 5, \"args\": {}}");
    found_compile(&log, ", \"inductor_config\": \"{\\\"fx_graph_cache\\\": false}\"");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CACHE);
    assert_non_null(f);
    assert_contains(f->cause, "torch._inductor.config.fx_graph_cache is False");
    assert_int_equal(f->remedies[0].kind, REMEDY_ENABLE_CACHE);
    found_drop(&found);
}

static void test_forced_off(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_artifact(&log, "fx_graph_cache_disabled", "{}");
    found_compile(&log, ", \"compiler_config\": \"{\\\"force_disable_caches\\\": true}\"");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CACHE);
    assert_non_null(f);
    assert_contains(f->cause, "torch.compiler.config.force_disable_caches is True");
    found_drop(&found);
}

static void test_compiled_twice(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\", \"time_taken_ns\": 700}");
    found_compile(&log, "");
    log.context = LOG_COMPILE(1, 0, 0);
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\", \"time_taken_ns\": 300}");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fxyz\", \"time_taken_ns\": 900}");
    found_compile(&log, "");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CACHE);
    assert_non_null(f);
    assert_int_equal(f->ns, 300);
    assert_contains(f->evidence[0], "compiled 2 times: FX graph cache, key fabc");
    found_drop(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bypassed),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_forced_off),
        cmocka_unit_test(test_compiled_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
