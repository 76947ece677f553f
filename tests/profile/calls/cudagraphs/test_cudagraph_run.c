#include <string.h>

#include "profile/calls/cudagraphs/cudagraph_report.h"
#include "profile/calls/cudagraphs/memory_plan.h"
#include "tests/log_make.h"

static const char TREE[] =
    "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
    "| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor\n"
    "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CUDA, BackendSelect, "
    "ADInplaceOrView, AutogradCUDA), torch.float32, device=0, requires_grad=False, "
    "size=[None, 4], stride=[4, 1])  # x\n";

static const char DYNAMO[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, s27: \"Sym(s27)\", L_x_: \"f32[s27, 4][4, 1]cuda:0\", "
    "L_self_buffers_kept_: \"f32[4][1]cuda:0\"):\n"
    "        return (L_x_,)\n";

#define GRAPH(lines)                                                                        \
    "class <lambda>(torch.nn.Module):\n"                                                    \
    "    def forward(self, arg0_1: \"Sym(s27)\", arg1_1: \"f32[s27, 4][4, 1]cuda:0\", "     \
    "arg2_1: \"f32[4][1]cuda:0\"):\n"                                                       \
    "        # File: train.py:7 in f, code: y = x.sin()\n"                                  \
    "        sin: \"f32[s27, 4][4, 1]cuda:0\" = torch.ops.aten.sin.default(arg1_1)\n" lines \
    "        return (sin,)\n"

/* The program of GRAPH(""), with a matmul. */
static const char PROGRAM[] =
    "# AOT ID: ['0_inference']\n"
    "@triton_heuristics.pointwise(\n"
    "    triton_meta={'device': DeviceProperties(type='cuda', index=0, cc=90, major=9)},\n"
    ")\n"
    "def partition_0(args):\n"
    "    arg1_1, s27 = args\n"
    "    with torch.cuda._DeviceGuard(0):\n"
    "        buf0 = empty_strided_cuda((s27, 4), (4, 1), torch.float32)\n"
    "        extern_kernels.mm(arg1_1, arg1_1, out=buf0)\n"
    "        del arg1_1\n"
    "    return (buf0, )\n"
    "\n";

static struct log_make start_trace(void)
{
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log_put(&log,
            "\"create_symbol\": {\"symbol\": \"s27\", \"val\": \"8\", \"vr\": \"[2, int_oo]\", "
            "\"source\": \"L['x'].size()[0]\"}",
            NULL);
    log_put(&log, "\"dynamo_output_graph\": {}", DYNAMO);
    return log;
}

static struct trace *make_trace(const char *graph, const char *program)
{
    struct log_make log = start_trace();
    log_put(&log, "\"aot_inference_graph\": {}", graph);
    if (program)
        log_put(&log, "\"inductor_output_code\": {}", program);
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    return log_open(&log);
}

static const unsigned SIZES[] = { 8, 8, 8, 12, 12, 12, 17, 17 };
enum { CALLS = sizeof SIZES / sizeof *SIZES };

/* Calls with the sizes, each with its backward if there is one. */
static bool make_calls(struct call_log *log, bool backward, struct err *err)
{
    struct buf lines = BUF_INIT;
    for (unsigned i = 0; i < CALLS; i++) {
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"args\": [{\"source\": \"L['x']\", "
                   "\"obj\": %u, \"size\": [%u, 4], \"stride\": [4, 1], \"dtype\": "
                   "\"torch.float32\", \"device\": \"cuda\"}], \"mode\": {\"grad\": true}}\n",
                   2 * i, i, SIZES[i]);
        if (backward)
            buf_printf(&lines,
                       "{\"call\": %u, \"function\": \"b\", \"backward_of\": %u, "
                       "\"args\": []}\n",
                       2 * i + 1, 2 * i);
    }
    bool ok = lines.failed ? err_nomem(err) : call_log_read(log, buf_str(&lines), err);
    buf_release(&lines);
    return ok;
}

struct made {
    struct call_log log;
    struct cache_run cache;
    struct cudagraph_run run;
};

