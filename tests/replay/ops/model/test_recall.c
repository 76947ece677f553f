/* What PyTorch's cache does not know again: a result that the cache itself made has its storage
 * sized by empty_strided(), and the call that takes it is run and asks once more. */
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "replay/ops/model/recall.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static struct value input(struct world *w)
{
    sym_id size[4], stride[4] = { SYM_NONE, SYM_NONE, SYM_NONE, SYM_ID_ONE };
    static const char *const names[] = { "a", "b", "c", "d" };
    for (int i = 0; i < 4; i++)
        size[i] = env_adopt_symbol(w->env, str_of(names[i]), sym_integer(w->pool, 8 + i),
                                   (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }, STR(""));
    for (int i = 3; i-- > 0;)
        stride[i] = sym_mul(w->pool, stride[i + 1], size[i + 1]);
    const struct tensor_meta meta = { .dtype = DTYPE_F32,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = 4,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

/* What is asked of the environment by relu, twice, then the mean of it. */
struct asked {
    uint64_t relu, mean;
};

static uint64_t ask(struct world *w, const char *name, struct value *args, uint32_t n,
                    struct value *ret)
{
    uint64_t before = env_counts(w->env).evaluations;
    assert_int_equal(ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, ret),
                     OP_DONE);
    return env_counts(w->env).evaluations - before;
}

static struct asked run(struct world *w)
{
    struct value x = input(w), y, ignored;
    struct value dim = value_int(SYM_ID_ONE);
    struct asked ret = { .relu = ask(w, "aten.relu.default", &x, 1, &y) };
    struct value args[] = { y, value_items(VALUE_LIST, &dim, 1) };
    ret.mean = ask(w, "aten.mean.dim", args, 2, &ignored);
    return ret;
}

/* Dynamo's run: both are new. The next two: relu is known, its result is as the cache makes it in
 * the first of them already, which the mean has not seen; in the second it has. */
static void test_asks_again(void **state)
{
    struct world *w = *state;
    ops_set_recall(w->ops, 1);
    struct asked first = run(w);
    assert_true(first.relu > 0 && first.mean > 0);
    ops_reset(w->ops);
    ops_set_recall(w->ops, 2);
    struct asked second = run(w);
    assert_int_equal(second.relu, 0);
    assert_true(second.mean > 0);
    ops_reset(w->ops);
    ops_set_recall(w->ops, 2);
    struct asked third = run(w);
    assert_int_equal(third.relu, 0);
    assert_int_equal(third.mean, 0);
}

/* Without it everything that was seen is known. */
static void test_off(void **state)
{
    struct world *w = *state;
    run(w);
    ops_reset(w->ops);
    struct asked second = run(w);
    assert_int_equal(second.relu, 0);
    assert_int_equal(second.mean, 0);
}

/* A symbol that became a number in between names the same call. */
static void test_replaced_in_between(void **state)
{
    struct world *w = *state;
    bool yes;
    ops_set_recall(w->ops, 1);
    struct value x = input(w), ret;
    assert_true(ask(w, "aten.relu.default", &x, 1, &ret) > 0);
    sym_id b = x.u.tensor.meta->size[1];
    assert_true(env_guard_bool(w->env, sym_eq(w->pool, b, sym_integer(w->pool, 9)), &yes) && yes);
    ops_reset(w->ops);
    ops_set_recall(w->ops, 2);
    x = input(w);
    assert_int_equal(ask(w, "aten.relu.default", &x, 1, &ret), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asks_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced_in_between, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
