/* PyTorch's time in dispatches: measured, and estimated for other counts. */
#include "profile/model/cost_model/cost_operators.h"
#include "profile/model/dispatch_times.h"
#include "tests/harness.h"

static const struct deep_dispatch DISPATCHES[] = {
    { .op = { "aten.add.Tensor", 15 }, .cache = DEEP_CACHE_HIT, .count = 4, .self_ns = 40 },
    { .op = { "aten.add.Tensor", 15 },
      .cache = DEEP_CACHE_MISS,
      .fast = { "is_contiguous", 13 },
      .count = 2,
      .self_ns = 200 },
    { .op = { "aten.add.Tensor", 15 },
      .cache = DEEP_CACHE_MISS,
      .slow = { "error", 5 },
      .count = 1,
      .self_ns = 300 },
    { .op = { "prims.add.default", 17 },
      .cache = DEEP_CACHE_MISS,
      .depth = 1,
      .count = 1,
      .self_ns = 50 },
    { .op = { "prim.device.default", 19 }, .count = 10, .self_ns = 10 },
    { .mode = DEEP_PROXY_MODE, .op = { "aten.add.Tensor", 15 }, .count = 2, .self_ns = 60 },
    { .mode = DEEP_FAKE_TENSOR, .op = { "aten.view.default", 17 }, .count = 1, .self_ns = 7 },
    /* Of an attempt whose graphs were not replayed. */
    { .attempt = 1, .op = { "aten.add.Tensor", 15 }, .count = 9, .self_ns = 9000 },
};
static const struct deep_cost COSTS[] = {
    { .cost = { "no_dispatch", 11 }, .self_ns = 5 },
    { .cost = { "device", 6 }, .self_ns = 3 },
    { .attempt = 1, .cost = { "device", 6 }, .self_ns = 300 },
};
/* With what the cache takes. */
static const struct deep_cost CACHE_COSTS[] = {
    { .cost = { "_cache_key", 10 }, .count = 4, .ns = 8 },
    { .cost = { "_make_cache_entry", 17 }, .count = 2, .ns = 10, .self_ns = 1 },
};
static const struct deep_process EXCLUSIVE = { .exclusive_costs = true }, OLD = { .ended = true };

static struct deep deep_of(const struct deep_process *process)
{
    return (struct deep){ .processes = process,
                          .n_processes = 1,
                          .dispatches = DISPATCHES,
                          .n_dispatches = sizeof DISPATCHES / sizeof *DISPATCHES,
                          .costs = COSTS,
                          .n_costs = sizeof COSTS / sizeof *COSTS };
}

static struct dispatch_times *times_from(const struct deep *deep, struct err *err)
{
    static struct graph_ref ref = { .attempt = 0 };
    static struct replay_graph graph = { .ref = 0 };
    struct replay replay = { .graphs = &graph, .n_graphs = 1 };
    struct graph_list list = { .refs = &ref };
    return dispatch_times_new(deep, 0, &replay, &list, err);
}

static struct dispatch_times *times_of(const struct deep_process *process, struct err *err)
{
    struct deep deep = deep_of(process);
    return times_from(&deep, err);
}

static void test_measured(void **state)
{
    struct err err = ERR_INIT;
    struct dispatch_times *t = times_of(&EXCLUSIVE, &err);
    (void)state;
    assert_no_err(&err);
    assert_true(t->measured_ns == 667);
    assert_true(t->no_dispatch_ns == 5 && t->device_ns == 3);
    assert_true(dispatch_time_mean(t, STR("aten.add.Tensor"), PATH_HIT) == 10);
    assert_true(dispatch_time_mean(t, STR("aten.add.Tensor"), PATH_FAST) == 100);
    assert_true(dispatch_time_mean(t, STR("aten.add.Tensor"), PATH_PROXY) == 30);
    /* Of an operator, or of a path, that the recording has not. */
    assert_true(dispatch_time_mean(t, STR("aten.mul.Tensor"), PATH_HIT) == 10);
    assert_true(dispatch_time_mean(t, STR("aten.mul.Tensor"), PATH_COMPUTED) == 50);
    assert_true(dispatch_time_mean(t, STR("aten.add.Tensor"), PATH_BYPASS) == 50);
    /* In other recordings such dispatches of the operator took more than those of all. */
    t->release = 213;
    double factor = cost_operator_factor(213, STR("aten.expand.default"), PATH_HIT);
    assert_true(factor > 1);
    assert_true(dispatch_time_mean(t, STR("aten.expand.default"), PATH_HIT) == 10 * factor);
    /* Of the nearest release alone: 2.11 has such a row, and 2.13 has none. */
    assert_true(cost_operator_factor(211, STR("aten.sum.dim_IntList"), PATH_COMPUTED) < 1);
    assert_true(cost_operator_factor(215, STR("aten.sum.dim_IntList"), PATH_COMPUTED) == 1);
    assert_true(cost_operator_factor(213, STR("no.such.operator"), PATH_HIT) == 1);
    dispatch_times_free(t);
    t = times_of(&OLD, &err); /* times of costs include what they call */
    assert_true(t->no_dispatch_ns == 0 && t->device_ns == 0);
    dispatch_times_free(t);
    dispatch_times_free(NULL);
}

