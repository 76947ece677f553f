/* Products, convolutions and attention of the CUDA backend beside the CPU's, on the device that tests
 * pretend to have (tests/cuda): with libraries that hold every call to their rules, with kernels of
 * our own only, and with libraries that fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/compare_values.h"
#include "replay/backend/run.h"
#include "tests/harness.h"

struct call {
    const char *inputs, *call;
    int results;
};

static const struct call calls[] = {
#define CASE(inputs, call, results) { inputs, call, results },
#include "tests/replay/cuda_products.def"
#undef CASE
};
enum { CALLS = sizeof calls / sizeof *calls };

static struct graph *graph_of(const struct call *c)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&text, "class f(torch.nn.Module):\n    def forward(self, %s):\n", c->inputs);
    buf_printf(&text, "        r = torch.ops.aten.%s\n", c->call);
    for (int i = 0; c->results > 1 && i < c->results; i++)
        buf_printf(&text, "        r%d = r[%d]\n", i, i);
    buf_puts(&text, "        return (");
    for (int i = 0; i < c->results; i++)
        c->results > 1 ? buf_printf(&text, "r%d, ", i) : buf_puts(&text, "r,");
    buf_puts(&text, ")\n");
    struct graph *graph = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    assert_no_err(&err);
    assert_non_null(graph);
    return graph;
}

static struct run *run_on(struct backend *backend, const struct graph *graph, struct err *err)
{
    struct run_options options = { .backend = backend, .seed = 7 };
    struct run *run = run_new(graph, &options, err);
    /* Twice: the second run finds the first one's answers, kernels and inputs. */
    if (run && run_execute(run, err) && run_execute(run, err))
        return run;
    run_free(run);
    return NULL;
}

static struct backend *open_backend(const char *name)
{
    struct err err = ERR_INIT;
    struct backend *backend = backend_find(str_of(name))->open(&err);
    assert_no_err(&err);
    assert_non_null(backend);
    return backend;
}

/* Sums of a few hundred products in f32; what f16 and bf16 round to. */
static struct tolerance tolerance_here(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64: return (struct tolerance){ 1e-11, 1e-11 };
    case DTYPE_F32: return (struct tolerance){ 2e-5, 2e-5 };
    case DTYPE_F16: return (struct tolerance){ 2e-3, 2e-3 };
    case DTYPE_BF16: return (struct tolerance){ 1.6e-2, 1.6e-2 };
    default: return (struct tolerance){ 0, 0 };
    }
}

static void compare(struct run *expected, struct run *got, const struct call *c)
{
    struct arena arena = { 0 };
    struct err err = ERR_INIT;
    assert_int_equal(expected->n_outputs, got->n_outputs);
    for (uint32_t i = 0; i < got->n_outputs; i++) {
        struct array a, b;
        if (got->outputs[i].kind != VALUE_TENSOR)
            continue;
        assert_true(run_array(expected, expected->outputs[i].u.tensor, &arena, &a, &err));
        assert_true(run_array(got, got->outputs[i].u.tensor, &arena, &b, &err));
        struct difference d = compare_arrays(&a, &b, tolerance_here(b.dtype));
        if (!d.comparable || d.bad)
            fail_msg("%s: result %u: %llu of %llu differ, the first at %llu: %g, got %g", c->call, i,
                     (unsigned long long)d.bad, (unsigned long long)d.elements,
                     (unsigned long long)d.first_bad, d.expected, d.got);
    }
    arena_release(&arena);
}

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
    struct err err = ERR_INIT;
    cuda->log.on = true;
    for (size_t i = 0; i < CALLS; i++) {
        struct graph *graph = graph_of(&calls[i]);
        struct run *expected = run_on(cpu, graph, &err);
        if (!expected)
            fail_msg("%s: %s", calls[i].call, err.text);
        for (int time = 0; time < times; time++) {
            struct run *got = run_on(cuda, graph, &err);
            if (!got)
                fail_msg("%s: %s", calls[i].call, err.text);
            compare(expected, got, &calls[i]);
            run_free(got);
        }
        run_free(expected);
        graph_free(graph);
    }
    count(cuda, &ret);
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
    return ret;
}

/* Twice, so that what is cached is right, too. */
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
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    setenv("SYMTAPE_CUDA_LIB", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_libraries),
        cmocka_unit_test(test_without_libraries),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
