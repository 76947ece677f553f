/* Products, convolutions and attention of the CUDA backend beside the CPU's, on the
 * fake device (tests/cuda): with libraries that hold every call to their rules, with kernels of
 * our own only, and with libraries that fail. With $SYMTAPE_TEST_DEVICE on the device that there
 * is, except where the answers are those of the fake libraries. */
#include <dlfcn.h>

#include "tests/replay/backend/cuda/cuda_calls.h"

static const struct call calls[] = {
#define CASE(inputs, call, results) { inputs, call, results },
#include "tests/replay/backend/cuda/kernels/cuda_products.def"
#undef CASE
};
enum { CALLS = sizeof calls / sizeof *calls };

struct launched {
    size_t on_host, products, convolutions, attentions, others;
};

/* Made of others: what they are made of counts, once it is theirs. */
static bool is_composite(const char *what)
{
#define BACKEND_COMPOSITE(base, run, param) \
    if (strcmp(what, base) == 0)            \
        return true;
#include "replay/backend/call/composite.def"
#undef BACKEND_COMPOSITE
    return false;
}

static void count(const struct backend *backend, struct launched *ret)
{
    for (size_t i = 0; i < backend->log.launches.n; i++) {
        const struct backend_launch *l = &backend->log.launches.v[i];
        if (is_composite(l->what))
            continue;
        *(l->on_host                           ? &ret->on_host
          : strstr(l->what, "cublasLt")        ? &ret->products
          : strstr(l->what, "cudnn attention") ? &ret->attentions
          : strstr(l->what, "cudnn")           ? &ret->convolutions
                                               : &ret->others) += 1;
        if (l->on_host)
            print_message("on the host: %s\n", l->what);
    }
}

static struct launched compare_all(int times)
{
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    struct launched ret = { 0 };
    cuda->log.on = true;
    for (size_t i = 0; i < CALLS; i++)
        compare_call(cpu, cuda, &calls[i], times, 2e-5); /* sums of a few hundred products */
    count(cuda, &ret);
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    return ret;
}

static void test_with_libraries(void **state)
{
    (void)state;
    struct launched l = compare_all(2);
    assert_int_equal(l.on_host, 0);
    assert_true(l.products >= 30);
    assert_true(l.convolutions >= 30);
    assert_true(l.attentions >= 2 * 7); /* a backward is a forward, too */
}

static void test_without_libraries(void **state)
{
    (void)state;
    setenv("SYMTAPE_CUDA_WITHOUT", "cuDNN,cublaslt", 1);
    struct launched l = compare_all(1);
    unsetenv("SYMTAPE_CUDA_WITHOUT");
    assert_int_equal(l.on_host + l.products + l.convolutions + l.attentions, 0);
    assert_true(l.others >= CALLS - 1);
}

/* Products of 16 bits whose sizes are padded, whatever their work: as many products of the library,
 * and the same values. */
static void test_padded(void **state)
{
    (void)state;
    setenv("SYMTAPE_CUDA_PAD_MM", "none", 1);
    struct launched plain = compare_all(1);
    setenv("SYMTAPE_CUDA_PAD_MM", "all", 1);
    struct launched l = compare_all(2);
    setenv("SYMTAPE_CUDA_WIDE", "1", 1);
    compare_all(1);
    unsetenv("SYMTAPE_CUDA_WIDE");
    unsetenv("SYMTAPE_CUDA_PAD_MM");
    assert_int_equal(l.on_host, 0);
    assert_int_equal(l.products, 2 * plain.products);
    assert_true(l.others >= 2 * (plain.others + 20)); /* the copies */
}

/* Counts the launches of one run, whose values are not looked at: large products take long. */
static struct launched launched_by(const struct call *c)
{
    struct launched ret = { 0 };
    struct err err = ERR_INIT;
    struct backend *cuda = open_backend("cuda");
    struct graph *graph = graph_of(c);
    cuda->log.on = true;
    struct run *run = run_new(graph, &(struct run_options){ .backend = cuda, .seed = 7 }, &err);
    assert_true(run && run_execute(run, &err));
    count(cuda, &ret);
    assert_int_equal(ret.on_host, 0);
    run_free(run);
    graph_free(graph);
    cuda->kind->close(cuda);
    return ret;
}

