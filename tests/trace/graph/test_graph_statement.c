#include "tests/trace/graph/graph_body.h"

static void test_right_hand_sides(void **state)
{
    (void)state;
    static const struct {
        const char *statement, *target;
        enum node_op op;
        enum node_form form;
        uint32_t n_args;
    } cases[] = {
        { "c = torch.ops.aten.mm.default(x, y)", "torch.ops.aten.mm.default", NODE_CALL_FUNCTION,
          FORM_PLAIN, 2 },
        { "c = torch._C._nn.gelu(x, approximate = 'none')", "torch._C._nn.gelu", NODE_CALL_FUNCTION,
          FORM_PLAIN, 2 },
        { "c = float(x)", "float", NODE_CALL_FUNCTION, FORM_PLAIN, 1 },
        { "c = getattr(x, 'a-b', None)", "getattr", NODE_CALL_FUNCTION, FORM_PLAIN, 3 },
        { "c = x.view(-1, 4)", "view", NODE_CALL_METHOD, FORM_PLAIN, 3 },
        { "c = x.shape", "getattr", NODE_CALL_FUNCTION, FORM_ATTRIBUTE, 2 },
        { "c = self.layer.conv1(x)", "layer.conv1", NODE_CALL_MODULE, FORM_PLAIN, 1 },
        { "c = getattr(self.layers, \"0\")(x)", "layers.0", NODE_CALL_MODULE, FORM_PLAIN, 1 },
        { "c = getattr(getattr(self, \"0\").b, \"1\").w", "0.b.1.w", NODE_GET_ATTR, FORM_PLAIN, 0 },
        { "c = self.true_graph_0", "true_graph_0", NODE_GET_ATTR, FORM_PLAIN, 0 },
        { "c = x", "", NODE_ALIAS, FORM_PLAIN, 1 },
        { "c = x + y", "operator.add", NODE_CALL_FUNCTION, FORM_INFIX, 2 },
        { "c = x ** -0.5", "operator.pow", NODE_CALL_FUNCTION, FORM_INFIX, 2 },
        { "c = -1 // x", "operator.floordiv", NODE_CALL_FUNCTION, FORM_INFIX, 2 },
        { "c = x >= None", "operator.ge", NODE_CALL_FUNCTION, FORM_INFIX, 2 },
        { "c = f(1) == x", "operator.eq", NODE_CALL_FUNCTION, FORM_INFIX, 2 },
        { "c = -x", "operator.neg", NODE_CALL_FUNCTION, FORM_INFIX, 1 },
        { "c = +x", "operator.pos", NODE_CALL_FUNCTION, FORM_INFIX, 1 },
        { "c = ~x", "operator.invert", NODE_CALL_FUNCTION, FORM_INFIX, 1 },
        { "c = x['o']", "operator.getitem", NODE_CALL_FUNCTION, FORM_GETITEM, 2 },
        { "c = x[(slice(None, s0, None), 0)]", "operator.getitem", NODE_CALL_FUNCTION, FORM_GETITEM,
          2 },
        { "x[0] = y;  c = x", "operator.setitem", NODE_CALL_FUNCTION, FORM_SETITEM, 3 },
        { "x //= y;  c = x", "operator.ifloordiv", NODE_CALL_FUNCTION, FORM_INPLACE, 2 },
        { "x += 1;  c: \"f32[2]\" = x;  x = None", "operator.iadd", NODE_CALL_FUNCTION,
          FORM_INPLACE, 2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *graph = graph_of_body(cases[i].statement);
        const struct node *node = first_statement(graph);
        assert_int_equal(graph->n_opaque, 0);
        assert_str_is(node->name, "c");
        assert_str_is(node->target, cases[i].target);
        assert_int_equal(node->op, cases[i].op);
        assert_int_equal(node->form, cases[i].form);
        assert_int_equal(node->n_args, cases[i].n_args);
        assert_survives_printing(graph);
        graph_free(graph);
    }
}

static void test_annotations(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("a: \"f32[2][1]cpu\" = f(x)\n"
                                        "b : typing.Literal[\"k = v\"] = f(x)\n"
                                        "c = f(x)\n"
                                        "d: \"f32[2][1]cpu\" = f(x)");
    const struct node *nodes = &graph->nodes[3];
    assert_int_equal(graph->n_opaque, 0);
    assert_int_equal(graph->pool->metas[nodes[0].meta].kind, META_TENSOR);
    assert_str_is(graph->pool->metas[nodes[1].meta].text, "typing.Literal[\"k = v\"]");
    assert_int_equal(graph->pool->metas[nodes[1].meta].kind, META_OTHER);
    assert_int_equal(nodes[2].meta, META_NONE);
    assert_int_equal(nodes[3].meta, nodes[0].meta);
    assert_survives_printing(graph);
    graph_free(graph);
}

static void test_deletions(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("a = f(x);  x = y = None\nb = f(a);  b = nobody = None");
    const struct node *a = &graph->nodes[3], *b = &graph->nodes[4];
    assert_int_equal(a->n_deleted, 2);
    assert_int_equal(graph->deleted[a->first_deleted], 0);
    assert_int_equal(graph->deleted[a->first_deleted + 1], 1);
    assert_int_equal(b->n_deleted, 1);
    assert_int_equal(graph->deleted[b->first_deleted], 4);
    graph_free(graph);
}

static void test_a_name_is_its_latest_node(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("a = f(x)\na = f(a)\nb = f(a)");
    assert_int_equal(arg_at(graph, &graph->nodes[4], 0)->u.node, 3);
    assert_int_equal(arg_at(graph, &graph->nodes[5], 0)->u.node, 4);
    graph_free(graph);
}

static void test_what_is_not_understood_is_opaque(void **state)
{
    (void)state;
    static const char *const statements[] = {
        "if x: y",
        "c = ",
        "c = f(x",
        "c = f(x) junk",
        "c = 'text'",
        "c = x + + y",
        "c = x ? y",
        "c = f(x);  y",
        "c: \"f32[2] = f(x)",
        "unknown[0] = x;  c = unknown",
        "x[0] = y",
        "x += y",
        "x ~= y;  c = x",
        "x +",
        "x +=",
        "x += y;  c = y",
        "a, b = f(x)",
        "c = getattr(self, \"\")(x) + 1",
        "c = self.",
        "3 = x",
        "def g(self):",
        "f(x)",
        "c = f(x)\\",
        "c = f('abc)",
        "c = \x01",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct buf body = BUF_INIT;
        buf_printf(&body, "%s\nnext = f(x)\nreturn next", statements[i]);
        struct graph *graph = graph_of_body(body.p);
        assert_int_equal(graph->n_opaque, 1);
        assert_int_equal(first_statement(graph)->op, NODE_OPAQUE);
        assert_str_is(first_statement(graph)->target, statements[i]);
        assert_int_equal(first_statement(graph)->line, 3);
        assert_int_equal(graph->nodes[4].op, NODE_CALL_FUNCTION);
        assert_int_equal(graph->n_nodes, 6);
        graph_free(graph);
        buf_release(&body);
    }
}

static void test_an_opaque_statement_keeps_its_name(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("c: \"f32[2]\" = x ? y\nd = f(c)");
    assert_str_is(first_statement(graph)->name, "c");
    assert_int_equal(graph->pool->metas[first_statement(graph)->meta].kind, META_TENSOR);
    assert_int_equal(arg_at(graph, &graph->nodes[4], 0)->u.node, 3);
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_hand_sides),
        cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_deletions),
        cmocka_unit_test(test_a_name_is_its_latest_node),
        cmocka_unit_test(test_what_is_not_understood_is_opaque),
        cmocka_unit_test(test_an_opaque_statement_keeps_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