static bool make_with(struct made *made, struct trace *trace, bool backward,
                      const struct cudagraph_options *how)
{
    static const struct cache_options AS_RECORDED = { .limits = { 0 } };
    struct err err = ERR_INIT;
    *made = (struct made){ 0 };
    bool ok = make_calls(&made->log, backward, &err) &&
              cache_run_make(&made->cache, trace, 0, &made->log, &AS_RECORDED, &err) &&
              cudagraph_run_make(&made->run, trace, 0, &made->log, &made->cache, how, &err);
    assert_true(ok || err.kind == ERR_ENV);
    return ok;
}

static bool make(struct made *made, struct trace *trace, const struct cudagraph_options *how)
{
    return make_with(made, trace, false, how);
}

static void release(struct made *made)
{
    cudagraph_run_release(&made->run);
    cache_run_release(&made->cache);
    call_log_release(&made->log);
}

/* Makes the run of a graph, of which one is read. */
static struct wrapped_graph graph_of(const char *graph, const char *program,
                                     const struct cudagraph_options *how, struct made *made)
{
    struct trace *trace = make_trace(graph, program);
    assert_true(make(made, trace, how));
    assert_int_equal(made->run.wrapped.graphs.n, 1);
    struct wrapped_graph ret = made->run.wrapped.graphs.v[0];
    trace_close(trace);
    return ret;
}

static void expect(const char *graph, const struct cudagraph_options *how, enum skip_reason skip,
                   uint32_t partitions, uint32_t recordings)
{
    struct made made;
    struct wrapped_graph found = graph_of(graph, NULL, how, &made);
    assert_int_equal(found.skip, skip);
    assert_int_equal(found.n_partitions, partitions);
    assert_int_equal(made.run.totals[RUN_RECORD], recordings);
    assert_true(!made.run.pool_known || !recordings);
    release(&made);
}

#define ON_HOST(name, argument)                     \
    "        " name ": \"f32[s27, 4][4, 1]cpu\" = " \
    "torch.ops.aten._to_copy.default(" argument ", device = device(type='cpu'))\n"

static void test_sizes(void **state)
{
    (void)state;
    struct made made;
    struct wrapped_graph graph = graph_of(GRAPH(""), NULL, &(struct cudagraph_options){ 0 }, &made);
    assert_int_equal(graph.skip, SKIP_NONE);
    assert_true(graph.reads_module);
    assert_int_equal(made.run.sizes.n, 3);
    assert_int_equal(made.run.values.v[2], 17);
    assert_int_equal(made.run.totals[RUN_WARM_UP], 3);
    assert_int_equal(made.run.totals[RUN_RECORD], 3);
    assert_int_equal(made.run.totals[RUN_REPLAY], 2);
    assert_int_equal(made.run.n_calls, CALLS);
    assert_int_equal(made.run.paddings.n, 1);
    const struct padding_row *row = &made.run.paddings.v[0];
    assert_string_equal(row->policy, "multiples of 64");
    assert_int_equal(row->sizes, 1);
    /* The buffer is not copied. */
    assert_int_equal(row->bytes, (8 * 3 + 12 * 3 + 17 * 2) * 16);
    assert_int_equal(row->padded, CALLS * 64 * 16);
    release(&made);
}

static void test_limits(void **state)
{
    (void)state;
    const struct cudagraph_options none = { 0 }, on_gpu = { .on_gpu = true },
                                   skip_dynamic = { .skip_dynamic = true };
    expect(GRAPH("        copy_: \"f32[s27, 4][4, 1]cuda:0\" = "
                 "torch.ops.aten.copy_.default(arg1_1, sin)\n"),
           &none, SKIP_MUTATION, 1, 0);
    expect(GRAPH("        view: \"f32[4][1]cuda:0\" = torch.ops.aten.view.default(arg2_1, [4])\n"
                 "        copy_: \"f32[4][1]cuda:0\" = torch.ops.aten.copy_.default(view, sin)\n"),
           &none, SKIP_NONE, 1, 3);
    expect(GRAPH(""), &skip_dynamic, SKIP_DYNAMIC, 1, 0);
    expect(GRAPH(ON_HOST("host", "sin") "        back: \"f32[s27, 4][4, 1]cuda:0\" = "
                                        "torch.ops.aten._to_copy.default(host)\n"
                                        "        cos: \"f32[s27, 4][4, 1]cuda:0\" = "
                                        "torch.ops.aten.cos.default(back)\n"),
           &none, SKIP_NONE, 2, 6);
    expect(GRAPH(ON_HOST("host", "arg1_1")), &none, SKIP_NONE, 1, 3);
    expect(GRAPH(ON_HOST("host", "arg1_1")), &on_gpu, SKIP_NONE, 1, 3);
    expect(GRAPH("        other: \"f32[4][1]cuda:1\" = torch.ops.aten.sin.default(arg2_1)\n"),
           &none, SKIP_DEVICES, 1, 0);
    expect(
        GRAPH("        item: \"Sym(u0)\" = "
              "torch.ops.aten._local_scalar_dense.default(sin)\n"
              "        add: \"f32[s27, 4][4, 1]cuda:0\" = torch.ops.aten.add.Tensor(sin, item)\n"),
        &none, SKIP_NONE, 2, 6);
    expect(GRAPH("        set_: \"f32[4][1]cuda:0\" = "
                 "torch.ops.aten.set_.source_Tensor(arg2_1, sin)\n"),
           &none, SKIP_STORAGE, 1, 0);
    expect("not a graph", &none, SKIP_NO_GRAPH, 0, 0);
}

