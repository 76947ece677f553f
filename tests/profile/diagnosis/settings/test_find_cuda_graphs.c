#include "tests/profile/diagnosis/found.h"

static void test_skipped(void **state)
{
    (void)state;
    struct log_make log = log_start();
    const char *reason =
        ", \"cudagraph_skip_reason\": \"skipping cudagraphs due to mutated inputs (2 instances). "
        "Found from : \\n   File \\\"/u/m.py\\\", line 9, in f\\n    x.add_(1)\\n  File "
        "\\\"/e/site-packages/torch/nn/f.py\\\", line 3, in g\\n    return h(x)\\n\"";
    found_compile(&log, reason);
    log.context = LOG_COMPILE(0, 1, 0);
    found_compile(&log, reason);
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CUDA_GRAPHS);
    assert_non_null(f);
    assert_int_equal(f->count, 2);
    assert_contains(f->cause, "an input is written to in place");
    assert_str_is(f->evidence[0], "skipping cudagraphs due to mutated inputs (2 instances)");
    assert_str_is(f->file, "/u/m.py");
    assert_int_equal(f->line, 9);
    assert_str_is(f->code, "x.add_(1)");
    found_drop(&found);
}

static void test_unknown_reason(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, ", \"cudagraph_skip_reason\": \"of a new kind\"");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CUDA_GRAPHS);
    assert_non_null(f);
    assert_str_is(f->evidence[0], "skipping cudagraphs due to of a new kind");
    assert_int_equal(f->line, 0);
    found_drop(&found);
}

static void put_recording(struct log_make *log, int i)
{
    char event[200];
    snprintf(
        event, sizeof event,
        "{\"name\": \"CUDAGraphNode.record\", \"ph\": \"B\", \"ts\": %d, \"pid\": 0, \"tid\": 0, "
        "\"args\": {\"compile_id\": \"0/0\", \"is_backward\": false}}",
        1000 + i);
    log_put(log, "\"chromium_event\": {}", event);
}

static void test_recorded_again(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n += 3) {
        struct log_make log = log_start();
        found_compile(&log, "");
        for (int i = 0; i < n; i++)
            put_recording(&log, i);
        struct found found = found_in(&log);
        const struct finding *f = found_one(&found, FINDING_CUDA_GRAPHS);
        assert_int_equal(f != NULL, n > 2);
        if (f)
            assert_contains(f->cause, "recorded as a CUDA graph 5 times");
        found_drop(&found);
    }
}

/* mode="reduce-overhead" without a GPU. */
static void test_without_cuda(void **state)
{
    (void)state;
    struct log_make log = log_start();
    found_compile(&log, "");
    log_artifact(&log, "fx_graph_runnable", "torch._inductor.config.triton.cudagraphs = True\n");
    struct found found = found_in(&log);
    const struct finding *f = found_one(&found, FINDING_CUDA_GRAPHS);
    assert_non_null(f);
    assert_contains(f->cause, "no tensor of the graphs is on a GPU");
    found_drop(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_unknown_reason),
        cmocka_unit_test(test_recorded_again),
        cmocka_unit_test(test_without_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
