/* Runs as one CUDA graph, on the fake device (tests/cuda) or, with $SYMTAPE_TEST_DEVICE, on the one
 * that there is: every launch computes the bits that calls made one by one compute, nothing else
 * uses the graph's memory, and what cannot be captured is run call by call with the reason. */
#include "tests/replay/backend/cuda/runtime/graph_runs.h"

/* ---- Graphs that are captured ---- */

static const char POINTS[] = POINTS_BODY;
static const char PRODUCT[] = PRODUCT_BODY;
static const char CONVOLUTION[] = FORWARD(
    "x: \"f32[s0, 3, 8, 8][192, 64, 8, 1]cpu\", w: \"f32[4, 3, 3, 3][27, 9, 3, 1]cpu\"") "        a" ATEN
                                                                                         "convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)\n"
                                                                                         "        b" ATEN
                                                                                         "relu.default(a)\n"
                                                                                         "        return (b,)\n";
static const char LOOKUP[] =
    FORWARD("t: \"f32[50, 16][16, 1]cpu\", i: \"i64[s0][1]cpu\"") "        e" ATEN
                                                                  "embedding.default(t, i)\n"
                                                                  "        f" ATEN
                                                                  "cat.default([e, e], 1)\n"
                                                                  "        z" ATEN
                                                                  "new_zeros.default(e, [4, 16])\n"
                                                                  "        return (f, z)\n";
static const char RANDOM[] = FORWARD(X) "        d" ATEN "native_dropout.default(x, 0.5, True)\n"
                                        "        v = d[0]\n"
                                        "        m = d[1]\n"
                                        "        r" ATEN "rand_like.default(v)\n"
                                        "        return (v, m, r)\n";
/* The kernel's number of rows is copied from the host's memory at each launch. */
static const char UPLOAD[] =
    FORWARD("x: \"f32[0][1]cpu\"") "        n" ATEN
                                   "nonzero_static.default(x, size = 9, fill_value = 3)\n"
                                   "        return (n,)\n";
/* A number that is an input is known to the host, as a float that Dynamo passes as a tensor. */
static const char NUMBER[] =
    FORWARD(X ", f: \"f64[][]cpu\"") "        n" ATEN "_local_scalar_dense.default(f)\n"
                                     "        y" ATEN "mul.Tensor(x, n)\n"
                                     "        return (y,)\n";
/* The CPU computes the first call, which has no arguments in memory, and its result is copied. */
static const char ON_HOST[] = FORWARD(X) "        w" ATEN "kaiser_window.default(16)\n"
                                         "        y" ATEN "mul.Tensor(x, w)\n"
                                         "        return (y,)\n";
/* Calls change inputs, which have their first values again before each launch: one in the order of
 * memory, one in another layout, and a number. */
static const char WRITES[] = FORWARD(
    X ", t: \"f32[5, 16][1, 5]cpu\", n: \"i64[][]cpu\"") "        a" ATEN "mul_.Tensor(x, 3.0)\n"
                                                         "        b" ATEN "add.Tensor(a, 1.0)\n"
                                                         "        u" ATEN "mul_.Tensor(t, 2.0)\n"
                                                         "        m" ATEN "add_.Tensor(n, 1)\n"
                                                         "        return (b, a, u, m)\n";

static void check_captured(const char *body)
{
    struct world w;
    open_world(&w);
    struct capture_case c = case_of(&w, body, 0);
    size_t before = cuda_of_world(&w)->pool.bytes;
    struct outputs first = first_outputs(&w, c.run);
    for (int i = 0; i < 3; i++) {
        run_gives(&w, c.run, &first);
        if (!c.run->captured)
            fail_msg("%s", c.run->not_captured.text);
    }
    w.backend->log.on = true; /* makes the calls */
    run_gives(&w, c.run, &first);
    assert_null(c.run->captured);
    assert_true(w.backend->log.launches.n > 0);
    w.backend->log.on = false;
    for (int i = 0; i < 2; i++) {
        run_gives(&w, c.run, &first);
        assert_non_null(c.run->captured);
    }
    outputs_free(&first);
    case_free(&c);
    assert_int_equal(cuda_of_world(&w)->pool.bytes, before);
    close_world(&w);
}

static void test_captured(void **state)
{
    (void)state;
    static const char *const bodies[] = { POINTS, PRODUCT, CONVOLUTION, LOOKUP, RANDOM,
                                          UPLOAD, NUMBER,  ON_HOST,     WRITES };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        check_captured(bodies[i]);
}

