#include "profile/calls/cudagraphs/kernel_arguments.h"
#include "profile/calls/cudagraphs/memory_plan.h"
#include "profile/calls/cudagraphs/tuned_kernels.h"
#include "tests/harness.h"
#include "trace/base/buf.h"

static const char PROGRAM[] =
    "# AOT ID: ['0_inference']\n"
    "empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda\n"
    "triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''\n"
    "    triton_meta={'signature': {'in_out_ptr0': '*bf16', 'ks0': 'i64', 'xnumel': 'i32'}, "
    "'device': DeviceProperties(type='cuda')},\n"
    "    inductor_meta={'mutated_arg_names': ['in_out_ptr0', 'no_such'], 'optimize_mem': True},\n"
    "def triton_poi_fused_0(in_out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):\n"
    "    pass\n"
    "\n"
    "def partition_0(args):\n"
    "    arg1_1, arg3_1 = args\n"
    "    args.clear()\n"
    "    s33 = s33\n"
    "    assert_size_stride(arg3_1, (s33, 64), (64, 1))\n"
    "    with torch.cuda._DeviceGuard(0):\n"
    "        torch.cuda.set_device(0)\n"
    "        buf0 = empty_strided_cuda((s33, 64), (64, 1), torch.float32)\n"
    "        # Topologically Sorted Source Nodes: [input_1]\n"
    "        extern_kernels.addmm(arg1_1, arg3_1, reinterpret_tensor(arg1_1, (64, 64), (1, 64), 0), "
    "out=buf0)\n"
    "        del arg1_1\n"
    "        del arg3_1\n"
    "        buf4 = buf0; del buf0  # reuse\n"
    "        buf5 = reinterpret_tensor(buf4, (64, s33), (1, 64), 0); del buf4  # reuse\n"
    "        triton_poi_fused_0.run(buf5, s33, 64, stream=stream0)\n"
    "        buf6 = torch.ops.aten.sort.default(buf5)\n"
    "        del buf5\n"
    "        buf7 = buf6[0]\n"
    "        assert_size_stride(buf7, (s33, 1 + (s33 // 2)), (1 + (s33 // 2), 1))\n"
    "        buf8 = buf6[1]\n"
    "        assert_size_stride(buf8, (), ())\n"
    "        del buf6\n"
    "    return (reinterpret_tensor(buf7, (4, ), (1, ), 0), arg1_1, None, buf8, )\n"
    "\n"
    "def partition_1(args):\n"
    "    buf7, buf8 = args\n"
    "    return (buf7, )\n";

static void test_plan(void **state)
{
    (void)state;
    struct memory_plans plans = { 0 };
    assert_true(memory_plans_read(&plans, str_of(PROGRAM)));
    assert_int_equal(plans.plans.n, 2);
    const struct memory_plan *plan = &plans.plans.v[0];
    static const struct plan_event EVENTS[] = {
        { 2, false }, { 0, true }, { 1, true }, { 2, true }, { 4, false }, { 5, false },
    };
    struct buf name = BUF_INIT;
    /* buf6 is a tuple, which has no memory. */
    assert_int_equal(plan->n_slots, 6);
    assert_int_equal(plan->n_events, sizeof EVENTS / sizeof *EVENTS);
    for (uint32_t i = 0; i < plan->n_events; i++) {
        assert_int_equal(plans.events.v[i].slot, EVENTS[i].slot);
        assert_int_equal(plans.events.v[i].frees, EVENTS[i].frees);
    }
    assert_true(plans.slots.v[1].input && str_is(plans.slots.v[1].name, "arg3_1"));
    assert_true(!plans.slots.v[2].input && str_is(plans.slots.v[2].name, "buf0"));
    assert_int_equal(plans.slots.v[2].element_bytes, 4);
    assert_int_equal(plans.slots.v[4].element_bytes, 4);
    expr_print(&plans.exprs, plans.slots.v[4].sizes, &name);
    assert_true(str_is(buf_str(&name), "(s33, 1 + s33//2)"));
    buf_release(&name);
    assert_int_equal(plan->matmul, 1);
    assert_int_equal(plan->n_outputs, 4);
    static const uint32_t OUTPUTS[] = { 4, SLOT_NONE, SLOT_NONE, 5 };
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(plans.outputs.v[i], OUTPUTS[i]);
    assert_int_equal(plan->n_launches, 1);
    const struct plan_launch *launch = &plans.launches.v[plan->first_launch];
    assert_true(str_is(launch->kernel, "triton_poi_fused_0") && !launch->always);
    assert_int_equal(launch->event, 3);
    assert_int_equal(launch->n_written, 1);
    assert_int_equal(plans.written.v[launch->first_written].slot, 2);
    assert_int_equal(plans.written.v[launch->first_written].element_bytes, 2);
    plan = &plans.plans.v[1];
    assert_int_equal(plan->n_launches, 0);
    assert_int_equal(plan->n_slots, 2);
    /* What another partition returned by this name has its sizes. */
    assert_true(plans.slots.v[plan->first_slot].sizes == EXPR_NONE);
    assert_true(plans.slots.v[plan->first_slot + 1].sizes == plans.slots.v[5].sizes);
    assert_true(plans.slots.v[5].sizes != EXPR_NONE);
    assert_int_equal(plan->n_events, 0);
    assert_int_equal(plans.outputs.v[plan->first_output], 0);
    memory_plans_release(&plans);
}

