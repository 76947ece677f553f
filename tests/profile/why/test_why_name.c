#include "profile/why/why_name.h"
#include "tests/harness.h"

static void test_plain(void **state)
{
    (void)state;
    static const struct {
        const char *text, *plain;
    } CASES[] = {
        { "L['x'].size()[1]", "x.size()[1]" },
        { "L[\"x\"].size(1)", "x.size()[1]" },
        { "x.shape[ -1 ]", "x.size()[-1]" },
        { "x.size(-1)", "x.size()[-1]" },
        { "x.stride(0)", "x.stride()[0]" },
        { "G['state']['step']", "state['step']" },
        { "L['d']['a b'].size()[0]", "d['a b'].size()[0]" },
        { "L['l'][0]", "l[0]" },
        { "L['self']._modules['blocks']._modules['0']._parameters['w']", "self.blocks[0].w" },
        { "self.blocks.0.w", "self.blocks[0].w" },
        { "self.blocks[0].w", "self.blocks[0].w" },
        { "zf3 == 2.5", "zf3==2.5" },
        { "1.0e-5", "1.0e-5" },
        { "xL['y']", "xL['y']" },
        { "L['not an identifier']", "L['not an identifier']" },
        { "L['x", "L['x" },
        { "x.size(", "x.size(" },
        { "", "" },
    };
    struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_str_is(why_name_plain(str_of(CASES[i].text), &arena), CASES[i].plain);
    arena_release(&arena);
}

static void test_split(void **state)
{
    (void)state;
    struct why_name name = why_name_split(STR("x.size()[-2]"));
    assert_int_equal(name.part, WHY_SIZE);
    assert_int_equal(name.dim, -2);
    assert_str_is(name.base, "x");
    name = why_name_split(STR("x.stride()[1]"));
    assert_int_equal(name.part, WHY_STRIDE);
    assert_str_is(name.base, "x");
    name = why_name_split(STR("x.storage_offset()"));
    assert_int_equal(name.part, WHY_OFFSET);
    assert_str_is(name.base, "x");
    assert_str_is(why_name_split(STR("x.shape")).base, "x");
    assert_str_is(why_name_split(STR("x.size()")).base, "x");
    name = why_name_split(STR("self.eps"));
    assert_int_equal(name.part, WHY_WHOLE);
    assert_str_is(name.base, "self.eps");
    assert_int_equal(why_name_split(STR("x.size()[1]+1")).part, WHY_WHOLE);
    assert_int_equal(why_name_split(STR("x.size()[99999999999999999999]")).part, WHY_WHOLE);
}

static void test_symbols(void **state)
{
    (void)state;
    assert_true(why_is_symbol_name(STR("s27")));
    assert_true(why_is_symbol_name(STR("zf3")));
    assert_true(why_is_symbol_name(STR("zuf1")));
    assert_true(why_is_symbol_name(STR("u0")));
    assert_false(why_is_symbol_name(STR("s")));
    assert_false(why_is_symbol_name(STR("size")));
    assert_false(why_is_symbol_name(STR("x1")));
}

static bool make_plain(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct str plain = why_name_plain(STR("L['self']._modules['0'].eps"), &arena);
    (void)arg;
    bool ok = plain.p && str_is(plain, "self[0].eps");
    arena_release(&arena);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(make_plain, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
