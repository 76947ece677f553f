#include "tests/trace/graph/graph_body.h"

#define NESTED                                                                               \
    "class GraphModule(torch.nn.Module):\n"                                                  \
    "    def forward(self, x):\n"                                                            \
    "        true_graph_0 = self.true_graph_0\n"                                             \
    "        c = torch.ops.higher_order.cond(x, true_graph_0, (x,));  true_graph_0 = None\n" \
    "        return c\n"                                                                     \
    "        \n"                                                                             \
    "    class true_graph_0(torch.nn.Module):\n"                                             \
    "        def forward(self, x):\n"                                                        \
    "            return (x,)\n"                                                              \
    "\n"                                                                                     \
    "        class inner(torch.nn.Module):\n"                                                \
    "            def forward(self):\n"                                                       \
    "                pass\n"                                                                 \
    "    class false_graph_0(torch.nn.Module):\n"                                            \
    "        def forward(self, y):\n"                                                        \
    "            return y\n"

static void test_classes_nest_by_indentation(void **state)
{
    (void)state;
    struct graph *graph = graph_of(NESTED);
    assert_str_is(graph->name, "GraphModule");
    assert_int_equal(graph->n_children, 2);
    assert_str_is(graph->children[0]->name, "true_graph_0");
    assert_str_is(graph->children[0]->children[0]->name, "inner");
    assert_str_is(graph->children[1]->name, "false_graph_0");
    assert_int_equal(graph->children[1]->n_children, 0);
    assert_ptr_equal(graph->children[1]->pool, graph->pool);
    assert_int_equal(graph_counts(graph).graphs, 4);
    assert_int_equal(graph_counts(graph).opaque, 0);
    assert_survives_printing(graph);
    graph_free(graph);
}

/* Every line moved to the right, or ended with a carriage return: the same graph. */
static void test_other_layouts(void **state)
{
    (void)state;
    struct buf moved = BUF_INIT, ended = BUF_INIT;
    struct graph *graph = graph_of(NESTED);
    buf_puts(&moved, "ExportedProgram:\n        ");
    for (const char *p = NESTED; *p; p++) {
        buf_puts(&ended, *p == '\n' ? "\r" : "");
        buf_putc(&ended, *p);
        buf_putc(&moved, *p);
        buf_puts(&moved, *p == '\n' ? "        " : "");
    }
    buf_puts(&moved, "\nGraph signature: \n    # inputs\n    x: USER_INPUT\n\n"
                     "Range constraints: {s0: VR[2, int_oo]}\n");
    buf_puts(&ended, "\r\n\r\n # graph id: 140344363642192");
    buf_putc(&moved, '\0');
    buf_putc(&ended, '\0');
    struct graph *a = graph_of(moved.p), *b = graph_of(ended.p);
    assert_true(graph_equal(graph, a, NULL));
    assert_true(graph_equal(graph, b, NULL));
    graph_free(a);
    graph_free(b);
    graph_free(graph);
    buf_release(&moved);
    buf_release(&ended);
}

