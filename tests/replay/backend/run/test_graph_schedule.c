/* The graphs of one compile pass values to each other: what a forward graph saves, outputs of parts
 * that a compile was cut into, inputs that parts have in common, and gradients. */
#include "replay/backend/run/graph_schedule.h"

#include <math.h>
#include <stdlib.h>

#include "tests/harness.h"

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

/* Three parts: a = exp(x * w); b = a + x; y = a * b. A release that prints no descriptors. */
static const char split[] = "L_w_parameters_p_: \"f32[]\", L_x_: \"f32[s0]\"):\n"
                            "        l_x_ = L_x_\n"
                            "        submod_0 = self.submod_0(l_x_, L_w_parameters_p_)\n"
                            "        submod_1 = self.submod_1(submod_0, l_x_)\n"
                            "        getitem = submod_1[0]\n"
                            "        submod_2 = self.submod_2(submod_0, getitem)\n"
                            "        return (submod_2,)\n";
static const char *const forwards[] = {
    "primals_1: \"f32[s0][1]cpu\", primals_2: \"f32[][]cpu\"):\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, primals_2)\n"
    "        exp: \"f32[s0][1]cpu\" = torch.ops.aten.exp.default(mul)\n"
    "        return (exp, primals_1, primals_2, exp)\n",
    "primals_1: \"f32[s0][1]cpu\", primals_2: \"f32[s0][1]cpu\"):\n"
    "        add: \"f32[s0][1]cpu\" = torch.ops.aten.add.Tensor(primals_1, primals_2)\n"
    "        return (add,)\n",
    "primals_1: \"f32[s0][1]cpu\", primals_2: \"f32[s0][1]cpu\"):\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, primals_2)\n"
    "        return (mul, primals_1, primals_2)\n",
};
static const char *const backwards[] = {
    "primals_1: \"f32[s0][1]cpu\", primals_2: \"f32[][]cpu\", exp: \"f32[s0][1]cpu\", "
    "tangents_1: \"f32[s0][1]cpu\"):\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, exp)\n"
    "        mul_1: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(mul, primals_2)\n"
    "        return (mul_1, None)\n",
    "tangents_1: \"f32[s0][1]cpu\"):\n"
    "        return (tangents_1, tangents_1)\n",
    "primals_1: \"f32[s0][1]cpu\", primals_2: \"f32[s0][1]cpu\", tangents_1: "
    "\"f32[s0][1]cpu\"):\n"
    "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, primals_2)\n"
    "        mul_1: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, primals_1)\n"
    "        return (mul, mul_1)\n",
};

struct cut_graphs {
    struct graph *outer;
    struct schedule_graphs {
        struct graph *forward, *backward;
    } parts[3];
    struct graph_schedule_part list[3];
};

static void cut_graphs_init(struct cut_graphs *c)
{
    c->outer = graph_of(split);
    for (int i = 0; i < 3; i++) {
        c->parts[i].forward = graph_of(forwards[i]);
        c->parts[i].backward = graph_of(backwards[i]);
        c->list[i] = (struct graph_schedule_part){ c->parts[i].forward, c->parts[i].backward };
    }
}

static void cut_graphs_release(struct cut_graphs *c)
{
    graph_free(c->outer);
    for (int i = 0; i < 3; i++) {
        graph_free(c->parts[i].forward);
        graph_free(c->parts[i].backward);
    }
}

static const struct node *input_of(const struct graph *graph, const char *name)
{
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (str_is(graph->nodes[id].name, name))
            return &graph->nodes[id];
    fail_msg("no node %s", name);
    return NULL;
}

/* Returns the values that a stage gets for an input; NULL: none. */
static const float *value_of(struct graph_schedule *s, uint32_t stage, const char *name)
{
    struct err err = ERR_INIT;
    struct array array = { 0 };
    assert_true(
        graph_schedule_input(s, stage, input_of(s->stages[stage].graph, name), &array, &err));
    assert_true(!array.p || array.dtype == DTYPE_F32);
    return array.p;
}

static void run_stages(struct graph_schedule *s, struct backend *backend, uint32_t n)
{
    struct err err = ERR_INIT;
    const struct run_size size = { STR("s0"), 7 };
    const struct run_options options = { .backend = backend, .sizes = &size, .n_sizes = 1 };
    for (uint32_t i = 0; i < n; i++) {
        graph_schedule_run(s, i, &options, &err);
        assert_no_err(&err);
    }
}

static void check_needs(const struct graph_schedule *s, uint32_t stage, const char *flags)
{
    bool needed[6];
    graph_schedule_needs(s, stage, needed);
    for (int i = 0; i < 6; i++)
        assert_int_equal(needed[i], flags[i] == '1');
}

