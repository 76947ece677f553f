#include "tests/profile/diagnosis/found.h"

/* A compile that took 6 s, as its metrics say. */
static void put_compile(struct log_make *log)
{
    log_put(log, "\"dynamo_start\": {\"stack\": []}", NULL);
    log_put(log, "\"dynamo_output_graph\": {}", MADE_DYNAMO);
    log_put(log,
            "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/u/m.py\", "
            "\"co_firstlineno\": 3, \"entire_frame_compile_time_s\": 6.0}",
            NULL);
}

/* A compile of 6 s, 4 s of them in code generation, and whatever the caches answered. */
static struct log_make slow_log(void)
{
    struct log_make log = log_start();
    log.context = LOG_COMPILE(0, 0, 0);
    log_phase(&log, 'B', "dynamo", "1000000", "");
    log_phase(&log, 'B', "code_gen", "2000000", "");
    log_phase(&log, 'E', "code_gen", "6000000", "");
    log_phase(&log, 'E', "dynamo", "7000000", "");
    put_compile(&log);
    return log;
}

/* Returns what a log's slow part is; the log has one. */
static const struct finding *slow_part(struct found *found, struct log_make *log)
{
    *found = found_in(log);
    const struct finding *f = found_one(found, FINDING_COST);
    assert_non_null(f);
    assert_contains(f->cause, "generating and compiling kernels took ");
    return f;
}

/* The time of a backward that is compiled at its first run is in no compile, so the share of the
 * compile time is without it. */
static void test_later_backward(void **state)
{
    (void)state;
    struct found found;
    struct log_make log = slow_log();
    const struct finding *f = slow_part(&found, &log);
    assert_int_equal(f->ns, 4000000000);
    assert_int_equal(f->n_evidence, 0);
    found_drop(&found);

    log = slow_log();
    log_phase(&log, 'B', "entire_backward_compile", "8000000", "");
    log_phase(&log, 'B', "code_gen", "8000000", "");
    log_phase(&log, 'E', "code_gen", "14000000", "");
    log_phase(&log, 'E', "entire_backward_compile", "14000000", "");
    f = slow_part(&found, &log);
    assert_int_equal(found.made.profile->compile_ns, 6000000000);
    assert_int_equal(f->ns, 4000000000);
    assert_contains(f->cause, "83 % of all phases"); /* 10 of 12 s */
    assert_contains(f->evidence[0], "6.00 s more ran outside of these compiles");
    found_drop(&found);
}

/* Without phases of whole compiles, all but such backwards are inside; and no share is above 1,
 * although metrics and phases contradict each other. */
static void test_phases_alone(void **state)
{
    (void)state;
    struct found found;
    struct log_make log = log_start();
    log.context = LOG_COMPILE(0, 0, 0);
    log_phase(&log, 'B', "code_gen", "2000000", "");
    log_phase(&log, 'E', "code_gen", "9000000", "");
    log_phase(&log, 'B', "entire_backward_compile", "9000000", "");
    log_phase(&log, 'B', "code_gen", "9000000", "");
    log_phase(&log, 'E', "code_gen", "10000000", "");
    log_phase(&log, 'E', "entire_backward_compile", "10000000", "");
    put_compile(&log);
    const struct finding *f = slow_part(&found, &log);
    assert_int_equal(found.made.profile->phases.inside_ns[PHASE_CODEGEN], 7000000000);
    assert_int_equal(f->ns, 6000000000);
    found_drop(&found);
}

/* A warm cache is suggested where none was; where one was, what asks for its misses. */
static void test_warm(void **state)
{
    (void)state;
    static const char KEEP[] = "keep TORCHINDUCTOR_CACHE_DIR between runs", WHY[] = "COLD WARM";
    struct found found;
    struct log_make log = slow_log();
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\"}");
    log_artifact(&log, "fx_graph_cache_hit", "{\"key\": \"fabc\"}"); /* what this run compiled */
    const struct finding *f = slow_part(&found, &log);
    assert_contains(f->remedies[0].text, KEEP);
    found_drop(&found);

    log = slow_log();
    log_artifact(&log, "fx_graph_cache_hit", "{\"key\": \"fxyz\"}");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\"}");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fdef\"}");
    f = slow_part(&found, &log);
    assert_contains(f->evidence[0], "FX graph cache: 1 of 3 graphs were there, 1 from an earlier");
    assert_int_equal(f->n_remedies, 1);
    assert_contains(f->remedies[0].text, WHY);
    found_drop(&found);

    /* AOTAutograd's cache is asked before. */
    log = slow_log();
    log_artifact(&log, "autograd_cache_hit", "{\"key\": \"aabc\"}");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\"}");
    log_artifact(&log, "fx_graph_cache_hit", "{\"key\": \"fabd\"}");
    f = slow_part(&found, &log);
    assert_contains(f->evidence[0], "AOTAutograd cache: 1 of 1 graphs were there");
    assert_int_equal(f->n_remedies, 0);
    found_drop(&found);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct log_make log = slow_log();
    log_artifact(&log, "fx_graph_cache_hit", "{\"key\": \"fxyz\"}");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"fabc\"}");
    struct made made = made_profile(&log, NULL);
    check_alloc_failures(diagnose_once, made.profile);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_backward),
        cmocka_unit_test(test_phases_alone),
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
