#include <math.h>

#include "tests/trace/graph/graph_body.h"

/* A graph whose first statement is f(ARGUMENTS). */
static struct graph *call_of(const char *arguments)
{
    struct buf body = BUF_INIT;
    buf_printf(&body, "c = f(%s)\nreturn c", arguments);
    struct graph *graph = graph_of_body(body.p);
    assert_int_equal(graph->n_opaque, 0);
    assert_survives_printing(graph);
    buf_release(&body);
    return graph;
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *repr;
        enum arg_kind kind;
        const char *text; /* NULL: not looked at */
    } cases[] = {
        { "None", ARG_NONE, NULL },
        { "y", ARG_NODE, NULL },
        { "-42", ARG_INT, "-42" },
        { "99999999999999999999", ARG_INT, "99999999999999999999" },
        { "1e-05", ARG_FLOAT, "1e-05" },
        { "-inf", ARG_FLOAT, "-inf" },
        { "nan", ARG_FLOAT, "nan" },
        { "True", ARG_BOOL, NULL },
        { "'it''s'", ARG_OPAQUE, "'it''s'" },
        { "'none'", ARG_STRING, "none" },
        { "\"it's\"", ARG_STRING, "it's" },
        { "'a\\'\\n\\x41\\u20ac\\\\'", ARG_STRING, "a'\nA\xE2\x82\xAC\\" },
        { "'\\ud800'", ARG_STRING, "\xED\xA0\x80" },
        { "(1+2j)", ARG_COMPLEX, "(1+2j)" },
        { "(-0-1.5j)", ARG_COMPLEX, "(-0-1.5j)" },
        { "(nan+infj)", ARG_COMPLEX, "(nan+infj)" },
        { "3j", ARG_COMPLEX, "3j" },
        { "torch.float32", ARG_DTYPE, "torch.float32" },
        { "torch.strided", ARG_LAYOUT, "torch.strided" },
        { "torch.channels_last", ARG_MEMORY_FORMAT, "torch.channels_last" },
        { "device(type='cuda', index=1)", ARG_DEVICE, "cuda:1" },
        { "device(type='cpu')", ARG_DEVICE, "cpu" },
        { "device('cpu')", ARG_CALL, "device" },
        { "[]", ARG_LIST, NULL },
        { "(1,)", ARG_TUPLE, NULL },
        { "()", ARG_TUPLE, NULL },
        { "{'a': x}", ARG_DICT, NULL },
        { "slice(None, 2, None)", ARG_SLICE, NULL },
        { "slice(1)", ARG_CALL, "slice" },
        { "Ellipsis", ARG_ELLIPSIS, NULL },
        { "torch.ops.aten.add.Tensor", ARG_TARGET, "torch.ops.aten.add.Tensor" },
        { "ReduceOp.SUM", ARG_TARGET, "ReduceOp.SUM" },
        { "unknown", ARG_TARGET, "unknown" },
        { "torch.Size([2, 3])", ARG_CALL, "torch.Size" },
        { "torch.Tensor(size=[2], dtype=float32)", ARG_CALL, "torch.Tensor" },
        { "<function f at 0x7f, (1, 2)>", ARG_OPAQUE, "<function f at 0x7f, (1, 2)>" },
        { "{1, 2}", ARG_OPAQUE, "{1, 2}" },
        { "b'ab,c'", ARG_OPAQUE, "b'ab,c'" },
        { "list[int]", ARG_OPAQUE, "list[int]" },
        { "(1)", ARG_OPAQUE, "(1)" },
        { "0x10", ARG_OPAQUE, "0x10" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *graph = call_of(cases[i].repr);
        const struct arg *arg = arg_at(graph, first_statement(graph), 0);
        assert_int_equal(arg->kind, cases[i].kind);
        if (cases[i].text)
            assert_str_is(arg->text, cases[i].text);
        graph_free(graph);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    struct graph *graph =
        call_of("-7, 99999999999999999999, -99999999999999999999, 0.1, -inf, False");
    const struct node *node = first_statement(graph);
    assert_int_equal(arg_at(graph, node, 0)->u.integer, -7);
    assert_int_equal(arg_at(graph, node, 1)->u.integer, INT64_MAX);
    assert_int_equal(arg_at(graph, node, 2)->u.integer, INT64_MIN);
    assert_double_is(arg_at(graph, node, 3)->u.number, 0.1);
    assert_double_is(arg_at(graph, node, 4)->u.number, -HUGE_VAL);
    assert_int_equal(arg_at(graph, node, 5)->u.integer, 0);
    graph_free(graph);
}

static void test_keywords_have_keys(void **state)
{
    (void)state;
    struct graph *graph = call_of("x, dim = [1, y], dtype = torch.float64");
    const struct node *node = first_statement(graph);
    assert_int_equal(node->n_args, 3);
    assert_str_is(arg_at(graph, node, 0)->key, "");
    assert_str_is(arg_at(graph, node, 1)->key, "dim");
    assert_int_equal(item_at(graph, arg_at(graph, node, 1), 1)->u.node, 1);
    assert_int_equal(arg_at(graph, node, 2)->u.integer, DTYPE_F64);
    graph_free(graph);
}

static void test_nested_items_are_contiguous(void **state)
{
    (void)state;
    struct graph *graph = call_of("{'k': [1, (2, x)], 3: Point(x=4, y=5)}, 6");
    const struct node *node = first_statement(graph);
    const struct arg *dict = arg_at(graph, node, 0);
    assert_int_equal(dict->u.items.n, 4);
    assert_str_is(item_at(graph, dict, 0)->text, "k");
    const struct arg *list = item_at(graph, dict, 1);
    assert_int_equal(item_at(graph, list, 0)->u.integer, 1);
    assert_int_equal(item_at(graph, item_at(graph, list, 1), 1)->kind, ARG_NODE);
    const struct arg *point = item_at(graph, dict, 3);
    assert_str_is(point->text, "Point");
    assert_str_is(item_at(graph, point, 1)->key, "y");
    assert_int_equal(arg_at(graph, node, 1)->u.integer, 6);
    graph_free(graph);
}

static void test_nesting_is_bounded(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    for (int balanced = 0; balanced < 2; balanced++) {
        struct buf body = BUF_INIT;
        buf_puts(&body, "c = f(");
        for (size_t i = 0; i < DEEP; i++)
            buf_putc(&body, "[({"[balanced ? 0 : i % 3]);
        for (size_t i = 0; i < DEEP * (size_t)balanced; i++)
            buf_putc(&body, ']');
        buf_puts(&body, balanced ? ")" : "");
        buf_putc(&body, '\0');
        struct graph *graph = graph_of_body(body.p);
        assert_int_equal(graph->n_opaque, balanced ? 0 : 1);
        assert_str_is(first_statement(graph)->name, "c");
        graph_free(graph);
        buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_keywords_have_keys),
        cmocka_unit_test(test_nested_items_are_contiguous),
        cmocka_unit_test(test_nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
