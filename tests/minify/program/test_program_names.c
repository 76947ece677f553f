#include "minify/program/program_names.h"

#include <stdlib.h>

#include "minify/program/program_script.h"
#include "tests/harness.h"
#include "trace/base/text/json.h"

static void targets(const char *const *names, size_t n, enum program_target wanted)
{
    for (size_t i = 0; i < n; i++)
        if (program_target(str_of(names[i]), STR("mine, other")) != wanted)
            fail_msg("%s", names[i]);
}

static void test_targets(void **state)
{
    (void)state;
    static const char *const operators[] = { "torch.ops.aten.add.Tensor",
                                             "torch.ops.aten.add",
                                             "torch.ops.aten.__and__.Tensor",
                                             "torch.ops.prims.convert_element_type.default",
                                             "torch.ops.higher_order.cond",
                                             "torch.ops._c10d_functional.wait_tensor.default",
                                             "torch.ops.mine.x",
                                             "torch.ops.other.x.y" };
    static const char *const functions[] = { "torch.add",
                                             "torch.nn.functional.relu",
                                             "torch._C._nn.gelu",
                                             "torch.functional.split",
                                             "torch.linalg.norm",
                                             "torch.fft.rfft",
                                             "torch._sym_sqrt",
                                             "torch.sym_max",
                                             "torch.sym_sum",
                                             "operator.add",
                                             "operator.and_",
                                             "operator.getitem",
                                             "_operator.add",
                                             "math_ceil",
                                             "math.floor",
                                             "builtins.max",
                                             "round",
                                             "getattr",
                                             "torch._C._set_grad_enabled",
                                             "torch.amp.autocast_mode._enter_autocast",
                                             "torch.Tensor.add" };
    static const char *const foreign[] = { "torch.ops.mylib.x", "torch.ops.load_library.x",
                                           "torch.ops.torchvision.nms.default" };
    static const char *const refused[] = { "torch.os.system",
                                           "builtins.exec",
                                           "builtins.eval",
                                           "builtins.open",
                                           "exec",
                                           "eval",
                                           "torch.load",
                                           "torch.ops",
                                           "torch.ops.aten",
                                           "torch.ops.load_library",
                                           "torch.ops.aten.save.default",
                                           "torch.ops.aten.from_file",
                                           "torch.ops.aten.__class__",
                                           "torch.ops.__class__.x",
                                           "torch.ops.aten.add.__call__",
                                           "torch.ops.aten.add.Tensor.x",
                                           "torch.ops.higher_order.cond.py_impl",
                                           "torch.ops.higher_order.call_torchbind",
                                           "torch.ops.aten.add.Tensor(x)",
                                           "torch.ops.aten.add\n",
                                           "torch.ops.aten.add.",
                                           "torch.ops..add",
                                           "operator.attrgetter",
                                           "operator.call",
                                           "operator.__add__",
                                           "math.__loader__",
                                           "math_",
                                           "torch.add.x",
                                           "torch.__class__",
                                           "torch.nn.functional.os",
                                           "torch.from_file",
                                           "torch._sym_os",
                                           "os.system",
                                           "",
                                           "torch.",
                                           "self.add",
                                           "Tensor.add",
                                           "inputs" };
    targets(operators, sizeof operators / sizeof *operators, PROGRAM_OPERATOR);
    targets(functions, sizeof functions / sizeof *functions, PROGRAM_FUNCTION);
    targets(foreign, sizeof foreign / sizeof *foreign, PROGRAM_FOREIGN);
    targets(refused, sizeof refused / sizeof *refused, PROGRAM_REFUSED);
}

static void explains(const char *target, const char *wanted)
{
    struct buf out = BUF_INIT;
    program_explain(str_of(target), STR(""), &out);
    assert_str_is(buf_str(&out), wanted);
    buf_release(&out);
}

static void test_explain(void **state)
{
    (void)state;
    explains(
        "torch.ops.torchvision.nms",
        "calls torch.ops.torchvision.nms: namespace torchvision is not "
        "PyTorch's own; --allow torchvision permits it, and minify --import FILE registers it");
    explains("torch.os.system",
             "calls torch.os.system, which is neither an operator nor a Python function "
             "that replay knows");
    explains(
        "torch.ops.aten.save.default",
        "calls torch.ops.aten.save.default, which does more than compute and is never written into a program");
    explains("torch.ops.aten", "calls torch.ops.aten, which is not the name of an operator");
}

static void test_members(void **state)
{
    (void)state;
    assert_true(program_has_method(STR("sum")));
    assert_true(program_has_method(STR("size")));
    assert_true(program_has_method(STR("__radd__")));
    assert_false(program_has_method(STR("__reduce__")));
    assert_false(program_has_method(STR("numpy")));
    assert_false(program_has_method(STR("")));
    assert_true(program_has_attribute(STR("shape")));
    assert_false(program_has_attribute(STR("__class__")));
    assert_true(program_has_value(STR("torch.float32")));
    assert_true(program_has_value(STR("torch.channels_last")));
    assert_false(program_has_value(STR("torch.ops")));
}

static void test_allow(void **state)
{
    (void)state;
    static const char *const bad[] = { "a b", "a,,b", "1", "__class__", "a.b", ",", "a,lambda" };
    struct err err = ERR_INIT;
    assert_true(program_check_allow(STR(""), &err));
    assert_true(program_check_allow(STR("torchvision, mine"), &err));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(program_check_allow(str_of(bad[i]), &err));
        assert_int_equal(err.kind, ERR_USAGE);
        err = (struct err){ 0 };
    }
}

static bool make_tables(void *arg)
{
    struct buf out = BUF_INIT;
    (void)arg;
    program_tables(STR("mine"), &out);
    bool good = !out.failed;
    buf_release(&out);
    char *script =
        good ? program_script(PROGRAM_WORKER, &(struct program_setup){ .allow = STR("mine") })
             : NULL;
    good = good && script;
    free(script);
    return good;
}

static void test_tables(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    program_tables(STR("mine, other"), &out);
    assert_true(json_parse(&doc, buf_str(&out), &err));
    json_release(&doc);
    assert_true(str_find(buf_str(&out), STR("\"allow\":[\"mine\",\"other\"]")) < out.n);
    buf_release(&out);
    check_alloc_failures(make_tables, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets), cmocka_unit_test(test_explain),
        cmocka_unit_test(test_members), cmocka_unit_test(test_allow),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