/* Returns the number of products of the library that a call makes. */
static size_t products_of(struct backend *cpu, const struct call *c)
{
    struct launched l = { 0 };
    struct backend *cuda = open_backend("cuda");
    cuda->log.on = true;
    compare_call(cpu, cuda, c, 1, 2e-5);
    count(cuda, &l);
    assert_int_equal(l.on_host, 0);
    cuda->kind->close(cuda);
    return l.products / 2; /* a call is run twice */
}

/* Sizes are padded from 200 multiplications for each element of the matrices on, and only where the
 * library multiplies the copies. A product that it refuses when it is launched is not in the log.
 */
static void test_what_is_padded(void **state)
{
    (void)state;
#define PRODUCT(m, k, n, x, y)                                                    \
    {                                                                             \
        "x: \"f16[" m ", " k "][" x "]cpu\", y: \"f16[" k ", " n "][" y "]cpu\"", \
            "mm.default(x, y)", 1                                                 \
    }
    static const struct {
        const char *how, *mood; /* of the library */
        struct call call;
        size_t products, others;
    } rows[] = {
        { NULL, "", PRODUCT("608", "601", "608", "601, 1", "608, 1"), 1, 2 },
        { NULL, "", PRODUCT("80", "593", "592", "593, 1", "592, 1"), 1, 0 },
        { "all", "", PRODUCT("64", "33", "72", "33, 1", "72, 1"), 1, 2 },
        { "all", "", PRODUCT("64", "33", "70", "33, 1", "70, 1"), 1, 3 },
        { "all", "", PRODUCT("64", "33", "70", "66, 2", "70, 1"), 0, 1 }, /* our own kernel */
        { "all", "refuse", PRODUCT("64", "33", "70", "33, 1", "70, 1"), 0, 1 },
        { "none", "unsupported", PRODUCT("64", "33", "70", "33, 1", "70, 1"), 0, 1 },
    };
#undef PRODUCT
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("FAKE_CUBLASLT", rows[i].mood, 1);
        if (rows[i].how)
            setenv("SYMTAPE_CUDA_PAD_MM", rows[i].how, 1);
        const struct launched l = launched_by(&rows[i].call);
        unsetenv("SYMTAPE_CUDA_PAD_MM");
        unsetenv("FAKE_CUBLASLT");
        if (l.products != rows[i].products || l.others != rows[i].others)
            fail_msg("row %zu: %zu products and %zu others", i, l.products, l.others);
    }
}

/* Without memory for all copies there are none, and the product is the same. */
static void test_padded_without_memory(void **state)
{
    (void)state;
    static const struct call tall = { "x: \"f16[50000, 9][9, 1]cpu\", y: \"f16[9, 17][17, 1]cpu\"",
                                      "mm.default(x, y)", 1 };
    static const struct {
        const char *bytes;
        size_t copies;
    } rows[] = { { "16777216", 3 }, { "6291456", 0 }, { "4194304", 0 } };
    setenv("SYMTAPE_CUDA_PAD_MM", "all", 1);
    struct backend *cpu = open_backend("cpu");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("SYMTAPE_FAKE_MEMORY", rows[i].bytes, 1);
        const struct launched l = launched_by(&tall);
        assert_int_equal(products_of(cpu, &tall), 1);
        if (l.products != 1 || l.others != rows[i].copies)
            fail_msg("row %zu: %zu products and %zu others", i, l.products, l.others);
    }
    cpu->kind->close(cpu);
    unsetenv("SYMTAPE_FAKE_MEMORY");
    unsetenv("SYMTAPE_CUDA_PAD_MM");
}

