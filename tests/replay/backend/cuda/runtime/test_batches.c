/* Launches in batches, on the fake device (tests/cuda) or, with $SYMTAPE_TEST_DEVICE, on the one
 * that there is: they compute the bits of launches one by one, at any order of sizes, and a call of
 * the driver that fails leaves launches one by one, or an error with its node. */
#include "tests/cuda/fake_time.h"
#include "tests/replay/backend/cuda/runtime/graph_runs.h"

/* Products of one plan with different operands, between kernels. */
static const char LAYERS[] =
    FORWARD(X ", u: \"f32[16, 16][16, 1]cpu\", v: \"f32[16, 16][16, 1]cpu\", b: \"f32[16][1]cpu\", "
              "c: \"f32[16][1]cpu\"") "        p0" ATEN "addmm.default(b, x, u)\n"
                                      "        q0" ATEN "sum.dim_IntList(p0, [1], True)\n"
                                      "        r0" ATEN "mul.Tensor(p0, q0)\n"
                                      "        p1" ATEN "addmm.default(c, r0, v)\n"
                                      "        q1" ATEN "_softmax.default(p1, -1, False)\n"
                                      "        p2" ATEN "addmm.default(b, q1, v)\n"
                                      "        q2" ATEN "amax.default(p2, [1], True)\n"
                                      "        r2" ATEN "sub.Tensor(p2, q2)\n"
                                      "        p3" ATEN "addmm.default(c, r2, u)\n"
                                      "        p4" ATEN "mm.default(p3, u)\n"
                                      "        p5" ATEN "mm.default(p4, v)\n"
                                      "        return (p3, p5, q1)\n";

static struct outputs outputs_at(struct world *w, const char *body, int64_t size)
{
    struct capture_case c = case_of(w, body, size);
    if (!run_execute(c.run, &w->err))
        fail_msg("%s", w->err.text);
    struct outputs ret = outputs_of(w, c.run);
    case_free(&c);
    return ret;
}

static void assert_same(struct outputs *x, struct outputs *y)
{
    assert_int_equal(x->n, y->n);
    for (uint32_t i = 0; i < x->n; i++) {
        assert_int_equal(x->bytes[i], y->bytes[i]);
        assert_memory_equal(x->values[i], y->values[i], x->bytes[i]);
    }
    outputs_free(x);
    outputs_free(y);
}

static void open_unbatched(struct world *w)
{
    setenv("SYMTAPE_CUDA_BATCH", "0", 1);
    open_world(w);
    unsetenv("SYMTAPE_CUDA_BATCH");
    assert_null(cuda_of_world(w)->batches);
}

enum { MOST_SIZES = 36 };

static void outputs_at_sizes(struct world *w, const char *const *bodies, size_t n, int sizes,
                             struct outputs *ret)
{
    for (int i = 0; i < sizes; i++)
        ret[i] = outputs_at(w, bodies[i % (int)n], 2 + i * 7 % 23);
}

/* Returns how many calls of the fake driver failed since $SYMTAPE_FAKE_FAIL was set. */
static uint64_t failed_calls(void)
{
    void *driver, *p = fake_function("fake_injected", &driver);
    uint64_t (*count)(void) = NULL;
    memcpy(&count, &p, sizeof count);
    const uint64_t ret = count ? count() : 0;
    if (driver)
        dlclose(driver);
    return ret;
}

/* Runs many sizes; returns how many launches were batched. */
static uint64_t check_sizes(const char *const *bodies, size_t n, int sizes)
{
    struct outputs each[MOST_SIZES], batched[MOST_SIZES];
    struct world w;
    open_unbatched(&w);
    outputs_at_sizes(&w, bodies, n, sizes, each);
    assert_int_equal(w.backend->log.batched, 0);
    close_world(&w);
    open_world(&w);
    outputs_at_sizes(&w, bodies, n, sizes, batched);
    const uint64_t ret = w.backend->log.batched;
    assert_true(!getenv("SYMTAPE_FAKE_FAIL") || failed_calls() > 0);
    close_world(&w);
    for (int i = 0; i < sizes; i++)
        assert_same(&each[i], &batched[i]);
    return ret;
}