/* Returns the padding of a backward graph to multiples of 64. */
static struct padding_row pad_backward(const struct made *made)
{
    for (size_t i = 0; i < made->run.paddings.n; i++) {
        const struct padding_row *row = &made->run.paddings.v[i];
        if (made->run.wrapped.graphs.v[row->graph].mode == MODE_BACKWARD &&
            !strcmp(row->policy, "multiples of 64"))
            return *row;
    }
    fail();
    return (struct padding_row){ 0 };
}

/* What the forward saved is not copied, but it is padded; its other symbol is of no key. */
static void test_saved(void **state)
{
    (void)state;
    struct made made;
    struct log_make log = start_trace();
    log_put(&log, "\"aot_forward_graph\": {}", GRAPH(""));
    log_put(&log, "\"aot_backward_graph\": {}",
            "class <lambda>(torch.nn.Module):\n"
            "    def forward(self, arg0_1: \"Sym(s27)\", sin: \"f32[s27, 4][4, 1]cuda:0\", "
            "arg2_1: \"f32[4][1]cuda:0\", other: \"f32[s99, 4][4, 1]cuda:0\", "
            "tangents_1: \"f32[][]cuda:0\"):\n"
            "        mul: \"f32[s27, 4][4, 1]cuda:0\" = "
            "torch.ops.aten.mul.Tensor(sin, tangents_1)\n"
            "        return (None, mul, None)\n");
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    struct trace *trace = log_open(&log);
    assert_true(make_with(&made, trace, true, &(struct cudagraph_options){ 0 }));
    struct padding_row row = pad_backward(&made);
    assert_int_equal(row.before, 3);
    assert_int_equal(row.sizes, 1);
    assert_int_equal(row.bytes, (8 * 3 + 12 * 3 + 17 * 2) * 16);
    assert_int_equal(row.padded, CALLS * 64 * 16);
    assert_int_equal(made.run.wrapped.graphs.v[row.graph].n_symbols, 1);
    release(&made);
    trace_close(trace);
}

/* A graph of one size is warm when another one of the same compile has a size for the first time.
 */
static void test_eager(void **state)
{
    (void)state;
    struct made made;
    struct log_make log = start_trace();
    log_put(&log, "\"aot_inference_graph\": {}", GRAPH(""));
    log_put(&log, "\"aot_inference_graph\": {}",
            "class <lambda>(torch.nn.Module):\n"
            "    def forward(self, arg0_1: \"f32[4][1]cuda:0\"):\n"
            "        sin: \"f32[4][1]cuda:0\" = torch.ops.aten.sin.default(arg0_1)\n"
            "        return (sin,)\n");
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    struct trace *trace = log_open(&log);
    assert_true(make(&made, trace, &(struct cudagraph_options){ 0 }));
    assert_int_equal(made.run.totals[RUN_EAGER], 2);
    assert_int_equal(made.run.n_in_warm_up, 2);
    release(&made);
    trace_close(trace);
    graph_of(GRAPH("        copy_: \"f32[s27, 4][4, 1]cuda:0\" = "
                   "torch.ops.aten.copy_.default(arg1_1, sin)\n"),
             NULL, &(struct cudagraph_options){ 0 }, &made);
    assert_int_equal(made.run.totals[RUN_EAGER], CALLS);
    assert_int_equal(made.run.n_in_warm_up, 0);
    release(&made);
}