static void test_estimated(void **state)
{
    struct err err = ERR_INIT;
    struct dispatch_times *t = times_of(&EXCLUSIVE, &err);
    struct pass_operator row = { .pass = PASS_TRACE,
                                 .op = STR("aten.add.Tensor"),
                                 .paths = { .dispatches = 8,
                                            .proxy = 2,
                                            .hits = 4,
                                            .misses = 3,
                                            .attempts = 3,
                                            .answers = 2 } };
    struct replay replay = { .pass_operators = &row, .n_pass_operators = 1 };
    replay.passes[PASS_TRACE] =
        (struct pass_counts){ .fake_mode = 18, .proxy = 2, .fake_tensor = 1, .devices = 10 };
    (void)state;
    assert_no_err(&err);
    /* 4 hits, 2 fast, 1 slow, 1 nested, 10 devices, 2 proxy, 1 FakeTensor: what was measured. */
    assert_true(dispatch_times_of(t, &replay) == t->measured_ns);
    row.paths.answers = 0; /* always slow */
    assert_true(dispatch_times_of(t, &replay) == t->measured_ns + 2 * 200);
    dispatch_times_free(t);
}

/* Two operators have keys, and those of one take longer. */
static const struct deep_cost OWN_COSTS[] = {
    { .cost = { "_cache_key", 10 }, .op = { "aten.add.Tensor", 15 }, .count = 90, .ns = 900 },
    { .cost = { "_cache_key", 10 }, .op = { "aten.mul.Tensor", 15 }, .count = 90, .ns = 90 },
};

/* Without the cache, calls that it did not have, and those within them, need no key and no entry;
 * those that it had take as long as a hit without its key. */
static void test_look_ups(void **state)
{
    struct err err = ERR_INIT;
    struct deep deep = deep_of(&EXCLUSIVE);
    deep.costs = CACHE_COSTS;
    deep.n_costs = sizeof CACHE_COSTS / sizeof *CACHE_COSTS;
    struct dispatch_times *t = times_from(&deep, &err);
    struct pass_operator missed = { .pass = PASS_TRACE,
                                    .op = STR("aten.mul.Tensor"),
                                    .paths = { .dispatches = 4, .misses = 3, .step_misses = 1 } };
    struct pass_operator off = { .pass = PASS_TRACE,
                                 .op = STR("aten.mul.Tensor"),
                                 .paths = { .dispatches = 4, .uncached = 3 } };
    struct replay from = { .pass_operators = &missed, .n_pass_operators = 1 };
    struct replay to = { .pass_operators = &off, .n_pass_operators = 1 };
    from.passes[PASS_TRACE] = to.passes[PASS_TRACE] = (struct pass_counts){ .fake_mode = 4 };
    (void)state;
    assert_no_err(&err);
    assert_true(t->key.count == 4 && t->key.ns == 8 && t->entry.ns == 10);
    /* A computed dispatch takes 50 with its key and entry, which take 2 and 5. */
    assert_true(dispatch_times_of(t, &from) == 4 * 50);
    assert_true(dispatch_times_saved(t, &from, &to).ns == 4 * 7);
    missed.paths.misses = 1; /* the cache had two of the three, in 10 each */
    missed.paths.hits = 2;
    assert_true(dispatch_times_saved(t, &from, &to).ns == 2 * 7 + 2 * 2);
    missed.paths.hits = 0; /* two went by the cache all the same, of which there are no times */
    missed.paths.bypasses = 2;
    assert_true(dispatch_times_saved(t, &from, &to).ns == 2 * 7 + 2 * 2);
    missed.paths.bypasses = 0;
    /* What one pass computed the next one had, if it asked at all. */
    const struct pass_paths once = { .dispatches = 1, .uncached = 1 };
    struct pass_operator passes[] = { { .pass = PASS_DYNAMO, .op = off.op, .paths = once },
                                      { .pass = PASS_TRACE, .op = off.op, .paths = once } };
    missed.pass = PASS_DYNAMO;
    missed.paths = (struct pass_paths){ .dispatches = 1, .misses = 1 };
    struct replay both = { .pass_operators = passes, .n_pass_operators = 2 };
    from.passes[PASS_TRACE].fake_mode = 1;
    both.passes[PASS_TRACE].fake_mode = 2;
    assert_true(dispatch_times_saved(t, &from, &both).ns == 7 - (10 - 2));
    /* What the fast path computed comes first without it, too, and it asks most of what that asked.
     */
    passes[1].paths.attempts = passes[1].paths.answers = 0;
    missed.pass = PASS_TRACE;
    missed.paths = (struct pass_paths){ .dispatches = 1, .misses = 1, .attempts = 1, .answers = 1 };
    both.pass_operators = &passes[1];
    both.n_pass_operators = 1;
    both.passes[PASS_TRACE].fake_mode = 1;
    double fast = dispatch_time_mean(t, off.op, PATH_FAST);
    assert_true(dispatch_times_saved(t, &from, &both).ns == fast - (50 - 7) - (0.8 * fast - 50));
    /* An operator that only the ablation has was not in the cache. */
    from.n_pass_operators = 0;
    from.passes[PASS_TRACE].fake_mode = 0;
    assert_true(dispatch_times_saved(t, &from, &to).ns == -4 * (50 - 7));
    dispatch_times_free(t);
}

