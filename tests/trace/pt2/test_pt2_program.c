/* Programs of .pt2 archives as JSON, of every form that the schema has. */
#include "trace/pt2/pt2.h"

#include <stdlib.h>

#include "tests/harness.h"

/* Archives are JSON in literals, built by macros. */
/* clang-format off */

/* A graph module around NODES, with inputs x and n, values y, z, s and the outputs given. */
#define TENSOR(sizes, strides)                                                                    \
    "{\"dtype\": 7, \"sizes\": [" sizes "], \"requires_grad\": false, \"device\": "               \
    "{\"type\": \"cuda\", \"index\": 0}, \"strides\": [" strides "], "                            \
    "\"storage_offset\": {\"as_int\": 0}, \"layout\": 7}"
#define S77 "Symbol('s77', positive=True, integer=True)"
#define EXPR(text, hint) "{\"as_expr\": {\"expr_str\": \"" text "\", \"hint\": " hint "}}"
#define HINT(n)          "{\"as_int\": " n "}"
#define VALUES                                                                                    \
    "\"tensor_values\": {\"x\": " TENSOR(EXPR(S77, HINT("12")) ", {\"as_int\": 16}",              \
                                         "{\"as_int\": 16}, {\"as_int\": 1}")                     \
    ", \"y\": " TENSOR("", "") ", \"z\": " TENSOR("{\"as_int\": 3}", "{\"as_int\": 1}") "}, "      \
    "\"sym_int_values\": {\"n\": " EXPR("Symbol('u0', integer=True)", "null") "}, "               \
    "\"sym_bool_values\": {\"s\": " EXPR("GreaterThan(Symbol('u0', integer=True), Integer(2))",   \
                                         "null") "}"
#define GRAPH(nodes, outputs)                                                                     \
    "{\"inputs\": [{\"as_tensor\": {\"name\": \"x\"}}, {\"as_sym_int\": {\"as_name\": \"n\"}}], " \
    "\"outputs\": [" outputs "], \"nodes\": [" nodes "], " VALUES                                 \
    ", \"is_single_tensor_return\": false}"
#define PROGRAM(nodes, outputs)                                                                   \
    "{\"graph_module\": {\"graph\": " GRAPH(nodes, outputs) ", \"signature\": {}}, "              \
    "\"schema_version\": {\"major\": 8, \"minor\": 17}}"
#define NODE(target, inputs, outputs)                                                             \
    "{\"target\": \"" target "\", \"inputs\": [" inputs "], \"outputs\": [" outputs "], "         \
    "\"metadata\": {}}"
#define INPUT(name, arg, kind) "{\"name\": \"" name "\", \"arg\": " arg ", \"kind\": " kind "}"
#define AS_TENSOR(name)        "{\"as_tensor\": {\"name\": \"" name "\"}}"

static struct graph *parse(const char *json)
{
    struct err err = ERR_INIT;
    struct graph *graph = pt2_program_parse(str_of(json), &err);
    if (!graph)
        fail_msg("%s", err.text);
    assert_no_err(&err);
    assert_non_null(graph->signature);
    return graph;
}

static const struct node *node_named(const struct graph *graph, const char *name)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (str_is(graph->nodes[i].name, name))
            return &graph->nodes[i];
    fail_msg("no node %s", name);
    return NULL;
}

/* ---- arguments as text --------------------------------------------------------------------- */

static void show_args(const struct graph *graph, uint32_t first, uint32_t n, struct buf *out);

static void show_arg(const struct graph *graph, const struct arg *arg, struct buf *out)
{
    static const char OPEN[] = { [ARG_LIST] = '[', [ARG_TUPLE] = '(', [ARG_DICT] = '{' };
    static const char CLOSE[] = { [ARG_LIST] = ']', [ARG_TUPLE] = ')', [ARG_DICT] = '}' };
    if (arg->key.n > 0)
        buf_printf(out, "%.*s=", STR_ARG(arg->key));
    switch (arg->kind) {
    case ARG_NONE: buf_puts(out, "None"); break;
    case ARG_NODE: buf_put(out, graph->nodes[arg->u.node].name); break;
    case ARG_BOOL: buf_puts(out, arg->u.integer ? "True" : "False"); break;
    case ARG_STRING: buf_printf(out, "'%.*s'", STR_ARG(arg->text)); break;
    case ARG_OPAQUE: buf_printf(out, "opaque %.*s", STR_ARG(arg->text)); break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
        buf_putc(out, OPEN[arg->kind]);
        show_args(graph, arg->u.items.first, arg->u.items.n, out);
        buf_putc(out, CLOSE[arg->kind]);
        break;
    default: buf_put(out, arg->text);
    }
}

static void show_args(const struct graph *graph, uint32_t first, uint32_t n, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            buf_puts(out, ", ");
        show_arg(graph, &graph->args[first + i], out);
    }
}