/* A compile without operators, and another one that has Dynamo's graph. */
static struct trace *make_empty(void)
{
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log_artifact(&log, "dynamo_graph_break_reason",
                 "Graph break in user code at /home/user/train.py:7\n"
                 "Graph Break Reason: Unsupported Tensor.item() call\n"
                 "User code traceback:\n"
                 "  File \"/home/user/train.py\", line 7, in f\n"
                 "    n = x.item()\n");
    log.context = LOG_COMPILE(0, 0, 1);
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    log_put(&log, "\"compilation_metrics\": {}", NULL);
    log.context = LOG_COMPILE(1, 0, 0);
    log_put(&log, "\"dynamo_output_graph\": {}", DYNAMO);
    return log_open(&log);
}

static void test_empty(void **state)
{
    (void)state;
    struct made made;
    struct buf text = BUF_INIT;
    struct trace *trace = make_empty();
    assert_true(make(&made, trace, &(struct cudagraph_options){ 0 }));
    const struct wrapped_graph *graph = &made.run.wrapped.graphs.v[0];
    assert_int_equal(graph->skip, SKIP_EMPTY);
    assert_int_equal(graph->line, 7);
    assert_int_equal(made.run.n_skipped, 0);
    cudagraph_text(&made.run, &made.cache, &made.log, &(struct report_options){ 0 }, &text);
    assert_true(str_contains(buf_str(&text), STR("0/0 has no operators before its graph break: ")));
    assert_false(str_contains(buf_str(&text), STR("is skipped")));
    buf_release(&text);
    release(&made);
    trace_close(trace);
}

/* 32 MiB of cuBLAS, and 2 MiB of the rest. */
static void test_pool(void **state)
{
    (void)state;
    struct made made;
    graph_of(GRAPH(""), PROGRAM, &(struct cudagraph_options){ 0 }, &made);
    assert_true(made.run.pool_known);
    assert_int_equal(made.run.pool_bytes, 34 << 20);
    release(&made);
}

/* Returns whether the pool is known if a text of the program is replaced by another one. */
static bool is_pool_known(const char *what, const char *with)
{
    struct buf text = BUF_INIT;
    struct str all = str_of(PROGRAM);
    size_t at = str_find(all, str_of(what));
    struct made made;
    assert_true(at < all.n);
    buf_put(&text, str_first(all, at));
    buf_puts(&text, with);
    buf_put(&text, str_from(all, at + strlen(what)));
    buf_putc(&text, '\0');
    graph_of(GRAPH(""), text.p, &(struct cudagraph_options){ 0 }, &made);
    bool known = made.run.pool_known;
    release(&made);
    buf_release(&text);
    return known;
}

static void test_unknown_pool(void **state)
{
    (void)state;
    struct buf many = BUF_INIT;
    assert_true(is_pool_known("(s27, 4), (4, 1)", "(s27, 8), (8, 1)"));
    assert_false(is_pool_known("(s27, 4), (4, 1)", "(4611686018427387903, ), (1, )"));
    assert_false(is_pool_known("(s27, 4), (4, 1)", "(9223372036854775807, ), (1, )"));
    assert_false(is_pool_known("(s27, 4), (4, 1)", "(s99, 4), (4, 1)"));
    assert_false(is_pool_known("torch.float32", "torch.no_such_dtype"));
    assert_true(is_pool_known("cc=90", "cc=80"));
    assert_false(is_pool_known("cc=90", "cc=100"));
    assert_false(is_pool_known("cc=90", "cc=99999999999999999999"));
    /* More variables than are read. */
    for (int i = 0; i < PLAN_VARIABLES; i++)
        buf_printf(&many, "        v%d = buf0\n", i);
    buf_puts(&many, "        del arg1_1\n");
    buf_putc(&many, '\0');
    assert_false(is_pool_known("        del arg1_1\n", many.p));
    buf_release(&many);
}

