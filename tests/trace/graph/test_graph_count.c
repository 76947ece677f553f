#include "tests/trace/graph/graph_body.h"

static void test_counts(void **state)
{
    (void)state;
    struct graph *graph = graph_of("class G(torch.nn.Module):\n"
                                   "    def forward(self, L_x_, y):\n"
                                   "        l_x_ = L_x_\n"
                                   "        w = self.w\n"
                                   "        a = f(l_x_)\n"
                                   "        b = a[0]\n"
                                   "        c = b + w\n"
                                   "        d = c.sum()\n"
                                   "        e = self.layer(d)\n"
                                   "        e ? d\n"
                                   "        return (d, e, None)\n"
                                   "    class H(torch.nn.Module):\n"
                                   "        def forward(self, z):\n"
                                   "            a = f(z)\n"
                                   "            z ? a\n"
                                   "            return a\n");
    struct graph_counts counts = graph_counts(graph);
    assert_int_equal(counts.inputs, 2);
    assert_int_equal(counts.outputs, 3);
    assert_int_equal(counts.calls, 5 + 1);
    assert_int_equal(counts.nodes, 10 + 4);
    assert_int_equal(counts.opaque, 2);
    assert_int_equal(counts.graphs, 2);
    graph_free(graph);
}

static void test_names_of_operators(void **state)
{
    (void)state;
    static const struct {
        const char *statement, *name;
    } cases[] = {
        { "a = torch.ops.aten.mm.default(x, y)", "aten.mm.default" },
        { "a = torch.addmm(x, y)", "torch.addmm" },
        { "a = x + y", "operator.add" },
        { "a = x.sum()", "Tensor.sum" },
        { "a = self.conv1(x)", "module conv1" },
        { "a = getattr(self.layers, \"0\")(x)", "module layers.0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *graph = graph_of_body(cases[i].statement);
        struct buf name = BUF_INIT;
        node_op_name(first_statement(graph), &name);
        assert_str_is(buf_str(&name), cases[i].name);
        graph_free(graph);
        buf_release(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_names_of_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
