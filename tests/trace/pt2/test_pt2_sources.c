/* Names of what the user passes, from the pytree of the arguments. */
#include "tests/harness.h"
#include "trace/base/text/json_write.h"
#include "trace/pt2/pt2.h"

/* clang-format off */
#define USER(name) "{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"" name "\"}}}}"
#define TREE(type, context, of) \
    "{\"type\": " type ", \"context\": \"" context "\", \"children_spec\": [" of "]}"
#define LEAF           TREE("null", "", "")
#define TUPLE(of)      TREE("\"builtins.tuple\"", "null", of)
#define LIST(of)       TREE("\"builtins.list\"", "null", of)
#define OTHER(of)      TREE("\"my.Class\"", "[]", of)
#define DICT(keys, of) TREE("\"builtins.dict\"", "[" keys "]", of)
#define DATA(keys, of) TREE("\"my.Data\"", "[[" keys "], [\\\"rest\\\"]]", of)
#define NAMED(of)      TREE("\"collections.namedtuple\"", "my.Pair", of)
#define TUPLE_OF(type, of) TREE("\"collections.namedtuple\"", type, of)
#define MAPPED(keys, of) TREE("\"my.Mapping\"", "[" keys "]", of)
#define DEQUE(of)      TREE("\"collections.deque\"", "null", of)
#define DEFAULT(keys, of)                                                                       \
    "{\"type\": \"collections.defaultdict\", \"context\": {\"default_factory_name\": \"list\", " \
    "\"dict_context\": [" keys "]}, \"children_spec\": [" of "]}"
#define NO_KEYWORDS    DICT("", "")
#define SPEC(positional, keywords) "[1, " TUPLE(TUPLE(positional) "," keywords) "]"

/* A program of four inputs and a parameter between them, up to the value of its in_spec. */
#define PROGRAM_HEAD \
    "{\"graph_module\": {\"graph\": {}, \"signature\": {\"input_specs\": [" USER("a") ", " \
    "{\"parameter\": {\"arg\": {\"name\": \"p_w\"}, \"parameter_name\": \"w\"}}, " USER("b") ", " \
    "{\"constant_input\": {\"name\": \"c\", \"value\": {\"as_int\": 3}}}, " USER("d") "]}, " \
    "\"module_call_graph\": [{\"fqn\": \"l\", \"signature\": {\"in_spec\": \"[\"}}, " \
    "{\"fqn\": \"\", \"signature\": {\"forward_arg_names\": [\"x\", \"y\"], \"in_spec\": "

/* The same with three inputs, four outputs and the fields of a named tuple. */
#define RETURNED(name) "{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"" name "\"}}}}"
#define PATHS_HEAD \
    "{\"graph_module\": {\"treespec_namedtuple_fields\": {\"my.Pair\": {\"field_names\": [\"left\", " \
    "\"right\"]}, \"my.Odd\": {\"field_names\": 3}}, \"graph\": {}, \"signature\": {\"input_specs\": [" \
    USER("a") ", " USER("b") ", " USER("c") "], \"output_specs\": [" RETURNED("a") ", " \
    "{\"buffer_mutation\": {\"arg\": {\"name\": \"m\"}, \"buffer_name\": \"calls\"}}, " \
    RETURNED("b") ", " RETURNED("c") "]}, \"module_call_graph\": [{\"fqn\": \"\", \"signature\": " \
    "{\"forward_arg_names\": [\"x\", \"y\"], \"in_spec\": "
/* clang-format on */

static struct graph *program_from(const char *head, const char *in_spec, const char *out_spec)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    buf_puts(&text, head);
    json_quote(&text, str_of(in_spec));
    buf_puts(&text, ", \"out_spec\": ");
    json_quote(&text, str_of(out_spec));
    buf_puts(&text, "}}]}}");
    struct graph *graph = pt2_program_parse(buf_str(&text), &err);
    if (!graph)
        fail_msg("%s", err.text);
    buf_release(&text);
    return graph;
}

static struct graph *program_of(const char *in_spec)
{
    return program_from(PROGRAM_HEAD, in_spec, "");
}

