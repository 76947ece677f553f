#include "tests/log_make.h"
#include "trace/kernels/kernels.h"

static const char POST_GRAD[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[8, 8][8, 1]cuda:0\"):\n"
    "        # File: /home/u/m.py:7 in f, code: h = x @ w\n"
    "        mm: \"f32[8, 8][8, 1]cuda:0\" = torch.ops.aten.mm.default(arg0_1, arg0_1)\n"
    "        # File: /home/u/m.py:8 in f, code: h = torch.nn.functional.gelu(h)\n"
    "        mul: \"f32[8, 8][8, 1]cuda:0\" = torch.ops.aten.mul.Tensor(mm, 0.5)\n"
    "        erf: \"f32[8, 8][8, 1]cuda:0\" = torch.ops.aten.erf.default(mm)\n"
    "        # File: /home/u/m.py:9 in f, code: return h.sum(1)\n"
    "        sum_1: \"f32[8][1]cuda:0\" = torch.ops.aten.sum.dim_IntList(mul, [1])\n"
    "        return (sum_1,)\n";

static const char DYNAMO[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, L_x_: \"f32[8, 8][8, 1]cuda:0\"):\n"
    "        l_x_ = L_x_\n"
    "        # File: /home/u/m.py:7 in f, code: h = x @ w\n"
    "        h: \"f32[8, 8][8, 1]cuda:0\" = l_x_ @ l_x_\n"
    "        # File: /home/u/m.py:8 in f, code: h = torch.nn.functional.gelu(h)\n"
    "        h_1: \"f32[8, 8][8, 1]cuda:0\" = torch._C._nn.gelu(h)\n"
    "        return (h_1,)\n";

static const char TRITON[] =
    "# AOT ID: ['3_forward']\n"
    "import torch\n"
    "async_compile = AsyncCompile()\n"
    "\n"
    "# kernel path: /cache/k.py\n"
    "# Topologically Sorted Source Nodes: [h_1], Original ATen: [aten.gelu]\n"
    "# Source node to ATen node mapping:\n"
    "#   h_1 => erf, mul\n"
    "# Graph fragment:\n"
    "#   %mm : Tensor \"f32[8, 8][8, 1]cuda:0\" = PlaceHolder[target=mm]\n"
    "#   %mul : Tensor \"f32[8]\"[num_users=1] = "
    "call_function[target=torch.ops.aten.mul.Tensor](args = (%mm, 0.5), kwargs = {})\n"
    "#   return %mul\n"
    "triton_poi_fused_gelu_0 = async_compile.triton('triton_poi_fused_gelu_0', '''\n"
    "fake_0 = async_compile.triton('fake_0', 0)\n"
    "''', device_str='cuda')\n"
    "\n"
    "# Original path: /home/u/k.py:2\n"
    "add_0 = async_compile.triton('add', '''\n"
    "def add(x): pass\n"
    "''', device_str='cuda')\n"
    "never_1 = async_compile.triton('never_1', '''x''', device_str='cuda')\n"
    "class Runner:\n"
    "    def call(self, args):\n"
    "        buf0 = empty_strided_cuda((8, 8), (8, 1), torch.float32)\n"
    "        # Topologically Sorted Source Nodes: [h], Original ATen: [aten.mm]\n"
    "        extern_kernels.mm(arg0_1, arg0_1, out=buf0)\n"
    "        buf1 = torch.ops.aten.sort.stable(buf0, stable=False)\n"
    "        buf2 = torch.ops.inductor._reinterpret_tensor(buf0)\n"
    "        stream0 = get_raw_stream(0)\n"
    "        triton_poi_fused_gelu_0.run(buf0, stream=stream0)\n"
    "        triton_poi_fused_gelu_0.run(buf1, stream=stream0)\n"
    "        add_0.run(buf1)\n"
    "        return (buf1, )\n";

static struct kernel_list *read_made(struct log_make *log, struct trace **trace)
{
    struct err err = ERR_INIT;
    *trace = log_open(log);
    struct kernel_list *list = kernels_read(*trace, NULL, &err);
    assert_no_err(&err);
    assert_non_null(list);
    return list;
}

static void put_code(struct log_make *log, const char *code)
{
    log_put(log, "\"inductor_output_code\": {\"filename\": \"/cache/c.py\"}", code);
}

static const struct kernel *find_kernel(const struct kernel_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_is(list->kernels[i].name, name))
            return &list->kernels[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static void assert_nodes(const struct kernel_list *list, const char *kernel, const char *expected)
{
    const struct kernel *k = find_kernel(list, kernel);
    struct buf names = BUF_INIT;
    for (uint32_t i = 0; i < k->n_nodes; i++)
        buf_printf(&names, "%s%.*s%s", i ? " " : "", STR_ARG(list->nodes[k->nodes[i]].name),
                   list->nodes[k->nodes[i]].in_dynamo_graph ? "'" : "");
    assert_str_is(buf_str(&names), expected);
    buf_release(&names);
}

static void test_triton(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_output_graph\": {\"sizes\": {}}", DYNAMO);
    log_artifact(&log, "inductor_post_grad_graph", POST_GRAD);
    log_phase(&log, 'B', "GraphLowering.codegen", "10", "");
    log_phase(&log, 'E', "GraphLowering.codegen", "50", "");
    put_code(&log, TRITON);
    log_phase(&log, 'B', "PyCodeCache.load_by_key_path", "60", "");
    log_artifact(&log, "triton_kernel_info",
                 "{\"add\": {\"autotune_cache_state\": \"only 1 config\", \"compile_time_us\": 7}, "
                 "\"triton_poi_fused_gelu_0\": {\"autotune_cache_state\": \"miss\", "
                 "\"num_configs\": 2, \"compile_time_us\": 30}, \"other\": 3}");
    log_phase(&log, 'E', "PyCodeCache.load_by_key_path", "160", "");
    const char *tuned = ", \"args\": {\"kernel_name\": \"triton_poi_fused_gelu_0\"}";
    log_phase(&log, 'B', "CachingAutotuner.benchmark_all_configs", "200", tuned);
    log_phase(&log, 'E', "CachingAutotuner.benchmark_all_configs", "205", tuned);
    struct kernel_list *list = read_made(&log, &trace);
    assert_int_equal(list->n_graphs, 1);
    assert_str_is(list->graphs[0].id, "3_forward");
    assert_false(list->graphs[0].backward);
    assert_int_equal(list->graphs[0].codegen_ns, 40000);
    assert_int_equal(list->graphs[0].load_ns, 100000);
    assert_int_equal(list->graphs[0].choices_ns, -1);

    /* In the order of the calls; what is never called comes last. */
    assert_int_equal(list->n, 5);
    assert_str_is(list->kernels[0].name, "extern_kernels.mm");
    assert_str_is(list->kernels[1].name, "torch.ops.aten.sort.stable");
    assert_str_is(list->kernels[2].name, "triton_poi_fused_gelu_0");
    assert_str_is(list->kernels[3].name, "add_0");
    assert_str_is(list->kernels[4].name, "never_1");
    assert_int_equal(list->kernels[2].n_calls, 2);
    assert_int_equal(list->kernels[4].n_calls, 0);
    assert_int_equal(list->kernels[0].kind, KERNEL_EXTERN);
    assert_int_equal(list->kernels[2].kind, KERNEL_TRITON);
    assert_int_equal(list->kernels[3].kind, KERNEL_USER_TRITON);

    assert_nodes(list, "extern_kernels.mm", "h'");
    assert_nodes(list, "triton_poi_fused_gelu_0", "erf mul h_1'");
    const struct kernel *gelu = find_kernel(list, "triton_poi_fused_gelu_0");
    assert_int_equal(gelu->origin, KERNEL_COMMENTS);
    assert_str_is(gelu->ops, "aten.gelu");
    assert_int_equal(gelu->n_uses, 1);
    assert_int_equal(gelu->uses[0].n_nodes, 3);
    assert_int_equal(kernel_main_line(list, gelu)->line, 8);
    assert_str_is(kernel_main_line(list, gelu)->code, "h = torch.nn.functional.gelu(h)");
    assert_str_is(list->nodes[gelu->nodes[1]].op, "aten.mul.Tensor");
    assert_int_equal(gelu->compile_ns, 30000);
    assert_int_equal(gelu->autotune_ns, 5000);
    assert_int_equal(gelu->n_configs, 2);
    assert_int_equal(kernel_ns(gelu), 35000);
    assert_int_equal(list->by_time[0], gelu - list->kernels);
    const struct kernel *add = find_kernel(list, "add_0");
    assert_str_is(add->function, "add");
    assert_int_equal(add->compile_ns, 7000);
    assert_int_equal(add->autotune_ns, -1);
    assert_str_is(kernel_main_line(list, add)->file, "/home/u/k.py");
    assert_int_equal(find_kernel(list, "torch.ops.aten.sort.stable")->origin, KERNEL_ORIGIN_NONE);
    assert_null(kernel_main_line(list, find_kernel(list, "never_1")));
    kernels_free(list);
    trace_close(trace);
}

static const char CPP[] = "# AOT ID: ['0_backward']\n"
                          "cpp_fused_gelu_sum_0 = async_compile.cpp_pybinding(['float*'], r'''\n"
                          "extern \"C\" void kernel() {}\n"
                          "''')\n"
                          "def call(args):\n"
                          "    # [Provenance debug handles] extern_kernels.mm:4\n"
                          "    extern_kernels.mm(arg0_1, out=buf0)\n"
                          "    # [Provenance debug handles] cpp_fused_gelu_sum_0:5\n"
                          "    cpp_fused_gelu_sum_0(buf0, buf1)\n"
                          "    return (buf1, )\n";

/* A C++ kernel has nothing but its name. */
static void test_names(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(&log, "inductor_post_grad_graph", POST_GRAD);
    put_code(&log, CPP);
    struct kernel_list *list = read_made(&log, &trace);
    assert_int_equal(list->n, 2);
    assert_true(list->graphs[0].backward);
    assert_nodes(list, "cpp_fused_gelu_sum_0", "mul erf sum_1");
    const struct kernel *fused = find_kernel(list, "cpp_fused_gelu_sum_0");
    assert_int_equal(fused->kind, KERNEL_CPP);
    assert_int_equal(fused->origin, KERNEL_NAME);
    assert_int_equal(fused->n_uses, 2);
    assert_int_equal(list->lines[fused->uses[0].line].line, 8);
    assert_int_equal(fused->uses[0].n_nodes, 2);
    assert_int_equal(list->lines[fused->uses[1].line].line, 9);
    assert_int_equal(kernel_ns(fused), 0);
    kernels_free(list);
    trace_close(trace);
}

/* The forward's kernels are in the backward's artifacts, and have other handles. */
static void test_provenance(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_artifact(&log, "inductor_post_grad_graph", POST_GRAD);
    put_code(&log, CPP);
    log_artifact(&log, "inductor_provenance_tracking_node_mappings",
                 "{\"cppCodeToPost\": {\"extern_kernels.mm:1\": [\"erf\"], "
                 "\"extern_kernels.mm:4\": [\"mm\"], "
                 "\"cpp_fused_gelu_sum_0:5\": [\"mul\", \"gone\"], \"x\": 3}, \"version\": 2.0}");
    log_artifact(
        &log, "inductor_provenance_tracking_kernel_stack_traces",
        "{\"cpp_fused_gelu_sum_0:5\": [\"  File \\\"/home/u/m.py\\\", line 3, in f\\n    g()"
        "\\n  File \\\"/home/u/m.py\\\", line 8, in g\\n    h = "
        "torch.nn.functional.gelu(h)\\n\"], \"y:9\": [\"no traceback\"]}");
    put_code(&log, CPP); /* without artifacts */
    struct kernel_list *list = read_made(&log, &trace);
    assert_int_equal(list->n_graphs, 2);
    assert_nodes(list, "extern_kernels.mm", "mm");
    assert_nodes(list, "cpp_fused_gelu_sum_0", "mul gone");
    const struct kernel *fused = find_kernel(list, "cpp_fused_gelu_sum_0");
    assert_int_equal(fused->origin, KERNEL_PROVENANCE);
    assert_int_equal(fused->n_uses, 2);
    assert_str_is(list->lines[fused->uses[0].line].function, "f");
    assert_int_equal(fused->uses[0].n_nodes, 1);
    assert_str_is(list->lines[fused->uses[1].line].function, "g");
    assert_int_equal(fused->uses[1].n_nodes, 0);
    assert_int_equal(list->kernels[list->graphs[1].first + 1].origin, KERNEL_NAME);
    kernels_free(list);
    trace_close(trace);
}

/* What is no program, or is cut, has no kernels, or those up to the cut. */
static void test_damage(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    log_put(&log, "\"inductor_output_code\": {}", NULL);
    put_code(&log, "\n\n''' = async_compile.\nx = async_compile.\n\ty = (\n = (\n   .run(\n");
    put_code(&log, "k_0 = async_compile.triton('k_0");
    log.context = "\"rank\": 0";
    put_code(&log, TRITON);
    log_artifact(&log, "triton_kernel_info", "[]");
    struct kernel_list *list = read_made(&log, &trace);
    assert_int_equal(list->n_graphs, 4);
    assert_int_equal(list->graphs[0].n, 0);
    assert_int_equal(list->graphs[2].n, 1);
    assert_int_equal(list->graphs[3].n, 5);
    assert_int_equal(list->graphs[3].attempt, TRACE_NONE);
    kernels_free(list);
    trace_close(trace);
}

static void test_fusions(void **state)
{
    (void)state;
    struct trace *trace;
    struct log_make log = log_start();
    put_code(&log, CPP);
    buf_puts(&log.text,
             "[rank0]:V1120 torch/_inductor/scheduler.py:9] [0/0] [__fusion] cannot fuse "
             "buf0 with buf1: numel/rnumel mismatch: 1\n");
    struct kernel_list *list = read_made(&log, &trace);
    assert_int_equal(list->n_failures, 1);
    assert_str_is(list->failures[0].first, "buf0");
    assert_str_is(list->failures[0].second, "buf1");
    assert_str_is(list->failures[0].reason, "numel/rnumel mismatch: 1");
    kernels_free(list);
    trace_close(trace);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    struct kernel_list *list = trace ? kernels_read(trace, NULL, &err) : NULL;
    bool ok = list != NULL && list->n == 7;
    assert_true(ok || err_is_set(&err));
    kernels_free(list);
    trace_close(trace);
    return ok;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_artifact(&log, "inductor_post_grad_graph", POST_GRAD);
    put_code(&log, TRITON);
    log_artifact(&log, "triton_kernel_info", "{\"add\": {\"compile_time_us\": 7}}");
    put_code(&log, CPP);
    trace_close(log_open(&log));
    check_alloc_failures(read_once, (void *)temp_path("made.log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triton),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_provenance), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_fusions),    cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
