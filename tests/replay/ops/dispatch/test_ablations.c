/* Each ablation changes the counts that it is about, and no result. */
#include "replay/ops/dispatch/ablations.h"
#include "replay/replay.h"
#include "tests/harness.h"

static struct trace *trace;

static int open_recording(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    trace = trace_open(source_path("tests/recordings/encoder.log.zst"), NULL, &err);
    return trace ? 0 : -1;
}

static int close_recording(void **state)
{
    (void)state;
    trace_close(trace);
    return 0;
}

static struct replay *replay_with(const struct replay_ablation *ablations, size_t n)
{
    struct err err = ERR_INIT;
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.ablations = ablations;
    how.n_ablations = n;
    how.digests = how.passes = true;
    struct replay *ret = replay_trace(trace, &how, &err);
    assert_no_err(&err);
    assert_non_null(ret);
    return ret;
}

static struct replay *ablated(enum ablation ablation, const char *op)
{
    struct replay_ablation a = { ablation, str_of(op) };
    return replay_with(&a, 1);
}

static size_t n_other_results(const struct replay *a, const struct replay *b)
{
    size_t n = 0;
    assert_int_equal(a->n_digests, b->n_digests);
    for (size_t i = 0; i < a->n_digests; i++)
        n += a->digests[i].hash != b->digests[i].hash;
    return n;
}

static void test_names(void **state)
{
    enum ablation found;
    (void)state;
    for (unsigned i = 0; i < ABLATIONS; i++) {
        assert_true(ablation_by_name(str_of(ablation_row((enum ablation)i)->name), &found));
        assert_int_equal(found, i);
    }
    assert_false(ablation_by_name(STR("fast"), &found));
}

static void test_no_result_changes(void **state)
{
    struct replay *base = replay_with(NULL, 0);
    (void)state;
    assert_true(base->n_digests > 0);
    for (unsigned i = 0; i < ABLATIONS; i++) {
        bool named = ablation_row((enum ablation)i)->operator_ == ONE_OPERATOR;
        struct replay *other = ablated((enum ablation)i, named ? "aten.add" : "");
        assert_int_equal(n_other_results(base, other), 0);
        replay_free(other);
    }
    replay_free(base);
}

static void test_identity(void **state)
{
    struct replay *base = replay_with(NULL, 0), *other = ablated(ABLATION_IDENTITY, "aten.addmm");
    (void)state;
    assert_true(n_other_results(base, other) > 0);
    replay_free(other);
    replay_free(base);
}

/* What ends up with fewer dispatches, and what with more. */
static void test_dispatches(void **state)
{
    static const struct {
        enum ablation ablation;
        const char *op;
        int sign;
    } rows[] = {
        { ABLATION_FAST_PATH, "", 1 },
        { ABLATION_FAST_PATH, "aten.add.Tensor", 1 },
        { ABLATION_ALWAYS_SLOW, "", 1 },
        { ABLATION_RESTORE_MODE, "", 0 },
        { ABLATION_CACHE, "", 1 },
        { ABLATION_CACHED_META, "", -1 },
        { ABLATION_SHORT_CIRCUIT_ALLOC, "", -1 },
        { ABLATION_NO_DISPATCH, "", 0 },
        { ABLATION_DEVICE_PROPERTY, "", -1 },
        { ABLATION_INLINE, "aten.native_layer_norm", -1 },
        { ABLATION_IDENTITY, "aten.addmm", -1 },
        { ABLATION_FREE, "aten.add", -1 },
        { ABLATION_ROOFLINE, "", -1 },
    };
    struct replay *base = replay_with(NULL, 0);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct replay *other = ablated(rows[i].ablation, rows[i].op);
        uint64_t x = other->costs.dispatches, y = base->costs.dispatches;
        if ((x > y) - (x < y) != rows[i].sign)
            fail_msg("%s", ablation_row(rows[i].ablation)->name);
        replay_free(other);
    }
    replay_free(base);
}

static void test_other_counts(void **state)
{
    struct replay *base = replay_with(NULL, 0), *other = ablated(ABLATION_CACHE, "");
    (void)state;
    assert_true(base->costs.hits > 0 && base->costs.misses > 0);
    assert_int_equal(other->costs.hits + other->costs.misses, 0);
    replay_free(other);
    other = ablated(ABLATION_ALWAYS_SLOW, "");
    assert_true(base->costs.fast_answers > 0 && other->costs.fast_attempts > 0);
    assert_int_equal(other->costs.fast_answers, 0);
    replay_free(other);
    other = ablated(ABLATION_RESTORE_MODE, "");
    assert_true(other->costs.fake_tensor > base->costs.fake_tensor);
    replay_free(other);
    other = ablated(ABLATION_FAST_IF_SYMBOLIC, "");
    assert_true(other->costs.fast_attempts > base->costs.fast_attempts);
    replay_free(other);
    other = ablated(ABLATION_FREE, "aten.add");
    assert_true(other->costs.proxy < base->costs.proxy);
    replay_free(other);
    replay_free(base);
}

/* Several at once: no fast path is attempted, and nothing is looked up. */
static void test_combined(void **state)
{
    static const struct replay_ablation both[] = { { .ablation = ABLATION_CACHE },
                                                   { .ablation = ABLATION_FAST_PATH } };
    struct replay *other = replay_with(both, 2);
    (void)state;
    assert_int_equal(other->costs.fast_attempts + other->costs.hits + other->costs.misses, 0);
    replay_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_no_result_changes),
        cmocka_unit_test(test_identity),     cmocka_unit_test(test_dispatches),
        cmocka_unit_test(test_other_counts), cmocka_unit_test(test_combined),
    };
    return cmocka_run_group_tests(tests, open_recording, close_recording);
}
