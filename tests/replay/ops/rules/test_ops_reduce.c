/* Reductions, indexing, and what depends on values: facts of PyTorch's that the recorded rows show
 * one at a time. */
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static sym_id symbol(struct world *w, const char *source, int64_t hint)
{
    return env_create_symbol(w->env, &(struct symbol_request){ .value = sym_integer(w->pool, hint),
                                                               .source = str_of(source),
                                                               .dynamic = DIM_DYNAMIC,
                                                               .positive = true });
}

static struct value number(struct world *w, int64_t n)
{
    return value_int(sym_integer(w->pool, n));
}

/* A contiguous tensor of up to three dimensions. */
static struct tensor tensor(struct world *w, enum dtype dtype, uint32_t n, sym_id d0, sym_id d1,
                            sym_id d2)
{
    sym_id size[] = { d0, d1, d2 }, stride[3];
    for (uint32_t i = n; i-- > 0;)
        stride[i] = i + 1 == n ? SYM_ID_ONE : sym_mul(w->pool, stride[i + 1], size[i + 1]);
    const struct tensor_meta meta = { .dtype = dtype,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = n,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return ops_new_tensor(w->ops, &meta);
}

static struct value call(struct world *w, const char *name, const struct value *args, uint32_t n)
{
    struct value ret;
    if (ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret) != OP_DONE)
        fail_msg("%s: %.*s", name, STR_ARG(ops_error(w->ops)->text));
    return ret;
}

static void assert_shows(struct world *w, struct value value, const char *expected)
{
    struct buf text = BUF_INIT;
    value_print(w->pool, value, &text);
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

static void assert_refused(struct world *w, const char *name, const struct value *args, uint32_t n,
                           const char *type, const char *text)
{
    struct value ret;
    assert_int_equal(ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret),
                     OP_REFUSED);
    assert_str_is(ops_error(w->ops)->type, type);
    assert_str_is(ops_error(w->ops)->text, text);
}

static void assert_guards(struct world *w, uint32_t from, const char *const *expected, uint32_t n)
{
    assert_int_equal(env_n_guards(w->env) - from, n);
    for (uint32_t i = 0; i < n; i++) {
        struct buf text = BUF_INIT;
        sym_print(w->pool, env_guard_at(w->env, from + i)->expr, &text);
        assert_str_is(buf_str(&text), expected[i]);
        buf_release(&text);
    }
}

/* --- Reductions --- */

static void test_sum(void **state)
{
    struct world *w = *state;
    sym_id s = symbol(w, "x0", 8), t = symbol(w, "x1", 5);
    struct value dim = number(w, 0);
    struct value args[] = { value_tensor(tensor(w, DTYPE_B8, 2, s, t, SYM_NONE)),
                            value_items(VALUE_LIST, &dim, 1), value_sym(VALUE_BOOL, SYM_ID_TRUE) };
    struct value kept = call(w, "aten.sum.dim_IntList", args, 3);
    assert_int_equal(kept.u.tensor.meta->dtype, DTYPE_I64);
    assert_true(kept.u.tensor.meta->size[0] == SYM_ID_ONE && kept.u.tensor.meta->size[1] == t);
    assert_true(kept.u.tensor.meta->stride[0] == t); /* broadcast_in_dim's */
    args[1].n = 0;                                   /* all of them */
    assert_shows(w, call(w, "aten.sum.dim_IntList", args, 2), "i64[][]cpu");
}

