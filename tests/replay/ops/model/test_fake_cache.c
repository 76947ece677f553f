/* FakeTensorMode's cache as PyTorch keys it: facts of torch 2.11, seen with the keys written out.
 */
#include "replay/ops/layout/storage.h"
#include "replay/ops/model/model.h"
#include "replay/shape/env/node.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static struct value tensor(struct world *w, sym_id d0, sym_id d1)
{
    sym_id size[] = { d0, d1 }, stride[] = { d1, SYM_ID_ONE };
    const struct tensor_meta meta = { .dtype = DTYPE_F32,
                                      .device = { DEVICE_CUDA, 0 },
                                      .ndim = 2,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

static sym_id symbol(struct world *w, const char *source, int64_t hint)
{
    return env_create_symbol(w->env, &(struct symbol_request){ .value = sym_integer(w->pool, hint),
                                                               .source = str_of(source),
                                                               .dynamic = DIM_DYNAMIC,
                                                               .stateful = true,
                                                               .positive = true });
}

static struct value input(struct world *w)
{
    return tensor(w, symbol(w, "L['x'].size()[0]", 8), symbol(w, "L['x'].size()[1]", 5));
}

static struct value call1(struct world *w, const char *name, struct value x)
{
    struct value ret;
    assert_int_equal(ops_call(w->ops, str_of(name), &(struct arguments){ &x, 1, NULL, 0 }, &ret),
                     OP_DONE);
    return ret;
}

static const struct op_outer *outer(struct world *w, const char *name)
{
    return ops_outer(w->ops, ops_find(w->ops, str_of(name)));
}

static void begin(struct world *w)
{
    ops_stats_clear(w->ops);
    ops_set_model_mode(w->ops, MODEL_FUNCTIONAL);
}

static void test_hits(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    begin(w);
    call1(w, "aten.neg.default", x);
    const struct op_outer *neg = outer(w, "aten.neg.default");
    assert_int_equal(neg->misses, 1);
    assert_int_equal(neg->within, 2); /* prims.neg, aten.empty_permuted */
    call1(w, "aten.neg.default", x);
    assert_int_equal(neg->calls, 2);
    assert_int_equal(neg->hits, 1);
    assert_int_equal(neg->within, 2);
    ops_forget_calls(w->ops);
    call1(w, "aten.neg.default", x);
    assert_int_equal(neg->misses, 2);
}

/* The storage of a hit is written as empty_strided() writes it, which is another key. */
static void test_storages(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    begin(w);
    struct value first = call1(w, "aten.neg.default", x), second = call1(w, "aten.neg.default", x);
    assert_ptr_equal(first.u.tensor.meta, second.u.tensor.meta);
    assert_int_not_equal(ops_model_form(w->ops, first.u.tensor.storage),
                         ops_model_form(w->ops, second.u.tensor.storage));
    /* Rules compute with the size that they made. */
    assert_int_equal(storage_bytes(w->ops, first.u.tensor.storage),
                     storage_bytes(w->ops, second.u.tensor.storage));
    call1(w, "aten.exp.default", first);
    call1(w, "aten.exp.default", second);
    call1(w, "aten.exp.default", second);
    assert_int_equal(outer(w, "aten.exp.default")->misses, 2);
    assert_int_equal(outer(w, "aten.exp.default")->hits, 1);
    /* aten.empty_permuted knows them both. */
    assert_int_equal(outer(w, "aten.exp.default")->within, 4);
}

static void test_gradients(void **state)
{
    struct world *w = *state;
    struct value x = input(w), y = tensor(w, x.u.tensor.meta->size[0], x.u.tensor.meta->size[1]);
    begin(w);
    ops_model_leaf(w->ops, y, false);
    assert_true(fake_cache_has_grad(&w->ops->model->fake_cache, y.u.tensor));
    assert_false(fake_cache_has_grad(&w->ops->model->fake_cache, x.u.tensor));
    call1(w, "aten.neg.default", x);
    call1(w, "aten.neg.default", y);
    assert_int_equal(outer(w, "aten.neg.default")->misses, 2);
    for (uint32_t i = 0; i < 1000; i++) {
        struct tensor many = { x.u.tensor.meta, 1000 + i, NULL };
        assert_true(fake_cache_requires_grad(w->ops, many));
    }
    assert_true(fake_cache_has_grad(&w->ops->model->fake_cache, y.u.tensor));
    ops_reset(w->ops);
    assert_false(fake_cache_has_grad(&w->ops->model->fake_cache, y.u.tensor));
}

/* An input is written as empty_strided() writes it, like a hit. */
static void test_inputs(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    begin(w);
    struct value first = call1(w, "aten.neg.default", x), second = call1(w, "aten.neg.default", x);
    ops_model_input(w->ops, first);
    assert_int_equal(ops_model_form(w->ops, first.u.tensor.storage),
                     ops_model_form(w->ops, second.u.tensor.storage));
    ops_model_input(w->ops, value_int(SYM_ID_ONE)); /* changes nothing */
}

/* Of the first results only is there a gradient. */
static void test_differentiable_results(void **state)
{
    struct world *w = *state;
    struct value x = input(w), size = value_int(x.u.tensor.meta->size[1]), ret;
    struct value args[] = { x, value_items(VALUE_LIST, &size, 1), value_none(), value_none(),
                            value_sym(VALUE_FLOAT, sym_float(w->pool, 1e-5)) };
    ops_stats_clear(w->ops);
    ops_set_model_mode(w->ops, MODEL_FAKE);
    ops_model_leaf(w->ops, x, true);
    assert_int_equal(ops_call(w->ops, STR("aten.native_layer_norm.default"),
                              &(struct arguments){ args, 5, NULL, 0 }, &ret),
                     OP_DONE);
    assert_int_equal(ret.n, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(fake_cache_has_grad(&w->ops->model->fake_cache, ret.u.items[i].u.tensor),
                         i == 0);
}

/* A primitive within a call takes the base of a view, which may require a gradient. */
static void test_steps_of_leaves(void **state)
{
    struct world *w = *state;
    struct value x = input(w), y = tensor(w, x.u.tensor.meta->size[0], x.u.tensor.meta->size[1]);
    begin(w);
    ops_model_leaf(w->ops, y, false);
    call1(w, "aten.t.default", x);
    uint64_t within = outer(w, "aten.t.default")->within;
    assert_true(within > 0);
    call1(w, "aten.t.default", y);
    assert_int_equal(outer(w, "aten.t.default")->within, 2 * within);
}

/* A size that became a number is one in the tensor's storage, with the tensor's gradient. */
static void test_settles(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    struct tensor same = ops_model_settle(w->ops, x.u.tensor);
    assert_ptr_equal(same.meta, x.u.tensor.meta);
    begin(w);
    ops_model_at(w->ops, UINT32_MAX, 0, false);
    ops_model_leaf(w->ops, x, false);
    int64_t number;
    assert_true(env_guard_int(w->env, x.u.tensor.meta->size[1], &number));
    assert_int_equal(number, 5);
    struct tensor settled = ops_model_settle(w->ops, x.u.tensor);
    assert_int_equal(settled.storage, x.u.tensor.storage);
    assert_int_equal(settled.meta->size[1], sym_integer(w->pool, 5));
    assert_true(fake_cache_has_grad(&w->ops->model->fake_cache, settled));
}

/* cat() returns a clone, which the cache has for another operand of the same result. */
static void test_clone_within(void **state)
{
    struct world *w = *state;
    struct value x = input(w), y = call1(w, "aten.neg.default", x), ret;
    begin(w);
    for (int i = 0; i < 2; i++) {
        struct value two[] = { x, i ? y : x };
        struct value args[] = { value_items(VALUE_LIST, two, 2), value_int(SYM_ID_ONE) };
        ops_model_set_form(w->ops, y.u.tensor.storage, x.u.tensor.meta->size[0]);
        assert_int_equal(ops_call(w->ops, STR("aten.cat.default"),
                                  &(struct arguments){ args, 2, NULL, 0 }, &ret),
                         OP_DONE);
        /* prims.cat, aten.empty_strided and aten.clone; a miss has prims.clone and aten.empty. */
        assert_int_equal(outer(w, "aten.cat.default")->within, i ? 8 : 5);
    }
    assert_int_equal(outer(w, "aten.cat.default")->misses, 2);
}

/* Views of what requires a gradient do, gradients being tracked or not, as Dynamo runs them. */
static void test_views_of_leaves(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    for (int functional = 0; functional < 2; functional++) {
        ops_stats_clear(w->ops);
        ops_reset(w->ops);
        ops_set_model_mode(w->ops, functional ? MODEL_FUNCTIONAL : MODEL_FAKE);
        x = value_tensor(ops_new_tensor(w->ops, x.u.tensor.meta));
        ops_model_leaf(w->ops, x, false);
        struct value view = call1(w, "aten.t.default", x);
        assert_int_equal(fake_cache_has_grad(&w->ops->model->fake_cache, view.u.tensor),
                         !functional);
        assert_false(fake_cache_has_grad(&w->ops->model->fake_cache,
                                         call1(w, "aten.neg.default", x).u.tensor));
    }
}

/* Calls that are passed by are computed each time; a number without a value is one reason. */
static void test_bypasses(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    sym_id operands[] = { x.u.tensor.meta->size[0], sym_integer(w->pool, 3) };
    enum number_type types[] = { NUMBER_INT, NUMBER_INT }, type;
    struct value scale =
        value_sym(VALUE_FLOAT, node_method(w->env, NODE_METHOD_TRUEDIV, operands, types, 2, &type));
    struct value args[] = { x, scale }, ret;
    begin(w);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            ops_call(w->ops, STR("aten.mul.Tensor"), &(struct arguments){ args, 2, NULL, 0 }, &ret),
            OP_DONE);
    assert_int_equal(outer(w, "aten.mul.Tensor")->bypasses, 2);
    assert_int_equal(outer(w, "aten.mul.Tensor")->fast, 2);
    /* It does not make the sizes symbolic: the kernel of plain sizes answers. */
    args[0] = tensor(w, sym_integer(w->pool, 2), sym_integer(w->pool, 4));
    assert_int_equal(
        ops_call(w->ops, STR("aten.mul.Tensor"), &(struct arguments){ args, 2, NULL, 0 }, &ret),
        OP_DONE);
    assert_int_equal(outer(w, "aten.mul.Tensor")->bypasses, 3);
    assert_int_equal(outer(w, "aten.mul.Tensor")->fast, 2);
}

/* Muted calls, as of the forward part of a joint graph, leave behind what the pass before left. */
static void test_silent(void **state)
{
    struct world *w = *state;
    struct value x = input(w);
    begin(w);
    sym_id fresh = ops_model_form(w->ops, call1(w, "aten.neg.default", x).u.tensor.storage);
    ops_set_muted(w->ops, true);
    ops_model_silent(w->ops, true);
    assert_int_equal(ops_model_form(w->ops, call1(w, "aten.neg.default", x).u.tensor.storage),
                     fresh);
    assert_int_not_equal(ops_model_form(w->ops, call1(w, "aten.neg.default", x).u.tensor.storage),
                         fresh);
    assert_int_equal(outer(w, "aten.neg.default")->calls, 1);
}

/* vmap runs a composite operator's rule without a count of its own: what that calls has its numbers
 * from the composite one, which the graph calls. */
static void test_batched_composite(void **state)
{
    struct world *w = *state;
    struct value x = input(w), slice, ret;
    sym_id batch = x.u.tensor.meta->size[0], size = x.u.tensor.meta->size[1];
    struct value add[] = { x, value_int(SYM_ID_ZERO), value_int(SYM_ID_ONE) };
    begin(w);
    ops_model_at(w->ops, UINT32_MAX, 0, true);
    assert_int_equal(ops_call_function(w->ops, STR("torch._functorch.predispatch._add_batch_dim"),
                                       &(struct arguments){ add, 3, NULL, 0 }, &slice),
                     OP_DONE);
    struct value sizes[] = { value_int(size), value_int(SYM_ID_ONE) };
    struct value args[] = { slice, value_items(VALUE_LIST, sizes, 2) };
    for (int i = 0; i < 2; i++)
        assert_int_equal(ops_call(w->ops, STR("aten.reshape.default"),
                                  &(struct arguments){ args, 2, NULL, 0 }, &ret),
                         OP_DONE);
    assert_int_equal(ret.u.tensor.meta->ndim, 2);
    assert_int_equal(outer(w, "aten.view.default")->misses, 1);
    assert_int_equal(outer(w, "aten.view.default")->hits, 1);
    /* The whole tensor is viewed so, too; but there the graph passes the size of the batch. */
    struct value whole[] = { value_int(batch), value_int(size), value_int(SYM_ID_ONE) };
    struct value view[] = { x, value_items(VALUE_LIST, whole, 3) };
    assert_int_equal(
        ops_call(w->ops, STR("aten.view.default"), &(struct arguments){ view, 2, NULL, 0 }, &ret),
        OP_DONE);
    assert_int_equal(outer(w, "aten.view.default")->misses, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_storages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gradients, setup, teardown),
        cmocka_unit_test_setup_teardown(test_differentiable_results, setup, teardown),
        cmocka_unit_test_setup_teardown(test_steps_of_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clone_within, setup, teardown),
        cmocka_unit_test_setup_teardown(test_views_of_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bypasses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batched_composite, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
