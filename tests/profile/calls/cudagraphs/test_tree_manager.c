#include "profile/calls/cudagraphs/tree_manager.h"
#include "tests/harness.h"

static const char *run_one(struct tree_manager *m, uint32_t function, enum run_mode mode)
{
    struct wrapped_run run = { .function = function, .module = -1, .mode = mode };
    enum run_action action;
    assert_true(tree_manager_run(m, &run, &action));
    return run_action_name(action);
}

static const char *call(struct tree_manager *m, uint32_t function)
{
    tree_manager_call(m);
    return run_one(m, function, MODE_INFERENCE);
}

/* Each function is warmed up, recorded, and replayed. */
static void test_inference(void **state)
{
    (void)state;
    struct tree_manager m = { 0 };
    assert_string_equal(call(&m, 0), "warm-up");
    assert_string_equal(call(&m, 0), "record");
    assert_string_equal(call(&m, 0), "replay");
    /* Outputs of the replay are not alive in the warm-up. */
    uint64_t path = m.path;
    assert_string_equal(call(&m, 1), "warm-up");
    assert_true(m.path != path);
    assert_string_equal(call(&m, 0), "replay");
    assert_string_equal(call(&m, 1), "record");
    assert_string_equal(call(&m, 0), "replay");
    assert_int_equal(m.nodes.n, 2);
    tree_manager_release(&m);
}

/* What follows in a call is recorded behind what came before: another predecessor is another
 * recording, and nothing is recorded in a path that warms up. */
static void test_path(void **state)
{
    (void)state;
    struct tree_manager m = { 0 };
    assert_string_equal(call(&m, 0), "warm-up");
    assert_string_equal(run_one(&m, 1, MODE_INFERENCE), "warm-up");
    assert_string_equal(call(&m, 0), "record");
    assert_string_equal(run_one(&m, 2, MODE_INFERENCE), "warm-up");
    assert_string_equal(run_one(&m, 1, MODE_INFERENCE), "eager");
    assert_string_equal(call(&m, 0), "replay");
    assert_string_equal(run_one(&m, 1, MODE_INFERENCE), "record");
    assert_string_equal(call(&m, 0), "replay");
    assert_string_equal(run_one(&m, 1, MODE_INFERENCE), "replay");
    assert_string_equal(call(&m, 2), "record");
    assert_string_equal(run_one(&m, 1, MODE_INFERENCE), "record");
    assert_int_equal(m.nodes.n, 4);
    assert_int_equal(m.nodes.v[1].parent, 0);
    assert_int_equal(m.nodes.v[2].parent, NODE_ROOT);
    assert_int_equal(m.nodes.v[3].parent, 2);
    tree_manager_release(&m);
}

/* A backward is recorded behind its forward; a forward without a backward keeps the path. */
static void test_training(void **state)
{
    (void)state;
    static const char *const EXPECTED[] = { "warm-up", "record", "replay", "replay" };
    struct tree_manager m = { 0 };
    for (int i = 0; i < 4; i++) {
        tree_manager_call(&m);
        assert_string_equal(run_one(&m, 0, MODE_FORWARD), EXPECTED[i]);
        assert_string_equal(run_one(&m, 1, MODE_BACKWARD), EXPECTED[i]);
    }
    for (int i = 0; i < 2; i++) {
        tree_manager_call(&m);
        assert_string_equal(run_one(&m, 0, MODE_FORWARD), i ? "record" : "replay");
    }
    assert_int_equal(m.nodes.v[2].parent, 0);
    tree_manager_call(&m);
    tree_manager_pass(&m, MODE_BACKWARD); /* the backward ran without a CUDA graph */
    assert_string_equal(run_one(&m, 0, MODE_FORWARD), "replay");
    tree_manager_release(&m);
}

/* Parameters of other modules are at other addresses. */
static void test_modules(void **state)
{
    (void)state;
    struct tree_manager m = { 0 };
    struct wrapped_run run = { .module = 0 };
    enum run_action action;
    static const int64_t MODULES[] = { 0, 1, 0, 1, 0 };
    static const enum run_action EXPECTED[] = { RUN_WARM_UP, RUN_RECORD, RUN_RECORD, RUN_REPLAY,
                                                RUN_REPLAY };
    for (int i = 0; i < 5; i++) {
        tree_manager_call(&m);
        run.module = MODULES[i];
        assert_true(tree_manager_run(&m, &run, &action));
        assert_int_equal(action, EXPECTED[i]);
    }
    run.mutates = true;
    assert_true(tree_manager_run(&m, &run, &action));
    assert_int_equal(action, RUN_EAGER);
    tree_manager_release(&m);
}

static bool run_some(void *data)
{
    (void)data;
    struct tree_manager m = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < 60; i++) {
        struct wrapped_run run = { .function = i % 20, .module = -1 };
        enum run_action action;
        tree_manager_call(&m);
        ok = tree_manager_run(&m, &run, &action);
        if (ok)
            assert_int_equal(action, i < 20 ? RUN_WARM_UP : i < 40 ? RUN_RECORD : RUN_REPLAY);
    }
    tree_manager_release(&m);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(run_some(NULL));
    check_alloc_failures(run_some, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inference), cmocka_unit_test(test_path),
        cmocka_unit_test(test_training),  cmocka_unit_test(test_modules),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
