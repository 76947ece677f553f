/* The fused kernels of recurrent cells on the GPU and the layers of oneDNN
 * (torch/_meta_registrations.py); the cells themselves are in replay/ops/decomp/bodies.def. */
#include "replay/ops/rules/compose.h"

static struct tensor new_state(struct call *c, struct tensor x)
{
    return new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x));
}

/* (input_gates, hidden_gates, cx) -> (hy, cy, workspace) */
bool rule_fused_lstm_cell(struct call *c)
{
    struct tensor gates = arg_tensor(c, 0), cx = arg_tensor(c, 2);
    return ret_tensors(
        c, (struct tensor[]){ new_state(c, cx), new_state(c, cx), new_state(c, gates) }, 3);
}

/* (input_gates, hidden_gates, hx) -> (hy, workspace); the workspace has five times the hidden
 * size. */
bool rule_fused_gru_cell(struct call *c)
{
    struct tensor hx = arg_tensor(c, 2);
    sym_id sizes[] = { size_of(c, hx, 0), mul(c, size_of(c, hx, 1), num(c, 5)) };
    struct tensor space = new_tensor(c, dtype_of(hx), device_of(hx), sizes, 2);
    return ret_tensors(c, (struct tensor[]){ new_state(c, hx), space }, 2);
}

/* --- Layers of oneDNN --- */

static struct tensor new_float(struct call *c, struct tensor x)
{
    return new_tensor(c, DTYPE_F32, device_of(x), sizes_of(x), ndim_of(x));
}

/* mkldnn_rnn_layer: input, w0..w3, hx, cx, reverse, batch_sizes, mode, hidden_size, ... ->
 * (output, hy, cy, workspace) */
bool rule_mkldnn_rnn_layer(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id out[] = { size_of(c, x, 0), size_of(c, x, 1), arg_sym(c, 10) }, none = SYM_ID_ZERO;
    return ret_tensors(c,
                       (struct tensor[]){ new_tensor(c, dtype_of(x), device_of(x), out, 3),
                                          new_state(c, arg_tensor(c, 5)),
                                          new_state(c, arg_tensor(c, 6)),
                                          new_tensor(c, DTYPE_U8, device_of(x), &none, 1) },
                       4);
}

/* mkldnn_rnn_layer_backward: input, weight1..weight4, hx, cx, ... -> (grad of input, w1, w2, b, b,
 * hx, cx) */
bool rule_mkldnn_rnn_backward(struct call *c)
{
    enum { GRU = 3 };
    struct tensor bias = arg_tensor(c, 3);
    sym_id size = arg_int(c, 14) == GRU ? mul(c, num(c, 4), arg_sym(c, 15)) : size_of(c, bias, 0);
    struct tensor b = new_tensor(c, DTYPE_F32, device_of(bias), &size, 1);
    return ret_tensors(
        c,
        (struct tensor[]){ new_float(c, arg_tensor(c, 0)), new_float(c, arg_tensor(c, 1)),
                           new_float(c, arg_tensor(c, 2)), b, b, new_float(c, arg_tensor(c, 5)),
                           new_float(c, arg_tensor(c, 6)) },
        7);
}
