/* Operators without a kernel for a CPU: eager PyTorch refuses, FakeTensorMode does not. */
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "tests/harness.h"
#include "tests/replay/ops/world.h"

static struct value matrix(struct world *w, enum device_type device)
{
    sym_id size[] = { sym_integer(w->pool, 4), sym_integer(w->pool, 4) };
    sym_id stride[] = { size[1], SYM_ID_ONE };
    const struct tensor_meta meta = { .dtype = DTYPE_F16,
                                      .device = { device, device == DEVICE_CPU ? -1 : 0 },
                                      .ndim = 2,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

static enum op_outcome call(struct world *w, enum device_type device)
{
    struct value ret, args[] = { matrix(w, device),
                                 matrix(w, device),
                                 { .kind = VALUE_DTYPE, .u.dtype = DTYPE_F32 } };
    return ops_call(w->ops, STR("aten.mm.dtype"), &(struct arguments){ args, 3, NULL, 0 }, &ret);
}

static void test_cuda_only(void **state)
{
    struct world *w = *state;
    assert_int_equal(call(w, DEVICE_CPU), OP_DONE);
    ops_set_eager(w->ops, true);
    assert_int_equal(call(w, DEVICE_CUDA), OP_DONE);
    assert_int_equal(call(w, DEVICE_CPU), OP_REFUSED);
    assert_str_is(ops_error(w->ops)->type, "NotImplementedError");
    assert_true(str_starts(ops_error(w->ops)->text,
                           STR("Could not run 'aten::mm.dtype' with arguments from the 'CPU' "
                               "backend.")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cuda_only, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