static void test_cut(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cut_graphs c;
    struct graph_schedule s;
    bool from[6];
    uint32_t n;
    cut_graphs_init(&c);
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    assert_int_equal(graph_schedule_count_parts(c.outer), 3);
    assert_true(graph_schedule_init(&s, c.outer, c.list, 3, &err));
    assert_true(s.cut);
    assert_int_equal(graph_schedule_stage_of(&s, c.parts[0].backward), 5);
    check_needs(&s, 1, "100000");
    check_needs(&s, 2, "110000");
    check_needs(&s, 5, "111110");
    assert_null(value_of(&s, 2, "primals_1"));
    run_stages(&s, backend, 5);
    assert_true(graph_schedule_inputs(&s, 2, from, &n, &err));
    assert_int_equal(n, 2);
    assert_true(from[0] && from[1] && !from[2]);
    const float *a = value_of(&s, 2, "primals_1"), *b = value_of(&s, 2, "primals_2");
    const float *x = value_of(&s, 1, "primals_2"), *w = value_of(&s, 5, "primals_2");
    const float *da = value_of(&s, 5, "tangents_1");
    assert_null(value_of(&s, 0, "primals_1"));
    assert_null(value_of(&s, 3, "tangents_1")); /* the gradient of the user's output */
    const float *db = value_of(&s, 4, "tangents_1");
    for (int i = 0; i < 7; i++) {
        float dy = db[i] / a[i]; /* db = dy * a */
        assert_true(fabsf(a[i] - expf(x[i] * w[0])) < 1e-5f * a[i]);
        assert_true(b[i] == a[i] + x[i]);
        /* a is used twice: for b, and for y */
        assert_true(fabsf(da[i] - (dy * b[i] + db[i])) < 1e-4f * (1 + fabsf(da[i])));
    }
    graph_schedule_release(&s);
    backend->kind->close(backend);
    cut_graphs_release(&c);
}

/* A graph that cannot be read is missing: its values are, and what other parts need is not. */
static void test_missing(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cut_graphs c;
    struct graph_schedule s;
    bool from[6];
    uint32_t n;
    cut_graphs_init(&c);
    c.list[1].forward = c.list[2].backward = NULL;
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    assert_true(graph_schedule_init(&s, c.outer, c.list, 3, &err));
    check_needs(&s, 2, "100000");
    check_needs(&s, 5, "100010");
    assert_true(graph_schedule_inputs(&s, 2, from, &n, &err));
    assert_int_equal(n, 0); /* nothing was run */
    run_stages(&s, backend, 1);
    assert_true(graph_schedule_inputs(&s, 2, from, &n, &err));
    assert_true(n == 1 && from[0] && !from[1]);
    assert_non_null(value_of(&s, 2, "primals_1"));
    assert_null(value_of(&s, 2, "primals_2"));
    graph_schedule_forget(&s);
    assert_null(value_of(&s, 2, "primals_1"));
    run_stages(&s, backend, 1);
    assert_non_null(value_of(&s, 2, "primals_1"));
    graph_schedule_release(&s);
    backend->kind->close(backend);
    cut_graphs_release(&c);
}

/* Each part takes the output of the one before it twice: there are 2^63 ways back to the first. */
static void test_many_parts(void **state)
{
    (void)state;
    enum { N = 64 };
    struct err err = ERR_INIT;
    struct buf body = BUF_INIT;
    struct graph_schedule s;
    struct graph_schedule_part parts[N];
    bool needed[2 * N];
    buf_puts(&body, "L_x_: \"f32[s0]\"):\n        submod_0 = self.submod_0(L_x_, L_x_)\n");
    for (int i = 1; i < N; i++)
        buf_printf(&body, "        submod_%d = self.submod_%d(submod_%d, submod_%d)\n", i, i, i - 1,
                   i - 1);
    buf_printf(&body, "        return (submod_%d,)\n", N - 1);
    buf_putc(&body, '\0');
    struct graph *outer = graph_of(buf_str(&body).p), *part = graph_of(forwards[1]);
    for (int i = 0; i < N; i++)
        parts[i] = (struct graph_schedule_part){ part, NULL };
    assert_true(graph_schedule_init(&s, outer, parts, N, &err));
    assert_int_equal(s.wires.n, 2 * (N - 1));
    graph_schedule_needs(&s, N - 1, needed);
    for (int i = 0; i < 2 * N; i++)
        assert_int_equal(needed[i], i < N - 1);
    graph_schedule_release(&s);
    graph_free(outer);
    graph_free(part);
    buf_release(&body);
}

static void test_pair(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct graph_schedule s;
    struct graph *forward =
        graph_of("primals_1: \"Sym(s0)\", primals_2: \"f32[s0][1]cpu\"):\n"
                 "        n: \"Sym(2*s0)\" = primals_1 * 2\n"
                 "        exp: \"f32[s0][1]cpu\" = torch.ops.aten.exp.default(primals_2)\n"
                 "        return (exp, exp, n)\n");
    struct graph *backward =
        graph_of("n: \"Sym(2*s0)\", exp: \"f32[s0][1]cpu\", tangents_1: \"f32[s0][1]cpu\"):\n"
                 "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, exp)\n"
                 "        return (None, mul)\n");
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    const struct graph_schedule_part part = { forward, backward };
    assert_true(graph_schedule_init(&s, NULL, &part, 1, &err));
    run_stages(&s, backend, 1);
    const float *exp = value_of(&s, 1, "exp");
    for (int i = 0; i < 7; i++)
        assert_true(exp[i] > 0);
    assert_null(value_of(&s, 1, "tangents_1"));
    struct array n = { 0 };
    assert_true(graph_schedule_input(&s, 1, input_of(backward, "n"), &n, &err));
    assert_int_equal(*(const int64_t *)n.p, 14);
    graph_schedule_release(&s);
    backend->kind->close(backend);
    graph_free(forward);
    graph_free(backward);
}

