#include "profile/model/lines/line_gaps.h"
#include "tests/harness.h"

static const char GRAPH[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, a: \"f32[s0, 8][8, 1]cpu\", b: \"f32[4, 8][8, 1]cpu\"):\n"
    "        add: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.add.Tensor(a, 1)\n"
    "        add_1: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.add.Tensor(add, 1)\n"
    "        add_2: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.add.Tensor(add_1, 2)\n"
    "        add_3: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.add.Tensor(b, 1)\n"
    "        view: \"f32[8*s0][1]cpu\" = torch.ops.aten.view.default(add_2, [-1])\n"
    "        sym: \"Sym(s0)\" = torch.ops.aten.sym_size.int(a, 0)\n"
    "        return (view,)\n";
enum { ADD, ADD_1, ADD_2, ADD_3, VIEW_1, SYM, CALLS };

static bool weigh_graph(struct call_weigher *weigher, const struct graph *graph, uint64_t scope,
                        bool backward, struct call_weight *ret)
{
    size_t n = 0;
    if (!call_weigher_graph(weigher, graph))
        return false;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (node_is_call(node) &&
            !call_weigh(weigher, graph, node, operator_weight_of(node->target), scope, backward,
                        &ret[n++]))
            return false;
    }
    return n == CALLS;
}

static struct graph *made_graph(void)
{
    struct err err = { 0 };
    struct graph *graph = graph_parse(str_of(GRAPH), &err);
    assert_non_null(graph);
    return graph;
}

static float first(const struct call_weight *weight)
{
    return weight->runs[WORK_FIRST];
}

static float again(const struct call_weight *weight)
{
    return weight->runs[WORK_AGAIN];
}

static void test_cache(void **state)
{
    (void)state;
    struct graph *graph = made_graph();
    struct call_weigher weigher = { 0 };
    struct call_weight w[CALLS], other[CALLS], backward[CALLS];
    assert_true(weigh_graph(&weigher, graph, 0, false, w));
    assert_true(first(&w[ADD]) > again(&w[ADD]));
    assert_true(again(&w[ADD]) > again(&w[ADD_1])); /* AOTAutograd's first run misses, too */
    assert_true(first(&w[ADD_1]) == again(&w[ADD_1]));
    assert_true(first(&w[ADD_2]) > first(&w[ADD_1])); /* another number */
    assert_true(first(&w[ADD_2]) > first(&w[ADD_3])); /* no symbols */
    assert_true(w[ADD].runs[WORK_TRACED] > again(&w[ADD_1]));
    assert_true(first(&w[SYM]) < again(&w[ADD_1])); /* nothing is dispatched */
    /* Another attempt has another cache, but no operator is new. */
    assert_true(weigh_graph(&weigher, graph, 2, false, other));
    assert_true(first(&other[ADD]) < first(&w[ADD]) && first(&other[ADD]) > first(&other[ADD_1]));
    assert_true(weigh_graph(&weigher, graph, 4, true, backward));
    assert_true(backward[ADD].runs[WORK_TRACED] > other[ADD].runs[WORK_TRACED]);
    call_weigher_release(&weigher);
    graph_free(graph);
}

static bool weigh_once(void *arg)
{
    struct call_weigher weigher = { 0 };
    struct call_weight w[CALLS];
    bool ok = weigh_graph(&weigher, arg, 0, false, w);
    call_weigher_release(&weigher);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct graph *graph = made_graph();
    check_alloc_failures(weigh_once, graph);
    graph_free(graph);
}

static struct work_call call_of(uint32_t row, float weight)
{
    return (struct work_call){ row, { { weight, weight, weight } } };
}

/* Two functions of line 0 became one heavy and one light operator; line 1 has no operators. */
static bool settle(void *arg)
{
    struct line_work work = { 0 };
    const struct work_graph dynamo = { .kind = GRAPH_DYNAMO, .n_calls = 3, .n_forward = 3 };
    const struct work_graph joint = {
        .kind = GRAPH_JOINT, .first_call = 3, .n_calls = 3, .n_forward = 2
    };
    float *weights = arg;
    bool ok = vec_push(&work.calls, call_of(0, 1)) && vec_push(&work.calls, call_of(0, 3)) &&
              vec_push(&work.calls, call_of(1, 5)) && vec_push(&work.calls, call_of(0, 30)) &&
              vec_push(&work.calls, call_of(0, 10)) && vec_push(&work.calls, call_of(0, 100)) &&
              vec_push(&work.graphs, dynamo) && vec_push(&work.graphs, joint) &&
              line_work_settle(&work, 1, 2);
    for (size_t i = 0; ok && i < 3; i++)
        weights[i] = work.calls.v[i].weight.runs[WORK_FIRST];
    line_work_release(&work);
    return ok;
}

