#include "tests/trace/graph/graph_body.h"

static void test_spelling_does_not_count(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "a: \"f32[s0 + 1][1]cpu\" = f(x)", "a: \"f32[(s0+1)][1]cpu\" = f(x)" },
        { "a = f(1e-05, 'it\\'s')", "a = f(0.00001, \"it's\")" },
        { "a = f(x)\n\n# No stacktrace found for following nodes\nreturn [a]",
          "a = f(x)\nreturn (a,)" },
        { "a = f(Point(x=1))", "a = f( Point(x = 1) )" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct graph *a = graph_of_body(pairs[i][0]), *b = graph_of_body(pairs[i][1]);
        node_id node = 0;
        assert_true(graph_equal(a, b, &node));
        assert_int_equal(node, NODE_NONE);
        graph_free(a);
        graph_free(b);
    }
}

static void test_all_else_does(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "a = f(x)",
        "b = f(x)",
        "a = g(x)",
        "a = f(y)",
        "a = f(x, 1)",
        "a = f(k = x)",
        "a = f([x])",
        "a = f((x,))",
        "a = f(1)",
        "a = f(2)",
        "a = f(1.0)",
        "a = f('1')",
        "a = f(None)",
        "a = x.f()",
        "a = self.f(x)",
        "a: \"f32[2]\" = f(x)",
        "a: \"f32[3]\" = f(x)",
        "a: \"i64[3]\" = f(x)",
        "a: \"Sym(s0)\" = f(x)",
        "a : int = f(x)",
        "a = f(x);  x = None",
        "a = f(x);  y = None",
        "# File: m.py:1 in f, code: c\na = f(x)",
        "# File: m.py:2 in f, code: c\na = f(x)",
        "a = f(x)\nreturn a",
        "a = f(x)\nreturn (a,)",
        "a = f(x)\nreturn (\na,  # d\n)",
        "a = f(x)\nreturn (\na,  # e\n)",
        "a = f(x)\nb = f(x)",
    };
    enum { N = sizeof bodies / sizeof *bodies };
    struct graph *graphs[N];
    for (size_t i = 0; i < N; i++)
        graphs[i] = graph_of_body(bodies[i]);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            assert_int_equal(graph_equal(graphs[i], graphs[k], NULL), i == k);
    for (size_t i = 0; i < N; i++)
        graph_free(graphs[i]);
}

static void test_the_first_difference_is_told(void **state)
{
    (void)state;
    struct graph *a = graph_of_body("a = f(x)\nb = f(x)\nc = f(a)");
    struct graph *b = graph_of_body("a = f(x)\nb = f(y)\nc = f(b)");
    struct graph *longer = graph_of_body("a = f(x)\nb = f(x)\nc = f(a)\nd = f(a)");
    node_id node;
    assert_false(graph_equal(a, b, &node));
    assert_int_equal(node, 4);
    assert_false(graph_equal(a, longer, &node));
    assert_int_equal(node, 6);
    graph_free(a);
    graph_free(b);
    graph_free(longer);
}

static void test_children_count(void **state)
{
    (void)state;
#define CLASS(name, indent) indent "class " name "(torch.nn.Module):\n"
    struct graph *alone = graph_of(CLASS("G", ""));
    struct graph *one = graph_of(CLASS("G", "") CLASS("H", "    "));
    struct graph *other = graph_of(CLASS("G", "") CLASS("I", "    "));
    node_id node;
    assert_false(graph_equal(alone, one, &node));
    assert_int_equal(node, NODE_NONE);
    assert_false(graph_equal(one, other, &node));
    assert_true(graph_equal(one, one, &node));
    graph_free(alone);
    graph_free(one);
    graph_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling_does_not_count),
        cmocka_unit_test(test_all_else_does),
        cmocka_unit_test(test_the_first_difference_is_told),
        cmocka_unit_test(test_children_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
