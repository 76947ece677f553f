/* Random inputs are of the kind that the operators of a graph need, at every size. */
#include "replay/backend/run/inputs/input_needs.h"

#include <math.h>
#include <string.h>

#include "replay/backend/run/run.h"
#include "replay/backend/values/elements.h"
#include "tests/harness.h"

enum { INPUTS = 8, MOST = 4096 };

/* The inputs of one run, as numbers. */
struct inputs {
    double numbers[INPUTS][MOST];
    size_t n[INPUTS];
    uint32_t count;
};

static bool keep_input(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    struct inputs *in = user;
    struct arena arena = ARENA_INIT;
    struct array a;
    if (step->kind != STEP_INPUT || value->kind != VALUE_TENSOR)
        return true;
    assert_true(in->count < INPUTS && run_array(run, value->u.tensor, &arena, &a, err));
    size_t n = a.bytes / dtype_size(a.dtype);
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++)
        in->numbers[in->count][i] = dense_kind_of(a.dtype) == DENSE_INT
                                        ? (double)load_int(a.dtype, a.p, (int64_t)i)
                                        : load_real(a.dtype, a.p, (int64_t)i);
    in->n[in->count++] = n;
    arena_release(&arena);
    return true;
}

static struct graph *graph_of(const char *body)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&text, "class f(torch.nn.Module):\n    def forward(self, %s", body);
    struct graph *ret = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    assert_no_err(&err);
    return ret;
}

static void run_graph(const char *body, const struct run_options *more, struct inputs *in)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_of(body);
    struct run_options options = *more;
    options.backend = backend_find(STR("cpu"))->open(&err);
    options.node = keep_input;
    options.node_user = in;
    *in = (struct inputs){ .count = 0 };
    struct run *run = run_new(graph, &options, &err);
    bool ok = run && run_execute(run, &err);
    assert_no_err(&err);
    assert_true(ok);
    run_free(run);
    options.backend->kind->close(options.backend);
    graph_free(graph);
}

static double rms(const struct inputs *in, uint32_t input)
{
    double sum = 0;
    for (size_t i = 0; i < in->n[input]; i++)
        sum += in->numbers[input][i] * in->numbers[input][i];
    return sqrt(sum / (double)in->n[input]);
}

static double least(const struct inputs *in, uint32_t input)
{
    double ret = INFINITY;
    for (size_t i = 0; i < in->n[input]; i++)
        ret = fmin(ret, in->numbers[input][i]);
    return ret;
}

static double greatest(const struct inputs *in, uint32_t input)
{
    double ret = -INFINITY;
    for (size_t i = 0; i < in->n[input]; i++)
        ret = fmax(ret, in->numbers[input][i]);
    return ret;
}

static const struct run_options PLAIN = { .seed = 0 };

/* A weight is scaled by the terms of a sum, also behind a view and a cast. */
static void test_weights(void **state)
{
    (void)state;
    struct inputs in;
    run_graph(
        "x: \"f32[8, 64][64, 1]cpu\", w: \"f32[16, 64][64, 1]cpu\", b: \"f32[16][1]cpu\",\n"
        "            k: \"f32[4, 4, 5][20, 5, 1]cpu\"):\n"
        "        t: \"f32[64, 16][1, 64]cpu\" = torch.ops.aten.t.default(w)\n"
        "        c: \"f32[64, 16][1, 64]cpu\" = torch.ops.aten.clone.default(t)\n"
        "        addmm: \"f32[8, 16][16, 1]cpu\" = torch.ops.aten.addmm.default(b, x, c)\n"
        "        v: \"f32[2, 4, 16][64, 16, 1]cpu\" = torch.ops.aten.view.default(addmm, [2, 4, 16])\n"
        "        conv: \"f32[2, 4, 12][48, 12, 1]cpu\" = torch.ops.aten.convolution.default(v, k, None,"
        " [1], [0], [1], False, [0], 1)\n"
        "        return (conv,)\n",
        &PLAIN, &in);
    assert_true(fabs(rms(&in, 0) - 1) < 0.1);
    assert_true(fabs(rms(&in, 1) * 8 - 1) < 0.1);
    assert_true(rms(&in, 2) < 0.2);
    assert_true(fabs(rms(&in, 3) * sqrt(20) - 1) < 0.3);
}

/* Roots, statistics of norms, factors, probabilities. */
static void test_ranges(void **state)
{
    (void)state;
    struct inputs in;
    run_graph(
        "x: \"f32[64, 4][4, 1]cpu\", mean: \"f32[4][1]cpu\", var: \"f32[4][1]cpu\",\n"
        "            w: \"f32[4][1]cpu\", square: \"f32[64, 4][4, 1]cpu\", p: \"f32[64, 4][4, 1]cpu\"):\n"
        "        bn = torch.ops.aten._native_batch_norm_legit_no_training.default(x, None, None, mean,"
        " var, 0.1, 1e-05)\n"
        "        y: \"f32[64, 4][4, 1]cpu\" = bn[0]\n"
        "        z: \"f32[64, 4][4, 1]cpu\" = torch.ops.aten.mul.Tensor(y, w)\n"
        "        e: \"f32[64, 4][4, 1]cpu\" = torch.ops.aten.add.Tensor(square, 1e-05)\n"
        "        r: \"f32[64, 4][4, 1]cpu\" = torch.ops.aten.rsqrt.default(e)\n"
        "        q: \"f32[64, 4][4, 1]cpu\" = torch.ops.aten.rsub.Scalar(p, 1)\n"
        "        l: \"f32[64, 4][4, 1]cpu\" = torch.ops.aten.log.default(q)\n"
        "        return (z, r, l)\n",
        &PLAIN, &in);
    assert_true(least(&in, 0) < -1);
    assert_true(fabs(greatest(&in, 1)) < 0.4);
    assert_true(least(&in, 2) > 0.4);
    assert_true(least(&in, 3) > 0.6 && greatest(&in, 3) < 1.4);
    assert_true(least(&in, 4) > 0.4);
    assert_true(least(&in, 5) > 0 && greatest(&in, 5) < 1);
}