static void test_settle(void **state)
{
    (void)state;
    float weights[3];
    assert_true(settle(weights));
    assert_true(weights[0] == 10 && weights[1] == 30 && weights[2] == 5);
    check_alloc_failures(settle, weights);
}

static bool add_share(void *user, const struct line_share *share)
{
    int64_t *rows = user;
    rows[share->row == LINE_NOBODY ? 2 : share->row] += share->ns;
    return true;
}

/* A loop over lines 0 and 1, whose line 0 asks a guard in each turn, after 10 ms of both lines. */
static void test_loop(void **state)
{
    (void)state;
    const struct work_call calls[] = { call_of(0, 5), call_of(1, 5), call_of(0, 5),
                                       call_of(1, 5), call_of(0, 5), call_of(1, 5) };
    const struct pass_mark marks[] = {
        { 1, 0, LINE_NOBODY, true },
        { 10000001, 0, LINE_NOBODY, true },
        { 20000001, 0, LINE_NOBODY, true },
    };
    const struct line_pass pass = {
        .ns = 30000001, .calls = calls, .n_calls = 6, .marks = marks, .n_marks = 3
    };
    struct gap_memory memory = { 0 };
    int64_t rows[3] = { 0 };
    assert_true(line_gaps_divide(&memory, &pass, 2, add_share, rows));
    assert_int_equal(rows[0] + rows[1] + rows[2], pass.ns);
    assert_true(rows[1] > 10000000); /* not only the last turn's */
    gap_memory_release(&memory);
}

/* A pass without a graph: a line's guard, the description of an input, and guards of another line.
 */
static void test_unlogged(void **state)
{
    (void)state;
    enum { SECOND = 1000000000 };
    const struct pass_mark marks[] = {
        { INT64_C(1) * SECOND, 0, LINE_NOBODY, .evaluated = true },
        { INT64_C(4) * SECOND, 1, LINE_NOBODY, .evaluated = true },
        { INT64_C(14) * SECOND, 0, LINE_NOBODY, .evaluated = true },
        { INT64_C(24) * SECOND, LINE_NOBODY, LINE_NOBODY, .describes = true },
        { INT64_C(25) * SECOND, LINE_NOBODY, LINE_NOBODY, .describes = true },
        { INT64_C(125) * SECOND, 1, LINE_NOBODY, .evaluated = true },
        { INT64_C(225) * SECOND, 1, LINE_NOBODY, .evaluated = true },
    };
    struct line_pass pass = { .ns = INT64_C(226) * SECOND, .marks = marks };
    struct gap_memory memory = { 0 };
    int64_t rows[3] = { 0 }, none[3] = { 0 };
    for (pass.n_marks = 0; pass.n_marks < 3; pass.n_marks++) {
        int64_t part[3] = { 0 };
        assert_true(line_gaps_divide(&memory, &pass, 2, add_share, part));
        assert_int_equal(part[0] + part[1] + part[2], pass.ns);
    }
    pass.n_marks = sizeof marks / sizeof *marks;
    assert_true(line_gaps_divide(&memory, &pass, 2, add_share, rows));
    assert_int_equal(rows[0] + rows[1] + rows[2], pass.ns);
    /* Half of the first gap, the greater part of the second, the smaller one of the third, and all
     * until the input is described. */
    assert_in_range(rows[0] / (SECOND / 10), 157, 159);
    /* The rest of these, what follows the second input, and what lies between guards of the line.
     */
    assert_in_range(rows[1] / (SECOND / 10), 2076, 2078);
    pass.n_marks = 0;
    assert_true(line_gaps_divide(&memory, &pass, 2, add_share, none));
    assert_true(none[0] == 0 && none[1] == 0 && none[2] == pass.ns);
    gap_memory_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_settle),   cmocka_unit_test(test_loop),
        cmocka_unit_test(test_unlogged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