static void check_args(const struct graph *graph, const char *name, const char *expected)
{
    struct buf out = BUF_INIT;
    const struct node *node = node_named(graph, name);
    show_args(graph, node->first_arg, node->n_args, &out);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void check_node(const struct graph *graph, const char *name, const char *target,
                       enum node_form form, const char *args)
{
    const struct node *node = node_named(graph, name);
    assert_int_equal(node->op, NODE_CALL_FUNCTION);
    assert_int_equal(node->form, form);
    assert_str_is(node->target, target);
    check_args(graph, name, args);
}

static void check_meta(const struct graph *graph, const char *name, const char *text)
{
    const struct node *node = node_named(graph, name);
    assert_int_not_equal(node->meta, META_NONE);
    assert_str_is(graph->pool->metas[node->meta].text, text);
}

static void test_every_argument_kind_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
        enum arg_kind kind;
    } ROWS[] = {
        { "{\"as_none\": true}", "None", ARG_NONE },
        { AS_TENSOR("x"), "x", ARG_NODE },
        { "{\"as_tensors\": [{\"name\": \"x\"}, {\"name\": \"x\"}]}", "[x, x]", ARG_LIST },
        { "{\"as_tensors\": []}", "[]", ARG_LIST },
        { "{\"as_optional_tensor\": {\"as_tensor\": {\"name\": \"x\"}}}", "x", ARG_NODE },
        { "{\"as_optional_tensor\": {\"as_none\": true}}", "None", ARG_NONE },
        { "{\"as_optional_tensors\": [{\"as_none\": true}, " AS_TENSOR("x") "]}", "[None, x]",
          ARG_LIST },
        { "{\"as_nested_tensors\": [[{\"name\": \"x\"}], []]}", "[[x], []]", ARG_LIST },
        { "{\"as_int\": -9223372036854775807}", "-9223372036854775807", ARG_INT },
        { "{\"as_ints\": [1, 0]}", "[1, 0]", ARG_LIST },
        { "{\"as_int_lists\": [[1, 2], [3]]}", "[(1, 2), (3)]", ARG_LIST },
        { "{\"as_float\": 1e-05}", "1e-05", ARG_FLOAT },
        { "{\"as_float\": \"-Infinity\"}", "-inf", ARG_FLOAT },
        { "{\"as_float\": NaN}", "nan", ARG_FLOAT },
        { "{\"as_floats\": [1.0, \"Infinity\"]}", "[1.0, inf]", ARG_LIST },
        { "{\"as_float_lists\": [[0.5]]}", "[[0.5]]", ARG_LIST },
        { "{\"as_bool\": true}", "True", ARG_BOOL },
        { "{\"as_bools\": [true, false]}", "[True, False]", ARG_LIST },
        { "{\"as_string\": \"a\\\"\\u00e9\"}", "'a\"\xC3\xA9'", ARG_STRING },
        { "{\"as_strings\": [\"a\", \"\"]}", "['a', '']", ARG_LIST },
        { "{\"as_complex\": {\"real\": 1.0, \"imag\": -2.5}}", "(1-2.5j)", ARG_COMPLEX },
        { "{\"as_complex\": {\"real\": -0.0, \"imag\": \"Infinity\"}}", "(-0+infj)", ARG_COMPLEX },
        { "{\"as_sym_int\": {\"as_name\": \"n\"}}", "n", ARG_NODE },
        { "{\"as_sym_int\": {\"as_int\": 7}}", "7", ARG_INT },
        { "{\"as_sym_ints\": [{\"as_name\": \"n\"}, {\"as_int\": -1}]}", "[n, -1]", ARG_LIST },
        { "{\"as_sym_float\": {\"as_float\": 2.5}}", "2.5", ARG_FLOAT },
        { "{\"as_sym_floats\": [{\"as_float\": 2.5}]}", "[2.5]", ARG_LIST },
        { "{\"as_sym_bool\": {\"as_bool\": false}}", "False", ARG_BOOL },
        { "{\"as_sym_bools\": [{\"as_bool\": true}]}", "[True]", ARG_LIST },
        { "{\"as_scalar_type\": 13}", "torch.bfloat16", ARG_DTYPE },
        { "{\"as_memory_format\": 2}", "torch.channels_last", ARG_MEMORY_FORMAT },
        { "{\"as_layout\": 7}", "torch.strided", ARG_LAYOUT },
        { "{\"as_device\": {\"type\": \"cuda\", \"index\": 1}}", "cuda:1", ARG_DEVICE },
        { "{\"as_device\": {\"type\": \"cpu\", \"index\": null}}", "cpu", ARG_DEVICE },
        { "{\"as_operator\": \"torch.ops.aten.add.Tensor\"}", "torch.ops.aten.add.Tensor",
          ARG_TARGET },
        { "{\"as_custom_obj\": {\"name\": \"x\", \"class_fqn\": \"c\"}}", "x", ARG_NODE },
        { "{\"as_custom_obj\": {\"name\": \"obj_0\", \"class_fqn\": \"c\"}}", "opaque obj_0",
          ARG_OPAQUE },
        { "{\"as_string_to_argument\": {\"a\": {\"as_int\": 1}, \"b\": {\"as_ints\": []}}}",
          "{'a', 1, 'b', []}", ARG_DICT },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct buf json = BUF_INIT;
        buf_puts(&json, "{\"graph_module\": {\"graph\": {\"inputs\": [{\"as_tensor\": {\"name\": "
                        "\"x\"}}, {\"as_sym_int\": {\"as_name\": \"n\"}}], \"nodes\": [{"
                        "\"target\": \"torch.ops.aten.f.default\", \"inputs\": [{\"name\": \"a\", "
                        "\"kind\": 1, \"arg\": ");
        buf_printf(&json, "%s}], \"outputs\": [" AS_TENSOR("y") "]}]}}}", ROWS[i].json);
        buf_putc(&json, '\0');
        struct graph *graph = parse(json.p);
        check_args(graph, "y", ROWS[i].text);
        assert_int_equal(graph->args[node_named(graph, "y")->first_arg].kind, ROWS[i].kind);
        assert_int_equal(graph->n_opaque, 0);
        graph_free(graph);
        buf_release(&json);
    }
}

static void test_values_of_arguments(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.f.default",
             INPUT("a", "{\"as_int\": 123456789012345678901234567890}", "1") ","
             INPUT("b", "{\"as_float\": 0.25}", "1") "," INPUT("c", "{\"as_scalar_type\": 5}", "1"),
             AS_TENSOR("y")), AS_TENSOR("y")));
    const struct arg *args = &graph->args[node_named(graph, "y")->first_arg];
    assert_int_equal(args[0].u.integer, INT64_MAX);
    assert_str_is(args[0].text, "123456789012345678901234567890");
    assert_double_is(args[1].u.number, 0.25);
    assert_int_equal(args[2].u.integer, DTYPE_I64);
    graph_free(graph);
}

static void test_what_is_unknown_is_kept_and_counted(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.f.default",
             INPUT("a", "{\"as_quaternion\": [1, 2]}", "1") ","
             INPUT("b", AS_TENSOR("never_made"), "1") ","
             INPUT("c", "{\"as_layout\": 99}", "1") ","
             INPUT("d", "{\"as_int\": 1, \"as_float\": 2}", "1"),
             AS_TENSOR("y")), AS_TENSOR("y")));
    check_args(graph, "y", "opaque {\"as_quaternion\": [1, 2]}, opaque never_made, opaque 99, "
                           "opaque {\"as_int\": 1, \"as_float\": 2}");
    assert_int_equal(graph->n_opaque, 4);
    graph_free(graph);
}

/* Its text stands in a program's text, where a line is a statement. */
static void test_what_is_unknown_is_one_line(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.f.default",
             INPUT("a", "{\"as_list\":\n[1,\r\n\t\"a \\\" b\"]}", "1"), AS_TENSOR("y")),
        AS_TENSOR("y")));
    check_args(graph, "y", "opaque {\"as_list\":[1,\"a \\\" b\"]}");
    graph_free(graph);
}

/* ---- what is not of its kind --------------------------------------------------------------- */

