/* Calls on the CUDA backend beside the CPU's, on the fake device
 * (tests/cuda). For tests that include lists of them. */
#ifndef SYMTAPE_TESTS_REPLAY_BACKEND_CUDA_CUDA_CALLS_H
#define SYMTAPE_TESTS_REPLAY_BACKEND_CUDA_CUDA_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/run.h"
#include "tests/harness.h"

struct call {
    const char *inputs, *call;
    int results;
};

/* The device that there is, instead of the fake one. */
static inline bool on_device(void)
{
    return getenv("SYMTAPE_TEST_DEVICE") != NULL;
}

/* Nothing is computed there (fake.h), and nothing can be compared: programs are collected. */
static inline bool is_idle(void)
{
    return getenv("SYMTAPE_FAKE_IDLE") != NULL;
}

/* "p = aten.abs.default(x); torchvision.roi_align.default(y, p)": statements up to the call itself,
 * whose namespace is aten unless it says another one. */
static inline void write_statements(struct buf *text, const char *call)
{
    for (const char *end; (end = strstr(call, "; ")) != NULL; call = end + 2) {
        const char *value = strstr(call, " = ") + 3;
        buf_printf(text, "        %.*s%s%.*s\n", (int)(value - call), call,
                   strchr(value, '(') < end ? "torch.ops." : "", (int)(end - value), value);
    }
    bool named = strncmp(call, "torchvision.", 12) == 0 || strncmp(call, "prims.", 6) == 0;
    buf_printf(text, "        r = torch.ops.%s%s\n", named ? "" : "aten.", call);
}

/* The libraries of tests/cuda; what is compiled stays beside them, for the next run. */
static inline void use_fake_device(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    setenv("SYMTAPE_CUDA_LIB", folder, 1);
    strcat(folder, "/cache");
    setenv("XDG_CACHE_HOME", folder, !is_idle());
}

static inline struct graph *graph_of(const struct call *c)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&text, "class f(torch.nn.Module):\n    def forward(self, %s):\n", c->inputs);
    write_statements(&text, c->call);
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

static inline struct run *run_on(struct backend *backend, const struct graph *graph,
                                 struct err *err)
{
    struct run_options options = { .backend = backend, .seed = 7 };
    struct run *run = run_new(graph, &options, err);
    /* Twice: the second run finds answers, kernels and inputs of the first. */
    if (run && run_execute(run, err) && run_execute(run, err))
        return run;
    run_free(run);
    return NULL;
}

static inline struct backend *open_backend(const char *name)
{
    struct err err = ERR_INIT;
    struct backend *backend = backend_find(str_of(name))->open(&err);
    assert_no_err(&err);
    assert_non_null(backend);
    return backend;
}

/* What f16 and bf16 round to; sums of f32 that may be near zero. */
static inline struct tolerance tolerance_here(enum dtype dtype, double near_zero)
{
    switch (dtype) {
    case DTYPE_C128:
    case DTYPE_F64: return (struct tolerance){ 1e-11, 1e-11 };
    case DTYPE_C64:
    case DTYPE_F32: return (struct tolerance){ near_zero, 2e-5 };
    case DTYPE_F16: return (struct tolerance){ 2e-3, 2e-3 };
    case DTYPE_BF16: return (struct tolerance){ 1.6e-2, 1.6e-2 };
    default: return (struct tolerance){ 0, 0 };
    }
}

static inline void compare(struct run *expected, struct run *got, const struct call *c,
                           double near_zero)
{
    struct arena arena = { 0 };
    struct err err = ERR_INIT;
    assert_int_equal(expected->n_outputs, got->n_outputs);
    for (uint32_t i = 0; i < got->n_outputs && !is_idle(); i++) {
        struct array a, b;
        if (got->outputs[i].kind != VALUE_TENSOR)
            continue;
        assert_true(run_array(expected, expected->outputs[i].u.tensor, &arena, &a, &err));
        assert_true(run_array(got, got->outputs[i].u.tensor, &arena, &b, &err));
        struct difference d = compare_arrays(&a, &b, tolerance_here(b.dtype, near_zero));
        if (!d.comparable || d.bad)
            fail_msg("%s: result %u: %llu of %llu differ, the first at %llu: %g, got %g", c->call,
                     i, (unsigned long long)d.bad, (unsigned long long)d.elements,
                     (unsigned long long)d.first_bad, d.expected, d.got);
    }
    arena_release(&arena);
}

/* Once, or more often, so that what is cached is right, too. */
static inline void compare_call(struct backend *cpu, struct backend *cuda, const struct call *c,
                                int times, double near_zero)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_of(c);
    struct run *expected = run_on(cpu, graph, &err);
    if (!expected)
        fail_msg("%s %s: %s", c->inputs, c->call, err.text);
    for (int time = 0; time < times; time++) {
        struct run *got = run_on(cuda, graph, &err);
        if (!got && !is_idle())
            fail_msg("%s %s: %s", c->inputs, c->call, err.text);
        if (got)
            compare(expected, got, c, near_zero);
        run_free(got);
        err = ERR_INIT;
    }
    run_free(expected);
    graph_free(graph);
}

/* Runs the calls from `first` on, and fails where one is computed on the host. Under the
 * sanitizers, which make the compiler of the kernels slow, every second call is left out. */
static inline void test_calls_from(size_t first, const struct call *calls, size_t n)
{
    size_t step = TESTS_SAMPLE ? 2 : 1, made = 0;
    struct backend *cpu = open_backend("cpu"), *cuda = open_backend("cuda");
    cuda->log.on = true;
    for (size_t i = first; i < n; i += step, made++)
        compare_call(cpu, cuda, &calls[i], 1, 1e-4);
    for (size_t i = 0; i < cuda->log.launches.n; i++)
        if (cuda->log.launches.v[i].on_host)
            fail_msg("%s was computed on the host", cuda->log.launches.v[i].what);
    assert_true(10 * cuda->log.launches.n >= 9 * made); /* what has no elements launches nothing */
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
}

static inline void test_calls(const struct call *calls, size_t n)
{
    test_calls_from(0, calls, n);
}

/* Runs the kernels with 64-bit indices, which otherwise only tensors of more than 2^31 bytes or
 * elements use; in a sample, the calls that test_calls() leaves out. */
static inline void test_calls_wide(const struct call *calls, size_t n)
{
    setenv("SYMTAPE_CUDA_WIDE", "1", 1);
    test_calls_from(TESTS_SAMPLE, calls, n);
    unsetenv("SYMTAPE_CUDA_WIDE");
}

static inline int run_calls(const struct CMUnitTest *tests, size_t n)
{
    use_fake_device();
    return _cmocka_run_group_tests("calls", tests, n, NULL, NULL);
}

#endif
