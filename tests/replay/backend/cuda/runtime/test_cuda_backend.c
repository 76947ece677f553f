/* The backend on the driver and the compiler of tests/cuda, which need no device. */
#include <stdlib.h>

#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/run/exec.h"

#include "tests/harness.h"
#include "tests/replay/ops/world.h"

extern const struct backend_kind backend_cuda, backend_cpu;

/* A call that is being run, with the environment that its kernel sees. */
struct bench {
    struct world *world;
    struct cuda *cuda;
    struct exec exec;
    struct cuda_call now;
    struct backend_call call;
    struct kernel k;
    struct err err;
};

static struct bench bench_open(void **state)
{
    struct bench b = { .world = *state };
    b.cuda = (struct cuda *)backend_cuda.open(&b.err);
    assert_no_err(&b.err);
    exec_init(&b.exec, b.world->ops, &b.cuda->base, 0);
    return b;
}

static void bench_start(struct bench *b)
{
    static const struct backend_op neg = { .name = { "aten.neg.default",
                                                     sizeof "aten.neg.default" - 1 } };
    b->call = (struct backend_call){
        .op = &neg, .caller = &b->exec.caller, .storages = &b->exec.storages, .node = 7
    };
    b->now = (struct cuda_call){ .call = &b->call };
    b->k = (struct kernel){ .call = &b->call, .err = &b->err };
    b->cuda->now = &b->now;
}

static void bench_close(struct bench *b)
{
    for (size_t i = 0; i < b->cuda->workspaces.n; i++)
        cuda_give_back(b->cuda, b->cuda->workspaces.v[i]);
    exec_release(&b->exec);
    backend_cuda.close(&b->cuda->base);
}

static const char scale[] = "struct scale_args { u64 to; i64 n; f32 by; u64 error; };\n"
                            "KERNEL(scale, struct scale_args)\n"
                            "{\n"
                            "    f32 *to = PTR(f32, a.to);\n"
                            "    i64 i = (i64)BLOCK_X * THREADS + THREAD;\n"
                            "    if (i < a.n)\n"
                            "        to[i] *= a.by;\n"
                            "    else if (a.error && i == a.n)\n"
                            "        REPORT(a.error, 41 + a.n);\n"
                            "}\n";

struct scale_args {
    uint64_t to;
    int64_t n;
    float by;
    uint64_t error;
};

static void launch_scale(struct bench *b, uint64_t to, int64_t n, float by, uint64_t error)
{
    struct scale_args args = { to, n, by, error };
    struct cuda_function *f = cuda_function_of_text(&b->k, "scale", STR(scale));
    cuda_traffic(&b->k, (uint64_t)n * 8, (uint64_t)n);
    cuda_launch(&b->k, f, (struct cuda_grid){ (uint32_t)n / 64 + 1, 1, 1, 64, 0 }, &args,
                sizeof args);
}

