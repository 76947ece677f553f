#include "trace/graph/annotation.h"

#include <stdlib.h>

#include "tests/harness.h"

struct fixture {
    struct graph_pool pool;
    struct meta meta;
};

static void parse(struct fixture *f, const char *text)
{
    assert_true(annotation_parse(&f->pool, str_of(text), &f->meta));
    assert_str_is(f->meta.text, text);
}

static void release(struct fixture *f)
{
    arena_release(&f->pool.arena);
    expr_pool_release(&f->pool.exprs);
}

static void check_dimension(const struct fixture *f, expr_id id, const char *text)
{
    struct buf printed = BUF_INIT;
    expr_print(&f->pool.exprs, id, &printed);
    assert_str_is(buf_str(&printed), text);
    buf_release(&printed);
}

static void test_tensor(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "f32[s77, Max(1, s2), 64][64*s2, 64, 1]cuda:0");
    assert_int_equal(f.meta.kind, META_TENSOR);
    assert_int_equal(f.meta.dtype, DTYPE_F32);
    assert_int_equal(f.meta.n_sizes, 3);
    assert_true(f.meta.has_strides);
    check_dimension(&f, f.meta.sizes[1], "Max(1, s2)");
    check_dimension(&f, f.meta.strides[0], "64*s2");
    assert_str_is(f.meta.device, "cuda:0");
    assert_str_is(f.meta.wrapper, "");
    release(&f);
}

static void test_parts_that_may_be_missing(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "i64[]");
    assert_true(f.meta.kind == META_TENSOR && f.meta.n_sizes == 0 && !f.meta.has_strides);
    assert_str_is(f.meta.device, "");
    parse(&f, "b8[][]cpu");
    assert_true(f.meta.kind == META_TENSOR && f.meta.has_strides);
    assert_str_is(f.meta.device, "cpu");
    parse(&f, "f32[2, 3]meta");
    assert_true(f.meta.kind == META_TENSOR && !f.meta.has_strides && f.meta.n_sizes == 2);
    assert_str_is(f.meta.device, "meta");
    release(&f);
}

static void test_wrappers(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "Parameter(f32[2, 2][2, 1]cpu)");
    assert_int_equal(f.meta.kind, META_TENSOR);
    assert_str_is(f.meta.wrapper, "Parameter");
    assert_str_is(f.meta.placement, "");
    parse(&f, "DTensor(f32[8, 8][8, 1]cuda:0, S(0)R)");
    assert_int_equal(f.meta.kind, META_TENSOR);
    assert_str_is(f.meta.wrapper, "DTensor");
    assert_str_is(f.meta.placement, "S(0)R");
    assert_str_is(f.meta.device, "cuda:0");
    release(&f);
}

static void test_symbols(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "Sym((s0//2) + 1)");
    assert_int_equal(f.meta.kind, META_SYM);
    assert_int_equal(f.meta.n_sizes, 1);
    check_dimension(&f, f.meta.sizes[0], "s0//2 + 1");
    release(&f);
}

static void test_others_keep_their_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "torch.Tensor",       "f31[2]",         "f32[2",     "f32[2, 3][1]cpu", "Sym(s0",
        "Sym(s0) x",          "f32[2]cpu junk", "f32[2,,3]", "DTensor(f32[2]",  "[2]",
        "Parameter(f32[2])x", "Sym()",          "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f = { 0 };
        parse(&f, texts[i]);
        assert_int_equal(f.meta.kind, META_OTHER);
        assert_int_equal(f.meta.n_sizes, 0);
        assert_str_is(f.meta.wrapper, "");
        release(&f);
    }
}

static bool parse_once(void *arg)
{
    struct fixture f = { 0 };
    bool parsed = annotation_parse(&f.pool, str_of(arg), &f.meta);
    assert_true(!parsed || f.meta.kind == META_TENSOR);
    release(&f);
    return parsed;
}

static void test_memory_failure(void **state)
{
    (void)state;
    char text[] = "DTensor(f32[8, s0 + 1][s0 + 1, 1]cuda:0, S(0))";
    check_alloc_failures(parse_once, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_parts_that_may_be_missing),
        cmocka_unit_test(test_wrappers),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_others_keep_their_text),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
