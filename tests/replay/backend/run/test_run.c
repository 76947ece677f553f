/* Graphs run on the CPU and by sizes only: sizes and what they are held to, asserts that data
 * decide, memory, indices that are none, odd sizes and values. */
#include "replay/backend/run/run.h"

#include <math.h>
#include <string.h>

#include "replay/backend/measure/memory_needs.h"
#include "replay/backend/measure/peak.h"
#include "replay/backend/run/inputs/kept_inputs.h"
#include "replay/backend/values/elements.h"
#include "tests/harness.h"

/* One float input is filled with that value, an integer one with that number. */
struct values {
    float real;
    int64_t whole;
    unsigned char bytes[1 << 12];
    bool given;
    char said[200];
    unsigned n_said;
};

static bool give(void *user, uint32_t i, const struct node *node, struct array *ret,
                 struct err *err)
{
    struct values *v = user;
    (void)i, (void)err;
    if (!v->given)
        return true;
    bool real = str_starts(node->name, STR("x"));
    size_t size = real ? 4 : 8;
    for (size_t k = 0; k < sizeof v->bytes / size; k++)
        memcpy(v->bytes + k * size, real ? (void *)&v->real : (void *)&v->whole, size);
    *ret = (struct array){ .dtype = real ? DTYPE_F32 : DTYPE_I64,
                           .ndim = 1,
                           .size = { 6 },
                           .p = v->bytes,
                           .bytes = 6 * size };
    return true;
}

static void hear(void *user, struct str text)
{
    struct values *v = user;
    if (v->n_said++ == 0)
        snprintf(v->said, sizeof v->said, "%.*s", STR_ARG(text));
}

struct world {
    struct graph *graph;
    struct backend *backend;
    struct values values;
    struct run_options options;
    struct run *run;
    struct err err;
};

static const struct run_symbol SYMBOLS[] = {
    { { "s0", 2 }, 8, true, { "8", 1 } },
    { { "s1", 2 }, 16, true, { "16", 2 } },
};

static void open_world(struct world *w, const char *backend, const char *body)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    memset(w, 0, sizeof *w);
    buf_printf(&text, "class f(torch.nn.Module):\n%s", body);
    w->graph = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    w->backend = backend_find(str_of(backend))->open(&err);
    assert_no_err(&err);
    w->options = (struct run_options){
        .backend = w->backend, .input = give, .user = &w->values, .symbols = SYMBOLS, .n_symbols = 2
    };
}

static bool execute(struct world *w)
{
    run_free(w->run);
    w->err = ERR_INIT;
    w->run = run_new(w->graph, &w->options, &w->err);
    if (w->run)
        w->run->exec.storages.noting = true;
    return w->run && run_execute(w->run, &w->err);
}

static void close_world(struct world *w)
{
    run_free(w->run);
    w->backend->kind->close(w->backend);
    graph_free(w->graph);
}

static double first_output(struct world *w)
{
    struct arena arena = ARENA_INIT;
    struct array a;
    double ret;
    assert_true(run_array(w->run, w->run->outputs[0].u.tensor, &arena, &a, &w->err));
    ret = a.bytes ? load_real(a.dtype, a.p, 0) : 0;
    arena_release(&arena);
    return ret;
}

static const char CHAIN[] = "    def forward(self, x: \"f32[s0][1]cpu\", y: \"f32[s1][1]cpu\"):\n"
                            "        a: \"f32[s0][1]cpu\" = torch.ops.aten.sin.default(x)\n"
                            "        b: \"f32[s0][1]cpu\" = torch.ops.aten.cos.default(a)\n"
                            "        c: \"f32[s0][1]cpu\" = torch.ops.aten.tanh.default(b)\n"
                            "        return (c,)\n";

/* x, y stay; of the chain two are held at once. */
static void test_memory(void **state)
{
    (void)state;
    static const char *const backends[] = { "cpu", "null" };
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct peak peak;
        struct arena arena = ARENA_INIT;
        open_world(&w, backends[i], CHAIN);
        assert_true(execute(&w));
        assert_int_equal(w.run->exec.storages.peak, 4 * (8 + 16 + 8 + 8));
        assert_true(peak_of(&w.run->exec.storages, &arena, &peak, &w.err));
        assert_int_equal(peak.bytes, w.run->exec.storages.peak);
        assert_true(str_is(w.graph->nodes[peak.node].name, "b"));
        assert_int_equal(peak.n_holders, 4);
        assert_true(str_is(w.graph->nodes[peak.holders[0].node].name, "y"));
        arena_release(&arena);
        close_world(&w);
    }
}

