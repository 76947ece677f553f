/* weight_norm: a weight that is split into a direction and norms. */
#include "replay/ops/layout/layout.h"

/* v, g: the weight, and the norms in float32 for halves; backward (param 1) gradients of both */
bool rule_weight_norm(struct call *c)
{
    struct tensor v = arg_tensor(c, c->param ? 1 : 0), g = arg_tensor(c, c->param ? 2 : 1);
    bool half = g.meta->dtype == DTYPE_F16 || g.meta->dtype == DTYPE_BF16;
    struct tensor out[] = {
        new_like(c, v),
        new_like_dtype(c, g, half && !c->param ? DTYPE_F32 : g.meta->dtype),
    };
    return ret_tensors(c, out, 2);
}
