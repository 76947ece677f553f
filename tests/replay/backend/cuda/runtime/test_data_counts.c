/* Sizes that depend on data, and scattering, on the fake device (tests/cuda):
 * how many launches they take, which errors they name, that their bits are the same at every run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/run/run.h"
#include "tests/harness.h"

/* Integers for the inputs, in their order; where there are none, they are random. A mask m is true.
 */
struct given {
    const int64_t *values[3];
};

static bool give(void *user, uint32_t i, const struct node *node, struct array *ret,
                 struct err *err)
{
    static const bool all[4] = { true, true, true, true };
    const struct given *given = user;
    (void)err;
    if (str_is(node->name, "m")) {
        *ret = (struct array){ .dtype = DTYPE_B8, .ndim = 1, .size = { 4 }, .p = all, .bytes = 4 };
        return true;
    }
    if (i < 3 && given->values[i])
        *ret = (struct array){ .dtype = DTYPE_I64,
                               .ndim = 1,
                               .size = { 4 },
                               .p = given->values[i],
                               .bytes = 4 * sizeof(int64_t) };
    return true;
}

static struct graph *graph_of(const char *inputs, const char *call)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&text, "class f(torch.nn.Module):\n    def forward(self, %s):\n", inputs);
    buf_printf(&text, "        r = torch.ops.aten.%s\n        return (r,)\n", call);
    struct graph *graph = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    assert_no_err(&err);
    return graph;
}

static struct run *start(struct backend *backend, const struct graph *graph,
                         const struct given *given, struct err *err)
{
    struct run_options options = {
        .backend = backend, .seed = 7, .input = given ? give : NULL, .user = (void *)given
    };
    return run_new(graph, &options, err);
}

static struct backend *open_cuda(void)
{
    struct err err = ERR_INIT;
    struct backend *cuda = backend_find(STR("cuda"))->open(&err);
    assert_no_err(&err);
    cuda->log.on = true;
    return cuda;
}

/* ---- Launches ---- */

static void test_launches(void **state)
{
    static const struct {
        const char *inputs, *call;
        size_t launches;
    } rows[] = {
        { "x: \"i64[7, 11][11, 1]cpu\"", "nonzero.default(x)", 2 },
        { "x: \"b8[70, 101][101, 1]cpu\"", "nonzero.default(x)", 3 },
        { "x: \"f32[7, 11][11, 1]cpu\", m: \"b8[7, 11][11, 1]cpu\"", "masked_select.default(x, m)",
          2 },
        { "x: \"f32[7, 11][11, 1]cpu\", m: \"b8[7][1]cpu\"", "index.Tensor(x, [m])", 3 },
        { "r: \"i64[13][1]cpu\"", "repeat_interleave.Tensor(r)", 2 },
        /* A copy of self, or zeros, comes first. */
        { "x: \"f32[300, 64][64, 1]cpu\", i: \"i64[900, 64][1, 0]cpu\", y: \"f32[900, 64][64, 1]cpu\"",
          "scatter_add.default(x, 0, i, y)", 2 },
        { "x: \"f32[3, 4][4, 1]cpu\", i: \"i64[5][1]cpu\", y: \"f32[5, 4][4, 1]cpu\"",
          "index_add.default(x, 0, i, y)", 2 },
        { "x: \"f32[3, 4][4, 1]cpu\", i: \"i64[5][1]cpu\", y: \"f32[5, 4][4, 1]cpu\"",
          "index_put.default(x, [i], y, True)", 2 },
        { "g: \"f32[4, 16, 8][128, 8, 1]cpu\", i: \"i64[4, 16][16, 1]cpu\"",
          "embedding_dense_backward.default(g, i, 30, 0, False)", 2 },
        /* Keys, a pass of eight bits of three, chunks, runs over several. */
        { "x: \"f32[3, 4][4, 1]cpu\", i: \"i64[5000][1]cpu\", y: \"f32[5000, 4][4, 1]cpu\"",
          "index_add.default(x, 0, i, y)", 7 },
    };
    struct backend *cuda = open_cuda();
    struct err err = ERR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph *graph = graph_of(rows[i].inputs, rows[i].call);
        struct run *run = start(cuda, graph, NULL, &err);
        cuda->log.launches.n = 0;
        assert_true(run_execute(run, &err));
        assert_true(cuda->kind->wait(cuda, &err));
        if (cuda->log.launches.n != rows[i].launches)
            fail_msg("%s: %zu launches, not %zu", rows[i].call, cuda->log.launches.n,
                     rows[i].launches);
        run_free(run);
        graph_free(graph);
    }
    cuda->kind->close(cuda);
}

