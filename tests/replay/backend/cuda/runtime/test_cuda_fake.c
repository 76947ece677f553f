/* The device that tests pretend to have (tests/cuda) does what the words of kernel texts mean, and
 * finds what a device would not bear. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/device/prologue.h"
#include "replay/backend/cuda/runtime/abi.h"
#include "replay/backend/cuda/runtime/device_text.h"
#include "tests/harness.h"

static struct driver cuda;
static struct nvrtc nvrtc;

static void *open_library(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/cuda/%s", getenv("SYMTAPE_BUILD"), name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return handle;
}

/* Every symbol that the backend knows is there. */
static int set_up(void **state)
{
    (void)state;
    void *handle = open_library("libcuda.so.1"), *p;
#define SYMBOL(needed, member, symbol, parameters) \
    assert_non_null(p = dlsym(handle, symbol));    \
    memcpy(&cuda.member, &p, sizeof p);
#include "replay/backend/cuda/runtime/driver.def"
#undef SYMBOL
    handle = open_library("libnvrtc.so.13");
#define SYMBOL(needed, member, symbol, parameters) \
    assert_non_null(p = dlsym(handle, symbol));    \
    memcpy(&nvrtc.member, &p, sizeof p);
#include "replay/backend/cuda/runtime/nvrtc.def"
#undef SYMBOL
    return 0;
}

struct args {
    u64 to, from, error;
    i64 n;
};

#define HEAD                                               \
    "#include \"replay/backend/cuda/device/prologue.h\"\n" \
    "struct args { u64 to, from, error; i64 n; };\n"

/* The cubin; NULL, and the log is shown: it does not compile. */
static char *compiled(const char *text, char *log, size_t log_size)
{
    nvrtc_program program;
    const struct device_text *prologue = device_text_find("prologue.h");
    assert_int_equal(
        nvrtc.create(&program, text, "kernels.cu", 1, &prologue->text, &prologue->name), 0);
    int rc = nvrtc.compile(program, 1, (const char *const[]){ "-arch=sm_90" });
    size_t n;
    assert_int_equal(nvrtc.log_size(program, &n), 0);
    assert_true(n <= log_size);
    assert_int_equal(nvrtc.log(program, log), 0);
    char *cubin = NULL;
    if (rc == 0) {
        assert_int_equal(nvrtc.cubin_size(program, &n), 0);
        assert_non_null(cubin = malloc(n));
        assert_int_equal(nvrtc.cubin(program, cubin), 0);
    }
    assert_int_equal(nvrtc.destroy(&program), 0);
    return cubin;
}

static void open_device(void)
{
    cu_context context;
    assert_int_equal(cuda.init(0), CU_OK);
    assert_int_equal(cuda.context_retain(&context, 0), CU_OK);
    assert_int_equal(cuda.context_use(context), CU_OK);
}

static void close_device(void)
{
    assert_int_equal(cuda.context_release(0), CU_OK);
}

/* Runs it over `from` (n bytes, NULL: none) into `to`; what waiting for it gives. */
static int run(const char *text, unsigned grid, unsigned threads, unsigned shared, const void *from,
               void *to, size_t bytes, struct args args)
{
    char log[16384];
    char *cubin = compiled(text, log, sizeof log);
    if (!cubin)
        fail_msg("%s", log);
    cu_module module;
    cu_function function;
    cu_address in = 0, out = 0;
    assert_int_equal(cuda.module_load(&module, cubin, 0, NULL, NULL), CU_OK);
    free(cubin);
    assert_int_equal(cuda.module_function(&function, module, "kernel"), CU_OK);
    assert_int_equal(cuda.allocate(&out, bytes), CU_OK);
    assert_int_equal(cuda.allocate(&in, bytes), CU_OK);
    if (from)
        assert_int_equal(cuda.copy_to_device(in, from, bytes, NULL), CU_OK);
    args.to = out;
    args.from = in;
    int error =
        cuda.launch(function, grid, 1, 1, threads, 1, 1, shared, NULL, (void *[]){ &args }, NULL);
    if (!error)
        error = cuda.stream_wait(NULL);
    if (!error && to)
        assert_int_equal(cuda.copy_to_host(to, out, bytes, NULL), CU_OK);
    cuda.release(in);
    cuda.release(out);
    cuda.module_unload(module);
    return error;
}