static const char NUMBER[] = "    def forward(self, x: \"f64[][]cpu\"):\n"
                             "        a: \"f64[][]cpu\" = torch.ops.aten.add.Tensor(x, 1.0)\n"
                             "        return (a,)\n";

static double number_of(struct world *w, struct tensor x)
{
    double ret;
    assert_true(exec_read(&w->run->exec, x, &ret, sizeof ret, &w->err));
    return ret;
}

/* A number that the host wrote is read without the backend, until a call writes the memory. */
static void test_known_number(void **state)
{
    (void)state;
    struct world w;
    double other = 5;
    open_world(&w, "cpu", NUMBER);
    assert_true(execute(&w));
    struct tensor x = run_value(w.run, 0).u.tensor;
    struct memory *m = storage_at(&w.run->exec.storages, x.storage);
    double before = number_of(&w, x);
    assert_true(w.backend->kind->write(w.backend, m, 0, &other, sizeof other, &w.err));
    assert_double_is(number_of(&w, x), before);
    m->written = true;
    assert_double_is(number_of(&w, x), other);
    close_world(&w);
}

static const char WRITES[] = "    def forward(self, x: \"f32[s0][1]cpu\", y: \"f32[s0][1]cpu\"):\n"
                             "        a: \"f32[s0][1]cpu\" = torch.ops.aten.add.Tensor(x, y)\n"
                             "        b: \"f32[s0][1]cpu\" = torch.ops.aten.mul_.Tensor(y, 3.0)\n"
                             "        c: \"f32[s0][1]cpu\" = torch.ops.aten.add.Tensor(a, b)\n"
                             "        return (c,)\n";

/* The same again: y, which is written, is given anew; x is where it was, and asked for once. */
static void test_again(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu", WRITES);
    assert_true(execute(&w));
    double first = first_output(&w);
    size_t peak = w.run->exec.storages.peak;
    void *x = storage_at(&w.run->exec.storages, 0)->p;
    for (int i = 0; i < 3; i++) {
        assert_true(run_execute(w.run, &w.err));
        assert_true(first_output(&w) == first);
        assert_int_equal(w.run->exec.storages.peak, peak);
        assert_int_equal(w.run->calls, 3);
        assert_ptr_equal(storage_at(&w.run->exec.storages, 0)->p, x);
    }
    close_world(&w);
}

static const struct run_guard PREMISES[] = {
    { .kind = RUN_GUARD_GUARD, .expr = { "Eq(s1, 2*s0)", 12 }, .place = { "a.py:3 `y`", 10 } },
    { .kind = RUN_GUARD_GUARD, .expr = { "Eq(Mod(s0, 4), 0)", 17 }, .place = { "a.py:4 `x`", 10 } },
    { .kind = RUN_GUARD_RANGE, .expr = { "[2, 1024]", 9 }, .symbol = { "s0", 2 } },
};

/* s1 follows from s0; what does not hold is refused by name, or told. */
static void test_guards(void **state)
{
    (void)state;
    struct world w;
    struct run_size sizes[] = { { { "s0", 2 }, 12 }, { { "s1", 2 }, 24 } };
    open_world(&w, "null", CHAIN);
    w.options.guards = PREMISES;
    w.options.n_guards = 3;
    assert_true(execute(&w));
    w.options.sizes = sizes;
    w.options.n_sizes = 1;
    assert_true(execute(&w));
    assert_int_equal(w.run->exec.storages.peak, 4 * (12 + 24 + 12 + 12));
    w.options.n_sizes = 2;
    sizes[1].value = 25;
    assert_false(execute(&w));
    assert_err(
        &w.err, ERR_USAGE,
        "guard Eq(s1, 2*s0) does not hold: s1 = 25 (recorded: 16), s0 = 12 (recorded: 8), at "
        "a.py:3 `y`");
    w.options.n_sizes = 1;
    sizes[0].value = 7;
    assert_false(execute(&w));
    assert_non_null(strstr(w.err.text, "Eq(Mod(s0, 4), 0)"));
    sizes[0].value = 2048;
    assert_false(execute(&w));
    assert_non_null(strstr(w.err.text, "s0 must be within [2, 1024], is 2048"));
    w.options.violated = hear;
    assert_true(execute(&w));
    assert_int_equal(w.values.n_said, 1);
    sizes[0].value = -1;
    assert_false(execute(&w));
    assert_non_null(strstr(w.err.text, "a size cannot be negative"));
    close_world(&w);
}