static void test_look_ups_by_operator(void **state)
{
    struct err err = ERR_INIT;
    struct deep deep = deep_of(&EXCLUSIVE);
    deep.costs = OWN_COSTS;
    deep.n_costs = sizeof OWN_COSTS / sizeof *OWN_COSTS;
    struct dispatch_times *t = times_from(&deep, &err);
    struct pass_operator before[] = {
        { .op = STR("aten.add.Tensor"), .paths = { .dispatches = 1, .misses = 1 } },
        { .op = STR("aten.mul.Tensor"), .paths = { .dispatches = 1, .misses = 1 } },
    };
    struct pass_operator after[] = {
        { .op = STR("aten.add.Tensor"), .paths = { .dispatches = 1, .uncached = 1 } },
        { .op = STR("aten.mul.Tensor"), .paths = { .dispatches = 1, .uncached = 1 } },
    };
    double saved[2];
    (void)state;
    assert_no_err(&err);
    for (int i = 0; i < 2; i++) {
        struct replay from = { .pass_operators = &before[i], .n_pass_operators = 1 };
        struct replay to = { .pass_operators = &after[i], .n_pass_operators = 1 };
        saved[i] = dispatch_times_saved(t, &from, &to).ns;
    }
    assert_true(saved[0] > 9 && saved[0] < 10 && saved[1] > 1 && saved[1] < 2);
    /* What the cache had takes what is left of the 50 of a computed one, not 10. */
    before[1].paths = (struct pass_paths){ .dispatches = 1, .hits = 1 };
    struct replay from = { .pass_operators = &before[1], .n_pass_operators = 1 };
    struct replay to = { .pass_operators = &after[1], .n_pass_operators = 1 };
    double more = -dispatch_times_saved(t, &from, &to).ns;
    assert_true(more > 38 && more < 39);
    dispatch_times_free(t);
}

static void test_saved(void **state)
{
    struct err err = ERR_INIT;
    int measured = 0;
    struct dispatch_times *t = dispatch_times_shipped(213, &measured, &err);
    struct pass_operator hits = { .pass = PASS_TRACE,
                                  .op = STR("aten.add.Tensor"),
                                  .paths = { .dispatches = 10, .hits = 10 } };
    struct pass_operator misses = hits;
    struct replay from = { .pass_operators = &hits, .n_pass_operators = 1 };
    struct replay to = { .pass_operators = &misses, .n_pass_operators = 1 };
    (void)state;
    assert_no_err(&err);
    assert_int_equal(measured, 213);
    misses.paths.hits = 4;
    misses.paths.misses = 6;
    struct saved_time saved = dispatch_times_saved(t, &from, &to),
                      back = dispatch_times_saved(t, &to, &from);
    assert_true(saved.ns < 0 && saved.low_ns <= saved.ns && saved.ns <= saved.high_ns);
    assert_true(back.low_ns == -saved.high_ns && back.high_ns == -saved.low_ns);
    assert_true(dispatch_times_saved(t, &from, &from).high_ns == 0);
    dispatch_times_free(t);
}

static bool make_times(void *arg)
{
    struct err err = ERR_INIT;
    struct dispatch_times *t = times_of(&EXCLUSIVE, &err);
    bool ret = t != NULL;
    (void)arg;
    dispatch_times_free(t);
    return ret;
}

static void test_failures(void **state)
{
    (void)state;
    check_alloc_failures(make_times, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured), cmocka_unit_test(test_estimated),
        cmocka_unit_test(test_look_ups), cmocka_unit_test(test_look_ups_by_operator),
        cmocka_unit_test(test_saved),    cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
