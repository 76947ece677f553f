#include "trace/graph/python_name.h"

#include "tests/harness.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const
        GOOD[] = { "x", "_", "_1", "a9", "L_x_", "input", "torch", "Lambda" },
        *const BAD[] = { "",      "1",      "1a",   "a b",       "a.b",          "a-b",
                         "a\n",   "a\r",    "a\t",  "a\xc2\x85", "\xe2\x80\xa8", "\xef\xbd\x85val",
                         "a\x80", "lambda", "None", "False",     "nonlocal",     "async",
                         "a#" };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_true(python_is_name(str_of(GOOD[i])));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(python_is_name(str_of(BAD[i])));
    assert_false(python_is_name((struct str){ "a\0b", 3 }));
    assert_true(python_is_word(STR("from")));
    assert_false(python_is_word(STR("fr om")));
}

static void test_dotted_names(void **state)
{
    (void)state;
    assert_true(python_is_dotted(STR("net.from")));
    assert_true(python_is_dotted(STR("net")));
    assert_false(python_is_dotted(STR("from.net")));
    assert_false(python_is_dotted(STR("net.")));
    assert_false(python_is_dotted(STR(".net")));
    assert_false(python_is_dotted(STR("net..x")));
    assert_false(python_is_dotted(STR("net.0")));
    assert_false(python_is_dotted(STR("")));
}

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        enum target_form form;
    } ROWS[] = {
        { "torch.ops.aten.mm.default", TARGET_OPERATOR },
        { "torch.ops.aten.random.from", TARGET_OPERATOR },
        { "torch.ops.higher_order.cond", TARGET_OPERATOR },
        { "torch.ops.aten", TARGET_FUNCTION },
        { "torch.ops.aten.mm.default.more", TARGET_FUNCTION },
        { "torch.sym_max", TARGET_FUNCTION },
        { "_operator.add", TARGET_FUNCTION },
        { "#executorch:prim.add", TARGET_EXTENSION },
        { "#executorch", TARGET_NEITHER },
        { "#a:b\nf()", TARGET_NEITHER },
        { "torch.ops.aten.mm.default(x)", TARGET_NEITHER },
        { "torch.ops.aten. mm", TARGET_NEITHER },
        { "torch.ops.aten.mm\rf()", TARGET_NEITHER },
        { "", TARGET_NEITHER },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_int_equal(target_form_of(str_of(ROWS[i].target)), ROWS[i].form);
}

static void test_devices(void **state)
{
    (void)state;
    static const char *const GOOD[] = { "cpu",  "cuda:0", "cuda:127",
                                        "meta", "npu:1",  "privateuseone" },
                             *const BAD[] = { "",         ":0",       "cuda:",
                                              "cuda:-1",  "cuda:128", "cuda:0:1",
                                              "cuda:0x1", "CUDA",     "cu da",
                                              "cpu\"",    "cuda:1 ",  "cuda:18446744073709551616" };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_true(device_is_spelled(str_of(GOOD[i])));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(device_is_spelled(str_of(BAD[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_dotted_names),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
