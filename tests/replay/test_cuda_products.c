/* Products, convolutions and attention of the CUDA backend beside the CPU's, on the device that tests
 * pretend to have (tests/cuda): with libraries that hold every call to their rules, with kernels of
 * our own only, and with libraries that fail. */
#include "tests/replay/cuda_calls.h"

static const struct call calls[] = {
#define CASE(inputs, call, results) { inputs, call, results },
#include "tests/replay/cuda_products.def"
#undef CASE
};
enum { CALLS = sizeof calls / sizeof *calls };

struct launched {
    size_t on_host, products, convolutions, others;
};

/* Made of others: what they are made of counts, once it is theirs. */
static bool is_composite(const char *what)
{
#define COMPOSITE(base, run, param) \
    if (strcmp(what, base) == 0)    \
        return true;
#include "replay/backend/composite.def"
#undef COMPOSITE
    return false;
}

static void count(const struct backend *backend, struct launched *ret)
{
    for (size_t i = 0; i < backend->log.launches.n; i++) {
        const struct backend_launch *l = &backend->log.launches.v[i];
        if (is_composite(l->what))
            continue;
        *(l->on_host                                 ? &ret->on_host
          : strstr(l->what, "cublasLt")              ? &ret->products
          : strstr(l->what, "cudnn")                 ? &ret->convolutions
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
}

static void test_without_libraries(void **state)
{
    (void)state;
    setenv("SYMTAPE_CUDA_WITHOUT", "cuDNN,cublaslt", 1);
    struct launched l = compare_all(1);
    unsetenv("SYMTAPE_CUDA_WITHOUT");
    assert_int_equal(l.on_host + l.products + l.convolutions, 0);
    assert_true(l.others >= CALLS - 1);
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
        assert_true(i == 2 || l.products + l.convolutions == 0);
    }
    unsetenv("FAKE_CUBLASLT");
    unsetenv("FAKE_CUDNN");
}

/* A routine that fails names itself and its status. */
static void test_failures(void **state)
{
    (void)state;
    static const struct call product = { "x: \"f32[65, 33][33, 1]cpu\", y: \"f32[33, 70][70, 1]cpu\"",
                                         "mm.default(x, y)", 1 };
    static const struct call convolution = {
        "x: \"f32[2, 5, 9][45, 9, 1]cpu\", w: \"f32[7, 5, 3][15, 3, 1]cpu\"",
        "convolution.default(x, w, None, [1], [1], [1], False, [0], 1)", 1
    };
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_libraries),
        cmocka_unit_test(test_without_libraries),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failures),
    };
    return run_calls(tests, sizeof tests / sizeof *tests);
}