/* Parameters of a module that DDPOptimizer cut, and DTensors that are replicated. */
static void test_replicates(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cut_graphs c;
    struct graph_schedule s;
    cut_graphs_init(&c);
    assert_true(graph_schedule_init(&s, c.outer, c.list, 3, &err));
    assert_true(graph_schedule_replicates(&s, 0, input_of(c.parts[0].forward, "primals_2")));
    assert_false(graph_schedule_replicates(&s, 0, input_of(c.parts[0].forward, "primals_1")));
    assert_false(graph_schedule_replicates(&s, 1, input_of(c.parts[1].forward, "primals_1")));
    assert_false(graph_schedule_replicates(&s, 5, input_of(c.parts[0].backward, "tangents_1")));
    graph_schedule_release(&s);
    cut_graphs_release(&c);
    struct graph *outer = graph_of("L_a_: \"DTensor(f32[8][1]cpu, S(0))\", L_b_: "
                                   "\"DTensor(f32[8][1]cpu, R)\"):\n        return (L_a_,)\n");
    struct graph *forward = graph_of(
        "\n        self,\n"
        "        primals_1: \"f32[4][1]cpu\",  # SubclassGetAttrAOTInput(base=PlainAOTInput(idx=0), attr='_local_tensor')\n"
        "        primals_2: \"f32[8][1]cpu\",  # SubclassGetAttrAOTInput(base=PlainAOTInput(idx=1), attr='_local_tensor')\n"
        "    ):\n        return (primals_1,)\n");
    const struct graph_schedule_part part = { forward, NULL };
    assert_true(graph_schedule_init(&s, outer, &part, 1, &err));
    assert_false(graph_schedule_replicates(&s, 0, input_of(forward, "primals_1")));
    assert_true(graph_schedule_replicates(&s, 0, input_of(forward, "primals_2")));
    graph_schedule_release(&s);
    graph_free(outer);
    graph_free(forward);
}

static bool is_second(void *user, const struct node *node)
{
    (void)user, (void)node;
    return false; /* the schedule decides */
}

/* Two ranks with seeds of their own have equal parameters, and different data. */
static void test_replicated_values(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cut_graphs c;
    float x[2], w[2];
    cut_graphs_init(&c);
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    for (int rank = 0; rank < 2; rank++) {
        struct graph_schedule s;
        const struct run_size size = { STR("s0"), 7 };
        const struct run_options options = { .backend = backend,
                                             .sizes = &size,
                                             .n_sizes = 1,
                                             .replicated = is_second,
                                             .replicated_seed = 5,
                                             .seed = 5 + (uint64_t)rank };
        assert_true(graph_schedule_init(&s, c.outer, c.list, 3, &err) &&
                    graph_schedule_run(&s, 0, &options, &err));
        x[rank] = *value_of(&s, 5, "primals_1");
        w[rank] = *value_of(&s, 5, "primals_2");
        graph_schedule_release(&s);
    }
    assert_true(w[0] == w[1] && x[0] != x[1]);
    backend->kind->close(backend);
    cut_graphs_release(&c);
}

static bool try_schedule(void *arg)
{
    const struct cut_graphs *c = arg;
    struct err err = ERR_INIT;
    struct graph_schedule s = { 0 };
    struct array array = { 0 };
    const struct run_size size = { STR("s0"), 3 };
    struct run_options options = { .sizes = &size, .n_sizes = 1 };
    bool ok = (options.backend = backend_find(STR("cpu"))->open(&err)) != NULL &&
              graph_schedule_init(&s, c->outer, c->list, 3, &err);
    for (uint32_t i = 0; ok && i < 5; i++)
        ok = graph_schedule_run(&s, i, &options, &err);
    ok = ok && graph_schedule_input(&s, 5, input_of(s.stages[5].graph, "tangents_1"), &array, &err);
    if (options.backend) {
        graph_schedule_release(&s);
        options.backend->kind->close(options.backend);
    }
    assert_true(ok || err.kind == ERR_ENV);
    return ok;
}

static void test_alloc_failures(void **state)
{
    (void)state;
    struct cut_graphs c;
    cut_graphs_init(&c);
    check_alloc_failures(try_schedule, &c);
    cut_graphs_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_replicates),
        cmocka_unit_test(test_replicated_values),
        cmocka_unit_test(test_alloc_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