static void check_damaged(const char *json, const char *why)
{
    struct err err = ERR_INIT;
    struct graph *graph = pt2_program_parse(str_of(json), &err);
    if (graph)
        fail_msg("%s was read", json);
    assert_int_equal(err.kind, ERR_INPUT);
    assert_string_equal(err.text, why);
}

static void test_arguments_of_another_kind_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *why;
    } ROWS[] = {
        { "{\"as_int\": \"1\"}", "as_int: found a string, expected an integer" },
        { "{\"as_int\": 1.5}", "as_int: found a number, expected an integer" },
        { "{\"as_int\": NaN}", "as_int: found a number, expected an integer" },
        { "{\"as_int\": true}", "as_int: found a boolean, expected an integer" },
        { "{\"as_ints\": [1, \"0 if f() else 0\"]}", "as_ints: found a string, expected an integer" },
        { "{\"as_ints\": 1}", "as_ints: found a number, expected a list" },
        { "{\"as_int_lists\": [[1], 2]}", "as_int_lists: found a number, expected a list" },
        { "{\"as_float\": \"1e-5 if f() else 1e-5\"}", "as_float: found a string, expected a number" },
        { "{\"as_float\": \"inf\"}", "as_float: found a string, expected a number" },
        { "{\"as_floats\": [null]}", "as_floats: found nothing, expected a number" },
        { "{\"as_bool\": 1}", "as_bool: found a number, expected a boolean" },
        { "{\"as_none\": \"f()\"}", "as_none: found a string, expected a boolean" },
        { "{\"as_string\": 1}", "as_string: found a number, expected a string" },
        { "{\"as_strings\": [\"a\", [\"b\"]]}", "as_strings: found a list, expected a string" },
        { "{\"as_complex\": {\"real\": \"1,f(),1\", \"imag\": 2}}",
          "as_complex: found a string, expected a number" },
        { "{\"as_complex\": [1, 2]}", "as_complex: found a list, expected an object" },
        { "{\"as_scalar_type\": \"7\"}", "as_scalar_type: found a string, expected an integer" },
        { "{\"as_layout\": [7]}", "as_layout: found a list, expected an integer" },
        { "{\"as_memory_format\": null}", "as_memory_format: found nothing, expected an integer" },
        { "{\"as_device\": \"cpu\"}", "as_device: found a string, expected an object" },
        { "{\"as_device\": {\"type\": \"cpu\\\", f(), \\\"\"}}",
          "as_device: device cpu\", f(), \": not a device of PyTorch with an index of 0 to 127" },
        { "{\"as_device\": {\"type\": \"cuda\", \"index\": -1}}",
          "as_device: device cuda:-1: not a device of PyTorch with an index of 0 to 127" },
        { "{\"as_device\": {\"type\": \"cuda\", \"index\": \"0\"}}",
          "as_device: found a string, expected an integer" },
        { "{\"as_operator\": \"f()\"}", "as_operator: not the name of an operator or function" },
        { "{\"as_operator\": null}", "as_operator: found nothing, expected a string" },
        { "{\"as_custom_obj\": {\"name\": \"f()\", \"class_fqn\": \"c\"}}",
          "as_custom_obj: name f(): not a dotted name in Python" },
        { "{\"as_tensor\": {\"name\": 1}}", "as_tensor: found a number, expected a string" },
        { "{\"as_sym_int\": {\"as_int\": \"1\"}}",
          "as_sym_int: as_int: found a string, expected an integer" },
        { "{\"as_string_to_argument\": {\"a\": {\"as_int\": []}}}",
          "as_string_to_argument: as_int: found a list, expected an integer" },
        { "{\"as_graph\": {\"name\": \"g\", \"graph\": 1}}",
          "as_graph: found a number, expected an object" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct buf json = BUF_INIT, why = BUF_INIT;
        buf_puts(&json, "{\"graph_module\": {\"graph\": {\"nodes\": [{\"target\": "
                        "\"torch.ops.aten.f.default\", \"inputs\": [{\"name\": \"a\", \"kind\": 1, "
                        "\"arg\": ");
        buf_printf(&json, "%s}], \"outputs\": [" AS_TENSOR("y") "]}]}}}", ROWS[i].json);
        buf_putc(&json, '\0');
        buf_printf(&why, "node y: argument a: %s", ROWS[i].why);
        buf_putc(&why, '\0');
        check_damaged(json.p, why.p);
        buf_release(&json);
        buf_release(&why);
    }
}

static void test_targets_are_names(void **state)
{
    (void)state;
    static const char *const GOOD[] = { "torch.ops.aten.mm.default", "torch.ops.higher_order.cond",
                                        "torch.ops.aten.random_.from", "torch.sym_max", "math.trunc",
                                        "_operator.add", "#executorch:prim.add" },
                            *const BAD[] = { "torch.ops.aten.mm.default if f() else g", "f()", "",
                                             "torch.ops.aten.mm(x)\\n    f", "a..b", ".a", "a.",
                                             "lambda", "#ext:a b", "#ext", "1.a", "a\\u2028b" };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        struct buf json = BUF_INIT;
        buf_printf(&json, "{\"graph_module\": {\"graph\": {\"nodes\": [{\"target\": \"%s\", "
                          "\"outputs\": [" AS_TENSOR("y") "]}]}}}", GOOD[i]);
        buf_putc(&json, '\0');
        graph_free(parse(json.p));
        buf_release(&json);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct err err = ERR_INIT;
        struct buf json = BUF_INIT;
        buf_printf(&json, "{\"graph_module\": {\"graph\": {\"nodes\": [{\"target\": \"%s\", "
                          "\"outputs\": [" AS_TENSOR("y") "]}]}}}", BAD[i]);
        assert_null(pt2_program_parse(buf_str(&json), &err));
        assert_int_equal(err.kind, ERR_INPUT);
        assert_true(str_starts(str_of(err.text), STR("node y: target")));
        assert_true(str_ends(str_of(err.text), STR("not the name of an operator or function")));
        buf_release(&json);
    }
    check_damaged("{\"graph_module\": {\"graph\": {\"nodes\": [{\"outputs\": []}]}}}",
                  "node: found nothing, expected a string");
}

static void test_keywords_are_names(void **state)
{
    (void)state;
    check_damaged(PROGRAM(NODE("torch.ops.aten.f.default",
                               INPUT("eps=f() or 1, g", "{\"as_int\": 1}", "2"), AS_TENSOR("y")),
                          AS_TENSOR("y")),
                  "node y: name eps=f() or 1, g: not a name in Python");
    /* aten::uniform calls one so. */
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.uniform.default",
             INPUT("self", AS_TENSOR("x"), "1") "," INPUT("from", "{\"as_float\": 0.5}", "2"),
             AS_TENSOR("y")), AS_TENSOR("y")));
    check_args(graph, "y", "x, from=0.5");
    graph_free(graph);
}

