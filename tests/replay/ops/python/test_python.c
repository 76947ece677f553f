/* Calls as Python wrote them: names, binding, overloads, indexing, numbers, subgraphs. */
#include "replay/ops/layers.h"
#include "replay/ops/python/python.h"

#include "tests/harness.h"

struct state {
    struct shape_env *env;
    struct sym_pool *pool;
    struct ops *ops;
    sym_id s, t; /* dynamic sizes with the hints 8 and 6 */
};

static int setup(void **arg)
{
    static struct state state;
    struct err err = { 0 };
    state.env = shape_env_new(NULL, &err);
    assert_non_null(state.env);
    state.pool = env_pool(state.env);
    state.ops = ops_new(state.env, &err);
    assert_non_null(state.ops);
    struct symbol_request request = { .value = sym_integer(state.pool, 8),
                                      .source = STR("L['x'].size()[0]"),
                                      .dynamic = DIM_DUCK,
                                      .positive = true };
    state.s = env_create_symbol(state.env, &request);
    request.value = sym_integer(state.pool, 6);
    request.source = STR("L['x'].size()[1]");
    state.t = env_create_symbol(state.env, &request);
    assert_true(state.s != SYM_NONE && state.t != SYM_NONE);
    *arg = &state;
    return 0;
}

static int teardown(void **arg)
{
    struct state *state = *arg;
    ops_free(state->ops);
    shape_env_free(state->env);
    return 0;
}

/* A contiguous f32 on cuda:0. */
static struct value tensor(struct state *st, const sym_id *size, uint32_t n)
{
    sym_id stride[8], next = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        stride[i] = next;
        next = sym_mul(st->pool, next, size[i]);
    }
    struct tensor_meta meta = { .dtype = DTYPE_F32,
                                .device = { DEVICE_CUDA, 0 },
                                .ndim = n,
                                .size = size,
                                .stride = stride,
                                .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(st->ops, &meta));
}

static struct value integer(struct state *st, int64_t n)
{
    return value_int(sym_integer(st->pool, n));
}

static struct value real(struct state *st, double x)
{
    return value_sym(VALUE_FLOAT, sym_float(st->pool, x));
}

static void assert_value(struct state *st, struct value value, const char *expected)
{
    struct buf text = BUF_INIT;
    value_print(st->pool, value, &text);
    buf_putc(&text, 0);
    assert_string_equal(text.p, expected);
    buf_release(&text);
}

static struct value function(struct state *st, const char *name, const struct value *args,
                             uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct value ret;
    enum op_outcome outcome = ops_call_function(
        st->ops, str_of(name), &(struct arguments){ args, n, keywords, n_keywords }, &ret);
    if (outcome != OP_DONE)
        print_message("%s: %.*s\n", name, STR_ARG(ops_error(st->ops)->text));
    assert_int_equal(outcome, OP_DONE);
    return ret;
}
#define CALL(st, name, ...)                             \
    function(st, name, (struct value[]){ __VA_ARGS__ }, \
             sizeof((struct value[]){ __VA_ARGS__ }) / sizeof(struct value), NULL, 0)

static struct value method(struct state *st, const char *name, const struct value *args, uint32_t n)
{
    struct value ret;
    enum op_outcome outcome =
        ops_call_method(st->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret);
    if (outcome != OP_DONE)
        print_message("%s: %.*s\n", name, STR_ARG(ops_error(st->ops)->text));
    assert_int_equal(outcome, OP_DONE);
    return ret;
}
#define METHOD(st, name, ...)                         \
    method(st, name, (struct value[]){ __VA_ARGS__ }, \
           sizeof((struct value[]){ __VA_ARGS__ }) / sizeof(struct value))

static struct value slice(struct state *st, int64_t from, int64_t to)
{
    struct value *items = ops_values(st->ops, 3);
    items[0] = from == INT64_MIN ? value_none() : integer(st, from);
    items[1] = to == INT64_MAX ? value_none() : integer(st, to);
    items[2] = value_none();
    return (struct value){ .kind = VALUE_SLICE, .n = 3, .u.items = items };
}

static void test_rows_are_sorted(void **arg)
{
    (void)arg;
    for (size_t i = 1; i < python_count(); i++)
        assert_true(strcmp(python_at(i - 1)->name, python_at(i)->name) < 0);
}