/* x * x and even powers are positive for any x. */
static void test_no_needs(void **state)
{
    (void)state;
    struct inputs in;
    run_graph("x: \"f32[64][1]cpu\", y: \"f32[64][1]cpu\"):\n"
              "        a: \"f32[64][1]cpu\" = torch.ops.aten.mul.Tensor(x, x)\n"
              "        b: \"f32[64][1]cpu\" = torch.ops.aten.pow.Tensor_Scalar(y, 2)\n"
              "        c: \"f32[64][1]cpu\" = torch.ops.aten.add.Tensor(a, b)\n"
              "        d: \"f32[64][1]cpu\" = torch.ops.aten.sqrt.default(c)\n"
              "        return (d,)\n",
              &PLAIN, &in);
    assert_true(least(&in, 0) < -0.5 && least(&in, 1) < -0.5);
}

/* Indices are within their table at the sizes of the run, and reach its end; shifted ones too. */
static void test_indices(void **state)
{
    (void)state;
    static const int64_t rows[] = { 1, 3, 200 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct inputs in;
        const struct run_size size = { STR("s0"), rows[i] };
        const struct run_options options = { .sizes = &size, .n_sizes = 1 };
        run_graph(
            "s0: \"Sym(s0)\", table: \"f32[s0 + 2, 4][4, 1]cpu\", ids: \"i64[900][1]cpu\",\n"
            "            at: \"i64[900][1]cpu\", put: \"i64[50][1]cpu\", x: \"f32[s0, 2][2, 1]cpu\",\n"
            "            bits: \"i64[8, 9][9, 1]cpu\"):\n"
            "        more: \"i64[900][1]cpu\" = torch.ops.aten.add.Tensor(ids, 2)\n"
            "        e: \"f32[900, 4][4, 1]cpu\" = torch.ops.aten.embedding.default(table, more)\n"
            "        g: \"f32[900, 2][2, 1]cpu\" = torch.ops.aten.index.Tensor(x, [at])\n"
            "        z: \"f32[2, 50][50, 1]cpu\" = torch.ops.aten.zeros.default([2, 50],"
            " device = device(type='cpu'), pin_memory = False)\n"
            "        q: \"f32[2, 50][50, 1]cpu\" = torch.ops.aten.index_put.default(z, [None, put], z)\n"
            "        return (e, g, q, bits)\n",
            &options, &in);
        assert_true(least(&in, 1) == 0 && greatest(&in, 1) == (double)rows[i] - 1);
        assert_true(least(&in, 2) == 0 && greatest(&in, 2) == (double)rows[i] - 1);
        bool seen[50] = { false };
        for (size_t k = 0; k < 50; k++) {
            assert_true(!seen[(size_t)in.numbers[3][k]]);
            seen[(size_t)in.numbers[3][k]] = true;
        }
        assert_true(least(&in, 5) == 0 && greatest(&in, 5) == 1);
        assert_true(in.numbers[5][0] == 1 && in.numbers[5][1] == 0 && in.numbers[5][9] == 1);
    }
}

/* Lengths of jagged rows add up to the rows that there are, whatever is asked for. */
static void test_lengths(void **state)
{
    (void)state;
    static const int64_t totals[] = { 0, 5, 83, 900 };
    const struct run_guard guard = { .kind = RUN_GUARD_ASSERT, .expr = STR("Eq(u0 + u1, s1)") };
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        struct inputs in;
        const struct run_size size = { STR("s1"), totals[i] };
        const struct run_options options = {
            .sizes = &size, .n_sizes = 1, .guards = &guard, .n_guards = 1
        };
        run_graph("lengths: \"i64[2, 16][16, 1]cpu\", values: \"f32[s1][1]cpu\"):\n"
                  "        sum_1: \"i64[2][1]cpu\" = torch.ops.aten.sum.dim_IntList(lengths, [1])\n"
                  "        a: \"i64[][]cpu\" = torch.ops.aten.select.int(sum_1, 0, 0)\n"
                  "        n: \"Sym(u0)\" = torch.ops.aten._local_scalar_dense.default(a)\n"
                  "        b: \"i64[][]cpu\" = torch.ops.aten.select.int(sum_1, 0, 1)\n"
                  "        m: \"Sym(u1)\" = torch.ops.aten._local_scalar_dense.default(b)\n"
                  "        split = torch.ops.aten.split_with_sizes.default(values, [n, m])\n"
                  "        x: \"f32[u0][1]cpu\" = split[0]\n"
                  "        y: \"f32[u1][1]cpu\" = split[1]\n"
                  "        return (x, y)\n",
                  &options, &in);
        double sum = 0;
        for (size_t k = 0; k < 32; k++)
            sum += in.numbers[0][k];
        assert_true(sum == (double)totals[i] && least(&in, 0) >= 0);
    }
}

/* ---- Forward and backward ---- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),  cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_no_needs), cmocka_unit_test(test_indices),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