/* Their own place is told, not only that of the node: a result's meta, an input's. */
static void test_metas_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *sizes, *strides, *rest, *why;
    } ROWS[] = {
        { "{\"as_int\": -1}", "{\"as_int\": 1}", "", "sizes: -1 is not a size, stride or offset" },
        { "{\"as_int\": 4}", "{\"as_int\": -1}", "", "strides: -1 is not a size, stride or offset" },
        { "{\"as_int\": 9223372036854775808}", "{\"as_int\": 1}", "",
          "sizes: 9223372036854775808 is not a size, stride or offset" },
        { "{\"as_int\": 4294967296}, {\"as_int\": 4294967296}", "{\"as_int\": 1}, {\"as_int\": 1}",
          "", "more than 2^63 elements" },
        { "{\"as_int\": \"f()\"}", "{\"as_int\": 1}", "",
          "sizes: found a string, expected an integer" },
        { "{\"as_int\": 1e3}", "", "", "sizes: found a number, expected an integer" },
        { "f()", "", "", NULL }, /* no JSON */
        { "", "", ", \"storage_offset\": {\"as_int\": -3}",
          "storage_offset: -3 is not a size, stride or offset" },
        { "", "", ", \"device\": {\"type\": \"cuda\", \"index\": -1}",
          "device cuda:-1: not a device of PyTorch with an index of 0 to 127" },
        { EXPR("Symbol('a b', integer=True)", "null"), "", "",
          "sizes: symbol a b: not a name in Python" },
        { EXPR("Symbol('s0'", "null"), "", "",
          "sizes: expr_str Symbol('s0': not an expression: offset 11: expected ',' or ')'" },
        { EXPR("Float('f()')", "null"), "", "",
          "sizes: expr_str Float('f()'): not an expression: offset 12: expected a number" },
        { EXPR("s0", "{\"as_int\": \"f()\"}"), "", "",
          "sizes: found a string, expected a number" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct err err = ERR_INIT;
        struct buf json = BUF_INIT, why = BUF_INIT;
        buf_printf(&json, "{\"graph_module\": {\"graph\": {\"inputs\": [" AS_TENSOR("x") "], "
                          "\"tensor_values\": {\"x\": {\"dtype\": 7, \"layout\": 7, \"sizes\": [%s], "
                          "\"strides\": [%s]%s}}}}}", ROWS[i].sizes, ROWS[i].strides, ROWS[i].rest);
        buf_printf(&why, "value x: %s", ROWS[i].why ? ROWS[i].why : "");
        assert_null(pt2_program_parse(buf_str(&json), &err));
        assert_int_equal(err.kind, ERR_INPUT);
        if (ROWS[i].why)
            assert_str_is(buf_str(&why), err.text);
        buf_release(&json);
        buf_release(&why);
    }
}

static void test_more_dimensions_than_pytorch_has_are_refused(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf json = BUF_INIT;
    buf_puts(&json, "{\"graph_module\": {\"graph\": {\"inputs\": [" AS_TENSOR("x") "], "
                    "\"tensor_values\": {\"x\": {\"dtype\": 7, \"layout\": 1, \"sizes\": [1");
    for (int i = 0; i < 64; i++)
        buf_puts(&json, ", 1");
    buf_puts(&json, "]}}}}}");
    assert_null(pt2_program_parse(buf_str(&json), &err));
    assert_string_equal(err.text, "value x: sizes: 65 dimensions, and at most 64 are supported");
    buf_release(&json);
}

/* One made of it, wherever the archive says it: in the value's meta, in arguments, in the signature. */
static void test_names_that_are_none_are_replaced(void **state)
{
    (void)state;
    static const char json[] =
        "{\"graph_module\": {\"graph\": {\"inputs\": [" AS_TENSOR("x\\nimport os") "], \"outputs\": ["
        AS_TENSOR("a-b") "], \"nodes\": ["
        NODE("torch.ops.aten.f.default", INPUT("a", AS_TENSOR("x\\nimport os"), "1"),
             AS_TENSOR("a b")) ","
        NODE("torch.ops.aten.f.default", INPUT("a", AS_TENSOR("a b"), "1"), AS_TENSOR("a-b")) ","
        NODE("torch.ops.aten.f.default", INPUT("a", AS_TENSOR("a b"), "1"), AS_TENSOR("lambda"))
        "], \"tensor_values\": {\"a_b\": " TENSOR("", "") ", \"a b\": " TENSOR("", "") "}}, "
        "\"signature\": {\"input_specs\": [{\"user_input\": {\"arg\": " AS_TENSOR("x\\nimport os")
        "}}], \"output_specs\": [{\"user_output\": {\"arg\": " AS_TENSOR("a-b") "}}]}}}";
    struct graph *graph = parse(json);
    assert_str_is(graph->nodes[0].name, "x_import_os");
    check_args(graph, "a_b_1", "x_import_os");
    check_meta(graph, "a_b_1", "f32[][]cuda:0");
    check_args(graph, "a_b_2", "a_b_1");
    check_args(graph, "lambda_3", "a_b_1");
    check_args(graph, "output", "a_b_2");
    assert_str_is(graph->signature->inputs[0].name, "x_import_os");
    assert_str_is(graph->signature->outputs[0].name, "a_b_2");
    assert_int_equal(graph->signature->n_renamed, 4);
    graph_free(graph);
}

static void test_keyword_arguments_come_last(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.f.default",
             INPUT("k", "{\"as_int\": 1}", "2") "," INPUT("self", AS_TENSOR("x"), "1"),
             AS_TENSOR("y")) ","
        NODE("torch.ops.aten.g.default", /* as torch 2.6 wrote it */
             INPUT("self", AS_TENSOR("y"), "null") "," INPUT("dim", "{\"as_int\": 1}", "null"),
             AS_TENSOR("z")) ","
        NODE("torch.ops.higher_order.h",
             INPUT("", AS_TENSOR("y"), "null") "," INPUT("", "{\"as_int\": 2}", "null"),
             AS_TENSOR("w")), AS_TENSOR("z")));
    check_args(graph, "y", "x, k=1");
    check_args(graph, "z", "y, dim=1");
    check_args(graph, "w", "y, 2");
    graph_free(graph);
}

