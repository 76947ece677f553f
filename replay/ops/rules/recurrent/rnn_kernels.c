/* The fused kernels of recurrent cells on the GPU (torch/_meta_registrations.py); the cells
 * themselves are in replay/ops/decomp/bodies.def. */
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
