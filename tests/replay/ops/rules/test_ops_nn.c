/* Matrix products, convolutions, norms, pooling and attention: facts of torch 2.11's recordings. */
#include "replay/ops/dispatch/ops.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static sym_id symbol(struct world *w, const char *source, int64_t hint)
{
    return env_create_symbol(w->env, &(struct symbol_request){ .value = sym_integer(w->pool, hint),
                                                               .source = str_of(source),
                                                               .dynamic = DIM_DYNAMIC,
                                                               .positive = true });
}

static sym_id num(struct world *w, int64_t n)
{
    return sym_integer(w->pool, n);
}

static const struct device gpu = { DEVICE_CUDA, 0 };

/* Contiguous, on the GPU as the recorded graphs are. */
static struct value tensor(struct world *w, enum dtype dtype, const sym_id *size, uint32_t n)
{
    sym_id stride[8], product = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        stride[i] = product;
        product = sym_mul(w->pool, product, size[i]);
    }
    const struct tensor_meta meta = { .dtype = dtype,
                                      .device = gpu,
                                      .ndim = n,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

#define TENSOR(w, dtype, ...)                                   \
    tensor((w), DTYPE_##dtype, (const sym_id[]){ __VA_ARGS__ }, \
           (uint32_t)(sizeof((const sym_id[]){ __VA_ARGS__ }) / sizeof(sym_id)))

static struct value pair(struct world *w, struct value *room, int64_t a, int64_t b)
{
    room[0] = value_int(num(w, a));
    room[1] = value_int(num(w, b));
    return value_items(VALUE_LIST, room, 2);
}

static struct value call(struct world *w, const char *name, const struct value *args, uint32_t n)
{
    struct value ret;
    assert_int_equal(ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret),
                     OP_DONE);
    return ret;
}

static void assert_prints(struct world *w, struct value value, const char *expected)
{
    struct buf text = BUF_INIT;
    value_print(w->pool, value, &text);
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

static void assert_guard(struct world *w, uint32_t i, struct str expected)
{
    struct buf text = BUF_INIT;
    assert_true(i < env_n_guards(w->env));
    sym_print(w->pool, env_guard_at(w->env, i)->expr, &text);
    assert_true(str_eq(buf_str(&text), expected));
    buf_release(&text);
}

static void assert_refused(struct world *w, const char *name, const struct value *args, uint32_t n,
                           const char *text)
{
    struct value ret;
    assert_int_equal(ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret),
                     OP_REFUSED);
    assert_str_is(ops_error(w->ops)->text, text);
}

/* --- Products --- */

static void test_mm(void **state)
{
    struct world *w = *state;
    sym_id a = symbol(w, "a", 4), b = symbol(w, "b", 3), c = symbol(w, "c", 3);
    struct value args[] = { TENSOR(w, F32, a, b), TENSOR(w, F32, c, num(w, 8)) };
    struct value out = call(w, "aten.mm.default", args, 2);
    assert_true(out.u.tensor.meta->size[0] == a && out.u.tensor.meta->stride[0] == num(w, 8));
    assert_int_equal(env_n_guards(w->env), 1); /* Eq(b, c) */

    struct value bad[] = { TENSOR(w, F32, num(w, 2), num(w, 3)),
                           TENSOR(w, F32, num(w, 4), num(w, 5)) };
    assert_refused(w, "aten.mm.default", bad, 2,
                   "a and b must have same reduction dim, but got [2, 3] X [4, 5].");
}

/* 3-D input and a bias: rows folded, addmm, unfolded; without a bias matmul folds, too. */
static void test_linear(void **state)
{
    struct world *w = *state;
    sym_id rows = symbol(w, "x", 5);
    struct value args[] = { TENSOR(w, F32, num(w, 2), rows, num(w, 16)),
                            TENSOR(w, F32, num(w, 4), num(w, 16)), TENSOR(w, F32, num(w, 4)) };
    struct value out = call(w, "aten.linear.default", args, 3);
    assert_true(out.u.tensor.meta->size[1] == rows);
    assert_true(out.u.tensor.meta->stride[1] == num(w, 4));
    assert_int_equal(call(w, "aten.linear.default", args, 2).u.tensor.meta->ndim, 3);
    assert_int_equal(env_n_guards(w->env), 0);
}

static void test_einsum(void **state)
{
    struct world *w = *state;
    sym_id b = symbol(w, "b", 3);
    struct value operands[] = { TENSOR(w, F32, b, num(w, 5), num(w, 7)),
                                TENSOR(w, F32, b, num(w, 7), num(w, 2)) };
    struct value args[] = { { .kind = VALUE_STRING, .u.text = STR("bij, bjk -> bki") },
                            value_items(VALUE_LIST, operands, 2) };
    struct value out = call(w, "aten.einsum.default", args, 2);
    const sym_id *size = out.u.tensor.meta->size;
    assert_true(size[0] == b && size[1] == num(w, 2) && size[2] == num(w, 5));
    args[0].u.text = STR("bij,bjk->bq");
    assert_refused(w, "aten.einsum.default", args, 2,
                   "einsum(): output subscript q does not appear in the equation for any input "
                   "operand");
}

/* --- Convolutions and pooling --- */