/* A program without partitions has one function. */
static void test_call(void **state)
{
    (void)state;
    struct memory_plans plans = { 0 };
    assert_true(
        memory_plans_read(&plans, STR("class Runner:\n"
                                      "    def call(self, args):\n"
                                      "        x, = args\n"
                                      "        buf0 = empty_strided_cuda((4, ), (1, ), "
                                      "torch.bfloat16)\n"
                                      "        del x\n"
                                      "        return (buf0, )\n"
                                      "\n"
                                      "runner = Runner()\n"
                                      "buf1 = empty_strided_cuda((4, ), (1, ), torch.int8)\n")));
    assert_int_equal(plans.plans.n, 1);
    assert_int_equal(plans.plans.v[0].n_events, 2);
    assert_int_equal(plans.slots.v[1].element_bytes, 2);
    memory_plans_release(&plans);
    assert_true(memory_plans_read(&plans, STR("not a program")));
    assert_int_equal(plans.plans.n, 0);
    memory_plans_release(&plans);
}

/* The element's bytes are those of Triton's type; a copy is made whatever it takes if optimize_mem
 * is False. */
static void test_kernels(void **state)
{
    (void)state;
    struct kernel_arguments kernels = { 0 };
    assert_true(kernel_arguments_read(
        &kernels,
        STR("triton_meta={'signature': {'out_ptr': '*i64', 'out_ptr1': '*i1', 'x': '*fp8e4nv'}}\n"
            "inductor_meta={'mutated_arg_names': ['x', 'out_ptr1', 'out_ptr'], 'optimize_mem': "
            "False}\n"
            "def a(in_ptr0, out_ptr1, out_ptr, x):\n"
            "inductor_meta={'mutated_arg_names': []}\n"
            "def b(in_ptr0):\n"
            "def c(out_ptr):\n")));
    struct written_arguments row = kernel_arguments_find(&kernels, STR("a"));
    static const struct written_argument WRITTEN[] = { { 3, 1 }, { 1, 1 }, { 2, 8 } };
    assert_int_equal(row.n, 3);
    assert_true(row.always);
    for (uint32_t i = 0; i < row.n; i++) {
        assert_int_equal(kernels.written.v[row.first + i].position, WRITTEN[i].position);
        assert_int_equal(kernels.written.v[row.first + i].element_bytes, WRITTEN[i].element_bytes);
    }
    assert_int_equal(kernel_arguments_find(&kernels, STR("b")).n, 0);
    assert_int_equal(kernel_arguments_find(&kernels, STR("c")).n, 0);
    kernel_arguments_release(&kernels);
}

/* A kernel is tuned when it runs first in a graph, as often as PyTorch logged it. */
static void test_tuned(void **state)
{
    (void)state;
    struct tuned_kernels tuned = { 0 };
    static const char BENCHMARK[] = "CachingAutotuner.benchmark_all_configs";
    struct chromium_event event = { .phase = 'B',
                                    .backward = true,
                                    .name = str_of(BENCHMARK),
                                    .compile = STR("0/1"),
                                    .detail = STR("triton_poi_0") };
    bool tunes;
    assert_true(tuned_kernels_add(&tuned, &event));
    event.phase = 'E';
    assert_true(tuned_kernels_add(&tuned, &event));
    assert_true(tuned_kernels_take(&tuned, STR("0/1"), false, 0, event.detail, &tunes) && !tunes);
    assert_true(tuned_kernels_take(&tuned, STR("0/0"), true, 0, event.detail, &tunes) && !tunes);
    assert_true(tuned_kernels_take(&tuned, STR("0/1"), true, 0, event.detail, &tunes) && tunes);
    assert_true(tuned_kernels_take(&tuned, STR("0/1"), true, 0, event.detail, &tunes) && !tunes);
    assert_true(tuned_kernels_take(&tuned, STR("0/1"), true, 1, event.detail, &tunes) && !tunes);
    tuned_kernels_release(&tuned);
}

static bool read_program(void *data)
{
    struct memory_plans plans = { 0 };
    bool ok = memory_plans_read(&plans, str_of(data));
    memory_plans_release(&plans);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    char program[sizeof PROGRAM];
    memcpy(program, PROGRAM, sizeof PROGRAM);
    assert_true(read_program(program));
    check_alloc_failures(read_program, program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan), cmocka_unit_test(test_kernels), cmocka_unit_test(test_tuned),
        cmocka_unit_test(test_call), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