#define BACKWARD(result)                                                                \
    "class GraphModule(torch.nn.Module):\n"                                             \
    "    def forward(self, tangents_1: \"f32[8, 4][4, 1]cuda:0\"):\n"                   \
    "        sin: \"f32[8, 4][4, 1]cuda:0\" = torch.ops.aten.sin.default(tangents_1)\n" \
    "        return " result "\n"
#define BACKWARD_PART(number)                                            \
    "def partition_" number "(args):\n"                                  \
    "    tangents_1, = args\n"                                           \
    "    with torch.cuda._DeviceGuard(0):\n"                             \
    "        buf0 = empty_strided_cuda((8, 4), (4, 1), torch.float32)\n" \
    "    return (buf0, )\n"                                              \
    "\n"

/* A compile with two backward graphs, the second of which has two partitions and runs first. */
static void test_backward_programs(void **state)
{
    (void)state;
    static const char CALL_LINES[] =
        "{\"call\": 0, \"function\": \"f\", \"args\": [{\"source\": \"L['x']\", \"obj\": 0, "
        "\"size\": [8, 4], \"stride\": [4, 1], \"dtype\": \"torch.float32\", \"device\": "
        "\"cuda\"}], \"mode\": {\"grad\": true}}\n"
        "{\"call\": 1, \"function\": \"backward\", \"backward_of\": 0}\n";
    struct log_make log = log_start();
    struct made made = { 0 };
    struct err err = ERR_INIT;
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log_put(&log, "\"dynamo_output_graph\": {}", DYNAMO);
    log_put(&log, "\"aot_backward_graph\": {}", BACKWARD("(sin,)"));
    log_put(&log, "\"inductor_output_code\": {}", "# AOT ID: ['0_backward']\n" BACKWARD_PART("0"));
    log_put(&log, "\"aot_backward_graph\": {}", BACKWARD("(sin, None)"));
    log_put(&log, "\"inductor_output_code\": {}",
            "# AOT ID: ['1_backward']\n" BACKWARD_PART("0") BACKWARD_PART("1"));
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    struct trace *trace = log_open(&log);
    assert_true(call_log_read(&made.log, str_of(CALL_LINES), &err));
    assert_true(
        cache_run_make(&made.cache, trace, 0, &made.log, &(struct cache_options){ 0 }, &err));
    assert_true(cudagraph_run_make(&made.run, trace, 0, &made.log, &made.cache,
                                   &(struct cudagraph_options){ 0 }, &err));
    assert_int_equal(made.run.wrapped.graphs.n, 3);
    const struct wrapped_graph *graphs = made.run.wrapped.graphs.v;
    assert_int_equal(graphs[0].skip, SKIP_NO_GRAPH);
    assert_int_equal(graphs[1].n_outputs, 2);
    assert_int_equal(graphs[1].n_partitions, 2);
    assert_int_equal(graphs[2].n_outputs, 1);
    assert_int_equal(graphs[2].n_partitions, 1);
    release(&made);
    trace_close(trace);
}

static bool make_and_write(void *data)
{
    struct made made;
    struct buf text = BUF_INIT, json = BUF_INIT;
    bool ok = make(&made, data, &(struct cudagraph_options){ 0 });
    if (ok) {
        cudagraph_text(&made.run, &made.cache, &made.log, &(struct report_options){ 0 }, &text);
        cudagraph_json(&made.run, &made.log, &json);
        ok = !text.failed && !json.failed;
    }
    buf_release(&text);
    buf_release(&json);
    release(&made);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct trace *trace =
        make_trace(GRAPH("        copy_: \"f32[s27, 4][4, 1]cuda:0\" = "
                         "torch.ops.aten.copy_.default(arg1_1, sin)\n" ON_HOST("host", "sin")),
                   NULL);
    assert_true(make_and_write(trace));
    check_alloc_failures(make_and_write, trace);
    trace_close(trace);
    trace = make_empty();
    assert_true(make_and_write(trace));
    check_alloc_failures(make_and_write, trace);
    trace_close(trace);
    trace = make_trace(GRAPH(""), PROGRAM);
    assert_true(make_and_write(trace));
    check_alloc_failures(make_and_write, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_saved),        cmocka_unit_test(test_eager),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_unknown_pool), cmocka_unit_test(test_backward_programs),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