static void test_numbers(void **arg)
{
    struct state *st = *arg;
    struct value s = value_int(st->s), two = integer(st, 2);
    assert_value(st, CALL(st, "operator.add", s, two), "Sym(s77 + 2)");
    assert_value(st, CALL(st, "operator.floordiv", s, two), "Sym((s77//2))");
    assert_value(st, CALL(st, "operator.truediv", two, s), "Sym(IntTrueDiv(2, s77))");
    assert_value(st, CALL(st, "operator.mul", s, real(st, 0.5)), "Sym(0.5*ToFloat(s77))");
    assert_value(st, CALL(st, "torch.sym_max", s, two), "Sym(Max(2, s77))");
    assert_value(st, CALL(st, "torch.sym_sum", s, two, s), "Sym(2*s77 + 2)");
    assert_value(st, CALL(st, "math_ceil", real(st, 2.5)), "3");
    assert_value(st, CALL(st, "operator.pow", s, two), "Sym(s77**2)");
    assert_value(st, METHOD(st, "__eq__", two, integer(st, 2)), "True");
    assert_value(st, CALL(st, "operator.eq", integer(st, 9), s), "Sym(Eq(s77, 9))");
    assert_value(st, CALL(st, "operator.lt", integer(st, 4), s), "Sym(s77 > 4)");
    assert_value(st, CALL(st, "operator.ge", integer(st, 4), s), "Sym(s77 <= 4)");
    assert_value(st, CALL(st, "operator.lt", s, integer(st, 4)), "Sym(s77 < 4)");
}

static void test_methods(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t, sym_integer(st->pool, 4) }, 3);
    struct value s = value_int(st->s);
    assert_value(st, METHOD(st, "size", x), "(Sym(s77), Sym(s27), 4)");
    assert_value(st, METHOD(st, "size", x, integer(st, -1)), "4");
    assert_value(st, METHOD(st, "view", x, s, integer(st, -1)), "f32[s77, 4*s27][4*s27, 1]cuda:0");
    assert_value(st, METHOD(st, "permute", x, integer(st, 2), integer(st, 0), integer(st, 1)),
                 "f32[4, s77, s27][1, 4*s27, 4]cuda:0");
    assert_value(st, METHOD(st, "transpose", x, integer(st, 0), integer(st, 1)),
                 "f32[s27, s77, 4][4, 4*s27, 1]cuda:0");
    assert_value(st, METHOD(st, "half", x), "f16[s77, s27, 4][4*s27, 4, 1]cuda:0");
    assert_int_equal(METHOD(st, "float", x).u.tensor.storage, x.u.tensor.storage);
    assert_value(
        st, CALL(st, "getattr", x, ((struct value){ .kind = VALUE_STRING, .u.text = STR("mT") })),
        "f32[s77, 4, s27][4*s27, 1, 4]cuda:0");
}

static void test_getitem(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t, sym_integer(st->pool, 4) }, 3);
    struct value ellipsis = { .kind = VALUE_ELLIPSIS };
    struct value part[] = { ellipsis, value_none(), slice(st, 1, 3) };
    assert_value(st, CALL(st, "operator.getitem", x, value_items(VALUE_TUPLE, part, 3)),
                 "f32[s77, s27, 1, 2][4*s27, 4, 4, 1]cuda:0");
    struct value whole[] = { slice(st, INT64_MIN, INT64_MAX), integer(st, -1) };
    assert_value(st, CALL(st, "operator.getitem", x, value_items(VALUE_TUPLE, whole, 2)),
                 "f32[s77, 4][4*s27, 1]cuda:0");
    struct value index = METHOD(st, "long", tensor(st, (sym_id[]){ st->t }, 1));
    struct value advanced[] = { slice(st, INT64_MIN, INT64_MAX), index };
    assert_value(st, CALL(st, "operator.getitem", x, value_items(VALUE_TUPLE, advanced, 2)),
                 "f32[s77, s27, 4][4*s27, 4, 1]cuda:0");
    struct value many[] = { integer(st, 0), integer(st, 0), integer(st, 0), integer(st, 0) };
    struct value ret, args[] = { x, value_items(VALUE_TUPLE, many, 4) };
    assert_int_equal(ops_call_function(st->ops, STR("operator.getitem"),
                                       &(struct arguments){ args, 2, NULL, 0 }, &ret),
                     OP_REFUSED);
    assert_string_equal(ops_error(st->ops)->type.p, "IndexError");
}

static void test_reflected(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s }, 1);
    assert_value(st, CALL(st, "operator.sub", integer(st, 1), x), "f32[s77][1]cuda:0");
    assert_value(st, CALL(st, "operator.lt", value_int(st->s), x), "b8[s77][1]cuda:0");
    assert_value(st, CALL(st, "operator.pow", integer(st, 2), x), "f32[s77][1]cuda:0");
    assert_int_equal(CALL(st, "operator.iadd", x, integer(st, 1)).u.tensor.storage,
                     x.u.tensor.storage);
}