static void test_sizes(void **state)
{
    (void)state;
    struct world w;
    struct run_size sizes[] = { { { "s0", 2 }, 0 }, { { "s1", 2 }, 1 } };
    open_world(&w, "cpu", CHAIN);
    w.options.sizes = sizes;
    w.options.n_sizes = 2;
    assert_true(execute(&w));
    assert_int_equal(w.run->outputs[0].u.tensor.meta->ndim, 1);
    sizes[0].value = INT64_C(1) << 40;
    assert_false(run_fits(w.graph, &w.options, &w.err));
    assert_int_equal(w.err.kind, ERR_ENV);
    assert_non_null(strstr(w.err.text, "13194139533316 bytes of memory are needed"));
    assert_non_null(strstr(w.err.text, "node x is the first that needs more"));
    sizes[0].value = INT64_C(1) << 61;
    assert_false(execute(&w));
    assert_err(&w.err, ERR_ENV, "node x: it needs more than 2^63 bytes");
    close_world(&w);
}

/* NaN goes through, and is no fault. */
static void test_nan(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu",
               "    def forward(self, x: \"f32[6][1]cpu\"):\n"
               "        a: \"f32[6][1]cpu\" = torch.ops.aten.relu.default(x)\n"
               "        s: \"f32[][]cpu\" = torch.ops.aten.sum.default(a)\n"
               "        return (s,)\n");
    w.values.given = true;
    w.values.real = NAN;
    assert_true(execute(&w));
    assert_true(isnan(first_output(&w)));
    w.values.real = 2;
    assert_true(execute(&w));
    assert_true(first_output(&w) == 12);
    close_world(&w);
}

static void test_index_out_of_range(void **state)
{
    (void)state;
    struct world w;
    static const int64_t bad[] = { 6, -7, INT64_MAX, INT64_MIN };
    open_world(&w, "cpu",
               "    def forward(self, x: \"f32[6][1]cpu\", i: \"i64[6][1]cpu\"):\n"
               "        # File: model.py:7 in forward, code: return x[i]\n"
               "        a: \"f32[6][1]cpu\" = torch.ops.aten.index_select.default(x, 0, i)\n"
               "        g: \"f32[6][1]cpu\" = torch.ops.aten.index.Tensor(x, [i])\n"
               "        return (g,)\n");
    w.values.given = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        w.values.whole = bad[i];
        assert_false(execute(&w));
        assert_int_equal(w.err.kind, ERR_USAGE);
        assert_non_null(strstr(w.err.text, "node a at model.py:7 `return x[i]`"));
    }
    w.values.whole = 5;
    assert_true(execute(&w));
    close_world(&w);
}

/* Offsets of bags are data, too: the bags must lie within the indices. */
static void test_bag_out_of_range(void **state)
{
    (void)state;
    struct world w;
    static const int64_t bad[] = { 7, -5, INT64_MAX, INT64_MIN };
    open_world(&w, "cpu",
               "    def forward(self, x: \"f32[6][1]cpu\", i: \"i64[6][1]cpu\"):\n"
               "        t: \"f32[6, 1][1, 1]cpu\" = torch.ops.aten.unsqueeze.default(x, 1)\n"
               "        z: \"i64[6][1]cpu\" = torch.ops.aten.zeros_like.default(i)\n"
               "        b = torch.ops.aten._embedding_bag.default(t, z, i)\n"
               "        o: \"f32[6, 1][1, 1]cpu\" = b[0]\n"
               "        return (o,)\n");
    w.values.given = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        w.values.whole = bad[i];
        assert_false(execute(&w));
        assert_int_equal(w.err.kind, ERR_USAGE);
        assert_non_null(strstr(w.err.text, "a bag's offset is out of bounds for 6 indices"));
    }
    w.values.whole = 0;
    assert_true(execute(&w));
    close_world(&w);
}

/* A token is a tensor without elements, which no call computes. */
static void test_effects(void **state)
{
    (void)state;
    struct world w;
    open_world(
        &w, "cpu",
        "    def forward(self, token: \"i64[6][1]cpu\", x: \"f32[6][1]cpu\"):\n"
        "        e = torch.ops.higher_order.with_effects(token, torch.ops.aten.neg.default, x)\n"
        "        t: \"f32[0][1]cpu\" = e[0]\n"
        "        y: \"f32[6][1]cpu\" = e[1]\n"
        "        return (y, t)\n");
    w.values.given = true;
    w.values.real = 2;
    execute(&w);
    assert_no_err(&w.err);
    assert_true(first_output(&w) == -2);
    close_world(&w);
}