/* Graphs of several runs exist at once; other runs in between use the memory that theirs had. */
static void test_several(void **state)
{
    (void)state;
    struct world w;
    struct capture_case c[3];
    struct outputs first[3];
    open_world(&w);
    for (int i = 0; i < 3; i++) {
        c[i] = case_of(&w, i == 1 ? PRODUCT : POINTS, 5 + i);
        first[i] = first_outputs(&w, c[i].run);
        run_gives(&w, c[i].run, &first[i]);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 3; i++) {
            struct capture_case other = case_of(&w, LOOKUP, 40 + i);
            assert_true(run_execute(other.run, &w.err));
            case_free(&other);
            run_gives(&w, c[i].run, &first[i]);
            assert_non_null(c[i].run->captured);
        }
    for (int i = 0; i < 3; i++) {
        outputs_free(&first[i]);
        case_free(&c[i]);
    }
    close_world(&w);
}

/* Runs that size twice, call by call and then as a CUDA graph, and once more. */
static void run_size(struct world *w, const char *body, int64_t size)
{
    struct capture_case c = case_of(w, body, size);
    struct outputs first = first_outputs(w, c.run);
    for (int i = 0; i < 2; i++) {
        run_gives(w, c.run, &first);
        assert_non_null(c.run->captured);
    }
    outputs_free(&first);
    case_free(&c);
}

/* A graph that is no longer used computes the next size, with the same bits; one of other nodes
 * does not. */
static void test_updated(void **state)
{
    (void)state;
    struct world w;
    open_world(&w);
    const struct backend_log *log = &w.backend->log;
    run_size(&w, POINTS, 3);
    assert_int_equal(log->updated, 0);
    size_t reserved = cuda_of_world(&w)->pool.reserved;
    for (int64_t size = 4; size < 40; size++)
        run_size(&w, POINTS, size);
    assert_int_equal(log->updated, 36);
    assert_int_equal(cuda_of_world(&w)->executables.n, 1);
    assert_int_equal(cuda_of_world(&w)->pool.reserved, reserved);
    run_size(&w, UPLOAD, 0);
    assert_int_equal(log->updated, 36);
    assert_int_equal(cuda_of_world(&w)->executables.n, 2);
    run_size(&w, UPLOAD, 0);
    run_size(&w, POINTS, 5);
    assert_int_equal(log->updated, 38);
    assert_int_equal(cuda_of_world(&w)->executables.n, 2);
    close_world(&w);
}

/* As many sizes at once need as many executable graphs, of which a limited number is kept. */
static void test_most_idle(void **state)
{
    (void)state;
    enum { SIZES = CUDA_IDLE_EXECUTABLES + 3 };
    struct world w;
    struct capture_case c[SIZES];
    struct outputs first[SIZES];
    open_world(&w);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SIZES; i++) {
            c[i] = case_of(&w, POINTS, 3 + i + SIZES * round);
            first[i] = first_outputs(&w, c[i].run);
            run_gives(&w, c[i].run, &first[i]);
        }
        for (int i = 0; i < SIZES; i++) {
            run_gives(&w, c[i].run, &first[i]);
            outputs_free(&first[i]);
            case_free(&c[i]);
        }
        assert_int_equal(cuda_of_world(&w)->executables.n, CUDA_IDLE_EXECUTABLES);
    }
    assert_int_equal(w.backend->log.updated, CUDA_IDLE_EXECUTABLES);
    close_world(&w);
}

/* An input that changed under the graph: kernels of a launch report errors as those of calls do. */
static void test_bad_index(void **state)
{
    (void)state;
    struct world w;
    int64_t indices[6] = { 1, 2, 3, 4, 5, 6 };
    open_world(&w);
    struct capture_case c = case_of(&w, LOOKUP, 0);
    assert_true(run_execute(c.run, &w.err));
    assert_true(run_execute(c.run, &w.err));
    assert_non_null(c.run->captured);
    struct tensor i = run_value(c.run, 1).u.tensor;
    assert_int_equal(i.meta->dtype, DTYPE_I64);
    assert_true(exec_write(&c.run->exec, i, indices, sizeof indices, &w.err));
    assert_true(run_execute(c.run, &w.err));
    struct outputs good = outputs_of(&w, c.run);
    for (int turn = 0; turn < 2; turn++) {
        indices[2] = 50;
        assert_true(exec_write(&c.run->exec, i, indices, sizeof indices, &w.err));
        assert_false(run_execute(c.run, &w.err));
        assert_err(&w.err, ERR_USAGE, "node e: aten.embedding.default: index 50 is out of range");
        w.err = ERR_INIT;
        indices[2] = 3;
        assert_true(exec_write(&c.run->exec, i, indices, sizeof indices, &w.err));
        run_gives(&w, c.run, &good);
        assert_non_null(c.run->captured);
    }
    outputs_free(&good);
    case_free(&c);
    close_world(&w);
}