static void test_python_operators_are_printed_as_python_does(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("_operator.mul", INPUT("a", "{\"as_sym_int\": {\"as_name\": \"n\"}}", "null") ","
             INPUT("b", "{\"as_int\": 2}", "null"), "{\"as_sym_int\": {\"as_name\": \"m\"}}") ","
        NODE("_operator.neg", INPUT("a", "{\"as_sym_int\": {\"as_name\": \"m\"}}", "1"),
             "{\"as_sym_int\": {\"as_name\": \"o\"}}") ","
        NODE("_operator.index", INPUT("a", "{\"as_sym_int\": {\"as_name\": \"m\"}}", "1"),
             "{\"as_sym_int\": {\"as_name\": \"i\"}}") ","
        NODE("torch.sym_max", INPUT("a", "{\"as_sym_int\": {\"as_name\": \"m\"}}", "1") ","
             INPUT("b", "{\"as_int\": 2}", "1"), "{\"as_sym_int\": {\"as_name\": \"p\"}}"), ""));
    check_node(graph, "m", "operator.mul", FORM_INFIX, "n, 2");
    check_node(graph, "o", "operator.neg", FORM_INFIX, "m");
    check_node(graph, "i", "operator.index", FORM_PLAIN, "m");
    check_node(graph, "p", "torch.sym_max", FORM_PLAIN, "m, 2");
    graph_free(graph);
}

/* ---- results ------------------------------------------------------------------------------- */

static void test_several_results_are_getitems(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        "{\"target\": \"torch.ops.aten.max.dim\", \"inputs\": [" INPUT("self", AS_TENSOR("x"), "1")
        "], \"outputs\": [" AS_TENSOR("y") ", {\"as_none\": true}, " AS_TENSOR("max_1_unused_2")
        "], \"name\": \"max_1\"},"
        NODE("torch.ops.aten.split.Tensor", INPUT("self", AS_TENSOR("y"), "1"),
             "{\"as_tensors\": [{\"name\": \"z\"}, {\"name\": \"split_unused_1\"}]}") ","
        NODE("torch.ops.aten.lstm.input", INPUT("self", AS_TENSOR("y"), "1"),
             AS_TENSOR("a") ", {\"as_tensors\": [{\"name\": \"b\"}]}"),
        AS_TENSOR("z") ", {\"as_none\": true}"));
    check_node(graph, "max_1", "torch.ops.aten.max.dim", FORM_PLAIN, "x");
    assert_int_equal(node_named(graph, "max_1")->meta, META_NONE);
    check_node(graph, "y", "operator.getitem", FORM_GETITEM, "max_1, 0");
    assert_int_not_equal(node_named(graph, "y")->meta, META_NONE);
    check_node(graph, "max_1_unused_2", "operator.getitem", FORM_GETITEM, "max_1, 2");
    check_node(graph, "split", "torch.ops.aten.split.Tensor", FORM_PLAIN, "y");
    check_node(graph, "z", "operator.getitem", FORM_GETITEM, "split, 0");
    check_node(graph, "a", "operator.getitem", FORM_GETITEM, "lstm, 0");
    check_node(graph, "getitem", "operator.getitem", FORM_GETITEM, "lstm, 1");
    check_node(graph, "b", "operator.getitem", FORM_GETITEM, "getitem, 0");
    check_args(graph, "output", "z, None");
    assert_true(graph->returns_tuple);
    assert_int_equal(graph->n_nodes, 2 + 3 + 3 + 4 + 1);
    graph_free(graph);
}

static void test_calls_without_a_result_have_a_name(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten._assert_scalar.default", INPUT("self", AS_TENSOR("x"), "1"), "") ","
        NODE("torch.ops.aten._assert_scalar.default", INPUT("self", AS_TENSOR("x"), "1"), "") ","
        NODE("torch.ops.aten.y.default", INPUT("self", AS_TENSOR("x"), "1"),
             "{\"as_none\": true}"), AS_TENSOR("x")));
    check_args(graph, "_assert_scalar", "x");
    check_args(graph, "_assert_scalar_1", "x");
    check_args(graph, "y_2", "x"); /* y is the name of a value */
    graph_free(graph);
}

static void test_a_tuple_of_one_differs_from_its_element(void **state)
{
    (void)state;
    static const char FORMAT[] =
        "{\"graph_module\": {\"graph\": {\"inputs\": [], \"nodes\": [{\"target\": "
        "\"torch.ops.higher_order.cond\", \"inputs\": [], \"outputs\": [" AS_TENSOR("y")
        "], \"is_hop_single_tensor_return\": %s, \"name\": \"cond\"}]}}}";
    static const char *const RETURNS[] = { "false", "true", "null" };
    for (size_t i = 0; i < 3; i++) {
        char json[sizeof FORMAT + 8];
        snprintf(json, sizeof json, FORMAT, RETURNS[i]);
        struct graph *graph = parse(json);
        if (i == 0)
            check_node(graph, "y", "operator.getitem", FORM_GETITEM, "cond, 0");
        else
            check_node(graph, "y", "torch.ops.higher_order.cond", FORM_PLAIN, "");
        assert_int_equal(graph->n_nodes, i == 0 ? 3 : 2);
        graph_free(graph);
    }
}

/* ---- nested graphs ------------------------------------------------------------------------- */

#define AS_GRAPH(name, nodes)                                                                     \
    "{\"as_graph\": {\"name\": \"" name "\", \"graph\": {\"inputs\": [" AS_TENSOR("x") "], "       \
    "\"outputs\": [" AS_TENSOR("x") "], \"nodes\": [" nodes "], \"tensor_values\": {}}}}"

static void test_nested_graphs_are_children(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.higher_order.cond",
             INPUT("", AS_TENSOR("x"), "1") ","
             INPUT("", AS_GRAPH("true_graph_0",
                                NODE("torch.ops.aten.f.default", "", AS_TENSOR("q"))), "1") ","
             INPUT("", AS_GRAPH("false_graph_0", ""), "1") ","
             INPUT("", "{\"as_tensors\": [{\"name\": \"x\"}]}", "1"), AS_TENSOR("y")) ","
        NODE("torch.ops.higher_order.cond",
             INPUT("", AS_TENSOR("y"), "1") "," INPUT("", AS_GRAPH("false_graph_0", ""), "1") ","
             INPUT("", AS_GRAPH("true_graph_0", ""), "1") ","
             INPUT("", "{\"as_tensors\": []}", "1"), AS_TENSOR("z")), AS_TENSOR("z")));
    check_args(graph, "y", "x, true_graph_0, false_graph_0, [x]");
    /* The same body is the same child; another body of the same name is not. */
    check_args(graph, "z", "y, false_graph_0, true_graph_0_1, []");
    assert_int_equal(graph->n_children, 3);
    assert_int_equal(node_named(graph, "true_graph_0")->op, NODE_GET_ATTR);
    assert_str_is(node_named(graph, "true_graph_0")->target, "true_graph_0");
    const struct graph *child = graph->children[0];
    assert_str_is(child->name, "true_graph_0");
    assert_ptr_equal(child->pool, graph->pool);
    assert_int_equal(child->n_nodes, 3);
    check_args(child, "output", "x");
    assert_non_null(child->signature->origins);
    assert_int_equal(graph_counts(graph).graphs, 4);
    graph_free(graph);
}