/* Gradients, duals and vmap's slices, as torch.func's transforms call them. */
static void test_transforms(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t }, 2);
    struct value list = value_items(VALUE_LIST, &x, 1);
    assert_value(st, CALL(st, "torch._C._functorch._wrap_for_grad", x, integer(st, 1)),
                 "f32[s77, s27][s27, 1]cuda:0");
    assert_value(st, CALL(st, "torch._functorch.eager_transforms._autograd_grad", list, list),
                 "(f32[s77, s27][s27, 1]cuda:0,)");
    assert_value(st, CALL(st, "torch._functorch.predispatch._unpack_dual", x, integer(st, 0)),
                 "(f32[s77, s27][s27, 1]cuda:0, f32[s77, s27][s27, 1]cuda:0)");
    struct value narrow = METHOD(st, "narrow", x, integer(st, 1), integer(st, 0), integer(st, 2));
    assert_value(st,
                 CALL(st, "torch._functorch.predispatch._remove_batch_dim", narrow, integer(st, 1),
                      integer(st, 3), integer(st, 0)),
                 "f32[3, s77, 2][s27*s77, s27, 1]cuda:0");
}

/* Calls on slices are calls on the whole batch: mul() has the batch in front, a size of which no
 * slice knows is broadcast, and what no rule has leaves vmap contiguous. */
static void test_batched(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, sym_integer(st->pool, 3), st->t }, 3);
    struct value y = tensor(st, (sym_id[]){ sym_integer(st->pool, 3) }, 1);
    struct value level = integer(st, 1), size = value_int(st->t), zero = integer(st, 0);
    struct value slice =
        CALL(st, "torch._functorch.predispatch._add_batch_dim", x, integer(st, 2), level);
    assert_value(st, slice, "f32[s77, 3][3*s27, s27]cuda:0");
    struct value product = CALL(st, "operator.mul", slice, y);
    assert_value(st, product, "f32[s77, 3][3*s27, s27]cuda:0");
    assert_value(
        st, CALL(st, "torch._functorch.predispatch._remove_batch_dim", product, level, size, zero),
        "f32[s27, s77, 3][1, 3*s27, s27]cuda:0");
    struct value sum = METHOD(st, "sum", slice, integer(st, -1));
    assert_value(st, sum, "f32[s77][1]cuda:0");
    assert_value(st,
                 CALL(st, "torch._functorch.predispatch._remove_batch_dim", sum, level, size,
                      integer(st, 1)),
                 "f32[s77, s27][1, s77]cuda:0");
    struct value pair[] = { METHOD(st, "exp", slice),
                            METHOD(st, "select", x, integer(st, 2), zero) };
    struct value joined = CALL(st, "torch.stack", value_items(VALUE_LIST, pair, 2));
    assert_value(st, joined, "f32[2, s77, 3][3*s77, 3, 1]cuda:0");
    assert_value(
        st, CALL(st, "torch._functorch.predispatch._remove_batch_dim", joined, level, size, zero),
        "f32[s27, 2, s77, 3][6*s77, 3*s77, 3, 1]cuda:0");
    struct value inner =
        CALL(st, "torch._functorch.predispatch._add_batch_dim", slice, zero, integer(st, 2));
    struct value again = METHOD(st, "unsqueeze", METHOD(st, "neg", inner), zero);
    assert_value(st, again, "f32[1, 3][3*s27, s27]cuda:0");
    again = CALL(st, "torch._functorch.predispatch._remove_batch_dim", again, integer(st, 2),
                 value_int(st->s), zero);
    assert_value(
        st, CALL(st, "torch._functorch.predispatch._remove_batch_dim", again, level, size, zero),
        "f32[s27, s77, 1, 3][1, 3*s27, 3*s27, s27]cuda:0");
}

/* Where only weights are batched, the statistics of the input are not. */
static void test_batched_weights(void **arg)
{
    struct state *st = *arg;
    struct value three = integer(st, 3), none = value_none();
    struct value x = tensor(st, (sym_id[]){ st->s, three.u.sym, sym_integer(st->pool, 5) }, 3);
    struct value rows = METHOD(st, "transpose", x, integer(st, 1), integer(st, 2));
    struct value weight =
        CALL(st, "torch._functorch.predispatch._add_batch_dim",
             tensor(st, (sym_id[]){ st->t, three.u.sym }, 2), integer(st, 0), integer(st, 1));
    struct value eps = real(st, 1e-5), training = value_sym(VALUE_BOOL, SYM_ID_TRUE);
    struct value by_rule[] = {
        CALL(st, "torch.native_batch_norm", x, weight, none, none, none, training, eps, eps),
        CALL(st, "torch.native_layer_norm", rows, value_items(VALUE_LIST, &three, 1), none, weight,
             eps),
    };
    assert_value(st, by_rule[0],
                 "(f32[s77, 3, 5][15, 5, 1]cuda:0, f32[3][1]cuda:0, f32[3][1]cuda:0)");
    assert_value(
        st, by_rule[1],
        "(f32[s77, 5, 3][15, 3, 1]cuda:0, f32[s77, 5, 1][5, 1, 1]cuda:0, f32[s77, 5, 1][5, 1, 1]cuda:0)");
    for (int i = 0; i < 2; i++) {
        assert_true(by_rule[i].u.items[0].u.tensor.batch);
        assert_false(by_rule[i].u.items[1].u.tensor.batch || by_rule[i].u.items[2].u.tensor.batch);
    }
}

