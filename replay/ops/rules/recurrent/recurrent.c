/* lstm, gru, rnn_tanh and rnn_relu over whole sequences (aten/src/ATen/native/RNN.cpp) return
 * the outputs of all steps and the last states. */
#include "replay/ops/rules/compose.h"

/* param is 1 where hx is a list of two tensors (lstm). */
bool rule_recurrent(struct call *c)
{
    const struct tensor *states = NULL;
    struct tensor x = arg_tensor(c, 0), h = { 0 }, memory = { 0 };
    if (c->param) {
        uint32_t n = arg_tensors(c, 1, &states);
        if (!require(c, n == 2, "RuntimeError", "lstm expects two hidden states"))
            return false;
        h = states[0];
        memory = states[1];
    } else {
        h = arg_tensor(c, 1);
    }
    if (!require(c, ndim_of(x) == 3 && ndim_of(h) == 3, "RuntimeError",
                 "input must have 3 dimensions, got %u", ndim_of(x)))
        return false;
    bool both = arg_bool(c, 7), first = arg_bool(c, 8);
    sym_id steps = size_of(c, x, first), batch = size_of(c, x, !first);
    sym_id width = mul(c, size_of(c, h, 2), num(c, both ? 2 : 1));
    sym_id sizes[] = { first ? batch : steps, first ? steps : batch, width };
    sym_id row = mul(c, batch, width);
    sym_id strides[] = { first ? width : row, first ? row : width, SYM_ID_ONE };
    struct tensor out[] = {
        new_tensor_strided(c, dtype_of(x), device_of(x), sizes, strides, 3),
        new_tensor(c, dtype_of(x), device_of(x), sizes_of(h), 3),
        c->param ? new_tensor(c, dtype_of(x), device_of(x), sizes_of(memory), ndim_of(memory))
                 : no_tensor(),
    };
    return ret_tensors(c, out, c->param ? 3 : 2);
}