/* What a library does not take is computed all the same. */
static void test_refusals(void **state)
{
    (void)state;
    static const char *const moods[] = { "refuse", "absent", "unsupported" };
    for (size_t i = 0; i < 3; i++) {
        setenv("FAKE_CUBLASLT", moods[i], 1);
        setenv("FAKE_CUDNN", moods[i], 1);
        struct launched l = compare_all(1);
        assert_int_equal(l.on_host, 0);
        assert_true(i == 2 || l.products + l.convolutions + l.attentions == 0);
    }
    unsetenv("FAKE_CUBLASLT");
    unsetenv("FAKE_CUDNN");
}

/* Which products of few bits the library gets; "older" does not know the modes of scales. */
static void test_few_bits(void **state)
{
    (void)state;
#define SCALED(x, y, a, b, more)                                                     \
    {                                                                                \
        "x: \"" x "[32, 48][48, 1]cpu\", y: \"" y "[48, 32][1, 48]cpu\", a: \"f32" a \
        "cpu\", b: \"f32" b "cpu\"",                                                 \
            "_scaled_mm.default(x, y, a, b" more ")", 1                              \
    }
#define INTEGERS(x, sizes, strides)                                             \
    {                                                                           \
        "x: \"" x "[32, 48][48, 1]cpu\", y: \"i8[" sizes "][" strides "]cpu\"", \
            "_int_mm.default(x, y)", 1                                          \
    }
#define BF16 ", out_dtype = torch.bfloat16"
    static const struct {
        struct call call;
        size_t products, of_older;
    } rows[] = {
        { INTEGERS("i8", "48, 32", "1, 48"), 1, 1 },
        { INTEGERS("i8", "48, 31", "1, 48"), 0, 0 }, /* 31 is no multiple of 4 */
        { INTEGERS("u8", "48, 32", "1, 48"), 0, 0 },
        { SCALED("f8e4m3fn", "f8e4m3fn", "[][]", "[][]", ""), 1, 1 },
        { SCALED("f8e4m3fn", "f8e5m2", "[32, 1][1, 1]", "[1, 32][32, 1]", BF16), 1, 0 },
        { SCALED("f8e4m3fn", "f8e5m2", "[32, 1][1, 1]", "[1, 32][32, 1]", ""), 0, 0 },
        { SCALED("f8e5m2", "f8e5m2", "[][]", "[][]", BF16), 0, 0 },
    };
#undef SCALED
#undef INTEGERS
#undef BF16
    struct backend *cpu = open_backend("cpu");
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        if (i % 2)
            setenv("FAKE_CUBLASLT", "older", 1);
        const size_t n = products_of(cpu, &rows[i / 2].call);
        unsetenv("FAKE_CUBLASLT");
        if (n != (i % 2 ? rows[i / 2].of_older : rows[i / 2].products))
            fail_msg("row %zu: %zu products", i / 2, n);
    }
    cpu->kind->close(cpu);
}

/* ---- Plans ---- */

static const struct call product = { "x: \"f32[65, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"",
                                     "mm.default(x, y)", 1 };
static const struct call convolution = {
    "x: \"f32[2, 5, 9][45, 9, 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",
    "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1
};
static const struct call addition = {
    "b: \"f32[65, 70][70, 1]cpu\", x: \"f32[65, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"",
    "addmm_.default(b, x, y, beta = 3)", 1
};

/* $XDG_CACHE_HOME, which is an empty folder for a test. */
struct empty_cache {
    char folder[32], *before;
};

static struct empty_cache empty_cache_begin(void)
{
    struct empty_cache ret = { "/tmp/symtape-plans-XXXXXX", NULL };
    const char *old = getenv("XDG_CACHE_HOME");
    ret.before = old ? strdup(old) : NULL;
    assert_non_null(mkdtemp(ret.folder));
    setenv("XDG_CACHE_HOME", ret.folder, 1);
    return ret;
}