static void test_memory(void **state)
{
    struct bench b = bench_open(state);
    struct backend *backend = &b.cuda->base;
    struct memory x = { 0 }, none = { 0 }, all = { 0 };
    char text[] = "0123456789", got[11] = "";
    assert_true(backend_cuda.allocate(backend, 11, &x, &b.err));
    assert_true(backend_cuda.allocate(backend, 0, &none, &b.err));
    assert_true(x.p && none.p && x.p != none.p);
    assert_true(backend_cuda.write(backend, &x, 0, text, 11, &b.err));
    assert_true(backend_cuda.write(backend, &x, 3, "xyz", 3, &b.err));
    assert_true(backend_cuda.read(backend, &x, 2, got, 5, &b.err));
    assert_string_equal(got, "2xyz6");
    /* More at once than goes through the page-locked memory, and more in sum. */
    size_t big = 3 * (size_t)CUDA_STAGING + 5;
    unsigned char *from = malloc(big), *to = malloc(big);
    assert_true(from && to);
    for (size_t i = 0; i < big; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    assert_true(backend_cuda.allocate(backend, big, &all, &b.err));
    assert_true(backend_cuda.write(backend, &all, 0, from, big, &b.err));
    for (size_t at = 0; at < big; at += 100000)
        assert_true(backend_cuda.write(backend, &all, at, from + at,
                                       big - at < 100000 ? big - at : 100000, &b.err));
    assert_true(backend_cuda.read(backend, &all, 0, to, big, &b.err));
    assert_memory_equal(from, to, big);
    free(from);
    free(to);
    backend_cuda.release(backend, &x);
    backend_cuda.release(backend, &none);
    backend_cuda.release(backend, &all);
    bench_close(&b);
}

static void test_out_of_memory(void **state)
{
    setenv("SYMTAPE_FAKE_MEMORY", "16777216", 1);
    struct bench b = bench_open(state);
    struct memory x;
    assert_false(backend_cuda.allocate(&b.cuda->base, 100 << 20, &x, &b.err));
    assert_err(&b.err, ERR_ENV, "cannot allocate 104857600 bytes of device memory: ");
    assert_true(backend_cuda.allocate(&b.cuda->base, 5 << 20, &x, &b.err));
    backend_cuda.release(&b.cuda->base, &x);
    bench_close(&b);
    unsetenv("SYMTAPE_FAKE_MEMORY");
}

static void test_launches(void **state)
{
    struct bench b = bench_open(state);
    float x[100], got[100];
    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    b.cuda->base.log.on = true;
    bench_start(&b);
    uint64_t at = cuda_workspace(&b.k, sizeof x);
    assert_true(cuda_upload(&b.k, at, x, sizeof x));
    launch_scale(&b, at, 100, 2, 0);
    uint32_t nodes[] = { 3, 5, 7 };
    cuda_stands_for(&b.k, nodes, 3);
    launch_scale(&b, at, 100, 3, 0);
    assert_true(cuda_download(&b.k, got, at, sizeof got));
    assert_no_err(&b.err);
    for (int i = 0; i < 100; i++)
        assert_true(got[i] == x[i] * 6);

    const struct backend_log *log = &b.cuda->base.log;
    assert_int_equal(log->launches.n, 2);
    assert_string_equal(log->launches.v[0].what, "scale");
    assert_int_equal(log->launches.v[0].n_nodes, 1);
    assert_int_equal(log->nodes.v[0], 7);
    assert_int_equal(log->launches.v[0].bytes, 800);
    assert_int_equal(log->launches.v[0].flops, 100);
    assert_int_equal(log->launches.v[1].n_nodes, 3);
    assert_int_equal(log->nodes.v[log->launches.v[1].first_node + 2], 7);
    assert_true(log->launches.v[0].us > 0 && !log->launches.v[0].on_host);
    assert_true(log->launches.v[1].start >= log->launches.v[0].start + log->launches.v[0].us);
    bench_close(&b);
}

static void test_limits(void **state)
{
    struct bench b = bench_open(state);
    bench_start(&b);
    struct cuda_function *f = cuda_function_of_text(&b.k, "scale", STR(scale));
    struct scale_args args = { 0 };
    assert_non_null(f);
    assert_ptr_equal(cuda_function_of_text(&b.k, "scale", STR(scale)), f);
    cuda_launch(&b.k, f, (struct cuda_grid){ 0, 1, 1, 64, 0 }, &args, sizeof args);
    assert_false(b.k.failed);
    cuda_launch(&b.k, f, (struct cuda_grid){ 1, 65536, 1, 64, 0 }, &args, sizeof args);
    assert_true(b.k.failed);
    assert_err(&b.err, ERR_USAGE, "kernel scale: a grid of 1 x 65536 x 1 blocks of 64 threads");
    b.k.failed = false;
    cuda_launch(&b.k, f, (struct cuda_grid){ 1, 1, 1, 64, 100 << 20 }, &args, sizeof args);
    assert_err(&b.err, ERR_ENV, "kernel scale: 104857600 bytes of shared memory");
    b.k.failed = false;
    cuda_launch(&b.k, f, (struct cuda_grid){ 1, 1, 1, 64, 100 << 10 }, &args, sizeof args);
    assert_no_err(&b.err);
    assert_int_equal(f->shared_allowed, 100 << 10);
    assert_null(cuda_function(&b.k, "nowhere", "k", ""));
    assert_err(&b.err, ERR_ENV, "there is no source text nowhere.cu");
    bench_close(&b);
}

/* What a kernel tells of an index is found at the next wait, and is its node's. */
static void test_reports(void **state)
{
    struct bench b = bench_open(state);
    bench_start(&b);
    uint64_t at = cuda_workspace(&b.k, 40);
    uint64_t error = cuda_error_word(&b.k);
    assert_true(error != 0);
    assert_int_equal(cuda_error_word(&b.k), error);
    launch_scale(&b, at, 10, 1, error);
    b.call.node = 9;
    b.now.error_word = 0;
    assert_true(cuda_error_word(&b.k) != error);
    assert_false(backend_cuda.wait(&b.cuda->base, &b.err));
    assert_err(&b.err, ERR_USAGE, "aten.neg.default: index 51 is out of range");
    assert_true(b.cuda->base.late);
    assert_int_equal(b.cuda->base.late_node, 7);
    /* It is told once, and the device goes on. */
    assert_true(backend_cuda.wait(&b.cuda->base, &b.err));
    for (int i = 0; i < CUDA_ERROR_WORDS + 10; i++) {
        b.now.error_word = 0;
        assert_true(cuda_error_word(&b.k) != 0);
    }
    assert_true(backend_cuda.wait(&b.cuda->base, &b.err));
    bench_close(&b);
}

/* Compiled once; then found on disk; then, without a compiler, still found. */
static void test_cache(void **state)
{
    setenv("XDG_CACHE_HOME", temp_path("fresh"), 1);
    struct bench b = bench_open(state);
    bench_start(&b);
    assert_non_null(cuda_function_of_text(&b.k, "scale", STR(scale)));
    assert_int_equal(b.cuda->base.log.compiled, 1);
    assert_true(b.cuda->base.log.compile_ns > 0);
    bench_close(&b);
    b = bench_open(state);
    bench_start(&b);
    assert_non_null(cuda_function_of_text(&b.k, "scale", STR(scale)));
    assert_int_equal(b.cuda->base.log.compiled, 0);
    bench_close(&b);
    b = bench_open(state);
    bench_start(&b);
    err_set(&b.cuda->no_compiler, ERR_ENV, "there is none");
    assert_non_null(cuda_function_of_text(&b.k, "scale", STR(scale)));
    assert_null(cuda_function_of_text(&b.k, "scale",
                                      STR("struct scale_args { u64 to; };\n"
                                          "KERNEL(scale, struct scale_args) {}\n")));
    assert_err(&b.err, ERR_ENV, "kernel scale: there is none");
    bench_close(&b);
}

/* An operator without a kernel: the CPU's results. */
static void test_host_call(void **state)
{
    struct world *w = *state;
    struct err err = ERR_INIT;
    float x[9] = { 1, 2, 0, 0, 1, 3, 1, 0, 2 }, got[2][9];
    const struct backend_kind *kinds[] = { &backend_cpu, &backend_cuda };
    const struct op *op = ops_find(w->ops, STR("aten.linalg_matrix_exp.default"));
    assert_non_null(op);
    for (int i = 0; i < 2; i++) {
        struct backend *backend = kinds[i]->open(&err);
        assert_non_null(backend);
        struct exec exec;
        exec_init(&exec, w->ops, backend, 5);
        backend->log.on = true;
        sym_id three = sym_integer(w->pool, 3);
        sym_id size[] = { three, three }, stride[] = { three, SYM_ID_ONE };
        struct tensor_meta meta = { .dtype = DTYPE_F32,
                                    .device = { DEVICE_CPU, -1 },
                                    .ndim = 2,
                                    .size = size,
                                    .stride = stride,
                                    .offset = sym_integer(w->pool, 0) };
        struct value arg = value_tensor(ops_new_tensor(w->ops, &meta)), result;
        assert_true(exec_write(&exec, arg.u.tensor, x, sizeof x, &err));
        enum exec_outcome outcome = exec_call(&exec, op, &arg, 1, NULL, 0, &result, &err);
        assert_no_err(&err);
        assert_int_equal(outcome, EXEC_DONE);
        assert_true(exec_read(&exec, result.u.tensor, got[i], sizeof got[i], &err));
        assert_int_equal(backend->log.launches.n, 1);
        assert_true(backend->log.launches.v[0].on_host == (i == 1));
        assert_int_equal(exec.caller.calls, 1);
        exec_release(&exec);
        kinds[i]->close(backend);
    }
    assert_memory_equal(got[0], got[1], sizeof got[0]);
}

/* Memory that nothing has written is the same on each backend, though it was used before. */
static void test_empty(void **state)
{
    struct world *w = *state;
    struct err err = ERR_INIT;
    struct backend *backend = backend_cuda.open(&err);
    const struct op *op = ops_find(w->ops, STR("aten.empty_like.default"));
    struct memory before;
    struct exec exec;
    float x[9], zero[9] = { 0 };
    memset(x, 0xff, sizeof x);
    assert_non_null(backend);
    assert_non_null(op);
    assert_true(backend_cuda.allocate(backend, sizeof x, &before, &err));
    assert_true(backend_cuda.write(backend, &before, 0, x, sizeof x, &err));
    backend_cuda.release(backend, &before);
    exec_init(&exec, w->ops, backend, 5);
    sym_id nine = sym_integer(w->pool, 9);
    struct tensor_meta meta = { .dtype = DTYPE_F32,
                                .device = { DEVICE_CPU, -1 },
                                .ndim = 1,
                                .size = &nine,
                                .stride = (sym_id[]){ SYM_ID_ONE },
                                .offset = sym_integer(w->pool, 0) };
    struct value arg = value_tensor(ops_new_tensor(w->ops, &meta)), result;
    assert_int_equal(exec_call(&exec, op, &arg, 1, NULL, 0, &result, &err), EXEC_DONE);
    assert_no_err(&err);
    assert_true(exec_read(&exec, result.u.tensor, x, sizeof x, &err));
    assert_memory_equal(x, zero, sizeof x);
    exec_release(&exec);
    backend_cuda.close(backend);
}

static float doubled(struct bench *b)
{
    float x[100], got[100] = { 0 };
    for (int i = 0; i < 100; i++)
        x[i] = (float)i;
    bench_start(b);
    uint64_t at = cuda_workspace(&b->k, sizeof x);
    cuda_upload(&b->k, at, x, sizeof x);
    launch_scale(b, at, 100, 2, 0);
    cuda_download(&b->k, got, at, sizeof got);
    return got[99];
}

/* A kernel that breaks the context: what was launched last is named, and everything fails with the
 * same words as long as somebody holds memory of it. Then there is a new one, though others of the
 * process hold the old one. */
static void test_lost(void **state)
{
    setenv("SYMTAPE_FAKE_HELD", "1", 1);
    struct bench b = bench_open(state);
    struct memory x, more;
    char byte;
    bench_start(&b);
    assert_true(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
    launch_scale(&b, (uint64_t)(uintptr_t)x.p, 100, 2, 0);
    assert_no_err(&b.err);
    setenv("SYMTAPE_FAKE_LOST", "1:700", 1);
    launch_scale(&b, (uint64_t)(uintptr_t)x.p, 100, 2, 0);
    b.err = ERR_INIT;
    assert_false(backend_cuda.wait(&b.cuda->base, &b.err));
    assert_err(&b.err, ERR_ENV, "the last kernel launched was scale");
    assert_int_equal(b.cuda->base.late_node, 7);
    assert_false(backend_cuda.read(&b.cuda->base, &x, 0, &byte, 1, &b.err));
    assert_err(&b.err, ERR_ENV, "CUDA_ERROR_ILLEGAL_ADDRESS 700");
    assert_int_equal(backend_cuda.free_memory(&b.cuda->base), 0);
    assert_false(backend_cuda.allocate(&b.cuda->base, 1, &more, &b.err));
    assert_err(&b.err, ERR_ENV, "everything that this run had on the device is lost");
    backend_cuda.release(&b.cuda->base, &x);
    vec_release(&b.cuda->workspaces);
    b.cuda->now = NULL;
    unsetenv("SYMTAPE_FAKE_LOST");
    assert_true(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
    assert_no_err(&b.err);
    assert_true(doubled(&b) == 198);
    assert_no_err(&b.err);
    assert_false(b.cuda->base.late);
    backend_cuda.release(&b.cuda->base, &x);
    bench_close(&b);
    unsetenv("SYMTAPE_FAKE_HELD");
}

/* An element of a product, and of a convolution, by whatever library there is. */
static float by_libraries(struct world *w, struct backend *backend, struct err *err)
{
    enum { N = 64 };
    float ones[N * N], got[2][N * N];
    struct exec exec;
    exec_init(&exec, w->ops, backend, 5);
    for (int i = 0; i < N * N; i++)
        ones[i] = 1;
    for (int i = 0; i < 2; i++) { /* as a matrix; as 4 images of 4 channels, 16 by 16 */
        sym_id size[4], stride[4];
        int64_t plain[2][4] = { { N, N }, { 4, 4, 16, 16 } }, behind = 1;
        uint32_t ndim = i ? 4 : 2;
        for (uint32_t d = ndim; d-- > 0; behind *= plain[i][d]) {
            size[d] = sym_integer(w->pool, plain[i][d]);
            stride[d] = sym_integer(w->pool, behind);
        }
        struct tensor_meta meta = { .dtype = DTYPE_F32,
                                    .device = { DEVICE_CPU, -1 },
                                    .ndim = ndim,
                                    .size = size,
                                    .stride = stride,
                                    .offset = sym_integer(w->pool, 0) };
        sym_id one = sym_integer(w->pool, 1), none = sym_integer(w->pool, 0);
        struct value ints[] = { value_sym(VALUE_INT, one), value_sym(VALUE_INT, one) },
                     zeroes[] = { value_sym(VALUE_INT, none), value_sym(VALUE_INT, none) }, args[9],
                     ret;
        args[0] = value_tensor(ops_new_tensor(w->ops, &meta));
        args[1] = value_tensor(ops_new_tensor(w->ops, &meta));
        args[2] = value_none();
        args[3] = args[5] = value_items(VALUE_LIST, ints, 2);
        args[4] = args[7] = value_items(VALUE_LIST, zeroes, 2);
        args[6] = value_sym(VALUE_BOOL, SYM_ID_FALSE);
        args[8] = value_sym(VALUE_INT, one);
        const char *name = i ? "aten.convolution.default" : "aten.mm.default";
        const struct op *op = ops_find(w->ops, str_of(name));
        assert_non_null(op);
        bool ok = exec_write(&exec, args[0].u.tensor, ones, sizeof ones, err) &&
                  exec_write(&exec, args[1].u.tensor, ones, sizeof ones, err);
        size_t bytes = i ? 4 * 4 * sizeof(float) : sizeof ones;
        assert_true(ok);
        assert_int_equal(exec_call(&exec, op, args, i ? 9 : 2, NULL, 0, &ret, err), EXEC_DONE);
        assert_true(exec_read(&exec, ret.u.tensor, got[i], bytes, err));
    }
    exec_release(&exec);
    return got[0][77] + got[1][7];
}

/* Launches a kernel on an address that nobody was given. */
static void break_context(struct bench *b)
{
    struct memory x;
    bench_start(b);
    assert_true(backend_cuda.allocate(&b->cuda->base, 400, &x, &b->err));
    launch_scale(b, 64, 100, 2, 0);
    b->err = ERR_INIT;
    assert_false(backend_cuda.wait(&b->cuda->base, &b->err));
    assert_err(&b->err, ERR_ENV, "CUDA_ERROR_ILLEGAL_ADDRESS 700");
    backend_cuda.release(&b->cuda->base, &x);
    b->cuda->now = NULL;
    b->err = ERR_INIT;
}

/* A driver that does not give the device back: each call says so and what to do, and a backend that
 * is opened says the same. */
static void check_refused(struct bench *b)
{
    static const char *const parts[] = { "the device was lost (",
                                         "the last kernel launched was scale",
                                         "the driver does not let this process use device ",
                                         "CUDA_ERROR_ILLEGAL_ADDRESS 700; run symtape again" };
    struct memory x;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_false(backend_cuda.allocate(&b->cuda->base, 400, &x, &b->err));
        assert_err(&b->err, ERR_ENV, parts[i]);
        assert_false(backend_cuda.wait(&b->cuda->base, &b->err));
        assert_err(&b->err, ERR_ENV, parts[i]);
        assert_int_equal(backend_cuda.free_memory(&b->cuda->base), 0);
    }
    assert_null(b->cuda->context);
    assert_null(backend_cuda.open(&b->err));
    assert_err(&b->err, ERR_ENV, parts[3]);
}

/* As it happens: an address that nobody was given. Whatever was open in the context is opened
 * again, unless the driver of a real device refuses a new context. */
static void test_broken(void **state)
{
    struct bench b = bench_open(state);
    const float sum = 64 + 4 * 16 * 16;
    setenv("FAKE_CUDNN", "left", 1);
    assert_true(by_libraries(b.world, &b.cuda->base, &b.err) == sum);
    for (int i = 0; i < 3; i++) {
        break_context(&b);
        if (getenv("SYMTAPE_TEST_DEVICE") && !backend_cuda.wait(&b.cuda->base, &b.err)) {
            b.err = ERR_INIT;
            check_refused(&b);
            break;
        }
        assert_true(by_libraries(b.world, &b.cuda->base, &b.err) == sum);
        assert_true(doubled(&b) == 198);
        assert_no_err(&b.err);
        for (size_t k = 0; k < b.cuda->workspaces.n; k++)
            cuda_give_back(b.cuda, b.cuda->workspaces.v[k]);
        b.cuda->workspaces.n = 0;
        b.cuda->now = NULL;
    }
    bench_close(&b);
    unsetenv("FAKE_CUDNN");
}

static void test_refused(void **state)
{
    struct bench b = bench_open(state);
    setenv("FAKE_CUDNN", "left", 1);
    setenv("SYMTAPE_FAKE_GONE", "1", 1);
    assert_true(by_libraries(b.world, &b.cuda->base, &b.err) == 64 + 4 * 16 * 16);
    break_context(&b);
    check_refused(&b);
    bench_close(&b);
    unsetenv("SYMTAPE_FAKE_GONE");
    b.err = ERR_INIT;
    assert_null(backend_cuda.open(&b.err)); /* its end mends the fake device for the next test */
    unsetenv("FAKE_CUDNN");
}

/* A new context of which only the commands fail. */
static void test_refused_late(void **state)
{
    struct bench b = bench_open(state);
    struct memory x;
    break_context(&b);
    setenv("SYMTAPE_FAKE_FAIL", "cuStreamSynchronize:0:719", 1);
    for (int i = 0; i < 2; i++) {
        assert_false(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
        assert_err(&b.err, ERR_ENV,
                   "a new context fails at once with CUDA_ERROR_LAUNCH_FAILED "
                   "719; run symtape again");
        b.err = ERR_INIT;
        unsetenv("SYMTAPE_FAKE_FAIL"); /* it is not tried a second time */
    }
    bench_close(&b);
}

/* One that does not come back says so each time, and is asked again. */
static void test_gone(void **state)
{
    struct bench b = bench_open(state);
    struct memory x;
    bench_start(&b);
    assert_true(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
    setenv("SYMTAPE_FAKE_LOST", "1:719", 1);
    launch_scale(&b, (uint64_t)(uintptr_t)x.p, 100, 2, 0);
    assert_false(backend_cuda.wait(&b.cuda->base, &b.err));
    b.err = ERR_INIT;
    backend_cuda.release(&b.cuda->base, &x);
    setenv("SYMTAPE_FAKE_FAIL", "cuDevicePrimaryCtxRetain:0:46", 1);
    for (int i = 0; i < 2; i++) {
        assert_false(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
        assert_err(&b.err, ERR_ENV, "the device was lost (kernel scale: ");
        b.err = ERR_INIT;
        assert_false(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
        assert_err(&b.err, ERR_ENV,
                   "a new context cannot be made: device host pretending to be a "
                   "device is busy or cannot be used");
    }
    unsetenv("SYMTAPE_FAKE_FAIL");
    unsetenv("SYMTAPE_FAKE_LOST");
    assert_true(backend_cuda.allocate(&b.cuda->base, 400, &x, &b.err));
    backend_cuda.release(&b.cuda->base, &x);
    bench_close(&b);
}

/* Free memory, with what the pool has and nobody uses. */
static void test_room(void **state)
{
    setenv("SYMTAPE_FAKE_MEMORY", "33554432", 1);
    struct bench b = bench_open(state);
    struct memory x;
    uint64_t all = backend_cuda.free_memory(&b.cuda->base);
    assert_true(all > 33 << 20 >> 1 && all < 32 << 20);
    assert_true(backend_cuda.allocate(&b.cuda->base, 8 << 20, &x, &b.err));
    assert_int_equal(backend_cuda.free_memory(&b.cuda->base), all - (8 << 20));
    backend_cuda.release(&b.cuda->base, &x);
    assert_int_equal(backend_cuda.free_memory(&b.cuda->base), all);
    bench_close(&b);
    unsetenv("SYMTAPE_FAKE_MEMORY");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_launches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reports, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cache, setup, teardown),
        cmocka_unit_test_setup_teardown(test_host_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room, setup, teardown),
    };
    const struct CMUnitTest on_device[] = {
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
    };
    if (getenv("SYMTAPE_TEST_DEVICE")) /* what the machine has, not the fake one */
        return cmocka_run_group_tests(on_device, NULL, NULL);
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    setenv("SYMTAPE_CUDA_LIB", folder, 1);
    setenv("XDG_CACHE_HOME", temp_path("cache"), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