/* A tensor's number among the batched ones has 16 bits: one more is refused, not left unbatched. */
static void test_batched_tensors(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t }, 2), slice = value_none(), ret;
    struct value args[] = { x, integer(st, 0), integer(st, 1) };
    const struct arguments arguments = { args, 3, NULL, 0 };
    const struct str add = STR("torch._functorch.predispatch._add_batch_dim");
    for (uint32_t i = 0; i < UINT16_MAX; i++)
        assert_int_equal(ops_call_function(st->ops, add, &arguments, &slice), OP_DONE);
    assert_int_equal(slice.u.tensor.batch, UINT16_MAX);
    assert_int_equal(ops_call_function(st->ops, add, &arguments, &ret), OP_UNSUPPORTED);
    /* Neither a batching rule nor a call on slices returns a tensor without its batch. */
    assert_int_equal(
        ops_call(st->ops, STR("aten.neg.default"), &(struct arguments){ &slice, 1, NULL, 0 }, &ret),
        OP_UNSUPPORTED);
    assert_int_equal(ops_call(st->ops, STR("aten.sort.default"),
                              &(struct arguments){ &slice, 1, NULL, 0 }, &ret),
                     OP_UNSUPPORTED);
}

static void test_compiled_autograd(void **arg)
{
    struct state *st = *arg;
    struct value grad = tensor(st, (sym_id[]){ st->s, st->t }, 2);
    struct value sizes[] = { value_int(st->t) };
    struct value metadata[] = { value_none(), value_items(VALUE_LIST, sizes, 1) };
    struct value all = value_items(VALUE_TUPLE, metadata, 2);
    struct value grads = value_items(VALUE_LIST, &grad, 1),
                 wanted = value_items(VALUE_LIST, &all, 1);
    assert_value(st,
                 CALL(st, "torch__dynamo_compiled_autograd_ops_validate_outputs", grads, wanted),
                 "[f32[s27][1]cuda:0]");
    assert_value(st,
                 CALL(st, "torch__dynamo_compiled_autograd_ops_AccumulateGrad", grads, grad,
                      value_none(), value_sym(VALUE_BOOL, SYM_ID_FALSE)),
                 "[f32[s77, s27][s27, 1]cuda:0]");
    /* The gradient of a transposed matrix is transposed; what is not needed is None. */
    sym_id four = sym_integer(st->pool, 4);
    struct value mat1 = tensor(st, (sym_id[]){ st->s, four }, 2),
                 mat2 = METHOD(st, "t", tensor(st, (sym_id[]){ st->t, four }, 2));
    struct value needs[] = { value_sym(VALUE_BOOL, SYM_ID_FALSE),
                             value_sym(VALUE_BOOL, SYM_ID_TRUE),
                             value_sym(VALUE_BOOL, SYM_ID_TRUE) };
    struct value wide[] = { value_int(st->s), value_int(four) },
                 tall[] = { value_int(four), value_int(st->t) };
    struct value rows[] = { value_int(four), integer(st, 1) },
                 columns[] = { integer(st, 1), value_int(four) };
    assert_value(st,
                 CALL(st, "torch__dynamo_compiled_autograd_ops_AddmmBackward0", grads,
                      value_items(VALUE_LIST, needs, 3), integer(st, 1), integer(st, 1), mat1,
                      integer(st, 0), value_items(VALUE_LIST, wide, 2),
                      value_items(VALUE_LIST, rows, 2), mat2, integer(st, 0),
                      value_items(VALUE_LIST, tall, 2), value_items(VALUE_LIST, columns, 2)),
                 "[None, f32[s77, 4][4, 1]cuda:0, f32[4, s27][1, 4]cuda:0]");
    struct value ret, none[] = { value_none(), value_none() };
    assert_int_equal(ops_call_function(st->ops,
                                       STR("torch__dynamo_compiled_autograd_ops_validate_outputs"),
                                       &(struct arguments){ none, 2, NULL, 0 }, &ret),
                     OP_UNSUPPORTED);
}

/* Formulas of autograd's nodes (tools/autograd/derivatives.yaml): a gradient has the sizes of the
 * input. */