/* A float that PyTorch hands over as a tensor is what was recorded of it. */
static void test_recorded_number(void **state)
{
    (void)state;
    struct world w;
    static const struct run_symbol epsilon = { .name = { "zf1", 3 }, .text = { "1e-06", 5 } };
    open_world(
        &w, "cpu",
        "    def forward(self, e: \"f64[][]cpu\"):\n"
        "        n: \"Sym(zf1)\" = torch.ops.aten._local_scalar_dense.default(e)\n"
        "        a: \"f64[2][1]cpu\" = torch.ops.aten.full.default([2], n, dtype=torch.float64)\n"
        "        return (a,)\n");
    w.options.symbols = &epsilon;
    w.options.n_symbols = 1;
    execute(&w);
    assert_no_err(&w.err);
    assert_true(first_output(&w) == 1e-6);
    w.options.n_symbols = 0;
    execute(&w);
    assert_no_err(&w.err);
    assert_true(first_output(&w) != 1e-6);
    close_world(&w);
}

static const char COUNTED[] =
    "    def forward(self, i: \"i64[6][1]cpu\"):\n"
    "        # File: model.py:9 in forward, code: return i.nonzero()\n"
    "        n: \"i64[u0, 1][1, u0]cpu\" = torch.ops.aten.nonzero.default(i)\n"
    "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(n, 0)\n"
    "        ok: \"Sym(u0 <= 4)\" = k <= 4\n"
    "        check = torch.ops.aten._assert_scalar.default(ok, \"too many\")\n"
    "        return (n,)\n";

/* The data decide; by sizes only, what is said of the symbol, or all. */
static void test_asserts(void **state)
{
    (void)state;
    struct world w;
    static const struct run_guard assert_u0 = { .kind = RUN_GUARD_ASSERT,
                                                .expr = { "u0 <= 4", 7 },
                                                .place = { "model.py:8 `check`", 18 } };
    struct run_size sizes[] = { { { "u0", 2 }, 3 } };
    open_world(&w, "cpu", COUNTED);
    w.values.given = true;
    w.values.whole = 0;
    w.options.guards = &assert_u0;
    w.options.n_guards = 1;
    assert_true(execute(&w));
    w.values.whole = 1;
    assert_false(execute(&w));
    assert_err(
        &w.err, ERR_USAGE,
        "node n at model.py:9 `return i.nonzero()`: runtime assert u0 <= 4 does not hold: u0 = "
        "6, at model.py:8 `check`");
    w.options.n_guards = 0;
    assert_false(execute(&w));
    assert_non_null(strstr(w.err.text, "node check"));
    assert_non_null(strstr(w.err.text, "too many"));
    close_world(&w);

    open_world(&w, "null", COUNTED);
    assert_false(execute(&w));
    w.options.sizes = sizes;
    w.options.n_sizes = 1;
    assert_true(execute(&w));
    close_world(&w);
}

static void test_unsupported(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu",
               "    def forward(self, x: \"f32[6][1]cpu\"):\n"
               "        a: \"f32[6][1]cpu\" = torch.ops.mylib.mine.default(x)\n"
               "        return (a,)\n");
    assert_false(execute(&w));
    assert_true(w.run->unsupported);
    assert_non_null(strstr(w.err.text, "node a: unsupported: mylib.mine.default"));
    close_world(&w);
}

static bool is_node_of_graph(void *user, const struct node *node)
{
    const struct world *w = user;
    assert_true(node >= w->graph->nodes && node < w->graph->nodes + w->graph->n_nodes);
    return false;
}

/* The number of an attribute of a subgraph is none of the outer graph's, which has fewer nodes. */
static void test_attribute_of_subgraph(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu",
               "    def forward(self, p: \"b8[][]cpu\", x: \"f32[4][1]cpu\"):\n"
               "        true_0 = self.true_0\n"
               "        cond = torch.ops.higher_order.cond(p, true_0, true_0, (x,))\n"
               "        getitem: \"f32[4][1]cpu\" = cond[0]\n"
               "        return (getitem,)\n"
               "    class true_0(torch.nn.Module):\n"
               "        def forward(self, y: \"f32[4][1]cpu\"):\n"
               "            a: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(y)\n"
               "            b: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(a)\n"
               "            c: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(b)\n"
               "            d: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(c)\n"
               "            e: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(d)\n"
               "            f: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(e)\n"
               "            weight: \"f32[4][1]cpu\" = self.weight\n"
               "            add: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(f, weight)\n"
               "            return (add,)\n");
    w.options.input = NULL;
    w.options.replicated = is_node_of_graph;
    w.options.user = &w;
    execute(&w);
    assert_no_err(&w.err);
    close_world(&w);
}

