#include "tests/harness.h"
#include "trace/graph/graph.h"

static void test_names_lead_back(void **state)
{
    (void)state;
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        enum dtype dtype = (enum dtype)i, by_name;
        assert_int_equal(dtype_by_short_name(str_of(dtype_short_name(dtype))), dtype);
        by_name = dtype_by_python_name(str_of(dtype_python_name(dtype)));
        assert_string_equal(dtype_python_name(by_name), dtype_python_name(dtype));
        assert_true(dtype_size(dtype) > 0);
    }
}

static void test_known_ones(void **state)
{
    (void)state;
    assert_int_equal(dtype_by_short_name(STR("bf16")), DTYPE_BF16);
    assert_int_equal(dtype_by_python_name(STR("torch.bool")), DTYPE_B8);
    assert_int_equal(dtype_by_scalar_type(7), DTYPE_F32);
    assert_int_equal(dtype_by_scalar_type(5), DTYPE_I64);
    assert_int_equal(dtype_size(DTYPE_C128), 16);
}

static void test_unknown_ones(void **state)
{
    (void)state;
    assert_int_equal(dtype_by_short_name(STR("f31")), DTYPE_NONE);
    assert_int_equal(dtype_by_short_name(STR("")), DTYPE_NONE);
    assert_int_equal(dtype_by_python_name(STR("float32")), DTYPE_NONE);
    assert_int_equal(dtype_by_scalar_type(0), DTYPE_NONE);
    assert_int_equal(dtype_by_scalar_type(-1), DTYPE_NONE);
    assert_string_equal(dtype_short_name(DTYPE_NONE), "");
    assert_string_equal(dtype_python_name((enum dtype)1000), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_lead_back),
        cmocka_unit_test(test_known_ones),
        cmocka_unit_test(test_unknown_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