static void test_locations(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("a = f(x)\n"
                                        "\n"
                                        "# File: m.py:7 in <lambda>, code: a  # b, code: c\n"
                                        "b = f(x)\n"
                                        "c = f(x)\n"
                                        " # No stacktrace found for following nodes\n"
                                        "d = f(x)\n"
                                        "#[ Annotation: {'k': 1}] File: m.py:9 in g, code: z\n"
                                        "e = f(x)\n"
                                        "# unrelated\n"
                                        "f = f(x)\n"
                                        " # File: m.py:7 in <lambda>, code: a  # b, code: c\n"
                                        "g = f(x)\n"
                                        "# File: n.py:8 in h, code: \n"
                                        "h = f(x)\n");
    const struct node *nodes = &graph->nodes[3];
    assert_int_equal(nodes[0].location, LOCATION_NONE);
    const struct location *at = &graph->locations[nodes[1].location];
    assert_str_is(at->file, "m.py");
    assert_int_equal(at->line, 7);
    assert_str_is(at->function, "<lambda>");
    assert_str_is(at->code, "a  # b, code: c");
    assert_int_equal(at->caller, LOCATION_NONE);
    assert_int_equal(nodes[2].location, nodes[1].location);
    assert_int_equal(nodes[3].location, LOCATION_NONE);
    assert_str_is(graph->locations[nodes[4].location].annotation, "[ Annotation: {'k': 1}]");
    assert_int_equal(nodes[5].location, nodes[4].location);
    assert_int_equal(nodes[6].location, nodes[1].location);
    assert_int_equal(nodes[6].line, 15);
    assert_str_is(graph->locations[nodes[7].location].file, "n.py");
    assert_str_is(graph->locations[nodes[7].location].code, "");
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_meta_blocks_are_skipped(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("\"\"\"\nval: 'FakeTensor(...)'\nx = f(\n\"\"\"\na = f(x)");
    assert_int_equal(graph->n_nodes, 4);
    assert_int_equal(graph->n_opaque, 0);
    graph_free(graph);
}

static void test_what_looks_like_a_graph(void **state)
{
    (void)state;
    static const char *const graphs[] = {
        "class G(torch.nn.Module):",
        "\n\n    class <lambda>(torch.nn.Module):\n",
        "ExportedProgram:\n    class G(torch.nn.Module):\n",
        "# comment\nclass G(torch.nn.Module):\r\n",
    };
    static const char *const others[] = {
        "",
        "class G(torch.nn.Module)",
        "class G:\n",
        "import torch\nclass Repro(torch.nn.Module):\n",
        "# AOT ID: ['0_inference']\nfrom ctypes import c_void_p\n",
        "[1, 2]",
    };
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        assert_true(graph_looks_like(str_of(graphs[i])));
        graph_free(graph_of(graphs[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct err err = ERR_INIT;
        assert_false(graph_looks_like(str_of(others[i])));
        assert_null(graph_parse(str_of(others[i]), &err));
        assert_err(&err, ERR_INPUT, "not a graph");
    }
}

/* However little of a text there is, what there is of it is read. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    size_t first_line = str_find_char(STR(NESTED), '\n');
    for (size_t n = first_line; n < sizeof NESTED; n++) {
        struct err err = ERR_INIT;
        struct graph *graph = graph_parse(str_first(STR(NESTED), n), &err);
        assert_no_err(&err);
        assert_true(graph_counts(graph).opaque <= 1);
        graph_free(graph);
    }
}

static void test_class_nesting_is_bounded(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    enum { DEEP = 2000 };
    for (int i = 0; i < DEEP; i++) {
        for (int k = 0; k < i; k++)
            buf_putc(&text, ' ');
        buf_puts(&text, "class G(torch.nn.Module):\n");
    }
    struct graph *graph = graph_parse(buf_str(&text), &err);
    assert_no_err(&err);
    assert_int_equal(graph_counts(graph).graphs, DEEP);
    assert_survives_printing(graph);
    graph_free(graph);
    buf_release(&text);
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    static const char text[] = "class G(torch.nn.Module):\n    def forward(self, x):\n"
                               "        \xC3\xA9t\xC3\xA9 = f(x)\n        a\0b = f(x)\n"
                               "        \xFF = f('\xFF\0')\n        return \xC3\xA9t\xC3\xA9\n";
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(STR(text), &err);
    assert_no_err(&err);
    assert_int_equal(graph->n_opaque, 3); /* FX makes no such names */
    assert_str_is(graph->nodes[1].name, "");
    assert_int_equal(graph->nodes[3].op, NODE_OPAQUE);
    assert_int_equal(graph->nodes[4].op, NODE_OUTPUT);
    assert_int_equal(arg_at(graph, &graph->nodes[4], 0)->kind, ARG_TARGET);
    graph_free(graph);
}

/* A name that Python would not bind makes its statement opaque, and nothing refers to it. */
static void test_names_that_are_none(void **state)
{
    (void)state;
    static const char text[] = "class G(torch.nn.Module):\n"
                               "    def forward(self, x: \"f32[2][1]cuda:-1\"):\n"
                               "        lambda = torch.ops.aten.sin.default(x)\n"
                               "        a\xe2\x80\xa8 = torch.ops.aten.sin.default(x)\n"
                               "        b = torch.ops.aten.f.default(x, k\xc2\x85 = 1)\n"
                               "        c = torch.ops.aten.uniform.default(x, from = 1)\n"
                               "        d = f(device(type='cpu', index=-1), device(type='x y'))\n"
                               "        None = x\n"
                               "        return (c,)\n"
                               "    class A: import os; class B(torch.nn.Module):\n";
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(STR(text), &err);
    assert_no_err(&err);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_OPAQUE)
            assert_true(graph->nodes[i].name.n == 0 || str_is(graph->nodes[i].name, "b"));
    assert_int_equal(graph->n_opaque, 5);
    assert_int_equal(graph->n_children, 0);
    assert_int_equal(graph->pool->metas[graph->nodes[0].meta].kind, META_OTHER);
    const struct node *d = &graph->nodes[5];
    assert_str_is(d->name, "d");
    assert_int_equal(arg_at(graph, d, 0)->kind, ARG_CALL);
    assert_int_equal(arg_at(graph, d, 1)->kind, ARG_CALL);
    graph_free(graph);
}

static void test_parameters_that_are_none(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(STR("class G(torch.nn.Module):\n"
                                          "    def forward(self, lambda):\n"
                                          "        return (lambda,)\n"),
                                      &err);
    assert_no_err(&err);
    assert_int_equal(graph->nodes[0].op, NODE_OPAQUE);
    graph_free(graph);
}

static bool parse_once(void *arg)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(arg), &err);
    assert_true(graph || err.kind == ERR_ENV);
    graph_free(graph);
    return graph;
}

static void test_memory_failure(void **state)
{
    (void)state;
    static char text[] = NESTED
        "        # File: m.py:7 in g, code: z\n"
        "        d: \"f32[s0][1]cpu\" = f('\\n', device(type='cuda', index=1), {'k': [x, (1,)]})\n"
        "        e = getattr(self.layers, \"0\")(d);  d = None\n"
        "        g = self.h\n"
        "        return (\n            e,  # desc\n            g,\n        )\n";
    check_alloc_failures(parse_once, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_nest_by_indentation),
        cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_meta_blocks_are_skipped),
        cmocka_unit_test(test_what_looks_like_a_graph),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_class_nesting_is_bounded),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_parameters_that_are_none),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