/* The rule of that operator is its fake kernel, which returns empty tensors. */
static void test_fake_kernel(void **state)
{
    (void)state;
    struct world w;
    open_world(
        &w, "cpu",
        "    def forward(self, x: \"f32[6, 2][2, 1]cpu\", w: \"f32[3, 2][2, 1]cpu\", t: "
        "\"i64[6][1]cpu\"):\n"
        "        a: \"f32[6][1]cpu\" = torch.ops.torch_nn._linear_cross_entropy_batch_chunked_"
        "no_reduction.default(x, w, t, None, None, -100, 1, 'accurate', torch.float32)\n"
        "        return (a,)\n");
    assert_false(execute(&w));
    assert_non_null(strstr(w.err.text, "no kernel of backend cpu"));
    close_world(&w);
}

static const char POWERS[] =
    "    def forward(self, x: \"f32[6][1]cpu\", xs: \"f32[6][1]cpu\"):\n"
    "        powers = torch.ops.aten._foreach_pow.ScalarAndTensor(2.0, [x, xs])\n"
    "        a: \"f32[6][1]cpu\" = powers[1]\n"
    "        return (a,)\n";

/* The list is not the first argument. */
static void test_foreach(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "cpu", POWERS);
    w.values.given = true;
    w.values.real = 3;
    assert_true(execute(&w));
    assert_true(first_output(&w) == 8);
    close_world(&w);
}

/* ---- Weights that stay for runs at other sizes ---- */

#define WEIGHTS                                                                     \
    "    def forward(self, x: \"f32[s0, 6][6, 1]cpu\", w: \"f32[6, 3][3, 1]cpu\", " \
    "b: \"f32[3][1]cpu\"):\n"                                                       \
    "        c: \"f32[3][1]cpu\" = torch.ops.aten.add_.Tensor(b, 1)\n"              \
    "        y: \"f32[s0, 3][3, 1]cpu\" = torch.ops.aten.addmm.default(c, x, w)\n"  \
    "        return (y,)\n"

/* Runs the graph at a size; returns the first element of the output. */
static float first_at(struct world *w, int64_t size)
{
    const struct run_size sizes[] = { { STR("s0"), size } };
    struct arena arena = { 0 };
    struct array a;
    float ret;
    w->options.sizes = sizes;
    w->options.n_sizes = 1;
    assert_true(execute(w));
    assert_true(run_array(w->run, w->run->outputs[0].u.tensor, &arena, &a, &w->err));
    memcpy(&ret, a.p, sizeof ret);
    arena_release(&arena);
    run_free(w->run);
    w->run = NULL;
    return ret;
}

/* Values are those that would be made. What a call wrote, and what the symbol changes, is made
 * anew. */
static void test_kept(void **state)
{
    (void)state;
    struct world w;
    struct kept_inputs kept = { .backend = NULL };
    open_world(&w, "cpu", WEIGHTS);
    const float four = first_at(&w, 4), five = first_at(&w, 5);
    w.options.kept = &kept;
    kept_inputs_of(&kept, w.backend, 1);
    assert_true(first_at(&w, 4) == four);
    assert_int_equal(kept.bytes, 6 * 3 * sizeof(float));
    const void *p = kept.by_node.v[1].memory.p;
    assert_true(first_at(&w, 5) == five);
    assert_ptr_equal(kept.by_node.v[1].memory.p, p);
    w.options.seed++;
    first_at(&w, 5);
    w.options.seed--;
    assert_true(first_at(&w, 5) == five);
    kept_inputs_of(&kept, w.backend, 2);
    assert_int_equal(kept.bytes, 0);
    assert_true(first_at(&w, 4) == four);
    kept_inputs_release(&kept);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_known_number),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_asserts),
        cmocka_unit_test(test_index_out_of_range),
        cmocka_unit_test(test_bag_out_of_range),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_attribute_of_subgraph),
        cmocka_unit_test(test_fake_kernel),
        cmocka_unit_test(test_recorded_number),
        cmocka_unit_test(test_foreach),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
