/* Estimated memory: s0 is 3, so x is 36 bytes. */
#include "profile/report/report.h"
#include "tests/profile/made.h"

#define CLASS   "class GraphModule(torch.nn.Module):\n"
#define FILE_12 "         # File: /u/zoo/model.py:12 in forward, code: x = self.bn(x)\n"
#define FILE_13 "         # File: /u/zoo/model.py:13 in forward, code: return x.t()\n"

static const char FORWARD[] = CLASS
    "    def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0, 3][3, 1]cpu\"):\n" FILE_12
    "        add: \"f32[s0, 3][3, 1]cpu\" = torch.ops.aten.add.Tensor(primals_2, 1)\n"
    "        exp: \"f64[s0, 3][3, 1]cpu\" = torch.ops.aten.exp.default(add);  add = None\n" FILE_13
    "        t: \"f64[3, s0][1, 3]cpu\" = torch.ops.aten.t.default(exp)\n"
    "        sum_1: \"f64[][]cpu\" = torch.ops.aten.sum.default(t)\n"
    "        narrow: \"f32[s0, 3][u0, 1]cpu\" = torch.ops.aten.cos.default(primals_2)\n"
    "        return (sum_1, primals_1, primals_2, exp, t)\n"
    "        \n";

static const char BACKWARD[] = CLASS
    "    def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0, 3][3, 1]cpu\", "
    "exp: \"f64[s0, 3][3, 1]cpu\", t: \"f64[3, s0][1, 3]cpu\", tangents_1: \"f64[][]cpu\"):\n" FILE_12
    "        mul: \"f64[s0, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(exp, tangents_1)\n"
    "        return (None, mul)\n"
    "        \n";

static struct log_make training_log(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"3\", \"user_stack\": [], "
            "\"stack\": []}",
            NULL);
    log_put(&log, "\"aot_forward_graph\": {}", FORWARD);
    log_put(&log, "\"aot_backward_graph\": {}", BACKWARD);
    return log;
}

static void test_forward(void **state)
{
    (void)state;
    struct log_make log = training_log();
    struct made made = made_profile(&log, NULL);
    const struct profile *p = made.profile;
    assert_int_equal(p->n_graph_memory, 2);
    const struct graph_memory *m = &p->graph_memory[0];
    assert_int_equal(m->level, GRAPH_FORWARD);
    assert_int_equal(m->input_bytes, 36);
    assert_int_equal(m->peak_bytes, 36 + 72); /* add and exp; t is exp's */
    assert_str_is(m->peak_node, "exp");
    assert_int_equal(m->block_peak_bytes, 2 * ALLOCATOR_BLOCK_BYTES);
    assert_int_equal(m->total_peak_bytes, 36 + 36 + 72); /* the input stays */
    assert_int_equal(m->output_bytes, 72 + 8);
    assert_int_equal(m->saved_bytes, 72);
    assert_int_equal(m->saved_input_bytes, 36);
    assert_int_equal(m->saved, 2); /* t once more is not more memory */
    assert_int_equal(m->unknown, 1);
    made_drop(&made);
}

static void test_backward(void **state)
{
    (void)state;
    struct log_make log = training_log();
    struct made made = made_profile(&log, NULL);
    const struct graph_memory *m = &made.profile->graph_memory[1];
    assert_int_equal(m->level, GRAPH_BACKWARD);
    assert_int_equal(m->input_bytes, 36 + 72 + 8); /* t is exp's here, too */
    assert_int_equal(m->peak_bytes, 72);
    assert_int_equal(m->output_bytes, 72);
    assert_int_equal(m->block_peak_bytes, ALLOCATOR_BLOCK_BYTES);
    assert_int_equal(m->total_peak_bytes, 36 + 72 + 8 + 72 + 8); /* the last: sum_1 is returned */
    assert_int_equal(m->saved, 0);
    made_drop(&made);
}

/* Both results of a call are allocated by it, while its argument is still alive. */
static void test_tuple(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log, "\"aot_inference_graph\": {}",
            CLASS "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
                  "        exp: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(arg0_1)\n"
                  "        topk = torch.ops.aten.topk.default(exp, 2);  exp = None\n"
                  "        getitem: \"f32[2][1]cpu\" = topk[0]\n"
                  "        getitem_1: \"i64[2][1]cpu\" = topk[1];  topk = None\n"
                  "        return (getitem, getitem_1)\n"
                  "        \n");
    struct made made = made_profile(&log, NULL);
    assert_int_equal(made.profile->n_graph_memory, 1);
    const struct graph_memory *m = &made.profile->graph_memory[0];
    assert_int_equal(m->peak_bytes, 16 + 8 + 16);
    assert_str_is(m->peak_node, "topk");
    assert_int_equal(m->output_bytes, 8 + 16);
    made_drop(&made);
}

static void test_nodes_and_lines(void **state)
{
    (void)state;
    struct log_make log = training_log();
    struct made made = made_profile(&log, NULL);
    const struct profile *p = made.profile;
    assert_int_equal(p->n_memory_nodes, 3);
    assert_str_is(p->memory_nodes[0].name, "exp");
    assert_str_is(p->memory_nodes[0].op, "aten.exp.default");
    assert_int_equal(p->memory_nodes[0].bytes, 72);
    assert_int_equal(p->memory_nodes[0].line, 12);
    assert_str_is(p->memory_nodes[1].name, "add");
    assert_int_equal(p->memory_nodes[2].graph, 1);
    for (uint32_t i = 0; i < p->lines.n_lines; i++)
        assert_int_equal(p->lines.lines[i].cost.saved_bytes, p->lines.lines[i].line == 12 ? 72 : 0);
    struct buf text = BUF_INIT;
    report_text(p, &(struct report_options){ 0 }, &text);
    assert_true(str_find(buf_str(&text), STR("108 B")) < text.n);
    assert_true(str_find(buf_str(&text), STR("Saved for backward by user line")) < text.n);
    buf_release(&text);
    made_drop(&made);
}

static bool build_once(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = arg;
    struct profile *profile = profile_build(&trace, 1, NULL, &err);
    bool ok = profile != NULL;
    profile_free(profile);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = training_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(build_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_tuple),   cmocka_unit_test(test_nodes_and_lines),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