static void empty_cache_end(struct empty_cache *cache)
{
    char text[64];
    cache->before ? setenv("XDG_CACHE_HOME", cache->before, 1) : unsetenv("XDG_CACHE_HOME");
    free(cache->before);
    snprintf(text, sizeof text, "rm -r %s", cache->folder);
    assert_int_equal(system(text), 0);
}

/* Plans of the fake cuDNN that took long to make. */
static unsigned slow_plans(void)
{
    void *library = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_NOLOAD);
    unsigned (*made)(void) = NULL;
    void *p = library ? dlsym(library, "fake_cudnn_slow_plans") : NULL;
    memcpy(&made, &p, sizeof made);
    const unsigned n = made ? made() : 0;
    if (library)
        dlclose(library);
    return n;
}

struct tried {
    uint64_t plans;
    unsigned slow_at_once, slow; /* plans that took long to make: in the first run, and all */
};

/* Runs the call beside the CPU, before and after choices that it put off, and counts the plans that
 * were tried for them. */
static struct tried plans_tried_by(struct backend *cpu, struct backend *cuda, const struct call *c)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_of(c);
    const uint64_t before = cuda->log.tried;
    struct run *expected = run_on(cpu, graph, &err);
    const unsigned slow = slow_plans();
    struct run *got = run_on(cuda, graph, &err);
    struct tried ret = { .slow_at_once = slow_plans() - slow };
    assert_no_err(&err);
    compare(expected, got, c, 2e-5);
    run_free(got);
    assert_int_equal(cuda->log.tried, before); /* a call does not wait for it */
    cuda->kind->refine(cuda);
    ret.plans = cuda->log.tried - before;
    assert_false(cuda->kind->refine(cuda));
    got = run_on(cuda, graph, &err);
    assert_no_err(&err);
    compare(expected, got, c, 2e-5);
    assert_int_equal(cuda->log.tried, before + ret.plans); /* the second time it is known */
    ret.slow = slow_plans() - slow;
    run_free(got);
    run_free(expected);
    graph_free(graph);
    return ret;
}

static uint64_t plans_tried(const struct call *c)
{
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    const uint64_t tried = plans_tried_by(cpu, cuda, c).plans;
    assert_true((tried > 0) == (cuda->log.try_ns > 0));
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    return tried;
}