static void test_reduction_errors(void **state)
{
    struct world *w = *state;
    sym_id five = sym_integer(w->pool, 5);
    ops_set_eager(w->ops, true);
    struct value twice[] = { number(w, 0), number(w, -2) };
    struct value args[] = { value_tensor(tensor(w, DTYPE_F32, 2, five, SYM_ID_ZERO, SYM_NONE)),
                            value_items(VALUE_LIST, twice, 2) };
    assert_refused(w, "aten.sum.dim_IntList", args, 2, "RuntimeError",
                   "dim 0 appears multiple times in the list of dims");
    struct value one = number(w, 1);
    args[1] = value_items(VALUE_LIST, &one, 1);
    assert_refused(w, "aten.amax.default", args, 2, "IndexError",
                   "amax(): Expected reduction dim 1 to have non-zero size.");
    ops_set_eager(w->ops, false); /* the same of a fake tensor, as the reference says it */
    args[1] = value_items(VALUE_LIST, twice, 2);
    assert_refused(w, "aten.sum.dim_IntList", args, 2, "RuntimeError",
                   "duplicate value in the list of dims");
    args[1] = number(w, 2);
    assert_refused(w, "aten.max.dim", args, 2, "IndexError",
                   "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
}

/* --- Indexing --- */

static void test_gather_guards(void **state)
{
    struct world *w = *state;
    sym_id s = symbol(w, "g0", 10), t = symbol(w, "g1", 5);
    struct tensor x = tensor(w, DTYPE_F32, 2, s, t, SYM_NONE);
    sym_id a = symbol(w, "g2", 5), b = symbol(w, "g3", 4);
    struct value args[] = { value_tensor(x), number(w, 0),
                            value_tensor(tensor(w, DTYPE_I64, 2, a, b, SYM_NONE)) };
    struct buf text = BUF_INIT;
    uint32_t from = env_n_guards(w->env);
    struct value got = call(w, "aten.gather.default", args, 3);
    assert_true(got.u.tensor.meta->size[0] == a && got.u.tensor.meta->size[1] == b);
    sym_print(w->pool, b, &text); /* only along the other dimension */
    buf_puts(&text, " <= ");
    sym_print(w->pool, t, &text);
    buf_putc(&text, 0);
    assert_false(text.failed);
    assert_guards(w, from, (const char *const[]){ text.p }, 1);
    buf_release(&text);
}

static void test_index(void **state)
{
    struct world *w = *state;
    sym_id n = sym_integer(w->pool, 5), two = SYM_ID_TWO;
    static const unsigned char bad[16] = { 9 };
    struct tensor x = tensor(w, DTYPE_F32, 3, n, two, sym_integer(w->pool, 3));
    struct tensor index = tensor(w, DTYPE_I64, 1, two, SYM_NONE, SYM_NONE);
    struct value apart[] = { value_tensor(index), value_none(), value_tensor(index) };
    struct value args[] = { value_tensor(x), value_items(VALUE_LIST, apart, 3) };
    assert_shows(w, call(w, "aten.index.Tensor", args, 2), "f32[2, 2][2, 1]cpu");
    args[1].n = 1;
    assert_shows(w, call(w, "aten.index.Tensor", args, 2), "f32[2, 2, 3][6, 3, 1]cpu");
    apart[0].u.tensor.data = bad;
    assert_refused(w, "aten.index.Tensor", args, 2, "IndexError",
                   "index 9 is out of bounds for dimension 0 with size 5");
}

/* --- What depends on values --- */

static void test_nonzero(void **state)
{
    struct world *w = *state;
    static const unsigned char mask[] = { 1, 0, 1, 1 };
    sym_id four = sym_integer(w->pool, 4);
    struct tensor x = tensor(w, DTYPE_B8, 1, four, SYM_NONE, SYM_NONE);
    struct value arg = value_tensor(x);
    struct value first = call(w, "aten.nonzero.default", &arg, 1);
    sym_id size = first.u.tensor.meta->size[0];
    struct sym_range range;
    assert_true(env_is_unbacked(w->env, size));
    assert_true(env_range(w->env, size, &range) && range.upper == four);
    /* The same tensor gives the same symbol. */
    struct value again = call(w, "aten.nonzero.default", &arg, 1);
    assert_true(again.u.tensor.meta->size[0] == size);
    arg = value_tensor(tensor(w, DTYPE_B8, 1, four, SYM_NONE, SYM_NONE));
    struct value other = call(w, "aten.nonzero.default", &arg, 1);
    assert_true(other.u.tensor.meta->size[0] != size);
    arg.u.tensor.data = mask; /* Known values give the real size. */
    assert_shows(w, call(w, "aten.nonzero.default", &arg, 1), "i64[3, 1][1, 3]cpu");
}

static void test_item(void **state)
{
    struct world *w = *state;
    static const unsigned char minus_two[] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    struct tensor x = tensor(w, DTYPE_I64, 0, SYM_NONE, SYM_NONE, SYM_NONE);
    struct value arg = value_tensor(x);
    struct value item = call(w, "aten.item.default", &arg, 1);
    assert_true(env_is_unbacked(w->env, item.u.sym));
    assert_true(call(w, "aten.item.default", &arg, 1).u.sym == item.u.sym);
    assert_true(ops_remember_item(w->ops, x, number(w, 7)));
    assert_shows(w, call(w, "aten.item.default", &arg, 1), "7");
    arg = value_tensor(tensor(w, DTYPE_I64, 0, SYM_NONE, SYM_NONE, SYM_NONE));
    arg.u.tensor.data = minus_two;
    assert_shows(w, call(w, "aten.item.default", &arg, 1), "-2");
    arg = value_tensor(tensor(w, DTYPE_F32, 1, SYM_ID_TWO, SYM_NONE, SYM_NONE));
    assert_refused(w, "aten.item.default", &arg, 1, "RuntimeError",
                   "a Tensor with 2 elements cannot be converted to Scalar");
}

static void test_unique(void **state)
{
    struct world *w = *state;
    /* 1.0, -0.0, 0.0, NaN, NaN as bfloat16 */
    static const unsigned char values[] = { 0x80, 0x3f, 0, 0x80, 0, 0, 0xc0, 0x7f, 0xc0, 0x7f };
    sym_id five = sym_integer(w->pool, 5);
    struct tensor x = tensor(w, DTYPE_BF16, 1, five, SYM_NONE, SYM_NONE);
    x.data = values;
    struct value arg = value_tensor(x);
    struct value all = call(w, "aten._unique2.default", &arg, 1);
    assert_shows(w, all.u.items[0], "bf16[4][1]cpu");
    assert_shows(w, all.u.items[1], "i64[0][1]cpu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sum, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reduction_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gather_guards, setup, teardown),
        cmocka_unit_test_setup_teardown(test_index, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nonzero, setup, teardown),
        cmocka_unit_test_setup_teardown(test_item, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unique, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