/* ---- Errors ---- */

static const int64_t outside[] = { 0, 2, 9, 1 }, below[] = { 1, 2, -1, 0 }, fine[] = { 1, 0, 1, 2 };

static void expect(const char *inputs, const char *call, struct given given, const char *text)
{
    struct backend *cuda = open_cuda();
    struct err err = ERR_INIT;
    struct graph *graph = graph_of(inputs, call);
    struct run *run = start(cuda, graph, &given, &err);
    assert_non_null(run);
    bool done = run_execute(run, &err) && cuda->kind->wait(cuda, &err);
    if (!text)
        assert_no_err(&err);
    else if (done || !strstr(err.text, text))
        fail_msg("%s: \"%s\" has no \"%s\"", call, err.text, text);
    run_free(run);
    graph_free(graph);
    cuda->kind->close(cuda);
}

#define VECTORS "x: \"f32[3][1]cpu\", i: \"i64[4][1]cpu\", y: \"f32[4][1]cpu\""

static void test_errors(void **state)
{
    (void)state;
    expect(VECTORS, "index_add.default(x, 0, i, y)", (struct given){ { NULL, outside } },
           "aten.index_add.default: index 9 is out of range");
    expect(VECTORS, "scatter_add.default(x, 0, i, y)", (struct given){ { NULL, outside } },
           "aten.scatter_add.default: index 9 is out of range");
    expect("r: \"i64[4][1]cpu\"", "repeat_interleave.Tensor(r)", (struct given){ { below } },
           "repeats can not be negative");
    expect("x: \"i64[4][1]cpu\"", "bincount.default(x)", (struct given){ { below } },
           "bincount only supports 1-d non-negative integral inputs.");
    expect("x: \"i64[4][1]cpu\"", "bincount.default(x)", (struct given){ { fine } }, NULL);
    expect("x: \"i64[4][1]cpu\", m: \"b8[4][1]cpu\", y: \"i64[2][1]cpu\"",
           "masked_scatter.default(x, m, y)", (struct given){ { fine } },
           "aten.masked_scatter.default: index 2 is out of range");
}

/* ---- Values ---- */

static void expect_values(const char *inputs, const char *call, struct given given,
                          const int64_t *expected, size_t n)
{
    struct backend *cuda = open_cuda();
    struct err err = ERR_INIT;
    struct arena arena = { 0 };
    struct array got;
    struct graph *graph = graph_of(inputs, call);
    struct run *run = start(cuda, graph, &given, &err);
    assert_true(run && run_execute(run, &err));
    assert_true(run_array(run, run->outputs[0].u.tensor, &arena, &got, &err));
    assert_int_equal(got.bytes, n * sizeof *expected);
    assert_memory_equal(got.p, expected, got.bytes);
    arena_release(&arena);
    run_free(run);
    graph_free(graph);
    cuda->kind->close(cuda);
}

static void test_values(void **state)
{
    static const int64_t places[] = { 0, 2, 3 }, repeated[] = { 0, 2, 3, 3 }, bins[] = { 1, 2, 1 };
    (void)state;
    expect_values("x: \"i64[4][1]cpu\"", "nonzero.default(x)", (struct given){ { fine } }, places,
                  3);
    expect_values("x: \"i64[4][1]cpu\"", "repeat_interleave.Tensor(x)", (struct given){ { fine } },
                  repeated, 4);
    expect_values("x: \"i64[4][1]cpu\"", "bincount.default(x)", (struct given){ { fine } }, bins,
                  3);
}

static void test_same_bits(void **state)
{
    struct backend *cuda = open_cuda();
    struct err err = ERR_INIT;
    struct graph *graph = graph_of("x: \"f32[3, 4][4, 1]cpu\", i: \"i64[5000][1]cpu\", "
                                   "y: \"f32[5000, 4][4, 1]cpu\"",
                                   "index_add.default(x, 0, i, y)");
    struct arena arena = { 0 };
    struct array first = { 0 }, got;
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct run *run = start(cuda, graph, NULL, &err);
        assert_true(run_execute(run, &err));
        assert_true(run_array(run, run->outputs[0].u.tensor, &arena, &got, &err));
        if (i)
            assert_memory_equal(got.p, first.p, got.bytes);
        else
            first = got;
        run_free(run);
    }
    arena_release(&arena);
    graph_free(graph);
    cuda->kind->close(cuda);
}

int main(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    setenv("SYMTAPE_CUDA_LIB", folder, 1);
    strcat(folder, "/cache");
    setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