/* Enough work: the plans of a class are tried once, for its first size. */
static void test_refined(void **state)
{
    (void)state;
    static const struct {
        struct call call;
        uint64_t tried;
    } rows[] = {
        { { "x: \"f32[65, 99][99, 1]cpu\", y: \"f32[99, 170][170, 1]cpu\"", "mm.default(x, y)", 1 },
          3 },
        { { "x: \"f32[90, 99][99, 1]cpu\", y: \"f32[99, 170][170, 1]cpu\"", "mm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[2, 25, 90][2250, 90, 1]cpu\", w: \"f32[80, 25, 3][75, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          3 },
        { { "x: \"f32[2, 25, 95][2375, 95, 1]cpu\", w: \"f32[80, 25, 3][75, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          0 },
        { { "x: \"f32[7, 25, 90][2250, 90, 1]cpu\", w: \"f32[80, 25, 3][75, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          3 }, /* the first run got the plan of a class that is near */
        { { "x: \"i8[68, 100][100, 1]cpu\", y: \"i8[100, 172][1, 100]cpu\"",
            "_int_mm.default(x, y)", 1 },
          3 },
        { { "x: \"f8e4m3fn[68, 96][96, 1]cpu\", y: \"f8e5m2[96, 176][1, 96]cpu\", "
            "a: \"f32[68, 1][1, 1]cpu\", b: \"f32[1, 176][176, 1]cpu\", c: \"bf16[176][1]cpu\"",
            "_scaled_mm.default(x, y, a, b, c, out_dtype = torch.bfloat16)", 1 },
          3 },
    };
    struct empty_cache cache = empty_cache_begin();
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t tried = plans_tried_by(cpu, cuda, &rows[i].call).plans;
        if (tried != rows[i].tried)
            fail_msg("row %zu: %llu", i, (unsigned long long)tried);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    empty_cache_end(&cache);
}

#define ROWS(m)                                                                                  \
    {                                                                                            \
        "x: \"f32[" m ", 99][99, 1]cpu\", y: \"f32[99, 170][170, 1]cpu\"", "mm.default(x, y)", 1 \
    }

/* The library refuses the plan of the class at a larger size. That of this size replaces it. */
static void test_replaced(void **state)
{
    (void)state;
    static const struct {
        struct call call;
        uint64_t tried;
    } rows[] = { { ROWS("65"), 3 }, { ROWS("90"), 3 }, { ROWS("80"), 0 }, { ROWS("67"), 0 } };
    struct empty_cache cache = empty_cache_begin();
    setenv("FAKE_CUBLASLT", "narrow", 1);
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(plans_tried_by(cpu, cuda, &rows[i].call).plans, rows[i].tried);
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    unsetenv("FAKE_CUBLASLT");
    empty_cache_end(&cache);
}

/* Trials take the memory of their operands and of the largest workspace, and give it back. */
static void test_memory_of_trials(void **state)
{
    (void)state;
    static const struct call tall = { "x: \"f32[150000, 8][8, 1]cpu\", y: \"f32[8, 16][16, 1]cpu\"",
                                      "mm.default(x, y)", 1 };
    enum { MB = 1 << 20 };
    struct err err = ERR_INIT;
    struct empty_cache cache = empty_cache_begin();
    struct backend *cuda = open_backend("cuda");
    struct graph *graph = graph_of(&tall);
    struct run *run = run_on(cuda, graph, &err);
    assert_no_err(&err);
    cuda->kind->trim(cuda);
    const uint64_t kept = cuda->pool.kept;
    cuda->kind->refine(cuda);
    cuda->kind->trim(cuda);
    assert_int_equal(cuda->log.tried, 3);
    assert_int_equal(cuda->pool.peak, kept + 16 * MB); /* 4.8 MB of x and 9.6 MB of the result */
    assert_int_equal(cuda->pool.kept, kept);
    run_free(run);
    graph_free(graph);
    cuda->kind->close(cuda);
    empty_cache_end(&cache);
}

#define WIDE(positions, stride)                                                \
    {                                                                          \
        "x: \"f32[2, 25, " positions "][" stride ", " positions                \
        ", 1]cpu\", w: \"f32[80, 25, 3][75, 3, 1]cpu\"",                       \
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 \
    }
#define SMALL(positions, stride)                                               \
    {                                                                          \
        "x: \"f32[2, 5, " positions "][" stride ", " positions                 \
        ", 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",                         \
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 \
    }

/* The first engine that is offered takes long to make a plan. Other sizes of the class get another
 * one at once; if it is much faster, it is made for them between runs. */
static void test_slow_to_make(void **state)
{
    (void)state;
    static const struct {
        const char *mood, *choice;
        bool opened; /* a new process begins here */
        struct call call;
        uint64_t tried;
        unsigned at_once, all; /* slow plans that were made */
    } rows[] = {
        { "slow", "first", true, WIDE("90", "2250"), 0, 1, 1 },
        { "slow", "first", false, WIDE("95", "2375"), 0, 1, 1 },
        { "slow", "", true, WIDE("90", "2250"), 3, 1, 3 },
        { "slow", "", false, WIDE("95", "2375"), 0, 0, 0 },
        { "slow", "", false, WIDE("40", "1000"), 0, 0, 0 },   /* too little work to measure */
        { "slow", "", false, WIDE("900", "22500"), 3, 0, 2 }, /* the slow engine is known */
        { "slow", "", false, SMALL("9", "45"), 0, 0, 0 },
        { "slow", "", true, WIDE("97", "2425"), 0, 0, 0 },
        { "slow", "", false, SMALL("9", "45"), 3, 1, 3 },
        { "slow", "", false, SMALL("13", "65"), 0, 0, 0 },
        { "slow", "", true, SMALL("9", "45"), 0, 0, 0 }, /* as the other process chose */
        { "slow, fast", "", true, SMALL("300", "1500"), 3, 1, 3 },
        { "slow, fast", "", false, SMALL("310", "1550"), 3, 0, 2 },
    };
    struct empty_cache cache = empty_cache_begin();
    struct backend *cpu = open_backend("cpu"), *cuda = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("FAKE_CUDNN", rows[i].mood, 1);
        setenv("SYMTAPE_CUDA_PLANS", rows[i].choice, 1);
        if (rows[i].opened && cuda)
            cuda->kind->close(cuda);
        if (rows[i].opened)
            cuda = open_backend("cuda");
        struct tried tried = plans_tried_by(cpu, cuda, &rows[i].call);
        if (tried.plans != rows[i].tried || tried.slow_at_once != rows[i].at_once ||
            tried.slow != rows[i].all)
            fail_msg("row %zu: %llu tried, %u and %u slow", i, (unsigned long long)tried.plans,
                     tried.slow_at_once, tried.slow);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    unsetenv("SYMTAPE_CUDA_PLANS");
    unsetenv("FAKE_CUDNN");
    empty_cache_end(&cache);
}

/* Little to do: the first will do. Otherwise three algorithms of cuBLASLt, and of cuDNN the three
 * engines that suit f32 (fake_cudnn.c); what was chosen is known to the next process. */
static void test_choice(void **state)
{
    (void)state;
    const struct call *const all[] = { &product, &addition, &convolution };
    struct empty_cache cache = empty_cache_begin();
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(plans_tried(all[i]), 0);
    setenv("SYMTAPE_CUDA_PLANS", "all", 1);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(plans_tried(all[i]), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(plans_tried(all[i]), 0);
    unsetenv("SYMTAPE_CUDA_PLANS");
    empty_cache_end(&cache);
}

/* Runs the call beside the CPU; returns how many of its plans were chosen before. */
static uint64_t plans_recalled(struct backend *cpu, struct backend *cuda, const struct call *c)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_of(c);
    const uint64_t before = cuda->log.recalled;
    struct run *expected = run_on(cpu, graph, &err), *got = run_on(cuda, graph, &err);
    assert_no_err(&err);
    compare(expected, got, c, 2e-5);
    run_free(got);
    run_free(expected);
    graph_free(graph);
    return cuda->log.recalled - before;
}

/* A problem of other sizes gets the plan of the first one of its class, without a heuristic; one
 * that is too far away, or of another layout, gets its own. */
static void test_classes(void **state)
{
    (void)state;
    static const struct {
        struct call call;
        uint64_t recalled;
    } rows[] = {
        { { "x: \"f32[65, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"", "mm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[90, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"", "mm.default(x, y)", 1 },
          1 },
        { { "x: \"f32[65, 39][39, 1]cpu\", y: \"f32[39, 70][70, 1]cpu\"", "mm.default(x, y)", 1 },
          1 },
        { { "x: \"f32[130, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"", "mm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[65, 33][33, 1]cpu\", y: \"f32[33, 72][72, 1]cpu\"", "mm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[90, 33][1, 90]cpu\", y: \"f32[33, 70][70, 1]cpu\"", "mm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[4, 9, 17][153, 17, 1]cpu\", y: \"f32[4, 17, 9][153, 9, 1]cpu\"",
            "bmm.default(x, y)", 1 },
          0 },
        { { "x: \"f32[5, 11, 19][209, 19, 1]cpu\", y: \"f32[5, 19, 11][209, 11, 1]cpu\"",
            "bmm.default(x, y)", 1 },
          1 },
        { { "x: \"f32[2, 5, 9][45, 9, 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          0 },
        { { "x: \"f32[2, 5, 13][65, 13, 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          1 },
        { { "x: \"f32[90, 5, 13][65, 13, 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          0 },
        { { "x: \"f32[2, 5, 13][65, 13, 1]cpu\", w: \"f32[6, 5, 3][15, 3, 1]cpu\"",
            "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1 },
          0 },
    };
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t recalled = plans_recalled(cpu, cuda, &rows[i].call);
        if (recalled != rows[i].recalled)
            fail_msg("row %zu: %llu", i, (unsigned long long)recalled);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
}

/* The library is not asked whether the algorithm of the class supports a size if it supported
 * another one. Where it does not, the product is refused and gets an algorithm of its own; from
 * then on, the library is asked. */
static void test_assumed(void **state)
{
    (void)state;
    static const struct {
        struct call call;
        uint64_t recalled;
    } rows[] = { { ROWS("80"), 0 }, { ROWS("70"), 1 }, { ROWS("75"), 1 },
                 { ROWS("90"), 0 }, { ROWS("85"), 0 }, { ROWS("72"), 1 } };
    struct empty_cache cache = empty_cache_begin();
    setenv("FAKE_CUBLASLT", "narrow", 1);
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(plans_recalled(cpu, cuda, &rows[i].call), rows[i].recalled);
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    unsetenv("FAKE_CUBLASLT");
    empty_cache_end(&cache);
}

/* Other numbers of few rows need nothing that was not compiled between runs. */
static void test_few_rows(void **state)
{
    (void)state;
    static const struct call rows[] = {
        { "x: \"f32[1, 33][33, 1]cpu\", y: \"f32[33, 20][20, 1]cpu\"", "mm.default(x, y)", 1 },
        { "x: \"f32[2, 33][33, 1]cpu\", y: \"f32[33, 20][20, 1]cpu\"", "mm.default(x, y)", 1 },
        { "x: \"f32[3, 32][32, 1]cpu\", y: \"f32[32, 20][1, 32]cpu\"", "mm.default(x, y)", 1 },
        { "x: \"f32[7, 33][33, 1]cpu\", y: \"f32[33, 20][20, 1]cpu\"", "mm.default(x, y)", 1 },
        { "x: \"f32[90, 33][33, 1]cpu\", y: \"f32[33, 5][5, 1]cpu\"", "mm.default(x, y)", 1 },
    };
    struct empty_cache cache = empty_cache_begin();
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(plans_recalled(cpu, cuda, &rows[i]), 0);
        assert_int_equal(cuda->log.compiled, i == 0 ? 1 : 4);
        cuda->kind->refine(cuda);
        assert_int_equal(cuda->log.compiled, 4); /* those for 1, 2, 4 and 8 rows */
    }
    assert_int_equal(cuda->log.planned, 0); /* cuBLASLt is not asked */
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    empty_cache_end(&cache);
}

/* ---- TF32 ---- */

static double most_off(const struct call *c, bool tf32)
{
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    struct err err = ERR_INIT;
    struct arena arena = { 0 };
    struct array a, b;
    struct graph *graph = graph_of(c);
    cuda->tf32 = tf32;
    struct run *expected = run_on(cpu, graph, &err), *got = run_on(cuda, graph, &err);
    assert_no_err(&err);
    assert_true(run_array(expected, expected->outputs[0].u.tensor, &arena, &a, &err));
    assert_true(run_array(got, got->outputs[0].u.tensor, &arena, &b, &err));
    struct difference d = compare_arrays(&a, &b, tolerance_here(b.dtype, 2e-5));
    arena_release(&arena);
    run_free(got);
    run_free(expected);
    graph_free(graph);
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    return d.max_absolute;
}

/* Only where it is allowed, and of f32 alone. */
static void test_tf32(void **state)
{
    (void)state;
    static const struct call wide = { "x: \"f64[65, 33][33, 1]cpu\", y: \"f64[33, 70][70, 1]cpu\"",
                                      "mm.default(x, y)", 1 };
    assert_true(most_off(&product, false) < 1e-5);
    assert_true(most_off(&convolution, false) < 1e-5);
    assert_true(most_off(&product, true) > 1e-4);
    assert_true(most_off(&convolution, true) > 1e-4);
    assert_true(most_off(&wide, true) < 1e-12);
}

/* A routine that fails names itself and its status. */
static void test_failures(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    setenv("FAKE_CUBLASLT", "broken", 1);
    setenv("FAKE_CUDNN", "broken", 1);
    struct backend *cuda = open_backend("cuda");
    struct graph *graph = graph_of(&product);
    assert_null(run_on(cuda, graph, &err));
    assert_err(&err, ERR_ENV, "cublasLtMatmul: status 13");
    graph_free(graph);
    graph = graph_of(&convolution);
    assert_null(run_on(cuda, graph, &err));
    assert_err(&err, ERR_ENV, "cudnn convolution forward: status 5000");
    graph_free(graph);
    cuda->kind->close(cuda);
    unsetenv("FAKE_CUBLASLT");
    unsetenv("FAKE_CUDNN");
}

/* Attentions do without the library's plans until refine() has made them; a backward needs two. */
static void test_put_off(void **state)
{
    (void)state;
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    cuda->log.on = true;
    for (int refined = 0; refined < 2; refined++) {
        struct launched l = { 0 };
        cuda->puts_off = !refined;
        for (size_t i = 0; i < CALLS; i++)
            if (strstr(calls[i].call, "attention"))
                compare_call(cpu, cuda, &calls[i], 1, 2e-5);
        count(cuda, &l);
        assert_int_equal(l.on_host, 0);
        assert_true(refined ? l.attentions >= 7 : l.attentions == 0);
        const uint64_t planned = cuda->log.planned;
        assert_int_equal(cuda->kind->refine(cuda), !refined);
        assert_int_equal(cuda->log.planned, planned);
        assert_true(cuda->log.tried >= 7);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
}

/* ---- Kernels of later sizes ---- */

/* What other sizes need is compiled between the runs of the first one. */
static void test_later_sizes(void **state)
{
    (void)state;
#define CALL_AT(n, what, results)                                                                \
    {                                                                                            \
        "x: \"f32[6, " n "][" n ", 1]cpu\", y: \"f32[" n "][1]cpu\", z: \"f32[6, 1][1, 1]cpu\"", \
            what, results                                                                        \
    }
#define CALLS_AT(n)                                                                  \
    {                                                                                \
        CALL_AT(n, "add.Tensor(x, y)", 1), CALL_AT(n, "mul.Tensor(x, z)", 1),        \
            CALL_AT(n, "_softmax.default(x, 1, False)", 1),                          \
            CALL_AT(n, "sum.dim_IntList(x, [1])", 1),                                \
            CALL_AT(n, "native_layer_norm.default(x, [" n "], None, None, 1e-5)", 3) \
    }
    static const struct call at[][5] = { CALLS_AT("64"), CALLS_AT("33"), CALLS_AT("62") };
#undef CALLS_AT
#undef CALL_AT
    struct empty_cache cache = empty_cache_begin();
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    uint64_t compiled = 0;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 5; j++)
            compare_call(cpu, cuda, &at[i][j], 1, 2e-5);
        const uint64_t now = cuda->log.compiled;
        assert_true(i == 0 || now == compiled);
        cuda->kind->refine(cuda);
        compiled = cuda->log.compiled;
        assert_true(i == 0 ? compiled > now : compiled == now);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    empty_cache_end(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_libraries),
        cmocka_unit_test(test_without_libraries),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_what_is_padded),
        cmocka_unit_test(test_padded_without_memory),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_refined),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_assumed),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_memory_of_trials),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_tf32),
        cmocka_unit_test(test_slow_to_make),
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_put_off),
        cmocka_unit_test(test_few_bits),
        cmocka_unit_test(test_later_sizes),
    };
    const struct CMUnitTest of_device[] = {
        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_without_libraries),
        cmocka_unit_test(test_with_libraries),
        cmocka_unit_test(test_padded),
    };
    if (on_device())
        return cmocka_run_group_tests(of_device, NULL, NULL);
    return run_calls(tests, sizeof tests / sizeof *tests);
}