/* ---- What is not captured ---- */

static const char READS[] = FORWARD("x: \"f32[s0][1]cpu\"") "        n" ATEN "nonzero.default(x)\n"
                                                            "        return (n,)\n";
static const char EXCHANGES[] = FORWARD(X) "        a" ATEN "sin.default(x)\n"
                                           "        s" ATEN "set_.source_Tensor(x, a)\n"
                                           "        b" ATEN "add.Tensor(s, 1.0)\n"
                                           "        return (b,)\n";

static void check_not_captured(const char *body, const char *reason)
{
    struct world w;
    open_world(&w);
    struct capture_case c = case_of(&w, body, 0);
    struct outputs first = first_outputs(&w, c.run);
    for (int i = 0; i < 3; i++) {
        run_gives(&w, c.run, &first);
        assert_null(c.run->captured);
        if (!strstr(c.run->not_captured.text, reason))
            fail_msg("%s", c.run->not_captured.text);
    }
    outputs_free(&first);
    case_free(&c);
    close_world(&w);
}

static void test_not_captured(void **state)
{
    (void)state;
    check_not_captured(READS, "node n (aten.nonzero.default of f32[6]): the host reads values");
    check_not_captured(EXCHANGES, "calls exchange the memory of inputs");
}

/* ---- Failing calls of the driver, on the fake device ---- */

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        const char *call, *reason;
    } rows[] = {
        { "cuStreamBeginCapture_v2:0:1", "beginning the capture of a CUDA graph: CUDA_ERROR_INVA" },
        { "cuStreamEndCapture:0:1", "capturing a CUDA graph: CUDA_ERROR_INVALID_VALUE 1" },
        { "cuStreamEndCapture:0:901", "STREAM_CAPTURE_INVALIDATED 901" },
        { "cuGraphInstantiateWithFlags:0:2", "making a CUDA graph executable: CUDA_ERROR_OUT_OF" },
    };
    if (on_device())
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("SYMTAPE_FAKE_FAIL", rows[i].call, 1);
        check_not_captured(PRODUCT, rows[i].reason);
        unsetenv("SYMTAPE_FAKE_FAIL");
    }
}

/* Without an update, the graph of another size is made executable itself. */
static void test_failed_updates(void **state)
{
    (void)state;
    static const char *const calls[] = { "cuGraphExecUpdate_v2:0:910", "cuGraphGetNodes:0:1",
                                         "cuGraphNodeGetType:0:1" };
    if (on_device())
        skip();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct world w;
        open_world(&w);
        setenv("SYMTAPE_FAKE_FAIL", calls[i], 1);
        run_size(&w, PRODUCT, 3);
        run_size(&w, PRODUCT, 4);
        assert_int_equal(w.backend->log.updated, 0);
        unsetenv("SYMTAPE_FAKE_FAIL");
        run_size(&w, PRODUCT, 5);
        run_size(&w, PRODUCT, 6);
        assert_in_range(w.backend->log.updated, 1, 2);
        close_world(&w);
    }
}

/* A launch that fails is the run's error; the next one succeeds. */
static void test_failed_launch(void **state)
{
    (void)state;
    struct world w;
    if (on_device())
        skip();
    open_world(&w);
    struct capture_case c = case_of(&w, POINTS, 0);
    struct outputs first = first_outputs(&w, c.run);
    run_gives(&w, c.run, &first);
    setenv("SYMTAPE_FAKE_FAIL", "cuGraphLaunch:0:1", 1);
    assert_false(run_execute(c.run, &w.err));
    assert_err(&w.err, ERR_ENV, "launching a CUDA graph: CUDA_ERROR_INVALID_VALUE 1");
    unsetenv("SYMTAPE_FAKE_FAIL");
    w.err = ERR_INIT;
    run_gives(&w, c.run, &first);
    outputs_free(&first);
    case_free(&c);
    close_world(&w);
}

