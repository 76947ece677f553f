#include "trace/graph/graph_build.h"

#include "tests/harness.h"

/* x, and c = f([x, 1], x) of it. */
static void build_call(struct graph_builder *b)
{
    size_t mark = build_mark(b);
    node_id x = build_node(b,
                           (struct node){ .op = NODE_PLACEHOLDER,
                                          .name = STR("x"),
                                          .target = STR("x"),
                                          .meta = build_meta(b, STR("f32[s0][1]cpu")),
                                          .location = LOCATION_NONE },
                           mark);
    build_push(b, (struct arg){ .kind = ARG_NODE, .u.node = x });
    build_push(b, (struct arg){ .kind = ARG_INT, .text = STR("1"), .u.integer = 1 });
    build_wrap(b, (struct arg){ .kind = ARG_LIST }, mark);
    build_push(b, (struct arg){ .kind = ARG_NODE, .u.node = build_find(b, STR("x")) });
    build_node(b,
               (struct node){ .op = NODE_CALL_FUNCTION,
                              .name = build_keep(b, STR("c")),
                              .target = STR("f"),
                              .meta = build_meta(b, STR("f32[s0][1]cpu")),
                              .location =
                                  build_location(b, (struct location){ .file = STR("m.py"),
                                                                       .function = STR("f"),
                                                                       .code = STR("c"),
                                                                       .annotation = STR(""),
                                                                       .line = 3,
                                                                       .caller = LOCATION_NONE }) },
               mark);
    build_delete(b, x);
}

static struct graph *build_tree(struct err *err)
{
    struct tree_builder tree;
    struct graph_builder root, child;
    struct graph *graph = NULL;
    if (!tree_builder_init(&tree, err))
        return NULL;
    if (graph_builder_init(&root, &tree, STR("G"), err)) {
        build_call(&root);
        if (graph_builder_init(&child, &tree, STR("H"), err)) {
            build_call(&child);
            struct graph *inner = graph_builder_finish(&child, err);
            if (inner)
                build_child(&root, inner);
            else
                root.failed = true;
        } else {
            root.failed = true;
        }
        build_output_descriptor(&root, STR("none"));
        graph = graph_builder_finish(&root, err);
    }
    tree_builder_finish(&tree, graph);
    return graph;
}

static void test_a_tree(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct graph *graph = build_tree(&err);
    assert_no_err(&err);
    const struct node *call = &graph->nodes[1];
    assert_int_equal(call->n_args, 2);
    const struct arg *list = &graph->args[call->first_arg];
    assert_int_equal(list->u.items.n, 2);
    assert_int_equal(graph->args[list->u.items.first + 1].u.integer, 1);
    assert_int_equal(call->n_deleted, 1);
    assert_int_equal(graph->pool->n_metas, 1);
    assert_int_equal(graph->children[0]->nodes[1].meta, call->meta);
    assert_str_is(graph->locations[call->location].file, "m.py");
    assert_str_is(graph->output_descriptors[0], "none");
    graph_free(graph);
    graph_free(NULL);
}

static bool build_once(void *arg)
{
    (void)arg;
    struct err err = ERR_INIT;
    struct graph *graph = build_tree(&err);
    assert_true(graph || err.kind == ERR_ENV);
    graph_free(graph);
    return graph;
}

static void test_memory_failure(void **state)
{
    (void)state;
    check_alloc_failures(build_once, NULL);
}

static void add_named(struct graph_builder *b, struct str name)
{
    build_node(
        b,
        (struct node){
            .op = NODE_PLACEHOLDER, .name = name, .meta = META_NONE, .location = LOCATION_NONE },
        build_mark(b));
}

static void test_names(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct tree_builder tree;
    struct graph_builder b;
    assert_true(tree_builder_init(&tree, &err) && graph_builder_init(&b, &tree, STR("G"), &err));
    assert_int_equal(build_find(&b, STR("n0")), NODE_NONE);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1000; i++) {
            char name[16];
            snprintf(name, sizeof name, "n%d", i);
            add_named(&b, build_keep(&b, str_of(name)));
        }
    assert_int_equal(build_find(&b, STR("n7")), 1007);
    assert_int_equal(build_find(&b, STR("n1000")), NODE_NONE);
    build_drop_first(&b, 1001);
    assert_int_equal(build_find(&b, STR("n0")), NODE_NONE);
    assert_int_equal(build_find(&b, STR("n7")), 6);
    graph_builder_abandon(&b);
    tree_builder_finish(&tree, NULL);
}

static void test_locations_are_kept_once(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct tree_builder tree;
    struct graph_builder b;
    struct location place = { .file = STR("m.py"),
                              .function = STR("f"),
                              .code = STR("c"),
                              .annotation = STR(""),
                              .line = 3,
                              .caller = LOCATION_NONE };
    assert_true(tree_builder_init(&tree, &err) && graph_builder_init(&b, &tree, STR("G"), &err));
    uint32_t first = build_location(&b, place);
    assert_int_equal(build_location(&b, place), first);
    place.caller = first;
    uint32_t second = build_location(&b, place);
    assert_int_not_equal(second, first);
    place.line = 4;
    assert_int_not_equal(build_location(&b, place), second);
    assert_int_equal(build_meta(&b, STR("")), META_NONE);
    graph_builder_abandon(&b);
    tree_builder_finish(&tree, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tree),
        cmocka_unit_test(test_memory_failure),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_locations_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
