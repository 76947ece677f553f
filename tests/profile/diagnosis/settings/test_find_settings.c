#include "tests/profile/diagnosis/found.h"

#define INDUCTOR(setting) ", \"inductor_config\": \"{" setting "}\""
#define DYNAMO(setting)   ", \"dynamo_config\": \"{" setting "}\""
#define RELU_BUG          "\\\"cpp.inject_relu_bug_TESTING_ONLY\\\": "

static void test_defaults(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(
        &log, INDUCTOR(RELU_BUG "null, \\\"test_configs.max_mm_configs\\\": null, "
                                "\\\"test_configs.assume_bucketing_reduces_latency\\\": "
                                "true, \\\"unknown\\\": 5")
                  DYNAMO("\\\"recompile_limit\\\": 8, \\\"fake_tensor_cache_enabled\\\": true"));
    struct found found = found_in(&log);
    assert_int_equal(found.diagnosis->n_findings, 0);
    found_drop(&found);
}

static void test_fault(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log,
                  INDUCTOR(RELU_BUG "\\\"accuracy\\\"") DYNAMO("\\\"new_TESTING_ONLY\\\": 3"));
    struct found found = found_in(&log);
    assert_int_equal(found.diagnosis->n_findings, 2);
    const struct finding *f = &found.diagnosis->findings[1];
    assert_int_equal(f->kind, FINDING_FAULT);
    assert_false(f->ended_program);
    assert_contains(f->cause, "cpp.inject_relu_bug_TESTING_ONLY is 'accuracy'");
    assert_contains(f->cause, "wrong C++ code for relu");
    assert_int_equal(f->remedies[0].kind, REMEDY_CHANGE_SETTING);
    assert_contains(found.diagnosis->findings[0].cause, "new_TESTING_ONLY is 3");
    found_drop(&found);
}

static void test_fault_that_failed(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(
        &log,
        INDUCTOR(
            RELU_BUG
            "\\\"compile_error\\\"") ", \"fail_type\": "
                                     "\"InductorError\", \"fail_reason\": \"CppCompileError: C++ compile "
                                     "error\\nx\", \"fail_user_frame_filename\": \"/u/m.py\", "
                                     "\"fail_user_frame_lineno\": 7");
    struct found found = found_in(&log);
    const struct finding *f = &found.diagnosis->findings[0];
    assert_int_equal(f->kind, FINDING_FAULT);
    assert_true(f->ended_program);
    assert_int_equal(f->line, 7);
    assert_contains(f->evidence[0], "InductorError: CppCompileError");
    found_drop(&found);
}

/* A setting matters only if what it causes happened. */
static void test_conditions(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, DYNAMO("\\\"recompile_limit\\\": 2, \\\"suppress_errors\\\": true, "
                               "\\\"automatic_dynamic_shapes\\\": false"));
    struct found found = found_in(&log);
    assert_int_equal(found.diagnosis->n_findings, 0);
    found_drop(&found);
}

static void test_sizes(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, "");
    log.context = LOG_COMPILE(0, 1, 0);
    log_artifact(&log, "recompile_reasons",
                 "[\"0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4\"]");
    found_compile(&log, DYNAMO("\\\"automatic_dynamic_shapes\\\": false"));
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CONFIGURATION);
    assert_non_null(f);
    assert_contains(f->cause, "torch._dynamo.config.automatic_dynamic_shapes is False");
    assert_contains(f->evidence[0], "recompiles: 1");
    assert_int_equal(f->ns, -1); /* the recompile itself has the time */
    found_drop(&found);
}

static void test_hidden(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, DYNAMO("\\\"suppress_errors\\\": true") ", \"fail_type\": \"ValueError\", "
                                                                "\"fail_reason\": \"no\"");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CONFIGURATION);
    assert_non_null(f);
    assert_contains(f->cause, "suppress_errors is True");
    found_drop(&found);
}

static void test_limit(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(
        &log,
        DYNAMO(
            "\\\"recompile_limit\\\": 2") ", \"fail_type\": \"Unsupported\", "
                                          "\"fail_reason\": \"Dynamo recompile limit exceeded\"");
    log.context = LOG_COMPILE(1, 0, 0);
    found_compile(&log, DYNAMO("\\\"recompile_limit\\\": 20"));
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CONFIGURATION);
    assert_non_null(f);
    assert_contains(f->cause, "recompile_limit is 2 (the default is 8)");
    found_drop(&found);
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(
        &log,
        INDUCTOR(RELU_BUG "\\\"accuracy\\\"") ", \"cudagraph_skip_reason\": "
                                              "\"skipping cudagraphs due to mutated inputs\"");
    log_artifact(&log, "fx_graph_cache_bypass", "{\"cache_bypass_reason\": \"No shape env\"}");
    struct found found = found_in(&log);
    check_alloc_failures(diagnose_once, found.made.profile);
    found_drop(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_fault_that_failed),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