/* A lost context takes the graph along; its owner can still be freed. */
static void test_lost(void **state)
{
    (void)state;
    struct world w;
    if (on_device())
        skip();
    open_world(&w);
    struct capture_case c = case_of(&w, POINTS, 0);
    struct outputs first = first_outputs(&w, c.run);
    run_gives(&w, c.run, &first);
    setenv("SYMTAPE_FAKE_FAIL", "cuGraphLaunch:0:700", 1);
    assert_false(run_execute(c.run, &w.err));
    assert_err(&w.err, ERR_ENV, "CUDA_ERROR_ILLEGAL_ADDRESS 700");
    unsetenv("SYMTAPE_FAKE_FAIL");
    assert_false(run_execute(c.run, &w.err));
    outputs_free(&first);
    case_free(&c);
    w.err = ERR_INIT;
    c = case_of(&w, POINTS, 0); /* in a new context */
    first = first_outputs(&w, c.run);
    run_gives(&w, c.run, &first);
    assert_non_null(c.run->captured);
    outputs_free(&first);
    case_free(&c);
    close_world(&w);
}

/* ---- Kernels that are compiled together ---- */

/* Reads a size between two kernels. */
static const char READ[] = FORWARD(X) "        p" ATEN "cos.default(x)\n"
                                      "        m" ATEN "gt.Scalar(p, 0.5)\n"
                                      "        k" ATEN "masked_select.default(p, m)\n"
                                      "        s" ATEN "sum.default(k)\n"
                                      "        y" ATEN "mul.Tensor(x, s)\n"
                                      "        return (y,)\n";

/* A first run whose kernels are in no cache makes its calls again; inputs that calls change have
 * their first values then. */
static void check_built(const char *body)
{
    for (int on_disk = 0; on_disk < 2; on_disk++) {
        static struct outputs first;
        struct world w;
        open_world(&w);
        struct capture_case c = case_of(&w, body, 0);
        if (!on_disk)
            first = first_outputs(&w, c.run);
        else
            run_gives(&w, c.run, &first);
        if ((w.backend->log.compiled > 0) == on_disk)
            fail_msg("%d kernels compiled, %d: %s", (int)w.backend->log.compiled, on_disk, body);
        assert_false(w.backend->unbuilt);
        assert_false(w.backend->repeats);
        assert_int_equal(w.backend->dry_run, DRY_RUN_NONE);
        assert_null(cuda_of_world(&w)->builds.pool);
        if (on_disk)
            outputs_free(&first);
        case_free(&c);
        close_world(&w);
    }
}

static void test_built(void **state)
{
    static const char *const bodies[] = { POINTS, PRODUCT, WRITES, RANDOM, ON_HOST, READ };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char name[16];
        snprintf(name, sizeof name, "built%zu", i);
        setenv("XDG_CACHE_HOME", temp_path(name), 1);
        check_built(bodies[i]);
    }
    set_up(NULL);
}

/* A program that is not asked for again ends with the first calls that need no others. */
static void test_left_over(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", temp_path("left_over"), 1);
    struct world w;
    open_world(&w);
    struct cuda *cuda = cuda_of_world(&w);
    const struct backend_kind *kind = w.backend->kind;
    w.backend->repeats = true;
    const struct cuda_function *f = cuda_compile_file(cuda, "softmax", "softmax", "", &w.err);
    assert_non_null(f);
    assert_null(f->f);
    assert_true(kind->end_unbuilt(w.backend));
    assert_non_null(cuda->builds.pending);
    assert_non_null(cuda->builds.pool);
    assert_false(kind->end_unbuilt(w.backend));
    assert_null(cuda->builds.pending);
    assert_null(cuda->builds.pool);
    close_world(&w);
    set_up(NULL);
}

/* A program that does not compile beside others is compiled again by its call, which fails. */
static void test_not_built(void **state)
{
    (void)state;
    if (on_device())
        skip();
    setenv("XDG_CACHE_HOME", temp_path("not_built"), 1);
    setenv("SYMTAPE_FAKE_FAIL", "nvrtcCompileProgram:0:6", 1);
    struct world w;
    open_world(&w);
    struct capture_case c = case_of(&w, POINTS, 0);
    assert_false(run_execute(c.run, &w.err));
    assert_err(&w.err, ERR_ENV, "does not compile");
    assert_false(w.backend->unbuilt);
    unsetenv("SYMTAPE_FAKE_FAIL");
    w.err = ERR_INIT;
    assert_true(run_execute(c.run, &w.err));
    case_free(&c);
    close_world(&w);
    set_up(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captured),       cmocka_unit_test(test_several),
        cmocka_unit_test(test_updated),        cmocka_unit_test(test_most_idle),
        cmocka_unit_test(test_bad_index),      cmocka_unit_test(test_not_captured),
        cmocka_unit_test(test_failed_updates), cmocka_unit_test(test_failures),
        cmocka_unit_test(test_failed_launch),  cmocka_unit_test(test_lost),
        cmocka_unit_test(test_built),          cmocka_unit_test(test_left_over),
        cmocka_unit_test(test_not_built),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
