/* Pointwise operators: promotion, strides, the fast path, what is asked and refused. */
#include "replay/ops/layers.h"
#include "replay/ops/layout/layout.h"
#include "replay/ops/model/stats.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static sym_id symbol(struct world *w, const char *name, int64_t hint)
{
    struct sym_range range = { SYM_ID_TWO, SYM_ID_INT_OO };
    return env_adopt_symbol(w->env, str_of(name), sym_integer(w->pool, hint), range, str_of(name));
}

static struct value strided(struct world *w, enum dtype dtype, const sym_id *size,
                            const sym_id *stride, uint32_t n)
{
    const struct tensor_meta meta = { .dtype = dtype,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = n,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

static struct value dense(struct world *w, enum dtype dtype, const sym_id *size, uint32_t n)
{
    sym_id stride[8] = { 0 }, next = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        stride[i] = next;
        next = sym_mul(w->pool, next, size[i]);
    }
    return strided(w, dtype, size, stride, n);
}

static struct value plain(struct world *w, enum dtype dtype, const int64_t *size,
                          const int64_t *stride, uint32_t n)
{
    sym_id sizes[8] = { 0 }, strides[8] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        sizes[i] = sym_integer(w->pool, size[i]);
        strides[i] = stride ? sym_integer(w->pool, stride[i]) : SYM_NONE;
    }
    return stride ? strided(w, dtype, sizes, strides, n) : dense(w, dtype, sizes, n);
}

static void assert_call(struct world *w, const char *name, const struct value *args, uint32_t n,
                        const char *expected)
{
    struct value ret;
    struct buf text = BUF_INIT;
    enum op_outcome outcome =
        ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret);
    if (outcome == OP_DONE)
        value_print(w->pool, ret, &text);
    else
        buf_printf(&text, "%.*s: %.*s", STR_ARG(ops_error(w->ops)->type),
                   STR_ARG(ops_error(w->ops)->text));
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