static void test_same_bits(void **state)
{
    (void)state;
    static const char *const bodies[] = { LAYERS, POINTS_BODY, PRODUCT_BODY };
    assert_true(check_sizes(bodies, 1, 24) > 24 * 8);
    assert_true(check_sizes(bodies, 3, 36) > 36 * 4);
}

/* A number is read from the device between launches, which a batch precedes. */
static void test_reads(void **state)
{
    (void)state;
    static const char *const bodies[] = { FORWARD(
        X) "        a" ATEN "sin.default(x)\n"
           "        b" ATEN "amax.default(a)\n"
           "        c" ATEN "_local_scalar_dense.default(b)\n"
           "        d" ATEN "mul.Tensor(a, c)\n"
           "        e" ATEN "sum.dim_IntList(d, [1], True)\n"
           "        f" ATEN "new_zeros.default(e, [4, 16])\n"
           "        g" ATEN "cumsum.default(d, 1)\n"
           "        return (e, f, g)\n" };
    assert_true(check_sizes(bodies, 1, 8) > 0);
}

/* On the fake device, whose cuBLASLt launches one kernel, two, one after a memset, or one with
 * clusters, which a node does not repeat. */
static void test_launches_of_matmuls(void **state)
{
    (void)state;
    static const char *const bodies[] = { LAYERS };
    if (on_device())
        skip();
    const uint64_t one = check_sizes(bodies, 1, 24);
    setenv("FAKE_CUBLASLT", "pair", 1);
    assert_true(check_sizes(bodies, 1, 24) > one);
    setenv("FAKE_CUBLASLT", "memset", 1);
    const uint64_t filled = check_sizes(bodies, 1, 24);
    assert_true(filled > one);
    setenv("SYMTAPE_FAKE_FAIL", "cuGraphMemsetNodeGetParams:0:1", 1);
    assert_true(check_sizes(bodies, 1, 24) < filled);
    unsetenv("SYMTAPE_FAKE_FAIL");
    setenv("FAKE_CUBLASLT", "cluster", 1);
    assert_true(check_sizes(bodies, 1, 24) < one);
    unsetenv("FAKE_CUBLASLT");
}

/* Returns how many launches were batched in later runs of the first size, with its plans, which
 * have a workspace. */
static uint64_t batched_later(void)
{
    struct world w;
    open_world(&w);
    uint64_t first = 0;
    for (int i = 0; i < 4; i++) {
        struct outputs o = outputs_at(&w, LAYERS, 20);
        outputs_free(&o);
        first = first ? first : w.backend->log.batched;
    }
    const uint64_t ret = w.backend->log.batched - first;
    close_world(&w);
    return ret;
}

/* The kernel that fills is first asked for while a matmul is captured. That it was compiled only
 * then changes nothing later. */
static void test_fills_are_built(void **state)
{
    (void)state;
    if (on_device())
        skip();
    setenv("FAKE_CUBLASLT", "memset", 1);
    setenv("XDG_CACHE_HOME", temp_path("fills"), 1);
    const uint64_t compiled = batched_later();
    assert_true(compiled > 0);
    assert_int_equal(compiled, batched_later());
    unsetenv("FAKE_CUBLASLT");
    set_up(NULL);
}

/* ---- Failing calls of the driver, on the fake device ---- */

static void test_failures(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cuGraphCreate:0:1",
        "cuGraphAddKernelNode_v2:0:1",
        "cuGraphAddKernelNode_v2:9:2",
        "cuGraphInstantiateWithFlags:0:2",
        "cuGraphExecKernelNodeSetParams_v2:0:1",
        "cuGraphExecKernelNodeSetParams_v2:20:1",
        "cuGraphLaunch:0:1",
        "cuGraphLaunch:3:1",
        "cuStreamBeginCapture_v2:0:1",
        "cuStreamEndCapture:0:901",
        "cuGraphGetNodes:0:1",
        "cuGraphNodeGetType:0:1",
        "cuGraphKernelNodeGetParams_v2:0:1",
        "cuGraphKernelNodeGetAttribute:0:1",
        "cuFuncGetParamInfo:0:1",
    };
    static const char *const bodies[] = { LAYERS };
    if (on_device())
        skip();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        setenv("SYMTAPE_FAKE_FAIL", calls[i], 1);
        check_sizes(bodies, 1, 6);
        unsetenv("SYMTAPE_FAKE_FAIL");
    }
}

