#include "tests/trace/graph/graph_body.h"

static void check_inputs(const struct graph *graph, const char *const *names, uint32_t n)
{
    assert_int_equal(graph_counts(graph).inputs, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(graph->nodes[i].op, NODE_PLACEHOLDER);
        assert_str_is(graph->nodes[i].name, names[i]);
    }
}

static const struct node *output_of(const struct graph *graph)
{
    const struct node *last = &graph->nodes[graph->n_nodes - 1];
    assert_int_equal(last->op, NODE_OUTPUT);
    return last;
}

static void test_one_line(void **state)
{
    (void)state;
    struct graph *graph =
        graph_of("class G(torch.nn.Module):\n"
                 "    def forward(self, a: \"f32[2]\", b : int = 3, *c, **d) -> x:\n"
                 "        return a\n");
    check_inputs(graph, (const char *const[]){ "a", "b", "c", "d" }, 4);
    assert_str_is(graph->nodes[3].target, "**d");
    assert_int_equal(arg_at(graph, &graph->nodes[1], 0)->u.integer, 3);
    assert_int_equal(graph->pool->metas[graph->nodes[1].meta].kind, META_OTHER);
    assert_false(graph->returns_tuple);
    assert_null(graph->output_descriptors);
    assert_int_equal(graph->n_opaque, 0);
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_expanded(void **state)
{
    (void)state;
    struct graph *graph = graph_of("class G(torch.nn.Module):\n"
                                   "    def forward(\n"
                                   "        self,\n"
                                   "        a: \"f32[2]\",  # PlainAOTInput(idx=0)\n"
                                   "        b: \"Sym(s0)\",\n"
                                   "    ):\n"
                                   "        # File: m.py:3 in f, code: x\n"
                                   "        return (\n"
                                   "            a,  # PlainAOTOutput(idx=0)\n"
                                   "            None,\n"
                                   "        )\n");
    check_inputs(graph, (const char *const[]){ "a", "b" }, 2);
    assert_str_is(graph->nodes[0].descriptor, "PlainAOTInput(idx=0)");
    assert_str_is(graph->nodes[1].descriptor, "");
    assert_int_equal(graph->nodes[1].line, 5);
    assert_int_equal(output_of(graph)->n_args, 2);
    assert_str_is(graph->output_descriptors[0], "PlainAOTOutput(idx=0)");
    assert_str_is(graph->output_descriptors[1], "");
    assert_true(graph->returns_tuple);
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_pytree(void **state)
{
    (void)state;
    struct graph *graph =
        graph_of("class inner_f(torch.nn.Module):\n"
                 "    def forward(\n        self,\n        primals,\n        tangents,\n    ):\n"
                 "        a: \"f32[2]\"  # PlainAOTInput(idx=0)\n"
                 "        b: \"Sym(s0)\"; c: \"i64[]\"; \n"
                 "\n"
                 "        a, b, d, = fx_pytree.tree_flatten_spec([primals, tangents], "
                 "self._in_spec)\n"
                 "        e = f(a, d)\n"
                 "        return pytree.tree_unflatten([\n"
                 "            e,  # PlainAOTOutput(idx=0)\n"
                 "            None,  # None\n"
                 "        ], self._out_spec)\n");
    check_inputs(graph, (const char *const[]){ "a", "b", "d" }, 3);
    assert_str_is(graph->nodes[0].descriptor, "PlainAOTInput(idx=0)");
    assert_int_equal(graph->pool->metas[graph->nodes[1].meta].kind, META_SYM);
    assert_int_equal(graph->nodes[2].meta, META_NONE);
    assert_int_equal(arg_at(graph, &graph->nodes[3], 1)->u.node, 2);
    assert_int_equal(output_of(graph)->n_args, 2);
    assert_str_is(graph->output_descriptors[1], "None");
    assert_true(graph->returns_tuple);
    assert_survives_printing(graph);
    graph_free(graph);
}

/* Parts of tensor subclasses that are no tensors have descriptors and no annotations. */
static void test_undeclared_inputs(void **state)
{
    (void)state;
    static const char *const lists[] = { "a  , b, c  , d", "a  , b,c , d", "a, b  , c, d" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "class inner_f(torch.nn.Module):\n"
                 "    def forward(\n        self,\n        primals,\n    ):\n"
                 "        b: \"f32[2]\"  # PlainAOTInput(idx=0)\n"
                 "        d: \"Sym(s0)\"\n"
                 "        %s, = fx_pytree.tree_flatten_spec([primals], self._in_spec)\n"
                 "        e = f(b, d)\n"
                 "        return e\n",
                 lists[i]);
        struct graph *graph = graph_of(text);
        check_inputs(graph, (const char *const[]){ "a", "b", "c", "d" }, 4);
        assert_int_equal(graph->nodes[0].meta, META_NONE);
        assert_int_equal(graph->pool->metas[graph->nodes[1].meta].kind, META_TENSOR);
        assert_int_equal(graph->nodes[2].meta, META_NONE);
        assert_int_equal(arg_at(graph, &graph->nodes[4], 1)->u.node, 3);
        assert_int_equal(graph->n_opaque, 0);
        assert_survives_printing(graph);
        graph_free(graph);
    }
}

static void test_boxed(void **state)
{
    (void)state;
    struct graph *graph = graph_of("class <lambda>(torch.nn.Module):\n"
                                   "    wrap(\"fn\")\n"
                                   "\n"
                                   "    def forward(self, args_list):\n"
                                   "        args_iter = iter(args_list)\n"
                                   "        a = next(args_iter)\n"
                                   "        b = next(args_iter)\n"
                                   "        args_list.clear()\n"
                                   "        c = a + b\n"
                                   "        return [c, a]\n");
    check_inputs(graph, (const char *const[]){ "a", "b" }, 2);
    assert_int_equal(graph->n_nodes, 4);
    assert_int_equal(graph->n_opaque, 0);
    assert_int_equal(output_of(graph)->n_args, 2);
    assert_true(graph->returns_tuple);
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_exported(void **state)
{
    (void)state;
    struct graph *graph =
        graph_of("class GraphModule(torch.nn.Module):\n"
                 "    def forward(self, x):\n"
                 "        x, = pytree.tree_leaves((self, x,))\n"
                 "        p_w, x_1, = self._in_shuffle_graph(x)\n"
                 "        mm = torch.ops.aten.mm.default(x_1, p_w)\n"
                 "        return pytree.tree_unflatten(self._out_shuffle_graph(x, mm, 3), "
                 "self._out_spec)\n");
    check_inputs(graph, (const char *const[]){ "p_w", "x_1" }, 2);
    assert_int_equal(output_of(graph)->n_args, 2);
    assert_int_equal(arg_at(graph, output_of(graph), 0)->u.node, 2);
    assert_int_equal(graph->n_opaque, 0);
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_returns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t n;
        bool tuple;
    } cases[] = {
        { "return x", 1, false },
        { "return (x,)", 1, true },
        { "return ()", 0, true },
        { "return (x, None, 3)", 3, true },
        { "return [x]", 1, true },
        { "return {'a': x}", 1, false },
        { "return (\n)", 0, true },
        { "return pytree.tree_unflatten((x, y), self._out_spec)", 2, true },
        { "return pytree.tree_unflatten([x], self._out_spec)", 1, true },
        { "return x  # comment", 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *graph = graph_of_body(cases[i].text);
        assert_int_equal(graph->n_opaque, 0);
        assert_int_equal(output_of(graph)->n_args, cases[i].n);
        assert_int_equal(graph->returns_tuple, cases[i].tuple);
        assert_survives_printing(graph);
        graph_free(graph);
    }
}

static void test_broken_ones_are_opaque(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "return (x",          "return (\n    x,  # A\n    y  # B\n)",
        "return (\n    x,",   "return pytree.tree_unflatten([x], self._out_spec",
        "return x\nz = f(x)", "return x\nreturn y",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct graph *graph = graph_of_body(bodies[i]);
        assert_true(graph->n_opaque > 0);
        if (graph->nodes[graph->n_nodes - 1].op != NODE_OUTPUT && i < 4)
            assert_null(graph->output_descriptors);
        graph_free(graph);
    }
    struct graph *graph = graph_of("class G(torch.nn.Module):\n    def forward(self, a:\n");
    assert_int_equal(graph->n_opaque, 1);
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line), cmocka_unit_test(test_expanded),
        cmocka_unit_test(test_pytree),   cmocka_unit_test(test_undeclared_inputs),
        cmocka_unit_test(test_boxed),    cmocka_unit_test(test_exported),
        cmocka_unit_test(test_returns),  cmocka_unit_test(test_broken_ones_are_opaque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