static void assert_last_guard(struct world *w, const char *expected)
{
    struct buf text = BUF_INIT;
    assert_true(env_n_guards(w->env) > 0);
    sym_print(w->pool, env_guard_at(w->env, env_n_guards(w->env) - 1)->expr, &text);
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

/* torch.promote_types of all pairs: row i from column i on; "-" where it raises. */
static const char *const dtypes[] = { "f64", "f32",  "f16", "bf16", "f8e4m3fn", "c32",
                                      "c64", "c128", "i8",  "i16",  "i32",      "i64",
                                      "b8",  "u8",   "u16", "u32",  "u64" };
static const char *const promoted[] = {
    "f64 f64 f64 f64 - c128 c128 c128 f64 f64 f64 f64 f64 f64 f64 f64 f64",
    "f32 f32 f32 - c64 c64 c128 f32 f32 f32 f32 f32 f32 f32 f32 f32",
    "f16 f32 - c32 c64 c128 f16 f16 f16 f16 f16 f16 f16 f16 f16",
    "bf16 - c64 c64 c128 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16",
    "f8e4m3fn - - - - - - - - - - - -",
    "c32 c64 c128 c32 c32 c32 c32 c32 c32 - - -",
    "c64 c128 c64 c64 c64 c64 c64 c64 - - -",
    "c128 c128 c128 c128 c128 c128 c128 - - -",
    "i8 i16 i32 i64 i8 i16 - - -",
    "i16 i32 i64 i16 i16 - - -",
    "i32 i64 i32 i32 - - -",
    "i64 i64 i64 - - -",
    "b8 u8 - - -",
    "u8 - - -",
    "u16 - -",
    "u32 -",
    "u64",
};

static void test_promote(void **state)
{
    (void)state;
    enum { N = sizeof dtypes / sizeof dtypes[0] };
    for (size_t i = 0; i < N; i++) {
        struct str row = str_of(promoted[i]);
        for (size_t j = i; j < N; j++) {
            size_t end = str_find_char(row, ' ');
            enum dtype a = dtype_by_short_name(str_of(dtypes[i]));
            enum dtype b = dtype_by_short_name(str_of(dtypes[j]));
            struct str want = str_first(row, end);
            enum dtype expected = str_is(want, "-") ? DTYPE_NONE : dtype_by_short_name(want);
            assert_int_equal(promote(a, b), expected);
            assert_int_equal(promote(b, a), expected);
            row = str_from(row, end + 1);
        }
    }
}

/* Dense strides stay in eager PyTorch; references lay dimensions of size 1 anew. */
static void test_eager_and_fake(void **state)
{
    struct world *w = *state;
    const int64_t size[] = { 2, 10, 1 }, stride[] = { 1, 2, 7 };
    struct value x = plain(w, DTYPE_F32, size, stride, 3);
    assert_call(w, "aten.cos.default", &x, 1, "f32[2, 10, 1][1, 2, 20]cpu");
    ops_set_eager(w->ops, true);
    assert_call(w, "aten.cos.default", &x, 1, "f32[2, 10, 1][1, 2, 7]cpu");
}

static void test_numbers(void **state)
{
    struct world *w = *state;
    const int64_t size[] = { 3 };
    struct value half = value_sym(VALUE_FLOAT, sym_float(w->pool, 0.5));
    struct value args[] = { plain(w, DTYPE_I64, size, NULL, 1), half };
    assert_call(w, "aten.add.Tensor", args, 2, "f32[3][1]cpu");
    args[0] = plain(w, DTYPE_F16, size, NULL, 1);
    assert_call(w, "aten.mul.Scalar", args, 2, "f16[3][1]cpu");
    args[1] = plain(w, DTYPE_F64, size, NULL, 0);
    assert_call(w, "aten.div.Tensor", args, 2, "f16[3][1]cpu");
    args[1] = plain(w, DTYPE_C128, size, NULL, 0);
    assert_call(w, "aten.sub.Tensor", args, 2, "c32[3][1]cpu");
    assert_call(w, "aten.eq.Tensor", args, 2, "b8[3][1]cpu");
}

static uint64_t fast(struct world *w, enum op_counter counter)
{
    return ops_stats(w->ops, ops_find(w->ops, STR("aten.add.Tensor")))->fast[counter];
}

static void test_fast_path(void **state)
{
    struct world *w = *state;
    sym_id s0 = symbol(w, "s0", 4), s1 = symbol(w, "s1", 6), s2 = symbol(w, "s2", 4);
    const sym_id square[] = { s0, s1 }, other[] = { s2, s1 };
    struct value args[] = { dense(w, DTYPE_F32, square, 2), dense(w, DTYPE_F32, other, 2) };
    assert_call(w, "aten.add.Tensor", args, 2, "f32[s0, s1][s1, 1]cpu");
    assert_last_guard(w, "Eq(s0, s2)");
    assert_int_equal(fast(w, OP_COUNTER_FAST_CONTIGUOUS), 1);

    const sym_id column[] = { s0, SYM_ID_ONE }, row[] = { s1 };
    struct value wide[] = { dense(w, DTYPE_F32, column, 2), dense(w, DTYPE_F32, row, 1) };
    assert_call(w, "aten.add.Tensor", wide, 2, "f32[s0, s1][s1, 1]cpu");
    assert_int_equal(fast(w, OP_COUNTER_SLOW_BROADCAST), 1);

    const sym_id turned[] = { SYM_ID_ONE, s0 };
    struct value across[] = { strided(w, DTYPE_F32, square, turned, 2), args[0] };
    assert_call(w, "aten.add.Tensor", across, 2, "f32[s0, s1][1, s0]cpu");
    assert_int_equal(fast(w, OP_COUNTER_SLOW_CONTIGUITY), 1);
    assert_int_equal(fast(w, OP_COUNTER_ATTEMPT_FAST), 3);
}

/* Decompositions and lists come out as their parts do. */
static void test_programs(void **state)
{
    struct world *w = *state;
    sym_id s0 = symbol(w, "s0", 4), s1 = symbol(w, "s1", 6);
    const sym_id size[] = { s0, s1 }, turned[] = { SYM_ID_ONE, s0 };
    struct value args[] = { strided(w, DTYPE_BF16, size, turned, 2),
                            strided(w, DTYPE_BF16, size, turned, 2) };
    assert_call(w, "aten.gelu_backward.default", args, 2, "bf16[s0, s1][1, s0]cpu");
    assert_call(w, "aten.sigmoid_backward.default", args, 2, "bf16[s0, s1][1, s0]cpu");
    assert_call(w, "aten.logical_or.default", args, 2, "b8[s0, s1][1, s0]cpu");
    struct value lists[] = { value_items(VALUE_LIST, args, 2), value_items(VALUE_LIST, args, 2) };
    assert_call(w, "aten._foreach_add.List", lists, 2,
                "[bf16[s0, s1][1, s0]cpu, bf16[s0, s1][1, s0]cpu]");
    assert_call(w, "aten._foreach_add_.List", lists, 2, "None");
    lists[1] = value_items(VALUE_LIST, args, 1);
    assert_call(w, "aten._foreach_add.List", lists, 2,
                "RuntimeError: Tensor lists must have the same number of tensors, got 2 and 1");
}

static void test_refused(void **state)
{
    struct world *w = *state;
    const int64_t four[] = { 2, 4 }, five[] = { 2, 5 };
    struct value args[] = { plain(w, DTYPE_F32, four, NULL, 2),
                            plain(w, DTYPE_F32, five, NULL, 2) };
    ops_set_eager(w->ops, true);
    assert_call(w, "aten.mul.Tensor", args, 2,
                "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at "
                "non-singleton dimension 1");
    args[0] = plain(w, DTYPE_I64, four, NULL, 1);
    args[1] = plain(w, DTYPE_F32, four, NULL, 1);
    assert_call(w, "aten.add_.Tensor", args, 2,
                "RuntimeError: result type Float can't be cast to the desired output type Long");
    args[0] = args[1] = plain(w, DTYPE_B8, four, NULL, 1);
    assert_call(w, "aten.sub.Tensor", args, 2,
                "RuntimeError: Subtraction, the `-` operator, with two bool tensors is not "
                "supported. Use the `^` or `logical_xor()` operator instead.");
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct world w = { .env = shape_env_new(NULL, &err) };
    (void)arg;
    w.ops = w.env ? ops_new(w.env, &err) : NULL;
    w.pool = w.env ? env_pool(w.env) : NULL;
    bool done = false;
    if (w.ops) {
        const int64_t size[] = { 2, 3 }, stride[] = { 1, 2 };
        struct value args[] = { plain(&w, DTYPE_F16, size, stride, 2),
                                plain(&w, DTYPE_F16, size, NULL, 2) };
        struct value ret;
        done = args[0].kind == VALUE_TENSOR && args[1].kind == VALUE_TENSOR &&
               ops_call(w.ops, STR("aten.gelu_backward"), &(struct arguments){ args, 2, NULL, 0 },
                        &ret) == OP_DONE;
    }
    ops_free(w.ops);
    shape_env_free(w.env);
    return done;
}

static sym_id number(struct world *w, const char *name, int64_t hint)
{
    struct sym_range any = { SYM_ID_MINUS_INT_OO, SYM_ID_INT_OO };
    sym_id ret =
        env_adopt_symbol(w->env, str_of(name), sym_integer(w->pool, hint), any, str_of(name));
    bool is_size = false;
    assert_true(env_guard_bool(w->env, sym_ge(w->pool, ret, SYM_ID_TWO), &is_size) && is_size);
    return ret;
}

/* A result of sizes that are in PyTorch's cache has the strides of the earlier one, which were
 * computed before the symbol was replaced by a product that may be 0; another dtype has not. */
static void test_replaced_sizes(void **state)
{
    struct world *w = *state;
    sym_id n = symbol(w, "s50", 12), a = number(w, "s51", 3), b = number(w, "s81", 4);
    sym_id sixteen = sym_integer(w->pool, 16), eight = sym_integer(w->pool, 8);
    const sym_id size[] = { SYM_ID_TWO, n, eight },
                 wide[] = { sym_mul(w->pool, sixteen, n), sixteen, SYM_ID_ONE };
    bool equal = false;
    struct value x = dense(w, DTYPE_F32, size, 3);
    assert_call(w, "aten.sin.default", &x, 1, "f32[2, s50, 8][8*s50, 8, 1]cpu");
    assert_true(env_guard_bool(w->env, sym_eq(w->pool, n, sym_mul(w->pool, a, b)), &equal) &&
                equal);
    x = strided(w, DTYPE_F32, size, wide, 3);
    assert_call(w, "aten.sin.default", &x, 1, "f32[2, s50, 8][8*s50, 8, 1]cpu");
    assert_call(w, "aten.cos.default", &x, 1, "f32[2, s50, 8][8*s50, 8, 1]cpu");
    x = strided(w, DTYPE_F64, size, wide, 3);
    assert_call(w, "aten.sin.default", &x, 1, "f64[2, s50, 8][8*Max(1, s51*s81), 8, 1]cpu");
}

static void test_allocations(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promote),
        cmocka_unit_test_setup_teardown(test_eager_and_fake, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fast_path, setup, teardown),
        cmocka_unit_test_setup_teardown(test_programs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced_sizes, setup, teardown),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
