#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/graphs.h"

#define GRAPH(op)                                                                               \
    "class GraphModule(torch.nn.Module):\n"                                                     \
    "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"                                        \
    "        add: \"f32[4][1]cpu\" = torch.ops.aten." op ".Tensor(arg0_1, 1);  arg0_1 = None\n" \
    "        return (add,)\n"                                                                   \
    "        "

#define ARTIFACT(name) "\"artifact\": {\"name\": \"" name "\", \"encoding\": \"string\"}, " COMPILE

static const struct graph_list *graphs_of(struct trace *trace)
{
    struct err err = ERR_INIT;
    const struct graph_list *list = trace_graphs(trace, &err);
    assert_non_null(list);
    assert_ptr_equal(trace_graphs(trace, &err), list);
    return list;
}

static void check_ref(const struct graph_ref *ref, enum graph_kind kind, const char *name,
                      uint32_t index, bool is_event)
{
    assert_str_is(ref->name, name);
    assert_string_equal(graph_kind_name(ref->kind), graph_kind_name(kind));
    assert_int_equal(ref->index, index);
    assert_int_equal(ref->is_event, is_event);
}

/* Told by the payload's text; the names only sort them. */
static void test_refs(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"dynamo_output_graph\": {\"sizes\": {}}, " COMPILE, STR(GRAPH("add")));
    log_payload(&log, "\"aot_joint_graph\": {}, " COMPILE, STR(GRAPH("sub")));
    log_payload(&log, "\"aot_forward_graph\": {}, " COMPILE, STR(GRAPH("mul")));
    log_payload(&log, "\"aot_backward_graph\": {}, " COMPILE, STR(GRAPH("div")));
    log_payload(&log, "\"aot_backward_graph\": {}, " COMPILE, STR(GRAPH("add")));
    log_payload(&log, "\"aot_inference_graph\": {}", STR(GRAPH("add")));
    log_payload(&log, ARTIFACT("before_post_grad_graph"), STR(GRAPH("add")));
    log_payload(&log, ARTIFACT("aot_joint_graph"), STR(GRAPH("add")));
    log_payload(&log, ARTIFACT("my_\\u0067raph"), STR(GRAPH("add")));
    log_payload(&log, ARTIFACT("notes"), STR("class is what this is not"));
    log_payload(&log, "\"unheard_of\": {}, " COMPILE, STR(GRAPH("add")));
    log_payload(&log, "\"aot_forward_graph\": {}, " COMPILE, STR("no graph"));
    log_line(&log, "\"aot_forward_graph\": {}, " COMPILE);
    struct trace *trace = open_text(buf_str(&log));
    const struct graph_list *list = graphs_of(trace);
    assert_int_equal(list->n, 10);
    check_ref(&list->refs[0], GRAPH_DYNAMO, "dynamo_output_graph", 0, true);
    check_ref(&list->refs[1], GRAPH_JOINT, "aot_joint_graph", 0, true);
    check_ref(&list->refs[2], GRAPH_FORWARD, "aot_forward_graph", 0, true);
    check_ref(&list->refs[3], GRAPH_BACKWARD, "aot_backward_graph", 0, true);
    check_ref(&list->refs[4], GRAPH_BACKWARD, "aot_backward_graph", 1, true);
    check_ref(&list->refs[5], GRAPH_INFERENCE, "aot_inference_graph", 0, true);
    assert_int_equal(list->refs[5].attempt, TRACE_NONE);
    check_ref(&list->refs[6], GRAPH_POST_GRAD, "before_post_grad_graph", 0, false);
    check_ref(&list->refs[7], GRAPH_JOINT, "aot_joint_graph", 1, false);
    check_ref(&list->refs[8], GRAPH_ANY, "my_graph", 0, false);
    check_ref(&list->refs[9], GRAPH_ANY, "unheard_of", 0, false);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(list->refs[i].record, i);
        assert_int_equal(list->refs[i].attempt, 0);
    }
    trace_close(trace);
    buf_release(&log);
}

