#include "profile/model/profile.h"
#include "tests/harness.h"

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(phase_part_of(STR("bytecode_tracing")), PHASE_DYNAMO);
    assert_int_equal(phase_part_of(STR("compile_attempt_17")), PHASE_DYNAMO);
    assert_int_equal(phase_part_of(STR("pass.post_grad_passes.stable_sort")), PHASE_INDUCTOR);
    assert_int_equal(phase_part_of(STR("CachingAutotuner.benchmark_all_configs")),
                     PHASE_AUTOTUNING);
    assert_int_equal(phase_part_of(STR("fx_graph_cache_hit")), PHASE_CACHES);
    assert_int_equal(phase_part_of(STR("aoti_compile_fatbin")), PHASE_CODEGEN);
    assert_int_equal(phase_part_of(STR("dynamo_and_more")), PHASE_OTHER); /* a whole name */
    assert_int_equal(phase_part_of(STR("")), PHASE_OTHER);
    assert_true(phase_is_backend(STR("GraphLowering.run")));
    assert_false(phase_is_backend(STR("aot_trace_joint_graph")));
    assert_false(phase_is_backend(STR("somebody's phase")));
    assert_true(*phase_meaning(STR("build_guards")) != '\0');
    assert_string_equal(phase_meaning(STR("somebody's phase")), "");
    for (int i = 0; i < PHASE_PARTS; i++)
        assert_non_null(phase_part_title((enum phase_part)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