/* resnet18's first layers: the questions of cuDNN's choice, in its words. */
static void test_convolution(void **state)
{
    struct world *w = *state;
    struct value two[2], three[2], one[2], zero[2];
    sym_id n = symbol(w, "n", 4), s = symbol(w, "s", 224);
    struct value args[] = { TENSOR(w, F32, n, num(w, 3), s, s),
                            TENSOR(w, F32, num(w, 64), num(w, 3), num(w, 7), num(w, 7)),
                            value_none(),
                            pair(w, two, 2, 2),
                            pair(w, three, 3, 3),
                            pair(w, one, 1, 1),
                            value_sym(VALUE_BOOL, SYM_ID_FALSE),
                            pair(w, zero, 0, 0),
                            value_int(SYM_ID_ONE) };
    struct value out = call(w, "aten.convolution.default", args, 9);
    assert_int_equal(out.u.tensor.meta->ndim, 4);
    struct buf input = BUF_INIT, result = BUF_INIT;
    struct str name = sym_name(w->pool, s);
    buf_printf(&input, "3*%.*s**2 <= 2147483647", STR_ARG(name));
    buf_printf(&result, "((((%.*s - 1)//2)) + 1)*(64*(((%.*s - 1)//2)) + 64) <= 2147483647",
               STR_ARG(name), STR_ARG(name));
    assert_guard(w, 0, buf_str(&input));
    assert_guard(w, 1, buf_str(&result));
    assert_int_equal(env_n_guards(w->env), 2);
    buf_release(&input);
    buf_release(&result);

    args[8] = value_int(num(w, 3));
    assert_refused(w, "aten.convolution.default", args, 9,
                   "Given groups=3, expected weight to be divisible by 3 at dimension 0, but got "
                   "weight of size [[64, 3, 7, 7]] instead");
}

static void test_max_pool(void **state)
{
    struct world *w = *state;
    struct value kernel[2], stride[2], padding[2];
    struct value args[] = { TENSOR(w, F32, num(w, 1), num(w, 2), num(w, 9), num(w, 9)),
                            pair(w, kernel, 3, 3), pair(w, stride, 2, 2), pair(w, padding, 1, 1) };
    assert_prints(w, call(w, "aten.max_pool2d_with_indices.default", args, 4),
                  "(f32[1, 2, 5, 5][50, 25, 5, 1]cuda:0, i64[1, 2, 5, 5][50, 25, 5, 1]cuda:0)");
    padding[0] = value_int(num(w, 2));
    assert_refused(w, "aten.max_pool2d_with_indices.default", args, 4,
                   "pad should be at most half of effective kernel size, but got pad=2, "
                   "kernel_size=3 and dilation=1");
}

/* --- Norms and attention --- */

static void test_layer_norm(void **state)
{
    struct world *w = *state;
    sym_id n = symbol(w, "n", 5);
    struct value shape = value_int(num(w, 8)),
                 eps = value_sym(VALUE_FLOAT, sym_float(w->pool, 1e-5));
    struct value args[] = { TENSOR(w, F16, n, num(w, 8)), value_items(VALUE_LIST, &shape, 1),
                            TENSOR(w, F16, num(w, 8)), TENSOR(w, F16, num(w, 8)), eps };
    struct value out = call(w, "aten.native_layer_norm.default", args, 5);
    assert_int_equal(out.n, 3);
    assert_int_equal(out.u.items[0].u.tensor.meta->dtype, DTYPE_F16);
    assert_int_equal(out.u.items[1].u.tensor.meta->dtype, DTYPE_F32); /* CUDA's statistics */
    assert_int_equal(out.u.items[1].u.tensor.meta->ndim, 2);
}

static void test_attention(void **state)
{
    struct world *w = *state;
    struct value q = TENSOR(w, F32, num(w, 2), num(w, 4), num(w, 40), num(w, 64));
    struct value zero = value_sym(VALUE_FLOAT, sym_float(w->pool, 0));
    struct value args[] = { q, q, q, value_none(), value_sym(VALUE_BOOL, SYM_ID_TRUE), zero };
    assert_prints(w, call(w, "aten._scaled_dot_product_efficient_attention.default", args, 6),
                  "(f32[2, 4, 40, 64][10240, 64, 256, 1]cuda:0, f32[2, 4, 64][256, 64, 1]cuda:0, "
                  "i64[][]cuda:0, i64[][]cuda:0)");
    /* float32 goes to that kernel, half precision to flash attention. */
    assert_prints(w, call(w, "aten.scaled_dot_product_attention.default", args, 3),
                  "f32[2, 4, 40, 64][10240, 64, 256, 1]cuda:0");
    struct value half = TENSOR(w, F16, num(w, 2), num(w, 4), num(w, 40), num(w, 64));
    struct value halves[] = { half, half, half };
    assert_prints(w, call(w, "aten.scaled_dot_product_attention.default", halves, 3),
                  "f16[2, 4, 40, 64][10240, 2560, 64, 1]cuda:0");
    assert_int_equal(env_n_guards(w->env), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mm, setup, teardown),
        cmocka_unit_test_setup_teardown(test_linear, setup, teardown),
        cmocka_unit_test_setup_teardown(test_einsum, setup, teardown),
        cmocka_unit_test_setup_teardown(test_convolution, setup, teardown),
        cmocka_unit_test_setup_teardown(test_max_pool, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layer_norm, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attention, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