static void test_parse(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"aot_forward_graph\": {}, " COMPILE, STR(GRAPH("mul")));
    log_payload(&log, "\"aot_backward_graph\": {}, " COMPILE, STR(GRAPH("mul")));
    struct trace *trace = open_text(buf_str(&log));
    const struct graph *graph = trace_graph(trace, 1, &err); /* without trace_graphs() in front */
    assert_non_null(graph);
    struct graph_counts counts = graph_counts(graph);
    assert_int_equal(counts.inputs, 1);
    assert_int_equal(counts.calls, 1);
    assert_int_equal(counts.opaque, 0);
    assert_ptr_equal(trace_graph(trace, 1, &err), graph);
    assert_ptr_not_equal(trace_graph(trace, 0, &err), graph);
    assert_no_err(&err);
    trace_close(trace);
    buf_release(&log);
}

/* The index counts by name and attempt. */
static bool count_nodes(void *user, const struct graph *graph)
{
    *(uint32_t *)user += graph->n_nodes;
    return graph->n_nodes != 0;
}

/* What is visited is what would be parsed, and nothing of it is kept. */
static void test_visit(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"aot_forward_graph\": {}, " COMPILE, STR(GRAPH("mul")));
    log_payload(&log, "\"aot_backward_graph\": {}, " COMPILE, STR(GRAPH("sub")));
    struct trace *trace = open_text(buf_str(&log));
    const struct graph_list *list = graphs_of(trace);
    uint32_t visited = 0, parsed = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        assert_true(trace_visit_graph(trace, i, count_nodes, &visited, &err));
        parsed += trace_graph(trace, i, &err)->n_nodes;
    }
    assert_int_equal(list->n, 2);
    assert_int_equal(visited, 6);
    assert_int_equal(visited, parsed);
    assert_no_err(&err);
    trace_close(trace);
    buf_release(&log);
}

static void test_index(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    for (int i = 0; i < 6; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "\"aot_inference_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0, "
                 "\"attempt\": %d",
                 i % 2);
        log_payload(&log, json, STR(GRAPH("add")));
    }
    struct trace *trace = open_text(buf_str(&log));
    const struct graph_list *list = graphs_of(trace);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(list->refs[i].index, i / 2);
        assert_int_equal(list->refs[i].attempt, i % 2);
    }
    trace_close(trace);
    trace = open_text(STR(PREFIX "{\"a\": 1}\n"));
    assert_int_equal(graphs_of(trace)->n, 0);
    trace_close(trace);
    buf_release(&log);
}

/* A graph whose payload is lost is an error that names its place; the others are read. */
static void test_lost(void **state)
{
    (void)state;
    struct import_result result;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"aot_forward_graph\": {}, " COMPILE, STR(GRAPH("mul")));
    struct buf tape = import_text(buf_str(&log), &result);
    bool lost = false;
    for (size_t at = 36; at < tape.n; at++) {
        struct err err = ERR_INIT;
        tape.p[at] ^= 0x10;
        const char *path = temp_path("lost.tape");
        put_file(path, buf_str(&tape));
        tape.p[at] ^= 0x10;
        struct trace *trace = trace_open(path, NULL, &err);
        const struct graph_list *list = trace ? trace_graphs(trace, &err) : NULL;
        if (list && list->n && !trace_graph(trace, 0, &err)) {
            lost = true;
            assert_int_equal(err.kind, ERR_INPUT);
            assert_non_null(strstr(err.text, "made.log:1: graph aot_forward_graph: "));
        }
        trace_close(trace);
    }
    assert_true(lost);
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    const struct graph_list *list = trace ? trace_graphs(trace, &err) : NULL;
    const struct graph *graph = list && list->n ? trace_graph(trace, 0, &err) : NULL;
    bool ok = graph != NULL;
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && graph_counts(graph).calls == 1 && str_is(list->refs[0].name, "my_graph");
    trace_close(trace);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("graphs.log"));
    log_payload(&log, ARTIFACT("my_\\u0067raph"), STR(GRAPH("add")));
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, path);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refs),  cmocka_unit_test(test_parse), cmocka_unit_test(test_visit),
        cmocka_unit_test(test_index), cmocka_unit_test(test_lost),  cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
