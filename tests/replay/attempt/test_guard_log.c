/* Kernel guards of recordings: every one that PyTorch asked for, and no other. */
#include "replay/attempt/guard_log.h"
#include "replay/replay.h"
#include "tests/harness.h"

static struct replay_guard_counts counts_of(const char *name)
{
    struct err err = ERR_INIT;
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    options.jobs = 2;
    struct trace *trace = trace_open(shared_path(name), NULL, &err);
    struct replay *replay = trace ? replay_trace(trace, &options, &err) : NULL;
    assert_no_err(&err);
    assert_true(replay_all_match(replay));
    struct replay_guard_counts ret = replay->guard_counts;
    replay_free(replay);
    trace_close(trace);
    return ret;
}

static void assert_kernel(const char *name, uint64_t reproduced, uint64_t invisible)
{
    struct replay_guard_counts n = counts_of(name);
    assert_int_equal(n.extra, 0);
    assert_int_equal(n.missing, 0);
    assert_int_equal(n.reproduced, reproduced);
    assert_int_equal(n.invisible, invisible);
}

static void test_models(void **state)
{
    (void)state;
    assert_kernel("traces/resnet18.eval.aot_eager.log.zst", 36, 0);
    assert_kernel("traces/unet.train.inductor.log.zst", 52, 0);
    assert_kernel("traces/gpt2.train.inductor.log.zst", 5, 0);
    assert_kernel("variety/sorting.log.zst", 8, 0);
}

/* Which of several Mods PyTorch looked at only the record tells: of 0/0 and 0/1 the inner one. */
static void test_order_of_a_set(void **state)
{
    (void)state;
    assert_kernel("failures/mod_guard.log.zst", 237, 0);
}

/* Jagged inputs are put together from their parts, which asks before any node does. */
static void test_jagged_inputs(void **state)
{
    (void)state;
    assert_kernel("variety/nested_jagged.log.zst", 10, 2);
}

/* Floats of modules, in the attempt that found them needed and in the one restarted with constants:
 * all that torch.nn.functional asks of them is computed. */
static void test_torch_functions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t recorded, computed;
    } rows[] = {
        { "traces/resnet18.eval.aot_eager.log.zst", 170, 170 },
        { "traces/bert.eval.aot_eager.log.zst", 235, 235 },
        { "traces/t5.train.aot_eager.log.zst", 344, 344 },
        { "traces/hrnet_w18.train.aot_eager.log.zst", 2144, 2144 },
        { "failures/mod_guard.log.zst", 312, 307 },
        /* Restarted attempts that printed no graph: those of other attempts are walked. */
        { "traces/maskrcnn.eval.aot_eager.log.zst", 2477, 1795 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct replay_guard_counts n = counts_of(rows[i].name);
        assert_int_equal(n.recorded, rows[i].recorded);
        assert_int_equal(n.computed, rows[i].computed);
    }
}

/* Each graph may concede; what was conceded before is not evaluated again. */
static void test_conceded_once(void **state)
{
    (void)state;
    enum { SIZES = 50 };
    struct guard guards[SIZES];
    char texts[SIZES][32], sources[SIZES][32];
    struct err err = ERR_INIT;
    struct shape_env *env = shape_env_new(NULL, &err);
    assert_non_null(env);
    for (int i = 0; i < SIZES; i++) {
        snprintf(sources[i], sizeof sources[i], "L['x%d'].size()[0]", i);
        sym_id size = env_create_symbol(
            env, &(struct symbol_request){ .value = sym_integer(env_pool(env), 10 + i),
                                           .source = str_of(sources[i]),
                                           .dynamic = DIM_DYNAMIC,
                                           .positive = true });
        struct str name = sym_name(env_pool(env), size);
        snprintf(texts[i], sizeof texts[i], "Eq(%.*s, %d)", STR_ARG(name), 10 + i);
        guards[i] = (struct guard){ .record = (uint32_t)i,
                                    .expr = str_of(texts[i]),
                                    .kind = GUARD_EVAL,
                                    .asked_by = GUARD_BY_KERNEL };
    }
    struct guard_list list = { .guards = guards, .n = SIZES };
    struct guard_log log;
    assert_true(guard_log_init(&log, &list, 0, 0, UINT32_MAX, env, sym_by_name, NULL));
    assert_true(guard_log_concede(&log, 20));
    assert_int_equal(env_n_replacements(env), 20);
    uint64_t evaluations = env_counts(env).evaluations;
    for (int i = 0; i < 10; i++)
        assert_true(guard_log_concede(&log, 20));
    assert_int_equal(env_counts(env).evaluations, evaluations);
    assert_true(guard_log_concede(&log, SIZES));
    assert_int_equal(env_n_replacements(env), SIZES);
    assert_int_equal(log.entries.v[0].status, GUARD_STATUS_PENDING);
    guard_log_release(&log);
    shape_env_free(env);
}

int main(void)
{
    require_shared();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),          cmocka_unit_test(test_order_of_a_set),
        cmocka_unit_test(test_jagged_inputs),   cmocka_unit_test(test_conceded_once),
        cmocka_unit_test(test_torch_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