/* The error of a launch contains the kernel and its node, also if others were added to its batch
 * later. */
static void test_failed_launch(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "cuLaunchKernel:1:1", "node p0 (aten.addmm.default of ", "kernel cublasLtMatmul: 1 x 1" },
        { "cuLaunchKernel:3:1", "node r0 (aten.mul.Tensor of ", "kernel point_mul: 1 x 1 x 1" },
    };
    struct world w;
    if (on_device())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_world(&w);
        struct capture_case c = case_of(&w, LAYERS, 24);
        setenv("SYMTAPE_FAKE_FAIL", rows[i][0], 1);
        assert_false(run_execute(c.run, &w.err));
        assert_non_null(strstr(w.err.text, rows[i][1]));
        assert_non_null(strstr(w.err.text, rows[i][2]));
        assert_err(&w.err, ERR_ENV, "CUDA_ERROR_INVALID_VALUE 1");
        unsetenv("SYMTAPE_FAKE_FAIL");
        case_free(&c);
        struct outputs o = outputs_at(&w, LAYERS, 24);
        outputs_free(&o);
        close_world(&w);
    }
}

/* CUDA's own setting, with which errors are exact, needs launches one by one. */
static void test_blocking(void **state)
{
    (void)state;
    static const char *const rows[][2] = { { "1", "off" }, { "0", "on" }, { "", "on" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        setenv("CUDA_LAUNCH_BLOCKING", rows[i][0], 1);
        open_world(&w);
        unsetenv("CUDA_LAUNCH_BLOCKING");
        assert_string_equal(cuda_of_world(&w)->batches ? "on" : "off", rows[i][1]);
        close_world(&w);
    }
}

/* Both factors have the same address: that call is launched by cuBLASLt, later ones as nodes. */
static void test_same_operand(void **state)
{
    (void)state;
    static const char *const bodies[] = { FORWARD(
        "x: \"f32[16, 16][16, 1]cpu\", w: \"f32[16, 16][16, 1]cpu\", "
        "n: \"f32[s0][1]cpu\"") "        a" ATEN "mm.default(x, x)\n"
                                "        b" ATEN "mm.default(a, w)\n"
                                "        c" ATEN "mm.default(b, b)\n"
                                "        d" ATEN "mm.default(c, x)\n"
                                "        e" ATEN "sum.dim_IntList(d, [1], True)\n"
                                "        return (e, c)\n" };
    assert_true(check_sizes(bodies, 1, 8) > 0);
}

static void test_lost(void **state)
{
    (void)state;
    struct world w;
    if (on_device())
        skip();
    open_world(&w);
    for (int64_t size = 3; size < 6; size++) {
        struct outputs o = outputs_at(&w, LAYERS, size);
        outputs_free(&o);
    }
    assert_true(w.backend->log.batched > 0);
    struct capture_case c = case_of(&w, LAYERS, 7);
    setenv("SYMTAPE_FAKE_FAIL", "cuGraphLaunch:0:700,cuLaunchKernel:0:700", 1);
    assert_false(run_execute(c.run, &w.err));
    assert_err(&w.err, ERR_ENV, "CUDA_ERROR_ILLEGAL_ADDRESS 700");
    unsetenv("SYMTAPE_FAKE_FAIL");
    case_free(&c);
    w.err = ERR_INIT;
    const uint64_t before = w.backend->log.batched;
    for (int64_t size = 3; size < 6; size++) { /* in a new context */
        struct outputs o = outputs_at(&w, LAYERS, size);
        outputs_free(&o);
    }
    assert_true(w.backend->log.batched > before);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_failed_launch),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_blocking),
        cmocka_unit_test(test_same_operand),
        cmocka_unit_test(test_launches_of_matmuls),
        cmocka_unit_test(test_fills_are_built),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
