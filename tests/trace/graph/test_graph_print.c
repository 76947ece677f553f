#include "tests/trace/graph/graph_body.h"

/* Texts in print_readable()'s own layout come back byte for byte. */
static const char *const TEXTS[] = {
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, s77: \"Sym(s77)\", L_x_: \"f32[s77, 4][4, 1]cuda:0\", k : int = 3, "
    "*args):\n"
    "        l_x_ = L_x_\n"
    "        _args = args\n"
    "\n"
    "        # File: model.py:7 in forward, code: x += 1\n"
    "        l_x_ += k;  x: \"f32[s77, 4][4, 1]cuda:0\" = l_x_;  l_x_ = None\n"
    "        x[(slice(None, 2, None), 0)] = 3;  setitem = x;  setitem = None\n"
    "        y: \"Sym(-s77)\" = -s77\n"
    "        z = ~x;  z = None\n"
    "\n"
    "        # No stacktrace found for following nodes\n"
    "        w = x @ 2.5;  k = None\n"
    "        shape = x.shape\n"
    "        item: \"Sym(s77)\" = shape[0];  shape = None\n"
    "        act : Literal[\"a\"] = getattr(self.layers, \"0\").act(x, inplace = True)\n"
    "        weight = getattr(getattr(self, \"0\"), \"1\").weight\n"
    "\n"
    "        # Annotation: {'a': 1} File: model.py:8 in <lambda>, code: y\n"
    "        v = x.view(-1, item)\n"
    "        return (w, None, [y, (v,)], act)\n",

    "class <lambda>(torch.nn.Module):\n"
    "    def forward(\n"
    "        self,\n"
    "        arg0_1: \"f32[2]\",  # PlainAOTInput(idx=0)\n"
    "        arg1_1,\n"
    "    ):\n"
    "        # File: model.py:1 in f, code: y\n"
    "        c = f('a', \"it's\", '\\n\\x00\\\\', 1e-05, -inf, (1+2j), torch.float32, "
    "device(type='cuda', index=0), device(type='cpu'), {'k': arg0_1, 2: []}, Ellipsis, "
    "dim = torch.Size([2, 3]), e = Color.RED, o = <function f at 0x7f, (1, 2)>)\n"
    "        return (\n"
    "            c,  # PlainAOTOutput(idx=0)\n"
    "            None,\n"
    "        )\n"
    "\n"
    "    class true_graph_0(torch.nn.Module):\n"
    "        def forward(self):\n"
    "            return ()\n",
};

static void test_texts_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct graph *graph = graph_of(TEXTS[i]);
        struct buf text = BUF_INIT;
        assert_int_equal(graph_counts(graph).opaque, 0);
        graph_print(graph, &text);
        assert_str_is(buf_str(&text), TEXTS[i]);
        assert_survives_printing(graph);
        graph_free(graph);
        buf_release(&text);
    }
}

static void test_opaque_statements_are_printed_as_they_stood(void **state)
{
    (void)state;
    struct graph *graph = graph_of_body("a = x ? y");
    struct buf text = BUF_INIT;
    graph_print(graph, &text);
    assert_true(str_ends(buf_str(&text), STR("\n        a = x ? y\n")));
    graph_free(graph);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_come_back),
        cmocka_unit_test(test_opaque_statements_are_printed_as_they_stood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