/* ---- metas --------------------------------------------------------------------------------- */

static void test_metas_are_annotations(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM(
        NODE("torch.ops.aten.f.default", "", "{\"as_sym_bool\": {\"as_name\": \"s\"}}"), ""));
    check_meta(graph, "x", "f32[s77, 16][16, 1]cuda:0");
    check_meta(graph, "n", "Sym(u0)");
    check_meta(graph, "s", "Sym(u0 >= 2)");
    const struct meta *x = &graph->pool->metas[graph->nodes[0].meta];
    assert_int_equal(x->kind, META_TENSOR);
    assert_int_equal(x->dtype, DTYPE_F32);
    assert_int_equal(x->n_sizes, 2);
    assert_str_is(x->device, "cuda:0");
    assert_int_equal(expr_at(&graph->pool->exprs, x->sizes[0])->kind, EXPR_SYMBOL);
    assert_int_equal(graph->pool->metas[graph->nodes[1].meta].kind, META_SYM);
    graph_free(graph);
}

static void test_forms_of_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } ROWS[] = {
        { EXPR("Mul(Integer(2), " S77 ")", "null"), "f32[2*s77]cpu" },
        { EXPR("2*s0 + 1", "null"), "f32[2*s0 + 1]cpu" }, /* str(), before torch 2.5 */
        { EXPR("Max(1, s0)", "null"), "f32[Max(1, s0)]cpu" },
        { "7", "f32[7]cpu" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct buf json = BUF_INIT;
        buf_printf(&json, "{\"graph_module\": {\"graph\": {\"inputs\": [" AS_TENSOR("x") "], "
                          "\"tensor_values\": {\"x\": {\"dtype\": 7, \"sizes\": [%s], \"layout\": "
                          "1, \"device\": {\"type\": \"cpu\"}}}}}}", ROWS[i].json);
        buf_putc(&json, '\0');
        struct graph *graph = parse(json.p);
        check_meta(graph, "x", ROWS[i].text);
        assert_false(graph->pool->metas[0].has_strides);
        graph_free(graph);
        buf_release(&json);
    }
}

static void test_symbols_have_their_hints(void **state)
{
    (void)state;
    struct graph *graph = parse(PROGRAM("", AS_TENSOR("x")));
    const struct graph_signature *s = graph->signature;
    assert_int_equal(s->n_symbols, 2);
    assert_str_is(s->symbols[0].name, "s77");
    assert_str_is(s->symbols[0].hint, "12");
    assert_str_is(s->symbols[0].srepr, S77);
    assert_str_is(s->symbols[1].name, "u0");
    assert_str_is(s->symbols[1].hint, "");
    graph_free(graph);
}

static void test_what_an_annotation_does_not_say_is_an_origin(void **state)
{
    (void)state;
    struct graph *graph = parse(
        "{\"graph_module\": {\"graph\": {\"inputs\": [" AS_TENSOR("x") "], \"nodes\": [{"
        "\"target\": \"torch.ops.aten.f.default\", \"inputs\": [], \"outputs\": [" AS_TENSOR("y")
        "], \"metadata\": {\"nn_module_stack\": \"L__self__,,zoo.Moe\", \"torch_fn\": \"f_1;f\", "
        "\"custom\": \"{\\\"a\\\": 1}\"}}], \"tensor_values\": {\"x\": {\"dtype\": 7, \"sizes\": "
        "[], \"strides\": [], \"requires_grad\": true, \"storage_offset\": {\"as_int\": 5}}}}}}");
    const struct node_origin *o = graph->signature->origins;
    assert_true(o[0].requires_grad);
    assert_int_equal(expr_at(&graph->pool->exprs, o[0].storage_offset)->value, 5);
    assert_str_is(o[1].module_stack, "L__self__,,zoo.Moe");
    assert_str_is(o[1].torch_fn, "f_1;f");
    assert_str_is(o[1].custom, "{\"a\": 1}");
    assert_false(o[1].requires_grad);
    assert_int_equal(o[1].storage_offset, EXPR_NONE);
    assert_int_equal(o[2].storage_offset, EXPR_NONE);
    graph_free(graph);
}

static void test_stack_traces_are_locations_with_callers(void **state)
{
    (void)state;
#define TRACED(trace, name)                                                                   \
    "{\"target\": \"torch.ops.aten.f.default\", \"inputs\": [], \"outputs\": [" AS_TENSOR(name) \
    "], \"metadata\": {\"stack_trace\": \"" trace "\"}}"
#define OUTER "File \\\"/home/a b/m.py\\\", line 49, in forward\\n    y = self.gate(x)"
#define INNER "\\n  File \\\"linear.py\\\", line 134, in forward\\n    return F.linear(x)"
    struct graph *graph = parse(PROGRAM(TRACED(OUTER INNER, "a") "," TRACED(OUTER, "b") ","
                                        TRACED("no frame", "c"), ""));
    const struct node *a = node_named(graph, "a"), *b = node_named(graph, "b");
    const struct location *inner = &graph->locations[a->location];
    assert_str_is(inner->file, "linear.py");
    assert_int_equal(inner->line, 134);
    assert_str_is(inner->function, "forward");
    assert_str_is(inner->code, "return F.linear(x)");
    assert_int_equal(inner->caller, b->location);
    const struct location *outer = &graph->locations[b->location];
    assert_str_is(outer->file, "/home/a b/m.py");
    assert_int_equal(outer->caller, LOCATION_NONE);
    assert_int_equal(node_named(graph, "c")->location, LOCATION_NONE);
    assert_int_equal(graph->n_locations, 2);
    graph_free(graph);
}

/* ---- the signature ------------------------------------------------------------------------- */

