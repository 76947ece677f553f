/* Views and factories: sizes, strides, and the guards that PyTorch adds for them, in its order. */
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static sym_id symbol(struct world *w, const char *name, int64_t hint)
{
    struct sym_range range = { SYM_ID_TWO, SYM_ID_INT_OO };
    return env_adopt_symbol(w->env, str_of(name), sym_integer(w->pool, hint), range, str_of(name));
}

static struct value tensor(struct world *w, const sym_id *size, uint32_t n)
{
    sym_id stride[8] = { 0 }, next = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        stride[i] = next;
        next = sym_mul(w->pool, next, size[i]);
    }
    const struct tensor_meta meta = { .dtype = DTYPE_F32,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = n,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

static struct value number(struct world *w, int64_t n)
{
    return value_int(sym_integer(w->pool, n));
}

static struct value list(struct value *items, uint32_t n)
{
    return value_items(VALUE_LIST, items, n);
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

static void assert_guard(struct world *w, uint32_t i, const char *expected)
{
    struct buf text = BUF_INIT;
    assert_true(i < env_n_guards(w->env));
    sym_print(w->pool, env_guard_at(w->env, i)->expr, &text);
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

/* As torch 2.11 answers x.view(5, -1) of (50, 5), both sizes dynamic. */
static void test_view(void **state)
{
    static const char *const guards[] = {
        "Eq(Mod(s13*s82, 5), 0)",
        "Eq(s13*s82, 5*(((s13*s82)//5)))",
        "Ne(s13, 5)",
        "Eq(Mod(s13, 5), 0)",
        "Ne(((s13*s82)//5), (s13//5))",
        "Ne(Mod((s13//5), ((s13*s82)//5)), 0)",
        "Eq(Mod(s82*((s13//5)), ((s13*s82)//5)), 0)",
        "Ne(5*s82*((s13//5)), 0)",
        "Ne((s13//5), 1)",
        "Ne((s13//5), 0)",
        "Eq(s82*((s13//5)), ((s13*s82)//5))",
    };
    struct world *w = *state;
    const sym_id size[] = { symbol(w, "s13", 50), symbol(w, "s82", 5) };
    struct value shape[] = { number(w, 5), number(w, -1) };
    const struct value args[] = { tensor(w, size, 2), list(shape, 2) };
    assert_call(w, "aten.view.default", args, 2, "f32[5, s82*((s13//5))][s82*((s13//5)), 1]cpu");
    const uint32_t n = sizeof guards / sizeof guards[0];
    assert_int_equal(env_n_guards(w->env), n);
    for (uint32_t i = 0; i < n; i++)
        assert_guard(w, i, guards[i]);
}

/* The bug of a real export: a shape that only a copy has. */
static void test_view_refused(void **state)
{
    struct world *w = *state;
    const sym_id size[] = { symbol(w, "s43", 6), symbol(w, "s53", 4), sym_integer(w->pool, 32) };
    struct value dims[] = { tensor(w, size, 3), number(w, 0), number(w, 1) }, turned;
    assert_int_equal(ops_call(w->ops, STR("aten.transpose.int"),
                              &(struct arguments){ dims, 3, NULL, 0 }, &turned),
                     OP_DONE);
    struct value shape[] = { value_int(sym_mul(w->pool, size[0], size[1])), number(w, 32) };
    const struct value args[] = { turned, list(shape, 2) };
    assert_call(
        w, "aten.view.default", args, 2,
        "ValueError: Cannot view a tensor with shape torch.Size([s53, s43, 32]) and strides "
        "(32, 32*s53, 1) as a tensor with shape (s43*s53, 32)!");
    assert_call(w, "aten.reshape.default", args, 2, "f32[s43*s53, 32][32, 1]cpu");
}

static bool has_guard(struct world *w, const char *expected)
{
    struct buf text = BUF_INIT;
    bool found = false;
    for (uint32_t i = 0; i < env_n_guards(w->env) && !found; i++) {
        buf_clear(&text);
        sym_print(w->pool, env_guard_at(w->env, i)->expr, &text);
        found = str_is(buf_str(&text), expected);
    }
    buf_release(&text);
    return found;
}

/* Reshapes a transposed matrix to rows of ten. */
static void call_reshape(struct world *w, const sym_id *size)
{
    const struct value x = tensor(w, size, 2), dims[] = { x, number(w, 0), number(w, 1) };
    struct value turned, ret;
    assert_int_equal(ops_call(w->ops, STR("aten.transpose.int"),
                              &(struct arguments){ dims, 3, NULL, 0 }, &turned),
                     OP_DONE);
    sym_id rows =
        sym_floordiv(w->pool, sym_mul(w->pool, size[0], size[1]), sym_integer(w->pool, 10));
    struct value shape[] = { value_int(rows), number(w, 10) };
    const struct value args[] = { turned, list(shape, 2) };
    assert_int_equal(ops_call(w->ops, STR("aten.reshape.default"),
                              &(struct arguments){ args, 2, NULL, 0 }, &ret),
                     OP_DONE);
}

/* C++ has the number on the left when it computes strides, but not in a formula of autograd. */
static void test_reshape_in_backward(void **state)
{
    struct world *w = *state;
    const sym_id size[] = { symbol(w, "s13", 20), symbol(w, "s82", 30) };
    const sym_id other[] = { symbol(w, "s5", 40), symbol(w, "s6", 60) };
    call_reshape(w, size);
    assert_true(has_guard(w, "10 < s13"));
    ops_set_backward(w->ops, true);
    call_reshape(w, other);
    ops_set_backward(w->ops, false);
    assert_true(has_guard(w, "s5 > 10"));
    assert_false(has_guard(w, "10 < s5"));
}

/* A plain int on the left turns the comparison round, except in C++. */
static void test_slice(void **state)
{
    struct world *w = *state;
    const sym_id size[] = { symbol(w, "s13", 20), symbol(w, "s82", 30) };
    const struct value x = tensor(w, size, 2);
    const struct value part[] = { x, number(w, 0), number(w, 1), number(w, 3) };
    assert_call(w, "aten.slice.Tensor", part, 4, "f32[2, s82][s82, 1]cpu");
    assert_guard(w, 0, "s13 >= 3");
    const struct value from_end[] = { x, number(w, 1), number(w, -10), number(w, -2) };
    assert_call(w, "aten.slice.Tensor", from_end, 4, "f32[s13, 8][s82, 1]cpu");
    assert_guard(w, 1, "-s82 <= -10");
    const struct value narrowed[] = { x, number(w, 1), number(w, 11), number(w, 2) };
    assert_call(w, "aten.narrow.default", narrowed, 4, "f32[s13, 2][s82, 1]cpu");
    assert_guard(w, 2, "11 <= s82");
    assert_guard(w, 3, "11 <= s82 - 2");
}

/* As torch 2.13 answers: matrix_H takes matrices only, the others batches of them; all take 0-D
 * tensors. */
static void test_matrix_transpose(void **state)
{
    static const char *const names[] = { "aten.mT.default", "aten.mH.default",
                                         "aten.adjoint.default", "aten.matrix_H.default" };
    struct world *w = *state;
    const sym_id size[] = { sym_integer(w->pool, 2), sym_integer(w->pool, 3),
                            sym_integer(w->pool, 4) };
    const struct value scalar = tensor(w, NULL, 0), vector = tensor(w, size, 1);
    const struct value matrix = tensor(w, size, 2), batch = tensor(w, size, 3);
    for (uint32_t i = 0; i < 4; i++) {
        assert_call(w, names[i], &scalar, 1, "f32[][]cpu");
        assert_call(w, names[i], &matrix, 1, "f32[3, 2][1, 3]cpu");
        if (i < 3)
            assert_call(w, names[i], &batch, 1, "f32[2, 4, 3][12, 1, 4]cpu");
    }
    assert_call(w, names[0], &vector, 1,
                "RuntimeError: tensor.mT is only supported on matrices or batches of matrices. Got "
                "1-D tensor.");
    assert_call(w, names[1], &vector, 1,
                "RuntimeError: tensor.mH is only supported on matrices or batches of matrices. Got "
                "1-D tensor.");
    assert_call(w, names[2], &vector, 1,
                "RuntimeError: tensor.adjoint() is only supported on matrices or batches of "
                "matrices. Got 1-D tensor.");
    assert_call(w, names[3], &vector, 1,
                "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 1-D "
                "tensor.");
    assert_call(w, names[3], &batch, 1,
                "RuntimeError: tensor.H is only supported on matrices (2-D tensors). Got 3-D "
                "tensor. For batches of matrices, consider using tensor.mH");
    assert_call(w, "aten.numpy_T.default", &batch, 1, "f32[4, 3, 2][1, 4, 12]cpu");
}

/* .mH and its like set the conjugate bit of complex tensors, also of those without dimensions. */
static void test_matrix_transpose_conj(void **state)
{
    struct world *w = *state;
    struct value x = tensor(w, NULL, 0), ret;
    struct tensor_meta meta = *x.u.tensor.meta;
    meta.dtype = DTYPE_C64;
    x = value_tensor(ops_new_tensor(w->ops, &meta));
    assert_int_equal(
        ops_call(w->ops, STR("aten.mH.default"), &(struct arguments){ &x, 1, NULL, 0 }, &ret),
        OP_DONE);
    assert_true(ret.u.tensor.meta->conj);
    assert_int_equal(
        ops_call(w->ops, STR("aten.mT.default"), &(struct arguments){ &x, 1, NULL, 0 }, &ret),
        OP_DONE);
    assert_false(ret.u.tensor.meta->conj);
}

static void test_joined(void **state)
{
    struct world *w = *state;
    const sym_id a[] = { symbol(w, "s13", 5), symbol(w, "s82", 5) };
    const sym_id b[] = { symbol(w, "s0", 5), symbol(w, "s51", 5) };
    struct value items[] = { tensor(w, a, 2), tensor(w, b, 2) };
    const struct value args[] = { list(items, 2), number(w, 1) };
    assert_call(w, "aten.cat.default", args, 2, "f32[s13, s51 + s82][s51 + s82, 1]cpu");
    assert_int_equal(env_n_guards(w->env), 1);
    assert_guard(w, 0, "Eq(s0, s13)");
}

/* The kernels' words, not those of the references. */
static void test_eager(void **state)
{
    struct world *w = *state;
    const sym_id size[] = { sym_integer(w->pool, 3), sym_integer(w->pool, 4) };
    struct value x = tensor(w, size, 2), shape[] = { number(w, 2), number(w, -1), number(w, 5) };
    ops_set_eager(w->ops, true);
    const struct value args[] = { x, list(shape, 3) };
    assert_call(w, "aten.view.default", args, 2,
                "RuntimeError: shape '[2, -1, 5]' is invalid for input of size 12");
    const struct value selected[] = { x, number(w, 1), number(w, 4) };
    assert_call(w, "aten.select.int", selected, 3,
                "IndexError: select(): index 4 out of range for tensor of size [3, 4] at dimension "
                "1");
    const struct value range[] = { number(w, 0), number(w, 3), number(w, -2) };
    assert_call(w, "aten.arange.start_step", range, 3,
                "RuntimeError: upper bound and lower bound inconsistent with step sign");
}

/* A row of 4 that is read n times over itself: releases since 2.13 clone it. */
static void test_scatter_overlapping(void **state)
{
    (void)state;
    static const struct {
        int torch;
        const char *result;
    } rows[] = { { 211, "f32[s1, 4][0, 1]cpu" }, { 213, "f32[s1, 4][4, 1]cpu" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = ERR_INIT;
        struct env_settings settings = ENV_SETTINGS_DEFAULT;
        settings.torch = rows[i].torch;
        struct world w = { .env = shape_env_new(&settings, &err) };
        assert_non_null(w.env);
        w.ops = ops_new(w.env, &err);
        w.pool = env_pool(w.env);
        const sym_id size[] = { symbol(&w, "s1", 5), sym_integer(w.pool, 4) };
        struct value row = tensor(&w, &size[1], 1), shape[] = { value_int(size[0]), number(&w, 4) };
        const struct value expand[] = { row, list(shape, 2) };
        struct value base = value_none();
        assert_int_equal(ops_call(w.ops, STR("aten.expand.default"),
                                  &(struct arguments){ expand, 2, NULL, 0 }, &base),
                         OP_DONE);
        const struct value args[] = { base, base };
        assert_call(&w, "aten.slice_scatter.default", args, 2, rows[i].result);
        ops_free(w.ops);
        shape_env_free(w.env);
    }
}

/* ---- Views of numbers ---- */

/* A layout of at most four dimensions. */
struct numbers {
    uint32_t n;
    int64_t size[4], stride[4];
};

static int64_t elements_of(const struct numbers *x)
{
    int64_t ret = 1;
    for (uint32_t i = 0; i < x->n; i++)
        ret *= x->size[i];
    return ret;
}

/* Returns the offset of the element with that number, in order. */
static int64_t offset_of(const struct numbers *x, int64_t number)
{
    int64_t ret = 0;
    for (uint32_t i = x->n; i-- > 0; number /= x->size[i])
        ret += number % x->size[i] * x->stride[i];
    return ret;
}

/* Sets the strides that give `to` the elements of `from` in order, by looking at all of them. Those
 * of dimensions of size 1 are not set. */
static bool find_strides(const struct numbers *from, struct numbers *to)
{
    int64_t step = 1;
    for (uint32_t i = to->n; i-- > 0; step *= to->size[i])
        to->stride[i] = to->size[i] > 1 ? offset_of(from, step) : 0;
    for (int64_t k = 0; k < elements_of(from); k++)
        if (offset_of(from, k) != offset_of(to, k))
            return false;
    return true;
}

static uint32_t draw(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % n;
}

/* Draws a tensor with permuted, expanded, padded and single dimensions. */
static void draw_layout(uint32_t *state, struct numbers *x)
{
    int64_t next = 1;
    x->n = 1 + draw(state, 4);
    for (uint32_t i = x->n; i-- > 0;) {
        x->size[i] = 1 + draw(state, 4);
        x->stride[i] = draw(state, 8) == 0 ? 0 : next;
        next *= x->size[i] + (draw(state, 6) == 0);
    }
    const uint32_t a = draw(state, x->n), b = draw(state, x->n);
    if (draw(state, 3) == 0) {
        const int64_t size = x->size[a], stride = x->stride[a];
        x->size[a] = x->size[b], x->stride[a] = x->stride[b];
        x->size[b] = size, x->stride[b] = stride;
    }
}

/* Draws sizes with as many elements: factors of the number, or anything. */
static void draw_sizes(uint32_t *state, int64_t elements, struct numbers *x)
{
    x->n = 1 + draw(state, 4);
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t size = i + 1 == x->n ? elements : 1 + draw(state, 6);
        while (elements % size != 0)
            size--;
        x->size[i] = size;
        elements /= size;
    }
}

static void assert_viewed(struct world *w, struct value x, const struct numbers *to,
                          const sym_id *shape, bool viewable)
{
    struct value items[4], ret = value_none();
    for (uint32_t i = 0; i < to->n; i++)
        items[i] = value_int(shape[i]);
    const struct value args[] = { x, list(items, to->n) };
    const enum op_outcome outcome =
        ops_call(w->ops, STR("aten.view.default"), &(struct arguments){ args, 2, NULL, 0 }, &ret);
    assert_int_equal(outcome, viewable ? OP_DONE : OP_REFUSED);
    for (uint32_t i = 0; i < to->n && viewable; i++) {
        assert_true(ret.u.tensor.meta->size[i] == sym_integer(w->pool, to->size[i]));
        if (to->size[i] > 1)
            assert_true(ret.u.tensor.meta->stride[i] == sym_integer(w->pool, to->stride[i]));
    }
}

/* Views of eager tensors exist where some strides give their elements, and have those. */
static void test_view_of_numbers(void **state)
{
    struct world *w = *state;
    uint32_t random = 1, inferred = 0;
    ops_set_eager(w->ops, true);
    for (int k = 0; k < 20000; k++) {
        struct numbers from, to;
        sym_id size[4], stride[4], shape[4];
        draw_layout(&random, &from);
        draw_sizes(&random, elements_of(&from), &to);
        for (uint32_t i = 0; i < from.n; i++) {
            size[i] = sym_integer(w->pool, from.size[i]);
            stride[i] = sym_integer(w->pool, from.stride[i]);
        }
        for (uint32_t i = 0; i < to.n; i++)
            shape[i] = sym_integer(w->pool, to.size[i]);
        if (draw(&random, 4) == 0)
            shape[draw(&random, to.n)] = SYM_ID_MINUS_ONE, inferred++;
        const struct tensor_meta meta = { .dtype = DTYPE_F32,
                                          .device = { DEVICE_CPU, -1 },
                                          .ndim = from.n,
                                          .size = size,
                                          .stride = stride,
                                          .offset = SYM_ID_ZERO };
        const struct value x = value_tensor(ops_new_tensor(w->ops, &meta));
        assert_viewed(w, x, &to, shape, find_strides(&from, &to));
    }
    assert_true(inferred > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_view, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_of_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reshape_in_backward, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_matrix_transpose, setup, teardown),
        cmocka_unit_test_setup_teardown(test_matrix_transpose_conj, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined, setup, teardown),
        cmocka_unit_test_setup_teardown(test_eager, setup, teardown),
        cmocka_unit_test(test_scatter_overlapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