static void check(const char *in_spec, const char *const expected[4])
{
    static const uint32_t AT[] = { 0, 2, 3, 4 };
    struct graph *graph = program_of(in_spec);
    assert_int_equal(graph->signature->n_inputs, 5);
    assert_str_is(graph->signature->inputs[1].source, "");
    for (int i = 0; i < 4; i++)
        assert_str_is(graph->signature->inputs[AT[i]].source, expected[i]);
    graph_free(graph);
}

static const char *const PLACEHOLDERS[] = { "L['a']", "L['b']", "L['c']", "L['d']" };

static void test_the_tree_names_inputs(void **state)
{
    (void)state;
    check(SPEC(LEAF "," LIST(LEAF "," LEAF), DICT("\\\"z\\\"", LEAF)),
          (const char *const[]){ "L['x']", "L['y'][0]", "L['y'][1]", "L['z']" });
    check(SPEC(TUPLE(LEAF "," DICT("\\\"k\\\", 7", LEAF "," LEAF)) "," LEAF, NO_KEYWORDS),
          (const char *const[]){ "L['x'][0]", "L['x'][1]['k']", "L['x'][1][7]", "L['y']" });
}

/* A dataclass and a named tuple have attributes, dictionaries of all kinds have keys. */
static void test_attributes_and_keys(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        const char *sources[3];
    } rows[] = {
        { SPEC(NAMED(LEAF "," DATA("\\\"ids\\\"", LEAF)) "," LIST(LEAF), NO_KEYWORDS),
          { "L['x'].left", "L['x'].right.ids", "L['y'][0]" } },
        { SPEC(NAMED(NAMED(LEAF "," LEAF) "," DEQUE(LEAF)), NO_KEYWORDS),
          { "L['x'].left.left", "L['x'].left.right", "L['x'].right[0]" } },
        { SPEC(DATA("\\\"ids\\\", \\\"Mask\\\"", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['x'].ids", "L['x'].Mask", "L['y']" } },
        { SPEC(MAPPED("\\\"ids\\\", \\\"it's\\\"", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['x']['ids']", "L['x'][\"it's\"]", "L['y']" } },
        { SPEC(DEFAULT("\"k\", true, null", LEAF "," LEAF "," LEAF), NO_KEYWORDS),
          { "L['x']['k']", "L['x'][True]", "L['x'][None]" } },
        { SPEC(DICT("1.5, false, -3", LEAF "," LEAF "," LEAF), NO_KEYWORDS),
          { "L['x'][1.5]", "L['x'][False]", "L['x'][-3]" } },
        /* A named tuple of another number of fields, or of unknown ones, has subscripts. */
        { SPEC(LIST(NAMED(LEAF)) "," TUPLE_OF("my.Odd", LEAF "," LEAF), NO_KEYWORDS),
          { "L['x'][0][0]", "L['y'][0]", "L['y'][1]" } },
        { SPEC(TUPLE_OF("my.Other", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['x'][0]", "L['x'][1]", "L['y']" } },
        /* The context is not that of a dataclass, or has another number of keys. */
        { SPEC(DATA("\\\"ids\\\"", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['a']", "L['b']", "L['y']" } },
        { SPEC(MAPPED("\\\"ids\\\"", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['a']", "L['b']", "L['y']" } },
        { SPEC(DEFAULT("\"k\"", LEAF "," LEAF) "," LEAF, NO_KEYWORDS),
          { "L['a']", "L['b']", "L['y']" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph *graph = program_from(PATHS_HEAD, rows[i].spec, "");
        for (int k = 0; k < 3; k++)
            assert_str_is(graph->signature->inputs[k].source, rows[i].sources[k]);
        graph_free(graph);
    }
}

static void test_outputs(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        const char *paths[3];
    } rows[] = {
        { "[1, " TUPLE(LEAF "," DICT("\\\"k\\\"", LEAF) "," LEAF) "]",
          { "output[0]", "output[1]['k']", "output[2]" } },
        { "[1, " DATA("\\\"out\\\", \\\"extra\\\"", LEAF "," NAMED(LEAF "," LEAF)) "]",
          { "output.out", "output.extra.left", "output.extra.right" } },
        { "[1, " MAPPED("\\\"out\\\", \\\"rest\\\"", LEAF "," LIST(LEAF "," LEAF)) "]",
          { "output['out']", "output['rest'][0]", "output['rest'][1]" } },
        { "[1, " TUPLE(OTHER(LEAF "," LEAF) "," LEAF) "]", { "", "", "output[1]" } },
        /* Another number of leaves */
        { "[1, " TUPLE(LEAF "," LEAF) "]", { "", "", "" } },
        { "[1, " TUPLE(LEAF "," LEAF "," LEAF "," LEAF) "]", { "", "", "" } },
        { "[1, " LEAF "]", { "", "", "" } },
        { "[1]", { "", "", "" } },
        { "[", { "", "", "" } },
        { "", { "", "", "" } },
    };
    static const uint32_t at[] = { 0, 2, 3 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph *graph = program_from(PATHS_HEAD, "", rows[i].spec);
        assert_int_equal(graph->signature->n_outputs, 4);
        assert_str_is(graph->signature->outputs[1].path, "");
        for (int k = 0; k < 3; k++)
            assert_str_is(graph->signature->outputs[at[k]].path, rows[i].paths[k]);
        graph_free(graph);
    }
}

/* A class of the user's has no names for its parts; what stands beside it has. */
static void test_what_is_not_known_goes_by_its_placeholder(void **state)
{
    (void)state;
    check(SPEC(OTHER(LEAF "," LIST(LEAF)) "," LIST(LEAF "," LEAF), NO_KEYWORDS),
          (const char *const[]){ "L['a']", "L['b']", "L['y'][0]", "L['y'][1]" });
    check(SPEC(LEAF "," LEAF "," LEAF "," LEAF, NO_KEYWORDS),
          (const char *const[]){ "L['x']", "L['y']", "L['c']", "L['d']" });
    check(SPEC(LEAF "," LEAF, DICT("\\\"z\\\", [", LEAF "," LEAF)),
          (const char *const[]){ "L['x']", "L['y']", "L['c']", "L['d']" });
    check(SPEC(LEAF "," LEAF, DICT("\\\"z\\\"", LEAF "," LEAF)),
          (const char *const[]){ "L['x']", "L['y']", "L['c']", "L['d']" });
}

static void test_a_tree_of_other_inputs_names_none(void **state)
{
    (void)state;
    static const char *const SPECS[] = {
        "",
        "[",
        "[1]",
        "[1, {}]",
        "7",
        "[1, " TUPLE("") "]",
        SPEC(LEAF, NO_KEYWORDS),
        SPEC(LIST(LEAF "," LEAF "," LEAF "," LEAF "," LEAF), NO_KEYWORDS),
        SPEC(LEAF "," LEAF "," LEAF "," LEAF, DICT("\\\"z\\\"", LEAF)),
    };
    for (size_t i = 0; i < sizeof SPECS / sizeof *SPECS; i++)
        check(SPECS[i], PLACEHOLDERS);
}

static void test_deep_trees_are_left_alone(void **state)
{
    (void)state;
    struct buf spec = BUF_INIT;
    enum { DEPTH = 300 };
    buf_puts(&spec,
             "[1, {\"type\": \"t\", \"children_spec\": [{\"type\": \"t\", \"children_spec\": [");
    for (int i = 0; i < DEPTH; i++)
        buf_puts(&spec, "{\"type\": \"builtins.list\", \"children_spec\": [");
    for (int i = 0; i < DEPTH; i++)
        buf_puts(&spec, "]}");
    buf_puts(&spec, "]}, " NO_KEYWORDS "]}]");
    buf_putc(&spec, '\0');
    check(spec.p, PLACEHOLDERS);
    buf_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tree_names_inputs),
        cmocka_unit_test(test_attributes_and_keys),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_what_is_not_known_goes_by_its_placeholder),
        cmocka_unit_test(test_a_tree_of_other_inputs_names_none),
        cmocka_unit_test(test_deep_trees_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
