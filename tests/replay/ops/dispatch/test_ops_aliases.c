#include "replay/ops/dispatch/ops.h"
#include "tests/harness.h"

static void test_aliases(void **state)
{
    (void)state;
    assert_true(op_returns_alias(STR("aten.view.default")));
    assert_true(op_returns_alias(STR("aten.transpose.int")));
    assert_true(op_returns_alias(STR("aten.add_.Tensor")));
    assert_true(op_returns_alias(STR("aten.add.out")));
    assert_true(op_returns_alias(STR("aten.max.dim_max")));
    assert_true(op_returns_alias(STR("aten.split.Tensor")));
    assert_true(op_returns_alias(STR("aten.detach.default")));
}

static void test_fresh(void **state)
{
    (void)state;
    assert_false(op_returns_alias(STR("aten.add.Tensor")));
    assert_false(op_returns_alias(STR("aten._foreach_add_.Scalar"))); /* returns nothing */
    assert_false(op_returns_alias(STR("aten.view_copy.default")));
    assert_false(op_returns_alias(STR("aten._unsafe_view.default")));
    assert_false(op_returns_alias(STR("aten.native_layer_norm.default")));
    assert_false(op_returns_alias(STR("aten.transpose.default"))); /* no such overload */
    assert_false(op_returns_alias(STR("mylib.view.default")));
    assert_false(op_returns_alias(STR("Tensor.view")));
    assert_false(op_returns_alias(STR("aten")));
    assert_false(op_returns_alias(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