static void test_autograd_nodes(void **arg)
{
    struct state *st = *arg;
    sym_id st_sizes[] = { st->s, st->t };
    struct value x = tensor(st, st_sizes, 2), row = tensor(st, &st->t, 1),
                 one = tensor(st, NULL, 0), zero = integer(st, 0);
    struct value both[] = { value_int(st->s), value_int(st->t) },
                 turned[] = { value_int(st->t), value_int(st->s) },
                 first[] = { integer(st, 1), value_int(st->t) }, dims[] = { integer(st, 1), zero };
    struct value sizes = value_items(VALUE_LIST, both, 2);
    struct value wide = tensor(st, (sym_id[]){ SYM_ID_ONE, st->t }, 2);
    struct value tanh = { .kind = VALUE_STRING, .u.text = STR("tanh") };
    const struct {
        const char *node, *expected;
        struct value grad, saved[4];
        uint32_t n;
    } rows[] = {
        { "CloneBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { zero }, 0 },
        { "TBackward0", "[f32[s27, s77][1, s27]cuda:0]", x, { zero }, 0 },
        { "TransposeBackward0", "[f32[s27, s77][1, s27]cuda:0]", x, { zero, integer(st, 1) }, 2 },
        { "PermuteBackward0",
          "[f32[s27, s77][1, s27]cuda:0]",
          x,
          { value_items(VALUE_LIST, dims, 2) },
          1 },
        { "SumBackward0", "[f32[s77, s27][0, 0]cuda:0]", one, { sizes }, 1 },
        { "MeanBackward0", "[f32[s77, s27][s27, 1]cuda:0]", one, { integer(st, 48), sizes }, 2 },
        { "ExpandBackward0",
          "[f32[1, s27][s27, 1]cuda:0]",
          x,
          { value_items(VALUE_LIST, first, 2) },
          1 },
        { "ViewBackward0",
          "[f32[s27, s77][s77, 1]cuda:0]",
          x,
          { value_items(VALUE_LIST, turned, 2) },
          1 },
        { "UnsafeViewBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { sizes }, 1 },
        { "UnsqueezeBackward0", "[f32[s27][1]cuda:0]", wide, { zero }, 1 },
        { "SqueezeBackward1",
          "[f32[1, s27][s27, 1]cuda:0]",
          row,
          { zero, value_items(VALUE_LIST, first, 2) },
          2 },
        { "SelectBackward0", "[f32[s77, s27][s27, 1]cuda:0]", row, { zero, zero, sizes }, 3 },
        { "ReluBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { x }, 1 },
        { "TanhBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { x }, 1 },
        { "GeluBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { tanh, x }, 2 },
        { "PowBackward0", "[f32[s77, s27][s27, 1]cuda:0]", x, { integer(st, 3), x }, 2 },
        { "LogSoftmaxBackward0",
          "[f32[s77, s27][s27, 1]cuda:0]",
          x,
          { integer(st, 1), integer(st, 6), x },
          3 },
    };
    struct value need = value_sym(VALUE_BOOL, SYM_ID_TRUE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct value args[6] = { value_items(VALUE_LIST, &rows[i].grad, 1),
                                 value_items(VALUE_LIST, &need, 1) };
        char name[100];
        memcpy(args + 2, rows[i].saved, rows[i].n * sizeof *args);
        snprintf(name, sizeof name, "torch__dynamo_compiled_autograd_ops_%s", rows[i].node);
        assert_value(st, function(st, name, args, rows[i].n + 2, NULL, 0), rows[i].expected);
    }
}

/* The state of random numbers is bytes on the CPU, also for a call on a GPU. */
static void test_random_state(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s }, 1);
    struct value op = { .kind = VALUE_FUNCTION, .u.text = STR("torch.ops.aten.relu.default") };
    assert_value(st, CALL(st, "higher_order.run_and_save_rng_state", op, x),
                 "(u8[16][1]cpu, f32[s77][1]cuda:0)");
    assert_value(st, CALL(st, "higher_order.run_with_rng_state", x, op, x), "f32[s77][1]cuda:0");
}

/* sdpa_kernel() excludes kernels for the calls that follow it, also for calls seen before. */
static void test_chosen_attention(void **arg)
{
    struct state *st = *arg;
    sym_id size[] = { st->s, st->t, sym_integer(st->pool, 16), sym_integer(st->pool, 64) };
    struct value q = METHOD(st, "half", tensor(st, size, 4));
    struct value math = { .kind = VALUE_STRING, .u.text = STR("MATH") };
    assert_value(st, CALL(st, "torch._fused_sdp_choice", q, q, q), "1");
    CALL(st, "torch.nn.attention._sdpa_kernel", value_items(VALUE_LIST, &math, 1));
    assert_value(st, CALL(st, "torch._fused_sdp_choice", q, q, q), "0");
}

static void test_autocast(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->s }, 2);
    struct value enter[] = { { .kind = VALUE_STRING, .u.text = STR("cuda") },
                             { .kind = VALUE_DTYPE, .u.dtype = DTYPE_BF16 },
                             py_bool(true) };
    struct value mode = function(st, "torch.amp.autocast_mode._enter_autocast", enter, 3, NULL, 0);
    assert_value(st, CALL(st, "operator.matmul", x, x), "bf16[s77, s77][s77, 1]cuda:0");
    assert_value(st, METHOD(st, "softmax", METHOD(st, "bfloat16", x), integer(st, -1)),
                 "f32[s77, s77][s77, 1]cuda:0");
    CALL(st, "torch.amp.autocast_mode._exit_autocast", mode);
    assert_value(st, CALL(st, "operator.matmul", x, x), "f32[s77, s77][s77, 1]cuda:0");
}

static enum op_outcome branch(void *user, struct str graph, const struct value *args, uint32_t n,
                              struct value *ret)
{
    struct state *st = user;
    assert_int_equal(n, 1);
    struct value *items = ops_values(st->ops, 1);
    struct value to[] = { args[0], slice(st, 1, INT64_MAX) };
    enum op_outcome outcome = OP_DONE;
    items[0] = args[0];
    if (str_is(graph, "no"))
        outcome = ops_call_function(st->ops, STR("operator.getitem"),
                                    &(struct arguments){ to, 2, NULL, 0 }, items);
    *ret = value_items(VALUE_TUPLE, items, 1);
    return outcome;
}

/* Sizes that the branches do not share become an unbacked symbol. */
static void test_cond(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t }, 2);
    struct value yes = { .kind = VALUE_GRAPH, .u.text = STR("yes") };
    struct value no = { .kind = VALUE_GRAPH, .u.text = STR("no") };
    struct value operands = value_items(VALUE_TUPLE, &x, 1);
    ops_set_subgraph(st->ops, branch, st);
    assert_value(st, CALL(st, "torch.ops.higher_order.cond", x, yes, yes, operands),
                 "(f32[s77, s27][s27, 1]cuda:0,)");
    assert_value(st, CALL(st, "torch.ops.higher_order.cond", x, yes, no, operands),
                 "(f32[u0, s27][s27, 1]cuda:0,)");
}