static const char SIGNATURE[] =
    "{\"graph_module\": {\"graph\": {\"inputs\": [{\"as_tensor\": {\"name\": \"p_w\"}}, "
    "{\"as_tensor\": {\"name\": \"b_n\"}}, {\"as_tensor\": {\"name\": \"c_c\"}}, "
    "{\"as_custom_obj\": {\"name\": \"obj\", \"class_fqn\": \"q\"}}, {\"as_float\": 0.5}, "
    "{\"as_sym_int\": {\"as_name\": \"k\"}}, {\"as_tensor\": {\"name\": \"later\"}}, "
    "{\"as_none\": true}]}, \"signature\": {\"input_specs\": ["
    "{\"parameter\": {\"arg\": {\"name\": \"p_w\"}, \"parameter_name\": \"l.w\"}}, "
    "{\"buffer\": {\"arg\": {\"name\": \"b_n\"}, \"buffer_name\": \"l.n\", "
    "\"persistent\": false}}, "
    "{\"tensor_constant\": {\"arg\": {\"name\": \"c_c\"}, \"tensor_constant_name\": \"c\"}}, "
    "{\"custom_obj\": {\"arg\": {\"name\": \"obj\"}, \"custom_obj_name\": \"o\"}}, "
    "{\"constant_input\": {\"name\": \"f\", \"value\": {\"as_float\": 0.5}}}, "
    "{\"user_input\": {\"arg\": {\"as_sym_int\": {\"as_name\": \"k\"}}}}, "
    "{\"gadget\": {\"arg\": {\"name\": \"later\"}}}, "
    "{\"user_input\": {\"arg\": {\"as_none\": true}}}], \"output_specs\": ["
    "{\"buffer_mutation\": {\"arg\": {\"name\": \"add\"}, \"buffer_name\": \"l.n\"}}, "
    "{\"parameter_mutation\": {\"arg\": {\"name\": \"add\"}, \"parameter_name\": \"l.w\"}}, "
    "{\"user_input_mutation\": {\"arg\": {\"name\": \"add\"}, \"user_input_name\": \"x\"}}, "
    "{\"gradient_to_parameter\": {\"arg\": {\"name\": \"g\"}, \"parameter_name\": \"l.w\"}}, "
    "{\"gradient_to_user_input\": {\"arg\": {\"name\": \"g\"}, \"user_input_name\": \"x\"}}, "
    "{\"loss_output\": {\"arg\": {\"name\": \"loss\"}}}, "
    "{\"token\": {\"arg\": {\"name\": \"t\"}}}, "
    "{\"user_output\": {\"arg\": {\"as_int\": 3}}}, {\"gadget\": {}}]}, "
    "\"module_call_graph\": [{\"fqn\": \"\", \"signature\": {\"inputs\": [], \"outputs\": [], "
    "\"in_spec\": \"[1, {}]\", \"out_spec\": \"[1, {}]\", \"forward_arg_names\": [\"x\", \"k\"]}}, "
    "{\"fqn\": \"l\", \"signature\": null}]}, \"opset_version\": {\"aten\": 10}, "
    "\"range_constraints\": {\"s77\": {\"min_val\": 2, \"max_val\": null}, "
    "\"u0\": {\"min_val\": null, \"max_val\": 9223372036854775806}}, "
    "\"schema_version\": {\"major\": 8, \"minor\": 17}, \"verifiers\": [\"ATEN\", \"EDGE\"], "
    "\"torch_version\": \"2.11.0+cu130\", \"guards_code\": [\"L['x'].size()[1] == 16\"], "
    "\"key_of_a_later_version\": {}}";

static void test_every_input_kind_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *name, *target;
    } ROWS[] = {
        { "parameter", "p_w", "l.w" },     { "buffer", "b_n", "l.n" },
        { "tensor_constant", "c_c", "c" }, { "custom_obj", "obj", "o" },
        { "constant_input", "f", "" },     { "user_input", "k", "" },
        { "other", "later", "" },          { "user_input", "", "" },
    };
    struct graph *graph = parse(SIGNATURE);
    const struct graph_signature *s = graph->signature;
    assert_int_equal(s->n_inputs, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_string_equal(input_kind_name(s->inputs[i].kind), ROWS[i].kind);
        assert_str_is(s->inputs[i].name, ROWS[i].name);
        assert_str_is(s->inputs[i].target, ROWS[i].target);
        assert_int_equal(graph->nodes[i].op, NODE_PLACEHOLDER);
        if (s->inputs[i].name.n > 0)
            assert_str_eq(graph->nodes[i].name, s->inputs[i].name);
    }
    assert_false(s->inputs[1].persistent);
    assert_int_equal(s->inputs[4].value.kind, ARG_FLOAT);
    assert_double_is(s->inputs[4].value.u.number, 0.5);
    assert_str_is(graph->nodes[7].name, "arg7");
    graph_free(graph);
}

static void test_every_output_kind_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *name, *target;
    } ROWS[] = {
        { "buffer_mutation", "add", "l.n" },     { "parameter_mutation", "add", "l.w" },
        { "user_input_mutation", "add", "x" },   { "gradient_to_parameter", "g", "l.w" },
        { "gradient_to_user_input", "g", "x" },  { "loss_output", "loss", "" },
        { "token", "t", "" },                    { "user_output", "", "" },
        { "other", "", "" },
    };
    struct graph *graph = parse(SIGNATURE);
    assert_int_equal(graph->signature->n_outputs, 9);
    for (uint32_t i = 0; i < 9; i++) {
        const struct output_spec *output = &graph->signature->outputs[i];
        assert_string_equal(output_kind_name(output->kind), ROWS[i].kind);
        assert_str_is(output->name, ROWS[i].name);
        assert_str_is(output->target, ROWS[i].target);
    }
    graph_free(graph);
}

static void test_the_head_of_a_program_is_read(void **state)
{
    (void)state;
    struct graph *graph = parse(SIGNATURE);
    const struct graph_signature *s = graph->signature;
    assert_int_equal(s->n_ranges, 2);
    assert_str_is(s->ranges[0].symbol, "s77");
    assert_true(s->ranges[0].has_min && !s->ranges[0].has_max && s->ranges[0].min == 2);
    assert_true(!s->ranges[1].has_min && s->ranges[1].max == INT64_MAX - 1);
    assert_int_equal(s->n_modules, 2);
    assert_int_equal(s->modules[0].n_arg_names, 2);
    assert_str_is(s->modules[0].arg_names[1], "k");
    assert_str_is(s->modules[0].in_spec, "[1, {}]");
    assert_str_is(s->modules[1].fqn, "l");
    assert_str_is(s->modules[1].out_spec, "");
    assert_int_equal(s->n_guards, 1);
    assert_str_is(s->guards[0], "L['x'].size()[1] == 16");
    assert_int_equal(s->schema_major, 8);
    assert_int_equal(s->schema_minor, 17);
    assert_int_equal(s->opset, 10);
    assert_str_is(s->torch_version, "2.11.0+cu130");
    assert_str_is(s->verifiers, "ATEN,EDGE");
    graph_free(graph);
}