/* A row a block: warps, then the block, sum. */
static void test_sums(void **state)
{
    (void)state;
    open_device();
    static const char text[] = HEAD
        "KERNEL(kernel, struct args) {\n"
        "    SHARED(f64, part, 32);\n"
        "    DYNAMIC_SHARED(f32, row);\n"
        "    const f32 *from = PTR(const f32, a.from) + a.n * BLOCK_X;\n"
        "    f64 sum = 0;\n"
        "    ROLLED for (i64 i = THREAD; i < a.n; i += THREADS) sum += row[i] = LOAD(f32, from, i);\n"
        "    UNROLL for (u32 m = 16; m; m /= 2) sum += SHUFFLE_XOR_f64(sum, m);\n"
        "    if (LANE == 0) part[THREAD / WARP] = sum;\n"
        "    SYNC();\n"
        "    if (THREAD == 0) { for (u32 w = 1; w < THREADS / WARP; w++) sum += part[w];\n"
        "        STORE(f32, PTR(f32, a.to), BLOCK_X, sum + row[a.n - 1]); }\n"
        "}\n";
    enum { ROWS = 3, N = 77 };
    float from[ROWS * N], to[ROWS * N];
    double expected[ROWS] = { 0 };
    for (int i = 0; i < ROWS * N; i++)
        expected[i / N] += from[i] = (float)(i % 13) - (float)i / 64;
    assert_int_equal(run(text, ROWS, 96, N * 4, from, to, sizeof from, (struct args){ .n = N }), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(to[i] == (float)(expected[i] + from[i * N + N - 1]));
    for (int i = ROWS; i < ROWS * N; i++)
        assert_true(isnan(to[i])); /* not written */
    close_device();
}

/* Votes, lanes above and below, atomics on elements of two bytes, and what is reported. */
static void test_words(void **state)
{
    (void)state;
    open_device();
    static const char text[] = HEAD
        "KERNEL_OF(kernel, struct args, 32) {\n"
        "    i64 *to = PTR(i64, a.to);\n"
        "    to[THREAD] = SHUFFLE_UP_i64((i64)THREAD, 1) * 1000 + SHUFFLE_DOWN_i32((i32)THREAD, 2);\n"
        "    to[32] = (i64)BALLOT(THREAD % 3 == 0);\n"
        "    if (THREAD == 0) { to[33] = 0; to[34] = 0; to[35] = 0; }\n"
        "    SYNC_WARP();\n"
        "    ATOMIC_ADD(bf16, PTR(bf16, a.to) + 33 * 4, 1);\n"
        "    ATOMIC_MAX(i64, to + 34, (i64)THREAD);\n"
        "    VEC(f16) x = LOAD16(f16, PTR(f16, a.from), 0);\n"
        "    UNROLL for (i32 j = 0; j < PER16(f16); j++) PUT(f16, x, j, AT(f16, x, j) / 3);\n"
        "    STORE16(f16, PTR(f16, a.to), 36 * 4, x);\n"
        "    if (THREAD >= 30) REPORT((u64)(to + 38), THREAD);\n"
        "}\n";
    uint16_t from[40 * 4] = { 0x3c00, 0x4000, 0x4200, 0x7c00, 0x0001, 0x7bff, 0x8000, 0xc500 };
    int64_t to[40];
    memset(from + 38 * 4, 0, 16);
    /* 38 and 39 are the error words: the kernel gets zeroes from where `from` holds them. */
    static char zeroing[sizeof text + 200];
    snprintf(zeroing, sizeof zeroing, "%s", text);
    char *at = strstr(zeroing, "    VEC(f16)");
    char tail[sizeof text];
    snprintf(tail, sizeof tail, "%s", at);
    snprintf(at, sizeof zeroing - (size_t)(at - zeroing),
             "    if (THREAD == 0) { to[38] = 0; to[39] = 0; }\n    SYNC_WARP();\n%s", tail);
    assert_int_equal(run(zeroing, 1, 32, 0, from, to, sizeof to, (struct args){ 0 }), 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(to[i], (i ? i - 1 : 0) * 1000 + (i < 30 ? i + 2 : i));
    uint32_t votes = 0;
    for (int i = 0; i < 32; i += 3)
        votes |= 1u << i;
    assert_int_equal(to[32], votes);
    assert_int_equal(to[33], 0x4200); /* 32 in bf16 */
    assert_int_equal(to[34], 31);
    static const uint16_t thirds[8] = { 0x3555, 0x3955, 0x3c00, 0x7c00,
                                        0x0000, 0x7555, 0x8000, 0xbeab };
    assert_memory_equal(to + 36, thirds, sizeof thirds);
    assert_int_equal(to[38], 2);
    assert_int_equal(to[39], 30);
    close_device();
}

static void expect_failure(const char *body, unsigned threads, int expected)
{
    char text[2048];
    open_device();
    snprintf(text, sizeof text, HEAD "KERNEL(kernel, struct args) {\n%s\n}\n", body);
    assert_int_equal(run(text, 1, threads, 0, NULL, NULL, 4096, (struct args){ .n = 1024 }),
                     expected);
    close_device();
    /* The next context is as good as new. */
    open_device();
    float one = 0;
    assert_int_equal(run(HEAD "KERNEL(kernel, struct args) { *PTR(f32, a.to) = 1; }\n", 1, 1, 0,
                         NULL, &one, 4, (struct args){ 0 }),
                     0);
    assert_true(one == 1);
    close_device();
}

static void test_failures(void **state)
{
    (void)state;
    /* Behind the end, and in front of it all. */
    expect_failure("PTR(f32, a.to)[a.n] = 1;", 1, CU_ILLEGAL_ADDRESS);
    expect_failure("f32 x = PTR(f32, a.from)[a.n + THREAD]; *PTR(f32, a.to) = x;", 64,
                   CU_ILLEGAL_ADDRESS);
    expect_failure("STORE(f32, PTR(f32, 0), 5, 1);", 1, CU_ILLEGAL_ADDRESS);
    /* Vectors where they may not be. */
    expect_failure("STORE16(f32, PTR(f32, a.to), 0, LOAD16(f32, PTR(f32, a.from), 1));", 1,
                   CU_LAUNCH_FAILED);
    expect_failure("SHARED(i32, x, 4); x[0] = (i32)THREAD; x[a.n] = 3; PTR(i32, a.to)[0] = x[0];",
                   1, CU_LAUNCH_FAILED);
    expect_failure("PTR(i64, a.to)[0] = a.n / (i64)THREAD;", 1, CU_LAUNCH_FAILED);
    /* Barriers that not all come to. */
    expect_failure("if (THREAD < 32) SYNC();", 64, CU_LAUNCH_FAILED);
    expect_failure("if (THREAD < 32) SYNC();\nelse SYNC();", 64, CU_LAUNCH_FAILED);
    expect_failure("f32 x = 1; if (THREAD < 7) x = SHUFFLE_XOR_f32(x, 1);"
                   "PTR(f32, a.to)[THREAD] = x;",
                   32, CU_LAUNCH_FAILED);
    expect_failure("PTR(f32, a.to)[THREAD] = SHUFFLE_XOR_f32(1, 1);", 48, CU_LAUNCH_FAILED);
}

static void test_refused(void **state)
{
    (void)state;
    char log[16384];
    assert_null(compiled(HEAD "KERNEL(kernel, struct args) {\n    x = 3;\n}\n", log, sizeof log));
    assert_non_null(strstr(log, "kernels.cu:4:"));
    open_device();
    cu_module module;
    assert_int_equal(cuda.module_load(&module, "no image, but long enough for a header of one ....",
                                      0, NULL, NULL),
                     CU_INVALID_IMAGE);
    static const char text[] = HEAD "KERNEL_OF(kernel, struct args, 64) { }\n";
    assert_int_equal(run(text, 0, 64, 0, NULL, NULL, 16, (struct args){ 0 }), CU_INVALID_VALUE);
    assert_int_equal(run(text, 1, 65, 0, NULL, NULL, 16, (struct args){ 0 }), 701);
    assert_int_equal(run(text, 1, 64, 49 << 10, NULL, NULL, 16, (struct args){ 0 }),
                     CU_INVALID_VALUE);
    close_device();
}

static void test_memory(void **state)
{
    (void)state;
    open_device();
    cu_address p, q;
    char bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    setenv("SYMTAPE_FAKE_MEMORY", "1000000", 1);
    assert_int_equal(cuda.allocate(&p, 600000), CU_OK);
    assert_int_equal(p % 256, 0);
    assert_int_equal(cuda.allocate(&q, 600000), CU_OUT_OF_MEMORY);
    assert_int_equal(cuda.copy_to_host(bytes, p + 599992, 8, NULL), CU_OK);
    assert_int_equal(bytes[7], (char)0xff);
    assert_int_equal(cuda.copy_to_host(bytes, p + 599993, 8, NULL), CU_INVALID_VALUE);
    assert_int_equal(cuda.release(p + 256), CU_INVALID_VALUE);
    assert_int_equal(cuda.release(p), CU_OK);
    assert_int_equal(cuda.release(p), CU_INVALID_VALUE);
    assert_int_equal(cuda.copy_to_host(bytes, p, 8, NULL), CU_INVALID_VALUE);
    unsetenv("SYMTAPE_FAKE_MEMORY");
    setenv("SYMTAPE_FAKE_FAIL", "cuStreamCreate:0:2,cuMemFree_v2:0:999", 1);
    cu_stream stream;
    assert_int_equal(cuda.stream_create(&stream, 0), CU_OUT_OF_MEMORY);
    unsetenv("SYMTAPE_FAKE_FAIL");
    close_device();
    assert_int_equal(cuda.allocate(&p, 16), 201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