static struct value new_float(struct state *st, double hint, const char *source)
{
    return value_sym(VALUE_FLOAT, env_create_unspecified_symbol(st->env, sym_float(st->pool, hint),
                                                                str_of(source), DIM_DYNAMIC));
}

/* Compares the guards that were added since `from`, with the names of their symbols left out. */
static void assert_guards(struct state *st, uint32_t from, const char *expected)
{
    struct buf text = BUF_INIT, kinds = BUF_INIT;
    for (uint32_t i = from; i < env_n_guards(st->env); i++) {
        buf_clear(&text);
        sym_print(st->pool, env_guard_at(st->env, i)->expr, &text);
        for (size_t k = 0; k < text.n; k++) {
            buf_putc(&kinds, text.p[k]);
            while (text.p[k] == 'f' && k + 1 < text.n && is_digit(text.p[k + 1]))
                memmove(&text.p[k + 1], &text.p[k + 2], --text.n - k - 1);
        }
        buf_puts(&kinds, "; ");
    }
    buf_putc(&kinds, '\0');
    assert_string_equal(kinds.p, expected);
    buf_release(&text);
    buf_release(&kinds);
}

/* What torch.nn.functional and the bindings of torch ask of floats, in their order. */
static void test_floats(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, sym_integer(st->pool, 3) }, 2);
    struct value rows[] = { tensor(st, (sym_id[]){ sym_integer(st->pool, 3) }, 1) };
    struct value no = value_sym(VALUE_BOOL, sym_boolean(false)), none = value_none();
    uint32_t from = env_n_guards(st->env);
    CALL(st, "torch.nn.functional.batch_norm", x, rows[0], rows[0], none, none, no,
         new_float(st, 0.1, "momentum"), new_float(st, 1e-5, "eps"));
    assert_guards(st, from, "zf > 0.0; Eq(zf, 1.0e-5); Eq(zf, 0.1); ");
    from = env_n_guards(st->env);
    CALL(st, "torch.nn.functional.dropout", x, new_float(st, 0.5, "p"), no, no);
    assert_guards(st, from, "zf >= 0.0; zf <= 1.0; Eq(zf, 0.5); ");
    from = env_n_guards(st->env);
    struct value items[] = { new_float(st, 2, "a"), new_float(st, 3, "b") };
    CALL(st, "torch.as_tensor", value_items(VALUE_LIST, items, 2));
    assert_guards(st, from, "Eq(zf, 2.0); Eq(zf, 3.0); ");
    from = env_n_guards(st->env);
    CALL(st, "operator.mul", x, new_float(st, 4, "scale"));
    assert_guards(st, from, "");
    struct keyword beta = { STR("beta"), new_float(st, 5, "beta") };
    function(st, "torch.nn.functional.smooth_l1_loss", (struct value[]){ x, x }, 2, &beta, 1);
    assert_guards(st, from, "Ne(zf, 0.0); Eq(zf, 5.0); ");
}