/* ---- refusals and hostile texts ------------------------------------------------------------ */

static void check_refused(struct str json, const char *message)
{
    struct err err = ERR_INIT;
    assert_null(pt2_program_parse(json, &err));
    assert_err(&err, ERR_INPUT, message);
}

static void test_other_texts_are_refused(void **state)
{
    (void)state;
    check_refused(STR(""), "offset 0");
    check_refused(STR("[]"), "not an exported program");
    check_refused(STR("{\"graph_module\": {\"graph\": []}}"), "not an exported program");
    check_refused(STR("{\"graph_module\": {\"graph\": {}}, \"schema_version\": {\"major\": 9}}"),
                  "schema version 9, and only version 8 is supported");
    check_refused(STR("{\"graph_module\": {\"graph\": {}}"), "offset");
}

static void test_deep_texts_are_refused(void **state)
{
    (void)state;
    struct buf json = BUF_INIT;
    for (int i = 0; i < 100000; i++)
        buf_puts(&json, "{\"graph_module\":");
    check_refused(buf_str(&json), "offset");
    buf_clear(&json);
    buf_puts(&json, "{\"graph_module\": {\"graph\": {\"nodes\": [{\"target\": \"a\", \"inputs\": "
                    "[{\"name\": \"\", \"arg\": ");
    for (int i = 0; i < 100000; i++)
        buf_puts(&json, "{\"as_string_to_argument\": {\"a\": ");
    check_refused(buf_str(&json), "offset");
    buf_release(&json);
}

/* As deep as the JSON reader allows: graphs in graphs. */
static void test_nesting_up_to_the_limit_is_read(void **state)
{
    (void)state;
    enum { LEVELS = 140 };
    struct buf json = BUF_INIT;
    buf_puts(&json, "{\"graph_module\": {\"graph\": ");
    for (int i = 0; i < LEVELS; i++)
        buf_puts(&json, "{\"nodes\": [{\"target\": \"a\", \"inputs\": [{\"name\": \"\", \"arg\": "
                        "{\"as_graph\": {\"name\": \"g\", \"graph\": ");
    buf_puts(&json, "{}");
    for (int i = 0; i < LEVELS; i++)
        buf_puts(&json, "}}}]}]}");
    buf_puts(&json, "}}");
    buf_putc(&json, '\0');
    struct graph *graph = parse(json.p);
    assert_int_equal(graph_counts(graph).graphs, LEVELS + 1);
    graph_free(graph);
    buf_release(&json);
}

static void parse_copy(struct str text)
{
    struct err err = ERR_INIT;
    char *copy = malloc(text.n + (text.n == 0));
    assert_non_null(copy);
    memcpy(copy, text.p, text.n);
    struct graph *graph = pt2_program_parse((struct str){ copy, text.n }, &err);
    free(copy);
    assert_int_equal(err.kind, graph ? ERR_NONE : ERR_INPUT);
    if (graph)
        graph_free(graph);
}

static const char HOSTILE[] = PROGRAM(
    NODE("torch.ops.higher_order.cond", INPUT("", AS_GRAPH("g", ""), "1"),
         "{\"as_tensors\": [{\"name\": \"y\"}]}"), AS_TENSOR("y"));

static void test_every_truncation_and_every_flip_is_survived(void **state)
{
    (void)state;
    char text[sizeof HOSTILE];
    for (size_t n = 0; n < sizeof HOSTILE - 1; n++)
        parse_copy((struct str){ HOSTILE, n });
    memcpy(text, HOSTILE, sizeof text);
    for (size_t i = 0; i < sizeof HOSTILE - 1; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            parse_copy((struct str){ text, sizeof HOSTILE - 1 });
            text[i] = HOSTILE[i];
        }
}

static bool parse_attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct graph *graph = pt2_program_parse(str_of(arg), &err);
    assert_int_equal(err.kind, graph ? ERR_NONE : ERR_ENV);
    if (graph)
        graph_free(graph);
    return graph != NULL;
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    char hostile[sizeof HOSTILE], signature[sizeof SIGNATURE];
    memcpy(hostile, HOSTILE, sizeof hostile);
    memcpy(signature, SIGNATURE, sizeof signature);
    check_alloc_failures(parse_attempt, hostile);
    check_alloc_failures(parse_attempt, signature);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_argument_kind_is_read),
        cmocka_unit_test(test_values_of_arguments),
        cmocka_unit_test(test_what_is_unknown_is_kept_and_counted),
        cmocka_unit_test(test_what_is_unknown_is_one_line),
        cmocka_unit_test(test_arguments_of_another_kind_are_refused),
        cmocka_unit_test(test_targets_are_names),
        cmocka_unit_test(test_keywords_are_names),
        cmocka_unit_test(test_metas_that_cannot_be_are_refused),
        cmocka_unit_test(test_more_dimensions_than_pytorch_has_are_refused),
        cmocka_unit_test(test_names_that_are_none_are_replaced),
        cmocka_unit_test(test_keyword_arguments_come_last),
        cmocka_unit_test(test_python_operators_are_printed_as_python_does),
        cmocka_unit_test(test_several_results_are_getitems),
        cmocka_unit_test(test_calls_without_a_result_have_a_name),
        cmocka_unit_test(test_a_tuple_of_one_differs_from_its_element),
        cmocka_unit_test(test_nested_graphs_are_children),
        cmocka_unit_test(test_metas_are_annotations),
        cmocka_unit_test(test_forms_of_sizes),
        cmocka_unit_test(test_symbols_have_their_hints),
        cmocka_unit_test(test_what_an_annotation_does_not_say_is_an_origin),
        cmocka_unit_test(test_stack_traces_are_locations_with_callers),
        cmocka_unit_test(test_every_input_kind_is_read),
        cmocka_unit_test(test_every_output_kind_is_read),
        cmocka_unit_test(test_the_head_of_a_program_is_read),
        cmocka_unit_test(test_other_texts_are_refused),
        cmocka_unit_test(test_deep_texts_are_refused),
        cmocka_unit_test(test_nesting_up_to_the_limit_is_read),
        cmocka_unit_test(test_every_truncation_and_every_flip_is_survived),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