/* A logarithm to a base is the quotient of two, x first. */
static void test_logarithms(void **arg)
{
    struct state *st = *arg;
    uint32_t from = env_n_guards(st->env);
    struct value s = value_int(st->s), two = real(st, 2);
    assert_value(st, CALL(st, "math.log", s), "Sym(OpaqueUnaryFn_log(ToFloat(s77)))");
    assert_value(st, CALL(st, "math.log", s, two),
                 "Sym(FloatTrueDiv(OpaqueUnaryFn_log(ToFloat(s77)), 0.693147180559945))");
    assert_guards(st, from, "");
}

/* A number of dimensions is compared with those of the tensors, and specialized with its sign. */
static void test_tensordot(void **arg)
{
    struct state *st = *arg;
    struct symbol_request request = { .value = sym_integer(st->pool, 2),
                                      .source = STR("L['dims']"),
                                      .dynamic = DIM_DYNAMIC };
    struct value dims = value_int(env_create_symbol(st->env, &request));
    sym_id three = sym_integer(st->pool, 3);
    struct value x = tensor(st, (sym_id[]){ three, st->s, three }, 3);
    struct value y = tensor(st, (sym_id[]){ st->s, three, three }, 3);
    uint32_t from = env_n_guards(st->env);
    struct value product = CALL(st, "torch.functional.tensordot", x, y, dims);
    assert_int_equal(product.u.tensor.meta->ndim, 2);
    assert_guards(st, from, "s64 >= 0; s64 <= 3; Eq(-s64, -2); ");
}

static sym_id new_size(struct state *st, int64_t hint, const char *source)
{
    struct symbol_request request = { .value = sym_integer(st->pool, hint),
                                      .source = str_of(source),
                                      .dynamic = DIM_DYNAMIC };
    return env_create_symbol(st->env, &request);
}

/* A step is compared with 0 for a start or an end that is None (__PySlice_Unpack). */
static void test_symbolic_step(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t }, 2), none = value_none();
    struct value bounds[] = { integer(st, 0), integer(st, 4),
                              value_int(env_create_unspecified_symbol(
                                  st->env, sym_integer(st->pool, 2), STR("step"), DIM_DYNAMIC)) };
    struct value closed = value_items(VALUE_SLICE, bounds, 3);
    uint32_t from = env_n_guards(st->env);
    CALL(st, "operator.getitem", x, closed);
    assert_guards(st, from, "Ne(s34, 0); s34 > 0; s77 >= 4; ");
    bounds[1] = none;
    bounds[2] = value_int(env_create_unspecified_symbol(st->env, sym_integer(st->pool, 2),
                                                        STR("other"), DIM_DYNAMIC));
    from = env_n_guards(st->env);
    CALL(st, "operator.getitem", x, closed);
    assert_guards(st, from, "Ne(s66, 0); s66 >= 0; s66 > 0; ");
}

/* Attention of matrices, which have no dimension for heads. */
static void test_attention_of_matrices(void **arg)
{
    struct state *st = *arg;
    struct value x = METHOD(st, "cpu", tensor(st, (sym_id[]){ st->s, st->t }, 2));
    assert_value(st, CALL(st, "torch._C._nn.scaled_dot_product_attention", x, x, x),
                 "f32[s77, s27][s27, 1]cpu");
}

/* What multi_head_attention_forward() asserts of sizes, which later questions then know. */
static void test_multi_head_attention(void **arg)
{
    struct state *st = *arg;
    sym_id size[] = { st->s, st->t, new_size(st, 32, "embed") }, n = sym_integer(st->pool, 32),
           n3 = sym_integer(st->pool, 96);
    struct value x = tensor(st, size, 3), none = value_none(), no = py_bool(false);
    struct value mask = tensor(st, (sym_id[]){ new_size(st, 8, "rows"), st->s }, 2);
    struct value in[] = { tensor(st, (sym_id[]){ n3, n }, 2), tensor(st, &n3, 1) };
    struct value out[] = { tensor(st, (sym_id[]){ n, n }, 2), tensor(st, &n, 1) };
    struct value args[] = {
        x,    x,  x,           integer(st, 32), integer(st, 4), in[0], in[1], none,
        none, no, real(st, 0), out[0],          out[1],         no,    none,  py_bool(true),
        mask
    };
    uint32_t from = env_n_guards(st->env);
    struct value both = function(st, "torch.nn.functional.multi_head_attention_forward", args,
                                 sizeof args / sizeof *args, NULL, 0);
    assert_int_equal(both.n, 2);
    assert_value(st, both.u.items[0], "f32[s77, s27, 32][32*s27, 32, 1]cuda:0");
    assert_guards(st, from, "Eq(s4, 32); Eq(s30, s77); ");
    args[3] = integer(st, 33);
    struct arguments given = { args, sizeof args / sizeof *args, NULL, 0 };
    assert_int_equal(ops_call_function(st->ops,
                                       STR("torch.nn.functional.multi_head_attention_forward"),
                                       &given, &both),
                     OP_REFUSED);
    assert_str_is(ops_error(st->ops)->text, "was expecting embedding dimension of 33, but got 32");
}

/* torch.masked._ops; the operators of the same last names bind other arguments. */
static void test_masked(void **arg)
{
    struct state *st = *arg;
    struct value x = tensor(st, (sym_id[]){ st->s, st->t }, 2), one = integer(st, 1);
    struct keyword keep[] = { { STR("keepdim"), py_bool(true) },
                              { STR("mask"), tensor(st, (sym_id[]){ st->t }, 1) } };
    struct value norm[] = { x, real(st, 2.0), one };
    assert_value(st, function(st, "torch.masked._ops.norm", norm, 3, keep, 2),
                 "f32[s77, 1][1, 1]cuda:0");
    struct value var[] = { x, one };
    assert_value(st, function(st, "torch.masked._ops.var", var, 2, keep + 1, 1),
                 "f32[s77][1]cuda:0");
    assert_value(st, function(st, "torch.masked._ops.std", var, 2, keep, 1),
                 "f32[s77, 1][1, 1]cuda:0");
    struct value normalize[] = { x, real(st, 2.0), integer(st, 0) };
    assert_value(st, function(st, "torch.masked._ops.normalize", normalize, 3, keep + 1, 1),
                 "f32[s77, s27][s27, 1]cuda:0");
}

/* F.pad(mask, (1, 0), value=True): a bool of Python is an int, which a float may be given as; a
 * SymBool is not. */
static void test_bool_for_float(void **arg)
{
    struct state *st = *arg;
    struct value sides[] = { integer(st, 1), integer(st, 0) };
    struct value args[] = { tensor(st, (sym_id[]){ st->s, st->t }, 2),
                            value_items(VALUE_TUPLE, sides, 2),
                            { .kind = VALUE_STRING, .u.text = STR("constant") },
                            py_bool(true) };
    assert_value(st, function(st, "torch._C._nn.pad", args, 4, NULL, 0),
                 "f32[s77, s27 + 1][s27 + 1, 1]cuda:0");
    args[3] = value_sym(VALUE_BOOL, sym_gt(st->pool, st->s, sym_integer(st->pool, 5)));
    struct value ret;
    assert_int_equal(ops_call_function(st->ops, STR("torch._C._nn.pad"),
                                       &(struct arguments){ args, 4, NULL, 0 }, &ret),
                     OP_REFUSED);
}

static void test_unknown(void **arg)
{
    struct state *st = *arg;
    struct value ret, x = tensor(st, (sym_id[]){ st->s }, 1);
    assert_int_equal(ops_call_function(st->ops, STR("torch.frobnicate"),
                                       &(struct arguments){ &x, 1, NULL, 0 }, &ret),
                     OP_UNSUPPORTED);
    assert_int_equal(
        ops_call_method(st->ops, STR("view"), &(struct arguments){ NULL, 0, NULL, 0 }, &ret),
        OP_REFUSED);
    struct value bad[] = { x, (struct value){ .kind = VALUE_STRING, .u.text = STR("?") } };
    assert_int_equal(
        ops_call_method(st->ops, STR("add"), &(struct arguments){ bad, 2, NULL, 0 }, &ret),
        OP_REFUSED);
    assert_string_equal(ops_error(st->ops)->type.p, "TypeError");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_sorted),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_methods, setup, teardown),
        cmocka_unit_test_setup_teardown(test_getitem, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reflected, setup, teardown),
        cmocka_unit_test_setup_teardown(test_transforms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batched, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batched_weights, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batched_tensors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compiled_autograd, setup, teardown),
        cmocka_unit_test_setup_teardown(test_autograd_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_state, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chosen_attention, setup, teardown),
        cmocka_unit_test_setup_teardown(test_autocast, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cond, setup, teardown),
        cmocka_unit_test_setup_teardown(test_floats, setup, teardown),
        cmocka_unit_test_setup_teardown(test_logarithms, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tensordot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_symbolic_step, setup, teardown),
        cmocka_unit_test_setup_teardown(test_attention_of_matrices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_multi_head_attention, setup, teardown),
        cmocka_unit_test_setup_teardown(test_masked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bool_for_float, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
